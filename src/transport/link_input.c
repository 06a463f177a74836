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

enum { LOGGED = 64 }; /* bad texts of one link that are all logged */

void fl_link_deliver(fl_link *link, const fl_msg *msg)
{
    link->stats.messages_in++;
    link->stats.last_seen_ms = fl_loop_now(link->loop);
    link->events->on_message(link, msg, (fl_reply){.link = link});
}

static void answer(fl_link *link, fl_span id, int code, const char *reason,
                   fl_span data)
{
    fl_buf *text = fl_loop_scratch(link->loop);

    link->stats.errors++;
    if (!link->server)
        return;
    if (fl_rpc_error_write(text, id, code, fl_span_of(reason), data) == FL_OK) {
        fl_span whole = fl_buf_view(text);
        fl_reply_end((fl_reply){.link = link}, &whole, 1);
    }
}

void fl_link_complain(fl_link *link, fl_span id, int code, const char *reason,
                      size_t at)
{
    char data[48];
    int n = snprintf(data, sizeof data, "{\"offset\":%zu}", at);

    answer(link, id, code, reason, (fl_span){data, (size_t)n});
}

void fl_link_turn_away(fl_link *link, fl_span id, const char *reason)
{
    answer(link, id, FL_RPC_BUSY, reason, (fl_span){0});
}

fl_log_field fl_link_named(const fl_link *link, fl_link_info *info)
{
    fl_link_get_info(link, info);
    return fl_log_text(link->server ? "peer" : "server",
                       fl_span_of(info->peer));
}

/* The first few, and after that when their number has doubled: a peer that
 * sends nothing else shall not fill the disk. */
static bool is_news(uint32_t errors)
{
    return errors < LOGGED || (errors & (errors - 1)) == 0;
}

void fl_link_unasked(fl_link *link, fl_span id)
{
    fl_link_info info;

    if (is_news(link->stats.errors))
        fl_log_say(fl_loop_log(link->loop), FL_LOG_WARN,
                   "an answer to a request that nobody made",
                   fl_link_named(link, &info),
                   fl_log_int("errors", (int64_t)link->stats.errors + 1),
                   fl_log_text("id", id));
    link->stats.errors++;
}

void fl_link_refuse(fl_link *link, fl_span text, const fl_msg *msg,
                    const fl_msg_fault *fault)
{
    fl_link_info info;

    if (is_news(link->stats.errors))
        fl_log_say(fl_loop_log(link->loop), FL_LOG_WARN,
                   "line is not a message, skipped", fl_link_named(link, &info),
                   fl_log_text("reason", fl_span_of(fault->what)),
                   fl_log_int("offset", (int64_t)fault->at),
                   fl_log_int("errors", (int64_t)link->stats.errors + 1),
                   fl_log_text("line", text));
    if (msg->result.len > 0 || msg->error.len > 0)
        link->stats.errors++;
    else
        fl_link_complain(link, msg->id, fault->code, fault->what, fault->at);
}
