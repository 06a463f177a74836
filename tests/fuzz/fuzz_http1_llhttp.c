/*
 * fuzz_http1_llhttp.c - whatever we take, llhttp takes in the same way.
 *
 * Two parsers that read one message differently are how requests are smuggled
 * past the first to the second. We may refuse what llhttp takes; but of what
 * we take it must see the same messages, with the same methods and bodies.
 * Left out: methods it does not know, and what follows an upgrade.
 */
#include "base/span.h"
#include "wire/http.h"

#include <llhttp.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MESSAGES_MAX = 64 };

/* What one parser saw. */
typedef struct view {
    fl_http *http;
    bool client;
    size_t count;    /* messages that were whole */
    bool refused;    /* something was */
    bool over;       /* the rest was dropped */
    bool waiting;    /* for the rest of a head, which is judged as a whole */
    bool foreign;    /* a method that only we take */
    unsigned status; /* of the message in hand */
    uint64_t sum;    /* of its method, status and body */
    uint64_t sums[MESSAGES_MAX];
} view;

static void digest(view *v, fl_span bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        v->sum = (v->sum ^ (unsigned char)bytes.ptr[i]) * 0x100000001b3u;
}

static void begin(view *v, fl_span method, unsigned status)
{
    v->status = status;
    v->sum = status;
    digest(v, method);
}

static void end(view *v)
{
    if (v->count < MESSAGES_MAX)
        v->sums[v->count] = v->sum;
    v->count++;
}

static bool is_known(fl_span method)
{
    static const char *const known[] = {
#define NAME(number, name, text) #text,
        HTTP_METHOD_MAP(NAME)
#undef NAME
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (fl_span_equal(method, fl_span_of(known[i])))
            return strcmp(known[i], "PRI") != 0;
    return false;
}

static fl_status our_write(void *user, const fl_span *parts, size_t count,
                           bool urgent)
{
    (void)user;
    (void)parts;
    (void)count;
    (void)urgent;
    return FL_OK;
}

static void our_head(fl_exchange *exchange, const fl_head *head, void *user)
{
    view *v = user;

    (void)exchange;
    begin(v, head->method, head->status);
    v->foreign = v->foreign || (!v->client && !is_known(head->method));
}

static void our_body(fl_exchange *exchange, fl_span bytes, void *user)
{
    (void)exchange;
    digest(user, bytes);
}

static void our_end(fl_exchange *exchange, void *user)
{
    view *v = user;
    const fl_heading ok = {.status = 200};

    end(v);
    if (!v->client && fl_exchange_answer(exchange, &ok, NULL, 0) != FL_OK)
        abort();
}

static void our_bad(fl_exchange *exchange, unsigned status, const char *what,
                    void *user)
{
    (void)exchange;
    (void)status;
    (void)what;
    ((view *)user)->refused = true;
}

static void our_lost(fl_exchange *exchange, const fl_error *why, void *user)
{
    (void)exchange;
    if (why->status == FL_E_BAD_MESSAGE)
        ((view *)user)->refused = true;
}

static void our_pause(bool paused, void *user)
{
    (void)paused;
    (void)user;
}

static void our_held(void *user)
{
    (void)user;
}

static void our_over(void *user)
{
    ((view *)user)->over = true;
}

static const fl_http_events events = {
    .write = our_write,
    .on_head = our_head,
    .on_body = our_body,
    .on_end = our_end,
    .on_bad = our_bad,
    .on_lost = our_lost,
    .on_pause = our_pause,
    .on_held = our_held,
    .on_over = our_over,
};

static void read_ours(view *v, fl_span in)
{
    const fl_http_options options = {
        .version = 11, .client = v->client, .events = &events, .user = v};
    const fl_heading ask = {
        .method = FL_SPAN("GET"),
        .target = FL_SPAN("/"),
        .authority = FL_SPAN("h"),
    };
    fl_exchange *exchange;

    if (fl_http_new(&options, &v->http) != FL_OK)
        abort();
    if (v->client && fl_http_request(v->http, &ask, NULL, &exchange) != FL_OK)
        abort();
    size_t idle = fl_http_memory(v->http);
    fl_http_feed(v->http, in);
    v->waiting = fl_http_memory(v->http) > idle;
    if (v->client)
        fl_http_end_input(v->http);
    fl_http_free(v->http);
}

/*
 * Returns whether it shall look for no body: llhttp would read one in chunks
 * after a 304, and leaves it to its user to say that there is none.
 */
static int their_head(llhttp_t *parser)
{
    view *v = parser->data;
    fl_span method = {0};

    if (!v->client)
        method = fl_span_of(llhttp_method_name(llhttp_get_method(parser)));
    begin(v, method, v->client ? parser->status_code : 0);
    return v->status == 204 || v->status == 304;
}

static int their_body(llhttp_t *parser, const char *at, size_t len)
{
    digest(parser->data, (fl_span){at, len});
    return 0;
}

static int their_end(llhttp_t *parser)
{
    view *v = parser->data;

    if (!v->client || v->status >= 200 || v->status == 101)
        end(v);
    return 0;
}

/* Returns what it says in the end. */
static llhttp_errno_t read_theirs(view *v, fl_span in)
{
    llhttp_settings_t settings;
    llhttp_t parser;

    llhttp_settings_init(&settings);
    settings.on_headers_complete = their_head;
    settings.on_body = their_body;
    settings.on_message_complete = their_end;
    llhttp_init(&parser, v->client ? HTTP_RESPONSE : HTTP_REQUEST, &settings);
    parser.data = v;
    llhttp_errno_t rc = llhttp_execute(&parser, in.ptr, in.len);
    if (rc == HPE_OK && v->client)
        rc = llhttp_finish(&parser);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    fl_span in = {(const char *)data + 2, size - 2};
    view ours = {.client = (data[0] & 1) != 0};
    view theirs = {.client = ours.client};

    read_ours(&ours, in);
    if (ours.foreign)
        return 0;
    llhttp_errno_t rc = read_theirs(&theirs, in);
    if (rc == HPE_PAUSED_UPGRADE && theirs.count < ours.count)
        ours.count = theirs.count;
    if (theirs.count < ours.count)
        abort();
    for (size_t i = 0; i < ours.count && i < MESSAGES_MAX; i++)
        if (ours.sums[i] != theirs.sums[i])
            abort();
    if (!ours.refused && !ours.over && !ours.waiting &&
        rc != HPE_PAUSED_UPGRADE &&
        (rc != HPE_OK || ours.count != theirs.count))
        abort();
    return 0;
}
