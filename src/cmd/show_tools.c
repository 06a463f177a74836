/*
 * show_tools.c - a list of tools, for people.
 *
 *   add   Adds two numbers
 *         a: number, b: number
 *   slow  Takes its time
 *         [steps: integer >= 1 <= 100 = 5], [mood: calm|hasty]
 *         -> taken_ms: integer
 *
 * Names are padded to the longest (within reason), so that descriptions line
 * up; arguments that may be left out stand in brackets, with what is taken for
 * them then. What a tool answers in fields comes after the arrow.
 */
#include "base/span.h"
#include "cmd/show.h"
#include "json/nav.h"

#include <string.h>

enum { NAME_WIDTH_MAX = 24, TEXT_MAX = 1024 * 1024, VALUES_MAX = 12 };

/* A string's meaning, up to its first line end. */
static fl_span first_line(fl_span value, fl_buf *text)
{
    fl_buf_truncate(text, 0);
    if (fl_json_string_copy(value, text) != FL_OK)
        return (fl_span){0};
    fl_span all = fl_buf_view(text);
    all.len = fl_span_find(all, '\n');
    return all;
}

static size_t letters(fl_span text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        n += ((unsigned char)text.ptr[i] & 0xc0) != 0x80 ? 1 : 0;
    return n;
}

static size_t find_width(fl_span tools, fl_buf *text)
{
    fl_json_walk walk;
    fl_json_member tool;
    size_t width = 0;

    fl_json_walk_init(&walk, tools);
    while (fl_json_walk_next(&walk, &tool)) {
        fl_span name = fl_json_get(tool.value, FL_SPAN("name"));
        size_t len = letters(first_line(name, text));
        if (len > width && len <= NAME_WIDTH_MAX)
            width = len;
    }
    return width;
}

/* A string's meaning; of numbers and the like, the JSON. */
static void put_value(const fl_term *to, fl_span value, fl_buf *text)
{
    fl_json_type type = fl_json_type_of(value);

    if (type == FL_JSON_STRING)
        value = first_line(value, text);
    else if (type == FL_JSON_OBJECT || type == FL_JSON_ARRAY)
        value = FL_SPAN("...");
    fl_term_put(to, value);
}

/* "green|black", or "green|black|..." where there are many; false if it is no
 * array with something in it. */
static bool put_choice(const fl_term *to, fl_span values, fl_buf *text)
{
    fl_json_walk walk;
    fl_json_member one;
    unsigned n = 0;

    if (fl_json_type_of(values) != FL_JSON_ARRAY)
        return false;
    fl_json_walk_init(&walk, values);
    while (n <= VALUES_MAX && fl_json_walk_next(&walk, &one)) {
        fputs(n > 0 ? "|" : "", to->file);
        if (n++ < VALUES_MAX)
            put_value(to, one.value, text);
        else
            fputs("...", to->file);
    }
    return n > 0;
}

/* " >= 1 <= 10", as far as there are bounds. */
static void put_bounds(const fl_term *to, fl_span schema)
{
    static const struct bound {
        fl_span keyword;
        const char *sign;
    } bounds[] = {
        {{"minimum", 7}, ">="},
        {{"exclusiveMinimum", 16}, ">"},
        {{"maximum", 7}, "<="},
        {{"exclusiveMaximum", 16}, "<"},
    };
    double number;

    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        fl_span value = fl_json_get(schema, bounds[i].keyword);
        if (fl_json_double(value, &number) != FL_OK)
            continue;
        fprintf(to->file, " %s ", bounds[i].sign);
        fl_term_put(to, value);
    }
}

/* "string", "string|null", "integer >= 1", "green|black", or "any" where the
 * schema is cleverer than that. */
static void put_plain_type(const fl_term *to, fl_span schema, fl_buf *text)
{
    fl_span type = fl_json_get(schema, FL_SPAN("type"));

    if (put_choice(to, fl_json_get(schema, FL_SPAN("enum")), text))
        return;
    if (fl_json_type_of(type) == FL_JSON_STRING)
        fl_term_put(to, first_line(type, text));
    else if (!put_choice(to, type, text))
        fputs("any", to->file);
    put_bounds(to, schema);
}

