/*
 * adapt_error.c - errors, on their way to the client.
 *
 * Codes from -32020 to -32099 are the specification's in 2026-07-28, and were
 * anybody's before. What a legacy server means by one of them is kept, whole,
 * in data.upstream. The other way there is little to do: what the modern era
 * reserves was anybody's, and so may pass. Between legacy revisions nothing
 * changes.
 */
#include "adapt/adapt_impl.h"
#include "rpc/error.h"

#include <limits.h>

enum { RESERVED_LAST = -32099 };

static int code_of(fl_span error)
{
    int64_t code;

    if (fl_json_int64(fl_json_get(error, FL_SPAN("code")), &code) != FL_OK ||
        code < INT_MIN || code > INT_MAX)
        return FL_RPC_INTERNAL_ERROR;
    return (int)code;
}

/* A legacy server that says what it misses in the words of the modern era means
 * that. */
static bool names_capabilities(fl_span error)
{
    fl_span data = fl_json_get(error, FL_SPAN("data"));

    return fl_json_type_of(fl_json_get(
               data, FL_SPAN("requiredCapabilities"))) == FL_JSON_OBJECT;
}

/* -32042 is an answer of its own: whoever asks for us makes it a question. */
static int raise_code(const fl_adapt *adapt, int code, fl_span error)
{
    if (code == FL_RPC_URL_ELICITATION_REQUIRED ||
        (code == FL_RPC_MISSING_CAPABILITY && names_capabilities(error)))
        return code;
    if (code == FL_RPC_RESOURCE_NOT_FOUND)
        return adapt->method == FL_METHOD_RESOURCES_READ
                   ? FL_RPC_INVALID_PARAMS
                   : FL_RPC_INTERNAL_ERROR;
    return code <= FL_RPC_HEADER_MISMATCH && code >= RESERVED_LAST
               ? FL_RPC_INTERNAL_ERROR
               : code;
}

/* Whether two tokens of strings mean the same. Either may have escapes; most
 * have none, and are equal as they are. */
static bool means_same(fl_span a, fl_span b)
{
    fl_buf meaning;

    if (fl_json_type_of(a) != FL_JSON_STRING || a.len < 2)
        return false;
    if (fl_span_equal(a, b))
        return true;
    fl_buf_init(&meaning, a.len);
    bool same = fl_json_string_copy(a, &meaning) == FL_OK &&
                fl_json_string_is(b, fl_buf_view(&meaning));
    fl_buf_reset(&meaning);
    return same;
}

static int lower_code(const fl_adapt *adapt, int code, fl_span error)
{
    fl_span data = fl_json_get(error, FL_SPAN("data"));

    if (code == FL_RPC_UNSUPPORTED_VERSION) /* a client cannot help it */
        return FL_RPC_INTERNAL_ERROR;
    if (code == FL_RPC_INVALID_PARAMS &&
        adapt->method == FL_METHOD_RESOURCES_READ &&
        means_same(adapt->object, fl_json_get(data, FL_SPAN("uri"))))
        return FL_RPC_RESOURCE_NOT_FOUND;
    return code;
}

/* {"uri":...} beside what it says itself. */
static void put_uri(const fl_adapt *adapt, fl_edit *edit, fl_span data)
{
    fl_edit_put(edit, FL_SPAN("{\"uri\":"));
    fl_edit_put(edit, adapt->object);
    if (data.len > 0) {
        fl_edit_put(edit, FL_SPAN(",\"data\":"));
        fl_edit_put(edit, data);
    }
    fl_edit_put(edit, FL_SPAN("}"));
}

static void put_upstream(fl_edit *edit, fl_span error)
{
    fl_edit_put(edit, FL_SPAN("{\"upstream\":"));
    fl_edit_put(edit, error);
    fl_edit_put(edit, FL_SPAN("}"));
}

static void edit_data(const fl_adapt *adapt, fl_edit *edit, fl_span error,
                      fl_span data, int code)
{
    bool object = fl_json_type_of(data) == FL_JSON_OBJECT;

    if (code == FL_RPC_INTERNAL_ERROR) {
        if (data.len > 0)
            fl_edit_cut(edit, data);
        put_upstream(edit, error);
    } else if (object) {
        if (fl_json_get(data, FL_SPAN("uri")).len == 0)
            fl_edit_set_inside(edit, data, "uri", adapt->object);
    } else {
        if (data.len > 0)
            fl_edit_cut(edit, data);
        put_uri(adapt, edit, data);
    }
}

/* What was not found needs no more than its code, where it is named. */
static bool has_data(const fl_adapt *adapt, int code)
{
    return code == FL_RPC_INTERNAL_ERROR ||
           (code == FL_RPC_INVALID_PARAMS && adapt->object.len > 0);
}

static void edit_error(const fl_adapt *adapt, fl_edit *edit, fl_span error,
                       int code)
{
    bool wanted = has_data(adapt, code), seen = false;
    fl_edit_walk walk;
    fl_json_member member;

    fl_edit_open(&walk, edit, error);
    while (fl_edit_next(&walk, &member)) {
        if (fl_edit_named(&member, "code")) {
            fl_edit_cut(edit, member.value);
            fl_edit_note(edit, fl_buf_printf(edit->out, "%d", code));
        } else if (wanted && fl_edit_named(&member, "data")) {
            edit_data(adapt, edit, error, member.value, code);
            seen = true;
        }
    }
    if (wanted && !seen) {
        fl_edit_add(&walk, "data");
        edit_data(adapt, edit, error, (fl_span){0}, code);
    }
}

fl_status fl_adapt_error(const fl_adapt *adapt, fl_span error, fl_buf *out,
                         int *code)
{
    int was = code_of(error);
    fl_edit edit;

    *code = was;
    if (fl_adapt_is_upward(adapt))
        *code = raise_code(adapt, was, error);
    else if (fl_adapt_is_downward(adapt))
        *code = lower_code(adapt, was, error);
    if (*code == was)
        return FL_END;
    fl_edit_init(&edit, error, out);
    edit_error(adapt, &edit, error, *code);
    return fl_edit_end(&edit);
}
