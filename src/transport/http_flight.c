/*
 * http_flight.c - one HTTP request, from the first try to the end of its
 * response.
 *
 * A request is tried a second time only when the server cannot have acted on
 * the first: no connection came about, or it says itself that it has not
 * begun. Everything else is for those above to judge.
 */
#include "transport/http_flight.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "transport/backoff.h"

#include <string.h>

enum {
    TARGET_MAX = 8 * 1024,
    REDIRECTS_MAX = 5,
    KEPT_MAX = 4096, /* bytes of a buffer that is kept from one to the next */
};

static const fl_http_call_events call_events;

static void on_timer(fl_timer *timer);

void fl_flight_init(fl_flight *flight, const fl_http_site *site,
                    const fl_flight_events *events)
{
    *flight = (fl_flight){.site = site, .events = events};
    flight->call.events = &call_events;
    fl_buf_init(&flight->target, TARGET_MAX);
    fl_buf_init(&flight->text, site->max_body);
    fl_sse_init(&flight->sse, site->max_body);
    fl_timer_init(&flight->timer, site->loop, on_timer);
}

static void empty(fl_buf *buf)
{
    if (buf->cap > KEPT_MAX)
        fl_buf_reset(buf);
    else
        fl_buf_clear(buf);
}

static void forget_response(fl_flight *flight)
{
    if (flight->inflate != NULL)
        fl_inflate_free(flight->inflate);
    flight->inflate = NULL;
    empty(&flight->text);
    flight->status = 0;
    flight->wait_s = 0;
    flight->is_stream = flight->is_moved = flight->is_lasting = false;
    flight->trouble.status = FL_OK;
}

/* There may be credentials among them. */
static void forget_fields(fl_flight *flight)
{
    fl_buf *text = &flight->fields.text;

    if (fl_buf_len(text) > 0)
        fl_mem_wipe(text->ptr, fl_buf_len(text));
    if (text->cap > KEPT_MAX)
        fl_fields_deinit(&flight->fields);
    else
        fl_fields_clear(&flight->fields);
}

void fl_flight_rest(fl_flight *flight)
{
    if (flight->gone != NULL)
        *flight->gone = true;
    flight->gone = NULL;
    fl_timer_stop(&flight->timer);
    fl_http_call_cancel(&flight->call);
    forget_response(flight);
    forget_fields(flight);
    if (flight->has_events) {
        fl_sse_deinit(&flight->sse);
        fl_sse_init(&flight->sse, flight->site->max_body);
    }
    flight->has_events = flight->follows_all = false;
}

void fl_flight_deinit(fl_flight *flight)
{
    fl_flight_rest(flight);
    fl_fields_deinit(&flight->fields);
    fl_buf_reset(&flight->target);
    fl_buf_reset(&flight->text);
    fl_sse_deinit(&flight->sse);
    *flight = (fl_flight){0};
}

static fl_status set_target(fl_flight *flight, fl_span target)
{
    const fl_http_site *site = flight->site;
    fl_status rc = FL_OK;

    fl_buf_truncate(&flight->target, 0);
    if (site->absolute)
        rc = fl_buf_printf(&flight->target, "%.*s://%.*s",
                           (int)site->url.scheme.len, site->url.scheme.ptr,
                           (int)site->authority.len, site->authority.ptr);
    if (rc == FL_OK)
        rc = fl_buf_append(&flight->target, target);
    return rc;
}

static fl_status take_off(fl_flight *flight)
{
    flight->call.heading.target = fl_buf_view(&flight->target);
    return fl_http_call_start(flight->site->pool, &flight->call);
}

fl_status fl_flight_start(fl_flight *flight, const fl_flight_request *request)
{
    const fl_http_site *site = flight->site;

    forget_response(flight);
    if (flight->has_events)
        fl_sse_restart(&flight->sse);
    flight->redirects = 0;
    flight->retried = flight->unsent = false;
    forget_fields(flight);
    fl_status rc =
        fl_fields_fill(&flight->fields, request->fields, request->count);
    if (rc == FL_OK)
        rc = set_target(flight, request->target);
    if (rc != FL_OK)
        return rc;
    flight->call.heading = (fl_heading){
        .method = request->method,
        .scheme = site->url.scheme,
        .authority = site->authority,
        .common = request->common != NULL ? request->common : site->fields,
        .own = &flight->fields,
    };
    flight->call.body = request->body;
    flight->call.urgent = request->urgent;
    return take_off(flight);
}

