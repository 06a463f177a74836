/*
 * request_compose.c - a client's request, as the message it becomes.
 *
 * A message is made of slices: what the caller gave goes out as it is, and
 * what we have to say beside it (a progress token, the claim of a revision) is
 * spliced in behind the brace that opens its _meta; what the server wanted
 * before it goes on, in front of the brace that closes its params. Nothing is
 * read into a tree and written anew.
 */
#include "client/request.h"

#include "base/span.h"
#include "json/nav.h"

/* A caller who says the revision himself says the rest as well. */
static bool has_claim(fl_span meta)
{
    return fl_json_get(meta, FL_SPAN("io.modelcontextprotocol/protocolVersion"))
               .len > 0;
}

/* A task has been told by its first message. */
static bool wants_progress(const fl_request *request)
{
    return request->options.on_progress != NULL && request->follow == NULL;
}

/* What we put into a _meta: raw members, and how many parts they take. */
static size_t own_members(const fl_request *request, fl_span claim,
                          fl_span parts[4])
{
    size_t count = 0;

    if (wants_progress(request)) {
        parts[count++] = FL_SPAN("\"progressToken\":");
        parts[count++] = fl_span_of(request->token);
    }
    if (count > 0 && claim.len > 0)
        parts[count++] = FL_SPAN(",");
    if (claim.len > 0)
        parts[count++] = claim;
    return count;
}

static bool is_empty(fl_span object)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, object);
    return !fl_json_walk_next(&walk, &member);
}

/* params without its last brace, with our members in its _meta; at most 9
 * parts. `bare` says whether it has none at all. */
static size_t put_params(const fl_request *request, fl_span params,
                         fl_span claim, fl_span *parts, bool *bare)
{
    fl_span meta = fl_json_get(params, FL_SPAN("_meta"));
    bool nested = fl_json_type_of(meta) == FL_JSON_OBJECT;
    fl_span into = nested ? meta : params;
    fl_span members[4];

    if (has_claim(meta))
        claim = (fl_span){0};
    size_t added = own_members(request, claim, members);
    *bare = added == 0 && is_empty(params);
    if (added == 0) {
        parts[0] = (fl_span){params.ptr, params.len - 1};
        return 1;
    }
    /* right after the brace that opens `into` */
    size_t at = (size_t)(into.ptr - params.ptr) + 1;
    bool last = is_empty(into);
    size_t count = 0;
    parts[count++] = (fl_span){params.ptr, at};
    if (!nested)
        parts[count++] = FL_SPAN("\"_meta\":{");
    for (size_t i = 0; i < added; i++)
        parts[count++] = members[i];
    if (!nested)
        parts[count++] = last ? FL_SPAN("}") : FL_SPAN("},");
    else if (!last)
        parts[count++] = FL_SPAN(",");
    parts[count++] = (fl_span){params.ptr + at, params.len - at - 1};
    return count;
}

size_t fl_request_compose(const fl_request *request, fl_span claim,
                          fl_span parts[FL_REQUEST_PARTS])
{
    fl_span params = fl_request_params(request);
    fl_span extra = fl_buf_view(&request->extra);
    size_t count = 0;
    bool bare;

    parts[count++] = FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":");
    parts[count++] = fl_span_of(request->token);
    parts[count++] = FL_SPAN(",\"method\":\"");
    parts[count++] = fl_request_method(request);
    if (params.len == 0 &&
        (claim.len > 0 || extra.len > 0 || wants_progress(request)))
        params = FL_SPAN("{}");
    if (params.len == 0) {
        parts[count++] = FL_SPAN("\"}");
        return count;
    }
    parts[count++] = FL_SPAN("\",\"params\":");
    count += put_params(request, params, claim, parts + count, &bare);
    if (extra.len > 0 && !bare)
        parts[count++] = FL_SPAN(",");
    if (extra.len > 0)
        parts[count++] = extra;
    parts[count++] = FL_SPAN("}}");
    return count;
}
