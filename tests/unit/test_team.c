/* SPDX-License-Identifier: MIT
 *
 * Teams with PEs as threads: slots, sequences and handles over thousands of lives. Run under the thread
 * sanitizer too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "pes.h"
#include "pgas/collective.h"

#define HEAP ((size_t)1 << 16)
#define MAX_TEAMS 8

static struct rs_team *split(struct rs_team *parent, int start, int stride, int size)
{
    struct rs_team *team = NULL;
    CHECK(rs_team_split(parent, RS_CALL_TEAM_SPLIT_STRIDED, start, stride, size, &team) == 0);
    return team;
}

static void run(int n, void (*body)(struct rs_job *, void *))
{
    struct pes pes;
    pes_create(&pes, n, MAX_TEAMS, HEAP);
    pes_run(&pes, body, NULL);
    pes_destroy(&pes);
}

static void lives(struct rs_job *job, void *arg)
{
    (void)arg;
    uint64_t random = 5; /* the same on every PE */
    for (int i = 0; i < 1500; i++) {
        int start = (int)(pes_random(&random) % (uint64_t)job->n_pes);
        int size = 1 + (int)(pes_random(&random) % (uint64_t)(job->n_pes - start));
        struct rs_team *team = split(job->world, start, 1, size);
        CHECK(!team == (job->my_pe < start || job->my_pe >= start + size));
        if (!team) continue;
        CHECK(team->n_pes == size && team->my_pe == job->my_pe - start);
        for (int k = (int)(pes_random(&(uint64_t){random + (uint64_t)i}) % 5); k > 0; k--)
            CHECK(pes_barrier(team) == 0);
        rs_team_destroy(team);
    }
    CHECK(pes_barrier(job->world) == 0);
    CHECK(job->teams.n_live == 2);
}

static void teams_of_any_size_follow_each_other_in_few_slots(void **state)
{
    (void)state;
    run(1, lives);
    run(3, lives);
    run(5, lives);
}

static void fill_up(struct rs_job *job, void *arg)
{
    (void)arg;
    struct rs_team *teams[MAX_TEAMS], *one_more = NULL;
    for (int i = 0; i < MAX_TEAMS - 2; i++) CHECK((teams[i] = split(job->world, 0, 1, job->n_pes)) != NULL);
    int rc = rs_team_split(job->world, RS_CALL_TEAM_SPLIT_STRIDED, 0, 1, job->n_pes, &one_more);
    CHECK(rc == RS_E_LIMIT && strstr(rs_error_slot()->text, "ROCSHMEM_MAX_NUM_TEAMS"));
    CHECK(pes_barrier(teams[3]) == 0); /* the failure left everything usable */
    for (int i = 0; i < MAX_TEAMS - 2; i++) rs_team_destroy(teams[i]);
    for (int i = 0; i < MAX_TEAMS - 2; i++) CHECK((teams[i] = split(job->world, 0, 1, job->n_pes)) != NULL);
    for (int i = 0; i < MAX_TEAMS - 2; i++) rs_team_destroy(teams[i]);
}

static void a_full_table_is_a_limit_on_every_pe_and_empties_again(void **state)
{
    (void)state;
    run(4, fill_up);
}

static void handles(struct rs_job *job, void *arg)
{
    (void)arg;
    struct rs_team *team = split(job->world, 0, 1, job->n_pes);
    rocshmem_team_t handle = rs_team_handle(team);
    CHECK(rs_team_get(job, handle, "team") == team);
    rs_team_put(team);
    CHECK(rs_team_get(job, ROCSHMEM_TEAM_WORLD, "team") == job->world);
    CHECK(rs_team_get(job, ROCSHMEM_TEAM_SHARED, "team") == job->shared);
    CHECK(rs_team_handle(job->world) == ROCSHMEM_TEAM_WORLD &&
          rs_team_handle(job->shared) == ROCSHMEM_TEAM_SHARED);
    CHECK(!rs_team_get(job, ROCSHMEM_TEAM_INVALID, "this") && strstr(rs_error_slot()->text, "this"));
    rs_team_destroy(team);
    CHECK(!rs_team_get(job, handle, "team"));
    struct rs_team *later = split(job->world, 0, 1, job->n_pes);
    CHECK(rs_team_handle(later) != handle && !rs_team_get(job, handle, "team"));
    rs_team_destroy(later);
}

static void a_handle_is_found_while_its_team_lives_and_never_again(void **state)
{
    (void)state;
    run(2, handles);
}

static void positions(struct rs_job *job, void *arg)
{
    (void)arg;
    struct rs_team *odd = split(job->world, 1, 2, job->n_pes / 2),
                   *back = split(job->world, job->n_pes - 1, -1, job->n_pes);
    for (int pe = 0; odd && pe < job->n_pes; pe++) CHECK(rs_team_position(odd, pe) == (pe % 2 ? pe / 2 : -1));
    for (int pe = 0; pe < job->n_pes; pe++) CHECK(rs_team_position(back, pe) == job->n_pes - 1 - pe);
    if (odd) rs_team_destroy(odd);
    rs_team_destroy(back);
}

