/*
 * fuzz_template.c - whatever the template and whatever the URI, what is read
 * back makes a URI that can be read back.
 *
 * The input is a template and a URI, on a line each. If the URI fits, the
 * arguments must be a JSON object of strings, named as the template's
 * variables are; and the template filled in with them, each byte that is not a
 * letter or a digit encoded, must fit again.
 */
#include "base/span.h"
#include "server/template_impl.h"
#include "json/nav.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX = 1 << 20 };

static void require(bool fact)
{
    if (!fact)
        abort();
}

static void check_arguments(const fl_template *template, fl_span arguments)
{
    fl_json_top top;
    fl_json_walk walk;
    fl_json_member member;

    require(fl_json_scan(arguments, 0, &top, NULL) == FL_OK);
    require(fl_json_type_of(arguments) == FL_JSON_OBJECT);
    fl_json_walk_init(&walk, arguments);
    while (fl_json_walk_next(&walk, &member)) {
        require(fl_template_has(template, member.key));
        require(fl_json_type_of(member.value) == FL_JSON_STRING);
    }
}

static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z');
}

static void encode(fl_buf *out, fl_span token, bool many)
{
    fl_buf text;

    fl_buf_init(&text, MAX);
    require(fl_json_string_copy(token, &text) == FL_OK);
    fl_span value = fl_buf_view(&text);
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        require(c != '\0');
        bool plain = is_plain(c) || (many && c == '/');
        require(fl_buf_printf(out, plain ? "%c" : "%%%02X", (unsigned char)c) ==
                FL_OK);
    }
    fl_buf_reset(&text);
}

static void fill_place(fl_buf *out, const fl_template *template,
                       const fl_template_part *part, fl_span arguments)
{
    char begins = part->begins;

    for (size_t i = part->first; i < part->first + part->names; i++) {
        fl_span token = fl_json_get(arguments, template->names[i]);
        if (token.len == 0)
            continue;
        if (begins != '\0')
            require(fl_buf_append(out, (fl_span){&begins, 1}) == FL_OK);
        if (part->kind == FL_TEMPLATE_QUERY)
            require(fl_buf_printf(out, "%s=", template->names[i].ptr) == FL_OK);
        encode(out, token, part->many);
        begins = '&';
    }
}

static void check_again(const fl_template *template, fl_span arguments)
{
    fl_buf uri, again;

    fl_buf_init(&uri, MAX);
    fl_buf_init(&again, MAX);
    for (size_t i = 0; i < template->count; i++)
        if (template->parts[i].kind == FL_TEMPLATE_LITERAL)
            require(fl_buf_append(&uri, template->parts[i].text) == FL_OK);
        else
            fill_place(&uri, template, &template->parts[i], arguments);
    if (fl_buf_len(&uri) <= FL_TEMPLATE_BYTES) {
        require(fl_template_match(template, fl_buf_view(&uri), &again) ==
                FL_OK);
        check_arguments(template, fl_buf_view(&again));
    }
    fl_buf_reset(&again);
    fl_buf_reset(&uri);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fl_span text = {(const char *)data, size};
    size_t line = fl_span_find(text, '\n');
    fl_span uri = fl_span_from(text, line < size ? line + 1 : line);
    fl_template *template;
    fl_buf arguments;

    if (fl_template_new((fl_span){text.ptr, line}, &template, NULL) != FL_OK) {
        require(template == NULL);
        return 0;
    }
    fl_buf_init(&arguments, MAX);
    if (fl_template_match(template, uri, &arguments) == FL_OK) {
        check_arguments(template, fl_buf_view(&arguments));
        check_again(template, fl_buf_view(&arguments));
    } else {
        require(fl_buf_len(&arguments) == 0);
    }
    fl_buf_reset(&arguments);
    fl_template_free(template);
    return 0;
}
