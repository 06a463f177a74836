/*
 * options.h - everything one may set about a connection, in one struct.
 *
 * Zero means the default everywhere, so an options struct is written with
 * designated initialisers and names only what differs:
 *
 *     fl_options options = {.max_message = 1 << 20, .tls.ca_file = "ca.pem"};
 *
 * Durations are in milliseconds; FL_NEVER switches a timeout off. Every value
 * is checked before anything starts, with an error that names the option.
 * Pointers are borrowed for the call: what is needed later is copied.
 */
#ifndef FAIRLEAD_OPTIONS_H
#define FAIRLEAD_OPTIONS_H

#include <fairlead/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FL_NEVER UINT64_MAX

typedef struct fl_tls_settings {
    const char *cert_file; /* PEM, chain included; a server needs it */
    const char *key_file;
    const char *ca_file;       /* whom to trust; default: the system's store */
    const char *server_name;   /* client: the name to verify; default: host */
    bool require_client_cert;  /* server: mutual TLS; needs ca_file */
    bool insecure_skip_verify; /* client: accept any certificate */
} fl_tls_settings;

/* A server that is a child process, spoken to over its stdin and stdout. */
typedef struct fl_child_settings {
    const char *const *argv; /* the command; never goes through a shell */
    const char *const *env;  /* "NAME=value", added to what is inherited */
    const char *const *env_inherit; /* names to inherit although they look
                                       like secrets (TOKEN, KEY, ...) */
    const char *cwd;
    const char *const *allow; /* if set: the only commands that may be run.
                                 An entry with a slash is a path, one without
                                 is a name looked up in PATH */
    bool set_uid, set_gid;
    unsigned uid, gid;
    uint64_t max_memory_bytes; /* limits on the child; 0: as ours */
    uint64_t max_cpu_seconds;
    uint64_t max_files;
    uint64_t stop_grace_ms; /* stdin closed, wait, SIGTERM; 2000 */
    uint64_t kill_grace_ms; /* SIGTERM, wait, SIGKILL; 2000 */
} fl_child_settings;

typedef struct fl_options {
    size_t max_message; /* bytes; 16 MiB. A longer one is refused, not kept */
    size_t high_water;  /* bytes waiting to leave at which sending says
                           "busy" and reading pauses; 256 KiB */
    uint64_t open_timeout_ms; /* connect and TLS handshake; 5000 */
    uint64_t send_timeout_ms; /* no progress while sending; 5000. To a child:
                                 never, for it may be at work */
    uint64_t idle_timeout_ms; /* server: nothing said, nothing in flight;
                                 300000. Client: never */
    uint64_t lease_ms;        /* server: until the first message; 30000 */
    uint64_t drain_ms;        /* after the peer's end of file: for answers
                                 that are under way; 1500 */
    unsigned max_in_flight;   /* requests not answered yet on one link; the
                                 next is told "busy"; 1024 */
    unsigned max_connections; /* server: at one time; 1024 */
    unsigned max_per_second;  /* server: new connections per address and
                                 second; 0: no limit */
    int backlog;              /* server: 1024 */
    int socket_buffer;        /* SO_RCVBUF and SO_SNDBUF; 0: the system's */
    unsigned socket_mode;     /* server: of a Unix socket; 0600 */
    const char *const *allow_addresses; /* server: "10.0.0.0/8", "::1"; if
                                           set, all others are refused */
    const char *const *deny_addresses;  /* server: refused before that */
    bool allow_public; /* server: bind to other than loopback although nobody
                          is asked who he is (mutual TLS asks) */

    bool no_reconnect;           /* client: one outage ends it */
    unsigned reconnect_attempts; /* client: in a row; 0: without end */
    uint64_t reconnect_first_ms; /* 1000, then doubled, with jitter */
    uint64_t reconnect_max_ms;   /* 60000 */
    size_t outage_queue; /* client: bytes kept for sending while there is no
                            connection; 1 MiB, then "busy" */

    fl_tls_settings tls;
    fl_child_settings child;
} fl_options;

#ifdef __cplusplus
}
#endif

#endif
