/*
 * gateway.h - a gateway: any MCP server behind any transport, for clients of
 * every revision. One server is at the address itself. Of several each is at
 * /servers/NAME/mcp, where the address has paths, and all of them, as if they
 * were one, at the address.
 *
 *     fl_gateway *gateway = fl_gateway_new();
 *     fl_gateway_add(gateway, &(fl_upstream){.url = "tcp://127.0.0.1:7332"},
 *                    &error);
 *     fl_gateway_listen(gateway, loop, "http://127.0.0.1:8080/mcp", NULL,
 *                       &error);
 */
#ifndef FAIRLEAD_GATEWAY_H
#define FAIRLEAD_GATEWAY_H

#include <fairlead/client.h>
#include <fairlead/loop.h>
#include <fairlead/options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fl_gateway fl_gateway;

/* Which clients talk to the same process, or the same session, of a server
 * that keeps one for each. */
typedef enum fl_child_mode {
    FL_CHILD_AUTO,    /* those of one user that look the same, until the server
                         shows that it tells its clients apart */
    FL_CHILD_SHARED,  /* all */
    FL_CHILD_SESSION, /* none: each conversation has its own */
    FL_CHILD_REQUEST, /* none: each request has its own, for servers that
                         remember nothing */
} fl_child_mode;

/* A server behind the gateway. */
typedef struct fl_upstream {
    const char *name; /* for logs, and of its path: /servers/NAME/mcp. One
                         needs none: it is at the address itself */
    const char *url;  /* its address, or NULL to run client.connection.child */
    fl_client_options client; /* era, revision, connection */
    fl_child_mode child;
    unsigned max_children;     /* conversations at one time; 64 */
    unsigned warm;             /* of these opened ahead, for who comes next */
    uint64_t idle_ms;          /* one nobody uses is closed; 300000 */
    uint64_t timeout_ms;       /* an answer without progress; 300000 */
    uint64_t max_total_ms;     /* in all; 3600000 */
    uint64_t input_timeout_ms; /* for what a client is asked; 600000 */
    unsigned breaker_failures; /* in a row, within a minute, after which it is
                                  not asked for a while; 5 */
    uint64_t breaker_pause_ms; /* that while; 10000 */
    bool one_at_a_time; /* calls of modern clients that can be asked, if it is a
                           legacy server on a channel: always so for those who
                           are known by no more than their address */
    const char *const *allow_tools; /* globs ("read_*"); if set, others are
                                       neither listed nor called */
    const char *const *deny_tools;  /* nor are these */
    const char *prefix; /* of its tools and prompts, where all servers are
                           one; "NAME__" */

    /* An outage. What was sent and may have run is never sent again, unless it
     * changes nothing. */
    unsigned connect_attempts;       /* to open one that never was; 3 */
    uint64_t connect_backoff_ms;     /* after the first; of an address 1000, of
                                        a command 250; twice that each time */
    uint64_t connect_backoff_max_ms; /* at most; 10000, of a command 30000 */
    unsigned queue_max;              /* requests that wait for it; 1000 */
    size_t queue_bytes;              /* their size together; 16 MiB */
    uint64_t queue_ms;               /* that one waits for it; as timeout_ms */
    uint64_t health_ms; /* a server silent for so long is asked whether it is
                           there; 30000, and only if it is open and somebody is
                           on it. If given, whether or not. FL_NEVER: it is
                           not. A command is not asked unless it is given */

    /* One of several places where it runs: fl_gateway_add_replica(). */
    const char *replica; /* what to call it; its address or command */
    unsigned weight;     /* its share beside the others'; 1 */
    bool standby;        /* it is asked only if no other is well */
} fl_upstream;

/* NULL when there is no memory. */
FL_API FL_MUST_USE fl_gateway *fl_gateway_new(void);

/* It must have been closed, or never have listened. */
FL_API void fl_gateway_free(fl_gateway *gateway);

/* Adds a server, at any time; all is copied. FL_E_INVALID, FL_E_IN_USE:
 * `error` names what is wrong. */
FL_API FL_MUST_USE fl_status fl_gateway_add(fl_gateway *gateway,
                                            const fl_upstream *upstream,
                                            fl_error *error);

/* Takes a server away (NULL: the one without a name). What is in flight there
 * is failed; other servers, and their sessions, notice nothing. Clients of all
 * servers keep those they came to; new ones they see when they come again. */
FL_API FL_MUST_USE fl_status fl_gateway_remove(fl_gateway *gateway,
                                               const char *name,
                                               fl_error *error);

/* Adds another place where the server of this name runs, at any time. `url`,
 * `client`, and the last three count; all else is as it was when the name was
 * added. New conversations and modern requests are shared among the replicas
 * that are well, by weight; a legacy conversation stays with its own, and is
 * moved to another when that is lost. 64 of them at most. */
FL_API FL_MUST_USE fl_status fl_gateway_add_replica(fl_gateway *gateway,
                                                    const fl_upstream *upstream,
                                                    fl_error *error);

/* Takes one away, but not the last. Its conversations move to others; what is
 * in flight there gets five seconds. */
FL_API FL_MUST_USE fl_status fl_gateway_remove_replica(fl_gateway *gateway,
                                                       const char *name,
                                                       const char *replica,
                                                       fl_error *error);

/* Gives it another weight; 0: it stands by. */
FL_API FL_MUST_USE fl_status fl_gateway_weigh_replica(fl_gateway *gateway,
                                                      const char *name,
                                                      const char *replica,
                                                      unsigned weight,
                                                      fl_error *error);

/* Clients may come by this address. */
FL_API FL_MUST_USE fl_status fl_gateway_listen(fl_gateway *gateway,
                                               fl_loop *loop, const char *url,
                                               const fl_options *options,
                                               fl_error *error);

/* Of the address that was listened on last, if it has one. */
FL_API uint16_t fl_gateway_port(const fl_gateway *gateway);

/* Called each time the last client has gone. */
FL_API void fl_gateway_on_idle(fl_gateway *gateway, fl_task *done, void *user);

/* Shuts the doors, gives what is in flight `grace_ms`, fails the rest, ends
 * every child; then `done`. */
FL_API void fl_gateway_close(fl_gateway *gateway, uint64_t grace_ms,
                             fl_task *done, void *user);

#ifdef __cplusplus
}
#endif

#endif
