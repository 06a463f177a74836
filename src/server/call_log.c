/*
 * call_log.c - what a client hears of a call before its answer: how far it is,
 * and words for its log.
 *
 * Both travel with the answer's reply. A client too slow for them is spared:
 * it gets the next one, or the answer.
 */
#include "server/call.h"

#include "base/span.h"
#include "io/loop.h"
#include "server/levels.h"
#include "server/tasks.h"
#include "json/nav.h"
#include "json/scan.h"

#include <stdarg.h>

/* MCP has tokens be strings or numbers; anything else asks for nothing. */
fl_span fl_call_progress_token(const fl_call *call)
{
    fl_span token = call->msg->inner.progress_token;
    fl_json_type type = fl_json_type_of(token);

    return type == FL_JSON_STRING || type == FL_JSON_NUMBER ? token
                                                            : (fl_span){0};
}

/* Whether there is anybody to be told before the answer. */
static bool is_heard(const fl_call *call)
{
    return !call->ended && !call->cancelled &&
           (!call->replied || call->job != NULL) &&
           call->to.session->link != NULL && call->to.batch == NULL;
}

/* It has to be said of what task it is, and nothing but the session's link is
 * there to say it on. */
static void notify_of_job(const fl_call *call, fl_span method, fl_span params)
{
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"),
        method,
        FL_SPAN("\",\"params\":{\"_meta\":{" FL_JOB_RELATED),
        fl_span_of(call->job->id),
        FL_SPAN("\"}},"),
        fl_span_from(params, 1),
        FL_SPAN("}"),
    };

    (void)!fl_link_send(call->to.session->link, parts, 7);
}

static void notify(fl_call *call, fl_span method, fl_span params)
{
    if (call->job != NULL) {
        notify_of_job(call, method, params);
        return;
    }
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"),
        method,
        FL_SPAN("\",\"params\":"),
        params,
        FL_SPAN("}"),
    };

    (void)!fl_reply_send(call->to.reply, parts, 5);
}

void fl_call_progress(fl_call *call, double progress, double total,
                      const char *message)
{
    fl_span token = fl_call_progress_token(call);

    if (token.len == 0 || !is_heard(call))
        return;
    fl_buf *out = fl_loop_scratch(fl_call_loop(call));
    fl_json_writer writer;
    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "progressToken");
    fl_json_raw(&writer, token);
    fl_json_key(&writer, "progress");
    fl_json_number(&writer, progress);
    if (total > 0) {
        fl_json_key(&writer, "total");
        fl_json_number(&writer, total);
    }
    if (message != NULL &&
        fl_revision_has(call->to.revision, FL_HAS_PROGRESS_MESSAGE)) {
        fl_json_key(&writer, "message");
        fl_json_string(&writer, message);
    }
    fl_json_object_end(&writer);
    if (fl_json_writer_end(&writer) == FL_OK)
        notify(call, FL_SPAN("progress"), fl_buf_view(out));
}

/* A modern request says itself from which level on; before a legacy client
 * has said so, its session's default holds. */
static bool is_wanted(const fl_call *call, fl_level level)
{
    fl_level least = call->to.session->log_level;

    if (!is_heard(call) || fl_levels_name(level) == NULL)
        return false;
    if (!call->to.revision->legacy &&
        fl_levels_read(call->msg->inner.claim.log_level, &least) != FL_OK)
        return false;
    return level >= least;
}

void fl_call_log_json(fl_call *call, fl_level level, const char *logger,
                      fl_span data)
{
    fl_buf *out = fl_loop_scratch(fl_call_loop(call));
    fl_json_top top;

    if (is_wanted(call, level) && fl_json_scan(data, 0, &top, NULL) == FL_OK &&
        fl_levels_write(out, level, logger, top.value) == FL_OK)
        notify(call, FL_SPAN("message"), fl_buf_view(out));
}

void fl_call_logf(fl_call *call, fl_level level, const char *logger,
                  const char *format, ...)
{
    fl_buf params;
    va_list args;

    if (!is_wanted(call, level))
        return;
    fl_buf_init(&params, FL_LEVELS_TEXT);
    va_start(args, format);
    if (fl_levels_format(&params, level, logger, format, args) == FL_OK)
        notify(call, FL_SPAN("message"), fl_buf_view(&params));
    va_end(args);
    fl_buf_reset(&params);
}
