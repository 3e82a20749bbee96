/* SPDX-License-Identifier: MIT
 *
 * libucp, opened at run time: so the plug-in loads on a machine without it and can say what is missing, and so UCX's
 * defaults can be chosen before its constructors read the environment. Its types come from its headers.
 */
#ifndef RS_TRANSPORT_UCX_LIBRARY_H
#define RS_TRANSPORT_UCX_LIBRARY_H

#include <stddef.h>

#include <ucp/api/ucp.h>

#include "transport/ucx/ucp.def"

#define RS_UCP_MEMBER_(member, symbol) __typeof__(&symbol) member;
struct rs_ucp {
    RS_UCP(RS_UCP_MEMBER_)
};
#undef RS_UCP_MEMBER_

/* Filled by the first rs_ucx_library_open of the process, constant afterwards. */
extern struct rs_ucp rs_ucp;

/* Between them our defaults stand in the environment, and no other thread opens a network. */
void rs_ucx_environment_begin(void);
void rs_ucx_environment_end(void);
/* Between the two: 0, or -1 with a reason. Once open it stays. */
int rs_ucx_library_open(char *reason, size_t nbytes);
/* What UCX's libraries open from here on is not inherited by programs that a PE starts. Again when they have loaded more. */
void rs_ucx_lead_descriptors(void);
/* Likewise: the configuration for a network, the user's variables, and our defaults where there are none. tls: what to use, ""
 * for UCX_TLS or, without it, all but shared memory. NULL with a reason. */
ucp_config_t *rs_ucx_configure(const char *tls, char *reason, size_t nbytes);
/* Bytes of payload in one message, so that it is one piece of the transport's too. */
size_t rs_ucx_segment(void);

#endif
