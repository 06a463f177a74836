/*
 * params.c - what params has in it that we go by ourselves.
 *
 * One walk over params, and one over its _meta, both along delimiters that the
 * scan of the message has noted in passing. Keys are told apart by their
 * length before any byte is compared; one that is none of ours is looked
 * through for a backslash, for it may be ours in an odd spelling.
 */
#include "rpc/params.h"

#include "base/span.h"
#include "rpc/claim.h"
#include "json/walk.h"

enum { PARAMS = 1, META = 2, ARGUMENTS = 2 }; /* levels of nesting */

static bool has_escape(fl_span key)
{
    return fl_span_find(key, '\\') < key.len;
}

/* By its meaning. Its quotes are in the text, on either side. */
static bool is_spelled(fl_span key, fl_span name)
{
    return fl_json_string_is((fl_span){key.ptr - 1, key.len + 2}, name);
}

/* Where the value of such a member goes; `none` if it is not one of ours. */
__attribute__((noinline)) static fl_span *
place_of_escaped(fl_params *params, fl_span key, fl_span *none)
{
    if (is_spelled(key, FL_SPAN("name")))
        return &params->name;
    if (is_spelled(key, FL_SPAN("arguments")))
        return &params->arguments;
    if (is_spelled(key, FL_SPAN("_meta")))
        return &params->meta;
    if (is_spelled(key, FL_SPAN("uri")))
        return &params->uri;
    if (is_spelled(key, FL_SPAN("taskId")))
        return &params->task_id;
    if (is_spelled(key, FL_SPAN("task")))
        return &params->task;
    if (is_spelled(key, FL_SPAN("inputResponses")))
        return &params->input_responses;
    return is_spelled(key, FL_SPAN("requestState")) ? &params->request_state
                                                    : none;
}

/* Lengths are constants in each comparison, which makes it a load or two. */
static fl_span *place_of(fl_params *params, fl_span key, fl_span *none)
{
    const char *name = key.ptr;

    if (key.len == 4 && memcmp(name, "name", 4) == 0)
        return &params->name;
    if (key.len == 4 && memcmp(name, "task", 4) == 0)
        return &params->task;
    if (key.len == 9 && memcmp(name, "arguments", 9) == 0)
        return &params->arguments;
    if (key.len == 5 && memcmp(name, "_meta", 5) == 0)
        return &params->meta;
    if (key.len == 3 && memcmp(name, "uri", 3) == 0)
        return &params->uri;
    if (key.len == 6 && memcmp(name, "taskId", 6) == 0)
        return &params->task_id;
    if (key.len == 14 && memcmp(name, "inputResponses", 14) == 0)
        return &params->input_responses;
    if (key.len == 12 && memcmp(name, "requestState", 12) == 0)
        return &params->request_state;
    return has_escape(key) ? place_of_escaped(params, key, none) : none;
}

static void note_meta(fl_params *params, const fl_json_member *member)
{
    fl_span token = FL_SPAN("progressToken");

    if (fl_claim_note(&params->claim, member))
        return;
    if (fl_span_equal(member->key, token) ||
        (has_escape(member->key) && is_spelled(member->key, token)))
        params->progress_token = member->value;
}

static void read_meta(const fl_json_top *top, fl_params *params)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_inside(&walk, top, META, params->meta);
    while (fl_json_walk_step(&walk, &member))
        note_meta(params, &member);
    fl_claim_end(&params->claim);
}

void fl_params_read(const fl_json_top *top, fl_span text, fl_params *params)
{
    fl_json_walk walk;
    fl_json_member member;
    fl_span other;

    if (fl_json_type_of(text) != FL_JSON_OBJECT)
        return;
    fl_json_walk_inside(&walk, top, PARAMS, text);
    while (fl_json_walk_step(&walk, &member))
        *place_of(params, member.key, &other) = member.value;
    if (fl_json_type_of(params->arguments) == FL_JSON_OBJECT)
        fl_json_cuts_keep(&params->cuts, top, ARGUMENTS, params->arguments);
    if (fl_json_type_of(params->meta) == FL_JSON_OBJECT)
        read_meta(top, params);
}
