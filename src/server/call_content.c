/*
 * call_content.c - an answer in parts.
 *
 * A handler adds parts and need not know what they become: content blocks of
 * a tool, messages of a prompt, contents of a resource. Each is written as
 * JSON when it is added, in the shape the request's revision has for it, so
 * that nothing of the handler's has to be kept; the result is put around them
 * when the call is finished.
 *
 * The first thing that goes wrong is remembered and told in place of the
 * answer: a handler adds without asking back.
 */
#include "server/call.h"

#include "base/mem.h"
#include "base/span.h"
#include "rpc/error.h"
#include "server/content.h"
#include "server/tools.h"
#include "json/scan.h"

#include <stdarg.h>
#include <stdio.h>

enum { FORMAT_MAX = 16 * 1024 };

/* Without memory the call goes on, for the handler does: it is told by the
 * one function that ends it. */
fl_content *fl_content_of(fl_call *call)
{
    if (call->ended || call->starved)
        return NULL;
    if (call->content != NULL)
        return call->content;
    fl_content *content = fl_mem_zalloc(sizeof *content);
    if (content == NULL) {
        call->starved = true;
        return NULL;
    }
    fl_buf_init(&content->parts, FL_CONTENT_MAX);
    fl_buf_init(&content->meta, FL_CONTENT_MAX);
    fl_buf_init(&content->structured, FL_CONTENT_MAX);
    call->content = content;
    return content;
}

void fl_content_free(fl_content *content)
{
    if (content == NULL)
        return;
    fl_buf_reset(&content->parts);
    fl_buf_reset(&content->meta);
    fl_buf_reset(&content->structured);
    fl_mem_free(content);
}

static void note(fl_content *content, fl_status rc)
{
    if (content->status == FL_OK)
        content->status = rc;
}

void fl_content_begin(fl_call *call, fl_content *content,
                      fl_json_writer *writer)
{
    if (fl_buf_len(&content->parts) > 0)
        note(content, fl_buf_append(&content->parts, FL_SPAN(",")));
    fl_json_writer_init(writer, &content->parts);
    if (call->kind != FL_CALL_PROMPT)
        return;
    fl_json_object(writer);
    fl_json_key(writer, "role");
    fl_json_string(writer,
                   content->role == FL_ROLE_USER ? "user" : "assistant");
    fl_json_key(writer, "content");
}

void fl_content_end(fl_call *call, fl_content *content, fl_json_writer *writer)
{
    if (call->kind == FL_CALL_PROMPT)
        fl_json_object_end(writer);
    note(content, fl_json_writer_end(writer));
    content->count++;
}

void fl_call_role(fl_call *call, fl_role role)
{
    fl_content *content = fl_content_of(call);

    if (content != NULL)
        content->role = role;
}

void fl_call_add_text(fl_call *call, fl_span text)
{
    fl_content *content = fl_content_of(call);
    fl_json_writer writer;

    if (content == NULL)
        return;
    if (call->kind == FL_CALL_READ) {
        fl_call_add_document(call, NULL, NULL, text);
        return;
    }
    fl_content_begin(call, content, &writer);
    fl_json_object(&writer);
    fl_json_key(&writer, "type");
    fl_json_string(&writer, "text");
    fl_json_key(&writer, "text");
    fl_json_text(&writer, text);
    fl_json_object_end(&writer);
    fl_content_end(call, content, &writer);
}

void fl_call_addf(fl_call *call, const char *format, ...)
{
    char text[FORMAT_MAX];
    va_list args;

    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (len >= 0 && (size_t)len < sizeof text)
        fl_call_add_text(call, (fl_span){text, (size_t)len});
    else if (fl_content_of(call) != NULL)
        note(call->content, FL_E_TOO_BIG);
}

void fl_call_add_json(fl_call *call, fl_span block)
{
    fl_content *content = fl_content_of(call);
    fl_json_writer writer;
    fl_json_top top;

    if (content == NULL)
        return;
    if (fl_json_scan(block, 0, &top, NULL) != FL_OK ||
        top.type != FL_JSON_OBJECT) {
        note(content, FL_E_BAD_JSON);
        return;
    }
    fl_content_begin(call, content, &writer);
    fl_json_raw(&writer, top.value);
    fl_content_end(call, content, &writer);
}

