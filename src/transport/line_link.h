/*
 * line_link.h - a link that carries one message per line over one stream.
 *
 * stdio, TCP, TLS and Unix sockets differ in how their stream comes to be and
 * in what an end of it means; everything in between is here. The owner embeds
 * an fl_line_link, gives it a stream, and says in its hooks what to do when
 * the stream is lost and when the link has ended.
 */
#ifndef FL_TRANSPORT_LINE_LINK_H
#define FL_TRANSPORT_LINE_LINK_H

#include "io/stream.h"
#include "io/timer.h"
#include "transport/transport.h"
#include "wire/lines.h"

typedef struct fl_line_link fl_line_link;

typedef struct fl_line_hooks {
    /* The stream is open and the link ACTIVE. */
    void (*on_active)(fl_line_link *line);

    /* The stream ended or broke while nobody was closing. NULL: the link ends
     * with it. Otherwise the stream is closed next, on_stream_gone follows,
     * and the hook has moved the link to DISCONNECTED or failed it. */
    void (*on_lost)(fl_line_link *line, const fl_error *why);

    /* The stream has gone. NULL: if the link is CLOSING it ends now. */
    void (*on_stream_gone)(fl_line_link *line);

    /* Sending while there is no open stream. NULL: FL_E_STATE. */
    fl_status (*on_unsent)(fl_line_link *line, const fl_span *parts,
                           size_t count);

    /* The link's timer ran out while it was DISCONNECTED. NULL: it never
     * is. */
    void (*on_retry)(fl_line_link *line);

    /* Frees the whole object the line link is embedded in. */
    void (*free)(fl_line_link *line);
} fl_line_hooks;

/* Shared by the links of one owner, which outlives them. */
typedef struct fl_line_settings {
    size_t max_message;
    size_t high_water;
    uint64_t lease_ms;
    uint64_t idle_ms;
    uint64_t drain_ms;
    uint64_t flush_ms; /* for what waits to leave when we close */
} fl_line_settings;

struct fl_line_link {
    fl_link link;
    const fl_line_hooks *hooks;
    const fl_line_settings *settings;
    fl_stream *stream; /* NULL while there is none */
    fl_lines lines;
    fl_buf *held; /* input kept while the peer does not read; or NULL */
    struct fl_edges *lost; /* a line of a server's that is being skipped; or
                              NULL */
    fl_error *why;    /* why it is closing; NULL: we said so, or no memory */
    fl_timer timer;   /* lease, idle, drain, retry, or the last breath */
    fl_status failed; /* what went wrong, in a word */
    bool ended;       /* the peer finished; answers are still leaving */
};

fl_line_settings fl_line_settings_from(const fl_options *full);

void fl_line_link_init(fl_line_link *line, const fl_transport *transport,
                       fl_loop *loop, bool server, const fl_line_hooks *hooks,
                       const fl_line_settings *settings);

/* Takes the stream and starts it. on_active follows, at once or later. */
void fl_line_link_attach(fl_line_link *line, fl_stream *stream);

/* Closes because of `why`; what waits to leave still may. */
void fl_line_link_fail(fl_line_link *line, const fl_error *why);

/* Says why the link will have ended, without ending it; the last word
 * counts. */
void fl_line_link_blame(fl_line_link *line, const fl_error *why);

/* Ends a CLOSING link whose stream has gone. */
void fl_line_link_end(fl_line_link *line);

/* Sends an error about nothing in particular (id null), as far as it goes. */
void fl_line_link_complain(fl_line_link *line, int code, fl_span message,
                           fl_span data);

/* Makes one line of a JSON text: raw line ends between tokens would cut the
 * message in two, so they become spaces, in place. */
void fl_line_link_join(char *text, size_t len);

/* The functions of fl_transport that all line links share. */
fl_status fl_line_link_send(fl_link *link, void *reply_stream,
                            const fl_span *parts, size_t count);
fl_status fl_line_link_answer(fl_link *link, void *reply_stream, int code,
                              const fl_span *parts, size_t count);
void fl_line_link_close(fl_link *link);
void fl_line_link_free(fl_link *link);
void fl_line_link_info(const fl_link *link, fl_link_info *info);
void fl_line_link_released(fl_link *link);

#endif
