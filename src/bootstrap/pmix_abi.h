/* SPDX-License-Identifier: MIT
 *
 * What we call of libpmix, declared here, so that neither its headers nor the library are needed to build. The layouts
 * are the same from PMIx 3 to 6; tests/contract/pmix.py compares them with pmix.h where that is installed.
 */
#ifndef RS_BOOTSTRAP_PMIX_ABI_H
#define RS_BOOTSTRAP_PMIX_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { RS_PMIX_NSLEN = 255, RS_PMIX_KEYLEN = 511 };
enum { RS_PMIX_BOOL = 1, RS_PMIX_STRING = 3, RS_PMIX_UINT32 = 14 };
enum { RS_PMIX_GLOBAL = 3 };
#define RS_PMIX_RANK_WILDCARD (UINT32_MAX - 1)
#define RS_PMIX_JOB_SIZE "pmix.job.size"
#define RS_PMIX_LOCAL_SIZE "pmix.local.size"
#define RS_PMIX_COLLECT_DATA "pmix.collect"

struct rs_pmix_proc {
    char nspace[RS_PMIX_NSLEN + 1];
    uint32_t rank;
};
struct rs_pmix_value {
    uint16_t type;
    union {
        _Bool flag;
        char *string;
        uint32_t uint32;
        void *words[3]; /* as large as the largest member */
    } data;
};
struct rs_pmix_info {
    char key[RS_PMIX_KEYLEN + 1];
    uint32_t flags;
    struct rs_pmix_value value;
};

/* X(member, name, arguments): every one returns a status, 0 is success */
/* clang-format off */
#define RS_PMIX_FUNCTIONS(X) \
    X(init,     "PMIx_Init",     (struct rs_pmix_proc *proc, struct rs_pmix_info *info, size_t ninfo)) \
    X(finalize, "PMIx_Finalize", (const struct rs_pmix_info *info, size_t ninfo)) \
    X(put,      "PMIx_Put",      (uint8_t scope, const char *key, struct rs_pmix_value *value)) \
    X(commit,   "PMIx_Commit",   (void)) \
    X(fence,    "PMIx_Fence",    (const struct rs_pmix_proc *procs, size_t nprocs, const struct rs_pmix_info *info, size_t ninfo)) \
    X(get,      "PMIx_Get",      (const struct rs_pmix_proc *proc, const char *key, const struct rs_pmix_info *info, size_t ninfo, struct rs_pmix_value **value_out))
/* clang-format on */

struct rs_pmix {
#define RS_PMIX_MEMBER(member, name, arguments) int(*member) arguments;
    RS_PMIX_FUNCTIONS(RS_PMIX_MEMBER)
#undef RS_PMIX_MEMBER
    const char *(*error_string)(int status); /* PMIx_Error_string */
};

#endif
