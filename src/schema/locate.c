/*
 * locate.c - the JSON Pointer of a place in a text.
 *
 * Errors want to name their place and are rare. So nobody keeps track of where
 * he is; whoever complains has the place looked up from the outside in.
 */
#include "base/span.h"
#include "schema/compile.h"
#include "json/nav.h"

#include <stdio.h>

/* Appends, as far as there is room. */
static void add(char *out, size_t size, const char *text, size_t len)
{
    size_t used = strlen(out);

    if (len > size - used - 1)
        len = size - used - 1;
    memcpy(out + used, text, len);
    out[used + len] = '\0';
}

static void add_token(char *out, size_t size, const fl_json_member *member,
                      size_t index)
{
    char number[24];

    add(out, size, "/", 1);
    if (member->key.ptr == NULL) {
        int len = snprintf(number, sizeof number, "%zu", index);
        add(out, size, number, (size_t)len);
        return;
    }
    for (size_t i = 0; i < member->key.len; i++) {
        const char *byte = member->key.ptr + i;
        if (*byte == '~' || *byte == '/')
            add(out, size, *byte == '~' ? "~0" : "~1", 2);
        else
            add(out, size, byte, 1);
    }
}

/* The member that `at` lies in; false if there is none. */
static bool find_member(fl_span value, const char *at, fl_json_member *member,
                        size_t *index)
{
    fl_json_walk walk;

    fl_json_walk_init(&walk, value);
    for (*index = 0; fl_json_walk_next(&walk, member); ++*index)
        if (at >= member->value.ptr &&
            at < member->value.ptr + member->value.len)
            return true;
    return false;
}

void fl_locate(fl_span text, const char *at, char *out, size_t size)
{
    fl_json_member member;
    size_t index;

    out[0] = '\0';
    while (at > text.ptr && find_member(text, at, &member, &index)) {
        add_token(out, size, &member, index);
        text = member.value;
    }
}
