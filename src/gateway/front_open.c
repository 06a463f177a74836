/*
 * front_open.c - how a client gets to know a server through us.
 *
 * A legacy client opens a conversation, and is told of the server in the words
 * of its own revision, whatever the server's is. What it says of itself is
 * kept: a modern server is told it with every request.
 */
#include "adapt/adapt.h"
#include "base/span.h"
#include "base/status.h"
#include "gateway/back.h"
#include "gateway/cells.h"
#include "gateway/declare.h"
#include "gateway/gateway.h"
#include "gateway/route.h"
#include "gateway/standing.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "server/levels.h"
#include "json/nav.h"
#include "json/write.h"

enum {
    HELLO_MAX = 16 * 1024 * 1024,
    PARAMS_MAX = 1024 * 1024,
    CLAIM_MAX = 2 * 1024 * 1024,
};

/* What a server says of itself. */
typedef struct introduction {
    fl_span said;
    const fl_revision *speaks; /* fl_back_speaks() */
} introduction;

static bool is_each(const fl_front *front)
{
    return front->route->upstream.child == FL_CHILD_REQUEST;
}

static void attach(fl_front *front, fl_back *back)
{
    front->back = back;
    fl_list_append(&back->fronts, &front->by_back);
    fl_back_lean(back);
}

fl_status fl_front_join_back(fl_front *front, fl_error *why)
{
    fl_back *back =
        fl_route_for_session(front->route, front, front->revision, why);

    if (back == NULL)
        return why->status;
    attach(front, back);
    return FL_OK;
}

void fl_front_leave_back(fl_front *front)
{
    fl_back *back = front->back;

    if (back == NULL)
        return;
    fl_list_remove(&front->by_back);
    fl_standing_leave(front);
    front->back = NULL;
    fl_back_leave(back);
}

/* What was said once and for all is said to the next: now, or when it is
 * ready. */
static void settle_in(fl_front *front)
{
    fl_back *back = front->back;

    if (front->wants_log &&
        (!back->has_level || front->log_level < back->level)) {
        back->level = (fl_level)front->log_level;
        back->has_level = true;
    }
    if (!fl_back_is_ready(back))
        return;
    if (!fl_back_is_modern(back))
        fl_standing_replay(back);
    else if (front->state == FL_FRONT_READY)
        fl_to_modern_began(front);
}

fl_status fl_front_rejoin_back(fl_front *front, fl_error *why)
{
    if (front->back != NULL && !front->back->closing)
        return FL_OK;
    fl_back *next =
        fl_route_for_session(front->route, front, front->revision, why);
    if (next == NULL)
        return why->status;
    fl_front_leave_back(front);
    attach(front, next);
    settle_in(front);
    return FL_OK;
}

static void refuse(const fl_asker *asker, const fl_msg *msg, int code,
                   const char *text)
{
    fl_asker_refuse(asker, msg->id, code, fl_span_of(text), (fl_span){0});
}

/* Many clients are of one make, and say the same. */
static fl_status keep_params(fl_front *front, fl_span params)
{
    return params.len <= PARAMS_MAX
               ? fl_introductions_take(&front->route->gateway->introductions,
                                       params, &front->params)
               : FL_E_TOO_BIG;
}

static void forget_params(fl_front *front)
{
    fl_introduction_release(front->params);
    front->params = NULL;
}

