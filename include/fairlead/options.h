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

#include <fairlead/auth.h>
#include <fairlead/keys.h>
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
                                       like secrets (TOKEN, KEY, ...); "*":
                                       all */
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

/* What only HTTP has: http://, https:// and the 2024 sse+http(s)://. */
typedef struct fl_http_settings {
    /* A server's doors. The endpoint is the path of its URL ("/mcp"). */
    const char *sse_path;      /* HTTP+SSE of 2024-11-05; "/sse" */
    const char *messages_path; /* where its clients post to; "/messages" */
    const char *health_path;   /* a GET there is answered 200; none */
    bool no_sse;               /* do not serve HTTP+SSE at all */
    bool stateless;         /* serve tools/call and the like without a session
                               to clients of the legacy revisions, too */
    bool streaming_dialect; /* tool calls streamed as result and complete
                               events to clients that ask for them */
    bool event_types;       /* events named notification, error, close */

    /* Who may use a server. */
    const char *const *allow_origins; /* pages: "https://app.example.org";
                                         "*" for its first label, its port, or
                                         for all */
    const char *const *allow_hosts;   /* names of ours, for the Host field */
    fl_keys *keys;                    /* clients must show one; shared. NULL:
                                         they need none */
    bool key_in_query; /* the stream of HTTP+SSE may show it as "?token=KEY":
                          an EventSource of a page sends no headers */

    /* What pages and proxies are told. */
    const char *const *allow_headers;  /* that pages may send, besides those
                                          MCP has */
    const char *const *expose_headers; /* that they may read, likewise */
    const char *base_url; /* "https://example.org/mcp-gate": as which clients
                             of HTTP+SSE know us, behind a proxy that takes its
                             path away; its path is put before ours */

    /* How much of it. */
    size_t max_head;       /* bytes of a request's head; 32 KiB */
    unsigned max_fields;   /* header fields; 100 */
    unsigned max_streams;  /* open event streams of one session, and requests
                              at one time on one HTTP/2 connection; 100 */
    unsigned max_sessions; /* 10000 */
    unsigned max_sessions_per_address;    /* 1000 */
    unsigned max_connections_per_address; /* 1024 */
    size_t memory_budget; /* bytes held for all clients; 256 MiB */

    uint64_t head_timeout_ms; /* from the first byte to a whole head; 10000 */
    uint64_t body_timeout_ms; /* from there to a whole body; 30000 */
    uint64_t keepalive_ms;    /* a comment on each open stream; 15000 */
    uint64_t stream_after_ms; /* an answer that takes longer becomes a stream
                                 that can be kept alive and resumed; 250 */
    uint64_t session_idle_ms; /* 3600000 */
    uint64_t retry_ms;        /* what clients are told to wait; 5000 */

    /* What is kept for clients that come back for it. */
    bool no_resume;
    size_t event_max;      /* events per session; 1000 */
    size_t event_bytes;    /* per session; 4 MiB */
    uint64_t event_age_ms; /* 300000 */
    uint64_t give_up_ms;   /* a call whose stream broke, and that nobody comes
                              back for, is cancelled; 0: never. A gateway's
                              default is 120000 */

    bool no_compression; /* bodies are not packed with gzip */

    /* A client. */
    const char *const *headers; /* "Name: value", sent with every request */
    unsigned pool;              /* connections kept; 10 */
    unsigned pool_overflow;     /* more of them at need; 5. Then "busy" */
    bool http1_only;            /* do not offer HTTP/2 */
    bool http2_only;            /* nothing else will do; without TLS: it is
                                   known to be spoken there */
    bool allow_plaintext;       /* http:// to other than loopback */
    bool no_proxy;              /* heed no HTTPS_PROXY and the like */
    fl_auth *auth;              /* for servers that ask who it is; shared */
} fl_http_settings;

/* What only WebSocket has: ws:// and wss://, and http(s):// servers, which
 * take them on the same port. */
typedef struct fl_websocket_settings {
    /* A server's doors. An http(s):// server takes sockets at its endpoint and
     * at a path of their own; a ws(s):// server at the path of its URL. */
    const char *path; /* of http(s):// servers; the endpoint and "/ws" */
    bool off;         /* http(s):// servers: take none */

    bool strict_lines;  /* messages end in a newline, both ways; without it one
                           frame is a message, or holds several with newlines
                           between them */
    bool tool_dialect;  /* server: {"id","name","arguments"} is a tool call,
                           and what is not understood is not answered */
    unsigned utf8_code; /* to close with when text is not UTF-8; 1007, or
                           1002 */

    bool no_compression;   /* permessage-deflate is neither offered nor taken */
    bool context_takeover; /* ... with what was said before as its dictionary:
                              packs better, and holds some 300 KiB per socket */

    size_t high_water;    /* as the general one, for sockets; 100 KiB */
    uint64_t ping_ms;     /* a ping so often; a peer that is silent from one
                             to the next is dead; 30000 */
    uint64_t fragment_ms; /* from a message's first byte to its last; 30000 */
    uint64_t close_ms;    /* for the peer to answer our close; 2000 */
} fl_websocket_settings;

typedef struct fl_options {
    const char *label;  /* client: what the log calls the server; NULL: nothing,
                           or its command */
    size_t max_message; /* bytes; 16 MiB. A longer one is refused, not kept */
    size_t high_water;  /* bytes waiting to leave at which sending says
                           "busy" and reading pauses; 256 KiB */
    uint64_t open_timeout_ms; /* connect and TLS handshake; 5000 */
    uint64_t send_timeout_ms; /* no progress while sending; 5000. To a child:
                                 never, for it may be at work */
    uint64_t dead_peer_ms;    /* sent and not acknowledged; 30000 */
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
                          is asked who he is (mutual TLS asks, and so do
                          keys over HTTP) */

    bool no_reconnect;           /* client: one outage ends it */
    unsigned reconnect_attempts; /* client: in a row; 0: without end */
    uint64_t reconnect_first_ms; /* 1000, then doubled, with jitter */
    uint64_t reconnect_max_ms;   /* 60000 */
    size_t outage_queue; /* client: bytes kept for sending while there is no
                            connection; 1 MiB, then "busy" */

    fl_tls_settings tls;
    fl_child_settings child;
    fl_http_settings http;
    fl_websocket_settings ws;
} fl_options;

#ifdef __cplusplus
}
#endif

#endif
