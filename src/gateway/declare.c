/*
 * declare.c - that a gateway carries what is said.
 */
#include "gateway/declare.h"

#include "adapt/edit.h"
#include "base/span.h"
#include "rpc/carry.h"
#include "json/nav.h"

fl_status fl_declare_carry(fl_span capabilities, fl_buf *out)
{
    bool seen = false;
    fl_edit edit;
    fl_edit_walk walk;
    fl_json_member member;

    fl_edit_init(&edit, capabilities, out);
    fl_edit_open(&walk, &edit, capabilities);
    while (fl_edit_next(&walk, &member))
        if (fl_edit_named(&member, "experimental") &&
            fl_json_type_of(member.value) == FL_JSON_OBJECT) {
            fl_edit_set_inside(&edit, member.value, FL_CARRY, FL_SPAN("{}"));
            seen = true;
        }
    if (!seen)
        fl_edit_add_raw(&walk, "experimental",
                        FL_SPAN("{\"" FL_CARRY "\":{}}"));
    fl_status rc = fl_edit_end(&edit);
    return rc == FL_END ? fl_buf_append(out, capabilities) : rc;
}

fl_span fl_declared_key(fl_span params)
{
    fl_span key = fl_json_get(fl_json_get(params, FL_SPAN("_meta")),
                              FL_SPAN(FL_CARRY_KEY));

    return fl_json_type_of(key) == FL_JSON_STRING ? key : (fl_span){0};
}

fl_status fl_declare_drop_key(fl_span params, fl_buf *out)
{
    fl_edit edit;
    fl_edit_walk walk;
    fl_json_member member;

    fl_edit_init(&edit, params, out);
    fl_edit_open(&walk, &edit, params);
    while (fl_edit_next(&walk, &member))
        if (fl_edit_named(&member, "_meta"))
            fl_edit_drop_inside(&walk, &member, FL_CARRY_KEY);
    return fl_edit_end(&edit);
}
