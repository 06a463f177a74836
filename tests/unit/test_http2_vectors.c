/*
 * test_http2_vectors.c - the vectors of others: single frames, right and
 * wrong, and stories of compressed headers.
 *
 * A wrong frame must end the stream or the connection. A right one must be
 * taken where it is legal; many of the samples are only well-formed, so those
 * that make sense to a server are named here. The stories of HPACK were told
 * by the encoders of others.
 */
#include "base/span.h"
#include "support/data.h"
#include "support/http_end.h"
#include "wire/hpack.h"
#include "wire/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RST_STREAM = 3, SETTINGS = 4, GOAWAY = 7, FRAME_HEAD = 9 };

/* A server that has one open request, on stream 1, and has been heard. */
static void open_server(http_end *server, http_end *peer)
{
    *server = *peer = (http_end){0};
    assert_true(http_end_open(server, false, NULL));
    http_end_preface(peer);
    http_end_raw_get(peer, 1, false);
    http_end_deliver(peer, server);
    http_end_forget(server);
}

static void feed_wire(http_end *server, fl_span file, uint32_t stream)
{
    char wire[40000];
    size_t len = data_unhex(data_member(file, "wire"), wire, sizeof wire);

    assert_in_range(len, FRAME_HEAD, sizeof wire);
    if (stream != 0)
        wire[8] = (char)stream;
    fl_http_feed(server->http, (fl_span){wire, len});
}

static void check_wrong(void *user, const char *name, fl_span file)
{
    http_end server, peer;

    (void)user;
    open_server(&server, &peer);
    feed_wire(&server, file, 0);
    if (server.told[HTTP_OVER] == 0 && http_end_count(&server, RST_STREAM) == 0)
        fail_msg("%s: taken for a good frame", name);
    if (server.told[HTTP_OVER] == 1)
        assert_true(http_end_error(&server, GOAWAY) > 0);
    http_end_close(&server);
}

static void test_http2_refuses_frames_that_are_wrong(void **state)
{
    (void)state;
    assert_int_equal(data_each("http2/frames/error", check_wrong, NULL), 22);
}

