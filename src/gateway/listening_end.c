/*
 * listening_end.c - how a listen is ended from our side.
 *
 * The specification has it end by its result in one place, and by a
 * cancellation in another. Both are sent, where a client waits for either: on a
 * channel. Where the request has a stream of its own the end of that says it.
 */
#include "base/span.h"
#include "gateway/front.h"
#include "gateway/listening.h"
#include "rpc/error.h"

#define SUBSCRIPTION "io.modelcontextprotocol/subscriptionId"

enum { TEXT_MAX = 16 * 1024 * 1024 };

static fl_status write_result(fl_span id, fl_buf *out)
{
    return fl_buf_printf(
        out,
        "{\"resultType\":\"complete\",\"_meta\":{\"" SUBSCRIPTION "\":%.*s}}",
        (int)id.len, id.ptr);
}

static fl_status write_cancelled(fl_span id, fl_buf *out)
{
    return fl_buf_printf(out,
                         "{\"jsonrpc\":\"2.0\",\"method\":"
                         "\"notifications/cancelled\",\"params\":"
                         "{\"requestId\":%.*s}}",
                         (int)id.len, id.ptr);
}

void fl_listening_answer(fl_errand *errand, const fl_span *parts, size_t count)
{
    fl_front *front = errand->asker.front;
    bool channel = (front->traits & FL_LINK_CHANNEL) != 0;
    fl_buf cancelled;

    fl_buf_init(&cancelled, TEXT_MAX);
    bool told = channel && write_cancelled(errand->id, &cancelled) == FL_OK;
    fl_errand_end(errand, 0, parts, count);
    fl_span last = fl_buf_view(&cancelled);
    if (told && front->link != NULL)
        fl_front_say(front, &last, 1);
    fl_buf_reset(&cancelled);
}

void fl_listening_end(fl_errand *errand)
{
    fl_buf result;

    fl_buf_init(&result, TEXT_MAX);
    if (write_result(errand->id, &result) == FL_OK) {
        fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"), errand->id,
                           FL_SPAN(",\"result\":"), fl_buf_view(&result),
                           FL_SPAN("}")};
        fl_listening_answer(errand, parts, 5);
    } else {
        fl_errand_fail(errand, FL_RPC_INTERNAL_ERROR, FL_SPAN("out of memory"),
                       (fl_span){0});
    }
    fl_buf_reset(&result);
}
