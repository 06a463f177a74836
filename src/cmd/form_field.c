/*
 * form_field.c - one field of a form that a server sent.
 *
 * Whoever is asked is told first what will do: "copies (integer, 1 to 9)".
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

static bool is_of(fl_span field, const char *type)
{
    return fl_json_string_is(fl_json_get(field, FL_SPAN("type")),
                             fl_span_of(type));
}

/* What will do, in brackets and with commas between its parts. */
typedef struct brackets {
    const fl_term *to;
    const char *before; /* the next part */
} brackets;

static void put_rule(brackets *in, const char *words, fl_span value)
{
    if (value.len == 0 && words[0] == '\0')
        return;
    fputs(in->before, in->to->file);
    fputs(words, in->to->file);
    put_text(in->to, value);
    in->before = ", ";
}

static void put_bound(brackets *in, const char *words, fl_span value)
{
    if (value.len > 0)
        put_rule(in, words, value);
}

/* "1 to 9", "at least 1", "at most 9"; and what is counted, one of them. */
static void put_range(brackets *in, fl_span low, fl_span high, const char *unit)
{
    fl_span last = high.len > 0 ? high : low;

    if (low.len > 0 && high.len > 0 && !fl_span_equal(low, high)) {
        put_rule(in, "", low);
        in->before = " to ";
        put_rule(in, "", high);
    } else if (last.len > 0) {
        put_rule(in,
                 high.len == 0  ? "at least "
                 : low.len == 0 ? "at most "
                                : "",
                 last);
    }
    if (last.len > 0 && unit[0] != '\0')
        fprintf(in->to->file, " %s%s", unit,
                fl_span_equal(last, FL_SPAN("1")) ? "" : "s");
}

static void put_number(brackets *in, fl_span field)
{
    put_rule(in, "", fl_json_get(field, FL_SPAN("type")));
    put_range(in, fl_json_get(field, FL_SPAN("minimum")),
              fl_json_get(field, FL_SPAN("maximum")), "");
    put_bound(in, "more than ",
              fl_json_get(field, FL_SPAN("exclusiveMinimum")));
    put_bound(in, "less than ",
              fl_json_get(field, FL_SPAN("exclusiveMaximum")));
    put_bound(in, "a multiple of ", fl_json_get(field, FL_SPAN("multipleOf")));
}

static void put_string(brackets *in, fl_span field)
{
    put_rule(in, "text", (fl_span){0});
    put_range(in, fl_json_get(field, FL_SPAN("minLength")),
              fl_json_get(field, FL_SPAN("maxLength")), "character");
    put_bound(in, "of format ", fl_json_get(field, FL_SPAN("format")));
    put_bound(in, "matching ", fl_json_get(field, FL_SPAN("pattern")));
}

static void put_choices(brackets *in, fl_span choices)
{
    fl_json_walk walk;
    fl_json_member choice;

    fl_json_walk_init(&walk, choices);
    while (fl_json_walk_next(&walk, &choice))
        put_rule(in, "", value_of(choice.value));
}

/* "any of a, b", "at most 2 of a, b, c" */
static void put_several(brackets *in, fl_span field, fl_span choices)
{
    fl_span low = fl_json_get(field, FL_SPAN("minItems"));
    fl_span high = fl_json_get(field, FL_SPAN("maxItems"));

    put_range(in, low, high, "");
    if (low.len == 0 && high.len == 0)
        put_rule(in, "any", (fl_span){0});
    if (choices.len > 0)
        in->before = " of ";
    put_choices(in, choices);
    put_rule(in, "with commas between them", (fl_span){0});
}

static void put_wanted(const fl_term *to, fl_span field)
{
    brackets in = {.to = to, .before = " ("};
    fl_span choices = choices_of(field);

    if (is_of(field, "boolean"))
        put_rule(&in, "y/n", (fl_span){0});
    else if (is_of(field, "integer") || is_of(field, "number"))
        put_number(&in, field);
    else if (is_of(field, "array"))
        put_several(&in, field, choices);
    else if (choices.len > 0)
        put_choices(&in, choices);
    else
        put_string(&in, field);
    fputc(')', to->file);
}

/* What an empty line means; a boolean as it would be typed. */
static void put_preset(const fl_term *to, fl_span field, bool required)
{
    fl_span preset = fl_json_get(field, FL_SPAN("default"));

    if (preset.len == 0 && required)
        return;
    fputs(" [", to->file);
    if (preset.len == 0)
        fputs("none", to->file);
    else if (is_of(field, "boolean"))
        fputs(fl_json_type_of(preset) == FL_JSON_TRUE ? "y" : "n", to->file);
    else
        put_text(to, preset);
    fputc(']', to->file);
}

void fl_form_field_show(const fl_term *to, const fl_json_member *field,
                        bool required)
{
    fl_span title = fl_json_get(field->value, FL_SPAN("title"));
    fl_span description = fl_json_get(field->value, FL_SPAN("description"));

    put_text(to, title.len > 0 ? title : field->key);
    if (description.len > 0) {
        fputs(": ", to->file);
        put_text(to, description);
    }
    put_wanted(to, field->value);
    put_preset(to, field->value, required);
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
    if (is_of(field, "boolean"))
        return write_bool(writer, line);
    if (is_of(field, "integer") || is_of(field, "number"))
        return write_number(writer, fl_span_of(line));
    if (is_of(field, "array"))
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
