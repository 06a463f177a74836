/*
 * skill.c - one skill, read: what its head says, and what its files are.
 *
 * A client compares what we say with what it then reads, byte for byte and
 * field for field. So each file is read whole for its digest and its size,
 * and what the head says is told as it stands; only what is no skill by the
 * rules is refused, before anybody is told of it.
 */
#include "server/skill.h"

#include "base/span.h"
#include "base/status.h"
#include "io/digest.h"
#include "io/file.h"
#include "server/paths.h"
#include "json/nav.h"
#include "json/write.h"
#include "json/yaml.h"

#include <stdio.h>

enum {
    URI_MAX = 4 * FL_BELOW_PATH_MAX,
    FRONT_MAX = 1024 * 1024,
    TEXT_MAX = 64 * 1024,
};

bool fl_skill_is_name(fl_span name)
{
    char before = '-';

    if (name.len > FL_SKILL_NAME_MAX)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char byte = name.ptr[i];
        bool plain =
            (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
        if (!plain && (byte != '-' || before == '-'))
            return false;
        before = byte;
    }
    return before != '-';
}

/* The next line without its end; false when there is none. */
static bool take_line(fl_span *text, fl_span *line)
{
    if (text->len == 0)
        return false;
    size_t end = fl_span_find(*text, '\n');
    *line = (fl_span){text->ptr, end};
    *text = fl_span_from(*text, end < text->len ? end + 1 : end);
    return true;
}

/* Three hyphens and nothing but white space. */
static bool is_fence(fl_span line)
{
    if (!fl_span_starts(line, FL_SPAN("---")))
        return false;
    for (size_t i = 3; i < line.len; i++)
        if (line.ptr[i] != ' ' && line.ptr[i] != '\t' && line.ptr[i] != '\r')
            return false;
    return true;
}

bool fl_skill_front(fl_span text, fl_span *yaml)
{
    fl_span line;

    *yaml = (fl_span){0};
    if (fl_span_starts(text, FL_SPAN("\xEF\xBB\xBF"))) /* a byte order mark */
        text = fl_span_from(text, 3);
    if (!take_line(&text, &line) || !is_fence(line))
        return false;
    const char *begin = text.ptr;
    while (take_line(&text, &line)) {
        if (!is_fence(line))
            continue;
        *yaml = (fl_span){begin, (size_t)(line.ptr - begin)};
        return true;
    }
    return false;
}

fl_status fl_skill_uri(fl_span path, fl_buf *out)
{
    fl_status rc = fl_buf_append(out, FL_SPAN(FL_SKILL_SCHEME));

    if (rc == FL_OK)
        rc = fl_paths_encode(path, out);
    return rc == FL_OK ? fl_buf_append(out, (fl_span){"", 1}) : rc;
}

static void write_uri(fl_json_writer *writer, fl_span path)
{
    fl_buf uri;

    fl_buf_init(&uri, URI_MAX);
    fl_json_key(writer, "uri");
    /* what is not written is missed at the end */
    if (fl_skill_uri(path, &uri) == FL_OK)
        fl_json_string(writer, fl_buf_view(&uri).ptr);
    fl_buf_reset(&uri);
}

