/*
 * client_tools.c - tools that are not to be shown.
 *
 * A tool whose schema wants arguments repeated in header fields, and says so
 * wrongly, cannot be called over HTTP: it is left out of the list, and the
 * others stay (MCP 2026-07-28, Tools, x-mcp-header). Other transports have no
 * such fields.
 */
#include "client/client.h"
#include "client/client_steps.h"

#include "base/log.h"
#include "base/span.h"
#include "io/loop.h"
#include "rpc/annotations.h"
#include "json/nav.h"
#include "json/write.h"

static bool is_wrong(fl_client *client, fl_span tool)
{
    bool any;

    if (fl_annotations_scan(fl_json_get(tool, FL_SPAN("inputSchema")), &any) !=
        FL_E_INVALID)
        return false;
    fl_log_say(fl_loop_log(client->loop), FL_LOG_WARN,
               "tool left out: its x-mcp-header annotations are not valid",
               fl_log_text("tool", fl_json_get(tool, FL_SPAN("name"))));
    return true;
}

static void write_tools(fl_json_writer *writer, fl_client *client,
                        fl_span tools)
{
    fl_json_walk walk;
    fl_json_member tool;

    fl_json_array(writer);
    fl_json_walk_init(&walk, tools);
    while (fl_json_walk_next(&walk, &tool))
        if (!is_wrong(client, tool.value))
            fl_json_raw(writer, tool.value);
    fl_json_array_end(writer);
}

/* The result as it was, but for its tools. */
static fl_status write_result(fl_client *client, fl_span result, fl_buf *out)
{
    fl_json_writer writer;
    fl_json_walk walk;
    fl_json_member member;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_walk_init(&walk, result);
    while (fl_json_walk_next(&walk, &member)) {
        fl_json_raw_key(&writer, member.key);
        if (fl_span_equal(member.key, FL_SPAN("tools")))
            write_tools(&writer, client, member.value);
        else
            fl_json_raw(&writer, member.value);
    }
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

void fl_client_sift_tools(fl_client *client, const fl_request *request,
                          fl_answer *answer, fl_buf *text)
{
    static const char annotation[] = "x-mcp-header";
    fl_span result = answer->result;

    if (!client->streams || request->cached ||
        !fl_span_equal(fl_request_method(request), FL_SPAN("tools/list")) ||
        memmem(result.ptr, result.len, annotation, sizeof annotation - 1) ==
            NULL)
        return;
    fl_buf_clear(text);
    fl_status rc = write_result(client, result, text);
    if (rc == FL_OK)
        answer->result = fl_buf_view(text);
    else
        *answer = fl_client_blunder(rc, text, "%s", fl_status_text(rc));
}
