/*
 * watch_words.c - what is said to a server that is listened to, and what of its
 * words is said to the client.
 */
#include "adapt/adapt.h"
#include "base/span.h"
#include "gateway/watching.h"
#include "json/nav.h"
#include "json/write.h"

enum { TEXT_MAX = 16 * 1024 * 1024 };

static const struct {
    const char *list;
    const char *wanted;
} changes[] = {
    {"tools", "toolsListChanged"},
    {"prompts", "promptsListChanged"},
    {"resources", "resourcesListChanged"},
};

enum { CHANGES = sizeof changes / sizeof *changes };

static fl_span capabilities_of(const fl_watching *watching)
{
    return fl_json_get(fl_lane_said(watching->front->back->lane),
                       FL_SPAN("capabilities"));
}

static bool declares(fl_span capabilities, const char *name, fl_span detail)
{
    fl_span value = fl_json_get(capabilities, fl_span_of(name));

    return fl_json_type_of(fl_json_get(value, detail)) == FL_JSON_TRUE;
}

bool fl_watching_is_wanted(const fl_watching *watching)
{
    const fl_front *front = watching->front;

    if (!watching->lists)
        return fl_front_watched(front) != NULL &&
               fl_map_count(fl_front_watched(front)) > 0;
    for (size_t i = 0; i < CHANGES; i++)
        if (declares(capabilities_of(watching), changes[i].list,
                     FL_SPAN("listChanged")))
            return front->state == FL_FRONT_READY;
    return false;
}

bool fl_watching_is_offered(const fl_watching *watching)
{
    return fl_lane_said(watching->front->back->lane).len == 0 ||
           declares(capabilities_of(watching), "resources",
                    FL_SPAN("subscribe"));
}

static void write_lists(const fl_watching *watching, fl_json_writer *writer)
{
    for (size_t i = 0; i < CHANGES; i++)
        if (declares(capabilities_of(watching), changes[i].list,
                     FL_SPAN("listChanged"))) {
            fl_json_key(writer, changes[i].wanted);
            fl_json_bool(writer, true);
        }
}

static void write_resources(const fl_front *front, fl_json_writer *writer)
{
    size_t at = 0;
    fl_span uri;
    void *value;

    fl_json_key(writer, "resourceSubscriptions");
    fl_json_array(writer);
    while (fl_map_next(fl_front_watched(front), &at, &uri, &value))
        fl_json_raw(writer, uri);
    fl_json_array_end(writer);
}

fl_status fl_watching_write(const fl_watching *watching, fl_buf *out)
{
    fl_front *front = watching->front;
    fl_span claim = fl_front_claim(front, front->back->revision, false);
    fl_json_writer writer;

    if (claim.len == 0)
        return FL_E_NOMEM;
    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "_meta");
    fl_json_raw(&writer, claim);
    fl_json_key(&writer, "notifications");
    fl_json_object(&writer);
    if (watching->lists)
        write_lists(watching, &writer);
    else
        write_resources(front, &writer);
    fl_json_object_end(&writer);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

/* Either may be spelled with escapes. */
bool fl_watching_is_granted(fl_span granted, fl_span uri)
{
    bool found = false;
    fl_json_walk walk;
    fl_json_member member;
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    if (fl_json_string_copy(uri, &text) != FL_OK)
        fl_buf_clear(&text);
    fl_json_walk_init(&walk, granted);
    while (!found && fl_json_walk_next(&walk, &member))
        found = fl_json_string_is(member.value, fl_buf_view(&text));
    fl_buf_reset(&text);
    return found;
}

void fl_watching_tell(fl_front *front, const fl_msg *msg)
{
    fl_adapt adapt = {
        .from = front->back->revision,
        .to = front->revision,
        .method = FL_METHOD_RESOURCE_UPDATED,
    };
    fl_buf out;

    fl_buf_init(&out, TEXT_MAX);
    fl_status rc = fl_adapt_notice(&adapt, msg->params, &out);
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/"
                "updated\",\"params\":"),
        rc == FL_OK ? fl_buf_view(&out) : msg->params,
        FL_SPAN("}"),
    };
    if (rc == FL_OK || rc == FL_END)
        fl_front_say(front, parts, 3);
    fl_buf_reset(&out);
}
