/*
 * ws_link.h - a link that is a WebSocket: messages in text frames over a pipe
 * of bytes.
 *
 * The pipe is a stream that HTTP/1.1 has given up (ws_server.c), one that a
 * client made (ws_client.c), or an exchange of HTTP/2 (ws_h2.c). Everything in
 * between is here: frames, pings, patience, the close handshake. The owner
 * embeds an fl_ws_link, says by its pipe how bytes leave, gives it the bytes
 * that come with the fl_ws_link_on_... functions, and says in its hooks what
 * to do when the socket is lost.
 *
 *     ACTIVE --close()--> CLOSING: our Close, wait for theirs --> pipe closed
 *        |--their Close--> CLOSING: echoed ------------------------^
 *        |--a fault------> CLOSING: Close with its code ------------^
 *        `--the pipe broke: on_lost
 */
#ifndef FL_TRANSPORT_WS_LINK_H
#define FL_TRANSPORT_WS_LINK_H

#include "guard/budget.h"
#include "io/stream.h"
#include "io/timer.h"
#include "transport/transport.h"
#include "wire/ws.h"

typedef struct fl_ws_link fl_ws_link;
typedef struct fl_ws_held fl_ws_held; /* ws_input.c */
typedef struct fl_ws_keys fl_ws_keys; /* ws_output.c */
typedef struct fl_ws_owed fl_ws_owed; /* the same */

/* Shared by the links of one owner, which outlives them. */
typedef struct fl_ws_link_settings {
    fl_ws_settings frames;
    fl_ws_policy packing;
    fl_budget *budget; /* for what is held; NULL: not counted */
    size_t max_message;
    size_t high_water;
    size_t pack_from; /* messages shorter than this are not packed */
    uint64_t lease_ms;
    uint64_t idle_ms;
    uint64_t ping_ms;
    uint64_t fragment_ms; /* from the first byte of a message to its last */
    uint64_t stuck_ms;    /* output at high water that makes no progress */
    uint64_t close_ms;    /* for the peer's part of the close handshake */
    unsigned utf8_code;   /* to close with when text is not UTF-8 */
    bool leaving;         /* who closes says that the whole endpoint goes */
    bool strict_lines;    /* every message ends in a newline, both ways */
    bool tool_dialect;    /* {id, name, arguments} is a tools/call (W7) */
} fl_ws_link_settings;

/* How bytes leave. */
typedef struct fl_ws_pipe {
    /* All or nothing. FL_BUSY: high water, fl_ws_link_on_drain() will tell;
     * never when urgent. It also tells when an urgent write has passed the
     * mark. Without parts: whether there is room. */
    fl_status (*write)(fl_ws_link *ws, const fl_span *parts, size_t count,
                       bool urgent);
    size_t (*pending)(const fl_ws_link *ws);
    void (*pause)(fl_ws_link *ws, bool paused);
    /* Closes, letting what waits leave for so long at most; 0: at once. Later,
     * always, fl_ws_link_on_gone(). Harmless twice. */
    void (*close)(fl_ws_link *ws, uint64_t flush_ms);
    void (*name)(const fl_ws_link *ws, char name[FL_STREAM_NAME]);
} fl_ws_pipe;

/* A stream as it is; `ws->stream` is it. */
extern const fl_ws_pipe fl_ws_stream_pipe;

typedef struct fl_ws_hooks {
    /* The socket was lost while nobody was closing: the pipe broke, or the
     * peer closed it with a reason we may come back after. NULL: the link ends
     * with it. Otherwise the pipe is closed next, on_gone follows, and the
     * hook has moved the link to DISCONNECTED or failed it. */
    void (*on_lost)(fl_ws_link *ws, const fl_error *why);

    /* The pipe has gone. NULL: a CLOSING link ends now. */
    void (*on_gone)(fl_ws_link *ws);

    /* Sending while there is no socket. NULL: FL_E_STATE. */
    fl_status (*on_unsent)(fl_ws_link *ws, const fl_span *parts, size_t count);

    /* The link's timer ran out while it was CONNECTING or DISCONNECTED. NULL:
     * it never is. */
    void (*on_retry)(fl_ws_link *ws);

    /* Frees the whole object the link is embedded in. */
    void (*free)(fl_ws_link *ws);
} fl_ws_hooks;

