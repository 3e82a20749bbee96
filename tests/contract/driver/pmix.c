/* SPDX-License-Identifier: MIT
 *
 * src/bootstrap/pmix_abi.h against pmix.h: constants, layouts, and each function's arguments. Compiled only.
 */
#include <stddef.h>

#include <pmix.h>

#include "bootstrap/pmix_abi.h"

#define SAME_SIZE(a, b) _Static_assert(sizeof(a) == sizeof(b), "size of " #a)
#define SAME_PLACE(a, x, b, y) _Static_assert(offsetof(a, x) == offsetof(b, y), "place of " #y)
#define SAME_TYPE(a, x, b, y) _Static_assert(sizeof(((a *)0)->x) == sizeof(((b *)0)->y), "type of " #y)

SAME_SIZE(struct rs_pmix_proc, pmix_proc_t);
SAME_PLACE(struct rs_pmix_proc, rank, pmix_proc_t, rank);
SAME_SIZE(struct rs_pmix_value, pmix_value_t);
SAME_TYPE(struct rs_pmix_value, type, pmix_value_t, type);
SAME_PLACE(struct rs_pmix_value, data, pmix_value_t, data);
SAME_TYPE(struct rs_pmix_value, data.uint32, pmix_value_t, data.uint32);
SAME_TYPE(struct rs_pmix_value, data.flag, pmix_value_t, data.flag);
SAME_SIZE(struct rs_pmix_info, pmix_info_t);
SAME_PLACE(struct rs_pmix_info, flags, pmix_info_t, flags);
SAME_PLACE(struct rs_pmix_info, value, pmix_info_t, value);
_Static_assert(RS_PMIX_NSLEN == PMIX_MAX_NSLEN && RS_PMIX_KEYLEN == PMIX_MAX_KEYLEN, "lengths");
_Static_assert(RS_PMIX_BOOL == PMIX_BOOL && RS_PMIX_STRING == PMIX_STRING, "types of values");
_Static_assert(RS_PMIX_UINT32 == PMIX_UINT32 && RS_PMIX_GLOBAL == PMIX_GLOBAL, "types, scope");
_Static_assert(RS_PMIX_RANK_WILDCARD == (PMIX_RANK_WILDCARD), "all ranks");

static const struct pair {
    const char *ours, *theirs;
} keys[] = {{RS_PMIX_JOB_SIZE, PMIX_JOB_SIZE},
            {RS_PMIX_LOCAL_SIZE, PMIX_LOCAL_SIZE},
            {RS_PMIX_COLLECT_DATA, PMIX_COLLECT_DATA}};
_Static_assert(sizeof(RS_PMIX_JOB_SIZE) == sizeof(PMIX_JOB_SIZE), "a key's length");
_Static_assert(sizeof(RS_PMIX_LOCAL_SIZE) == sizeof(PMIX_LOCAL_SIZE), "a key's length");
_Static_assert(sizeof(RS_PMIX_COLLECT_DATA) == sizeof(PMIX_COLLECT_DATA), "a key's length");

/* With our types under theirs, each call has to compile as it is. */
int calls(pmix_proc_t *proc, pmix_info_t *info, pmix_value_t *value);
int calls(pmix_proc_t *proc, pmix_info_t *info, pmix_value_t *value)
{
    pmix_status_t (*init)(pmix_proc_t *, pmix_info_t *, size_t) = PMIx_Init;
    pmix_status_t (*finalize)(const pmix_info_t *, size_t) = PMIx_Finalize;
    pmix_status_t (*put)(uint8_t, const char *, pmix_value_t *) = PMIx_Put;
    pmix_status_t (*commit)(void) = PMIx_Commit;
    pmix_status_t (*fence)(const pmix_proc_t *, size_t, const pmix_info_t *, size_t) = PMIx_Fence;
    pmix_status_t (*get)(const pmix_proc_t *, const char *, const pmix_info_t *, size_t, pmix_value_t **) =
        PMIx_Get;
    const char *(*text)(pmix_status_t) = PMIx_Error_string;
    _Static_assert(sizeof(pmix_status_t) == sizeof(int) && PMIX_SUCCESS == 0, "statuses");
    return init(proc, info, 0) + finalize(info, 0) + put(PMIX_GLOBAL, keys[0].ours, value) + commit() +
           fence(proc, 1, info, 1) + get(proc, keys[1].theirs, info, 0, &value) + (text(0) != NULL);
}
