/*
 * answer.c - what a server wants to know of the user, asked on his terminal.
 *
 * A form is flat: strings, numbers, booleans, and choices among strings (MCP,
 * elicitation). Each field is a line; an empty one takes the default, or leaves
 * the field out if it may be left out. At the end all of it is shown and may be
 * sent, declined or cancelled. It is the server that asks, and is said to be.
 *
 * A signal does not end a read() that libuv's handler interrupts, but it does
 * end a poll(): so that is where we wait.
 */
#include "cmd/answer.h"

#include "base/span.h"
#include "cmd/pretty.h"
#include "json/nav.h"
#include "json/write.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 4096, TEXT_MAX = 1024 * 1024, RPC_INTERNAL = -32603 };

bool fl_answerer_can(const fl_answerer *answerer)
{
    return answerer->accept_defaults || answerer->decline ||
           (answerer->term.is_tty && isatty(answerer->in));
}

/* One line, without its end. False: an interrupt, or the end of the input. */
static bool read_line(const fl_answerer *answerer, char line[LINE_MAX_BYTES])
{
    struct pollfd watch = {.fd = answerer->in, .events = POLLIN};
    size_t len = 0;
    char c;

    fflush(answerer->term.file);
    while (poll(&watch, 1, -1) > 0 && read(answerer->in, &c, 1) == 1) {
        if (c == '\n') {
            line[len] = '\0';
            return true;
        }
        if (len < LINE_MAX_BYTES - 1)
            line[len++] = c;
    }
    return false;
}

static void put_text(const fl_term *to, fl_span value)
{
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    if (fl_json_string_copy(value, &text) == FL_OK)
        fl_term_put(to, fl_buf_view(&text));
    else
        fl_term_put(to, value);
    fl_buf_reset(&text);
}

static bool is_required(fl_span schema, fl_span key)
{
    fl_json_walk walk;
    fl_json_member name;

    fl_json_walk_init(&walk, fl_json_get(schema, FL_SPAN("required")));
    while (fl_json_walk_next(&walk, &name))
        if (fl_json_type_of(name.value) == FL_JSON_STRING &&
            fl_span_equal((fl_span){name.value.ptr + 1, name.value.len - 2},
                          key))
            return true;
    return false;
}

static fl_span choices_of(fl_span field)
{
    static const char *const where[] = {"enum", "oneOf", "anyOf"};
    fl_span items = fl_json_get(field, FL_SPAN("items"));
    fl_span from = items.len > 0 ? items : field;

    for (size_t i = 0; i < 3; i++) {
        fl_span found = fl_json_get(from, fl_span_of(where[i]));
        if (found.len > 0)
            return found;
    }
    return (fl_span){0};
}

/* A choice is a string, or an object with one and a title for it. */
static fl_span value_of(fl_span choice)
{
    fl_span constant = fl_json_get(choice, FL_SPAN("const"));

    return constant.len > 0 ? constant : choice;
}

static void show_field(const fl_answerer *answerer, const fl_json_member *field,
                       bool required)
{
    const fl_term *to = &answerer->term;
    fl_span title = fl_json_get(field->value, FL_SPAN("title"));
    fl_span description = fl_json_get(field->value, FL_SPAN("description"));
    fl_span preset = fl_json_get(field->value, FL_SPAN("default"));
    fl_json_walk walk;
    fl_json_member choice;
    const char *before = " (";

    put_text(to, title.len > 0 ? title : field->key);
    if (description.len > 0) {
        fputs(": ", to->file);
        put_text(to, description);
    }
    fl_json_walk_init(&walk, choices_of(field->value));
    while (fl_json_walk_next(&walk, &choice)) {
        fputs(before, to->file);
        put_text(to, value_of(choice.value));
        before = ", ";
    }
    if (before[0] == ',')
        fputc(')', to->file);
    if (preset.len > 0) {
        fputs(" [", to->file);
        put_text(to, preset);
        fputc(']', to->file);
    } else if (!required) {
        fputs(" [none]", to->file);
    }
    fputs("\n> ", to->file);
}

