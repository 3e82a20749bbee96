/* SPDX-License-Identifier: MIT
 *
 * Placeholder for the build, until the proxy comes.
 */
#include "transport/proxy.h"
#include "base/status.h"
int rs_proxy_open(struct rs_proxy **p, struct rs_device *d, struct rs_network *n,
                  const struct rs_network_ops *o, void (*b)(void *, int, int, const char *), void *a)
{
    (void)d;
    (void)n;
    (void)o;
    (void)b;
    (void)a;
    *p = NULL;
    return 0;
}
void rs_proxy_stop(struct rs_proxy *p)
{
    (void)p;
}
void rs_proxy_close(struct rs_proxy *p)
{
    (void)p;
}
#define U return rs_fail(RS_E_UNSUPPORTED, "no proxy");
int rs_proxy_put_on_stream(const struct rs_route *r, void *s, void *d, const void *c, size_t n)
{
    (void)r;
    (void)s;
    (void)d;
    (void)c;
    (void)n;
    U
}
int rs_proxy_get_on_stream(const struct rs_route *r, void *s, void *d, const void *c, size_t n)
{
    (void)r;
    (void)s;
    (void)d;
    (void)c;
    (void)n;
    U
}
int rs_proxy_signal_on_stream(const struct rs_route *r, void *s, uint64_t *w, uint64_t v, int o)
{
    (void)r;
    (void)s;
    (void)w;
    (void)v;
    (void)o;
    U
}
int rs_proxy_put_signal_on_stream(const struct rs_route *r, void *s, void *d, const void *c, size_t n,
                                  uint64_t *w, uint64_t v, int o)
{
    (void)r;
    (void)s;
    (void)d;
    (void)c;
    (void)n;
    (void)w;
    (void)v;
    (void)o;
    U
}
int rs_proxy_start_on_stream(void *s, const struct rs_transfer *t, size_t n, struct rs_memop *f, size_t *m)
{
    (void)s;
    (void)t;
    (void)n;
    (void)f;
    (void)m;
    U
}
