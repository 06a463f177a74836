/*
 * probe.h - one HTTP request, and everything that became of it.
 *
 * A transport follows the rules and hides what it saw. Here the caller says
 * what to send, Host and Origin included, and gets the answer's head, as much
 * of its body as came in time, and when each of them came.
 */
#ifndef FL_CMD_PROBE_H
#define FL_CMD_PROBE_H

#include "cmd/exam.h"
#include "wire/field.h"

enum { FL_PROBE_FIELDS = 8 };

typedef struct fl_probe_request {
    const char *method;               /* GET, POST, DELETE */
    fl_span url;                      /* http:// or https:// */
    fl_field fields[FL_PROBE_FIELDS]; /* names in lower case; an empty one
                                         ends them */
    fl_span body;
    fl_span host;    /* to say in Host; empty: that of the URL */
    bool stream;     /* enough is there when a piece of the body has come */
    bool bare;       /* without the headers of the command line: it is not the
                        server that they are meant for */
    uint64_t for_ms; /* 0: as long as a probe may take */
} fl_probe_request;

typedef struct fl_probe {
    unsigned status; /* 0: there was no answer, and `why` says so */
    fl_error why;
    fl_buf head; /* "name: value" each, names in lower case, and a line end */
    fl_buf body; /* what came of it */
    bool whole;  /* that is all of it */
    uint64_t head_ms, body_ms; /* after which head and first piece came */
} fl_probe;

/* Makes the request and waits. Deinit it in any case. */
void fl_probe_make(fl_probe *probe, fl_exam *exam,
                   const fl_probe_request *request);
void fl_probe_deinit(fl_probe *probe);

/* The first value of a field, name in lower case; {NULL, 0}: it has none. */
fl_span fl_probe_field(const fl_probe *probe, const char *name);

/* Whether the answer has this media type. */
bool fl_probe_is(const fl_probe *probe, const char *media);

#endif
