/*
 * test_http_vectors.c - the test cases of llhttp, judged by us.
 *
 * llhttp reads what is out there; we read what two parties cannot read in two
 * ways. So where the verdicts differ, ours must be the stricter, and the case
 * must be in the table below with its reason. A case in the table that does
 * not differ fails as well, so that the table stays true. What both accept
 * must have the same method, target, fields and body.
 *
 * llhttp knows nothing of Host, so requests in HTTP/1.1 that lack one are
 * given one before they are judged.
 */
#include "base/buf.h"
#include "base/span.h"
#include "support/data.h"
#include "wire/bytes.h"
#include "wire/http.h"
#include "json/nav.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The reasons. */
#define AFTER "what follows the last message is dropped, not judged"
#define EMPTY "one empty line before a request is overlooked, not two"
#define FOLD "folded lines are refused"
#define COLON "white space before a colon is refused"
#define LATER "is refused too, but when the head is whole"
#define LENGTHS "Content-Length with Transfer-Encoding is refused"
#define SKIP "llhttp was told that there are no bodies"
#define CR "CR without LF is refused"
#define LF "LF without CR is refused"
#define METHOD                                                                 \
    "any token is a method: which are served is not for a codec to say"
#define CONTROL "controls in values are refused"
#define VERSION "only HTTP/1.0 and HTTP/1.1 are spoken"
#define CONNECT "a server takes no CONNECT"
#define STAR "only OPTIONS may ask for *"
#define PROTOCOL "only HTTP is spoken"
#define OLD "HTTP/0.9 is not spoken"
#define TRAILERS "trailers are dropped"
#define CHUNK "a chunk's size and data end in CRLF and nothing else"
#define CODING "no transfer coding but chunked, and that once"
#define QUERY "an absolute target with a query has a path"
#define FRAGMENT "a fragment is never sent"
#define USER "a user name in a target is refused"
#define UNASKED "a response that nobody asked for ends the connection"
#define BEFORE "nothing comes before a response"
#define INTERIM "interim responses are skipped"
#define BODILESS "a 101 has no body, and does not say that it has"

static const struct {
    const char *id;
    const char *why;
} differing[] = {
    {"request/connection:81", AFTER},
    {"request/connection:292", AFTER},
    {"request/connection:342", AFTER},
    {"response/connection:164", AFTER},
    {"response/connection:225", AFTER},
    {"request/connection:156", EMPTY},
    {"request/connection:481", FOLD},
    {"request/connection:576", FOLD},
    {"request/invalid:686", FOLD},
    {"request/sample:333", FOLD},
    {"request/sample:571", FOLD},
    {"response/transfer-encoding:389", FOLD},
    {"request/connection:637", COLON},
    {"request/content-length:189", COLON},
    {"request/content-length:75", LATER},
    {"request/content-length:100", LATER},
    {"request/content-length:229", LENGTHS},
    {"request/transfer-encoding:530", LENGTHS},
    {"request/content-length:444", SKIP},
    {"response/content-length:123", SKIP},
    {"request/content-length:519", CR},
    {"request/lenient-headers:109", CR},
    {"request/sample:454", CR},
    {"request/transfer-encoding:1025", CR},
    {"response/invalid:151", CR},
    {"request/invalid:568", LF},
    {"response/invalid:304", LF},
    {"response/invalid:348", LF},
    {"response/sample:351", LF},
    {"request/invalid:66", METHOD},
    {"request/invalid:356", METHOD},
    {"request/lenient-header-value-relaxed:8", CONTROL},
    {"request/lenient-headers:6", CONTROL},
    {"request/lenient-headers:34", CONTROL},
    {"request/lenient-version:4", VERSION},
    {"response/lenient-version:4", VERSION},
    {"response/sample:645", VERSION},
    {"request/method:27", CONNECT},
    {"request/method:62", CONNECT},
    {"request/method:96", CONNECT},
    {"request/uri:188", CONNECT},
    {"request/method:135", STAR},
    {"request/method:372", PROTOCOL},
    {"request/method:400", PROTOCOL},
    {"request/method:430", PROTOCOL},
    {"response/sample:40", PROTOCOL},
    {"response/sample:60", PROTOCOL},
    {"request/sample:314", OLD},
    {"request/transfer-encoding:186", TRAILERS},
    {"request/transfer-encoding:1140", CHUNK},
    {"request/transfer-encoding:1215", CHUNK},
    {"request/transfer-encoding:680", CODING},
    {"request/transfer-encoding:713", CODING},
    {"request/transfer-encoding:751", CODING},
    {"request/transfer-encoding:793", CODING},
    {"response/transfer-encoding:43", CODING},
    {"response/transfer-encoding:74", CODING},
    {"response/transfer-encoding:110", CODING},
    {"request/uri:52", QUERY},
    {"request/uri:75", QUERY},
    {"request/uri:165", FRAGMENT},
    {"request/uri:222", USER},
    {"response/connection:492", UNASKED},
    {"response/pipelining:4", UNASKED},
    {"response/connection:586", BEFORE},
    {"response/sample:695", BEFORE},
    {"response/connection:641", INTERIM},
    {"response/connection:293", BODILESS},
    {"response/connection:331", BODILESS},
};

