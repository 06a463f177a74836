/*
 * exam.h - an examination: what all probes of "fairlead doctor" share.
 *
 * A probe starts something on the loop and waits for it, here, with a limit,
 * so that the order of an examination can be read off its functions from top
 * to bottom. Nothing else runs on this loop, and nobody waits without a limit.
 */
#ifndef FL_CMD_EXAM_H
#define FL_CMD_EXAM_H

#include "cmd/chart.h"
#include "cmd/doctor_line.h"
#include "io/tls.h"
#include "transport/address.h"

#include <fairlead/loop.h>

typedef struct fl_exam {
    const fl_doctor_line *line;
    fl_chart *chart;
    fl_loop *loop;
    fl_address address; /* of line->url */
    fl_tls *tls;        /* as the command line has it; NULL with a command */
    uint64_t step_ms;   /* the most that one probe may take */
    uint64_t until;     /* loop time at which to end it all */
    bool interrupted;
} fl_exam;

/* Lets the loop run until `*done`, for `ms` at most; says whether it is done.
 * Ends early when the user will have no more of it. */
bool fl_exam_wait(fl_exam *exam, const bool *done, uint64_t ms);

/* The same for something that is being closed, which comes to its end by
 * itself and has to. */
void fl_exam_wait_closed(fl_exam *exam, const bool *closed);

/* Whether there is time for another probe. */
bool fl_exam_goes_on(const fl_exam *exam);

/* Milliseconds since `then`, by the clock that never jumps. */
uint64_t fl_exam_clock(void);

enum { FL_EXAM_URL = 1536 };

/* The server's address with another scheme, and another path and query, if
 * not NULL. Returns `out`. */
const char *fl_exam_url(const fl_exam *exam, const char *scheme,
                        const char *target, char out[FL_EXAM_URL]);

/* A URL of the server as people write it: through a Unix socket it has another
 * form. Returns `out`, or the URL. */
const char *fl_exam_tell(const fl_exam *exam, const char *url,
                         char out[FL_EXAM_URL]);

/* What its URLs have for a host; behind a Unix socket it is localhost. */
const char *fl_exam_host(const fl_exam *exam);

/* Of the address: http, https, sse+http, sse+https. */
bool fl_exam_is_http(const fl_exam *exam);

/* The groups of checks, in the order they are made. True: it is worth going
 * on. */
bool fl_exam_command(fl_exam *exam);
bool fl_exam_address(fl_exam *exam);
bool fl_exam_connection(fl_exam *exam);
bool fl_exam_http(fl_exam *exam);
bool fl_exam_websocket(fl_exam *exam);
bool fl_exam_protocol(fl_exam *exam);

#endif
