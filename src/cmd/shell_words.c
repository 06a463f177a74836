/*
 * shell_words.c - a command written as one text, cut into its words.
 *
 * People write "npx -y server './my folder'" where others hand it to a shell.
 * A shell in between is one more process that outlives its child, and one more
 * reader of what was not meant for it; so the words are cut here, and where a
 * text really asks for a shell that is said rather than done wrong: "a | b"
 * must not start a with the arguments | and b.
 *
 * The trick is that a word is gathered in a buffer as long as the text: taking
 * quotes away never makes it longer.
 */
#include "cmd/shell_words.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"

#include <string.h>

/* Bare, a shell would do something about these. Not so about * ? and [, unless
 * a file happens to be named like that: "pkg[extra]" and "http://h/?a=1" are
 * what people write. */
static const char active[] = "$`|&;<>()";

/* And these need quotes to be read back. */
static const char quoted[] = "$`|&;<>()*?[]{}!~#\\'\" \t\r\n";

struct cutter {
    const char *at;
    char *word; /* room for all of the text */
    size_t len;
    bool begun; /* there is a word, perhaps an empty one */
    fl_error *error;
};

static void put(struct cutter *cutter, char byte)
{
    cutter->word[cutter->len++] = byte;
    cutter->begun = true;
}

static fl_status refuse_shell(struct cutter *cutter, char byte)
{
    return fl_error_set(cutter->error, FL_E_INVALID,
                        "'%c' in a command asks for a shell, and none is run: "
                        "put the command into a script and name that, or "
                        "quote the character if it is meant as it is",
                        byte);
}

static fl_status refuse_end(struct cutter *cutter, const char *what)
{
    return fl_error_set(cutter->error, FL_E_INVALID,
                        "a command ends in the middle of %s", what);
}

/* `at` is behind the opening quote. */
static fl_status cut_single(struct cutter *cutter)
{
    cutter->begun = true;
    for (; *cutter->at != '\''; cutter->at++) {
        if (*cutter->at == '\0')
            return refuse_end(cutter, "a text in '...'");
        put(cutter, *cutter->at);
    }
    cutter->at++;
    return FL_OK;
}

/* Inside "..." a backslash stands for itself, except before these. */
static void cut_escape_within(struct cutter *cutter)
{
    char next = cutter->at[1];

    if (next == '\n') { /* a line that goes on */
        cutter->at++;
        return;
    }
    if (next != '\0' && strchr("$`\"\\", next) != NULL)
        cutter->at++;
    put(cutter, *cutter->at);
}

static fl_status cut_double(struct cutter *cutter)
{
    cutter->begun = true;
    for (; *cutter->at != '"'; cutter->at++) {
        if (*cutter->at == '\0')
            return refuse_end(cutter, "a text in \"...\"");
        if (*cutter->at == '$' || *cutter->at == '`')
            return refuse_shell(cutter, *cutter->at);
        if (*cutter->at == '\\')
            cut_escape_within(cutter);
        else
            put(cutter, *cutter->at);
    }
    cutter->at++;
    return FL_OK;
}

static fl_status cut_escape(struct cutter *cutter)
{
    char next = *cutter->at;

    if (next == '\0')
        return refuse_end(cutter, "an escape: a backslash is the last of it");
    if (next != '\n')
        put(cutter, next);
    cutter->at++;
    return FL_OK;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* One byte that is no blank, or one quoted piece. */
static fl_status cut_piece(struct cutter *cutter)
{
    char byte = *cutter->at++;

    if (byte == '\'')
        return cut_single(cutter);
    if (byte == '"')
        return cut_double(cutter);
    if (byte == '\\')
        return cut_escape(cutter);
    if (strchr(active, byte) != NULL || (byte == '~' && !cutter->begun))
        return refuse_shell(cutter, byte);
    put(cutter, byte);
    return FL_OK;
}

static void end_word(struct cutter *cutter, fl_texts *words)
{
    if (cutter->begun)
        fl_texts_add_span(words, (fl_span){cutter->word, cutter->len});
    cutter->begun = false;
    cutter->len = 0;
}

/* NAME=value in front of a command is the shell's way to set a variable. */
static fl_status check_first(const fl_texts *words, fl_error *error)
{
    if (words->count == 0)
        return fl_error_set(error, FL_E_INVALID, "there is no command in it");
    const char *first = words->items[0], *equals = strchr(first, '=');
    if (equals == NULL || memchr(first, '/', (size_t)(equals - first)) != NULL)
        return FL_OK;
    return fl_error_set(error, FL_E_INVALID,
                        "'%s' in front of a command asks for a shell, and none "
                        "is run: set the variable before, or write env %s",
                        first, first);
}

static fl_status cut_all(struct cutter *cutter, fl_texts *words)
{
    fl_status rc = FL_OK;

    while (rc == FL_OK && *cutter->at != '\0') {
        if (is_blank(*cutter->at)) {
            end_word(cutter, words);
            cutter->at++;
        } else if (*cutter->at == '#' && !cutter->begun) {
            cutter->at += strcspn(cutter->at, "\n");
        } else {
            rc = cut_piece(cutter);
        }
    }
    end_word(cutter, words);
    return rc;
}

fl_status fl_shell_words(const char *text, fl_texts *words, fl_error *error)
{
    struct cutter cutter = {.at = text, .error = error};

    *words = (fl_texts){0};
    cutter.word = fl_mem_alloc(strlen(text) + 1);
    if (cutter.word == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    fl_status rc = cut_all(&cutter, words);
    fl_mem_free(cutter.word);
    if (rc == FL_OK && words->failed)
        rc = fl_error_set(error, FL_E_NOMEM, "out of memory");
    if (rc == FL_OK)
        rc = check_first(words, error);
    if (rc != FL_OK)
        fl_texts_deinit(words);
    return rc;
}

/* A quote itself leaves the quotes, is escaped, and enters them again. */
static size_t quote_into(const char *word, char *out)
{
    size_t len = 0;

    for (; *word != '\0'; word++) {
        const char *piece = *word == '\'' ? "'\\''" : word;
        size_t size = *word == '\'' ? 4 : 1;
        if (out != NULL)
            memcpy(out + len, piece, size);
        len += size;
    }
    return len;
}

char *fl_shell_quote(const char *word)
{
    if (*word != '\0' && strpbrk(word, quoted) == NULL)
        return fl_mem_string(fl_span_of(word));
    size_t len = quote_into(word, NULL);
    char *out = fl_mem_alloc(len + 3);
    if (out == NULL)
        return NULL;
    out[0] = '\'';
    quote_into(word, out + 1);
    out[len + 1] = '\'';
    out[len + 2] = '\0';
    return out;
}
