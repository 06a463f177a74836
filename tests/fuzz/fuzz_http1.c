/*
 * fuzz_http1.c - how the bytes were cut must not matter.
 *
 * The first bytes of the input choose the side, the limits, when answers are
 * given and how the rest is chopped. The rest is read whole and in pieces, and
 * both must make the same events. Pieces are blocks of exactly their size.
 */
#include "base/span.h"
#include "wire/http.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef enum policy { AT_HEAD, AT_END, LATER, NEVER } policy;

typedef struct run {
    fl_http *http;
    uint64_t sum; /* FNV-1a over all that was seen */
    policy policy;
    fl_exchange *open;
    unsigned over;
} run;

static void digest(run *r, fl_span bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        r->sum = (r->sum ^ (unsigned char)bytes.ptr[i]) * 0x100000001b3u;
}

static void digest_number(run *r, uint64_t number)
{
    r->sum = (r->sum ^ number) * 0x100000001b3u;
}

static void require(bool fact)
{
    if (!fact)
        abort();
}

static void answer(run *r)
{
    const fl_heading heading = {.status = 200};
    const fl_span body = FL_SPAN("ok");
    fl_exchange *exchange = r->open;

    r->open = NULL;
    if (exchange != NULL)
        require(fl_exchange_answer(exchange, &heading, &body, 1) == FL_OK);
}

static fl_status on_write(void *user, const fl_span *parts, size_t count,
                          bool urgent)
{
    (void)user;
    (void)urgent;
    require(count > 0);
    for (size_t i = 0; i < count; i++)
        require(parts[i].len > 0);
    return FL_OK;
}

static void on_head(fl_exchange *exchange, const fl_head *head, void *user)
{
    run *r = user;

    digest_number(r, 'H');
    digest_number(r, head->status);
    digest_number(r, head->version);
    digest(r, head->method);
    digest(r, head->target);
    digest(r, head->authority);
    digest_number(r, head->has_length ? head->length : head->has_body);
    for (size_t i = 0; i < head->count; i++) {
        digest(r, head->fields[i].name);
        digest(r, head->fields[i].value);
        require(fl_field_name_ok(head->fields[i].name));
        require(fl_field_value_ok(head->fields[i].value));
        require(fl_field_find(head->fields[i].name) == head->fields[i].id);
    }
    r->open = exchange;
    if (r->policy == AT_HEAD && head->method.len > 0)
        answer(r);
}

static void on_body(fl_exchange *exchange, fl_span bytes, void *user)
{
    require(bytes.len > 0 && fl_exchange_head(exchange) != NULL);
    digest(user, bytes);
}

static void on_end(fl_exchange *exchange, void *user)
{
    run *r = user;
    bool server = fl_exchange_head(exchange)->method.len > 0;

    digest_number(r, 'E');
    if (!server)
        r->open = NULL;
    else if (r->policy == AT_END)
        answer(r);
}

static void on_bad(fl_exchange *exchange, unsigned status, const char *what,
                   void *user)
{
    run *r = user;

    require(fl_exchange_head(exchange) == NULL && what != NULL);
    require(status >= 400 && status < 600);
    digest_number(r, 'B');
    digest_number(r, status);
    r->open = exchange;
    answer(r);
}

static void on_lost(fl_exchange *exchange, const fl_error *why, void *user)
{
    run *r = user;

    (void)exchange;
    digest_number(r, 'L');
    digest_number(r, (uint64_t) - (int64_t)why->status);
    r->open = NULL;
}

static void on_pause(bool paused, void *user)
{
    (void)paused;
    (void)user;
}

static void on_held(void *user)
{
    (void)user;
}

static void on_over(void *user)
{
    run *r = user;

    digest_number(r, 'O');
    require(++r->over == 1);
}

static const fl_http_events events = {
    .write = on_write,
    .on_head = on_head,
    .on_body = on_body,
    .on_end = on_end,
    .on_bad = on_bad,
    .on_lost = on_lost,
    .on_pause = on_pause,
    .on_held = on_held,
    .on_over = on_over,
};

static void feed(run *r, fl_span piece)
{
    char *copy = malloc(piece.len > 0 ? piece.len : 1);

    require(copy != NULL);
    if (piece.len > 0)
        memcpy(copy, piece.ptr, piece.len);
    fl_http_feed(r->http, (fl_span){copy, piece.len});
    free(copy);
    while (r->policy == LATER && r->open != NULL && r->over == 0 &&
           fl_exchange_head(r->open) == NULL) {
        answer(r);
        fl_http_feed(r->http, (fl_span){0});
    }
}

static uint64_t read_all(uint8_t flags, fl_span in, uint8_t step)
{
    const fl_http_limits small = fl_http_limits_fill(
        &(fl_http_limits){.max_head = 128, .max_target = 32, .max_fields = 4});
    const bool client = (flags & 1) != 0;
    run r = {.policy = (policy)(flags >> 1 & 3)};
    const fl_http_options options = {
        .version = 11,
        .client = client,
        .limits = (flags & 8) != 0 ? &small : NULL,
        .events = &events,
        .user = &r,
    };
    static const char *const methods[] = {"GET", "HEAD", "CONNECT", "POST"};
    const fl_field upgrade = FL_FIELD_SET(UPGRADE, FL_SPAN("x"));
    const fl_heading ask = {
        .method = fl_span_of(methods[flags >> 4 & 3]),
        .target = FL_SPAN("/"),
        .authority = FL_SPAN("h"),
        .fields = &upgrade,
        .count = flags >> 6 & 1,
    };
    fl_exchange *exchange;

    require(fl_http_new(&options, &r.http) == FL_OK);
    if (client)
        require(fl_http_request(r.http, &ask, NULL, &exchange) == FL_OK);
    for (size_t at = 0; at < in.len;) {
        size_t n = step == 0 ? in.len : 1 + (at * 7 + step) % step;
        n = n < in.len - at ? n : in.len - at;
        feed(&r, (fl_span){in.ptr + at, n});
        at += n;
    }
    fl_http_end_input(r.http);
    digest_number(&r, fl_http_open(r.http));
    fl_http_free(r.http);
    return r.sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    fl_span in = {(const char *)data + 2, size - 2};
    uint64_t whole = read_all(data[0], in, 0);
    require(read_all(data[0], in, 1) == whole);
    require(read_all(data[0], in, data[1]) == whole);
    return 0;
}
