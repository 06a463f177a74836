/*
 * fuzz_json.c - the JSON room under arbitrary bytes.
 *
 * The first byte chooses a depth limit, the rest is the text. Every kernel
 * must say of it what the plain one says. A text that is accepted must be
 * UTF-8, be accepted under every higher limit, walk without leaving its own
 * slice, and read the same after having been written anew. One that is not
 * must still not lead nav out of bounds, which is the sanitizer's to see.
 */
#include "base/span.h"
#include "base/utf8.h"
#include "json/kernel.h"
#include "json/nav.h"
#include "json/write.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
    if (!truth)
        abort();
}

static bool is_inside(fl_span part, fl_span whole)
{
    return part.len == 0 || (part.ptr >= whole.ptr &&
                             part.ptr + part.len <= whole.ptr + whole.len);
}

static void require_same(const fl_json_top *a, const fl_json_top *b)
{
    require(a->type == b->type && a->count == b->count);
    require(a->value.ptr == b->value.ptr && a->value.len == b->value.len);
    if (a->type != FL_JSON_OBJECT)
        return;
    for (size_t i = 0; i < a->count && i < FL_JSON_MEMBERS; i++)
        require(memcmp(&a->members[i], &b->members[i], sizeof a->members[i]) ==
                0);
}

/* Along what the scan has noted, or found anew: the same members. */
static void require_same_walk(const fl_json_top *top, unsigned level,
                              fl_span container)
{
    fl_json_walk noted, looked;
    fl_json_member one, other;
    bool more = true;

    fl_json_walk_inside(&noted, top, level, container);
    fl_json_walk_init(&looked, container);
    while (more) {
        more = fl_json_walk_next(&looked, &other);
        require(fl_json_walk_next(&noted, &one) == more);
        require(memcmp(&one, &other, sizeof one) == 0);
        if (more && level < FL_JSON_LEVELS)
            require_same_walk(top, level + 1, other.value);
    }
}

/* Only then may a kernel leave a good text to the plain one. */
static bool ends_in_scalar(fl_span text)
{
    return strchr("}]\" \t\r\n", text.ptr[text.len - 1]) == NULL;
}

static fl_status scan_everywhere(fl_span text, unsigned depth, fl_json_top *top)
{
    size_t at;
    fl_status rc =
        fl_json_scan_with(&fl_json_kernel_plain, text, depth, top, &at);

    require(at <= text.len);
    for (size_t i = 0; i < FL_JSON_KERNELS; i++) {
        const fl_json_kernel *kernel = fl_json_kernel_at(i);
        fl_json_marks marks;
        fl_json_top other;
        size_t where;
        if (kernel == NULL)
            continue;
        bool good = kernel->check(text, FL_JSON_MAX_DEPTH, &marks);
        fl_status plain =
            fl_json_plain_scan(text, FL_JSON_MAX_DEPTH, &marks, &where);
        require(plain == FL_OK ? good || ends_in_scalar(text) : !good);
        require(fl_json_scan_with(kernel, text, depth, &other, &where) == rc);
        require(where == at);
        require_same(top, &other);
        if (rc == FL_OK)
            require_same_walk(&other, 0, other.value);
    }
    return rc;
}

static void require_marks(fl_span value)
{
    size_t want[FL_JSON_MARKS], got[FL_JSON_MARKS];
    size_t n = fl_json_kernel_plain.mark(value, 1, FL_JSON_MARKS, want);

    for (size_t i = 0; i < FL_JSON_KERNELS; i++) {
        const fl_json_kernel *kernel = fl_json_kernel_at(i);
        if (kernel == NULL)
            continue;
        require(kernel->mark(value, 1, FL_JSON_MARKS, got) == n);
        require(memcmp(want, got, n * sizeof *want) == 0);
    }
}

static void rewrite(fl_json_writer *writer, fl_span value, unsigned depth);

