/* SPDX-License-Identifier: MIT
 *
 * What travels between a PE and the rendezvous, and what the 128 bytes of a unique id hold.
 *
 *     server                                      client
 *     challenge (its nonce)               ---->
 *                                         <----   hello (rank, nranks, its nonce, MAC under the secret)
 *     verdict (MAC, or a refusal's text)  ---->
 *     frame READY                         ---->                         when all ranks have come
 *                                         <----   frame GATHER + blob
 *     frame GATHER + all blobs            ---->                         when all ranks have given theirs
 *                                         <----   frame BYE             has all it needs, and closes
 *     frame FAIL + text                   ---->                         at any time: the job is over
 *
 * A connection that closes without BYE is a PE that died or gave up, whatever phase the others are in.
 * Numbers are in the byte order of the machine: PEs of one job share memory, so they share that too, and a
 * magic number read in the other order is refused. MACs cover the handshake; the frames after it rely on the
 * connection.
 */
#ifndef RS_BOOTSTRAP_WIRE_H
#define RS_BOOTSTRAP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rocshmem/rocshmem.h"

#define RS_WIRE_MAGIC 0x4d485352u /* "RSHM" */
#define RS_UID_MAGIC 0x44495352u  /* "RSID" */
enum { RS_WIRE_VERSION = 2, RS_UID_ADDRESSES = 4, RS_WIRE_TEXT = 800 };

struct rs_uid_address {
    uint8_t family; /* 4 or 6 */
    uint8_t zero;
    uint16_t port; /* host order */
    uint8_t bytes[16];
};

struct rs_uid_data { /* a rocshmem_uniqueid_t from inside */
    uint32_t magic;
    uint16_t version, n_addresses;
    uint64_t host_id; /* of the server's process: rs_os_host_id */
    uint8_t secret[16];
    struct rs_uid_address addresses[RS_UID_ADDRESSES]; /* in order of preference; the loopback one last */
    uint8_t spare[8];
    uint64_t check; /* over all before it: tells a damaged id from a foreign one */
};
_Static_assert(sizeof(struct rs_uid_data) == ROCSHMEM_UNIQUE_ID_BYTES, "the public size of a unique id");

struct rs_wire_challenge {
    uint32_t magic;
    uint16_t version, zero;
    uint8_t nonce[16];
};
struct rs_wire_hello {
    uint32_t magic;
    uint16_t version, zero;
    int32_t rank, nranks;
    uint64_t timeout_ns; /* how long this PE will wait; 0 for ever */
    uint8_t nonce[16];
    uint64_t mac;
};
struct rs_wire_verdict {
    uint32_t magic;
    uint16_t version, accepted;
    uint32_t nbytes, zero; /* of the text that follows: a refusal's reason */
    uint64_t mac;
};
_Static_assert(sizeof(struct rs_wire_hello) == 48 && sizeof(struct rs_wire_verdict) == 24,
               "no padding on the wire");

enum rs_wire_op { RS_WIRE_READY = 1, RS_WIRE_GATHER, RS_WIRE_FAIL, RS_WIRE_BYE };
struct rs_wire_frame {
    uint32_t op;
    int32_t pe; /* FAIL: the rank it is about, or -1 */
    uint64_t nbytes;
};

/* Finish (magic, version, check) and check a unique id. ARG when the bytes are no unique id. */
void rs_uid_encode(struct rs_uid_data *data, rocshmem_uniqueid_t *uid_out);
int rs_uid_decode(const rocshmem_uniqueid_t *uid, struct rs_uid_data *data_out);

uint64_t rs_wire_hello_mac(const uint8_t secret[16], const struct rs_wire_challenge *challenge,
                           const struct rs_wire_hello *hello);
uint64_t rs_wire_verdict_mac(const uint8_t secret[16], const struct rs_wire_challenge *challenge,
                             const struct rs_wire_hello *hello, const struct rs_wire_verdict *verdict,
                             const char *text);

/* "2 5 7-12 of 16": the ranks i < nranks with has[i] == wanted; " and more" where the room ends. Returns how
 * many. */
int rs_wire_ranks_text(char *out, size_t nbytes, const bool *has, bool wanted, int nranks);
/* A duration for messages: "60 s", "0.25 s". */
void rs_wire_seconds_text(char *out, size_t nbytes, uint64_t ns);

#endif
