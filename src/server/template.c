/*
 * template.c - URI templates, understood.
 *
 * A template is cut into parts: literals, and places where variables stood.
 * What makes it readable backwards is decided here, once: each place learns
 * which bytes end it, so that of two places side by side the first never holds
 * the byte that the second begins with. Places that nothing tells apart are
 * refused. The reading itself is template_match.c.
 *
 * RFC 6570 has everything reserved encoded in {var}; people who write URIs by
 * hand do not. So {var} holds whatever ends neither a segment nor a parameter,
 * as it does in the templates of other servers.
 *
 * All lies in one block with a copy of the text. Behind a name there is always
 * a byte that nobody needs once it has been read: it becomes the name's NUL.
 */
#include "server/template.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "server/template_impl.h"
#include "json/nav.h"

#include <string.h>

enum { VARIABLES = FL_TEMPLATE_VARIABLES };

struct reader {
    fl_template *template;
    char *text; /* the copy */
    size_t len;
    size_t at;
    fl_error *error;
};

static fl_status refuse(const struct reader *reader, size_t at, const char *why)
{
    return fl_error_set(reader->error, FL_E_INVALID, "template, byte %zu: %s",
                        at, why);
}

static fl_template_part *last_part(const fl_template *template)
{
    return template->count > 0 ? &template->parts[template->count - 1] : NULL;
}

static bool is_name_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z') || c == '_';
}

/* RFC 6570, 2.3, without percent codes: dots stand between others. */
static bool is_name(fl_span name)
{
    bool open = true; /* at the start, or after a dot */

    for (size_t i = 0; i < name.len; i++) {
        bool dot = name.ptr[i] == '.';
        if (dot ? open : !is_name_byte(name.ptr[i]))
            return false;
        open = dot;
    }
    return !open;
}

/* RFC 6570, 2.1. */
static bool is_literal(char c)
{
    return (unsigned char)c > ' ' && c != 0x7f &&
           strchr("\"'<>\\^`{|}", c) == NULL;
}

/* Bytes from `at` on that are a literal, percent codes whole. */
static size_t measure_literal(const struct reader *reader)
{
    const char *text = reader->text;
    size_t n = reader->at;

    while (n < reader->len && is_literal(text[n])) {
        if (text[n] == '%' &&
            (reader->len - n < 3 || !fl_template_is_hex(text[n + 1]) ||
             !fl_template_is_hex(text[n + 2])))
            break;
        n++;
    }
    return n - reader->at;
}

static fl_status read_literal(struct reader *reader)
{
    const fl_template_part *last = last_part(reader->template);
    fl_span text = {reader->text + reader->at, measure_literal(reader)};

    if (text.len == 0)
        return refuse(reader, reader->at, "neither a literal nor a variable");
    if (last != NULL && last->kind == FL_TEMPLATE_QUERY && text.ptr[0] != '#')
        return refuse(reader, reader->at, "only a fragment follows a query");
    if (last != NULL && last->begins == '#')
        return refuse(reader, reader->at, "nothing follows a fragment");
    reader->template->parts[reader->template->count++] =
        (fl_template_part){.kind = FL_TEMPLATE_LITERAL, .text = text};
    reader->at += text.len;
    return FL_OK;
}

/* What ends a value whose sign this is, whatever comes after it. */
static unsigned ends_of(char sign, bool many)
{
    unsigned segment = fl_template_bit('/');

    switch (sign) {
    case '+':
    case '#':
        return 0;
    case '?':
    case '&':
        return fl_template_bit('#');
    default:
        return (many ? 0 : segment) | fl_template_bit('?') |
               fl_template_bit('&') | fl_template_bit('#');
    }
}

/* Why a place with this sign cannot come next, or NULL. */
static const char *check_neighbour(const fl_template *template, char sign)
{
    const fl_template_part *last = last_part(template);

    if (last == NULL || last->kind == FL_TEMPLATE_LITERAL)
        return NULL;
    if (last->begins == '#')
        return "nothing follows a fragment";
    if (last->kind == FL_TEMPLATE_QUERY)
        return sign == '#' || sign == '&' ? NULL
                                          : "only a fragment follows a query";
    if (sign == ' ' || sign == '+')
        return "nothing tells this variable from the one before it";
    return sign == '/' && last->many
               ? "nothing tells this segment from those before it"
               : NULL;
}

static void add_place(fl_template *template, char sign, bool many)
{
    bool query = sign == '?' || sign == '&';
    fl_template_part *last = last_part(template);

    if (sign == '&' && last != NULL && last->kind == FL_TEMPLATE_QUERY) {
        last->names++; /* {?a}{&b} is {?a,b} */
        return;
    }
    template->parts[template->count++] = (fl_template_part){
        .kind = query ? FL_TEMPLATE_QUERY : FL_TEMPLATE_VALUE,
        .begins = sign == ' ' || sign == '+' ? '\0' : sign,
        .many = many,
        .ends = ends_of(sign, many),
        .first = template->variables - 1,
        .names = 1,
    };
}

