/* SPDX-License-Identifier: MIT
 *
 * SipHash-2-4, the keyed hash of Aumasson and Bernstein: authenticates the handshake of the rendezvous.
 */
#ifndef RS_BOOTSTRAP_SIPHASH_H
#define RS_BOOTSTRAP_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t rs_siphash(const uint8_t key[16], const void *data, size_t nbytes);

#endif
