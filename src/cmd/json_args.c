/*
 * json_args.c - a tool's arguments, from what somebody typed.
 *
 * A shell takes quotes away, so that text=hello must mean a string although
 * hello is not JSON. The rule is one that can be kept in mind: what is JSON
 * is JSON, everything else is text, and := is there for text that happens to
 * be JSON, such as a code that starts with zeroes or the word true.
 */
#include "cmd/json_args.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "base/utf8.h"
#include "cmd/slurp.h"
#include "json/scan.h"
#include "json/write.h"

struct pair {
    fl_span key;
    const char *value; /* to the end of the word */
    bool forced;       /* := was used: a string, whatever it looks like */
};

static fl_status split(const char *word, struct pair *out, fl_error *error)
{
    fl_span all = fl_span_of(word);
    size_t at = fl_span_find(all, '=');

    *out = (struct pair){.value = ""};
    if (at == all.len || at == 0 || (at == 1 && word[0] == ':'))
        return fl_error_set(error, FL_E_INVALID,
                            "argument '%s' is not key=value; want a=2, "
                            "text=hello, code:=007 or '{\"a\":2}'",
                            word);
    out->forced = word[at - 1] == ':';
    out->key = (fl_span){word, out->forced ? at - 1 : at};
    out->value = word + at + 1;
    if (!fl_utf8_valid(all))
        return fl_error_set(error, FL_E_BAD_TEXT,
                            "argument '%s' is not valid UTF-8", word);
    return FL_OK;
}

static fl_status write_file(fl_json_writer *writer, const char *path,
                            fl_error *error)
{
    fl_buf text;

    fl_buf_init(&text, FL_JSON_ARGS_MAX);
    fl_status rc = fl_slurp(path, &text, error);
    if (rc == FL_OK && !fl_utf8_valid(fl_buf_view(&text)))
        rc = fl_error_set(error, FL_E_BAD_TEXT,
                          "'%s' is not UTF-8 text, and so cannot be an "
                          "argument",
                          path);
    if (rc == FL_OK)
        fl_json_text(writer, fl_buf_view(&text));
    fl_buf_reset(&text);
    return rc;
}

static fl_status write_value(fl_json_writer *writer, const struct pair *pair,
                             fl_error *error)
{
    fl_span text = fl_span_of(pair->value);
    fl_json_top top;

    if (!pair->forced && pair->value[0] == '@')
        return write_file(writer, pair->value + 1, error);
    if (!pair->forced && fl_json_scan(text, 0, &top, NULL) == FL_OK)
        fl_json_raw(writer, top.value);
    else
        fl_json_text(writer, text);
    return FL_OK;
}

/* Two values for one key would leave the choice to the server. */
static bool is_repeated(char *const *words, size_t index, fl_span key)
{
    struct pair other;

    for (size_t i = 0; i < index; i++)
        if (split(words[i], &other, NULL) == FL_OK &&
            fl_span_equal(other.key, key))
            return true;
    return false;
}

static fl_status write_pair(fl_json_writer *writer, char *const *words,
                            size_t index, fl_error *error)
{
    struct pair pair;
    fl_status rc = split(words[index], &pair, error);

    if (rc != FL_OK)
        return rc;
    if (is_repeated(words, index, pair.key))
        return fl_error_set(error, FL_E_INVALID,
                            "argument '%.*s' is given twice", (int)pair.key.len,
                            pair.key.ptr);
    char *key = fl_mem_string(pair.key);
    if (key == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    fl_json_key(writer, key);
    fl_mem_free(key);
    return write_value(writer, &pair, error);
}

/* The whole object, as typed or as read. */
static fl_status take_whole(fl_span text, const char *from, fl_buf *json,
                            fl_error *error)
{
    fl_json_top top;
    size_t at;
    fl_status rc = fl_json_scan(text, 0, &top, &at);

    if (rc != FL_OK)
        return fl_error_set(error, FL_E_INVALID,
                            "the arguments from %s are %s (at byte %zu)", from,
                            fl_status_text(rc), at);
    if (top.type != FL_JSON_OBJECT)
        return fl_error_set(error, FL_E_INVALID,
                            "the arguments from %s are not a JSON object; "
                            "want {\"name\": value, ...}",
                            from);
    rc = fl_buf_append(json, top.value);
    return rc == FL_OK
               ? rc
               : fl_error_set(error, rc, "arguments: %s", fl_status_text(rc));
}

static fl_status take_stdin(fl_buf *json, fl_error *error)
{
    fl_buf text;

    fl_buf_init(&text, FL_JSON_ARGS_MAX);
    fl_status rc = fl_slurp("-", &text, error);
    if (rc == FL_OK)
        rc = take_whole(fl_buf_view(&text), "stdin", json, error);
    fl_buf_reset(&text);
    return rc;
}

fl_status fl_json_args(char *const *words, size_t count, fl_buf *json,
                       fl_error *error)
{
    fl_json_writer writer;
    fl_status rc = FL_OK;

    if (count == 1 && words[0][0] == '{')
        return take_whole(fl_span_of(words[0]), "the command line", json,
                          error);
    if (count == 1 && words[0][0] == '-' && words[0][1] == '\0')
        return take_stdin(json, error);
    fl_json_writer_init(&writer, json);
    fl_json_object(&writer);
    for (size_t i = 0; i < count && rc == FL_OK; i++)
        rc = write_pair(&writer, words, i, error);
    if (rc != FL_OK)
        return rc;
    fl_json_object_end(&writer);
    rc = fl_json_writer_end(&writer);
    return rc == FL_OK
               ? rc
               : fl_error_set(error, rc, "arguments: %s", fl_status_text(rc));
}
