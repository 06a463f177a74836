/*
 * probe.c - one HTTP request, and everything that became of it.
 *
 * It is a pool of one connection with one call on it, as a fetch is, but one
 * that keeps the whole head, takes streams that do not end, and can say in
 * Host what is not true. Redirects are not followed: they are findings.
 */
#include "cmd/probe.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "transport/http_options.h"
#include "transport/http_pool.h"
#include "transport/http_proxy.h"
#include "wire/url.h"

#include <fairlead/version.h>

#include <stdio.h>
#include <string.h>

enum {
    HEAD_MAX = 64 * 1024,
    BODY_MAX = 1024 * 1024,
    TARGET_MAX = 16 * 1024,
    HOST_MAX = sizeof((fl_address *)0)->host,
    FIELDS_MAX = FL_PROBE_FIELDS + FL_FLAG_LIST_MAX + 4,
};

/* What is needed while it is under way. */
typedef struct errand {
    fl_http_call call;
    fl_http_pool *pool;
    fl_probe *probe;
    fl_exam *exam;
    fl_proxy proxy;
    fl_fields fields;
    fl_buf authority, target;
    fl_buf names; /* of the headers of the command line */
    uint64_t began;
    bool stream;
    bool done, gone;
} errand;

static errand *errand_of(fl_http_call *call)
{
    return FL_LIST_ENTRY(call, errand, call);
}

static fl_status append_lower(fl_buf *out, fl_span name)
{
    char *to = fl_buf_reserve(out, name.len);

    if (to == NULL)
        return FL_E_LIMIT;
    for (size_t i = 0; i < name.len; i++) {
        char letter = name.ptr[i];
        bool upper = letter >= 'A' && letter <= 'Z';
        to[i] = upper ? (char)(letter + ('a' - 'A')) : letter;
    }
    fl_buf_commit(out, name.len);
    return FL_OK;
}

static fl_status keep_field(fl_buf *head, const fl_field *field)
{
    fl_status rc = append_lower(head, field->name);

    if (rc == FL_OK)
        rc = fl_buf_append(head, FL_SPAN(": "));
    if (rc == FL_OK)
        rc = fl_buf_append(head, field->value);
    return rc == FL_OK ? fl_buf_append(head, FL_SPAN("\n")) : rc;
}

static void on_head(fl_http_call *call, const fl_head *head)
{
    errand *at = errand_of(call);
    fl_probe *probe = at->probe;

    probe->status = head->status;
    probe->head_ms = fl_exam_clock() - at->began;
    for (size_t i = 0; i < head->count; i++)
        if (keep_field(&probe->head, &head->fields[i]) != FL_OK)
            return; /* what does not fit is not looked at */
}

static void on_body(fl_http_call *call, fl_span bytes)
{
    errand *at = errand_of(call);
    fl_probe *probe = at->probe;

    if (fl_buf_len(&probe->body) == 0)
        probe->body_ms = fl_exam_clock() - at->began;
    if (bytes.len > fl_buf_room(&probe->body))
        bytes.len = fl_buf_room(&probe->body);
    if (bytes.len == 0 || fl_buf_append(&probe->body, bytes) != FL_OK)
        at->done = true; /* that will do */
    if (at->stream)
        at->done = true;
}

static void on_end(fl_http_call *call)
{
    errand *at = errand_of(call);

    at->probe->whole = at->done = true;
}

static void on_lost(fl_http_call *call, const fl_error *why, fl_http_loss loss)
{
    errand *at = errand_of(call);

    (void)loss;
    at->probe->why = *why;
    at->done = true;
}

static const fl_http_call_events events = {.on_head = on_head,
                                           .on_body = on_body,
                                           .on_end = on_end,
                                           .on_lost = on_lost};

static void on_gone(void *user)
{
    errand *at = user;

    at->gone = true;
}

static bool is_tls(const fl_url *url)
{
    return url->scheme.len == 5;
}

