/*
 * mime.c - what a file is, by its name.
 *
 * A small table, on purpose: what a model or a person is likely to be given.
 * The system's own list differs from machine to machine, and so would what
 * clients are told. docs/files.md repeats it.
 */
#include "server/mime.h"

#include "base/span.h"

#include <strings.h>

static const fl_mime by_extension[] = {
    {"txt", "text/plain", true},
    {"log", "text/plain", true},
    {"conf", "text/plain", true},
    {"ini", "text/plain", true},
    {"md", "text/markdown", true},
    {"markdown", "text/markdown", true},
    {"html", "text/html", true},
    {"htm", "text/html", true},
    {"css", "text/css", true},
    {"csv", "text/csv", true},
    {"tsv", "text/tab-separated-values", true},
    {"js", "text/javascript", true},
    {"mjs", "text/javascript", true},
    {"ts", "text/x-typescript", true},
    {"py", "text/x-python", true},
    {"c", "text/x-c", true},
    {"h", "text/x-c", true},
    {"cc", "text/x-c++", true},
    {"cpp", "text/x-c++", true},
    {"hpp", "text/x-c++", true},
    {"rs", "text/x-rust", true},
    {"go", "text/x-go", true},
    {"java", "text/x-java", true},
    {"rb", "text/x-ruby", true},
    {"sh", "text/x-shellscript", true},
    {"sql", "text/x-sql", true},
    {"diff", "text/x-diff", true},
    {"patch", "text/x-diff", true},
    {"json", "application/json", true},
    {"yaml", "application/yaml", true},
    {"yml", "application/yaml", true},
    {"toml", "application/toml", true},
    {"xml", "application/xml", true},
    {"svg", "image/svg+xml", true},
    {"png", "image/png", false},
    {"jpg", "image/jpeg", false},
    {"jpeg", "image/jpeg", false},
    {"gif", "image/gif", false},
    {"webp", "image/webp", false},
    {"ico", "image/x-icon", false},
    {"wav", "audio/wav", false},
    {"mp3", "audio/mpeg", false},
    {"ogg", "audio/ogg", false},
    {"mp4", "video/mp4", false},
    {"webm", "video/webm", false},
    {"pdf", "application/pdf", false},
    {"zip", "application/zip", false},
    {"gz", "application/gzip", false},
    {"tar", "application/x-tar", false},
    {"wasm", "application/wasm", false},
    {NULL, NULL, false},
};

static const fl_mime by_name[] = {
    {"README", "text/plain", true},
    {"LICENSE", "text/plain", true},
    {"COPYING", "text/plain", true},
    {"NOTICE", "text/plain", true},
    {"AUTHORS", "text/plain", true},
    {"CHANGELOG", "text/plain", true},
    {"Makefile", "text/plain", true},
    {"Dockerfile", "text/plain", true},
    {NULL, NULL, false},
};

static const fl_mime *find(const fl_mime *row, fl_span name)
{
    for (; row->name != NULL; row++) {
        fl_span key = fl_span_of(row->name);
        if (key.len == name.len && strncasecmp(key.ptr, name.ptr, key.len) == 0)
            return row;
    }
    return NULL;
}

/* What follows the last of these, or all of it. */
static fl_span after_last(fl_span text, char byte)
{
    for (size_t i = text.len; i > 0; i--)
        if (text.ptr[i - 1] == byte)
            return fl_span_from(text, i);
    return text;
}

const fl_mime *fl_mime_of(fl_span path)
{
    fl_span name = after_last(path, '/');
    fl_span extension = after_last(name, '.');

    return extension.len == name.len ? find(by_name, name)
                                     : find(by_extension, extension);
}
