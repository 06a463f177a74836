/*
 * edit.h - saying a JSON text again, some of it differently.
 *
 * Who adapts a text walks over it from front to back and names what is to be
 * other: a value replaced, a member dropped, one added. What lies between is
 * copied as it came, in runs as long as they get; and as long as nothing is
 * named nothing is copied at all.
 *
 *     fl_edit_init(&edit, text, out);
 *     fl_edit_open(&walk, &edit, text);
 *     while (fl_edit_next(&walk, &member))
 *         if (fl_edit_named(&member, "ttl"))
 *             fl_edit_rename(&edit, &member, "ttlMs");
 *     fl_edit_add_raw(&walk, "resultType", FL_SPAN("\"complete\""));
 *     return fl_edit_end(&edit);
 *
 * Walks may be inside of each other, as long as they go forward. The text is
 * valid JSON; failures are remembered, as a writer's are.
 */
#ifndef FL_ADAPT_EDIT_H
#define FL_ADAPT_EDIT_H

#include "base/buf.h"
#include "base/span.h"
#include "json/nav.h"
#include "json/unescape.h"
#include "json/write.h"

/* Fields are private to edit.c. */
typedef struct fl_edit {
    fl_buf *out;
    size_t start;   /* of what this edit appends */
    const char *at; /* what comes before it was said */
    const char *end;
    bool touched;
    fl_status status;
} fl_edit;

typedef struct fl_edit_walk {
    fl_edit *edit;
    fl_json_walk walk;
    const char *kept;  /* where the last member that stays ends */
    const char *begin; /* of the member in hand */
    const char *end;
    const char *close; /* the closing bracket */
    bool any;          /* a member stays, or was added */
    bool dropped;      /* the member in hand goes */
    bool leading;      /* as did all before it: the comma behind goes, too */
} fl_edit_walk;

void fl_edit_init(fl_edit *edit, fl_span text, fl_buf *out);

/* FL_END: nothing was changed, and nothing appended. After a failure what was
 * appended is taken back. */
FL_MUST_USE fl_status fl_edit_end(fl_edit *edit);

/* Leaves a slice of the text out. What is to stand there instead is appended
 * to edit->out next, by one of these or by a writer on it. */
void fl_edit_cut(fl_edit *edit, fl_span slice);
void fl_edit_put(fl_edit *edit, fl_span json);
void fl_edit_note(fl_edit *edit, fl_status status);

void fl_edit_replace(fl_edit *edit, fl_span slice, fl_span json);
/* The same, if it is not that already. */
void fl_edit_set(fl_edit *edit, fl_span slice, fl_span json);
void fl_edit_rename(fl_edit *edit, const fl_json_member *member,
                    const char *name);

/* Over an object or an array; over anything else, over nothing. */
void fl_edit_open(fl_edit_walk *walk, fl_edit *edit, fl_span container);
bool fl_edit_next(fl_edit_walk *walk, fl_json_member *member);
/* The member in hand goes. It must not have been edited inside. */
void fl_edit_drop(fl_edit_walk *walk);
/* After the last member of an object: one more, its value to be put next. */
void fl_edit_add(fl_edit_walk *walk, const char *name);
void fl_edit_add_raw(fl_edit_walk *walk, const char *name, fl_span json);
/* Likewise of an array. */
void fl_edit_add_element(fl_edit_walk *walk);
/* Likewise some members at once, with commas between. */
void fl_edit_add_members(fl_edit_walk *walk, fl_span members);

/* An object with one more member, or another value of it. */
void fl_edit_set_inside(fl_edit *edit, fl_span object, const char *name,
                        fl_span value);
/* The member in hand, an object, without a member of that name: none of it, if
 * it had no other. */
void fl_edit_drop_inside(fl_edit_walk *walk, const fl_json_member *object,
                         const char *name);

/* Names may be spelled with escapes. */
static inline bool fl_edit_named(const fl_json_member *member, const char *name)
{
    return fl_json_unescape_is(member->key, fl_span_of(name));
}

#endif
