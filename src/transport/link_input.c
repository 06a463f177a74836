/*
 * link_input.c - a text that is a message is delivered, any other is refused.
 *
 * Only a client is answered: a server that prints garbage on its stdout would
 * not know what to do with an error, and it may print a lot. And a response
 * that is wrong is not answered by anyone, or two sides would answer errors
 * for ever.
 */
#include "transport/link_input.h"

#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"

#include <stdio.h>

void fl_link_deliver(fl_link *link, const fl_msg *msg)
{
    link->stats.messages_in++;
    link->stats.last_seen_ms = fl_loop_now(link->loop);
    link->events->on_message(link, msg, (fl_reply){.link = link});
}

void fl_link_complain(fl_link *link, fl_span id, int code, const char *reason,
                      size_t at)
{
    char data[48];
    fl_buf *text = fl_loop_scratch(link->loop);

    link->stats.errors++;
    if (!link->server)
        return;
    int n = snprintf(data, sizeof data, "{\"offset\":%zu}", at);
    if (fl_rpc_error_write(text, id, code, fl_span_of(reason),
                           (fl_span){data, (size_t)n}) == FL_OK) {
        fl_span whole = fl_buf_view(text);
        fl_reply_end((fl_reply){.link = link}, &whole, 1);
    }
}

void fl_link_refuse(fl_link *link, fl_span text, const fl_msg *msg,
                    const fl_msg_fault *fault)
{
    fl_log_say(
        fl_loop_log(link->loop), FL_LOG_WARN, "line is not a message, skipped",
        fl_log_text("reason", fl_span_of(fault->what)),
        fl_log_int("offset", (int64_t)fault->at), fl_log_text("line", text));
    if (msg->result.len > 0 || msg->error.len > 0)
        link->stats.errors++;
    else
        fl_link_complain(link, msg->id, fault->code, fault->what, fault->at);
}