/* One of the names between braces; the byte behind it is ours. */
static fl_status read_name(struct reader *reader, char sign)
{
    fl_template *template = reader->template;
    char *start = reader->text + reader->at;
    fl_span name = {start, 0};
    const char *wrong = check_neighbour(template, sign);

    while (name.len < reader->len - reader->at &&
           (is_name_byte(start[name.len]) || start[name.len] == '.'))
        name.len++;
    if (!is_name(name))
        return refuse(reader, reader->at, "not the name of a variable");
    if (wrong != NULL)
        return refuse(reader, reader->at, wrong);
    if (fl_template_has(template, name))
        return refuse(reader, reader->at, "the variable is there twice");
    if (template->variables == VARIABLES)
        return fl_error_set(reader->error, FL_E_TOO_BIG,
                            "template: more than %d variables", VARIABLES);
    template->names[template->variables++] = name;
    reader->at += name.len;
    bool many = sign == '/' && reader->at < reader->len &&
                reader->text[reader->at] == '*';
    reader->at += many;
    add_place(template, sign, many);
    return FL_OK;
}

/* What is between braces. Of {?a,b} all but the first are like {&b}. */
static fl_status read_expression(struct reader *reader)
{
    char sign = ' ';
    fl_status rc = FL_OK;

    reader->at++;
    if (reader->at < reader->len && reader->text[reader->at] != '\0' &&
        strchr("+#/.?&", reader->text[reader->at]) != NULL)
        sign = reader->text[reader->at++];
    rc = read_name(reader, sign);
    if (sign == '?')
        sign = '&';
    while (rc == FL_OK && reader->at < reader->len &&
           reader->text[reader->at] == ',') {
        reader->at++;
        rc = read_name(reader, sign);
    }
    if (rc != FL_OK)
        return rc;
    if (reader->at == reader->len || reader->text[reader->at] != '}')
        return refuse(reader, reader->at, "cannot be read backwards");
    reader->at++;
    return FL_OK;
}

/* What comes later ends what came before: the byte that the next place begins
 * with, and that of every one after it up to a literal, for a place may be
 * left out; and a query or a fragment wherever it is. */
static void find_ends(fl_template *template)
{
    unsigned next = 0, later = 0;

    for (size_t i = template->count; i-- > 0;) {
        fl_template_part *part = &template->parts[i];
        unsigned begins = fl_template_bit(part->begins);
        part->ends |= next | later;
        next = part->kind == FL_TEMPLATE_LITERAL ? 0 : next | begins;
        if (part->kind == FL_TEMPLATE_QUERY)
            later |= begins | fl_template_bit('#');
        else if (part->begins == '#')
            later |= begins;
    }
}

static fl_status read_all(struct reader *reader)
{
    fl_template *template = reader->template;
    fl_status rc = FL_OK;

    while (rc == FL_OK && reader->at < reader->len)
        rc = reader->text[reader->at] == '{' ? read_expression(reader)
                                             : read_literal(reader);
    if (rc != FL_OK)
        return rc;
    find_ends(template);
    for (size_t i = 0; i < template->variables; i++) {
        fl_span name = template->names[i];
        reader->text[(size_t)(name.ptr - reader->text) + name.len] = '\0';
    }
    return FL_OK;
}

/* The block, with room for as many parts as there can be; false: no memory. */
static bool make(struct reader *reader, fl_span text)
{
    size_t names = 0;

    for (size_t i = 0; i < text.len && names < VARIABLES; i++)
        names += text.ptr[i] == '{' || text.ptr[i] == ',';
    size_t parts = 2 * names + 1;
    size_t before = sizeof(fl_template) + parts * sizeof(fl_template_part) +
                    names * sizeof(fl_span);
    fl_template *made = fl_mem_zalloc(before + text.len);
    if (made == NULL)
        return false;
    reader->text = memcpy((char *)made + before, text.ptr, text.len);
    reader->len = text.len;
    reader->template = made;
    made->parts = (fl_template_part *)(made + 1);
    made->names = (fl_span *)(made->parts + parts);
    return true;
}

fl_status fl_template_new(fl_span text, fl_template **out, fl_error *error)
{
    struct reader reader = {.error = error};

    *out = NULL;
    if (text.len > FL_TEMPLATE_BYTES)
        return fl_error_set(error, FL_E_TOO_BIG, "template: more than %d bytes",
                            FL_TEMPLATE_BYTES);
    if (text.len == 0)
        return fl_error_set(error, FL_E_INVALID, "template: empty");
    if (!make(&reader, text))
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    fl_status rc = read_all(&reader);
    if (rc != FL_OK)
        fl_template_free(reader.template);
    else
        *out = reader.template;
    return rc;
}

void fl_template_free(fl_template *template)
{
    fl_mem_free(template);
}

bool fl_template_has(const fl_template *template, fl_span name)
{
    for (size_t i = 0; i < template->variables; i++)
        if (fl_span_equal(template->names[i], name))
            return true;
    return false;
}

bool fl_template_has_token(const fl_template *template, fl_span token)
{
    for (size_t i = 0; i < template->variables; i++)
        if (fl_json_string_is(token, template->names[i]))
            return true;
    return false;
}