static bool is_choice(fl_span choices, fl_span text)
{
    fl_json_walk walk;
    fl_json_member choice;

    fl_json_walk_init(&walk, choices);
    while (fl_json_walk_next(&walk, &choice))
        if (fl_json_string_is(value_of(choice.value), text))
            return true;
    return false;
}

static bool is_yes(const char *line)
{
    return strcmp(line, "y") == 0 || strcmp(line, "yes") == 0 ||
           strcmp(line, "true") == 0;
}

static bool is_no(const char *line)
{
    return strcmp(line, "n") == 0 || strcmp(line, "no") == 0 ||
           strcmp(line, "false") == 0;
}

static bool write_number(fl_json_writer *writer, fl_span text, bool whole)
{
    fl_json_top top;
    int64_t integer;

    if (fl_json_scan(text, 0, &top, NULL) != FL_OK ||
        top.type != FL_JSON_NUMBER ||
        (whole && fl_json_int64(top.value, &integer) != FL_OK))
        return false;
    fl_json_raw(writer, top.value);
    return true;
}

/* Several of the choices, with commas between them. */
static bool write_several(fl_json_writer *writer, fl_span text, fl_span choices)
{
    fl_json_array(writer);
    while (text.len > 0) {
        size_t end = fl_span_find(text, ',');
        fl_span one = {text.ptr, end};
        while (one.len > 0 && one.ptr[0] == ' ')
            one = fl_span_from(one, 1);
        if (!is_choice(choices, one))
            return false;
        fl_json_text(writer, one);
        text = fl_span_from(text, end < text.len ? end + 1 : end);
    }
    fl_json_array_end(writer);
    return true;
}

/* What was typed, as what the field is of. False: it is none. */
static bool write_value(fl_json_writer *writer, fl_span field, const char *line)
{
    fl_span type = fl_json_get(field, FL_SPAN("type"));
    fl_span choices = choices_of(field);
    fl_span text = fl_span_of(line);

    if (fl_json_string_is(type, FL_SPAN("boolean"))) {
        fl_json_bool(writer, is_yes(line));
        return is_yes(line) || is_no(line);
    }
    if (fl_json_string_is(type, FL_SPAN("integer")) ||
        fl_json_string_is(type, FL_SPAN("number")))
        return write_number(writer, text,
                            fl_json_string_is(type, FL_SPAN("integer")));
    if (fl_json_string_is(type, FL_SPAN("array")))
        return write_several(writer, text, choices);
    fl_json_text(writer, text);
    return choices.len == 0 || is_choice(choices, text);
}

/* One more member; its key as it came. */
static bool add_value(fl_buf *content, const fl_json_member *field,
                      const char *line)
{
    size_t before = fl_buf_len(content);
    fl_json_writer writer;
    fl_buf value;

    fl_buf_init(&value, TEXT_MAX);
    fl_json_writer_init(&writer, &value);
    bool right = write_value(&writer, field->value, line) &&
                 fl_json_writer_end(&writer) == FL_OK &&
                 fl_buf_printf(content, "%s\"%.*s\":%.*s",
                               before > 1 ? "," : "", (int)field->key.len,
                               field->key.ptr, (int)fl_buf_len(&value),
                               fl_buf_view(&value).ptr) == FL_OK;
    fl_buf_reset(&value);
    return right;
}

static bool ask_field(const fl_answerer *answerer, fl_span schema,
                      const fl_json_member *field, fl_buf *content)
{
    bool required = is_required(schema, field->key);
    bool preset = fl_json_get(field->value, FL_SPAN("default")).len > 0;
    char line[LINE_MAX_BYTES];

    for (;;) {
        show_field(answerer, field, required);
        if (!read_line(answerer, line))
            return false;
        if (line[0] == '\0' && (preset || !required))
            return true;
        if (line[0] != '\0' && add_value(content, field, line))
            return true;
        fl_term_say(&answerer->term, FL_TERM_RED,
                    "That is no answer to this.\n");
    }
}

