/*
 * link.c - what all links have in common: states, references, counting.
 *
 * The transports do the carrying; this file sees to it that they cannot step
 * out of line: a send on a link that is not open is refused before it
 * reaches the transport, a state can only follow another one that K5 allows,
 * and on_closed can come only once because CLOSED is left by nobody.
 */
#include "transport/link.h"

#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "transport/defaults.h"
#include "transport/transport.h"

#include <assert.h>

void fl_link_init(fl_link *link, const fl_transport *transport, fl_loop *loop,
                  bool server)
{
    *link = (fl_link){
        .transport = transport,
        .loop = loop,
        .refs = 1,
        .server = server,
    };
}

const char *fl_link_state_name(fl_link_state state)
{
    static const char *const names[] = {
        [FL_LINK_CREATED] = "created",
        [FL_LINK_CONNECTING] = "connecting",
        [FL_LINK_ACTIVE] = "active",
        [FL_LINK_CLOSING] = "closing",
        [FL_LINK_DISCONNECTED] = "disconnected",
        [FL_LINK_CLOSED] = "closed",
    };
    return names[state];
}

fl_status fl_link_move(fl_link *link, fl_link_state to)
{
    enum { NONE = 0 };
#define TO(state) (1u << FL_LINK_##state)
    static const unsigned allowed[] = {
        [FL_LINK_CREATED] = TO(CONNECTING) | TO(ACTIVE) | TO(CLOSING),
        [FL_LINK_CONNECTING] = TO(ACTIVE) | TO(DISCONNECTED) | TO(CLOSING),
        [FL_LINK_ACTIVE] = TO(DISCONNECTED) | TO(CLOSING),
        [FL_LINK_CLOSING] = TO(CLOSED),
        [FL_LINK_DISCONNECTED] = TO(CONNECTING) | TO(CLOSING),
        [FL_LINK_CLOSED] = NONE,
    };
#undef TO
    if ((allowed[link->state] & 1u << to) == 0)
        return FL_E_STATE;
    link->state = to;
    if (to == FL_LINK_ACTIVE)
        link->stats.opened_ms = fl_loop_now(link->loop);
    return FL_OK;
}

void fl_link_ended(fl_link *link, const fl_error *why)
{
    fl_status rc = fl_link_move(link, FL_LINK_CLOSED);

    assert(rc == FL_OK); /* a transport ends a link once, from CLOSING */
    (void)rc;
    if (link->events != NULL)
        link->events->on_closed(link, why);
    fl_link_unref(link);
}

static bool may_send(const fl_link *link)
{
    return link->state != FL_LINK_CLOSING && link->state != FL_LINK_CLOSED;
}

static fl_status count_sent(fl_link *link, fl_status rc, size_t len)
{
    if (rc == FL_OK) {
        link->stats.messages_out++;
        link->stats.bytes_out += len;
        link->stats.last_seen_ms = fl_loop_now(link->loop);
    } else if (rc < 0) {
        link->stats.errors++;
    }
    return rc;
}

static fl_status send(fl_link *link, void *stream, const fl_span *parts,
                      size_t count)
{
    if (!may_send(link))
        return FL_E_STATE;
    return count_sent(link, link->transport->send(link, stream, parts, count),
                      fl_span_total(parts, count));
}

fl_status fl_link_send(fl_link *link, const fl_span *parts, size_t count)
{
    return send(link, NULL, parts, count);
}

fl_status fl_link_relay(fl_link *link, const fl_msg *msg, fl_span id)
{
    const fl_transport *transport = link->transport;
    fl_relay relay = {.msg = msg, .id = id};

    if (!may_send(link))
        return FL_E_STATE;
    relay.count = fl_msg_renumber(msg, id, relay.parts);
    fl_status rc = transport->relay != NULL
                       ? transport->relay(link, &relay)
                       : transport->send(link, NULL, relay.parts, relay.count);
    return count_sent(link, rc, fl_span_total(relay.parts, relay.count));
}

fl_status fl_reply_send(fl_reply reply, const fl_span *parts, size_t count)
{
    return send(reply.link, reply.stream, parts, count);
}

fl_status fl_reply_end_error(fl_reply reply, int code, const fl_span *parts,
                             size_t count)
{
    fl_link *link = reply.link;
    size_t sent = may_send(link) ? count : 0;
    fl_status rc =
        link->transport->answer(link, reply.stream, code, parts, sent);

    if (count == 0 || sent == 0)
        return count == 0 ? rc : FL_E_STATE;
    rc = count_sent(link, rc, fl_span_total(parts, count));
    if (rc == FL_E_NOMEM) {
        /* An answer that cannot be held would leave the peer waiting for
         * ever; a broken link it understands. */
        fl_log_say(fl_loop_log(link->loop), FL_LOG_WARN,
                   "answer could not be queued, closing the link",
                   fl_log_text("reason", fl_span_of(fl_status_text(rc))));
        fl_link_close(link);
    }
    return rc;
}

