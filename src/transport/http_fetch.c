/*
 * http_fetch.c - one HTTP exchange with any URL.
 *
 * It is a pool of one connection with one call on it: whatever the pool knows
 * about names, TLS, proxies and broken connections holds here, too. A pool
 * closes later, never at once, so a fetch that is over or given up lives on by
 * itself until its pool has gone; one timer is first its time limit, and then
 * the fresh stack from which the pool is closed.
 *
 * Bodies and values may be secrets, so they are wiped before they go.
 */
#include "transport/http_fetch.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "transport/address.h"
#include "transport/http_pool.h"
#include "transport/http_proxy.h"
#include "wire/url.h"

#include <fairlead/version.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    TARGET_MAX = 2 * FL_FETCH_URL, /* a proxy wants the whole URL */
    HOST_MAX = sizeof((fl_address *)0)->host,
    MAX_BODY = 256 * 1024,
    MAX_REQUEST = 1024 * 1024,
    TIMEOUT_MS = 30000,
    FIELDS_MAX = 16,
    TUNNEL_MAX = 8 * 1024,
};

struct fl_fetch {
    fl_http_call call;
    fl_http_pool *pool;
    fl_proxy proxy;
    fl_fields fields;
    fl_buf authority, target, body;
    fl_buf answer;
    unsigned status;
    const char *want[FL_FETCH_WANTS];
    char *value[FL_FETCH_WANTS];
    fl_error trouble;
    fl_timer timer;
    fl_fetch_fn *fn; /* NULL: nobody wants to know any more */
    void *user;
};

static bool is_tls(const fl_url *url)
{
    return url->scheme.len == 5;
}

static fl_status parse(fl_span text, fl_url *url, fl_error *error)
{
    *url = (fl_url){0};
    if (text.len <= FL_FETCH_URL && fl_url_parse(text, url) == FL_OK &&
        url->host.len < HOST_MAX &&
        ((url->scheme.len == 5 &&
          strncasecmp(url->scheme.ptr, "https", 5) == 0) ||
         (url->scheme.len == 4 &&
          strncasecmp(url->scheme.ptr, "http", 4) == 0)))
        return FL_OK;
    return fl_error_set(error, FL_E_INVALID,
                        "'%.*s' is no http:// or https:// URL",
                        (int)(text.len < 100 ? text.len : 100),
                        text.ptr != NULL ? text.ptr : "");
}

static void copy_host(const fl_url *url, char host[HOST_MAX])
{
    snprintf(host, HOST_MAX, "%.*s", (int)url->host.len, url->host.ptr);
}

static bool is_local(const fl_url *url)
{
    fl_address address = {.scheme = "http"};

    copy_host(url, address.host);
    return fl_address_is_local(&address);
}

fl_status fl_fetch_check(fl_span text, fl_fetch_plain plain, fl_error *error)
{
    fl_url url;
    fl_status rc = parse(text, &url, error);

    if (rc != FL_OK || is_tls(&url) || plain == FL_FETCH_ANY ||
        (plain == FL_FETCH_LOOPBACK && is_local(&url)))
        return rc;
    return fl_error_set(error, FL_E_DENIED,
                        "'http://%.*s' is not asked: secrets would travel in "
                        "the clear; it must be https://",
                        (int)url.host.len, url.host.ptr);
}

static void forget(fl_buf *buf)
{
    if (buf->ptr != NULL)
        fl_mem_wipe(buf->ptr, buf->cap);
    fl_buf_reset(buf);
}

static void free_fetch(fl_fetch *fetch)
{
    fl_timer_stop(&fetch->timer);
    fl_http_pool_free(fetch->pool);
    fl_proxy_deinit(&fetch->proxy);
    if (fetch->fields.text.ptr != NULL)
        fl_mem_wipe(fetch->fields.text.ptr, fetch->fields.text.cap);
    fl_fields_deinit(&fetch->fields);
    fl_buf_reset(&fetch->authority);
    fl_buf_reset(&fetch->target);
    forget(&fetch->body);
    forget(&fetch->answer);
    for (size_t i = 0; i < FL_FETCH_WANTS; i++) {
        if (fetch->value[i] != NULL)
            fl_mem_wipe(fetch->value[i], strlen(fetch->value[i]));
        fl_mem_free(fetch->value[i]);
    }
    fl_mem_free(fetch);
}

static void on_gone(void *user)
{
    free_fetch(user);
}

