/*
 * show_lists.c - resources, prompts and what comes of them, for people.
 *
 * A list has a line for each thing: what it is asked for by, then what it is.
 * What a resource holds is written as it is, byte by byte, so that it can be
 * piped on or kept; at a terminal bytes are only named.
 */
#include "base/base64.h"
#include "base/span.h"
#include "cmd/complain.h"
#include "cmd/pretty.h"
#include "cmd/show.h"
#include "json/nav.h"

enum { TEXT_MAX = 64 * 1024 * 1024 };

static void put_string(const fl_term *to, fl_span value)
{
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    if (fl_json_string_copy(value, &text) == FL_OK)
        fl_term_put(to, fl_buf_view(&text));
    fl_buf_reset(&text);
}

static void put_raw(const fl_term *to, fl_span json)
{
    fl_term_put(to, json);
    fputc('\n', to->file);
}

static void put_arguments(const fl_term *to, fl_span arguments)
{
    fl_json_walk walk;
    fl_json_member argument;
    const char *before = "      ";

    fl_json_walk_init(&walk, arguments);
    while (fl_json_walk_next(&walk, &argument)) {
        bool required =
            fl_json_type_of(fl_json_get(argument.value, FL_SPAN("required"))) ==
            FL_JSON_TRUE;
        fprintf(to->file, "%s%s", before, required ? "" : "[");
        put_string(to, fl_json_get(argument.value, FL_SPAN("name")));
        fputs(required ? "" : "]", to->file);
        before = ", ";
    }
    if (before[0] == ',')
        fputc('\n', to->file);
}

static void put_thing(const fl_term *to, fl_span thing, fl_span key)
{
    static const char *const details[] = {"title", "description", "mimeType"};
    fl_span name = fl_json_get(thing, FL_SPAN("name"));
    fl_span id = fl_json_get(thing, key);

    put_string(to, id);
    if (name.ptr != id.ptr && name.len > 0) {
        fputs("  ", to->file);
        put_string(to, name);
    }
    for (size_t i = 0; i < sizeof details / sizeof *details; i++) {
        fl_span detail = fl_json_get(thing, fl_span_of(details[i]));
        if (detail.len == 0)
            continue;
        fputs("\n      ", to->file);
        put_string(to, detail);
    }
    fputc('\n', to->file);
    put_arguments(to, fl_json_get(thing, FL_SPAN("arguments")));
}

void fl_show_list(const fl_show *show, const char *member, fl_span list,
                  const char *key)
{
    fl_json_walk walk;
    fl_json_member thing;
    size_t count = 0;

    if (show->json) {
        fprintf(show->out.file, "{\"%s\":", member);
        fl_term_put(&show->out, list);
        fputs("}\n", show->out.file);
        return;
    }
    fl_json_walk_init(&walk, list);
    for (; fl_json_walk_next(&walk, &thing); count++)
        put_thing(&show->out, thing.value, fl_span_of(key));
    if (count == 0)
        fl_term_say(&show->err, FL_TERM_PLAIN, "The server has none.\n");
}

/* At a terminal the prompt is to stand on a line of its own. */
static void put_held_text(const fl_term *to, fl_span text)
{
    fl_term_put(to, text);
    if (to->is_tty && (text.len == 0 || text.ptr[text.len - 1] != '\n'))
        fputc('\n', to->file);
}

/* A terminal has no use for bytes; it is told how to get them. */
static void put_held_bytes(const fl_term *to, fl_span content, fl_span bytes)
{
    fl_span type = fl_json_get(content, FL_SPAN("mimeType"));

    if (!to->is_tty) {
        fwrite(bytes.ptr, 1, bytes.len, to->file);
        return;
    }
    fputs("[binary ", to->file);
    put_string(to, fl_json_get(content, FL_SPAN("uri")));
    if (type.len > 0)
        fputc(' ', to->file);
    put_string(to, type);
    fprintf(to->file, ", %zu bytes; to keep them, add > FILE]\n", bytes.len);
}

