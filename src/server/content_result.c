/*
 * content_result.c - the result around the parts of an answer.
 */
#include "base/span.h"
#include "server/content.h"
#include "server/prompts.h"
#include "server/server.h"
#include "server/tools.h"
#include "json/nav.h"

static void write_parts(fl_json_writer *writer, const char *key,
                        const fl_content *content)
{
    fl_json_key(writer, key);
    fl_json_array(writer);
    if (fl_buf_len(&content->parts) > 0)
        fl_json_raw(writer, fl_buf_view(&content->parts));
    fl_json_array_end(writer);
}

/* A result with a _meta of its own is not tagged later (return.c). */
static void write_meta(fl_json_writer *writer, const fl_call *call,
                       fl_content *content)
{
    const fl_server *server = call->to.session->server;
    fl_buf *meta = &content->meta;
    fl_status rc = FL_OK;

    if (fl_buf_len(meta) == 0)
        return;
    if (!call->to.revision->legacy && server != NULL) {
        rc = fl_buf_append(meta,
                           FL_SPAN(",\"io.modelcontextprotocol/serverInfo\":"));
        if (rc == FL_OK)
            rc = fl_buf_append(meta, fl_buf_view(&server->identity));
    }
    if (rc == FL_OK)
        rc = fl_buf_append(meta, FL_SPAN("}"));
    if (rc != FL_OK) {
        content->status = rc;
        return;
    }
    fl_json_key(writer, "_meta");
    fl_json_raw(writer, fl_buf_view(meta));
}

/*
 * Up to 2025-11-25 it must be an object. A value that is none is put in one,
 * as the output schema was when it was listed (tools.c).
 */
static void write_structured(fl_json_writer *writer, const fl_call *call,
                             const fl_content *content)
{
    fl_span json = fl_buf_view(&content->structured);
    const fl_revision *revision = call->to.revision;
    const fl_tools_entry *tool = (const fl_tools_entry *)call->entry;

    if (json.len == 0 || content->is_error ||
        !fl_revision_has(revision, FL_HAS_STRUCTURED_CONTENT))
        return;
    if (tool->output_form == FL_TOOLS_OUTPUT_HIDDEN &&
        !fl_revision_has(revision, FL_HAS_STRUCTURED_ANY))
        return;
    /* without a schema nothing was promised, and the value decides */
    bool wrap = !fl_revision_has(revision, FL_HAS_STRUCTURED_ANY) &&
                (tool->output_form != FL_TOOLS_OUTPUT_OBJECT ||
                 fl_json_type_of(json) != FL_JSON_OBJECT);
    fl_json_key(writer, "structuredContent");
    if (wrap) {
        fl_json_object(writer);
        fl_json_key(writer, "result");
    }
    fl_json_raw(writer, json);
    if (wrap)
        fl_json_object_end(writer);
}

static void write_tool(fl_json_writer *writer, fl_call *call,
                       fl_content *content)
{
    /* whoever cannot read it as it is reads it as text */
    if (fl_buf_len(&content->structured) > 0 && content->count == 0)
        fl_call_add_text(call, fl_buf_view(&content->structured));
    write_parts(writer, "content", content);
    write_structured(writer, call, content);
    if (content->is_error) {
        fl_json_key(writer, "isError");
        fl_json_bool(writer, true);
    }
}

static void write_prompt(fl_json_writer *writer, const fl_call *call,
                         const fl_content *content)
{
    const fl_prompts_entry *prompt = (const fl_prompts_entry *)call->entry;

    fl_catalog_write_text(writer, "description", prompt->prompt.description);
    write_parts(writer, "messages", content);
}

/* What a resource says may change any time: unless its handler knows better,
 * nobody is to keep it. */
static void write_read(fl_json_writer *writer, const fl_call *call,
                       const fl_content *content)
{
    write_parts(writer, "contents", content);
    if (!fl_revision_has(call->to.revision, FL_HAS_DISCOVER))
        return;
    fl_json_key(writer, "ttlMs");
    fl_json_integer(writer, content->cached ? (int64_t)content->ttl_ms : 0);
    fl_json_key(writer, "cacheScope");
    fl_json_string(writer,
                   content->cached && content->shared ? "public" : "private");
}

static void write_completion(fl_json_writer *writer, const fl_content *content)
{
    fl_json_key(writer, "completion");
    fl_json_object(writer);
    write_parts(writer, "values", content);
    fl_json_key(writer, "total");
    fl_json_integer(writer, (int64_t)content->count);
    fl_json_key(writer, "hasMore");
    fl_json_bool(writer, content->count > FL_CONTENT_SUGGESTIONS);
    fl_json_object_end(writer);
}

fl_status fl_content_write(fl_call *call, fl_content *content, fl_buf *out)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    switch (call->kind) {
    case FL_CALL_TOOL:
        write_tool(&writer, call, content);
        break;
    case FL_CALL_PROMPT:
        write_prompt(&writer, call, content);
        break;
    case FL_CALL_READ:
        write_read(&writer, call, content);
        break;
    case FL_CALL_COMPLETION:
        write_completion(&writer, content);
        break;
    }
    write_meta(&writer, call, content);
    fl_json_object_end(&writer);
    fl_status rc = fl_json_writer_end(&writer);
    return rc == FL_OK ? content->status : rc;
}
