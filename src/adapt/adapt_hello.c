/*
 * adapt_hello.c - what a server says of itself.
 *
 * The result of initialize and that of server/discover say nearly the same. A
 * legacy one names its revision and its server in members of their own; a
 * modern one lists its revisions, has its server in _meta, and says how long
 * it holds. Each becomes the other by dropping the ones and adding the others.
 */
#include "adapt/adapt_impl.h"

/* For how long what a session was opened with is taken to be so. */
#define HOLDS "60000"

typedef struct greeting {
    const fl_adapt *adapt;
    fl_span text;
    fl_span info; /* who the server is; empty: nobody said */
    fl_span name; /* in which case it is this */
    bool revision, capabilities, server, meta;
} greeting;

static bool is_object(fl_span value)
{
    return fl_json_type_of(value) == FL_JSON_OBJECT;
}

static fl_span find_info(const fl_adapt *adapt, fl_span text)
{
    fl_span meta = fl_json_get(text, FL_SPAN("_meta"));
    fl_span info = adapt->from->legacy
                       ? fl_json_get(text, FL_SPAN("serverInfo"))
                       : fl_json_get(meta, FL_SPAN(FL_META_SERVER));

    return is_object(info) ? info : adapt->server_info;
}

static void put_info(const greeting *hello, fl_edit *edit)
{
    fl_json_writer writer;

    if (hello->info.len > 0) {
        fl_edit_put(edit, hello->info);
        return;
    }
    fl_json_writer_init(&writer, edit->out);
    fl_json_object(&writer);
    fl_json_key(&writer, "name");
    fl_json_text(&writer, hello->name);
    fl_json_key(&writer, "version");
    fl_json_string(&writer, "0");
    fl_json_object_end(&writer);
    fl_edit_note(edit, fl_json_writer_end(&writer));
}

static void put_name(const greeting *hello, fl_edit *edit)
{
    fl_edit_put(edit, FL_SPAN("\""));
    fl_edit_put(edit, fl_span_of(hello->adapt->to->name));
    fl_edit_put(edit, FL_SPAN("\""));
}

static void edit_capabilities(greeting *hello, fl_edit *edit, fl_span value)
{
    hello->capabilities = true;
    if (is_object(value))
        fl_adapt_server_capabilities(hello->adapt, edit, value);
    else
        fl_edit_replace(edit, value, FL_SPAN("{}"));
}

/* What one era says and the other does not; or not in the same words. */
static bool is_dropped(const greeting *hello, const fl_json_member *member)
{
    static const char *const names[] = {
        "protocolVersion", "serverInfo", "supportedVersions",
        "resultType",      "ttlMs",      "cacheScope",
    };

    if (hello->adapt->from->legacy == hello->adapt->to->legacy)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (fl_edit_named(member, names[i]))
            return true;
    return false;
}

/* In _meta a modern client finds who the server is. */
static void edit_meta(greeting *hello, fl_edit_walk *walk,
                      const fl_json_member *meta)
{
    bool found = fl_json_get(meta->value, FL_SPAN(FL_META_SERVER)).len > 0;
    fl_edit_walk inner;
    fl_json_member member;

    if (!is_object(meta->value))
        return;
    if (fl_adapt_is_downward(hello->adapt)) {
        fl_edit_drop_inside(walk, meta, FL_META_SERVER);
    } else if (fl_adapt_is_upward(hello->adapt) && !found) {
        fl_edit_open(&inner, walk->edit, meta->value);
        while (fl_edit_next(&inner, &member))
            continue;
        fl_edit_add(&inner, FL_META_SERVER);
        put_info(hello, walk->edit);
    }
}

static void edit_member(greeting *hello, fl_edit_walk *walk,
                        const fl_json_member *member)
{
    fl_edit *edit = walk->edit;

    if (is_dropped(hello, member)) {
        fl_edit_drop(walk);
    } else if (fl_edit_named(member, "capabilities")) {
        edit_capabilities(hello, edit, member->value);
    } else if (fl_edit_named(member, "_meta")) {
        edit_meta(hello, walk, member);
        hello->meta = true;
    } else if (fl_edit_named(member, "protocolVersion")) {
        hello->revision = true;
        if (!fl_json_string_is(member->value,
                               fl_span_of(hello->adapt->to->name))) {
            fl_edit_cut(edit, member->value);
            put_name(hello, edit);
        }
    } else if (fl_edit_named(member, "serverInfo")) {
        hello->server = true;
        if (!is_object(member->value)) {
            fl_edit_cut(edit, member->value);
            put_info(hello, edit);
        }
    }
}

static void add_legacy(const greeting *hello, fl_edit_walk *walk)
{
    if (!hello->revision) {
        fl_edit_add(walk, "protocolVersion");
        put_name(hello, walk->edit);
    }
    if (!hello->server) {
        fl_edit_add(walk, "serverInfo");
        put_info(hello, walk->edit);
    }
}

static void add_modern(const greeting *hello, fl_edit_walk *walk)
{
    fl_edit_add_raw(walk, "resultType", FL_SPAN("\"complete\""));
    fl_edit_add_raw(walk, "supportedVersions", FL_SPAN("["));
    put_name(hello, walk->edit);
    fl_edit_put(walk->edit, FL_SPAN("]"));
    fl_edit_add_raw(walk, "ttlMs", FL_SPAN(HOLDS));
    fl_edit_add_raw(walk, "cacheScope", FL_SPAN("\"private\""));
    if (!hello->meta) {
        fl_edit_add_raw(walk, "_meta", FL_SPAN("{\"" FL_META_SERVER "\":"));
        put_info(hello, walk->edit);
        fl_edit_put(walk->edit, FL_SPAN("}"));
    }
}

fl_status fl_adapt_server_hello(const fl_adapt *adapt, fl_span text,
                                fl_span name, fl_buf *out)
{
    greeting hello = {.adapt = adapt, .text = text, .name = name};
    fl_edit edit;
    fl_edit_walk walk;
    fl_json_member member;

    if (fl_json_type_of(text) != FL_JSON_OBJECT ||
        (!adapt->from->legacy && !adapt->to->legacy))
        return FL_END;
    hello.info = find_info(adapt, text);
    fl_edit_init(&edit, text, out);
    fl_edit_open(&walk, &edit, text);
    while (fl_edit_next(&walk, &member))
        edit_member(&hello, &walk, &member);
    if (!hello.capabilities)
        fl_edit_add_raw(&walk, "capabilities", FL_SPAN("{}"));
    if (adapt->to->legacy)
        add_legacy(&hello, &walk);
    else
        add_modern(&hello, &walk);
    return fl_edit_end(&edit);
}