/* The same, and "number[]". */
static void put_type(const fl_term *to, fl_span schema, fl_buf *text)
{
    fl_span type = fl_json_get(schema, FL_SPAN("type"));

    if (!fl_json_string_is(type, FL_SPAN("array"))) {
        put_plain_type(to, schema, text);
        return;
    }
    fl_span items = fl_json_get(schema, FL_SPAN("items"));
    fl_span of = fl_json_get(items, FL_SPAN("type"));
    bool choice =
        fl_json_type_of(fl_json_get(items, FL_SPAN("enum"))) == FL_JSON_ARRAY;
    fputs(choice ? "(" : "", to->file);
    if (choice)
        put_plain_type(to, items, text);
    else
        fl_term_put(to, fl_json_type_of(of) == FL_JSON_STRING
                            ? first_line(of, text)
                            : FL_SPAN("any"));
    fputs(choice ? ")[]" : "[]", to->file);
}

/* `key` is raw, without its quotes; so are the strings of `required` but for
 * theirs, and both were written by the same hand. */
static bool is_required(fl_span required, fl_span key)
{
    fl_json_walk walk;
    fl_json_member one;

    fl_json_walk_init(&walk, required);
    while (fl_json_walk_next(&walk, &one))
        if (one.value.len == key.len + 2 &&
            fl_span_equal((fl_span){one.value.ptr + 1, key.len}, key))
            return true;
    return false;
}

static void put_default(const fl_term *to, fl_span schema, fl_buf *text)
{
    fl_span preset = fl_json_get(schema, FL_SPAN("default"));

    if (preset.len == 0)
        return;
    fputs(" = ", to->file);
    put_value(to, preset, text);
}

/* One line of them, with `lead` before the first; none if there are none. */
static void put_fields(const fl_term *to, fl_span schema, const char *lead,
                       fl_buf *text)
{
    fl_span properties = fl_json_get(schema, FL_SPAN("properties"));
    fl_span required = fl_json_get(schema, FL_SPAN("required"));
    fl_json_walk walk;
    fl_json_member property;
    bool any = false;

    if (fl_json_type_of(properties) != FL_JSON_OBJECT)
        return;
    fl_json_walk_init(&walk, properties);
    while (fl_json_walk_next(&walk, &property)) {
        bool needed = is_required(required, property.key);
        fprintf(to->file, "%s%s", any ? ", " : lead, needed ? "" : "[");
        fl_term_put(to, property.key);
        fputs(": ", to->file);
        put_type(to, property.value, text);
        put_default(to, property.value, text);
        fputs(needed ? "" : "]", to->file);
        any = true;
    }
    if (any)
        fputc('\n', to->file);
}

static void put_tool(const fl_term *to, fl_span tool, size_t width,
                     fl_buf *text)
{
    fl_span name = first_line(fl_json_get(tool, FL_SPAN("name")), text);
    size_t len = letters(name);
    int pad = (int)(len < width ? width - len + 2 : 2);
    char indent[NAME_WIDTH_MAX + 8], arrow[sizeof indent];

    snprintf(indent, sizeof indent, "%*s", (int)width + 2, "");
    snprintf(arrow, sizeof arrow, "%*s-> ", (int)width + 2, "");
    fl_term_put(to, name);
    fl_span about = first_line(fl_json_get(tool, FL_SPAN("description")), text);
    if (about.len > 0)
        fprintf(to->file, "%*s", pad, "");
    fl_term_put(to, about);
    fputc('\n', to->file);
    put_fields(to, fl_json_get(tool, FL_SPAN("inputSchema")), indent, text);
    put_fields(to, fl_json_get(tool, FL_SPAN("outputSchema")), arrow, text);
}

static void put_json(const fl_term *to, fl_span tools)
{
    fputs("{\"tools\":", to->file);
    fl_term_put(to, tools);
    fputs("}\n", to->file);
}

void fl_show_tools(const fl_show *show, fl_span tools)
{
    const fl_term *to = &show->out;
    fl_json_walk walk;
    fl_json_member tool;
    fl_buf text;
    bool any = false;

    if (show->json) {
        put_json(to, tools);
        return;
    }
    fl_buf_init(&text, TEXT_MAX);
    size_t width = find_width(tools, &text);
    fl_json_walk_init(&walk, tools);
    while (fl_json_walk_next(&walk, &tool)) {
        put_tool(to, tool.value, width, &text);
        any = true;
    }
    fl_buf_reset(&text);
    if (!any)
        fputs("The server has no tools.\n", show->err.file);
}
