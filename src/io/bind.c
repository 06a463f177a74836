/*
 * bind.c - makes sockets that listen.
 *
 * Linux hands a listener's options down to the sockets it accepts, so what the
 * limits ask for is set once, here, and costs an accepted connection no system
 * call.
 *
 * A Unix socket must not be open to others for even a moment. umask() would do
 * it, but for the whole process and all its threads; Linux also takes the mode
 * from the socket itself, so fchmod() before bind() is both exact and private.
 */
#include "io/bind.h"

#include "base/status.h"
#include "io/inet.h"
#include "io/stream_impl.h"
#include "io/unix_address.h"
#include "io/uv_status.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 1024, MODE = 0600 };

static fl_status refuse(fl_error *error, const char *what, int code)
{
    return fl_error_set(error, fl_status_from_uv(code),
                        "cannot listen on %s: %s", what, fl_uv_text(code));
}

/* "::" serves IPv4 too: who asks for every address means every one. */
static void set_options(int fd, const struct sockaddr *address,
                        const fl_stream_limits *limits)
{
    int on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *ip = (const void *)address;
        int only = !IN6_IS_ADDR_UNSPECIFIED(&ip->sin6_addr);
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
    }
    fl_stream_tune(fd, limits);
}

static int listen_tcp(const struct addrinfo *at, int backlog,
                      const fl_stream_limits *limits, int *out)
{
    int fd =
        socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    set_options(fd, at->ai_addr, limits);
    if (bind(fd, at->ai_addr, at->ai_addrlen) != 0 ||
        listen(fd, backlog > 0 ? backlog : BACKLOG) != 0) {
        int code = -errno;
        close(fd);
        return code;
    }
    *out = fd;
    return 0;
}

/* An IPv4 address if the name has one: "localhost" must be where most clients
 * look for it. */
static const struct addrinfo *choose(const struct addrinfo *found)
{
    for (const struct addrinfo *at = found; at != NULL; at = at->ai_next)
        if (at->ai_family == AF_INET)
            return at;
    return found;
}

static fl_status bind_tcp(const fl_acceptor_options *options,
                          const fl_stream_limits *limits, int *fd,
                          fl_error *error)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char port[8], what[300];

    fl_inet_join(options->host, options->port, what, sizeof what);
    snprintf(port, sizeof port, "%u", options->port);
    int rc = getaddrinfo(options->host, port, &hints, &found);
    if (rc != 0)
        return fl_error_set(error, FL_E_UNREACHABLE, "cannot listen on %s: %s",
                            what, gai_strerror(rc));
    const struct addrinfo *at = choose(found);
    rc = at != NULL ? listen_tcp(at, options->backlog, limits, fd)
                    : UV_EAI_NODATA;
    freeaddrinfo(found);
    return rc == 0 ? FL_OK : refuse(error, what, rc);
}

/* Whether the file is a socket that nobody listens on. */
static bool is_stale(const struct sockaddr_un *address, socklen_t len)
{
    struct stat st;

    if (lstat(address->sun_path, &st) != 0 || !S_ISSOCK(st.st_mode))
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool refused = connect(fd, (const struct sockaddr *)address, len) != 0 &&
                   errno == ECONNREFUSED;
    close(fd);
    return refused;
}

static int listen_unix(int fd, const struct sockaddr_un *address, socklen_t len,
                       const fl_acceptor_options *options)
{
    const struct sockaddr *any = (const struct sockaddr *)address;
    mode_t mode = options->mode != 0 ? (mode_t)options->mode : MODE;

    if (fchmod(fd, mode) != 0)
        return -errno;
    int rc = bind(fd, any, len);
    if (rc != 0 && errno == EADDRINUSE && is_stale(address, len)) {
        unlink(address->sun_path);
        rc = bind(fd, any, len);
    }
    if (rc != 0)
        return -errno;
    /* the umask took its part away; to give that back opens nothing early */
    if (address->sun_path[0] != '\0' && chmod(address->sun_path, mode) != 0)
        return -errno;
    return listen(fd, options->backlog > 0 ? options->backlog : BACKLOG) == 0
               ? 0
               : -errno;
}

static fl_status bind_unix(const fl_acceptor_options *options, int *out,
                           fl_error *error)
{
    struct sockaddr_un address;
    socklen_t len;
    fl_status status = fl_unix_address(options->path, &address, &len, error);

    if (status < 0)
        return status;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int rc = fd >= 0 ? listen_unix(fd, &address, len, options) : -errno;
    if (rc < 0) {
        if (fd >= 0)
            close(fd);
        return refuse(error, options->path, rc);
    }
    *out = fd;
    return FL_OK;
}

fl_status fl_bind_listen(const fl_acceptor_options *options,
                         const fl_stream_limits *limits, int *fd,
                         fl_error *error)
{
    *fd = -1;
    if ((options->host == NULL) == (options->path == NULL))
        return fl_error_set(error, FL_E_INVALID,
                            "a listener needs either a host or a path");
    return options->path != NULL ? bind_unix(options, fd, error)
                                 : bind_tcp(options, limits, fd, error);
}