void fl_front_initialize(const fl_asker *asker, const fl_msg *msg)
{
    fl_front *front = asker->front;
    fl_span version = fl_json_get(msg->params, FL_SPAN("protocolVersion"));
    fl_error why;

    if (front->state != FL_FRONT_FRESH) {
        refuse(asker, msg, FL_RPC_INVALID_REQUEST, "already initialized");
        return;
    }
    if (fl_json_type_of(version) != FL_JSON_STRING) {
        refuse(asker, msg, FL_RPC_INVALID_PARAMS,
               "params.protocolVersion must be a string");
        return;
    }
    if (!fl_health_admits(front->route, asker, msg->id))
        return;
    fl_errand *errand =
        keep_params(front, msg->params) == FL_OK
            ? fl_errand_new(asker, msg, FL_METHOD_INITIALIZE, true)
            : NULL;
    if (errand == NULL) {
        forget_params(front);
        refuse(asker, msg, FL_RPC_INTERNAL_ERROR, "out of memory");
        return;
    }
    front->revision =
        fl_revision_negotiate((fl_span){version.ptr + 1, version.len - 2});
    errand->asker.revision = front->revision;
    if (is_each(front) && fl_front_recall(errand))
        return;
    if (fl_front_join_back(front, &why) != FL_OK) {
        fl_asker last = errand->asker;
        front->revision = NULL;
        forget_params(front);
        fl_gateway_refuse(&last, errand->id, &why);
        fl_errand_drop(errand);
        return;
    }
    front->state = FL_FRONT_OPENING;
    fl_back_carry(front->back, errand, msg);
}

/* {"name":"...","version":"0"}, for servers that do not say. */
static fl_status name_server(const fl_route *route, fl_buf *out)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "name");
    fl_json_string(&writer, route->name);
    fl_json_key(&writer, "version");
    fl_json_string(&writer, "0");
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

/* What the server said of itself, in the words of the errand's revision. */
static fl_status tell(const fl_errand *errand, const introduction *hello,
                      fl_buf *name, fl_buf *out)
{
    fl_span said = hello->said;
    fl_adapt adapt = {
        .from = hello->speaks,
        .to = errand->asker.revision,
        .method = errand->method,
        .tasks = !hello->speaks->legacy || errand->method == FL_METHOD_DISCOVER,
    };

    fl_status rc = name_server(errand->asker.front->route, name);
    if (rc == FL_OK)
        rc = fl_adapt_server_hello(&adapt, said.len > 0 ? said : FL_SPAN("{}"),
                                   fl_buf_view(name), out);
    return rc == FL_END ? fl_buf_append(out, said) : rc;
}

static fl_status answer(fl_errand *errand, const introduction *hello)
{
    fl_buf name, out;

    fl_buf_init(&name, HELLO_MAX);
    fl_buf_init(&out, HELLO_MAX);
    fl_status rc = tell(errand, hello, &name, &out);
    if (rc == FL_OK)
        fl_errand_result(errand, fl_buf_view(&out));
    else
        fl_errand_fail(errand, FL_RPC_INTERNAL_ERROR,
                       fl_span_of(fl_status_text(rc)), (fl_span){0});
    fl_buf_reset(&name);
    fl_buf_reset(&out);
    return rc;
}

/* The client is told; and needs no server until it asks for something, where
 * each request has one of its own. */
static void welcome(fl_errand *errand, const introduction *hello)
{
    fl_front *front = errand->asker.front;

    front->state = FL_FRONT_OPENED;
    if (answer(errand, hello) != FL_OK)
        fl_front_unwelcome(front);
    else if (is_each(front))
        fl_front_leave_back(front);
}

static introduction hello_of(const fl_back *back)
{
    return (introduction){fl_lane_said(back->lane), fl_back_speaks(back)};
}

void fl_front_welcome(fl_errand *errand)
{
    introduction hello = hello_of(errand->back);

    welcome(errand, &hello);
}

void fl_front_unwelcome(fl_front *front)
{
    front->state = FL_FRONT_FRESH;
    front->revision = NULL;
    forget_params(front);
    fl_front_leave_back(front);
}

void fl_front_discover(fl_errand *errand)
{
    introduction hello = hello_of(errand->back);

    (void)answer(errand, &hello);
}

