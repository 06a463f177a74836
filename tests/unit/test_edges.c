/*
 * test_edges.c - which request a response is to, of which there is no more
 * than the start and the end.
 */
#include "rpc/edges.h"

#include "base/span.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MIDDLE = 1000 };

/* `start`, much more, and `end`; in pieces of `step` bytes. */
static uint64_t answers(const char *start, const char *end, size_t step)
{
    static char text[4 * MIDDLE];
    size_t len = strlen(start);
    fl_edges edges = {.start_len = 0};

    memcpy(text, start, len);
    memset(text + len, 'x', MIDDLE);
    len += MIDDLE;
    memcpy(text + len, end, strlen(end));
    len += strlen(end);
    for (size_t at = 0; at < len; at += step)
        fl_edges_add(&edges,
                     (fl_span){text + at, len - at < step ? len - at : step});
    return fl_edges_answers(&edges);
}

static void check(const char *start, const char *end, uint64_t want)
{
    static const size_t steps[] = {1, 2, 3, 100, 256, 257, 4 * MIDDLE};

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (answers(start, end, steps[i]) != want)
            fail_msg("%s...%s in steps of %zu", start, end, steps[i]);
}

static void test_edges_id_is_before_the_result(void **state)
{
    (void)state;
    check("{\"jsonrpc\":\"2.0\",\"id\":17,\"result\":{\"a\":\"", "\"}}", 17);
    check(" { \"id\" : 17 , \"jsonrpc\" : \"2.0\" , \"error\" : {\"a\":\"",
          "\"}}", 17);
    check("{\"id\":17,\"a\\\"b\":\"c\\\\\",\"result\":\"", "\"}", 17);
}

static void test_edges_id_is_after_the_result(void **state)
{
    (void)state;
    check("{\"result\":{\"a\":\"", "\"},\"jsonrpc\":\"2.0\",\"id\":17}", 17);
    check("{\"result\":\"", "\" , \"jsonrpc\" : \"2.0\" , \"id\" : 17 } ", 17);
    check("{\"jsonrpc\":\"2.0\",\"result\":[\"", "\"],\"id\":17,\"x\":null}",
          17);
}

static void test_edges_of_what_is_no_response_answer_nothing(void **state)
{
    (void)state;
    check("{\"jsonrpc\":\"2.0\",\"id\":17,\"method\":\"a\",\"params\":\"",
          "\"}", 0);
    check("{\"params\":\"", "\",\"method\":\"a\",\"id\":17}", 0);
    check("[{\"id\":17,\"result\":\"", "\"}]", 0);
    check("", "", 0);
    check("{\"id\":17,\"x\":\"", "\"}", 0);
}

static void test_edges_are_not_fooled_by_what_is_within(void **state)
{
    (void)state;
    check("{\"result\":{\"a\":\"", "\",\"id\":17}}", 0);
    check("{\"result\":\"", ",\\\"id\\\":17}\"}", 0);
    check("{\"result\":\"", ",\\\"id\\\":17}", 0);
    check("{\"result\":\"", "\",\"id\":\"17\"}", 0);
    check("{\"id\":\"17\",\"result\":\"", "\"}", 0);
    check("{\"result\":\"", "\",\"id\":1", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges_id_is_before_the_result),
        cmocka_unit_test(test_edges_id_is_after_the_result),
        cmocka_unit_test(test_edges_of_what_is_no_response_answer_nothing),
        cmocka_unit_test(test_edges_are_not_fooled_by_what_is_within),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
