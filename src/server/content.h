/*
 * content.h - the parts of an answer, between the files that make it.
 *
 *   call_content.c   adding parts, and finishing
 *   content_media.c  those that are more than text
 *   content_result.c the result around them
 */
#ifndef FL_SERVER_CONTENT_H
#define FL_SERVER_CONTENT_H

#include "server/call.h"

enum {
    FL_CONTENT_MAX = 64 * 1024 * 1024,
    FL_CONTENT_SUGGESTIONS = 100, /* MCP: a completion has no more values */
};

struct fl_content {
    fl_buf parts;      /* JSON values, with commas between them */
    size_t count;      /* how many; of suggestions, also those left out */
    fl_buf meta;       /* an object, its end missing; or empty */
    fl_buf structured; /* JSON, or empty */
    fl_role role;
    bool is_error;
    bool cached; /* the handler has said for how long, and for whom */
    bool shared;
    uint64_t ttl_ms;
    fl_status status; /* the first thing that went wrong */
};

/* Made when it is first wanted. NULL: the call has ended, if not before then
 * by this. */
fl_content *fl_content_of(fl_call *call);

/* Around one part: the comma before it, and what a prompt wants around it. */
void fl_content_begin(fl_call *call, fl_content *content,
                      fl_json_writer *writer);
void fl_content_end(fl_call *call, fl_content *content, fl_json_writer *writer);

/* The whole result. */
FL_MUST_USE fl_status fl_content_write(fl_call *call, fl_content *content,
                                       fl_buf *out);

#endif