struct fl_ws_link {
    fl_link link;
    const fl_ws_hooks *hooks;
    const fl_ws_pipe *pipe; /* NULL while there is none */
    const fl_ws_link_settings *settings;
    fl_stream *stream; /* the pipe, if it is one, or will be: a link that
                          closes while there is no pipe closes this */
    fl_ws *frames;     /* NULL while there is no socket */
    fl_ws_pack *pack;  /* our own context, if kept; or NULL */
    fl_ws_agreed agreed;
    fl_ws_held *held; /* input kept while the peer does not read; or NULL */
    fl_ws_owed *owed; /* a pong there was no room for; or NULL */
    fl_ws_keys *keys; /* to mask with; NULL on a server */
    fl_error *why;    /* why it is closing; NULL: we said so, or no memory */
    fl_timer timer;
    uint64_t principal;  /* server: the key it was opened with, or 0 */
    uint64_t due_ms;     /* when the timer runs out; FL_NEVER: it does not */
    uint64_t ping_at_ms; /* when to ping next */
    uint64_t pinged_ms;  /* loop time of a ping nothing came after; or 0 */
    uint64_t begun_ms;   /* of a message that is not whole; or 0 */
    uint64_t stuck_ms;   /* since when output makes no progress; or 0 */
    uint64_t closing_ms; /* since when the peer's close is waited for */
    uint64_t stuck_at;   /* how much the peer had taken then */
    uint64_t written;    /* bytes, ever */
    size_t charged;      /* to the budget, for what came */
    size_t charged_out;  /* and for what waits to leave */
    fl_status failed;    /* what went wrong, in a word */
    uint16_t close_code; /* the peer's, or ours */
    bool close_sent;
    bool close_heard;
    bool paused;
};

/* Durations and limits from checked options; the roles differ. */
fl_ws_link_settings fl_ws_link_settings_from(const fl_options *full,
                                             bool client);

void fl_ws_link_init(fl_ws_link *ws, const fl_transport *transport,
                     fl_loop *loop, bool server, const fl_ws_hooks *hooks,
                     const fl_ws_link_settings *settings);

/* The handshake is done: sets the socket up and moves the link to ACTIVE.
 * FL_E_NOMEM: nothing was done. */
FL_MUST_USE fl_status fl_ws_link_open(fl_ws_link *ws, const fl_ws_pipe *pipe,
                                      const fl_ws_agreed *agreed);

/* From the owner of the pipe. */
void fl_ws_link_on_data(fl_ws_link *ws, fl_span bytes);
void fl_ws_link_on_drain(fl_ws_link *ws);
/* FL_END: the peer ended it in order; without a Close that is a loss, too. */
void fl_ws_link_on_end(fl_ws_link *ws, const fl_error *why);
void fl_ws_link_on_gone(fl_ws_link *ws);

/* The same four for fl_stream_start() and fl_stream_rebind(); `user` is the
 * fl_ws_link. */
extern const fl_stream_events fl_ws_stream_events;

/* Closes with this code; what waits to leave still may. */
void fl_ws_link_fail(fl_ws_link *ws, unsigned code, const fl_error *why);
/* Closes with `why` alone: there is no socket to tell. */
void fl_ws_link_give_up(fl_ws_link *ws, const fl_error *why);
/* Ends a CLOSING link whose pipe has gone. */
void fl_ws_link_end(fl_ws_link *ws);

/* For the transport's table. */
fl_status fl_ws_link_send(fl_link *link, void *reply_stream,
                          const fl_span *parts, size_t count);
fl_status fl_ws_link_answer(fl_link *link, void *reply_stream, int code,
                            const fl_span *parts, size_t count);
void fl_ws_link_close(fl_link *link);
void fl_ws_link_free(fl_link *link);
void fl_ws_link_info(const fl_link *link, fl_link_info *info);

#endif
