/*
 * report.h - what a gateway holds, as JSON: its servers, how they are, what
 * they can do, what went to and fro; and their children, whose they are, how
 * old and how big, and what they said last.
 *
 *   report.c        the gateway, and each server
 *   report_child.c  each child of a server
 *   report_words.c  texts of others: what may be shown, and how much
 *
 * It is for the eyes of whoever runs the gateway, who will show it to others:
 * so there is neither an environment in it nor a header field, and what looks
 * like a secret in a command line, a URL or a line of stderr is masked. It has
 * at most FL_REPORT_MAX bytes; what there was no room for is counted.
 */
#ifndef FL_GATEWAY_REPORT_H
#define FL_GATEWAY_REPORT_H

#include "gateway/back.h"
#include "json/write.h"

#include <fairlead/gateway.h>

enum {
    FL_REPORT_MAX = 1024 * 1024,
    FL_REPORT_ITEM = 24 * 1024, /* more than a server or a child can take */
    FL_REPORT_LOOKS = 2048,     /* files of /proc, in all */
};

/* Appends an object. `out` is empty and has room for FL_REPORT_MAX bytes. */
FL_MUST_USE fl_status fl_gateway_report(const fl_gateway *gateway, fl_buf *out);

/* A lane of this back is going: what was counted on it stays the server's. */
void fl_report_keep(fl_back *back);

/* The rest is for report*.c alone. */
typedef struct fl_report {
    fl_json_writer writer;
    const fl_buf *out;
    uint64_t now_ms;
    unsigned looks;   /* at /proc, that are left */
    uint64_t omitted; /* servers and children */
} fl_report;

/* Whether there is room for one more; it is counted if not. */
bool fl_report_fits(fl_report *report);
/* A member: a number. */
void fl_report_number(fl_report *report, const char *key, uint64_t number);

/* The member "children" of a server. */
void fl_report_children(fl_report *report, const fl_route *route);
/* What clients wait for there, without what is open for as long as they like.
 */
size_t fl_report_count_waiting(const fl_back *back);

/* A member: a text of somebody else's, masked and cut to `max` bytes; null
 * when it is empty. */
void fl_report_text(fl_report *report, const char *key, fl_span text,
                    size_t max);
/* A member: a command line, or an address without its query; `port`, if it is
 * not 0, is the one that was bound. */
void fl_report_command(fl_report *report, const char *const *argv);
void fl_report_url(fl_report *report, const char *key, const char *url,
                   uint16_t port);
/* The member "replica": an address, or a command. */
void fl_report_place(fl_report *report, const char *label);

#endif
