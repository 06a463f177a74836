/*
 * jsonc.c - JSON as people write it made JSON as it is defined.
 *
 * One pass that knows strings and remembers two things: the last byte that
 * meant something, and the comma that may yet turn out to be one too many. A
 * comma counts as that only behind a value: "[,]" stays the mistake it is.
 */
#include "config/jsonc.h"

#include "json/token.h"

typedef struct blanker {
    char *at;
    char *end;
    char *comma; /* the last thing that meant something, if a comma may go */
    char before; /* the last byte that meant something; 0: none yet */
} blanker;

/* Moves past the closing quote, or to the end. */
static void pass_string(blanker *b)
{
    for (b->at++; b->at < b->end && *b->at != '"'; b->at++)
        if (*b->at == '\\' && b->end - b->at > 1)
            b->at++;
    if (b->at < b->end)
        b->at++;
}

/* A line's end stays, for somebody will count lines. */
static void wipe(char *from, const char *to)
{
    for (; from < to; from++)
        if (*from != '\n' && *from != '\r')
            *from = ' ';
}

static bool begins(const blanker *b, char second)
{
    return b->end - b->at > 1 && b->at[0] == '/' && b->at[1] == second;
}

static void blank_line(blanker *b)
{
    char *from = b->at;

    while (b->at < b->end && *b->at != '\n' && *b->at != '\r')
        b->at++;
    wipe(from, b->at);
}

static bool blank_block(blanker *b)
{
    char *from = b->at;

    for (b->at += 2; b->end - b->at > 1; b->at++)
        if (b->at[0] == '*' && b->at[1] == '/') {
            b->at += 2;
            wipe(from, b->at);
            return true;
        }
    b->at = from;
    return false;
}

static void pass_byte(blanker *b)
{
    char byte = *b->at;
    bool after_value = b->before != 0 && strchr("[{,:", b->before) == NULL;

    if ((byte == ']' || byte == '}') && b->comma != NULL)
        *b->comma = ' ';
    b->comma = byte == ',' && after_value ? b->at : NULL;
    b->before = byte;
    if (byte == '"')
        pass_string(b);
    else
        b->at++;
}

fl_status fl_jsonc_blank(char *text, size_t len, size_t *at)
{
    blanker b = {.before = 0};

    b.at = text;
    b.end = text + len;
    *at = 0;
    while (b.at < b.end) {
        if (fl_json_is_space(*b.at)) {
            b.at++;
        } else if (begins(&b, '/')) {
            blank_line(&b);
        } else if (begins(&b, '*')) {
            if (!blank_block(&b)) {
                *at = (size_t)(b.at - text);
                return FL_E_BAD_JSON;
            }
        } else {
            pass_byte(&b);
        }
    }
    return FL_OK;
}
