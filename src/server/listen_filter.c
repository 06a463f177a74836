/*
 * listen_filter.c - what subscriptions/listen asks to be told of.
 *
 * A filter that is wrong is refused whole: a client must not wait for what it
 * believes it has asked for. What we do not know of is ignored.
 */
#include "server/listen.h"

#include "base/span.h"
#include "server/watch.h"

#include "json/nav.h"

#include <assert.h>

/* Why it will not do, or NULL. */
static const char *check_strings(fl_span list, const char *const why[3])
{
    fl_json_walk walk;
    fl_json_member element;
    size_t count = 0;

    if (list.len > 0 && fl_json_type_of(list) != FL_JSON_ARRAY)
        return why[0];
    fl_json_walk_init(&walk, list);
    while (fl_json_walk_next(&walk, &element)) {
        if (fl_json_type_of(element.value) != FL_JSON_STRING)
            return why[1];
        if (++count > FL_WATCH_MAX)
            return why[2];
    }
    return NULL;
}

static_assert(FL_WATCH_MAX == 1024, "as it says below");

#define WORDS(member)                                                          \
    {                                                                          \
        member " must be a list", member " must be a list of strings",         \
            member " must not have more than 1024 elements"                    \
    }

static const char *const words_of_resources[3] = WORDS(FL_LISTEN_RESOURCES);
static const char *const words_of_tasks[3] = WORDS(FL_LISTEN_TASKS);

const char *fl_listen_check(fl_span filter)
{
    fl_span uris = fl_json_get(filter, FL_SPAN(FL_LISTEN_RESOURCES));
    fl_span ids = fl_json_get(filter, FL_SPAN(FL_LISTEN_TASKS));

    if (fl_json_type_of(filter) != FL_JSON_OBJECT)
        return "params.notifications must be an object";
    for (size_t i = 0; i < FL_OFFER_LISTS; i++) {
        fl_json_type type =
            fl_json_type_of(fl_json_get(filter, fl_offer_lists[i].filter));
        if (type != FL_JSON_NONE && type != FL_JSON_TRUE &&
            type != FL_JSON_FALSE)
            return "what params.notifications asks for must be true or false";
    }
    const char *wrong = check_strings(uris, words_of_resources);
    return wrong != NULL ? wrong : check_strings(ids, words_of_tasks);
}

unsigned fl_listen_wishes(fl_span filter)
{
    unsigned wants = 0;

    for (size_t i = 0; i < FL_OFFER_LISTS; i++)
        if (fl_json_type_of(fl_json_get(filter, fl_offer_lists[i].filter)) ==
            FL_JSON_TRUE)
            wants |= fl_offer_lists[i].offer;
    return wants;
}