/* What we made of a case. */
typedef struct reader {
    fl_http *http;
    fl_span messages; /* as llhttp saw them: a JSON array */
    size_t begun, complete;
    bool upgrade; /* llhttp stops at the end of the message */
    bool bad;
    bool differs; /* from what llhttp saw */
    fl_buf body;
    fl_exchange *open;
} reader;

static fl_span expected(const reader *r, size_t index)
{
    fl_json_walk walk;
    fl_json_member member = {0};

    fl_json_walk_init(&walk, r->messages);
    for (size_t i = 0; i <= index; i++)
        if (!fl_json_walk_next(&walk, &member))
            return (fl_span){0};
    return member.value;
}

/* The vectors spell a tab as in C, and have lost the line ends of bodies; what
 * is compared has neither, nor white space at its end, which llhttp leaves. */
static void normalise(fl_span in, fl_buf *out)
{
    fl_buf_init(out, 1 << 16);
    for (size_t i = 0; i < in.len; i++) {
        fl_span one = {in.ptr + i, 1};
        if (fl_span_starts(fl_span_from(in, i), FL_SPAN("\\t"))) {
            one = FL_SPAN("\t");
            i++;
        }
        if (one.ptr[0] != '\r' && one.ptr[0] != '\n')
            assert_int_equal(fl_buf_append(out, one), FL_OK);
    }
}

static void compare_text(reader *r, fl_span got, fl_span want)
{
    fl_buf text, left, right;

    fl_buf_init(&text, 1 << 16);
    assert_int_equal(fl_json_string_copy(want, &text), FL_OK);
    normalise(got, &left);
    normalise(fl_buf_view(&text), &right);
    if (!fl_span_equal(fl_bytes_trim(fl_buf_view(&left)),
                       fl_bytes_trim(fl_buf_view(&right))))
        r->differs = true;
    fl_buf_reset(&text);
    fl_buf_reset(&left);
    fl_buf_reset(&right);
}

/* We added this one. */
static bool is_added(const fl_field *field)
{
    return field->id == FL_FIELD_HOST &&
           (fl_span_equal(field->value, FL_SPAN("added")) ||
            fl_span_starts(field->value, FL_SPAN("hypnotoad.org")));
}

static void compare_fields(reader *r, const fl_head *head, fl_span want)
{
    fl_json_walk pairs, pair;
    fl_json_member entry, name, value;
    size_t i = 0;

    fl_json_walk_init(&pairs, want);
    while (fl_json_walk_next(&pairs, &entry)) {
        fl_json_walk_init(&pair, entry.value);
        assert_true(fl_json_walk_next(&pair, &name));
        assert_true(fl_json_walk_next(&pair, &value));
        if (i < head->count && is_added(&head->fields[i]))
            i++;
        if (i == head->count)
            break;
        compare_text(r, head->fields[i].name, name.value);
        compare_text(r, head->fields[i].value, value.value);
        i++;
    }
    if (i < head->count && is_added(&head->fields[i]))
        i++;
    if (i != head->count || fl_json_walk_next(&pairs, &entry))
        r->differs = true;
}

/* An absolute target was reduced: what is left is its end. */
static void compare_target(reader *r, fl_span got, fl_span want)
{
    if (want.len > 2 && want.ptr[1] != 'h') {
        compare_text(r, got, want);
        return;
    }
    want.len--; /* the quote */
    if (got.len >= want.len ||
        (memcmp(want.ptr + want.len - got.len, got.ptr, got.len) != 0 &&
         !fl_span_equal(got, FL_SPAN("/"))))
        r->differs = true;
}

static void on_head(fl_exchange *exchange, const fl_head *head, void *user)
{
    reader *r = user;
    fl_span want = expected(r, r->begun++);

    r->open = exchange;
    fl_buf_reset(&r->body);
    if (want.len == 0)
        return; /* llhttp saw no such message: the count will tell */
    if (head->method.len > 0) {
        compare_text(r, head->method, fl_json_get(want, FL_SPAN("method")));
        compare_target(r, head->target, fl_json_get(want, FL_SPAN("url")));
    }
    compare_fields(r, head, fl_json_get(want, FL_SPAN("headers")));
}

