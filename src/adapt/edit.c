/*
 * edit.c - saying a JSON text again, some of it differently.
 *
 * All there is to it is a place in the text, before which everything has been
 * said. A cut copies from there to the slice and moves the place behind it.
 *
 * Commas are the one difficulty. A member that goes takes the comma before it
 * along; if nothing before it stays there is no such comma, and the one behind
 * it goes: which is known when the next member comes.
 */
#include "adapt/edit.h"

void fl_edit_init(fl_edit *edit, fl_span text, fl_buf *out)
{
    *edit = (fl_edit){
        .out = out,
        .start = fl_buf_len(out),
        .at = text.ptr,
        .end = text.len > 0 ? text.ptr + text.len : text.ptr,
    };
}

void fl_edit_note(fl_edit *edit, fl_status status)
{
    if (edit->status == FL_OK)
        edit->status = status;
}

void fl_edit_put(fl_edit *edit, fl_span json)
{
    if (edit->status == FL_OK)
        edit->status = fl_buf_append(edit->out, json);
}

/* What was cut already is not said again. */
static void cut(fl_edit *edit, const char *from, const char *to)
{
    if (from > edit->at)
        fl_edit_put(edit, (fl_span){edit->at, (size_t)(from - edit->at)});
    if (to > edit->at)
        edit->at = to;
    edit->touched = true;
}

void fl_edit_cut(fl_edit *edit, fl_span slice)
{
    cut(edit, slice.ptr, slice.ptr + slice.len);
}

void fl_edit_replace(fl_edit *edit, fl_span slice, fl_span json)
{
    fl_edit_cut(edit, slice);
    fl_edit_put(edit, json);
}

void fl_edit_set(fl_edit *edit, fl_span slice, fl_span json)
{
    if (!fl_span_equal(slice, json))
        fl_edit_replace(edit, slice, json);
}

void fl_edit_rename(fl_edit *edit, const fl_json_member *member,
                    const char *name)
{
    fl_edit_replace(edit, member->key, fl_span_of(name));
}

fl_status fl_edit_end(fl_edit *edit)
{
    if (edit->status == FL_OK && !edit->touched)
        return FL_END;
    if (edit->end > edit->at)
        fl_edit_put(edit, (fl_span){edit->at, (size_t)(edit->end - edit->at)});
    if (edit->status != FL_OK)
        fl_buf_truncate(edit->out, edit->start);
    return edit->status;
}

void fl_edit_open(fl_edit_walk *walk, fl_edit *edit, fl_span container)
{
    walk->edit = edit;
    walk->any = walk->dropped = walk->leading = false;
    walk->kept = walk->begin = walk->end = container.ptr;
    walk->close = container.len > 0 ? container.ptr + container.len - 1 : NULL;
    fl_json_walk_init(&walk->walk, container);
}

/* The member in hand stays, unless it was dropped. */
static void settle(fl_edit_walk *walk)
{
    if (walk->begin != walk->end && !walk->dropped) {
        walk->any = true;
        walk->kept = walk->end;
    }
    walk->begin = walk->end;
}

bool fl_edit_next(fl_edit_walk *walk, fl_json_member *member)
{
    settle(walk);
    if (!fl_json_walk_next(&walk->walk, member))
        return false;
    walk->begin =
        walk->walk.in_object ? member->key.ptr - 1 : member->value.ptr;
    walk->end = member->value.ptr + member->value.len;
    if (walk->leading)
        cut(walk->edit, walk->edit->at, walk->begin);
    walk->dropped = walk->leading = false;
    return true;
}

void fl_edit_drop(fl_edit_walk *walk)
{
    cut(walk->edit, walk->any ? walk->kept : walk->begin, walk->end);
    walk->dropped = true;
    walk->leading = !walk->any;
}

/*
 * To where the last member that stays ends, and a comma. Spaces before the
 * closing bracket stay there: so what is added and dropped again, and again,
 * leaves the same text.
 */
static void extend(fl_edit_walk *walk)
{
    const char *place;

    settle(walk);
    place = walk->any       ? walk->kept
            : walk->leading ? walk->edit->at
                            : walk->close;
    cut(walk->edit, place, place);
    if (walk->any)
        fl_edit_put(walk->edit, FL_SPAN(","));
    walk->any = true;
}

void fl_edit_add(fl_edit_walk *walk, const char *name)
{
    extend(walk);
    fl_edit_put(walk->edit, FL_SPAN("\""));
    fl_edit_put(walk->edit, fl_span_of(name));
    fl_edit_put(walk->edit, FL_SPAN("\":"));
}

void fl_edit_add_raw(fl_edit_walk *walk, const char *name, fl_span json)
{
    fl_edit_add(walk, name);
    fl_edit_put(walk->edit, json);
}

void fl_edit_add_element(fl_edit_walk *walk)
{
    extend(walk);
}

void fl_edit_add_members(fl_edit_walk *walk, fl_span members)
{
    if (members.len == 0)
        return;
    extend(walk);
    fl_edit_put(walk->edit, members);
}

void fl_edit_set_inside(fl_edit *edit, fl_span object, const char *name,
                        fl_span value)
{
    fl_edit_walk walk;
    fl_json_member member;
    bool found = false;

    fl_edit_open(&walk, edit, object);
    while (fl_edit_next(&walk, &member)) {
        if (fl_edit_named(&member, name)) {
            fl_edit_set(edit, member.value, value);
            found = true;
        }
    }
    if (!found)
        fl_edit_add_raw(&walk, name, value);
}

/* Whether there is something in it beside that. */
static bool has_other(fl_span object, const char *name)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, object);
    while (fl_json_walk_next(&walk, &member))
        if (!fl_edit_named(&member, name))
            return true;
    return false;
}

void fl_edit_drop_inside(fl_edit_walk *walk, const fl_json_member *object,
                         const char *name)
{
    fl_edit_walk inner;
    fl_json_member member;

    if (fl_json_get(object->value, fl_span_of(name)).len == 0)
        return;
    if (!has_other(object->value, name)) {
        fl_edit_drop(walk);
        return;
    }
    fl_edit_open(&inner, walk->edit, object->value);
    while (fl_edit_next(&inner, &member))
        if (fl_edit_named(&member, name))
            fl_edit_drop(&inner);
}