void fl_flight_linger(fl_flight *flight, uint64_t ms)
{
    flight->is_lasting = true;
    fl_timer_start(&flight->timer, ms);
}

/* The end; the flight may be gone afterwards. */
static void finish(fl_flight *flight, const fl_error *why)
{
    fl_flight_outcome outcome = {
        .status = flight->status,
        .streamed = flight->is_stream,
        .why = why,
        .unsent = flight->unsent,
    };

    if (!flight->is_stream)
        outcome.body = fl_buf_view(&flight->text);
    fl_timer_stop(&flight->timer);
    flight->events->on_done(flight, &outcome);
}

/* Breaks the response off; what comes of it is told at once. */
static void fail(fl_flight *flight, fl_status status, const char *what)
{
    fl_error why;

    fl_error_set(&why, status, "%s: %s", what, fl_status_text(status));
    fl_http_call_cancel(&flight->call);
    finish(flight, &why);
}

static void try_again(fl_flight *flight)
{
    forget_response(flight);
    flight->call.urgent = true; /* it was let in once */
    fl_status rc = take_off(flight);
    if (rc == FL_OK)
        return;
    fl_error why;
    fl_error_set(&why, rc, "%s", fl_status_text(rc));
    finish(flight, &why);
}

static void on_timer(fl_timer *timer)
{
    fl_flight *flight = FL_LIST_ENTRY(timer, fl_flight, timer);

    if (flight->is_lasting) {
        fl_http_call_cancel(&flight->call);
        finish(flight, NULL);
    } else {
        try_again(flight);
    }
}

static bool may_follow(const fl_flight *flight, unsigned status)
{
    return status == 307 || status == 308 ||
           (flight->follows_all && status >= 301 && status <= 303);
}

/* Names where it would have gone, without the path: that may tell secrets. */
static void refuse_redirect(fl_flight *flight, const fl_url *to, fl_span text)
{
    fl_buf origin;

    fl_buf_init(&origin, 512);
    if (to != NULL && fl_url_write_authority(to, &origin) == FL_OK)
        fl_error_set(&flight->trouble, FL_E_DENIED,
                     "redirect to %.*s://%.*s is not followed",
                     (int)to->scheme.len, to->scheme.ptr,
                     (int)fl_buf_len(&origin), fl_buf_view(&origin).ptr);
    else
        fl_error_set(&flight->trouble, FL_E_DENIED, "%s",
                     text.len > 0 ? "redirect to what is no URL"
                                  : "redirect to nowhere");
    fl_buf_reset(&origin);
}

static void aim(fl_flight *flight, unsigned status, const fl_url *to)
{
    char target[TARGET_MAX];
    size_t path = to->path.len > 0 ? to->path.len : 1;
    size_t len = path + (to->query.len > 0 ? 1 + to->query.len : 0);

    if (!may_follow(flight, status) ||
        !fl_url_same_origin(to, &flight->site->url) || len > sizeof target ||
        flight->redirects == REDIRECTS_MAX) {
        refuse_redirect(flight, to, (fl_span){0});
        return;
    }
    memcpy(target, to->path.len > 0 ? to->path.ptr : "/", path);
    if (to->query.len > 0) {
        target[path] = '?';
        memcpy(target + path + 1, to->query.ptr, to->query.len);
    }
    fl_status rc = set_target(flight, (fl_span){target, len});
    if (rc != FL_OK) {
        fl_error_set(&flight->trouble, rc, "%s", fl_status_text(rc));
        return;
    }
    flight->redirects++;
    flight->is_moved = true;
}

static void redirect(fl_flight *flight, const fl_head *head)
{
    fl_span location = fl_head_get(head, FL_FIELD_LOCATION);
    fl_url base = flight->site->url, to;
    fl_span at = flight->call.heading.target, query;
    fl_buf text;

    fl_buf_init(&text, TARGET_MAX);
    fl_url_split_target(at, &base.path, &query);
    if (location.len > 0 && fl_url_resolve(&base, location, &text) == FL_OK &&
        fl_url_parse(fl_buf_view(&text), &to) == FL_OK)
        aim(flight, head->status, &to);
    else
        refuse_redirect(flight, NULL, location);
    fl_buf_reset(&text);
}

