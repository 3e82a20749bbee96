/* SPDX-License-Identifier: MIT
 *
 * See probe.h.
 */
#include "observe/probe.h"

#include <string.h>

void rs_probe_add(struct rs_probe *probe, const struct rs_prober *prober)
{
    if (probe->n < RS_PROBERS_MAX) probe->probers[probe->n++] = *prober;
}

int rs_probe_attach(struct rs_probe_thread *thread, const struct rs_probe *probe)
{
    memset(thread, 0, sizeof *thread);
    if (probe->n == 0) return 0;
    for (int i = 0; i < probe->n; i++) {
        const struct rs_prober *p = &probe->probers[i];
        int rc = p->attach ? p->attach(p->self, thread, i) : 0;
        if (rc == 0) continue;
        while (i-- > 0)
            if (probe->probers[i].detach) probe->probers[i].detach(probe->probers[i].self, thread, i);
        return rc;
    }
    thread->probe = probe;
    return 0;
}

void rs_probe_detach(struct rs_probe_thread *thread)
{
    const struct rs_probe *probe = thread->probe;
    for (int i = probe ? probe->n : 0; i-- > 0;)
        if (probe->probers[i].detach) probe->probers[i].detach(probe->probers[i].self, thread, i);
    thread->probe = NULL;
}

void rs_probe_enter(struct rs_probe_thread *thread, uint32_t call)
{
    thread->call = call;
    for (int i = 0; i < thread->probe->n; i++) {
        const struct rs_prober *p = &thread->probe->probers[i];
        if (p->enter) p->enter(p->self, thread, i);
    }
}

int rs_probe_access(struct rs_probe_thread *thread, const struct rs_access *access)
{
    for (int i = 0; i < thread->probe->n; i++) {
        const struct rs_prober *p = &thread->probe->probers[i];
        int rc = p->access ? p->access(p->self, thread, i, access) : 0;
        if (rc < 0) return rc;
    }
    return 0;
}

void rs_probe_leave(struct rs_probe_thread *thread)
{
    for (int i = thread->probe->n; i-- > 0;) {
        const struct rs_prober *p = &thread->probe->probers[i];
        if (p->leave) p->leave(p->self, thread, i);
    }
}
