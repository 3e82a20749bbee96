/* SPDX-License-Identifier: MIT
 *
 * Initialisation, who we are, version and name, what is accessible from where, pointers to memory of others.
 */
#include "check.h"

int global_word;
static long static_words[3];
static char static_block[5000] = "initialised";

static void numbers(void)
{
    CHECK(n_pes >= 1);
    CHECK(me >= 0 && me < n_pes);
    static int seen[1024];
    for (int pe = 0; pe < n_pes; pe++) shmem_int_p(&seen[me], me + 1, pe);
    shmem_barrier_all();
    for (int pe = 0; pe < n_pes; pe++) CHECK_EQ(seen[pe], pe + 1); /* so the numbers are unique */
}

static void version_and_name(void)
{
    int major = -1, minor = -1;
    shmem_info_get_version(&major, &minor);
    CHECK_EQ(major, SHMEM_MAJOR_VERSION);
    CHECK_EQ(minor, SHMEM_MINOR_VERSION);
    char name[SHMEM_MAX_NAME_LEN + 1];
    memset(name, 'x', sizeof name);
    shmem_info_get_name(name);
    name[SHMEM_MAX_NAME_LEN] = '\0';
    CHECK(strlen(name) > 0 && strlen(name) < SHMEM_MAX_NAME_LEN);
    CHECK(strcmp(name, SHMEM_VENDOR_STRING) == 0);
    CHECK(sizeof SHMEM_VENDOR_STRING <= SHMEM_MAX_NAME_LEN);
}

/* Constants of the library are usable in #if and in array bounds where the specification makes them integers. */
#if SHMEM_MAJOR_VERSION < 1
#error "no version"
#endif
static long psync[SHMEM_SYNC_SIZE + SHMEM_BARRIER_SYNC_SIZE + SHMEM_BCAST_SYNC_SIZE +
                  SHMEM_COLLECT_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE +
                  SHMEM_ALLTOALLS_SYNC_SIZE];

static void constants(void)
{
    CHECK_EQ(psync[LENGTH(psync) - 1], 0);
    CHECK(SHMEM_SYNC_SIZE >= SHMEM_BARRIER_SYNC_SIZE && SHMEM_SYNC_SIZE >= SHMEM_BCAST_SYNC_SIZE);
    CHECK(SHMEM_SYNC_SIZE >= SHMEM_COLLECT_SYNC_SIZE && SHMEM_SYNC_SIZE >= SHMEM_REDUCE_SYNC_SIZE);
    CHECK(SHMEM_SYNC_SIZE >= SHMEM_ALLTOALL_SYNC_SIZE && SHMEM_SYNC_SIZE >= SHMEM_ALLTOALLS_SYNC_SIZE);
    CHECK(SHMEM_REDUCE_MIN_WRKDATA_SIZE >= 1);
    int compare[] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};
    for (size_t i = 0; i < LENGTH(compare); i++)
        for (size_t k = 0; k < i; k++) CHECK(compare[i] != compare[k]);
    CHECK(SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED && SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED &&
          SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE);
    long options = SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE;
    CHECK(options != 0);
    int provided = -1;
    shmem_query_thread(&provided); /* of shmem_init: some level */
    CHECK(provided >= SHMEM_THREAD_SINGLE && provided <= SHMEM_THREAD_MULTIPLE);
}

static void accessible_pes(void)
{
    for (int pe = 0; pe < n_pes; pe++) CHECK_EQ(shmem_pe_accessible(pe), 1);
    CHECK_EQ(shmem_pe_accessible(n_pes), 0);
    CHECK_EQ(shmem_pe_accessible(-1), 0);
}

static void accessible_addresses(void)
{
    long *block = symmetric(100 * sizeof(long)), *ordinary = malloc(64), automatic = 0;
    static long zero;
    if (!ordinary) abort();
    for (int pe = 0; pe < n_pes; pe++) {
        CHECK_EQ(shmem_addr_accessible(block, pe), 1);
        CHECK_EQ(shmem_addr_accessible(block + 99, pe), 1);
        CHECK_EQ(shmem_addr_accessible(&global_word, pe), 1);
        CHECK_EQ(shmem_addr_accessible(&static_words[2], pe), 1);
        CHECK_EQ(shmem_addr_accessible(static_block + 4999, pe), 1);
        CHECK_EQ(shmem_addr_accessible(&zero, pe), 1);
        CHECK_EQ(shmem_addr_accessible(&automatic, pe), 0);
        CHECK_EQ(shmem_addr_accessible(ordinary, pe), 0);
        CHECK_EQ(shmem_addr_accessible(NULL, pe), 0);
    }
    free(ordinary);
    shmem_free(block);
}

/* A pointer that shmem_ptr gives is to the memory of that PE; it may give none, but for the own PE it gives the address. */
static void pointers(void)
{
    long *block = symmetric(8 * sizeof(long));
    CHECK(shmem_ptr(block, me) == block);
    CHECK(shmem_ptr(&static_words[1], me) == &static_words[1]);
    block[3] = 100 + me;
    static_words[2] = 200 + me;
    shmem_barrier_all();
    for (int pe = 0; pe < n_pes; pe++) {
        const long *theirs = shmem_ptr(block, pe), *their_static = shmem_ptr(static_words, pe);
        if (theirs) CHECK_EQ(theirs[3], 100 + pe);
        if (their_static) CHECK_EQ(their_static[2], 200 + pe);
    }
    shmem_barrier_all();
    long *next = shmem_ptr(block + 5, right());
    if (next)
        *next = 300 + me;
    else
        shmem_long_p(block + 5, 300 + me, right());
    shmem_barrier_all();
    CHECK_EQ(block[5], 300 + left());
    shmem_free(block);
}

int main(int argc, char **argv)
{
    check_begin("setup");
    check_case("arguments_are_the_programs_own");
    CHECK(argc >= 1 && argv[0] && !argv[argc]);
    check_case("numbers");
    numbers();
    check_case("version_and_name");
    version_and_name();
    check_case("constants");
    constants();
    check_case("accessible_pes");
    accessible_pes();
    check_case("accessible_addresses");
    accessible_addresses();
    check_case("pointers");
    pointers();
    return check_end();
}
