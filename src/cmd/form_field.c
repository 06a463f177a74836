/*
 * form_field.c - one field of a form that a server sent.
 *
 * What is typed is text, and becomes what the field's type says. Whether it is
 * one of those that are wanted, the field's schema knows, and nobody else has
 * to: a server that is sent anything else asks anew without a word of why, or
 * gives up.
 */
#include "cmd/form_field.h"

#include "base/span.h"
#include "base/status.h"
#include "schema/schema.h"
#include "json/write.h"

#include <string.h>
#include <strings.h>

enum { TEXT_MAX = 1024 * 1024 };

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

void fl_form_field_show(const fl_term *to, const fl_json_member *field,
                        bool required)
{
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

bool fl_form_is_yes(const char *line)
{
    return strcasecmp(line, "y") == 0 || strcasecmp(line, "yes") == 0 ||
           strcasecmp(line, "true") == 0;
}

bool fl_form_is_no(const char *line)
{
    return strcasecmp(line, "n") == 0 || strcasecmp(line, "no") == 0 ||
           strcasecmp(line, "false") == 0;
}

/* What each of these writes is what was typed; what it returns is why it is
 * not, or NULL. */

static const char *write_bool(fl_json_writer *writer, const char *line)
{
    fl_json_bool(writer, fl_form_is_yes(line));
    return fl_form_is_yes(line) || fl_form_is_no(line) ? NULL
                                                       : "must be y or n";
}

static const char *write_number(fl_json_writer *writer, fl_span text)
{
    fl_json_top top;

    if (fl_json_scan(text, 0, &top, NULL) != FL_OK ||
        top.type != FL_JSON_NUMBER)
        return "must be a number";
    fl_json_raw(writer, top.value);
    return NULL;
}

static const char *write_choice(fl_json_writer *writer, fl_span text,
                                fl_span choices)
{
    fl_json_text(writer, text);
    return choices.len == 0 || is_choice(choices, text)
               ? NULL
               : "must be one of the choices";
}

/* Several of the choices, with commas between them. */
static const char *write_several(fl_json_writer *writer, fl_span text,
                                 fl_span choices)
{
    const char *wrong = NULL;

    fl_json_array(writer);
    while (text.len > 0 && wrong == NULL) {
        size_t end = fl_span_find(text, ',');
        fl_span one = {text.ptr, end};
        while (one.len > 0 && one.ptr[0] == ' ')
            one = fl_span_from(one, 1);
        if (write_choice(writer, one, choices) != NULL)
            wrong = "must be of the choices, with commas between them";
        text = fl_span_from(text, end < text.len ? end + 1 : end);
    }
    fl_json_array_end(writer);
    return wrong;
}

static const char *write_value(fl_json_writer *writer, fl_span field,
                               const char *line)
{
    fl_span type = fl_json_get(field, FL_SPAN("type"));

    if (fl_json_string_is(type, FL_SPAN("boolean")))
        return write_bool(writer, line);
    if (fl_json_string_is(type, FL_SPAN("integer")) ||
        fl_json_string_is(type, FL_SPAN("number")))
        return write_number(writer, fl_span_of(line));
    if (fl_json_string_is(type, FL_SPAN("array")))
        return write_several(writer, fl_span_of(line), choices_of(field));
    return write_choice(writer, fl_span_of(line), choices_of(field));
}

/* "minimum: must be ..." without what only a developer wants to know. */
static const char *reason_of(const fl_schema_fault *fault)
{
    const char *text = strstr(fault->text, fault->keyword);

    if (fault->path[0] != '\0' || text == NULL)
        return fault->text;
    text += strlen(fault->keyword);
    return strncmp(text, ": ", 2) == 0 ? text + 2 : fault->text;
}

/* A schema that cannot be read, or takes too long, is left to the server. */
static fl_status judge(fl_span schema, fl_span value, fl_error *why)
{
    const fl_schema_options options = {.formats = true};
    fl_schema *compiled;
    fl_schema_fault fault;

    if (fl_schema_compile(schema, &options, &compiled, NULL) != FL_OK)
        return FL_OK;
    fl_status rc = fl_schema_check(compiled, value, &fault);
    fl_schema_free(compiled);
    return rc == FL_E_INVALID ? fl_error_set(why, rc, "%s", reason_of(&fault))
                              : FL_OK;
}

fl_status fl_form_field_read(const fl_json_member *field, const char *line,
                             fl_buf *value, fl_error *why)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, value);
    const char *wrong = write_value(&writer, field->value, line);
    if (wrong != NULL)
        return fl_error_set(why, FL_E_INVALID, "%s", wrong);
    fl_status rc = fl_json_writer_end(&writer);
    if (rc != FL_OK)
        return fl_error_set(why, rc, "%s", fl_status_text(rc));
    return judge(field->value, fl_buf_view(value), why);
}
