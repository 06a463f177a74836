/*
 * show.c - what a server said, printed: for people, or as it is.
 *
 * People want a tool's text and nothing around it, so that it can be piped
 * on. What is not text is named in brackets. An error goes to stderr, so that
 * it is not taken for a result. Structured content repeats what the text says
 * (MCP 2025-06-18, tools), and is shown only where there is no text.
 */
#include "cmd/show.h"

#include "base/span.h"
#include "cmd/complain.h"
#include "cmd/pretty.h"
#include "io/uv_status.h"
#include "json/nav.h"
#include "json/write.h"

#include <errno.h>

enum { TEXT_MAX = 64 * 1024 * 1024 };

fl_show fl_show_new(bool json)
{
    return (fl_show){
        .out = fl_term_of(stdout),
        .err = fl_term_of(stderr),
        .json = json,
    };
}

static void put_line(const fl_term *to, fl_span text)
{
    fl_term_put(to, text);
    if (text.len == 0 || text.ptr[text.len - 1] != '\n')
        fputc('\n', to->file);
}

/* The string's meaning; what is no string is shown as it is. */
static void put_string(const fl_term *to, fl_span value)
{
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    if (fl_json_string_copy(value, &text) == FL_OK)
        fl_term_put(to, fl_buf_view(&text));
    else
        fl_term_put(to, value);
    fl_buf_reset(&text);
}

static void put_pretty(const fl_term *to, fl_span json)
{
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    if (fl_pretty(&text, json) == FL_OK)
        put_line(to, fl_buf_view(&text));
    else
        put_line(to, json);
    fl_buf_reset(&text);
}

static void put_text_item(const fl_term *to, fl_span value)
{
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    if (fl_json_string_copy(value, &text) == FL_OK)
        put_line(to, fl_buf_view(&text));
    fl_buf_reset(&text);
}

/* How many bytes a base64 string stands for. */
static size_t decoded_size(fl_span value)
{
    size_t len = value.len >= 2 ? value.len - 2 : 0;

    while (len > 0 && value.ptr[len] == '=')
        len--;
    return len * 3 / 4;
}

/* "[image image/png, 1234 bytes]", with what of it is there. */
static void put_other(const fl_term *to, fl_span item)
{
    fl_span resource = fl_json_get(item, FL_SPAN("resource"));
    fl_span from = resource.len > 0 ? resource : item;
    fl_span data =
        fl_json_get(from, resource.len > 0 ? FL_SPAN("blob") : FL_SPAN("data"));
    const fl_span details[] = {
        fl_json_get(from, FL_SPAN("uri")),
        fl_json_get(from, FL_SPAN("mimeType")),
    };

    fputc('[', to->file);
    put_string(to, fl_json_get(item, FL_SPAN("type")));
    for (size_t i = 0; i < sizeof details / sizeof *details; i++)
        if (details[i].len > 0) {
            fputc(' ', to->file);
            put_string(to, details[i]);
        }
    if (data.len > 0)
        fprintf(to->file, ", %zu bytes", decoded_size(data));
    fputs("]\n", to->file);
}

static bool is_text(fl_span item)
{
    return fl_json_string_is(fl_json_get(item, FL_SPAN("type")),
                             FL_SPAN("text"));
}

/* Says whether there was anything to show. */
static bool put_content(const fl_term *to, fl_span content)
{
    fl_json_walk walk;
    fl_json_member item;
    bool any = false;

    fl_json_walk_init(&walk, content);
    while (fl_json_walk_next(&walk, &item)) {
        any = true;
        if (is_text(item.value))
            put_text_item(to, fl_json_get(item.value, FL_SPAN("text")));
        else
            put_other(to, item.value);
    }
    return any;
}

static bool has_text(fl_span content)
{
    fl_json_walk walk;
    fl_json_member item;

    fl_json_walk_init(&walk, content);
    while (fl_json_walk_next(&walk, &item))
        if (is_text(item.value))
            return true;
    return false;
}

fl_exit fl_show_result(const fl_show *show, fl_span result)
{
    fl_span content = fl_json_get(result, FL_SPAN("content"));
    fl_span structured = fl_json_get(result, FL_SPAN("structuredContent"));
    bool failed = fl_json_type_of(fl_json_get(result, FL_SPAN("isError"))) ==
                  FL_JSON_TRUE;
    const fl_term *to = failed ? &show->err : &show->out;

    if (show->json) {
        put_line(&show->out, result);
        return failed ? FL_EXIT_TOOL : FL_EXIT_OK;
    }
    put_content(to, content);
    if (structured.len > 0 && !has_text(content))
        put_pretty(to, structured);
    else if (fl_json_type_of(content) != FL_JSON_ARRAY)
        put_pretty(to, result); /* whatever it is, it is what was said */
    return failed ? FL_EXIT_TOOL : FL_EXIT_OK;
}