static void write_digest(fl_json_writer *writer,
                         const unsigned char digest[FL_SHA256])
{
    char text[sizeof "sha256:" + (size_t)2 * FL_SHA256];
    int at = snprintf(text, sizeof text, "sha256:");

    for (size_t i = 0; i < FL_SHA256; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%02x", digest[i]);
    fl_json_key(writer, "digest");
    fl_json_string(writer, text);
}

/* What is being read. */
typedef struct reading {
    const fl_skill_source *source;
    fl_skill_entry *entry;
    fl_error *error;
    fl_json_writer writer;
    size_t files;
    size_t left; /* bytes, of all it may have */
} reading;

static fl_status refuse(const reading *r, fl_status rc, const char *why)
{
    return fl_error_set(r->error, rc, "%s", why);
}

/* A file of it, whole; as much as is left. */
static fl_status slurp(const reading *r, const char *path, fl_buf *bytes)
{
    fl_file_place place = {
        .root = r->source->root,
        .path = path,
        .max = r->left,
    };
    fl_status rc = fl_file_slurp(&place, bytes);

    if (rc == FL_E_TOO_BIG)
        return refuse(r, rc, "its files have more than 16 MiB together");
    return rc == FL_OK ? rc
                       : fl_error_set(r->error, rc, "'%.128s': %s", path,
                                      fl_status_text(rc));
}

static fl_status add_file(reading *r, const char *path)
{
    unsigned char digest[FL_SHA256];
    fl_buf bytes;

    if (r->files++ == FL_SKILL_FILES)
        return refuse(r, FL_E_TOO_BIG, "it has more than 512 files");
    fl_status rc = slurp(r, path, &bytes);
    if (rc == FL_OK)
        rc = fl_sha256(fl_buf_view(&bytes), digest);
    if (rc == FL_OK) {
        r->left -= fl_buf_len(&bytes);
        fl_json_object(&r->writer);
        write_uri(&r->writer, fl_span_of(path));
        write_digest(&r->writer, digest);
        fl_json_key(&r->writer, "size");
        fl_json_integer(&r->writer, (int64_t)fl_buf_len(&bytes));
        fl_json_object_end(&r->writer);
    }
    fl_buf_reset(&bytes);
    return rc;
}

/* The path of something in this skill: its name, a slash and the rest. */
static bool is_inside(fl_span path, fl_span name)
{
    return fl_span_starts(path, name) && path.len > name.len &&
           path.ptr[name.len] == '/';
}

static fl_status add_files(reading *r)
{
    const fl_manifest *files = r->source->files;
    fl_status rc = FL_OK;

    for (size_t i = 0; i < files->count && rc == FL_OK; i++)
        if (!files->items[i].is_directory &&
            is_inside(fl_span_of(files->items[i].path), r->source->name))
            rc = add_file(r, files->items[i].path);
    return rc;
}

static size_t count_characters(fl_span text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    return count;
}

/* The description, as what SKILL.md is listed with. */
static fl_status take_description(reading *r, fl_span front)
{
    fl_span token = fl_json_get(front, FL_SPAN("description"));
    fl_buf *text = &r->entry->description;

    if (fl_json_type_of(token) != FL_JSON_STRING || token.len == 2)
        return refuse(r, FL_E_INVALID, "it has no description");
    fl_status rc = fl_json_string_copy(token, text);
    size_t characters = count_characters(fl_buf_view(text));
    if (rc == FL_E_TOO_BIG ||
        (rc == FL_OK && characters > FL_SKILL_DESCRIPTION_MAX))
        return refuse(r, FL_E_INVALID,
                      "its description has more than 1024 characters");
    return rc == FL_OK ? fl_buf_append(text, (fl_span){"", 1}) : rc;
}

static fl_status check_front(reading *r, fl_span front)
{
    if (fl_json_type_of(front) != FL_JSON_OBJECT)
        return refuse(r, FL_E_INVALID, "its head is no mapping");
    if (!fl_json_string_is(fl_json_get(front, FL_SPAN("name")),
                           r->source->name))
        return refuse(r, FL_E_INVALID, "its name is not that of its directory");
    return take_description(r, front);
}

static fl_status convert_front(const reading *r, fl_span text, fl_buf *front)
{
    fl_error why = {.status = FL_OK};
    fl_span yaml;

    if (!fl_skill_front(text, &yaml))
        return refuse(r, FL_E_INVALID,
                      "SKILL.md does not begin with ---, "
                      "some YAML, and --- again");
    fl_status rc = fl_yaml_to_json(yaml, front, &why);
    return rc == FL_OK ? rc
                       : fl_error_set(r->error, rc, "its head, %s", why.text);
}

/* Its SKILL.md: what it says of itself. */
static fl_status read_front(reading *r, fl_buf *front)
{
    char path[FL_SKILL_NAME_MAX + sizeof "/" FL_SKILL_FILE];
    fl_buf text;

    snprintf(path, sizeof path, "%.*s/" FL_SKILL_FILE, (int)r->source->name.len,
             r->source->name.ptr);
    fl_status rc = slurp(r, path, &text);
    r->entry->size = fl_buf_len(&text);
    if (rc == FL_OK)
        rc = convert_front(r, fl_buf_view(&text), front);
    fl_buf_reset(&text);
    return rc == FL_OK ? check_front(r, fl_buf_view(front)) : rc;
}

static fl_status write_entry(reading *r, fl_span front)
{
    char path[FL_SKILL_NAME_MAX + sizeof "/" FL_SKILL_FILE];
    fl_span name = r->source->name;

    int n = snprintf(path, sizeof path, "%.*s/" FL_SKILL_FILE, (int)name.len,
                     name.ptr);
    fl_json_writer_init(&r->writer, &r->entry->json);
    fl_json_object(&r->writer);
    write_uri(&r->writer, (fl_span){path, (size_t)n});
    fl_json_key(&r->writer, "frontmatter");
    fl_json_raw(&r->writer, front);
    fl_json_key(&r->writer, "resources");
    fl_json_array(&r->writer);
    fl_status rc = add_files(r);
    if (rc != FL_OK)
        return rc;
    fl_json_array_end(&r->writer);
    fl_json_object_end(&r->writer);
    rc = fl_json_writer_end(&r->writer);
    return rc == FL_E_STATE ? FL_E_NOMEM : rc; /* a URI could not be made */
}

fl_status fl_skill_read(const fl_skill_source *source, fl_skill_entry *entry,
                        fl_error *error)
{
    reading r = {
        .source = source,
        .entry = entry,
        .error = error,
        .left = FL_SKILL_BYTES,
    };
    fl_buf front;

    *entry = (fl_skill_entry){.size = 0};
    fl_buf_init(&entry->json, FL_SKILL_ENTRY_MAX);
    fl_buf_init(&entry->description, TEXT_MAX);
    if (error != NULL)
        *error = (fl_error){.status = FL_OK};
    if (!fl_skill_is_name(source->name))
        return refuse(&r, FL_E_INVALID,
                      "a name has 1 to 64 of a-z, 0-9 and single hyphens");
    fl_buf_init(&front, FRONT_MAX);
    fl_status rc = read_front(&r, &front);
    if (rc == FL_OK)
        rc = write_entry(&r, fl_buf_view(&front));
    fl_buf_reset(&front);
    return rc;
}

void fl_skill_deinit(fl_skill_entry *entry)
{
    fl_buf_reset(&entry->json);
    fl_buf_reset(&entry->description);
}
