/*
 * listen.c - subscriptions/listen: a request that stays open.
 *
 * What may not be sent at once, because the client reads slowly, is owed: the
 * acknowledgement, which must come first, and one word about each list, each
 * resource and each task that has changed, however often it did. What is said
 * of a task is what it is when it is said.
 *
 * How it ends is told in two ways by two pages of the specification: a result
 * ("Subscriptions, Graceful Closure") and notifications/cancelled
 * ("Cancellation"). So both are sent, in this order: whoever has seen the
 * result ignores what comes after it. Where the end of the stream is the end
 * of the request, the result alone will do.
 */
#include "server/listen.h"

#include "base/mem.h"
#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "server/methods.h"
#include "server/resources.h"
#include "server/server.h"
#include "server/tasks.h"
#include "server/uris.h"
#include "server/watch.h"

#include "json/nav.h"
#include "json/write.h"
#include <string.h>

#define SUBSCRIPTION "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":"

struct fl_listen {
    fl_list node; /* among the session's */
    fl_return to;
    fl_span id;     /* lies behind the struct */
    unsigned wants; /* offers whose list it is told of */
    unsigned owes;  /* of them, not told yet */
    bool owes_welcome;
    fl_uris uris;  /* resources it is told of */
    fl_uris tasks; /* and tasks, by their ids */
    size_t kept;   /* bytes of the request that they came with */
};

static fl_listen *at(const fl_listens *listens, fl_list *node)
{
    return node != &listens->all ? FL_LIST_ENTRY(node, fl_listen, node) : NULL;
}

/* NULL when there is none. */
static fl_listen *first(const fl_session *session)
{
    return session->listens != NULL
               ? at(session->listens, session->listens->all.next)
               : NULL;
}

static fl_listen *after(const fl_listen *listen)
{
    return at(listen->to.session->listens, listen->node.next);
}

/* False: there is no memory for the first of a session. */
static bool join(fl_session *session, fl_listen *listen)
{
    if (session->listens == NULL) {
        session->listens = fl_mem_zalloc(sizeof *session->listens);
        if (session->listens == NULL)
            return false;
        fl_list_init(&session->listens->all);
    }
    fl_list_append(&session->listens->all, &listen->node);
    session->listens->count++;
    return true;
}

static void leave(fl_session *session, fl_listen *listen)
{
    fl_list_remove(&listen->node);
    if (--session->listens->count > 0)
        return;
    fl_mem_free(session->listens);
    session->listens = NULL;
}

static fl_listen *open_listen(const fl_return *to, fl_span id)
{
    fl_listen *listen = fl_mem_zalloc(sizeof *listen + id.len);

    if (listen == NULL || !join(to->session, listen)) {
        fl_mem_free(listen);
        return NULL;
    }
    listen->to = *to;
    memcpy(listen + 1, id.ptr, id.len);
    listen->id = (fl_span){(char *)(listen + 1), id.len};
    listen->owes_welcome = true;
    fl_uris_init(&listen->uris, FL_WATCH_MAX);
    fl_uris_init(&listen->tasks, FL_WATCH_MAX);
    fl_link_hold(to->session->link);
    return listen;
}

static void free_listen(fl_listen *listen)
{
    fl_session *session = listen->to.session;

    leave(session, listen);
    session->kept -= listen->kept;
    fl_link_release(session->link);
    fl_uris_deinit(&listen->uris);
    fl_uris_deinit(&listen->tasks);
    fl_mem_free(listen);
}

/* Ends it without a word. */
static void drop(fl_listen *listen)
{
    fl_return_send(&listen->to, listen->id, NULL, 0);
    free_listen(listen);
}

/* True: it has been said, or cannot be. */
static bool say(fl_listen *listen, fl_span method, fl_span key, fl_span value)
{
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"),
        method,
        FL_SPAN("\",\"params\":{" SUBSCRIPTION),
        listen->id,
        FL_SPAN("}"),
        key,
        value,
        FL_SPAN("}}"),
    };

    return fl_reply_send(listen->to.reply, parts, 8) != FL_BUSY;
}

