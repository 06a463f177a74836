/*
 * answer.c - what a server wants to know of the user, asked on his terminal.
 *
 * A form is flat: strings, numbers, booleans, and choices among strings (MCP,
 * elicitation). Each field is a line; an empty one takes the default, or leaves
 * the field out if it may be left out, and one that will not do is asked for
 * again: form_field.c knows what will. At the end all of it is shown and may be
 * sent, declined or cancelled. It is the server that asks, and is said to be.
 *
 * A script gives its answers before it is asked, and they are judged alike; one
 * that is missing, or will not do, cancels the form.
 *
 * A signal does not end a read() that libuv's handler interrupts, but it does
 * end a poll(): so that is where we wait.
 */
#include "cmd/answer.h"

#include "base/span.h"
#include "base/status.h"
#include "cmd/form_field.h"
#include "json/nav.h"
#include "json/unescape.h"

#include <poll.h>
#include <strings.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 4096, TEXT_MAX = 1024 * 1024, RPC_INTERNAL = -32603 };

/* Nobody is asked: what there is to say has been said. */
static bool is_alone(const fl_answerer *answerer)
{
    return answerer->accept_defaults || answerer->decline ||
           answerer->answers != NULL;
}

bool fl_answerer_can(const fl_answerer *answerer)
{
    return is_alone(answerer) ||
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

/* A form that is being filled in. */
struct form {
    const fl_answerer *answerer;
    fl_span schema;
    fl_buf content; /* so far */
    bool defaulted; /* something was left to its default */
};

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

/* One more member; its key as it came. */
static fl_status add_value(fl_buf *content, const fl_json_member *field,
                           const char *line, fl_error *why)
{
    size_t before = fl_buf_len(content);
    fl_buf value;

    fl_buf_init(&value, TEXT_MAX);
    fl_status rc = fl_form_field_read(field, line, &value, why);
    if (rc == FL_OK)
        rc = fl_buf_printf(content, "%s\"%.*s\":%.*s", before > 1 ? "," : "",
                           (int)field->key.len, field->key.ptr,
                           (int)fl_buf_len(&value), fl_buf_view(&value).ptr);
    fl_buf_reset(&value);
    return rc;
}

/* False: there is no going on. */
static bool ask_field(struct form *form, const fl_json_member *field)
{
    const fl_answerer *answerer = form->answerer;
    bool required = is_required(form->schema, field->key);
    bool preset = fl_json_get(field->value, FL_SPAN("default")).len > 0;
    char line[LINE_MAX_BYTES];
    fl_status rc;
    fl_error why;

    do {
        fl_form_field_show(&answerer->term, field, required);
        if (!read_line(answerer, line))
            return false;
        if (line[0] == '\0' && (preset || !required)) {
            form->defaulted |= preset;
            return true;
        }
        rc = line[0] != '\0'
                 ? add_value(&form->content, field, line, &why)
                 : fl_error_set(&why, FL_E_INVALID, "must not be left out");
        if (rc == FL_E_INVALID)
            fl_term_say(&answerer->term, FL_TERM_RED,
                        "That is no answer to this: %s.\n", why.text);
    } while (rc == FL_E_INVALID);
    return rc == FL_OK;
}

/* What was said of a field before it was asked for; NULL: nothing. */
static const char *find_answer(const fl_answerer *answerer, fl_span key)
{
    for (const char *const *one = answerer->answers; *one != NULL; one++) {
        size_t len = strcspn(*one, "=");
        if (fl_json_unescape_is(key, (fl_span){*one, len}))
            return *one + len + 1;
    }
    return NULL;
}

/* False: it has no answer that will do, and that has been said. */
static bool answer_field(struct form *form, const fl_json_member *field)
{
    const fl_answerer *answerer = form->answerer;
    const char *answer = find_answer(answerer, field->key);
    bool preset = fl_json_get(field->value, FL_SPAN("default")).len > 0;
    fl_error why = {.text = "is not answered, and has no default"};

    if (answer == NULL && (preset || !is_required(form->schema, field->key)))
        return true;
    if (answer != NULL) {
        fl_error_set(&why, FL_E_NOMEM, "%s", fl_status_text(FL_E_NOMEM));
        if (add_value(&form->content, field, answer, &why) == FL_OK)
            return true;
    }
    fl_term_say(&answerer->term, FL_TERM_RED, "--answer: ");
    fl_term_put(&answerer->term, field->key);
    fl_term_say(&answerer->term, FL_TERM_RED, ": %s.\n", why.text);
    return false;
}

static void name_fields(const fl_term *to, fl_span fields)
{
    fl_json_walk walk;
    fl_json_member field;

    fl_json_walk_init(&walk, fields);
    while (fl_json_walk_next(&walk, &field)) {
        fputc(' ', to->file);
        fl_term_put(to, field.key);
    }
    fputc('\n', to->file);
}

/* False: an answer is to nothing that was asked, and that has been said. A slip
 * must not send a default as if it had been chosen. */
static bool knows_all(const struct form *form)
{
    const fl_answerer *answerer = form->answerer;
    fl_span fields = fl_json_get(form->schema, FL_SPAN("properties"));

    for (const char *const *one = answerer->answers; *one != NULL; one++) {
        fl_span name = {*one, strcspn(*one, "=")};
        if (fl_json_get(fields, name).len > 0)
            continue;
        fl_term_say(&answerer->term, FL_TERM_RED, "--answer: ");
        fl_term_put(&answerer->term, name);
        fl_term_say(&answerer->term, FL_TERM_RED,
                    ": is not asked for. The form has:");
        name_fields(&answerer->term, fields);
        return false;
    }
    return true;
}

typedef bool field_fn(struct form *form, const fl_json_member *field);

static bool fill_in(struct form *form, field_fn *take)
{
    fl_json_walk walk;
    fl_json_member field;

    if (fl_buf_append(&form->content, FL_SPAN("{")) != FL_OK)
        return false;
    fl_json_walk_init(&walk, fl_json_get(form->schema, FL_SPAN("properties")));
    while (fl_json_walk_next(&walk, &field))
        if (!take(form, &field))
            return false;
    return fl_buf_append(&form->content, FL_SPAN("}")) == FL_OK;
}

/* 'y', 'n' or 'c'. A slip of the finger is none of them: after a long form it
 * must not cost all that was typed. */
static char confirm(const fl_answerer *answerer, const char *question)
{
    char line[LINE_MAX_BYTES];

    for (;;) {
        fl_term_say(&answerer->term, FL_TERM_BOLD,
                    "%s [Y]es, [n]o, [c]ancel > ", question);
        if (!read_line(answerer, line) || strcasecmp(line, "c") == 0 ||
            strcasecmp(line, "cancel") == 0)
            return 'c';
        if (line[0] == '\0' || fl_form_is_yes(line))
            return 'y';
        if (fl_form_is_no(line))
            return 'n';
        fl_term_say(&answerer->term, FL_TERM_RED,
                    "That is no answer to this: must be y, n or c.\n");
    }
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
    struct form form = {.answerer = answerer, .schema = fl_ask_schema(ask)};
    char word = 'c';

    fl_buf_init(&form.content, TEXT_MAX);
    show_question(answerer, ask);
    if (fill_in(&form, ask_field)) {
        fl_term_put(&answerer->term, fl_buf_view(&form.content));
        fputc('\n', answerer->term.file);
        word =
            confirm(answerer, form.defaulted
                                  ? "Send this, and the defaults of the rest?"
                                  : "Send this?");
    }
    fl_status rc = settle(ask, word, fl_buf_view(&form.content));
    fl_buf_reset(&form.content);
    return rc;
}

/* The same from what was said before. */
static fl_status send_answers(const fl_answerer *answerer, fl_ask *ask)
{
    struct form form = {.answerer = answerer, .schema = fl_ask_schema(ask)};

    fl_buf_init(&form.content, TEXT_MAX);
    bool filled = knows_all(&form) && fill_in(&form, answer_field);
    fl_status rc = settle(ask, filled ? 'y' : 'c', fl_buf_view(&form.content));
    fl_buf_reset(&form.content);
    return rc;
}

void fl_answer_form(const fl_answerer *answerer, fl_ask *ask)
{
    fl_status rc;

    if (answerer->decline)
        rc = fl_ask_decline(ask);
    else if (answerer->answers != NULL)
        rc = send_answers(answerer, ask);
    else if (answerer->accept_defaults)
        rc = fl_ask_accept_defaults(ask);
    else
        rc = ask_form(answerer, ask);
    if (rc == FL_E_NOT_FOUND) {
        show_question(answerer, ask);
        fl_term_say(&answerer->term, FL_TERM_PLAIN,
                    "That was cancelled: it wants something that has no "
                    "default. --answer FIELD=VALUE gives it, or call it from "
                    "a terminal.\n");
        rc = fl_ask_cancel(ask);
    }
    if (rc != FL_OK)
        fl_ask_error(ask, RPC_INTERNAL, fl_status_text(rc));
}

/* A page is never agreed to by a script: whether it is the right one, only the
 * user can see. */
void fl_answer_url(const fl_answerer *answerer, fl_ask *ask)
{
    bool alone = is_alone(answerer);
    char word = 'n';

    show_question(answerer, ask);
    fl_term_say(&answerer->term, FL_TERM_PLAIN, "It wants you to visit ");
    fl_term_put(&answerer->term, fl_ask_url(ask));
    fl_term_say(&answerer->term, FL_TERM_PLAIN, "\n%s",
                alone ? "That was declined.\n" : "");
    if (!alone)
        word = confirm(answerer, "Will you?");
    fl_status rc = settle(ask, word, (fl_span){0});
    if (rc != FL_OK)
        fl_ask_error(ask, RPC_INTERNAL, fl_status_text(rc));
}
