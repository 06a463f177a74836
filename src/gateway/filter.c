/*
 * filter.c - which tools of a server may be seen and called through us.
 *
 * A glob has "*" for any bytes and "?" for one. Who is not seen cannot be
 * called either: to the client such a tool does not exist.
 */
#include "gateway/filter.h"

#include "base/mem.h"
#include "base/span.h"
#include "json/nav.h"

#include <string.h>

enum { NAME_MAX_BYTES = 1024 };

static void free_list(char **list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++)
        fl_mem_free(list[i]);
    fl_mem_free(list);
}

static fl_status copy_list(const char *const *list, char ***out)
{
    size_t count = 0;

    *out = NULL;
    while (list != NULL && list[count] != NULL)
        count++;
    if (count == 0)
        return FL_OK;
    char **copy = fl_mem_zalloc((count + 1) * sizeof *copy);
    if (copy == NULL)
        return FL_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        if ((copy[i] = fl_mem_string(fl_span_of(list[i]))) == NULL) {
            free_list(copy);
            return FL_E_NOMEM;
        }
    *out = copy;
    return FL_OK;
}

fl_status fl_filter_init(fl_filter *filter, const char *const *allow,
                         const char *const *deny)
{
    *filter = (fl_filter){0};
    fl_status rc = copy_list(allow, &filter->allow);
    return rc == FL_OK ? copy_list(deny, &filter->deny) : rc;
}

void fl_filter_deinit(fl_filter *filter)
{
    free_list(filter->allow);
    free_list(filter->deny);
    *filter = (fl_filter){0};
}

/* One star at a time: after a mismatch only the last one can still give. */
static bool matches(const char *glob, fl_span name)
{
    const char *star = NULL;
    size_t at = 0, from = 0;

    while (at < name.len) {
        if (*glob == '*') {
            star = ++glob;
            from = at;
        } else if (*glob == '?' || (*glob != '\0' && *glob == name.ptr[at])) {
            glob++;
            at++;
        } else if (star != NULL) {
            glob = star;
            at = ++from;
        } else {
            return false;
        }
    }
    return glob[strspn(glob, "*")] == '\0';
}

static bool is_among(char **globs, fl_span name)
{
    for (; globs != NULL && *globs != NULL; globs++)
        if (matches(*globs, name))
            return true;
    return false;
}

bool fl_filter_allows(const fl_filter *filter, fl_span name)
{
    fl_buf text;

    if (!fl_filter_is_on(filter) || fl_json_type_of(name) != FL_JSON_STRING)
        return true;
    fl_buf_init(&text, NAME_MAX_BYTES);
    bool allowed = fl_json_string_copy(name, &text) == FL_OK &&
                   (filter->allow == NULL ||
                    is_among(filter->allow, fl_buf_view(&text))) &&
                   !is_among(filter->deny, fl_buf_view(&text));
    fl_buf_reset(&text);
    return allowed;
}

/* What is between two tools that stay is a comma; all around the array is as
 * it came. */
fl_status fl_filter_tools(const fl_filter *filter, fl_span text, fl_span result,
                          fl_buf *out)
{
    fl_span tools = fl_json_get(result, FL_SPAN("tools"));
    fl_json_walk walk;
    fl_json_member tool;

    if (fl_json_type_of(tools) != FL_JSON_ARRAY)
        return fl_buf_append(out, text);
    size_t before = (size_t)(tools.ptr - text.ptr);
    fl_status rc = fl_buf_append(out, (fl_span){text.ptr, before});
    const char *comma = "[";
    fl_json_walk_init(&walk, tools);
    while (rc == FL_OK && fl_json_walk_next(&walk, &tool)) {
        if (!fl_filter_allows(filter, fl_json_get(tool.value, FL_SPAN("name"))))
            continue;
        rc = fl_buf_append(out, fl_span_of(comma));
        comma = ",";
        if (rc == FL_OK)
            rc = fl_buf_append(out, tool.value);
    }
    if (rc == FL_OK)
        rc = fl_buf_append(out, *comma == '[' ? FL_SPAN("[]") : FL_SPAN("]"));
    return rc == FL_OK
               ? fl_buf_append(out, fl_span_from(text, before + tools.len))
               : rc;
}
