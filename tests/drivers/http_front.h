/*
 * http_front.h - HTTP around one function, for drivers.
 *
 * Both versions of HTTP, on one port of 127.0.0.1, with the library's own
 * codecs and streams; nothing of MCP is in between.
 */
#ifndef TESTS_DRIVERS_HTTP_FRONT_H
#define TESTS_DRIVERS_HTTP_FRONT_H

#include "base/buf.h"
#include "wire/http.h"

/* Appends the body of the answer to `answer`, and returns its status. */
typedef unsigned http_front_fn(const fl_head *head, fl_span body,
                               fl_buf *answer);

/* Serves until the process ends; returns only when it cannot. */
int http_front_run(const char *port, const char *content_type,
                   http_front_fn *serve);

#endif