static void on_body(fl_exchange *exchange, fl_span bytes, void *user)
{
    reader *r = user;

    (void)exchange;
    assert_int_equal(fl_buf_append(&r->body, bytes), FL_OK);
}

static void on_end(fl_exchange *exchange, void *user)
{
    reader *r = user;
    const fl_heading ok = {.status = r->upgrade ? 101 : 200};
    fl_span want = expected(r, r->begun - 1);

    r->complete++;
    if (want.len > 0)
        compare_text(r, fl_buf_view(&r->body),
                     fl_json_get(want, FL_SPAN("body")));
    r->open = NULL;
    if (fl_exchange_head(exchange)->method.len > 0)
        assert_int_equal(fl_exchange_answer(exchange, &ok, NULL, 0), FL_OK);
}

static void on_bad(fl_exchange *exchange, unsigned status, const char *what,
                   void *user)
{
    (void)exchange;
    (void)status;
    (void)what;
    ((reader *)user)->bad = true;
}

static void on_lost(fl_exchange *exchange, const fl_error *why, void *user)
{
    reader *r = user;

    (void)exchange;
    r->bad = why->status == FL_E_BAD_MESSAGE;
}

static fl_status on_write(void *user, const fl_span *parts, size_t count,
                          bool urgent)
{
    (void)user;
    (void)parts;
    (void)count;
    (void)urgent;
    return FL_OK;
}

static void on_pause(bool paused, void *user)
{
    (void)paused;
    (void)user;
}

static void on_nothing(void *user)
{
    (void)user;
}

static const fl_http_events events = {
    .write = on_write,
    .on_head = on_head,
    .on_body = on_body,
    .on_end = on_end,
    .on_bad = on_bad,
    .on_lost = on_lost,
    .on_pause = on_pause,
    .on_held = on_nothing,
    .on_over = on_nothing,
};

static int digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(digits, c);

    return at != NULL && c != '\0' ? (int)(at - digits) : -1;
}

static size_t decode(fl_span text, char *out, size_t size)
{
    unsigned word = 0, bits = 0;
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        int digit = digit_of(text.ptr[i]);
        if (digit < 0)
            continue; /* quotes and padding */
        word = word << 6 | (unsigned)digit;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            assert_true(n < size);
            out[n++] = (char)(word >> bits);
        }
    }
    return n;
}

static bool lacks_host(fl_span message)
{
    fl_json_walk pairs, pair;
    fl_json_member entry, name;

    fl_json_walk_init(&pairs, fl_json_get(message, FL_SPAN("headers")));
    while (fl_json_walk_next(&pairs, &entry)) {
        fl_json_walk_init(&pair, entry.value);
        if (fl_json_walk_next(&pair, &name) && name.value.len == 6 &&
            fl_field_name_equal((fl_span){name.value.ptr + 1, 4},
                                FL_SPAN("host")))
            return false;
    }
    return true;
}

/* The host of an absolute target, which Host has to agree with. */
static fl_span host_of(fl_span message)
{
    fl_span url = fl_json_get(message, FL_SPAN("url"));
    size_t n = 8, start = 8;

    if (!fl_span_starts(url, FL_SPAN("\"http://")))
        return FL_SPAN("added");
    while (n < url.len - 1 && url.ptr[n] != '/' && url.ptr[n] != '?')
        n++;
    return (fl_span){url.ptr + start, n - start};
}

static void add(fl_buf *out, fl_span text)
{
    assert_int_equal(fl_buf_append(out, text), FL_OK);
}

/* Gives each request line of HTTP/1.1 a Host where its message has none. */
static void add_hosts(const reader *r, fl_span in, fl_buf *out)
{
    const fl_span mark = FL_SPAN(" HTTP/1.1\r\n");
    size_t index = 0;

    for (size_t i = 0; i < in.len; i++) {
        fl_span rest = fl_span_from(in, i);
        if (!fl_span_starts(rest, mark)) {
            add(out, (fl_span){rest.ptr, 1});
            continue;
        }
        add(out, mark);
        i += mark.len - 1;
        fl_span message = expected(r, index++);
        if (lacks_host(message)) {
            add(out, FL_SPAN("Host: "));
            add(out, host_of(message));
            add(out, FL_SPAN("\r\n"));
        }
    }
}

