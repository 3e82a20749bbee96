/* SPDX-License-Identifier: MIT
 *
 * SipHash-2-4, written from the paper "SipHash: a fast short-input PRF" (2012): four 64-bit words of state,
 * two rounds for each eight bytes of input, four at the end. Short inputs only, so clarity comes before
 * speed.
 */
#include "bootstrap/siphash.h"

#include <string.h>

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

/* Up to eight bytes as a little-endian number. */
static uint64_t load(const uint8_t *bytes, size_t nbytes)
{
    uint64_t word = 0;
    for (size_t i = 0; i < nbytes; i++) word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

static void absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    sip_round(v);
    v[0] ^= word;
}

uint64_t rs_siphash(const uint8_t key[16], const void *data, size_t nbytes)
{
    const uint8_t *bytes = data;
    uint64_t k0 = load(key, 8), k1 = load(key + 8, 8);
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du, k0 ^ 0x6c7967656e657261u,
                     k1 ^ 0x7465646279746573u};
    size_t left = nbytes;
    for (; left >= 8; left -= 8, bytes += 8) absorb(v, load(bytes, 8));
    absorb(v, load(bytes, left) | (uint64_t)nbytes << 56); /* the rest, and the length's low byte on top */
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++) sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