/* The one end of it. */
static void finish(fl_fetch *fetch, const fl_error *why)
{
    fl_fetch_fn *fn = fetch->fn;
    fl_fetch_answer answer = {
        .status = why == NULL ? fetch->status : 0,
        .body = fl_buf_view(&fetch->answer),
        .why = why,
    };

    for (size_t i = 0; i < FL_FETCH_WANTS; i++)
        answer.value[i] = fl_span_of(fetch->value[i]);
    fetch->fn = NULL;
    fl_timer_start(&fetch->timer, 0);
    if (fn != NULL)
        fn(fetch->user, &answer);
}

static void fail(fl_fetch *fetch, fl_status status, const char *what)
{
    fl_error why;

    fl_error_set(&why, status, "%s", what);
    fl_http_call_cancel(&fetch->call);
    finish(fetch, &why);
}

static void on_timer(fl_timer *timer)
{
    fl_fetch *fetch = FL_LIST_ENTRY(timer, fl_fetch, timer);

    if (fetch->fn == NULL)
        fl_http_pool_close(fetch->pool);
    else
        fail(fetch, FL_E_TIMEOUT, "no answer came in time");
}

static fl_fetch *fetch_of(fl_http_call *call)
{
    return FL_LIST_ENTRY(call, fl_fetch, call);
}

static void on_head(fl_http_call *call, const fl_head *head)
{
    fl_fetch *fetch = fetch_of(call);
    fl_span coding = fl_head_get(head, FL_FIELD_CONTENT_ENCODING);

    fetch->status = head->status;
    if (coding.len > 0 && !fl_field_list_has(coding, FL_SPAN("identity")))
        fl_error_set(&fetch->trouble, FL_E_UNSUPPORTED,
                     "the answer is packed, which was not asked for");
    for (size_t i = 0; i < FL_FETCH_WANTS && fetch->want[i] != NULL; i++) {
        fl_span value = fl_head_find(head, fl_span_of(fetch->want[i]));
        if (value.ptr == NULL || fetch->value[i] != NULL)
            continue;
        fetch->value[i] = fl_mem_string(value);
        if (fetch->value[i] == NULL)
            fl_error_set(&fetch->trouble, FL_E_NOMEM, "out of memory");
    }
}

static void on_body(fl_http_call *call, fl_span bytes)
{
    fl_fetch *fetch = fetch_of(call);
    fl_status rc = fl_buf_append(&fetch->answer, bytes);

    if (rc != FL_OK)
        fail(fetch, rc,
             rc == FL_E_TOO_BIG ? "the answer is larger than is allowed"
                                : fl_status_text(rc));
}

static void on_end(fl_http_call *call)
{
    fl_fetch *fetch = fetch_of(call);

    finish(fetch, fetch->trouble.status != FL_OK ? &fetch->trouble : NULL);
}

static void on_lost(fl_http_call *call, const fl_error *why, fl_http_loss loss)
{
    (void)loss;
    finish(fetch_of(call), why);
}

static const fl_http_call_events call_events = {
    .on_head = on_head,
    .on_body = on_body,
    .on_end = on_end,
    .on_lost = on_lost,
};

static fl_status make_pool(fl_fetch *fetch, fl_loop *loop,
                           const fl_fetch_request *request, const char *host,
                           const fl_url *url)
{
    const fl_proxy *proxy = &fetch->proxy;
    fl_tls *tls = is_tls(url) ? request->tls : NULL;
    fl_status rc = FL_OK;
    fl_buf tunnel;

    fl_buf_init(&tunnel, TUNNEL_MAX);
    if (proxy->used && tls != NULL)
        rc = fl_proxy_write_connect(proxy, host, url->port, &tunnel);
    if (rc == FL_OK)
        rc = fl_http_pool_new(
            loop,
            &(fl_http_pool_options){
                .connect = {.host = proxy->used ? proxy->host : host,
                            .port = proxy->used ? proxy->port : url->port,
                            .tls = tls,
                            .server_name = host,
                            .tunnel = fl_buf_view(&tunnel).ptr},
                .version = 11,
                .keep = 1,
                .on_gone = on_gone,
                .user = fetch,
            },
            &fetch->pool);
    forget(&tunnel);
    return rc;
}

static fl_status make_fields(fl_fetch *fetch, const fl_fetch_request *request,
                             bool through_proxy)
{
    fl_field fields[FIELDS_MAX + 2];
    size_t count = 0;

    if (request->count > FIELDS_MAX)
        return FL_E_INVALID;
    fields[count++] = FL_FIELD_SET(USER_AGENT, FL_SPAN("fairlead/" FL_VERSION));
    if (through_proxy && fetch->proxy.authorization != NULL)
        fields[count++] =
            (fl_field){FL_SPAN("proxy-authorization"),
                       fl_span_of(fetch->proxy.authorization), FL_FIELD_OTHER};
    for (size_t i = 0; i < request->count; i++)
        fields[count++] = request->fields[i];
    return fl_fields_init(&fetch->fields, fields, count);
}