static void test_http2_takes_frames_that_are_right(void **state)
{
    static const struct {
        const char *name;
        uint32_t stream; /* to which it is sent, instead of its own */
    } cases[] = {
        {"http2/frames/data/normal.json", 1},
        {"http2/frames/ping/normal.json", 0},
        {"http2/frames/priority/normal.json", 0},
        {"http2/frames/rst_stream/normal.json", 1},
        {"http2/frames/settings/normal.json", 0},
        {"http2/frames/window_update/normal.json", 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fl_span file = data_load(cases[i].name);
        http_end server, peer;
        open_server(&server, &peer);
        feed_wire(&server, file, cases[i].stream);
        assert_int_equal(server.told[HTTP_OVER], 0);
        assert_int_equal(http_end_count(&server, RST_STREAM), 0);
        assert_int_equal(http_end_count(&server, GOAWAY), 0);
        assert_int_equal(server.told[HTTP_LOST], i == 3);
        assert_int_equal(server.body, i == 0 ? strlen("Hello, world!") : 0);
        http_end_close(&server);
        data_free(file);
    }
}

static void test_http2_takes_a_goaway_as_a_farewell(void **state)
{
    fl_span file = data_load("http2/frames/goaway/normal.json");
    http_end server, peer;

    (void)state;
    open_server(&server, &peer);
    feed_wire(&server, file, 0);
    assert_int_equal(server.told[HTTP_OVER], 0);
    fl_exchange_reset(server.exchange);
    assert_int_equal(server.told[HTTP_OVER], 1);
    http_end_close(&server);
    data_free(file);
}

/* The next string of a JSON text, with its escaped quotes made plain. */
static bool next_string(fl_span *rest, char *out, size_t size, size_t *len)
{
    *rest = fl_span_from(*rest, fl_span_find(*rest, '"'));
    if (rest->len == 0)
        return false;
    *rest = fl_span_from(*rest, 1);
    for (*len = 0; rest->len > 0 && rest->ptr[0] != '"'; ++*len) {
        if (rest->ptr[0] == '\\')
            *rest = fl_span_from(*rest, 1);
        assert_in_range(*len, 0, size - 1);
        out[*len] = rest->ptr[0];
        *rest = fl_span_from(*rest, 1);
    }
    *rest = fl_span_from(*rest, 1);
    return true;
}

static bool cut_after(fl_span *rest, const char *mark)
{
    const char *at = memmem(rest->ptr, rest->len, mark, strlen(mark));

    if (at == NULL)
        return false;
    *rest = fl_span_from(*rest, (size_t)(at - rest->ptr) + strlen(mark));
    return true;
}

typedef struct story {
    fl_hpack_reader reader;
    size_t headers;
} story;

/* The fields that `wire` unpacks to are those that `expected` lists. */
static void check_block(story *s, fl_span wire, fl_span expected)
{
    fl_hpack_block block = {.rest = wire};
    const fl_hpack_entry *entry;
    char name[256], value[8192];
    size_t name_len, value_len;
    fl_status rc;

    while ((rc = fl_hpack_read(&s->reader, &block, &entry)) == FL_OK) {
        assert_true(next_string(&expected, name, sizeof name, &name_len));
        assert_true(next_string(&expected, value, sizeof value, &value_len));
        assert_true(fl_span_equal(entry->name, (fl_span){name, name_len}));
        assert_true(fl_span_equal(entry->value, (fl_span){value, value_len}));
        fl_hpack_drop(&s->reader, entry);
        s->headers++;
    }
    assert_int_equal(rc, FL_END);
    assert_false(next_string(&expected, name, sizeof name, &name_len));
}

/* `"headers":[...]` up to its bracket; values may have brackets, too. */
static fl_span list_of(fl_span rest)
{
    bool quoted = false;
    size_t n = 0;

    for (; n < rest.len && (quoted || rest.ptr[n] != ']'); n++) {
        if (rest.ptr[n] == '\\')
            n++;
        else if (rest.ptr[n] == '"')
            quoted = !quoted;
    }
    return (fl_span){rest.ptr, n};
}

static void check_story(void *user, const char *name, fl_span file)
{
    story *s = user;
    fl_span rest = file;
    char hex[40000], wire[20000];
    size_t hex_len;

    (void)name;
    fl_hpack_reader_init(&s->reader);
    while (cut_after(&rest, "\"seqno\":")) {
        fl_span before = {rest.ptr, fl_span_find(rest, '[')};
        if (cut_after(&before, "\"header_table_size\":"))
            fl_hpack_reader_limit(&s->reader,
                                  (uint32_t)strtoul(before.ptr, NULL, 10));
        assert_true(cut_after(&rest, "\"wire\":"));
        assert_true(next_string(&rest, hex, sizeof hex, &hex_len));
        size_t len = data_unhex((fl_span){hex, hex_len}, wire, sizeof wire);
        assert_true(cut_after(&rest, "\"headers\":["));
        check_block(s, (fl_span){wire, len}, list_of(rest));
    }
    fl_hpack_reader_deinit(&s->reader);
}

static void test_http2_unpacks_the_headers_of_others(void **state)
{
    story s = {.headers = 0};

    (void)state;
    data_each("http2/hpack/haskell-http2-linear-huffman", check_story, &s);
    data_each("http2/hpack/nghttp2-change-table-size", check_story, &s);
    assert_true(s.headers > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http2_refuses_frames_that_are_wrong),
        cmocka_unit_test(test_http2_takes_frames_that_are_right),
        cmocka_unit_test(test_http2_takes_a_goaway_as_a_farewell),
        cmocka_unit_test(test_http2_unpacks_the_headers_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