/* Only of children: those are slow to start, and they are all the same. */
bool fl_front_recall(fl_errand *errand)
{
    const fl_route *route = errand->asker.front->route;
    const fl_hello *known = fl_hellos_find(
        &route->hellos, errand->back != NULL ? errand->back->offered : NULL);

    if (known == NULL || !fl_route_is_children(route) ||
        (errand->method != FL_METHOD_INITIALIZE &&
         errand->method != FL_METHOD_DISCOVER))
        return false;
    introduction hello = {fl_buf_view(&known->said),
                          fl_revision_speaks(known->revision)};
    if (errand->method == FL_METHOD_INITIALIZE)
        welcome(errand, &hello);
    else
        (void)answer(errand, &hello);
    return true;
}

void fl_front_forget_claim(fl_front *front)
{
    fl_front_more *more = front->more;

    if (more == NULL)
        return;
    fl_introduction_release(more->claim);
    fl_introduction_release(more->task_claim);
    more->claim = more->task_claim = NULL;
}

/* What it has declared, as the server's revision has it, and that we carry. */
static fl_status write_abilities(const fl_front *front, const fl_adapt *adapt,
                                 fl_buf *out)
{
    fl_span said = fl_json_get(fl_introduction_text(front->params),
                               FL_SPAN("capabilities"));
    fl_buf adapted;

    if (fl_json_type_of(said) != FL_JSON_OBJECT)
        said = FL_SPAN("{}");
    fl_buf_init(&adapted, HELLO_MAX);
    fl_status rc = fl_adapt_client_capabilities(adapt, said, &adapted);
    if (rc == FL_OK)
        said = fl_buf_view(&adapted);
    if (rc == FL_OK || rc == FL_END)
        rc = fl_declare_carry(said, out);
    fl_buf_reset(&adapted);
    return rc;
}

static fl_status write_claim(const fl_front *front, const fl_revision *revision,
                             fl_span abilities, fl_buf *out)
{
    fl_span info =
        fl_json_get(fl_introduction_text(front->params), FL_SPAN("clientInfo"));
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "io.modelcontextprotocol/protocolVersion");
    fl_json_string(&writer, revision->name);
    fl_json_key(&writer, "io.modelcontextprotocol/clientInfo");
    fl_json_raw(&writer, fl_json_type_of(info) == FL_JSON_OBJECT
                             ? info
                             : FL_SPAN("{\"name\":\"unknown\","
                                       "\"version\":\"0\"}"));
    fl_json_key(&writer, "io.modelcontextprotocol/clientCapabilities");
    fl_json_raw(&writer, abilities);
    if (front->wants_log) {
        fl_json_key(&writer, "io.modelcontextprotocol/logLevel");
        fl_json_string(&writer, fl_levels_name((fl_level)front->log_level));
    }
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

static fl_status make_claim(const fl_front *front, const fl_adapt *adapt,
                            fl_introduction **out)
{
    fl_buf abilities, claim;

    fl_buf_init(&abilities, HELLO_MAX);
    fl_buf_init(&claim, CLAIM_MAX);
    fl_status rc = write_abilities(front, adapt, &abilities);
    if (rc == FL_OK)
        rc = write_claim(front, adapt->to, fl_buf_view(&abilities), &claim);
    if (rc == FL_OK)
        rc = fl_introductions_take(&front->route->gateway->introductions,
                                   fl_buf_view(&claim), out);
    fl_buf_reset(&abilities);
    fl_buf_reset(&claim);
    return rc;
}

fl_span fl_front_claim(fl_front *front, const fl_revision *revision, bool tasks)
{
    fl_adapt adapt = {
        .from = front->revision,
        .to = revision,
        .tasks = tasks,
    };

    if (front->revision == NULL) /* its initialize was refused */
        return (fl_span){0};
    fl_front_more *more = fl_front_get_more(front);
    if (more == NULL)
        return (fl_span){0};
    fl_introduction **claim = tasks ? &more->task_claim : &more->claim;
    if (*claim == NULL && make_claim(front, &adapt, claim) != FL_OK)
        return (fl_span){0};
    return fl_introduction_text(*claim);
}
