/*
 * doctor_http.h - what HTTP is looked at for, file by file.
 */
#ifndef FL_CMD_DOCTOR_HTTP_H
#define FL_CMD_DOCTOR_HTTP_H

#include "cmd/doctor_protocol.h"
#include "cmd/probe.h"

/* A message posted to the endpoint, as clients do it. `session` and `revision`
 * go into the head if they are not empty; `more` is a field of the caller's,
 * or empty. */
typedef struct fl_http_post {
    const char *url;
    fl_span body;
    fl_span session;
    const char *revision;
    const char *rpc_method; /* Mcp-Method, of 2026-07-28; or NULL */
    fl_field more;
    fl_span host;
    bool stream;
    uint64_t for_ms;
} fl_http_post;

void fl_exam_post(fl_probe *probe, fl_exam *exam, const fl_http_post *post);

/* The same for the messages that are posted again and again. */
void fl_exam_post_hello(fl_probe *probe, fl_exam *exam, const char *url);
void fl_exam_post_ping(fl_probe *probe, fl_exam *exam, const char *url,
                       fl_span session);

/* Whether an answer is what MCP has: JSON or an event stream. */
bool fl_exam_is_mcp(const fl_probe *probe);

/* What is at the endpoint instead of one: other paths, other transports. */
void fl_exam_http_lost(fl_exam *exam, const fl_probe *probe);

/* 401 and 403: whether a client can find out how to be let in. */
void fl_exam_http_auth(fl_exam *exam, const char *url, const fl_probe *probe);

/* Sessions, streams and their ends. `hello` is the answer to initialize. */
void fl_exam_http_session(fl_exam *exam, const char *url,
                          const fl_probe *hello);

/* Whether a page of somebody else's could use a server on this machine. */
void fl_exam_http_origin(fl_exam *exam, const char *url);

/* The transport of 2024-11-05. True: it can be talked to. */
bool fl_exam_http_sse(fl_exam *exam, const char *url);

/* Whether a GET there is answered with an endpoint event. */
bool fl_exam_has_sse(fl_exam *exam, const char *url);

#endif