static bool fill_in(const fl_answerer *answerer, fl_span schema,
                    fl_buf *content)
{
    fl_json_walk walk;
    fl_json_member field;

    if (fl_buf_append(content, FL_SPAN("{")) != FL_OK)
        return false;
    fl_json_walk_init(&walk, fl_json_get(schema, FL_SPAN("properties")));
    while (fl_json_walk_next(&walk, &field))
        if (!ask_field(answerer, schema, &field, content))
            return false;
    return fl_buf_append(content, FL_SPAN("}")) == FL_OK;
}

/* 'y', 'n', or 'c' for neither. */
static char confirm(const fl_answerer *answerer, const char *question)
{
    char line[LINE_MAX_BYTES];

    fl_term_say(&answerer->term, FL_TERM_BOLD, "%s", question);
    if (!read_line(answerer, line))
        return 'c';
    if (line[0] == '\0' || is_yes(line))
        return 'y';
    return is_no(line) ? 'n' : 'c';
}

static fl_status settle(fl_ask *ask, char word, fl_span content)
{
    if (word == 'y')
        return fl_ask_accept(ask, content);
    return word == 'n' ? fl_ask_decline(ask) : fl_ask_cancel(ask);
}

static void show_question(const fl_answerer *answerer, const fl_ask *ask)
{
    fl_term_say(&answerer->term, FL_TERM_BOLD, "The server asks: ");
    fl_term_put(&answerer->term, fl_ask_message(ask));
    fputc('\n', answerer->term.file);
}

static fl_status ask_form(const fl_answerer *answerer, fl_ask *ask)
{
    fl_buf content;
    char word = 'c';

    fl_buf_init(&content, TEXT_MAX);
    show_question(answerer, ask);
    if (fill_in(answerer, fl_ask_schema(ask), &content)) {
        fl_term_put(&answerer->term, fl_buf_view(&content));
        word = confirm(answerer, "\nSend this, and the defaults of the "
                                 "rest? [Y]es, [n]o, [c]ancel > ");
    }
    fl_status rc = settle(ask, word, fl_buf_view(&content));
    fl_buf_reset(&content);
    return rc;
}

void fl_answer_form(const fl_answerer *answerer, fl_ask *ask)
{
    fl_status rc;

    if (answerer->decline)
        rc = fl_ask_decline(ask);
    else if (answerer->accept_defaults)
        rc = fl_ask_accept_defaults(ask);
    else
        rc = ask_form(answerer, ask);
    if (rc == FL_E_NOT_FOUND) {
        show_question(answerer, ask);
        fl_term_say(&answerer->term, FL_TERM_PLAIN,
                    "That was cancelled: it wants something that has no "
                    "default. Call it from a terminal to fill it in.\n");
        rc = fl_ask_cancel(ask);
    }
    if (rc != FL_OK)
        fl_ask_error(ask, RPC_INTERNAL, fl_status_text(rc));
}

/* A page is never agreed to by a script: whether it is the right one, only the
 * user can see. */
void fl_answer_url(const fl_answerer *answerer, fl_ask *ask)
{
    bool alone = answerer->decline || answerer->accept_defaults;
    char word = 'n';

    show_question(answerer, ask);
    fl_term_say(&answerer->term, FL_TERM_PLAIN, "It wants you to visit ");
    fl_term_put(&answerer->term, fl_ask_url(ask));
    fl_term_say(&answerer->term, FL_TERM_PLAIN, "\n%s",
                alone ? "That was declined.\n" : "");
    if (!alone)
        word = confirm(answerer, "Will you? [Y]es, [n]o, [c]ancel > ");
    fl_status rc = settle(ask, word, (fl_span){0});
    if (rc != FL_OK)
        fl_ask_error(ask, RPC_INTERNAL, fl_status_text(rc));
}