fl_status fl_reply_end_retry(fl_reply reply, int code, unsigned retry_s,
                             const fl_span *parts, size_t count)
{
    const fl_transport *transport = reply.link->transport;

    if (retry_s > 0 && transport->retry != NULL)
        transport->retry(reply.link, reply.stream, retry_s);
    return fl_reply_end_error(reply, code, parts, count);
}

fl_status fl_reply_end(fl_reply reply, const fl_span *parts, size_t count)
{
    return fl_reply_end_error(reply, 0, parts, count);
}

fl_span fl_reply_field(fl_reply reply, fl_span name)
{
    const fl_transport *transport = reply.link->transport;

    return transport->field != NULL
               ? transport->field(reply.link, reply.stream, name)
               : (fl_span){0};
}

void fl_reply_hang_up(fl_reply reply, uint64_t retry_ms)
{
    if (may_send(reply.link) && reply.link->transport->hang_up != NULL)
        reply.link->transport->hang_up(reply.link, reply.stream, retry_ms);
}

fl_span fl_link_about(const fl_link *link)
{
    return link->transport->about != NULL ? link->transport->about(link)
                                          : (fl_span){0};
}

const fl_error *fl_link_blame(const fl_link *link)
{
    return link->transport->blame != NULL ? link->transport->blame(link) : NULL;
}

void fl_link_cancel(fl_link *link, fl_span id)
{
    if (may_send(link) && link->transport->cancel != NULL)
        link->transport->cancel(link, id);
}

void fl_link_close(fl_link *link)
{
    if (link->state != FL_LINK_CLOSING && link->state != FL_LINK_CLOSED)
        link->transport->close(link);
}

void fl_link_get_info(const fl_link *link, fl_link_info *info)
{
    *info = (fl_link_info){
        .kind = link->transport->name,
        .state = link->state,
        .traits = link->transport->traits,
        .stats = link->stats,
    };
    if (link->stats.opened_ms != 0)
        info->uptime_ms = fl_loop_now(link->loop) - link->stats.opened_ms;
    link->transport->info(link, info);
}

fl_status fl_link_operate(fl_link *link, const char *operation, fl_buf *answer)
{
    return link->transport->operate != NULL
               ? link->transport->operate(link, operation, answer)
               : FL_E_UNSUPPORTED;
}

fl_link *fl_link_ref(fl_link *link)
{
    link->refs++;
    return link;
}

void fl_link_unref(fl_link *link)
{
    if (--link->refs == 0)
        link->transport->free(link);
}

void fl_link_hold(fl_link *link)
{
    link->holds++;
}

void fl_link_release(fl_link *link)
{
    assert(link->holds > 0);
    if (--link->holds == 0 && link->transport->released != NULL)
        link->transport->released(link);
}

fl_status fl_link_listen(fl_loop *loop, const char *url,
                         const fl_options *options,
                         const fl_listener_events *events, void *user,
                         fl_listener **out, fl_error *error)
{
    fl_address address;
    fl_options full;

    *out = NULL;
    fl_status rc = fl_address_parse(url, &address, error);
    if (rc == FL_OK)
        rc = fl_options_for_server(options, &address, &full, error);
    if (rc != FL_OK)
        return rc;
    const fl_transport *transport =
        fl_transport_find(fl_span_of(address.scheme));
    return transport->listen(loop, &address, &full, events, user, out, error);
}

fl_status fl_link_connect(fl_loop *loop, const char *url,
                          const fl_options *options,
                          const fl_link_events *events, void *user,
                          fl_link **out, fl_error *error)
{
    fl_address address;
    fl_options full;

    *out = NULL;
    /* a child has no address: it is stdio, seen from the other side */
    fl_status rc =
        fl_address_parse(url != NULL ? url : "stdio:", &address, error);
    if (rc == FL_OK)
        rc = fl_options_for_client(options, &address, &full, error);
    if (rc != FL_OK)
        return rc;
    const fl_transport *transport =
        fl_transport_find(fl_span_of(address.scheme));
    return transport->connect(loop, &address, &full, events, user, out, error);
}

fl_status fl_listener_serve(fl_listener *listener, const char *base,
                            uint16_t endpoint, fl_error *error)
{
    const fl_transport *transport = listener->transport;

    if (transport->serve == NULL)
        return fl_error_set(error, FL_E_UNSUPPORTED,
                            "%s has no paths for several endpoints",
                            transport->name);
    return transport->serve(listener, base, endpoint, error);
}

void fl_listener_close(fl_listener *listener)
{
    listener->transport->close_listener(listener);
}