static void positions_are_those_of_the_split(void **state)
{
    (void)state;
    run(4, positions);
    run(7, positions);
}

/* Rows and columns of every width, used by all of them at one time. */
static void grids(struct rs_job *job, void *arg)
{
    (void)arg;
    int n = job->n_pes, me = job->my_pe;
    for (int xrange = 1; xrange <= n + 2; xrange++) {
        struct rs_team *x = NULL, *y = NULL;
        int width = xrange < n ? xrange : n, row = me / width, column = me % width;
        CHECK(rs_team_split_2d(job->world, RS_CALL_TEAM_SPLIT_2D, xrange, &x, &y) == 0);
        CHECK(x->my_pe == column && y->my_pe == row && x->id != y->id);
        CHECK(x->n_pes == (n - row * width < width ? n - row * width : width));
        CHECK(y->n_pes == (n - column + width - 1) / width);
        for (int i = 0; i < x->n_pes; i++) CHECK(x->pes[i] == row * width + i);
        for (int i = 0; i < y->n_pes; i++) CHECK(y->pes[i] == column + i * width);
        for (int i = 0; i < 20 + row; i++) CHECK(pes_barrier(x) == 0);
        for (int i = 0; i < 20 + column; i++) CHECK(pes_barrier(y) == 0);
        rs_team_destroy(xrange % 2 ? x : y);
        rs_team_destroy(xrange % 2 ? y : x);
    }
    struct rs_team *x = NULL, *y = NULL;
    CHECK(rs_team_split_2d(job->world, RS_CALL_TEAM_SPLIT_2D, 0, &x, &y) == RS_E_ARG && !x && !y);
    CHECK(strstr(rs_error_slot()->text, "xrange 0"));
    CHECK(pes_barrier(job->world) == 0);
    CHECK(job->teams.n_live == 2);
}

static void a_split_in_two_dimensions_gives_every_row_and_column(void **state)
{
    (void)state;
    for (int n = 1; n <= 8; n++) run(n, grids);
}

/* One slot is left on every PE: the x team takes it, and there is none for the y team. On PE 0 there is none
 * at all: its row has no x team either. */
static void grid_without_room(struct rs_job *job, void *arg)
{
    (void)arg;
    struct rs_team *teams[MAX_TEAMS], *x = NULL, *y = NULL, *alone = NULL;
    for (int i = 0; i < MAX_TEAMS - 3; i++) teams[i] = split(job->world, 0, 1, job->n_pes);
    alone = split(job->world, 0, 1, 1); /* PE 0's last slot */
    CHECK(rs_team_split_2d(job->world, RS_CALL_TEAM_SPLIT_2D, 2, &x, &y) == RS_E_LIMIT);
    CHECK(!y && !x == (job->my_pe < 2));
    if (job->my_pe < 2) CHECK(strstr(rs_error_slot()->text, "PE 0 is in 8 teams already"));
    if (x) {
        CHECK(pes_barrier(x) == 0);
        rs_team_destroy(x);
    }
    CHECK(pes_barrier(job->world) == 0);
    if (alone) rs_team_destroy(alone);
    rs_team_destroy(teams[0]);
    CHECK(rs_team_split_2d(job->world, RS_CALL_TEAM_SPLIT_2D, 2, &x, &y) == 0);
    CHECK(pes_barrier(x) == 0 && pes_barrier(y) == 0);
    rs_team_destroy(x);
    rs_team_destroy(y);
    for (int i = 1; i < MAX_TEAMS - 3; i++) rs_team_destroy(teams[i]);
}

static void where_an_axis_has_no_room_the_others_get_their_team(void **state)
{
    (void)state;
    run(4, grid_without_room);
}

/* Stream barriers of a team whose slot had other teams before: nothing that these left is waited for. */
static void stream_lives(struct rs_job *job, void *arg)
{
    (void)arg;
    for (int round = 0; round < 6; round++)
        for (int size = 1; size <= job->n_pes; size++) {
            struct rs_team *team = split(job->world, 0, 1, size);
            if (!team) continue;
            struct rs_signature s = pes_call(team, RS_CALL_BARRIER_ON_STREAM, RS_KIND_BARRIER, 0, 0, 0);
            for (int i = 0; i < 5 + 7 * size; i++) CHECK(rs_stream_barrier(team, &s, NULL) == 0);
            CHECK(job->device.ops->synchronize(&job->device, NULL) == 0);
            rs_team_destroy(team);
        }
    CHECK(pes_barrier(job->world) == 0);
}

static void stream_barriers_of_later_teams_start_afresh(void **state)
{
    (void)state;
    run(2, stream_lives);
    run(4, stream_lives);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(teams_of_any_size_follow_each_other_in_few_slots),
        cmocka_unit_test(a_full_table_is_a_limit_on_every_pe_and_empties_again),
        cmocka_unit_test(a_handle_is_found_while_its_team_lives_and_never_again),
        cmocka_unit_test(positions_are_those_of_the_split),
        cmocka_unit_test(a_split_in_two_dimensions_gives_every_row_and_column),
        cmocka_unit_test(where_an_axis_has_no_room_the_others_get_their_team),
        cmocka_unit_test(stream_barriers_of_later_teams_start_afresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
