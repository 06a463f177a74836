/*
 * adapt_request.c - requests, on their way to the server.
 *
 * What a modern client claims in _meta a legacy server was told at initialize,
 * and what a legacy client said then a modern server wants to read in each
 * request. The answers to a server's questions travel in params only between
 * modern ends; elsewhere whoever stands between puts them there, or takes them.
 */
#include "adapt/adapt_impl.h"

static bool is_claim(const fl_json_member *member)
{
    return fl_edit_named(member, FL_META("protocolVersion")) ||
           fl_edit_named(member, FL_META("clientCapabilities")) ||
           fl_edit_named(member, FL_META("clientInfo")) ||
           fl_edit_named(member, FL_META("logLevel"));
}

static bool drops_claim(const fl_adapt *adapt, const fl_adapt_params *request)
{
    return adapt->from->legacy != adapt->to->legacy || request->claim.len > 0;
}

static bool says_claim(const fl_adapt *adapt, const fl_adapt_params *request)
{
    return !adapt->to->legacy && request->claim.len > 0;
}

/* `task` is a word of 2025-11-25 alone. */
static bool is_carried(const fl_adapt *adapt, const fl_adapt_params *request,
                       const fl_json_member *member)
{
    bool rounds = fl_edit_named(member, "inputResponses") ||
                  fl_edit_named(member, "requestState");
    bool task = fl_edit_named(member, "task");
    bool eras = adapt->from->legacy != adapt->to->legacy;

    if (request->members.len > 0 && (rounds || task))
        return false;
    if (rounds)
        return !eras;
    return !task || !fl_adapt_lacks(adapt, FL_HAS_TASKS);
}

/* Whether _meta would have nothing left to say. */
static bool is_spent(const fl_adapt *adapt, const fl_adapt_params *request,
                     fl_span meta)
{
    fl_json_walk walk;
    fl_json_member member;
    size_t claims = 0, count = 0;

    fl_json_walk_init(&walk, meta);
    for (; fl_json_walk_next(&walk, &member); count++)
        claims += is_claim(&member);
    return count > 0 && claims == count && drops_claim(adapt, request) &&
           !says_claim(adapt, request);
}

static void edit_meta(const fl_adapt *adapt, const fl_adapt_params *request,
                      fl_edit *edit, fl_span meta)
{
    fl_edit_walk walk;
    fl_json_member member;

    fl_edit_open(&walk, edit, meta);
    while (fl_edit_next(&walk, &member)) {
        if (drops_claim(adapt, request) && is_claim(&member))
            fl_edit_drop(&walk);
        else if (request->token.len > 0 &&
                 fl_edit_named(&member, "progressToken"))
            fl_edit_set(edit, member.value, request->token);
    }
    if (says_claim(adapt, request))
        fl_edit_add_members(&walk, request->claim);
}

static void put_claim(fl_edit *edit, fl_span claim)
{
    fl_edit_put(edit, FL_SPAN("{"));
    fl_edit_put(edit, claim);
    fl_edit_put(edit, FL_SPAN("}"));
}

static void edit_params(const fl_adapt *adapt, const fl_adapt_params *request,
                        fl_edit *edit)
{
    bool seen = false;
    fl_edit_walk walk;
    fl_json_member member;

    fl_edit_open(&walk, edit, request->params);
    while (fl_edit_next(&walk, &member)) {
        bool meta = fl_edit_named(&member, "_meta");
        bool object = fl_json_type_of(member.value) == FL_JSON_OBJECT;
        seen |= meta;
        if (meta && object && !is_spent(adapt, request, member.value)) {
            edit_meta(adapt, request, edit, member.value);
        } else if (meta && !object && says_claim(adapt, request)) {
            fl_edit_cut(edit, member.value);
            put_claim(edit, request->claim);
        } else if ((meta && object) || !is_carried(adapt, request, &member)) {
            fl_edit_drop(&walk);
        }
    }
    if (!seen && says_claim(adapt, request)) {
        fl_edit_add(&walk, "_meta");
        put_claim(edit, request->claim);
    }
    fl_edit_add_members(&walk, request->members);
}

/* A request without params gets some if there is something to say in them. */
static fl_status make_params(const fl_adapt *adapt,
                             const fl_adapt_params *request, fl_buf *out)
{
    fl_adapt_params empty = *request;
    fl_edit edit;

    empty.params = FL_SPAN("{}");
    fl_edit_init(&edit, empty.params, out);
    edit_params(adapt, &empty, &edit);
    return fl_edit_end(&edit);
}

fl_status fl_adapt_request(const fl_adapt *adapt,
                           const fl_adapt_params *request, fl_buf *out)
{
    bool plain = request->token.len == 0 && request->claim.len == 0 &&
                 request->members.len == 0;
    fl_edit edit;

    if (fl_adapt_is_same(adapt) && plain)
        return FL_END;
    if (request->params.len == 0)
        return make_params(adapt, request, out);
    if (fl_json_type_of(request->params) != FL_JSON_OBJECT)
        return FL_END;
    fl_edit_init(&edit, request->params, out);
    edit_params(adapt, request, &edit);
    return fl_edit_end(&edit);
}
