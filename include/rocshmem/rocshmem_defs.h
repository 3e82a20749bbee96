/* SPDX-License-Identifier: MIT
 *
 * Constants and types of the rocSHMEM API; included by all headers that declare functions.
 */
#ifndef ROCSHMEM_DEFS_H
#define ROCSHMEM_DEFS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C++" {
#include <array>
}
#endif

#include "rocshmem_types.def"

#if defined(__GNUC__)
#define ROCSHMEM_API __attribute__((visibility("default")))
#else
#define ROCSHMEM_API
#endif

#ifdef __cplusplus
namespace rocshmem
{
extern "C" {
#endif

/* ---- constants ---- */

enum ROCSHMEM_STATUS { ROCSHMEM_SUCCESS = 0, ROCSHMEM_ERROR = 1 };

/* How a signal word is changed. */
enum ROCSHMEM_SIGNAL_OPS { ROCSHMEM_SIGNAL_SET = 0, ROCSHMEM_SIGNAL_ADD = 1 };

/* Comparisons of waits and tests; signal words compare as unsigned 64-bit integers. */
enum rocshmem_cmps {
    ROCSHMEM_CMP_EQ = 0,
    ROCSHMEM_CMP_NE = 1,
    ROCSHMEM_CMP_GT = 2,
    ROCSHMEM_CMP_GE = 3,
    ROCSHMEM_CMP_LT = 4,
    ROCSHMEM_CMP_LE = 5
};

typedef enum ROCSHMEM_OP {
    ROCSHMEM_SUM = 0,
    ROCSHMEM_MAX = 1,
    ROCSHMEM_MIN = 2,
    ROCSHMEM_PROD = 3,
    ROCSHMEM_AND = 4,
    ROCSHMEM_OR = 5,
    ROCSHMEM_XOR = 6,
    ROCSHMEM_REPLACE = 7
} ROCSHMEM_OP;

enum rocshmem_thread_ops {
    ROCSHMEM_THREAD_SINGLE = 0,
    ROCSHMEM_THREAD_FUNNELED = 1,
    ROCSHMEM_THREAD_WG_FUNNELED = 2,
    ROCSHMEM_THREAD_SERIALIZED = 3,
    ROCSHMEM_THREAD_MULTIPLE = 4
};

enum {
    ROCSHMEM_CTX_ZERO = 0,
    ROCSHMEM_CTX_NOSTORE = 1,
    ROCSHMEM_CTX_SERIALIZED = 2,
    ROCSHMEM_CTX_WG_PRIVATE = 4,
    ROCSHMEM_CTX_SHARED = 8
};

enum { ROCSHMEM_INIT_WITH_MPI_COMM = 0, ROCSHMEM_INIT_WITH_UNIQUEID = 1 };

enum rocshmem_team_configs { ROCSHMEM_TEAM_DEFAULT_CONFIGS = 0, ROCSHMEM_TEAM_NUM_CONTEXTS = 1 };

#define ROCSHMEM_MAX_NAME_LEN 64
#define ROCSHMEM_MAJOR_VERSION 1 /* of the OpenSHMEM specification that we follow */
#define ROCSHMEM_MINOR_VERSION 5
#define ROCSHMEM_UNIQUE_ID_BYTES 128

/* Of this library; what rocshmem_info_get_name and rocshmem_vendor_get_version_info give. */
#define ROCSHMEM_VENDOR_STRING "rocshmem4py"
#define ROCSHMEM_VENDOR_MAJOR_VERSION 0
#define ROCSHMEM_VENDOR_MINOR_VERSION 2
#define ROCSHMEM_VENDOR_PATCH_VERSION 0
#define ROCSHMEM_VERSION "0.2.0"

/* ---- types ---- */

typedef struct {
    void *ctx_opaque;
    void *team_opaque;
} rocshmem_ctx_t;

struct rocshmem_team; /* never defined: a handle carries a small number and is never dereferenced */
typedef struct rocshmem_team *rocshmem_team_t;

typedef struct {
    int num_contexts; /* a hint; contexts are not limited here */
} rocshmem_team_config_t;

/* Bytes to be copied; nothing in them is for programs. In C++ the type that upstream has. */
#ifdef __cplusplus
typedef std::array<uint8_t, ROCSHMEM_UNIQUE_ID_BYTES> rocshmem_uniqueid_t;
#else
typedef struct {
    unsigned char data[ROCSHMEM_UNIQUE_ID_BYTES];
} rocshmem_uniqueid_t;
#endif

typedef struct {
    int32_t rank;
    int32_t nranks;
    rocshmem_uniqueid_t uid;
    void *mpi_comm; /* address of an MPI_Comm; for ROCSHMEM_INIT_WITH_MPI_COMM */
} rocshmem_init_attr_t;

/* Predefined teams; in C++ constants of the namespace. */
#ifdef __cplusplus
static const rocshmem_team_t ROCSHMEM_TEAM_INVALID = nullptr;
static const rocshmem_team_t ROCSHMEM_TEAM_SHARED = reinterpret_cast<rocshmem_team_t>(intptr_t(1));
static const rocshmem_team_t ROCSHMEM_TEAM_WORLD = reinterpret_cast<rocshmem_team_t>(intptr_t(-2));
#else
#define ROCSHMEM_TEAM_INVALID ((rocshmem_team_t)0)
#define ROCSHMEM_TEAM_SHARED ((rocshmem_team_t)(intptr_t)1) /* the PEs of this host */
#define ROCSHMEM_TEAM_WORLD ((rocshmem_team_t)(intptr_t)-2) /* all PEs */
#endif

/* The default context. Its address is what rocshmem_get_device_ctx gives on the host device. */
extern ROCSHMEM_API const rocshmem_ctx_t ROCSHMEM_CTX_DEFAULT;
extern ROCSHMEM_API const rocshmem_ctx_t ROCSHMEM_CTX_INVALID;

#ifdef __cplusplus
}
} // namespace rocshmem
#endif
#endif
