/*
 * ps_show.h - reports of gateways, as a table for people.
 *
 *     Gateway 4242: fairlead 0.1.0, up 3m12s, 2 clients
 *       on http://127.0.0.1:8080/mcp
 *        PID  SERVER  OWNER       STATE    AGE    MEMORY  BUSY  LAST STDERR ...
 *       4250  files   shared (2)  ready  3m10s  12.3 MiB     0  listening
 *
 * Whatever a server or a client has a say in is spelt out, so that nothing in
 * it moves a cursor or breaks a line, in a pipe as well: it may lead to a
 * terminal. JSON is for those who want it as it is.
 */
#ifndef FL_CMD_PS_SHOW_H
#define FL_CMD_PS_SHOW_H

#include "cmd/term.h"

/* A report that is an object. Lines are cut to `columns`; 0: they are not.
 * FL_E_NOMEM: it was not shown whole. */
FL_MUST_USE fl_status fl_ps_show(const fl_term *to, fl_span report,
                                 size_t columns);

enum { FL_PS_TEXT = 24 };

/* "45s", "3m12s", "2h05m", "3d04h"; "512 B", "12.3 MiB". */
void fl_ps_age(uint64_t ms, char text[FL_PS_TEXT]);
void fl_ps_size(uint64_t bytes, char text[FL_PS_TEXT]);

#endif
