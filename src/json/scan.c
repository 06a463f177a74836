/*
 * scan.c - one validating pass over a JSON text.
 *
 * The work is done by a kernel (kernel.h), which leaves the places of the
 * outermost delimiters behind. Members are cut out between them afterwards,
 * when the text is known to be right: all there is to do is to trim white
 * space, which a compact message does not have.
 */
#include "json/scan.h"

#include "json/kernel.h"
#include "json/nav.h"

/* Of validated text with a token in it: below a space is but white space. */
static inline fl_span trim(const char *from, const char *to)
{
    while ((unsigned char)*from <= ' ')
        from++;
    while ((unsigned char)to[-1] <= ' ')
        to--;
    return (fl_span){from, (size_t)(to - from)};
}

/* An empty object has one delimiter, any other two for each member. */
static void cut_members(fl_span text, const fl_json_level *marks,
                        fl_json_top *top)
{
    const char *from = top->value.ptr + 1;

    top->count = marks->count / 2;
    for (size_t i = 0; i < top->count && i < FL_JSON_MEMBERS; i++) {
        const char *colon = text.ptr + marks->at[2 * i];
        const char *stop = text.ptr + marks->at[2 * i + 1];
        fl_span key = trim(from, colon);
        top->members[i] = (fl_json_member){
            .key = {key.ptr + 1, key.len - 2}, /* the quotes */
            .value = trim(colon + 1, stop),
        };
        from = stop + 1;
    }
}

/* An empty array has one delimiter, as has one with a single element. */
static size_t count_elements(fl_span array, const fl_json_level *marks)
{
    const char *first = array.ptr + 1;

    while ((unsigned char)*first <= ' ')
        first++;
    return *first == ']' ? 0 : marks->count;
}

static void fill(fl_span text, fl_json_top *top)
{
    const fl_json_level *marks = &top->marks.level[0];

    top->text = text;
    top->value = trim(text.ptr, text.ptr + text.len);
    top->type = fl_json_type_of(top->value);
    top->count = 0;
    if (top->type == FL_JSON_OBJECT)
        cut_members(text, marks, top);
    else if (top->type == FL_JSON_ARRAY)
        top->count = count_elements(top->value, marks);
}

fl_status fl_json_scan_with(const fl_json_kernel *kernel, fl_span text,
                            unsigned max_depth, fl_json_top *top, size_t *at)
{
    size_t where = text.len;
    fl_status rc = FL_OK;

    if (max_depth == 0 || max_depth > FL_JSON_MAX_DEPTH)
        max_depth = FL_JSON_MAX_DEPTH;
    if (!kernel->check(text, max_depth, &top->marks))
        rc = fl_json_plain_scan(text, max_depth, &top->marks, &where);
    if (rc == FL_OK)
        fill(text, top);
    else
        *top = (fl_json_top){0};
    if (at != NULL)
        *at = where;
    return rc;
}

fl_status fl_json_scan(fl_span text, unsigned max_depth, fl_json_top *top,
                       size_t *at)
{
    return fl_json_scan_with(fl_json_kernel_best(), text, max_depth, top, at);
}