void fl_call_set_structured(fl_call *call, fl_span json)
{
    fl_content *content = fl_content_of(call);
    fl_json_top top;

    if (content == NULL)
        return;
    fl_buf_clear(&content->structured);
    if (fl_json_scan(json, 0, &top, NULL) == FL_OK)
        note(content, fl_buf_append(&content->structured, top.value));
    else
        note(content, FL_E_BAD_JSON);
}

void fl_call_set_meta(fl_call *call, const char *key, fl_span json)
{
    fl_content *content = fl_content_of(call);
    fl_json_writer writer;
    fl_json_top top;

    if (content == NULL)
        return;
    if (fl_json_scan(json, 0, &top, NULL) != FL_OK) {
        note(content, FL_E_BAD_JSON);
        return;
    }
    /* an object that is not closed yet */
    note(content, fl_buf_append(&content->meta, fl_buf_len(&content->meta) > 0
                                                    ? FL_SPAN(",")
                                                    : FL_SPAN("{")));
    fl_json_writer_init(&writer, &content->meta);
    fl_json_string(&writer, key);
    note(content, fl_json_writer_end(&writer));
    note(content, fl_buf_append(&content->meta, FL_SPAN(":")));
    note(content, fl_buf_append(&content->meta, top.value));
}

void fl_call_set_cache(fl_call *call, uint64_t ttl_ms, bool shared)
{
    fl_content *content = fl_content_of(call);

    if (content == NULL)
        return;
    content->cached = true;
    content->ttl_ms = ttl_ms;
    content->shared = shared;
}

void fl_call_suggest(fl_call *call, fl_span value)
{
    fl_content *content = fl_content_of(call);
    fl_json_writer writer;

    if (content == NULL || call->kind != FL_CALL_COMPLETION)
        return;
    if (content->count++ >= FL_CONTENT_SUGGESTIONS)
        return;
    if (fl_buf_len(&content->parts) > 0)
        note(content, fl_buf_append(&content->parts, FL_SPAN(",")));
    fl_json_writer_init(&writer, &content->parts);
    fl_json_text(&writer, value);
    note(content, fl_json_writer_end(&writer));
}

/* Why the handler's answer cannot be sent, for who reads the client's log. */
static fl_span explain(fl_status status)
{
    if (status == FL_E_BAD_JSON)
        return FL_SPAN("the handler added something that is not JSON");
    if (status == FL_E_TOO_BIG)
        return FL_SPAN("the handler's answer is too large");
    return FL_SPAN("out of memory");
}

/* A tool keeps its word, or its client is told that it did not. */
static bool check_structured(fl_call *call, const fl_content *content)
{
    const fl_tools_entry *tool = (const fl_tools_entry *)call->entry;
    fl_schema_fault fault;
    char text[sizeof fault.text + 64];

    if (call->kind != FL_CALL_TOOL || content->is_error ||
        fl_buf_len(&content->structured) == 0 ||
        fl_tools_check_output(tool, fl_buf_view(&content->structured),
                              &fault) == FL_OK)
        return true;
    snprintf(text, sizeof text,
             "the tool's result is not what its "
             "outputSchema says: %s",
             fault.text);
    fl_call_end_error(call, FL_RPC_INTERNAL_ERROR, fl_span_of(text),
                      (fl_span){0});
    return false;
}

void fl_call_finish(fl_call *call)
{
    fl_content *content = fl_content_of(call);
    fl_buf result;

    if (content == NULL) {
        fl_call_end_error(call, FL_RPC_INTERNAL_ERROR, FL_SPAN("out of memory"),
                          (fl_span){0});
        return;
    }
    if (call->fault.len > 0) {
        fl_call_end_fault(call);
        return;
    }
    if (!check_structured(call, content))
        return;
    fl_buf_init(&result, (size_t)2 * FL_CONTENT_MAX);
    if (content->status == FL_OK)
        note(content, fl_content_write(call, content, &result));
    if (content->status == FL_OK)
        fl_call_end_result(call, fl_buf_view(&result));
    else
        fl_call_end_error(call, FL_RPC_INTERNAL_ERROR, explain(content->status),
                          (fl_span){0});
    fl_buf_reset(&result);
}

void fl_content_fail(fl_call *call, fl_span text)
{
    fl_call_add_text(call, text);
    if (call->content != NULL)
        call->content->is_error = true;
    fl_call_finish(call);
}
