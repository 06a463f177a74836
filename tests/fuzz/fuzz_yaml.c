/*
 * fuzz_yaml.c - YAML to JSON under arbitrary bytes.
 *
 * What comes out is always one JSON value, without a key given twice where the
 * YAML had none; and nothing comes out of what was refused.
 */
#include "base/utf8.h"
#include "json/nav.h"
#include "json/yaml.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
    if (!truth)
        abort();
}

/* Found by its key, each member is itself, so none hides another. */
static void require_members(fl_span value)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, value);
    while (fl_json_walk_next(&walk, &member)) {
        if (walk.in_object) {
            fl_buf key;
            fl_buf_init(&key, 1 << 20);
            fl_span quoted = {member.key.ptr - 1, member.key.len + 2};
            require(fl_json_string_copy(quoted, &key) == FL_OK);
            require(fl_json_get(value, fl_buf_view(&key)).ptr ==
                    member.value.ptr);
            fl_buf_reset(&key);
        }
        require_members(member.value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size > 0 ? size : 1);
    fl_json_top top;
    fl_error error = {.status = FL_OK};
    fl_buf out;

    if (copy == NULL)
        return 0;
    if (size > 0)
        memcpy(copy, data, size);
    fl_buf_init(&out, 8u << 20);
    fl_status rc = fl_yaml_to_json((fl_span){copy, size}, &out, &error);
    if (rc == FL_OK) {
        require(fl_json_scan(fl_buf_view(&out), 0, &top, NULL) == FL_OK);
        if (size < 4096)
            require_members(top.value);
    } else {
        require(rc < 0 && fl_buf_len(&out) == 0);
        require(error.status == rc && error.text[0] != '\0');
    }
    fl_buf_reset(&out);
    free(copy);
    return 0;
}
