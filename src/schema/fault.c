/*
 * fault.c - what was wrong, said to people.
 *
 * Made only for the fault that counts: while a trial is on, such as one branch
 * of an anyOf, failing is ordinary and costs nothing.
 */
#include "base/span.h"
#include "base/status.h"
#include "schema/check.h"
#include "json/unescape.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

typedef struct writer {
    char *out;
    size_t len, size;
    bool cut;
} writer;

static void put(writer *w, const char *bytes, size_t len)
{
    w->cut |= len > w->size - 1 - w->len;
    if (w->cut)
        return;
    memcpy(w->out + w->len, bytes, len);
    w->len += len;
}

/* As it is meant; as it is written if there is no memory for that. */
static void put_key(writer *w, fl_buf *scratch, fl_span key)
{
    fl_buf_clear(scratch);
    if (fl_span_find(key, '\\') < key.len &&
        fl_json_unescape(key, scratch) == FL_OK)
        key = fl_buf_view(scratch);
    for (size_t i = 0; i < key.len; i++) {
        char byte = key.ptr[i];
        if (byte == '~' || byte == '/')
            put(w, byte == '~' ? "~0" : "~1", 2);
        else
            put(w, &byte, 1);
    }
}

/* From the outside in, which is against the links: turned around first. The
 * deepest steps of a path too long for the fault are left out anyhow. */
static void write_path(const fl_check *check, char *out, size_t size)
{
    fl_buf *scratch = &check->work.schema->scratch->text;
    const size_t most = FL_SCHEMA_PATH / 2; /* a step has two bytes at least */
    const fl_path *path = check->path, *steps[FL_SCHEMA_PATH / 2];
    writer w = {.out = out, .size = size - sizeof "..."};
    size_t count = 0;

    for (; path != NULL; path = path->parent)
        steps[count++ % most] = path;
    for (size_t i = 0; i < count && i < most; i++) {
        const fl_path *step = steps[(count - 1 - i) % most];
        char number[24];
        put(&w, "/", 1);
        if (step->key.ptr != NULL) {
            put_key(&w, scratch, step->key);
        } else {
            int len = snprintf(number, sizeof number, "%zu", step->index);
            put(&w, number, (size_t)len);
        }
    }
    out[w.len] = '\0';
    if (w.cut || count > most)
        memcpy(out + w.len, "...", sizeof "...");
}

static void fill(fl_check *check, const char *keyword, const char *text)
{
    fl_schema_fault *fault = check->fault;
    fl_error clean;

    write_path(check, fault->path, sizeof fault->path);
    fault->keyword = keyword;
    /* it knows how to make text fit for a terminal */
    fl_error_set(&clean, FL_E_INVALID, "%s", fault->path);
    memcpy(fault->path, clean.text, strlen(clean.text) + 1);
    fl_error_set(&clean, FL_E_INVALID, "%s%s%s: %s", fault->path,
                 fault->path[0] != '\0' ? ": " : "", keyword, text);
    static_assert(sizeof fault->text == sizeof clean.text, "copied as it is");
    memcpy(fault->text, clean.text, sizeof fault->text);
}

fl_status fl_check_fail(fl_check *check, const char *keyword,
                        const char *format, ...)
{
    char text[200];
    va_list args;

    if (check->quiet > 0 || check->fault == NULL)
        return FL_E_INVALID;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fill(check, keyword, text);
    return FL_E_INVALID;
}

fl_status fl_check_limit(fl_check *check)
{
    if (check->fault != NULL)
        fill(check, "limit",
             check->depth == 0 ? "schemas are nested too deeply here"
                               : "checking takes more work than is allowed");
    return FL_E_LIMIT;
}
