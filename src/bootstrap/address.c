/* SPDX-License-Identifier: MIT
 *
 * Which interfaces of this host a unique id names; listening there; in which order another process tries them. IPv4 comes before IPv6, link-local addresses are left out
 * (they mean nothing on another host), loopback is the last one. Without a list from the user, bridges and
 * pairs of containers are left out too: their addresses exist on many hosts at once.
 */
#include "bootstrap/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/os.h"
#include "base/status.h"

bool rs_address_allows(const char *list, const char *name)
{
    bool exclude = *list == '^';
    if (exclude) list++;
    bool exact = *list == '=';
    if (exact) list++;
    while (*list) {
        size_t n = strcspn(list, ",");
        if (n > 0 && strncmp(list, name, n) == 0 && (!exact || name[n] == '\0')) return !exclude;
        list += n;
        if (*list) list++;
    }
    return exclude;
}

static bool takes_family(const struct rs_config *config, int family)
{
    if (!*config->socket_family) return true;
    return strcasecmp(config->socket_family, family == AF_INET ? "AF_INET" : "AF_INET6") == 0;
}

/* One interface's address, if it is of this family and of use elsewhere. */
static bool take_address(const struct ifaddrs *entry, int family, struct rs_uid_address *out)
{
    if (!entry->ifa_addr || entry->ifa_addr->sa_family != family) return false;
    memset(out, 0, sizeof(*out));
    if (family == AF_INET) {
        out->family = 4;
        memcpy(out->bytes, &((const struct sockaddr_in *)(const void *)entry->ifa_addr)->sin_addr, 4);
        return !(out->bytes[0] == 169 && out->bytes[1] == 254);
    }
    const struct sockaddr_in6 *address = (const void *)entry->ifa_addr;
    out->family = 6;
    memcpy(out->bytes, &address->sin6_addr, 16);
    return !IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr);
}

static int append_loopback(const struct rs_config *config, struct rs_uid_address *out, int n)
{
    memset(&out[n], 0, sizeof(out[n]));
    if (takes_family(config, AF_INET)) {
        out[n].family = 4;
        out[n].bytes[0] = 127;
        out[n].bytes[3] = 1;
    } else {
        out[n].family = 6;
        out[n].bytes[15] = 1;
    }
    return n + 1;
}

int rs_address_list(const struct rs_config *config, bool loopback_only, struct rs_uid_address *out)
{
    if (loopback_only) return append_loopback(config, out, 0);
    const char *list = *config->socket_ifname ? config->socket_ifname : "^docker,veth,virbr,br-";
    struct ifaddrs *entries = NULL;
    if (getifaddrs(&entries) != 0) return append_loopback(config, out, 0); /* a sandbox: this host only */
    char seen[128] = "";
    int n = 0, n_allowed = 0;
    static const int families[] = {AF_INET, AF_INET6};
    for (int f = 0; f < 2; f++) {
        for (struct ifaddrs *entry = entries; entry; entry = entry->ifa_next) {
            if (!entry->ifa_addr || entry->ifa_addr->sa_family != families[f] || !(entry->ifa_flags & IFF_UP))
                continue;
            size_t at = strlen(seen);
            snprintf(seen + at, sizeof(seen) - at, " %s", entry->ifa_name);
            if (!rs_address_allows(list, entry->ifa_name)) continue;
            n_allowed++;
            if (!takes_family(config, families[f]) || entry->ifa_flags & IFF_LOOPBACK) continue;
            if (n < RS_UID_ADDRESSES - 1 && take_address(entry, families[f], &out[n])) n++;
        }
    }
    freeifaddrs(entries);
    if (n_allowed == 0 && *config->socket_ifname)
        return rs_fail(RS_E_CONFIG,
                       "ROCSHMEM_BOOTSTRAP_SOCKET_IFNAME is \"%.200s\", which allows no interface of this "
                       "host; it has%s",
                       config->socket_ifname, seen);
    return append_loopback(config, out, n);
}

socklen_t rs_address_socket(const struct rs_uid_address *address, struct sockaddr_storage *out)
{
    memset(out, 0, sizeof(*out));
    if (address->family == 4) {
        struct sockaddr_in *in = (void *)out;
        in->sin_family = AF_INET;
        in->sin_port = htons(address->port);
        memcpy(&in->sin_addr, address->bytes, 4);
        return sizeof(*in);
    }
    struct sockaddr_in6 *in6 = (void *)out;
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(address->port);
    memcpy(&in6->sin6_addr, address->bytes, 16);
    return sizeof(*in6);
}

void rs_address_text(const struct rs_uid_address *address, char *out)
{
    char text[INET6_ADDRSTRLEN] = "?";
    inet_ntop(address->family == 4 ? AF_INET : AF_INET6, address->bytes, text, sizeof(text));
    snprintf(out, RS_ADDRESS_TEXT, address->family == 4 ? "%s:%u" : "[%s]:%u", text, (unsigned)address->port);
}

bool rs_address_is_loopback(const struct rs_uid_address *address)
{
    static const uint8_t loopback6[16] = {[15] = 1};
    return address->family == 4 ? address->bytes[0] == 127 : memcmp(address->bytes, loopback6, 16) == 0;
}

/* Listen on an address at a port of the kernel's choice, which is put into address. Descriptor, or -1 with
 * errno. */
static int listen_on(struct rs_uid_address *address)
{
    struct sockaddr_storage socket_address;
    socklen_t length = rs_address_socket(address, &socket_address);
    int fd = socket(socket_address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    int on = 1;
    if (address->family == 6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&socket_address, length) != 0 || listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, (struct sockaddr *)&socket_address, &length) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    address->port = ntohs(address->family == 4 ? ((struct sockaddr_in *)&socket_address)->sin_port
                                               : ((struct sockaddr_in6 *)&socket_address)->sin6_port);
    return fd;
}

int rs_address_listen(struct rs_uid_address *addresses, int n, int *fds, const char *what)
{
    int n_fds = 0, error = 0;
    char last[RS_ADDRESS_TEXT] = "";
    for (int i = 0; i < n; i++) {
        struct rs_uid_address address = addresses[i];
        int fd = listen_on(&address);
        if (fd < 0) {
            error = errno;
            rs_address_text(&address, last);
            continue;
        }
        addresses[n_fds] = address;
        fds[n_fds++] = fd;
    }
    memset(addresses + n_fds, 0, (size_t)(RS_UID_ADDRESSES - n_fds) * sizeof(*addresses));
    if (n_fds == 0)
        return rs_fail(RS_E_SYSTEM, "could not listen on %s for %s: %s", last, what, strerror(error));
    return n_fds;
}

int rs_address_order(const struct rs_uid_address *addresses, int n_addresses, uint64_t host_id,
                     struct rs_uid_address *out)
{
    bool here = host_id == rs_os_host_id();
    int n = 0;
    for (int loopback = 1; loopback >= 0; loopback--)
        for (int i = 0; i < n_addresses; i++)
            if (rs_address_is_loopback(&addresses[i]) == loopback && (here || !loopback))
                out[n++] = addresses[i];
    for (int i = 0; n == 0 && i < n_addresses; i++) out[i] = addresses[i];
    return n ? n : n_addresses;
}