/* A proxy without a tunnel wants the whole URL. */
static fl_status make_target(fl_fetch *fetch, const fl_url *url, bool whole)
{
    fl_buf *to = &fetch->target;
    fl_status rc = fl_url_write_authority(url, &fetch->authority);

    if (rc == FL_OK && whole)
        rc =
            fl_buf_printf(to, "http://%.*s", (int)fl_buf_len(&fetch->authority),
                          fl_buf_view(&fetch->authority).ptr);
    if (rc == FL_OK)
        rc = fl_buf_append(to, url->path.len > 0 ? url->path : FL_SPAN("/"));
    if (rc == FL_OK && url->query.len > 0)
        rc = fl_buf_append(to, FL_SPAN("?"));
    return rc == FL_OK ? fl_buf_append(to, url->query) : rc;
}

static fl_status fill(fl_fetch *fetch, fl_loop *loop,
                      const fl_fetch_request *request, fl_error *error)
{
    fl_proxy_env env = fl_proxy_env_read();
    char host[HOST_MAX];
    fl_url url;
    fl_status rc = parse(request->url, &url, error);

    if (rc != FL_OK)
        return rc;
    if (is_tls(&url) && request->tls == NULL)
        return fl_error_set(error, FL_E_TLS, "there is no TLS to ask it with");
    copy_host(&url, host);
    if (!request->no_proxy)
        rc = fl_proxy_choose(&env, is_tls(&url), host, url.port, &fetch->proxy,
                             error);
    if (rc != FL_OK)
        return rc;
    bool whole = fetch->proxy.used && !is_tls(&url);
    rc = make_fields(fetch, request, whole);
    if (rc == FL_OK)
        rc = make_target(fetch, &url, whole);
    if (rc == FL_OK)
        rc = fl_buf_append(&fetch->body, request->body);
    if (rc == FL_OK)
        rc = make_pool(fetch, loop, request, host, &url);
    if (rc == FL_OK) {
        fetch->call.heading = (fl_heading){
            .method = request->method,
            .target = fl_buf_view(&fetch->target),
            .scheme = is_tls(&url) ? FL_SPAN("https") : FL_SPAN("http"),
            .authority = fl_buf_view(&fetch->authority),
            .common = &fetch->fields,
            .close = true,
        };
        fetch->call.body = fl_buf_view(&fetch->body);
        rc = fl_http_call_start(fetch->pool, &fetch->call);
    }
    return rc == FL_OK ? rc : fl_error_set(error, rc, "%s", fl_status_text(rc));
}

static fl_fetch *make(fl_loop *loop, const fl_fetch_request *request)
{
    fl_fetch *fetch = fl_mem_zalloc(sizeof *fetch);
    size_t max = request->max_body;

    if (fetch == NULL)
        return NULL;
    fetch->call.events = &call_events;
    fl_buf_init(&fetch->authority, HOST_MAX + 16);
    fl_buf_init(&fetch->target, TARGET_MAX);
    fl_buf_init(&fetch->body, MAX_REQUEST);
    fl_buf_init(&fetch->answer, max > 0 ? max : MAX_BODY);
    fl_timer_init(&fetch->timer, loop, on_timer);
    for (size_t i = 0; i < FL_FETCH_WANTS; i++)
        fetch->want[i] = request->want[i];
    return fetch;
}

fl_status fl_fetch_start(fl_loop *loop, const fl_fetch_request *request,
                         fl_fetch_fn *fn, void *user, fl_fetch **out,
                         fl_error *error)
{
    fl_status rc = fl_fetch_check(request->url, request->plain, error);

    *out = NULL;
    if (rc != FL_OK)
        return rc;
    fl_fetch *fetch = make(loop, request);
    if (fetch == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    rc = fill(fetch, loop, request, error);
    if (rc != FL_OK && fetch->pool != NULL) {
        fl_timer_start(&fetch->timer, 0); /* it may have begun to connect */
        return rc;
    }
    if (rc != FL_OK) {
        free_fetch(fetch);
        return rc;
    }
    fetch->fn = fn;
    fetch->user = user;
    fl_timer_start(&fetch->timer,
                   request->timeout_ms > 0 ? request->timeout_ms : TIMEOUT_MS);
    *out = fetch;
    return FL_OK;
}

void fl_fetch_cancel(fl_fetch *fetch)
{
    if (fetch == NULL)
        return;
    fl_http_call_cancel(&fetch->call);
    fetch->fn = NULL;
    fl_timer_start(&fetch->timer, 0);
}
