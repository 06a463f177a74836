/*
 * call_arguments.c - what came with a call.
 *
 * A handler asks for what it needs and checks nothing: the first argument that
 * is wrong is noted, and becomes the answer.
 */
#include "server/call.h"

#include "base/mem.h"
#include "base/span.h"
#include "rpc/error.h"
#include "json/nav.h"

enum { TEXT_MAX = 16 * 1024 * 1024 };

struct fl_call_string {
    fl_call_string *next;
    fl_buf text;
};

fl_span fl_call_arguments(const fl_call *call)
{
    return call->arguments;
}

fl_span fl_call_uri(fl_call *call)
{
    fl_span uri = call->kind == FL_CALL_READ
                      ? fl_call_meaning(call, call->msg->inner.uri)
                      : (fl_span){0};

    return uri.ptr != NULL ? uri : (fl_span){"", 0};
}

fl_span fl_call_meta(const fl_call *call, const char *key)
{
    return fl_json_get(call->msg->inner.meta, fl_span_of(key));
}

fl_span fl_call_raw(const fl_call *call, const char *key)
{
    const fl_params *params = &call->msg->inner;
    bool as_came = call->arguments.ptr == params->arguments.ptr;

    return fl_json_get_along(call->arguments, as_came ? &params->cuts : NULL,
                             fl_span_of(key));
}

bool fl_call_has(const fl_call *call, const char *key)
{
    return fl_call_raw(call, key).len > 0;
}

fl_buf *fl_call_keep(fl_call *call)
{
    /* of a call that has ended nothing would free it any more */
    fl_call_string *string = call->ended ? NULL : fl_mem_zalloc(sizeof *string);

    if (string == NULL)
        return NULL;
    fl_buf_init(&string->text, TEXT_MAX);
    string->next = call->strings;
    call->strings = string;
    return &string->text;
}

bool fl_call_keep_arguments(fl_call *call, fl_span arguments)
{
    call->arguments = (fl_span){0};
    if (arguments.len == 0)
        return true;
    fl_buf *kept = fl_call_keep(call);
    if (kept == NULL || fl_buf_append(kept, arguments) != FL_OK) {
        fl_call_error(call, FL_RPC_INTERNAL_ERROR, "out of memory");
        return false;
    }
    call->arguments = fl_buf_view(kept);
    return true;
}

void fl_call_blame(fl_call *call, fl_span fault)
{
    if (call->fault.len == 0)
        call->fault = fault;
}

/* The first fault is told; the text is made only then, for most calls have
 * none. */
static void blame(fl_call *call, const char *key, const char *want)
{
    if (call->fault.len > 0)
        return;
    fl_buf *text = fl_call_keep(call);
    bool told =
        text != NULL &&
        fl_buf_printf(text, "argument \"%.64s\" %s %s", key,
                      fl_call_has(call, key) ? "must be" : "is missing: want",
                      want) == FL_OK;
    call->fault = told ? fl_buf_view(text) : FL_SPAN("an argument is wrong");
}

static fl_span unescape(fl_call *call, fl_span value)
{
    fl_buf *text = fl_call_keep(call);

    if (text == NULL || fl_json_string_copy(value, text) != FL_OK)
        return (fl_span){0};
    return fl_buf_len(text) > 0 ? fl_buf_view(text) : (fl_span){"", 0};
}

fl_span fl_call_meaning(fl_call *call, fl_span token)
{
    if (fl_json_type_of(token) != FL_JSON_STRING)
        return (fl_span){0};
    fl_span inside = {token.ptr + 1, token.len - 2};
    return fl_span_find(inside, '\\') == inside.len ? inside
                                                    : unescape(call, token);
}

fl_span fl_call_text(fl_call *call, const char *key)
{
    fl_span value = fl_call_raw(call, key);
    fl_span text = fl_call_meaning(call, value);

    if (fl_json_type_of(value) != FL_JSON_STRING)
        blame(call, key, "a string");
    else if (text.ptr == NULL)
        blame(call, key, "shorter: out of memory");
    return text.ptr != NULL ? text : (fl_span){"", 0};
}

double fl_call_number(fl_call *call, const char *key)
{
    double number = 0;

    if (fl_json_double(fl_call_raw(call, key), &number) != FL_OK)
        blame(call, key, "a number");
    return number;
}

int64_t fl_call_integer(fl_call *call, const char *key)
{
    int64_t number = 0;

    if (fl_json_int64(fl_call_raw(call, key), &number) != FL_OK)
        blame(call, key, "a whole number");
    return number;
}

bool fl_call_bool(fl_call *call, const char *key)
{
    fl_json_type type = fl_json_type_of(fl_call_raw(call, key));

    if (type != FL_JSON_TRUE && type != FL_JSON_FALSE)
        blame(call, key, "true or false");
    return type == FL_JSON_TRUE;
}

void fl_call_free_strings(fl_call *call)
{
    while (call->strings != NULL) {
        fl_call_string *string = call->strings;
        call->strings = string->next;
        fl_buf_reset(&string->text);
        fl_mem_free(string);
    }
}