/* The acknowledgement says what of the filter is honoured. */
static bool welcome(fl_listen *listen)
{
    fl_buf *out = fl_loop_scratch(listen->to.session->loop);
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    for (size_t i = 0; i < FL_OFFER_LISTS; i++)
        if ((listen->wants & fl_offer_lists[i].offer) != 0) {
            fl_json_key(&writer, fl_offer_lists[i].filter.ptr);
            fl_json_bool(&writer, true);
        }
    if (fl_uris_count(&listen->uris) > 0) {
        fl_json_key(&writer, FL_LISTEN_RESOURCES);
        fl_uris_write(&listen->uris, &writer);
    }
    if (fl_uris_count(&listen->tasks) > 0) {
        fl_json_key(&writer, FL_LISTEN_TASKS);
        fl_uris_write(&listen->tasks, &writer);
    }
    fl_json_object_end(&writer);
    if (fl_json_writer_end(&writer) != FL_OK)
        return false;
    return say(listen, FL_SPAN("subscriptions/acknowledged"),
               FL_SPAN(",\"notifications\":"), fl_buf_view(out));
}

static bool say_updated(void *user, fl_span token)
{
    return say(user, FL_SPAN("resources/updated"), FL_SPAN(",\"uri\":"), token);
}

/* All that tasks/get would tell. One that has gone is not spoken of. */
static bool say_task(void *user, fl_span token)
{
    fl_listen *listen = user;
    const fl_job *job = fl_job_find(listen->to.session->server, NULL, token);
    fl_buf text;
    bool said = job == NULL;

    fl_buf_init(&text, (size_t)2 * FL_JOBS_BYTES);
    if (job != NULL && fl_job_write_details(&text, job) == FL_OK) {
        fl_span all = fl_buf_view(&text);
        said = say(listen, FL_SPAN("tasks"), FL_SPAN(","),
                   (fl_span){all.ptr + 1, all.len - 2});
    }
    fl_buf_reset(&text);
    return said;
}

static void pay(fl_listen *listen)
{
    if (listen->owes_welcome)
        listen->owes_welcome = !welcome(listen);
    if (listen->owes_welcome)
        return;
    for (size_t i = 0; i < FL_OFFER_LISTS; i++)
        if ((listen->owes & fl_offer_lists[i].offer) != 0 &&
            say(listen, fl_offer_lists[i].changed, FL_SPAN(""), FL_SPAN("")))
            listen->owes &= ~(unsigned)fl_offer_lists[i].offer;
    fl_uris_pay(&listen->uris, fl_loop_scratch(listen->to.session->loop),
                say_updated, listen);
    fl_uris_pay(&listen->tasks, fl_loop_scratch(listen->to.session->loop),
                say_task, listen);
}

/* Those that can be read are honoured. */
static fl_status add_uri(fl_listen *listen, fl_span token)
{
    fl_catalog *catalogs = listen->to.session->server->catalogs;
    fl_resources_entry *found;
    fl_buf text, arguments;

    fl_buf_init(&text, FL_RESOURCES_URI_MAX);
    fl_buf_init(&arguments, FL_RESOURCES_ARGUMENTS_MAX);
    fl_status rc = fl_json_string_copy(token, &text);
    if (rc == FL_OK)
        rc =
            fl_resources_find(catalogs, fl_buf_view(&text), &arguments, &found);
    if (rc == FL_OK)
        rc = fl_uris_add(&listen->uris, fl_buf_view(&text));
    fl_buf_reset(&arguments);
    fl_buf_reset(&text);
    return rc == FL_E_NOMEM ? rc : FL_OK;
}

static fl_status add_uris(fl_listen *listen, fl_span uris)
{
    fl_json_walk walk;
    fl_json_member element;
    fl_status rc = FL_OK;

    if ((fl_methods_offers(&listen->to) & FL_OFFER_RESOURCES) == 0)
        return FL_OK;
    listen->kept = uris.len;
    listen->to.session->kept += uris.len;
    fl_json_walk_init(&walk, uris);
    while (rc == FL_OK && fl_json_walk_next(&walk, &element))
        rc = add_uri(listen, element.value);
    return rc;
}

/* Those there are are honoured; how they are is told at once, for what has
 * become of them meanwhile. */