static fl_status read_bytes(fl_span blob, fl_buf *bytes)
{
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    fl_status rc = fl_json_string_copy(blob, &text);
    if (rc == FL_OK)
        rc = fl_base64_decode(fl_buf_view(&text), bytes);
    fl_buf_reset(&text);
    return rc;
}

/* One of a resource's contents. FL_E_INVALID: neither text nor Base64. */
static fl_status put_held(const fl_term *to, fl_span content)
{
    fl_span text = fl_json_get(content, FL_SPAN("text"));
    bool is_text = fl_json_type_of(text) == FL_JSON_STRING;
    fl_buf held;

    fl_buf_init(&held, TEXT_MAX);
    fl_status rc =
        is_text ? fl_json_string_copy(text, &held)
                : read_bytes(fl_json_get(content, FL_SPAN("blob")), &held);
    if (rc == FL_OK && is_text)
        put_held_text(to, fl_buf_view(&held));
    else if (rc == FL_OK)
        put_held_bytes(to, content, fl_buf_view(&held));
    fl_buf_reset(&held);
    return rc;
}

static fl_exit complain(fl_status rc)
{
    if (rc == FL_E_INVALID)
        fl_complain("call", "the server sent neither text nor Base64; --json "
                            "shows what it sent");
    else if (rc == FL_E_TOO_BIG)
        fl_complain("call",
                    "the resource has more than %d MiB; --json shows it",
                    TEXT_MAX / 1024 / 1024);
    else
        fl_complain("call", "%s", fl_status_text(rc));
    return rc == FL_E_INVALID ? FL_EXIT_REMOTE : FL_EXIT_LOCAL;
}

fl_exit fl_show_contents(const fl_show *show, fl_span result)
{
    fl_exit how = FL_EXIT_OK;
    fl_json_walk walk;
    fl_json_member content;

    if (show->json) {
        put_raw(&show->out, result);
        return how;
    }
    fl_json_walk_init(&walk, fl_json_get(result, FL_SPAN("contents")));
    while (fl_json_walk_next(&walk, &content)) {
        fl_status rc = put_held(&show->out, content.value);
        if (rc != FL_OK)
            how = complain(rc);
    }
    return how;
}

void fl_show_prompt(const fl_show *show, fl_span result)
{
    const fl_term *to = &show->out;
    fl_json_walk walk;
    fl_json_member message;

    if (show->json) {
        put_raw(to, result);
        return;
    }
    fl_json_walk_init(&walk, fl_json_get(result, FL_SPAN("messages")));
    while (fl_json_walk_next(&walk, &message)) {
        fl_span content = fl_json_get(message.value, FL_SPAN("content"));
        fl_span text = fl_json_get(content, FL_SPAN("text"));
        put_string(to, fl_json_get(message.value, FL_SPAN("role")));
        fputs(": ", to->file);
        if (text.len > 0)
            put_string(to, text);
        else
            fl_term_put(to, content);
        fputc('\n', to->file);
    }
}

void fl_show_completion(const fl_show *show, fl_span result)
{
    fl_span completion = fl_json_get(result, FL_SPAN("completion"));
    fl_json_walk walk;
    fl_json_member value;

    if (show->json) {
        put_raw(&show->out, result);
        return;
    }
    fl_json_walk_init(&walk, fl_json_get(completion, FL_SPAN("values")));
    while (fl_json_walk_next(&walk, &value)) {
        put_string(&show->out, value.value);
        fputc('\n', show->out.file);
    }
}

void fl_show_log(const fl_show *show, fl_span level, fl_span logger,
                 fl_span data)
{
    const fl_term *to = &show->err;

    fl_term_put(to, level);
    if (logger.len > 0) {
        fputc(' ', to->file);
        fl_term_put(to, logger);
    }
    fputs(": ", to->file);
    if (fl_json_type_of(data) == FL_JSON_STRING)
        put_string(to, data);
    else
        fl_term_put(to, data);
    fputc('\n', to->file);
}