static void expect_coding(fl_flight *flight, const fl_head *head)
{
    fl_span name = fl_head_get(head, FL_FIELD_CONTENT_ENCODING);
    fl_coding coding = fl_coding_find(name);
    size_t max = flight->is_stream ? SIZE_MAX / 4 : flight->site->max_body;

    if (coding == FL_CODING_IDENTITY)
        return;
    if (coding == FL_CODING_GZIP || coding == FL_CODING_DEFLATE) {
        flight->inflate = fl_inflate_new(coding, max);
        if (flight->inflate == NULL)
            fl_error_set(&flight->trouble, FL_E_NOMEM, "out of memory");
        return;
    }
    fl_error_set(&flight->trouble, FL_E_UNSUPPORTED,
                 "the response is packed in a way we did not ask for");
}

static fl_flight *flight_of(fl_http_call *call)
{
    return FL_LIST_ENTRY(call, fl_flight, call);
}

static void on_head(fl_http_call *call, const fl_head *head)
{
    fl_flight *flight = flight_of(call);
    fl_span type = fl_head_get(head, FL_FIELD_CONTENT_TYPE);

    flight->status = head->status;
    flight->wait_s =
        fl_backoff_seconds(fl_head_get(head, FL_FIELD_RETRY_AFTER));
    if (head->status >= 300 && head->status < 400) {
        redirect(flight, head);
        return;
    }
    flight->is_stream = head->status == 200 &&
                        fl_field_media_is(type, FL_SPAN("text/event-stream"));
    flight->has_events = flight->has_events || flight->is_stream;
    expect_coding(flight, head);
    if (flight->events->on_head != NULL)
        flight->events->on_head(flight, head);
}

/* False: the flight is gone. */
static bool tell_event(fl_flight *flight, const fl_sse_event *event)
{
    bool gone = false;

    /* it is unset below, or there is no flight that could point to it */
    /* cppcheck-suppress autoVariables */
    flight->gone = &gone;
    flight->events->on_event(flight, event);
    if (gone)
        return false;
    flight->gone = NULL;
    return true;
}

/* False: the flight is gone. */
static bool tell_events(fl_flight *flight, fl_span in)
{
    fl_sse_event event;
    fl_status rc;

    while ((rc = fl_sse_next(&flight->sse, &in, &event)) != FL_AGAIN) {
        if (rc < 0) {
            fail(flight, rc, "an event of the stream");
            return false;
        }
        if (!tell_event(flight, &event))
            return false;
    }
    return true;
}

static void read_stream(fl_flight *flight, fl_span bytes)
{
    if (flight->inflate == NULL) {
        (void)tell_events(flight, bytes);
        return;
    }
    fl_status rc = fl_inflate_feed(flight->inflate, bytes, &flight->text);
    if (rc < 0) {
        fail(flight, rc, "the packed response");
        return;
    }
    /* taken along, for the flight may go while its events are told */
    fl_buf plain = flight->text;
    fl_buf_init(&flight->text, flight->site->max_body);
    bool stays = tell_events(flight, fl_buf_view(&plain));
    fl_buf_truncate(&plain, 0);
    if (stays)
        flight->text = plain;
    else
        fl_buf_reset(&plain);
}

static void on_body(fl_http_call *call, fl_span bytes)
{
    fl_flight *flight = flight_of(call);

    if (flight->is_moved || flight->trouble.status != FL_OK)
        return; /* read, so that the connection can be used again */
    if (flight->is_stream) {
        read_stream(flight, bytes);
        return;
    }
    fl_status rc = flight->inflate != NULL
                       ? fl_inflate_feed(flight->inflate, bytes, &flight->text)
                       : fl_buf_append(&flight->text, bytes);
    if (rc < 0)
        fail(flight, rc, "the response");
}

static void on_end(fl_http_call *call)
{
    fl_flight *flight = flight_of(call);

    if (flight->is_moved)
        fl_timer_start(&flight->timer, 0);
    else
        finish(flight,
               flight->trouble.status != FL_OK ? &flight->trouble : NULL);
}

static void on_lost(fl_http_call *call, const fl_error *why, fl_http_loss loss)
{
    fl_flight *flight = flight_of(call);
    uint64_t wait_ms =
        loss == FL_HTTP_LOSS_UNLINKED ? flight->site->retry_ms : 0;

    if (loss == FL_HTTP_LOSS_SENT || flight->retried ||
        (loss == FL_HTTP_LOSS_UNLINKED && wait_ms == 0)) {
        flight->unsent = loss != FL_HTTP_LOSS_SENT;
        finish(flight, why);
        return;
    }
    flight->retried = true;
    fl_timer_start(&flight->timer, wait_ms);
}

static const fl_http_call_events call_events = {
    .on_head = on_head,
    .on_body = on_body,
    .on_end = on_end,
    .on_lost = on_lost,
};