static fl_status add_tasks(fl_listen *listen, fl_span ids)
{
    fl_json_walk walk;
    fl_json_member element;
    fl_status rc = FL_OK;

    fl_json_walk_init(&walk, ids);
    while (rc == FL_OK && fl_json_walk_next(&walk, &element)) {
        const fl_job *job =
            fl_job_find(listen->to.session->server, NULL, element.value);
        if (job == NULL)
            continue;
        rc = fl_uris_add(&listen->tasks, fl_span_of(job->id));
        fl_uris_owe(&listen->tasks, fl_span_of(job->id));
    }
    return rc;
}

void fl_method_listen(const fl_return *to, const fl_msg *msg)
{
    fl_span filter = fl_json_get(msg->params, FL_SPAN("notifications"));
    fl_span uris = fl_json_get(filter, FL_SPAN(FL_LISTEN_RESOURCES));
    fl_span ids = fl_json_get(filter, FL_SPAN(FL_LISTEN_TASKS));

    if (!fl_listen_admit(to, msg, filter))
        return;
    fl_listen *listen = open_listen(to, msg->id);
    if (listen == NULL || add_uris(listen, uris) != FL_OK ||
        add_tasks(listen, ids) != FL_OK) {
        if (listen != NULL)
            free_listen(listen);
        fl_return_error(to, msg->id, FL_RPC_INTERNAL_ERROR,
                        FL_SPAN("out of memory"), (fl_span){0});
        return;
    }
    listen->wants = fl_listen_wishes(filter) & fl_methods_offers(to);
    pay(listen);
}

fl_listen *fl_listen_find(const fl_session *session, fl_span id)
{
    fl_listen *listen = first(session);

    while (listen != NULL && !fl_msg_id_equal(listen->id, id))
        listen = after(listen);
    return listen;
}

bool fl_listen_cancel(fl_session *session, fl_span id)
{
    fl_listen *listen = fl_listen_find(session, id);

    if (listen != NULL)
        drop(listen);
    return listen != NULL;
}

bool fl_listen_abandon(fl_session *session, const void *stream)
{
    fl_listen *listen = first(session);

    while (listen != NULL && listen->to.reply.stream != stream)
        listen = after(listen);
    if (listen != NULL)
        drop(listen);
    return listen != NULL;
}

void fl_listen_changed(fl_session *session, fl_offer offer)
{
    for (fl_listen *it = first(session); it != NULL; it = after(it))
        it->owes |= it->wants & offer;
    fl_listen_resume(session);
}

void fl_listen_updated(fl_session *session, fl_span uri)
{
    for (fl_listen *it = first(session), *next; it != NULL; it = next) {
        next = after(it);
        fl_uris_owe(&it->uris, uri);
        pay(it);
    }
}

void fl_listen_task(fl_session *session, fl_span id)
{
    for (fl_listen *it = first(session), *next; it != NULL; it = next) {
        next = after(it);
        fl_uris_owe(&it->tasks, id);
        pay(it);
    }
}

void fl_listen_resume(fl_session *session)
{
    for (fl_listen *it = first(session), *next; it != NULL; it = next) {
        next = after(it);
        pay(it);
    }
}

static void say_goodbye(fl_listen *listen)
{
    fl_session *session = listen->to.session;
    fl_span result[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
        listen->id,
        FL_SPAN(",\"result\":{\"resultType\":\"complete\"," SUBSCRIPTION),
        listen->id,
        FL_SPAN(",\"io.modelcontextprotocol/serverInfo\":"),
        fl_buf_view(&session->server->identity),
        FL_SPAN("}}}"),
    };
    fl_span cancelled[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                "\"params\":{\"requestId\":"),
        listen->id,
        FL_SPAN(",\"reason\":\"the subscription has ended\"}}"),
    };

    fl_return_send(&listen->to, listen->id, result, 7);
    if ((session->traits & FL_LINK_CHANNEL) != 0)
        (void)!fl_link_send(session->link, cancelled, 3);
}

void fl_listen_end(fl_session *session)
{
    fl_listen *listen;

    while ((listen = first(session)) != NULL) {
        say_goodbye(listen);
        free_listen(listen);
    }
}

void fl_listen_forget(fl_session *session)
{
    fl_listen *listen;

    while ((listen = first(session)) != NULL)
        free_listen(listen);
}
