/* SPDX-License-Identifier: MIT
 *
 * The formats of wire.h: encode, check, authenticate, and the words for lists of ranks. No input or output
 * here.
 */
#include "bootstrap/wire.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "bootstrap/siphash.h"

static const uint8_t check_key[16] = "rocshmem uid v1"; /* public: against accidents only */

static uint64_t uid_check(const struct rs_uid_data *data)
{
    return rs_siphash(check_key, data, offsetof(struct rs_uid_data, check));
}

void rs_uid_encode(struct rs_uid_data *data, rocshmem_uniqueid_t *uid_out)
{
    data->magic = RS_UID_MAGIC;
    data->version = RS_WIRE_VERSION;
    data->check = uid_check(data);
    memcpy(uid_out->data, data, sizeof(*data));
}

int rs_uid_decode(const rocshmem_uniqueid_t *uid, struct rs_uid_data *data_out)
{
    struct rs_uid_data data;
    memcpy(&data, uid->data, sizeof(data));
    if (data.magic != RS_UID_MAGIC || data.check != uid_check(&data))
        return rs_fail(RS_E_ARG,
                       "the %d bytes are no unique id, or were changed on their way; give every PE the bytes "
                       "that rocshmem_get_uniqueid filled",
                       ROCSHMEM_UNIQUE_ID_BYTES);
    if (data.version != RS_WIRE_VERSION || data.n_addresses < 1 || data.n_addresses > RS_UID_ADDRESSES)
        return rs_fail(
            RS_E_ARG, "the unique id has format %d, this library reads format %d; use one version everywhere",
            data.version, RS_WIRE_VERSION);
    *data_out = data;
    return 0;
}

uint64_t rs_wire_hello_mac(const uint8_t secret[16], const struct rs_wire_challenge *challenge,
                           const struct rs_wire_hello *hello)
{
    uint8_t text[1 + sizeof(*challenge) + offsetof(struct rs_wire_hello, mac)] = {'C'};
    memcpy(text + 1, challenge, sizeof(*challenge));
    memcpy(text + 1 + sizeof(*challenge), hello, offsetof(struct rs_wire_hello, mac));
    return rs_siphash(secret, text, sizeof(text));
}

uint64_t rs_wire_verdict_mac(const uint8_t secret[16], const struct rs_wire_challenge *challenge,
                             const struct rs_wire_hello *hello, const struct rs_wire_verdict *verdict,
                             const char *text)
{
    uint8_t all[1 + sizeof(*challenge) + sizeof(*hello) + sizeof(*verdict) + RS_WIRE_TEXT] = {'S'};
    size_t n = 1;
    memcpy(all + n, challenge, sizeof(*challenge));
    n += sizeof(*challenge);
    memcpy(all + n, hello, sizeof(*hello));
    n += sizeof(*hello);
    memcpy(all + n, verdict, offsetof(struct rs_wire_verdict, mac));
    n += offsetof(struct rs_wire_verdict, mac);
    if (verdict->nbytes > 0 && verdict->nbytes <= RS_WIRE_TEXT) {
        memcpy(all + n, text, verdict->nbytes);
        n += verdict->nbytes;
    }
    return rs_siphash(secret, all, n);
}

int rs_wire_ranks_text(char *out, size_t nbytes, const bool *has, bool wanted, int nranks)
{
    int count = 0;
    size_t at = 0;
    bool full = false;
    out[0] = '\0';
    for (int i = 0; i < nranks; i++) {
        if (has[i] != wanted) continue;
        int last = i;
        while (last + 1 < nranks && has[last + 1] == wanted) last++;
        count += last - i + 1;
        char item[40];
        int n = last > i + 1 ? snprintf(item, sizeof(item), "%d-%d ", i, last)
                : last > i   ? snprintf(item, sizeof(item), "%d %d ", i, last)
                             : snprintf(item, sizeof(item), "%d ", i);
        i = last;
        full = full || at + (size_t)n + sizeof("and more of 2147483647") > nbytes;
        if (full) continue; /* still counts */
        memcpy(out + at, item, (size_t)n + 1);
        at += (size_t)n;
    }
    snprintf(out + at, nbytes - at, "%sof %d", full ? "and more " : "", nranks);
    return count;
}

void rs_wire_seconds_text(char *out, size_t nbytes, uint64_t ns)
{
    unsigned long long s = ns / 1000000000u, ms = ns / 1000000u % 1000u;
    if (ms == 0)
        snprintf(out, nbytes, "%llu s", s);
    else
        snprintf(out, nbytes, "%llu.%03llu s", s, ms);
}