/* One of the command line's, in lower case as fields are sent. */
static bool take_header(errand *at, const char *header, fl_field *field)
{
    size_t from = fl_buf_len(&at->names);
    fl_error error;

    if (fl_http_options_header(header, "", field, &error) != FL_OK ||
        append_lower(&at->names, field->name) != FL_OK)
        return false;
    field->name.ptr = fl_buf_view(&at->names).ptr + from;
    return true;
}

/* Ours first: those of the command line may not speak for us. */
static fl_status make_fields(errand *at, const fl_probe_request *request,
                             bool through_proxy)
{
    const fl_flag_list *more = &at->exam->line->headers.list;
    fl_field fields[FIELDS_MAX];
    size_t count = 0;

    if (fl_buf_reserve(&at->names, HEAD_MAX) == NULL) /* so that none moves */
        return FL_E_NOMEM;
    fields[count++] = FL_FIELD_SET(USER_AGENT, FL_SPAN("fairlead/" FL_VERSION));
    if (through_proxy && at->proxy.authorization != NULL)
        fields[count++] =
            (fl_field){FL_SPAN("proxy-authorization"),
                       fl_span_of(at->proxy.authorization), FL_FIELD_OTHER};
    for (size_t i = 0; i < FL_PROBE_FIELDS && request->fields[i].name.len > 0;
         i++)
        fields[count++] = request->fields[i];
    for (size_t i = 0; i < more->count && !request->bare; i++)
        if (take_header(at, more->items[i], &fields[count]))
            count++;
    return fl_fields_init(&at->fields, fields, count);
}

static fl_status make_target(errand *at, const fl_probe_request *request,
                             const fl_url *url, bool whole)
{
    fl_status rc = request->host.len > 0
                       ? fl_buf_append(&at->authority, request->host)
                       : fl_url_write_authority(url, &at->authority);

    if (rc == FL_OK && whole)
        rc = fl_buf_printf(&at->target, "http://%.*s", (int)url->host.len,
                           url->host.ptr);
    if (rc == FL_OK && whole && url->has_port)
        rc = fl_buf_printf(&at->target, ":%u", url->port);
    if (rc == FL_OK)
        rc = fl_buf_append(&at->target,
                           url->path.len > 0 ? url->path : FL_SPAN("/"));
    if (rc == FL_OK && url->query.len > 0)
        rc = fl_buf_append(&at->target, FL_SPAN("?"));
    return rc == FL_OK ? fl_buf_append(&at->target, url->query) : rc;
}

/* The Unix socket to ask through, if the URL is of the server itself. */
static const char *socket_for(const fl_exam *exam, const fl_url *url)
{
    return fl_span_equal(url->host, fl_span_of(fl_exam_host(exam))) &&
                   !url->has_port
               ? fl_address_socket(&exam->address)
               : NULL;
}

static fl_status make_pool(errand *at, const fl_url *url, const char *host,
                           const char *socket)
{
    const fl_doctor_line *line = at->exam->line;
    const fl_proxy *proxy = &at->proxy;
    fl_tls *tls = is_tls(url) ? at->exam->tls : NULL;
    const char *expected = line->options.tls.server_name;
    bool here = strcmp(host, at->exam->address.host) == 0;
    fl_status rc = FL_OK;
    fl_buf tunnel;

    fl_buf_init(&tunnel, TARGET_MAX);
    if (proxy->used && tls != NULL)
        rc = fl_proxy_write_connect(proxy, host, url->port, &tunnel);
    if (rc == FL_OK)
        rc = fl_http_pool_new(
            at->exam->loop,
            &(fl_http_pool_options){
                .connect = {.host = socket != NULL ? NULL
                                    : proxy->used  ? proxy->host
                                                   : host,
                            .path = socket,
                            .port = proxy->used ? proxy->port : url->port,
                            .tls = tls,
                            .server_name =
                                here && expected != NULL ? expected : host,
                            .tunnel = fl_buf_view(&tunnel).ptr,
                            .limits.open_timeout_ms = at->exam->step_ms},
                .version = 11,
                .keep = 1,
                .on_gone = on_gone,
                .user = at,
            },
            &at->pool);
    fl_buf_reset(&tunnel);
    return rc;
}