static void rewrite_members(fl_json_writer *writer, fl_span value,
                            unsigned depth)
{
    fl_json_walk walk;
    fl_json_member member;

    require_marks(value);
    fl_json_walk_init(&walk, value);
    while (fl_json_walk_next(&walk, &member)) {
        fl_json_top top;
        require(is_inside(member.key, value) && is_inside(member.value, value));
        require(fl_json_scan(member.value, 0, &top, NULL) == FL_OK);
        require(top.value.len == member.value.len);
        if (walk.in_object) {
            fl_buf key;
            fl_buf_init(&key, 1 << 20);
            fl_span quoted = {member.key.ptr - 1, member.key.len + 2};
            require(fl_json_string_copy(quoted, &key) == FL_OK);
            require(fl_json_string_is(quoted, fl_buf_view(&key)));
            require(fl_json_get(value, fl_buf_view(&key)).len > 0);
            require(fl_buf_append(&key, (fl_span){"", 1}) == FL_OK);
            fl_json_key(writer, fl_buf_view(&key).ptr);
            fl_buf_reset(&key);
        }
        rewrite(writer, member.value, depth + 1);
    }
}

static void rewrite_string(fl_json_writer *writer, fl_span value)
{
    fl_buf text;

    fl_buf_init(&text, 1 << 20);
    require(fl_json_string_copy(value, &text) == FL_OK);
    require(fl_utf8_valid(fl_buf_view(&text)));
    require(fl_json_string_is(value, fl_buf_view(&text)));
    fl_json_text(writer, fl_buf_view(&text));
    fl_buf_reset(&text);
}

static void rewrite(fl_json_writer *writer, fl_span value, unsigned depth)
{
    fl_json_type type = fl_json_type_of(value);
    double number;

    if (depth >= FL_JSON_WRITE_DEPTH) {
        fl_json_raw(writer, value);
    } else if (type == FL_JSON_OBJECT) {
        fl_json_object(writer);
        rewrite_members(writer, value, depth);
        fl_json_object_end(writer);
    } else if (type == FL_JSON_ARRAY) {
        fl_json_array(writer);
        rewrite_members(writer, value, depth);
        fl_json_array_end(writer);
    } else if (type == FL_JSON_STRING) {
        rewrite_string(writer, value);
    } else if (type == FL_JSON_NUMBER) {
        int64_t whole;
        require(fl_json_double(value, &number) == FL_OK);
        if (fl_json_int64(value, &whole) == FL_OK)
            require((double)whole == number);
        fl_json_number(writer, number);
    } else {
        fl_json_raw(writer, value);
    }
}

static void rewrite_whole(fl_span text, const fl_json_top *top)
{
    fl_json_writer writer;
    fl_json_top again;
    fl_buf out;

    require(fl_utf8_valid(text) && is_inside(top->value, text));
    require_same_walk(top, 0, top->value);
    fl_buf_init(&out, 16u << 20);
    fl_json_writer_init(&writer, &out);
    rewrite(&writer, top->value, 0);
    require(fl_json_writer_end(&writer) == FL_OK);
    require(scan_everywhere(fl_buf_view(&out), 0, &again) == FL_OK);
    require(again.count == top->count);
    fl_buf_reset(&out);
}

static void stray(fl_span text)
{
    fl_json_walk walk;
    fl_json_member member;
    double number;
    int64_t whole;
    fl_buf out;

    fl_buf_init(&out, 1 << 20);
    fl_json_walk_init(&walk, text);
    while (fl_json_walk_next(&walk, &member)) {
        require(is_inside(member.key, text) && is_inside(member.value, text));
        (void)fl_json_string_is(member.value, FL_SPAN("a"));
        fl_status rc = fl_json_string_copy(member.value, &out);
        require(rc == FL_OK || rc == FL_E_INVALID);
    }
    require(is_inside(fl_json_get(text, FL_SPAN("a")), text));
    require(fl_json_double(text, &number) <= FL_OK);
    require(fl_json_int64(text, &whole) <= FL_OK);
    fl_buf_reset(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    char *copy = malloc(size - 1); /* exact, so that any overrun is seen */
    if (copy == NULL)
        return 0;
    memcpy(copy, data + 1, size - 1);
    fl_span text = {copy, size - 1};
    fl_json_top top, shallow;
    fl_status rc = scan_everywhere(text, 0, &top);
    fl_status limited = scan_everywhere(text, data[0], &shallow);

    require(limited == rc || limited == FL_E_TOO_DEEP);
    if (rc == FL_OK)
        rewrite_whole(text, &top);
    stray(text);
    free(copy);
    return 0;
}
