/*
 * talk.h - a conversation with a server, word for word.
 *
 * A client hides what a server does wrong, or dies of it. Here ids are tokens
 * of the caller's choice, and what comes back is what came back. It runs over
 * a link, so it is the same on every transport.
 */
#ifndef FL_CMD_TALK_H
#define FL_CMD_TALK_H

#include "cmd/exam.h"
#include "transport/link.h"

typedef struct fl_talk {
    fl_exam *exam;
    fl_link *link; /* NULL once it is closed */
    bool open;
    bool closed;
    bool ended;   /* open, or closed: for who waits for either */
    bool heard;   /* an answer has come */
    bool stray;   /* ... to a request that was not asked */
    bool settled; /* heard, or closed */
    fl_error why; /* it closed, or there was no answer */
    char id[64];  /* of the request in hand */
    fl_buf text;  /* of the answer */
    fl_msg msg;   /* borrows from it */
    uint64_t took_ms;
    uint64_t patience_ms; /* for an answer; 0: as long as a probe may take */
} fl_talk;

/* Connects. FL_OK, or why not, which is in talk->why, too. Close it in either
 * case. */
FL_MUST_USE fl_status fl_talk_open(fl_talk *talk, fl_exam *exam);
/* The same with another address than the one on the command line. */
FL_MUST_USE fl_status fl_talk_open_at(fl_talk *talk, fl_exam *exam,
                                      const char *url);
void fl_talk_close(fl_talk *talk);

/*
 * Asks, and waits for an answer. `id` is a raw token, `params` JSON or NULL.
 * FL_OK: talk->msg is a result. FL_E_REMOTE: it is an error. FL_E_BAD_MESSAGE:
 * it is to another id. FL_E_TIMEOUT, or why the connection was lost. Where it
 * is not FL_OK, talk->why says so in words.
 */
FL_MUST_USE fl_status fl_talk_ask(fl_talk *talk, const char *id,
                                  const char *method, const char *params);

/* A notification without params. */
void fl_talk_tell(fl_talk *talk, const char *method);

/* The code of the error that was answered with; 0: there was none. */
int64_t fl_talk_code(const fl_talk *talk);

#endif