static fl_status start(errand *at, const fl_probe_request *request)
{
    fl_proxy_env env = fl_proxy_env_read();
    fl_error *why = &at->probe->why;
    char host[HOST_MAX];
    fl_status rc = FL_OK;
    fl_url url;

    if (fl_url_parse(request->url, &url) != FL_OK || url.host.len >= HOST_MAX)
        return fl_error_set(why, FL_E_INVALID, "no URL");
    if (is_tls(&url) && at->exam->tls == NULL)
        return fl_error_set(why, FL_E_TLS, "there is no TLS to ask it with");
    snprintf(host, sizeof host, "%.*s", (int)url.host.len, url.host.ptr);
    const char *socket = socket_for(at->exam, &url);
    if (socket == NULL)
        rc = fl_proxy_choose(&env, is_tls(&url), host, url.port, &at->proxy,
                             why);
    if (rc != FL_OK)
        return rc;
    bool whole = at->proxy.used && !is_tls(&url);
    rc = make_fields(at, request, whole);
    if (rc == FL_OK)
        rc = make_target(at, request, &url, whole);
    if (rc == FL_OK)
        rc = make_pool(at, &url, host, socket);
    if (rc != FL_OK)
        return fl_error_set(why, rc, "%s", fl_status_text(rc));
    at->call.heading = (fl_heading){
        .method = fl_span_of(request->method),
        .target = fl_buf_view(&at->target),
        .scheme = is_tls(&url) ? FL_SPAN("https") : FL_SPAN("http"),
        .authority = fl_buf_view(&at->authority),
        .common = &at->fields,
        .close = true,
    };
    at->call.body = request->body;
    rc = fl_http_call_start(at->pool, &at->call);
    return rc == FL_OK ? rc : fl_error_set(why, rc, "%s", fl_status_text(rc));
}

static void finish(errand *at)
{
    if (at->pool != NULL) {
        fl_http_call_cancel(&at->call);
        fl_http_pool_close(at->pool);
        fl_exam_wait_closed(at->exam, &at->gone);
        fl_http_pool_free(at->pool);
    }
    fl_proxy_deinit(&at->proxy);
    fl_fields_deinit(&at->fields);
    fl_buf_reset(&at->authority);
    fl_buf_reset(&at->target);
    fl_buf_reset(&at->names);
}

void fl_probe_make(fl_probe *probe, fl_exam *exam,
                   const fl_probe_request *request)
{
    uint64_t ms = request->for_ms > 0 ? request->for_ms : exam->step_ms;
    errand at = {.call.events = &events,
                 .probe = probe,
                 .exam = exam,
                 .began = fl_exam_clock(),
                 .stream = request->stream};

    *probe = (fl_probe){0};
    fl_buf_init(&probe->head, HEAD_MAX);
    fl_buf_init(&probe->body, BODY_MAX);
    fl_buf_init(&at.authority, HOST_MAX + 16);
    fl_buf_init(&at.target, TARGET_MAX);
    fl_buf_init(&at.names, HEAD_MAX);
    if (start(&at, request) == FL_OK && !fl_exam_wait(exam, &at.done, ms) &&
        probe->status == 0)
        fl_error_set(&probe->why, FL_E_TIMEOUT, "no answer within %g s",
                     (double)ms / 1e3);
    finish(&at);
}

void fl_probe_deinit(fl_probe *probe)
{
    fl_buf_reset(&probe->head);
    fl_buf_reset(&probe->body);
}

fl_span fl_probe_field(const fl_probe *probe, const char *name)
{
    fl_span rest = fl_buf_view(&probe->head);
    size_t len = strlen(name);

    while (rest.len > 0) {
        fl_span line = {rest.ptr, fl_span_find(rest, '\n')};
        rest = fl_span_from(rest, line.len + 1);
        if (line.len >= len + 2 && memcmp(line.ptr, name, len) == 0 &&
            line.ptr[len] == ':')
            return fl_span_from(line, len + 2);
    }
    return (fl_span){0};
}

bool fl_probe_is(const fl_probe *probe, const char *media)
{
    return fl_field_media_is(fl_probe_field(probe, "content-type"),
                             fl_span_of(media));
}