static void write_member(fl_json_writer *writer, const char *key, fl_span raw)
{
    if (raw.len == 0)
        return;
    fl_json_key(writer, key);
    fl_json_raw(writer, raw);
}

static const char *era_name(const fl_client *client)
{
    return fl_client_era(client) == FL_ERA_MODERN ? "modern" : "legacy";
}

static void put_info_json(const fl_term *to, const fl_client *client)
{
    fl_buf text;
    fl_json_writer writer;

    fl_buf_init(&text, TEXT_MAX);
    fl_json_writer_init(&writer, &text);
    fl_json_object(&writer);
    fl_json_key(&writer, "protocolVersion");
    fl_json_string(&writer, fl_client_revision(client));
    fl_json_key(&writer, "era");
    fl_json_string(&writer, era_name(client));
    write_member(&writer, "serverInfo", fl_client_server_info(client));
    write_member(&writer, "capabilities", fl_client_capabilities(client));
    write_member(&writer, "instructions", fl_client_instructions(client));
    fl_json_object_end(&writer);
    if (fl_json_writer_end(&writer) == FL_OK)
        put_line(to, fl_buf_view(&text));
    fl_buf_reset(&text);
}

static void put_named(const fl_term *to, const char *name, fl_span value)
{
    if (value.len == 0)
        return;
    fl_term_say(to, FL_TERM_BOLD, "%-13s", name);
    put_string(to, value);
    fputc('\n', to->file);
}

void fl_show_info(const fl_show *show, const fl_client *client)
{
    const fl_term *to = &show->out;
    fl_span info = fl_client_server_info(client);
    fl_json_walk walk;
    fl_json_member member;

    if (show->json) {
        put_info_json(to, client);
        return;
    }
    put_named(to, "name", fl_json_get(info, FL_SPAN("name")));
    put_named(to, "version", fl_json_get(info, FL_SPAN("version")));
    put_named(to, "revision", fl_span_of(fl_client_revision(client)));
    put_named(to, "era", fl_span_of(era_name(client)));
    fl_term_say(to, FL_TERM_BOLD, "%-13s", "offers");
    fl_json_walk_init(&walk, fl_client_capabilities(client));
    const char *before = "";
    while (fl_json_walk_next(&walk, &member)) {
        fputs(before, to->file);
        fl_term_put(to, member.key);
        before = ", ";
    }
    fputs(*before != '\0' ? "\n" : "nothing\n", to->file);
    put_named(to, "instructions", fl_client_instructions(client));
}

void fl_show_pong(const fl_show *show, double ms)
{
    if (show->json)
        fputs("{}\n", show->out.file);
    else
        fprintf(show->out.file, "pong, %.3f ms\n", ms);
}

static void put_failure_json(const fl_term *to, fl_status status, fl_span text,
                             fl_span detail)
{
    fl_buf out;
    fl_json_writer writer;

    fl_buf_init(&out, TEXT_MAX);
    fl_json_writer_init(&writer, &out);
    fl_json_object(&writer);
    fl_json_key(&writer, "error");
    if (detail.len > 0) {
        fl_json_raw(&writer, detail);
    } else {
        fl_json_object(&writer);
        fl_json_key(&writer, "status");
        fl_json_string(&writer, fl_status_name(status));
        fl_json_key(&writer, "message");
        fl_json_text(&writer, text);
        fl_json_object_end(&writer);
    }
    fl_json_object_end(&writer);
    if (fl_json_writer_end(&writer) == FL_OK)
        put_line(to, fl_buf_view(&out));
    fl_buf_reset(&out);
}

void fl_show_failure(const fl_show *show, fl_status status, fl_span text,
                     fl_span detail)
{
    int64_t code;

    if (show->json) {
        put_failure_json(&show->out, status, text, detail);
        return;
    }
    int shown = (int)(text.len < 800 ? text.len : 800);
    if (fl_json_int64(fl_json_get(detail, FL_SPAN("code")), &code) == FL_OK)
        fl_complain("call", "the server says: %.*s (%lld)", shown, text.ptr,
                    (long long)code);
    else
        fl_complain("call", "%.*s", shown, shown > 0 ? text.ptr : "");
}

bool fl_show_end(const fl_show *show)
{
    if (fflush(show->out.file) == 0 && !ferror(show->out.file))
        return true;
    fl_complain("call", "cannot write to stdout: %s", fl_uv_text(-errno));
    return false;
}