static void run(reader *r, bool client, fl_span input)
{
    const fl_http_options options = {
        .version = 11, .client = client, .events = &events, .user = r};
    const fl_field upgrade = FL_FIELD_SET(UPGRADE, FL_SPAN("x"));
    const fl_heading get = {
        .method = FL_SPAN("GET"),
        .target = FL_SPAN("/"),
        .authority = FL_SPAN("h"),
        .fields = &upgrade,
        .count = r->upgrade ? 1 : 0,
    };
    fl_exchange *exchange;

    assert_int_equal(fl_http_new(&options, &r->http), FL_OK);
    if (client)
        assert_int_equal(fl_http_request(r->http, &get, NULL, &exchange),
                         FL_OK);
    fl_http_feed(r->http, input);
    fl_http_free(r->http);
}

static const char *reason_for(fl_span id)
{
    for (size_t i = 0; i < sizeof differing / sizeof *differing; i++)
        if (fl_json_string_is(id, fl_span_of(differing[i].id)))
            return differing[i].why;
    return NULL;
}

static int64_t number_of(fl_span vector, const char *name)
{
    int64_t value = -1;

    assert_int_equal(
        fl_json_int64(fl_json_get(vector, fl_span_of(name)), &value), FL_OK);
    return value;
}

/* Runs a case; `more` comes after its bytes. */
static reader read_case(fl_span vector, const char *more)
{
    static char bytes[1 << 16];
    fl_span type = fl_json_get(vector, FL_SPAN("type"));
    bool client = fl_span_starts(type, FL_SPAN("\"response"));
    reader r = {
        .messages = fl_json_get(vector, FL_SPAN("messages")),
        .upgrade = fl_json_string_is(fl_json_get(vector, FL_SPAN("expect")),
                                     FL_SPAN("upgrade")),
    };
    fl_buf input;

    fl_buf_init(&r.body, 1 << 16);
    fl_buf_init(&input, 1 << 16);
    size_t n =
        decode(fl_json_get(vector, FL_SPAN("input_b64")), bytes, sizeof bytes);
    if (client)
        add(&input, (fl_span){bytes, n});
    else
        add_hosts(&r, (fl_span){bytes, n}, &input);
    add(&input, fl_span_of(more));
    run(&r, client, fl_buf_view(&input));
    fl_buf_reset(&input);
    fl_buf_reset(&r.body);
    return r;
}

/* What is refused, or broken off, has no number of messages. */
static bool agrees(fl_span vector, const reader *r)
{
    bool refused = fl_json_string_is(fl_json_get(vector, FL_SPAN("expect")),
                                     FL_SPAN("reject"));
    int64_t complete = number_of(vector, "messages_complete");

    return r->bad == refused && !r->differs &&
           (refused || (int64_t)r->complete == complete);
}

/* Whether what differs is as the reason says. */
static bool is_excused(fl_span vector, const reader *r, const char *why)
{
    if (strcmp(why, LATER) == 0) {
        reader again = read_case(vector, "\r\n");
        return again.bad;
    }
    if (strcmp(why, METHOD) == 0 || strcmp(why, TRAILERS) == 0)
        return !r->bad && r->complete == 1;
    return r->bad ||
           (int64_t)r->complete <= number_of(vector, "messages_complete");
}

static size_t judge(fl_span vector)
{
    fl_span id = fl_json_get(vector, FL_SPAN("id"));
    const char *why = reason_for(id);
    reader r = read_case(vector, "");
    bool same = agrees(vector, &r);

    if (why == NULL ? same : !same && is_excused(vector, &r, why))
        return 0;
    print_message("%.*s: %s; %s, %zu of %zu messages%s\n", (int)id.len, id.ptr,
                  why != NULL ? why : "no reason to differ",
                  r.bad ? "refused" : "taken", r.complete, r.begun,
                  r.differs ? ", not the same" : "");
    return 1;
}

static void test_http_vectors_of_llhttp(void **state)
{
    fl_span file = data_load("http1/llhttp_vectors.json");
    fl_json_top top;
    fl_json_walk walk;
    fl_json_member member;
    size_t count = 0, wrong = 0;

    (void)state;
    assert_int_equal(fl_json_scan(file, 0, &top, NULL), FL_OK);
    fl_json_walk_init(&walk, fl_json_get(file, FL_SPAN("vectors")));
    for (; fl_json_walk_next(&walk, &member); count++)
        wrong += judge(member.value);
    assert_int_equal(wrong, 0);
    assert_true(count >= 251);
    data_free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http_vectors_of_llhttp),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
