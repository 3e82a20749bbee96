/* SPDX-License-Identifier: MIT
 *
 * Unique ids of this process: sockets for the addresses, the 128 bytes, and the list of servers that run
 * here. Any thread; the list has a lock, which is held while a server is stopped too, so that nobody meets
 * half of one.
 */
#include "bootstrap/uid.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/status.h"
#include "bootstrap/address.h"
#include "bootstrap/bootstrap.h"
#include "bootstrap/server.h"

struct served {
    rocshmem_uniqueid_t uid;
    struct rs_server *server; /* owned */
    bool once;
    struct served *next;
};

static pthread_mutex_t served_lock = PTHREAD_MUTEX_INITIALIZER;
static struct served *served_list; /* under served_lock */

/* Unlink what should go: all that match, or (uid NULL) those that env.c started; ended: only those that are
 * through. */
static void stop_served(const rocshmem_uniqueid_t *uid, bool ended)
{
    pthread_mutex_lock(&served_lock);
    for (struct served **link = &served_list; *link;) {
        struct served *entry = *link;
        bool match = uid ? memcmp(&entry->uid, uid, sizeof(*uid)) == 0 : entry->once;
        if (match && (!ended || rs_server_ended(entry->server))) {
            *link = entry->next;
            rs_server_destroy(entry->server);
            free(entry);
        } else {
            link = &entry->next;
        }
    }
    pthread_mutex_unlock(&served_lock);
}

int rs_uid_serve_once(const struct rs_config *config, bool loopback_only, bool once,
                      rocshmem_uniqueid_t *uid_out)
{
    stop_served(NULL, true);
    struct rs_uid_data data;
    memset(&data, 0, sizeof(data));
    int n = rs_address_list(config, loopback_only, data.addresses);
    if (n < 0) return n;
    struct served *entry = malloc(sizeof(*entry));
    if (!entry) return rs_fail(RS_E_NOMEM, "no memory for a unique id");
    int fds[RS_UID_ADDRESSES];
    n = rs_address_listen(data.addresses, n, fds, "the rendezvous of a unique id");
    if (n < 0) {
        free(entry);
        return n;
    }
    data.n_addresses = (uint16_t)n;
    data.host_id = rs_os_host_id();
    rs_os_random(data.secret, sizeof(data.secret));
    int rc = rs_server_create(data.secret, fds, n, config->bootstrap_ns, once, &entry->server);
    if (rc < 0) {
        free(entry);
        return rc;
    }
    rs_uid_encode(&data, &entry->uid);
    *uid_out = entry->uid;
    entry->once = once;
    pthread_mutex_lock(&served_lock);
    entry->next = served_list;
    served_list = entry;
    pthread_mutex_unlock(&served_lock);
    return 0;
}

int rs_uid_serve(const struct rs_config *config, int loopback_only, rocshmem_uniqueid_t *uid_out)
{
    return rs_uid_serve_once(config, loopback_only, false, uid_out);
}

int rs_uid_lose(const rocshmem_uniqueid_t *uid, int pe, const char *text)
{
    bool found = false;
    pthread_mutex_lock(&served_lock);
    for (struct served *entry = served_list; entry; entry = entry->next) {
        if (memcmp(&entry->uid, uid, sizeof(*uid)) != 0) continue;
        rs_server_lose(entry->server, pe, text);
        found = true;
    }
    pthread_mutex_unlock(&served_lock);
    return found ? 0 : rs_fail(RS_E_ARG, "uid is of no rendezvous that this process serves");
}

void rs_uid_stop(const rocshmem_uniqueid_t *uid)
{
    stop_served(uid, false);
}
