/*
 * client_steps.c - answers that are not the end of their request.
 *
 * A list has more pages, a tool wants to know more, the work has become a
 * task: then the request goes on with another message, and whoever made it
 * hears nothing of it. Here is decided which of these an answer is; the others
 * do it.
 */
#include "client/client_steps.h"

#include "base/span.h"
#include "client/client.h"
#include "rpc/error.h"
#include "json/nav.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

enum { SHOWN = 80, WORDS = 256 };

fl_answer fl_client_blunder(fl_status status, fl_buf *text, const char *format,
                            ...)
{
    char words[WORDS];
    va_list list;

    va_start(list, format);
    int n = vsnprintf(words, sizeof words, format, list);
    va_end(list);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof words ? (size_t)n : WORDS - 1;
    fl_buf_clear(text);
    if (fl_buf_append(text, (fl_span){words, len}) != FL_OK)
        return (fl_answer){.status = FL_E_NOMEM};
    return (fl_answer){.status = status, .text = fl_buf_view(text)};
}

/* As far as it fits; the whole is in answer.error. */
static int code_of(fl_span error)
{
    int64_t code;

    if (fl_json_int64(fl_json_get(error, FL_SPAN("code")), &code) != FL_OK ||
        code < INT_MIN || code > INT_MAX)
        return FL_RPC_INTERNAL_ERROR;
    return (int)code;
}

fl_answer fl_client_refusal(fl_span error, fl_buf *text)
{
    fl_span message = fl_json_get(error, FL_SPAN("message"));

    fl_buf_clear(text);
    if (fl_json_string_copy(message, text) != FL_OK)
        fl_buf_clear(text);
    return (fl_answer){
        .status = FL_E_REMOTE,
        .code = code_of(error),
        .error = error,
        .text = fl_buf_view(text),
    };
}

/* A result need not be the final word of a modern server. One that says
 * nothing about it is. */
static bool step_modern(fl_client *client, fl_request *request,
                        fl_answer *answer, fl_buf *text)
{
    fl_span type = fl_json_get(answer->result, FL_SPAN("resultType"));

    if (type.len == 0 || fl_json_string_is(type, FL_SPAN("complete")))
        return false;
    if (fl_json_string_is(type, FL_SPAN("input_required")) && !request->own)
        return fl_client_step_round(client, request, answer, text);
    if (fl_json_string_is(type, FL_SPAN("task")) && client->offer.tasks &&
        !request->own)
        return fl_client_begin_task(client, request, answer->result, answer,
                                    text);
    *answer = fl_client_blunder(
        FL_E_BAD_MESSAGE, text,
        "the server's result is of a type this client does not know: %.*s",
        (int)(type.len < SHOWN ? type.len : SHOWN), type.ptr);
    return false;
}

static bool step_legacy(fl_client *client, fl_request *request,
                        fl_answer *answer, fl_buf *text)
{
    fl_span task = fl_json_get(answer->result, FL_SPAN("task"));

    if (fl_span_equal(fl_request_method(request), FL_SPAN("tools/list")))
        fl_client_task_learn(client,
                             fl_json_get(answer->result, FL_SPAN("tools")));
    if (!request->options.task || fl_json_type_of(task) != FL_JSON_OBJECT ||
        fl_buf_len(&request->extra) == 0)
        return false;
    return fl_client_begin_task(client, request, task, answer, text);
}

bool fl_client_step(fl_client *client, fl_request *request, fl_answer *answer,
                    fl_buf *text)
{
    if (request == client->agreement.probe ||
        request == client->agreement.opener)
        return false;
    if (request->follow != NULL)
        return fl_client_step_task(client, request, answer, text);
    if (answer->status != FL_OK)
        return false;
    if (request->claims ? step_modern(client, request, answer, text)
                        : step_legacy(client, request, answer, text))
        return true;
    if (answer->status == FL_OK && request->claims)
        fl_client_sift_tools(client, request, answer, text);
    if (answer->status != FL_OK)
        return false;
    if (request->claims)
        fl_client_cache_keep(&client->cache, request, answer->result);
    if (request->kind == FL_REQUEST_SUBSCRIBE ||
        request->kind == FL_REQUEST_UNSUBSCRIBE)
        fl_wishes_note(client, request);
    return request->pages != NULL &&
           fl_client_step_page(client, request, answer, text);
}
