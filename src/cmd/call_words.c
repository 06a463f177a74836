/*
 * call_words.c - arguments that are text whatever they look like.
 *
 * They are read as those of a tool are, so that files and whole objects can be
 * given for them, too; then what is no string becomes one: the text it was.
 */
#include "cmd/call_words.h"

#include "base/span.h"
#include "base/status.h"
#include "cmd/json_args.h"
#include "json/nav.h"
#include "json/unescape.h"

#include <string.h>

static fl_status add(fl_buf *to, fl_span part)
{
    return fl_buf_append(to, part);
}

static fl_status add_member(fl_buf *to, const fl_json_member *member)
{
    bool text = fl_json_type_of(member->value) == FL_JSON_STRING;
    /* what is JSON and no string, object or array has nothing to escape */
    fl_span quote = text ? FL_SPAN("") : FL_SPAN("\"");
    fl_span parts[] = {fl_buf_len(to) > 1 ? FL_SPAN(",\"") : FL_SPAN("\""),
                       member->key,
                       FL_SPAN("\":"),
                       quote,
                       member->value,
                       quote};
    fl_status rc = FL_OK;

    for (size_t i = 0; rc == FL_OK && i < sizeof parts / sizeof *parts; i++)
        rc = add(to, parts[i]);
    return rc;
}

static bool is_plain(fl_span value)
{
    fl_json_type type = fl_json_type_of(value);

    return type != FL_JSON_OBJECT && type != FL_JSON_ARRAY;
}

/* The members from the `skip`-th on. */
static fl_status add_texts(fl_span object, size_t skip, fl_buf *to,
                           fl_error *error)
{
    fl_json_walk walk;
    fl_json_member member;
    fl_status rc = add(to, FL_SPAN("{"));

    fl_json_walk_init(&walk, object);
    while (rc == FL_OK && fl_json_walk_next(&walk, &member)) {
        if (skip > 0) {
            skip--;
            continue;
        }
        if (!is_plain(member.value))
            return fl_error_set(error, FL_E_INVALID,
                                "argument '%.*s': want text, as in %.*s:=...",
                                (int)member.key.len, member.key.ptr,
                                (int)member.key.len, member.key.ptr);
        rc = add_member(to, &member);
    }
    if (rc == FL_OK)
        rc = add(to, FL_SPAN("}"));
    return rc == FL_OK ? rc : fl_error_set(error, rc, "out of memory");
}

fl_status fl_call_words_texts(const fl_words *words, fl_call_line *line,
                              fl_error *error)
{
    fl_buf json;

    fl_buf_init(&json, FL_JSON_ARGS_MAX);
    fl_status rc = fl_json_args(words->word, words->count, &json, error);
    if (rc == FL_OK)
        rc = add_texts(fl_buf_view(&json), 0, &line->arguments, error);
    fl_buf_reset(&json);
    return rc;
}

static fl_status take_first(fl_span object, fl_call_line *line, fl_error *error)
{
    fl_json_walk walk;
    fl_json_member first;

    fl_json_walk_init(&walk, object);
    if (!fl_json_walk_next(&walk, &first) || !is_plain(first.value))
        return fl_error_set(error, FL_E_INVALID,
                            "complete which argument? Want argument=begin");
    bool text = fl_json_type_of(first.value) == FL_JSON_STRING;
    fl_status rc = fl_json_unescape(first.key, &line->argument);
    if (rc == FL_OK)
        rc = text ? fl_json_string_copy(first.value, &line->value)
                  : add(&line->value, first.value);
    return rc == FL_OK ? rc : fl_error_set(error, rc, "out of memory");
}

fl_status fl_call_words_completion(const fl_words *words, fl_call_line *line,
                                   fl_error *error)
{
    fl_buf json;

    fl_buf_init(&json, FL_JSON_ARGS_MAX);
    fl_status rc = fl_json_args(words->word, words->count, &json, error);
    if (rc == FL_OK)
        rc = take_first(fl_buf_view(&json), line, error);
    if (rc == FL_OK && words->count > 1)
        rc = add_texts(fl_buf_view(&json), 1, &line->arguments, error);
    fl_buf_reset(&json);
    return rc;
}
