/* SPDX-License-Identifier: MIT
 *
 * The type-generic names of C11 that came with 1.5, and those of waits: through the checks of the typed forms. Generic
 * atomics that do not block and signals are in amo_nbi.c and signals.c. Needs 1.5.
 */
#include "collectives.h"
#include "types.h"
#include "waits.h"

#define GENERIC_CALL(NAME, operation, ...) shmem_##operation(__VA_ARGS__)

#define WAITS(NAME, T) WAIT_FUNCTIONS(generic_, GENERIC_CALL, NAME, T)
STANDARD_AMO_TYPES(WAITS)
#define WAITS_ROW(NAME, T) WAIT_ROW(generic_, NAME, T)
static const struct wait_type waits[] = {STANDARD_AMO_TYPES(WAITS_ROW)};

#define MOVES(NAME, T) COLLECTIVE_MOVES(generic_, GENERIC_CALL, NAME, T)
#define ARITHMETIC(NAME, T) COLLECTIVE_ARITHMETIC(generic_, GENERIC_CALL, NAME, T)
#define LOGIC(NAME, T) COLLECTIVE_LOGIC(generic_, GENERIC_CALL, NAME, T)
#define COMPLEX(NAME, T) COLLECTIVE_ACCESS(generic_, NAME, T) COLLECTIVE_SUMS(generic_, GENERIC_CALL, NAME, T)
RMA_TYPES(MOVES)
ARITHMETIC_REDUCE_TYPES(ARITHMETIC)
LOGIC_REDUCE_TYPES(LOGIC)
COMPLEX_TYPES(COMPLEX)
#define ARITHMETIC_ROW(NAME, T)                                                                              \
    {COLLECTIVE_MOVE_FIELDS(generic_, NAME, T), COLLECTIVE_ARITHMETIC_FIELDS(generic_, NAME)},
#define LOGIC_ROW(NAME, T)                                                                                   \
    {COLLECTIVE_MOVE_FIELDS(generic_, NAME, T), COLLECTIVE_LOGIC_FIELDS(generic_, NAME)},
#define COMPLEX_ROW(NAME, T)                                                                                 \
    {COLLECTIVE_ACCESS_FIELDS(generic_, NAME, T), COLLECTIVE_SUM_FIELDS(generic_, NAME)},
static const struct collective_type types[] = {ARITHMETIC_REDUCE_TYPES(ARITHMETIC_ROW)
                                                   LOGIC_REDUCE_TYPES(LOGIC_ROW) COMPLEX_TYPES(COMPLEX_ROW)};

/* shmem_sync is one name for two: over a team, with a status, and over an active set, without. */
static void two_kinds_of_sync(void)
{
    static long psync[SHMEM_BARRIER_SYNC_SIZE];
    for (size_t i = 0; i < LENGTH(psync); i++) psync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    CHECK_EQ(shmem_sync(SHMEM_TEAM_WORLD), 0);
    shmem_sync(0, 0, n_pes, psync);
    CHECK_EQ(shmem_team_sync(SHMEM_TEAM_WORLD), 0);
}

int main(void)
{
    check_begin("generics_1_5");
    if (n_pes > 64) return check_end();
    struct buffers b = {symmetric(COLLECTIVE_NBYTES), symmetric(COLLECTIVE_NBYTES)};
    check_case("waits");
    for (size_t i = 0; i < LENGTH(waits); i++) check_waits(&waits[i], b.dest);
    check_case("collectives");
    for (size_t i = 0; i < LENGTH(types); i++) check_collectives(&types[i], SHMEM_TEAM_WORLD, b);
    check_case("two_kinds_of_sync");
    two_kinds_of_sync();
    return check_end();
}
