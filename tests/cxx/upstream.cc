/* SPDX-License-Identifier: MIT
 *
 * A program as one writes it for upstream's rocshmem.hpp: names with and without the namespace, constants of upstream's
 * types, collectives with a context, overloads. Started as a job; says what is wrong, and ends with 1 then.
 */
#include <rocshmem/rocshmem.hpp>

#include <cstdio>
#include <cstring>
#include <type_traits>

extern int global_names(); /* global.cc: the same names without a namespace */

using namespace rocshmem;

static_assert(std::is_same<rocshmem_uniqueid_t, std::array<std::uint8_t, 128>>::value, "upstream's type");
static_assert(sizeof(rocshmem_init_attr_t) == 2 * sizeof(int32_t) + 128 + sizeof(void *), "as in C");
static_assert(rocshmem::ROCSHMEM_SUCCESS == 0 && rocshmem::ROCSHMEM_SUM == 0,
              "constants are in the namespace");
static_assert(ROCSHMEM_INIT_WITH_MPI_COMM == 0 && ROCSHMEM_INIT_WITH_UNIQUEID == 1, "upstream's values");
static_assert(ROCSHMEM_CTX_ZERO == 0 && ROCSHMEM_CTX_SHARED == 8, "upstream's values");
static_assert(sizeof(VERSION) == sizeof(ROCSHMEM_VERSION), "the version is a constant of the namespace");

static int failures;

static void check(bool right, const char *what)
{
    if (right) return;
    std::fprintf(stderr, "PE %d: %s\n", rocshmem_my_pe(), what);
    failures++;
}

static void transfers()
{
    int me = rocshmem_my_pe(), n = rocshmem_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n;
    int *word = static_cast<int *>(rocshmem_malloc(64));
    auto *signal = static_cast<std::uint64_t *>(rocshmem::rocshmem_calloc(8, 8));
    rocshmem_cmps cmp = ROCSHMEM_CMP_EQ;
    rocshmem_putmem_signal(word, &me, sizeof me, signal, 1, ROCSHMEM_SIGNAL_ADD, right);
    rocshmem_signal_wait_until(signal, cmp, 1);
    check(*word == left, "the left neighbour's word did not come");
    rocshmem_barrier_all_on_stream(nullptr);
    rocshmem_putmem_on_stream(word + 1, &me, sizeof me, right, nullptr);
    rocshmem_barrier_all_on_stream(nullptr);
    check(rocshmemx_stream_synchronize(nullptr) == 0 && word[1] == left, "a put on a stream did not come");
    check(rocshmem_ptr(word, me) == word, "rocshmem_ptr of one's own is another address");
    rocshmem_free(signal);
    rocshmem_free(word);
}

static void collectives()
{
    int me = rocshmem_my_pe(), n = rocshmem_n_pes();
    rocshmem_ctx_t ctx = ROCSHMEM_CTX_INVALID;
    rocshmem_team_t team = ROCSHMEM_TEAM_INVALID;
    check(ctx == ROCSHMEM_CTX_INVALID && ctx != ROCSHMEM_CTX_DEFAULT, "contexts do not compare");
    check(rocshmem_ctx_create(ROCSHMEM_CTX_SERIALIZED | ROCSHMEM_CTX_NOSTORE, &ctx) == ROCSHMEM_SUCCESS,
          "ctx");
    check(rocshmem_team_split_strided(rocshmem::ROCSHMEM_TEAM_WORLD, 0, 1, n, nullptr,
                                      ROCSHMEM_TEAM_DEFAULT_CONFIGS, &team) == 0,
          "split_strided failed");
    auto *data = static_cast<long *>(rocshmem_malloc(4 * sizeof(long)));
    data[0] = me + 1;
    check(rocshmem_ctx_long_sum_reduce(ctx, team, data + 1, data, 1) == 0, "reduce failed");
    check(data[1] == n * (n + 1L) / 2, "the sum is wrong");
    check(rocshmem_ctx_long_max_to_all(ctx, data + 2, data, 1, 0, 0, n, nullptr, nullptr) == 0,
          "to_all failed");
    check(data[2] == n, "the maximum is wrong");
    rocshmem_ctx_long_broadcast(ctx, team, data + 3, data, 1, n - 1);
    check(data[3] == n, "the last PE's word did not come by the team");
    rocshmem_barrier_all();
    data[3] = 0;
    rocshmem_barrier_all();
    rocshmem_ctx_long_broadcast(ctx, data + 3, data, 1, n - 1, 0, 0, n, nullptr);
    check(data[3] == n, "the last PE's word did not come by the active set");
    rocshmem_free(data);
    rocshmem_ctx_destroy(ctx);
    rocshmem_team_destroy(team);
}

int main()
{
    rocshmem_uniqueid_t uid;
    rocshmem_init_attr_t attr;
    uid.fill(7);
    check(rocshmem_set_attr_uniqueid_args(0, 2, &uid, &attr) == ROCSHMEM_SUCCESS && attr.uid == uid,
          "set_attr");
    rocshmem::rocshmem_init();
    int major, minor;
    char name[ROCSHMEM_MAX_NAME_LEN];
    rocshmem_info_get_version(&major, &minor);
    rocshmem_info_get_name(name);
    check(major == ROCSHMEM_MAJOR_VERSION && minor == ROCSHMEM_MINOR_VERSION, "the version is another");
    check(std::strcmp(name, ROCSHMEM_VENDOR_STRING) == 0, "the name is another");
    check(rocshmem_hipmodule_init(nullptr) == 1, "a module without symbols was accepted");
    transfers();
    collectives();
    check(global_names() == rocshmem_n_pes(), "the names without a namespace are other functions");
    if (rocshmem_my_pe() == 0 && failures == 0) std::puts("ok cxx/upstream");
    rocshmem::rocshmem_finalize();
    return failures != 0;
}
