/*
 * test_batch.c - JSON-RPC arrays, which revision 2025-03-26 alone has.
 *
 * On a channel the answers come as one array, when the last of them is there;
 * an array without requests is not answered at all.
 */
#include "server_host.h"

#include "server/batch.h"

static server_host host;

#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"
#define EMPTY(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}"
#define NOTE "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}"

static void test_batch_is_answered_with_an_array(void **state)
{
    (void)state;
    host_begin(&host, "2025-03-26");
    raw_asks(&host.peer, "[" PING("1") "]", "[" EMPTY("1") "]");
    raw_asks(&host.peer,
             " [ " PING("1") " , " NOTE " , " CALL("\"x\"", "echo",
                                                   "{\"text\":\"a\"}") " ] ",
             "[" EMPTY("1") "," TEXT_ANSWER("\"x\"", "a") "]");
    host_end(&host);
}

static void test_batch_without_requests_is_not_answered(void **state)
{
    (void)state;
    host_begin(&host, "2025-03-26");
    raw_say(&host.peer, "[" NOTE "," NOTE "]");
    raw_say(&host.peer, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}]");
    raw_hears_nothing(&host.peer);
    raw_asks(&host.peer, PING("2"), EMPTY("2"));
    host_end(&host);
}

static void test_batch_answers_each_element_that_is_wrong(void **state)
{
    (void)state;
    host_begin(&host, "2025-03-26");
    raw_say(&host.peer,
            "[1,{},[" PING("6") "]," PING("7") ",{\"jsonrpc\":\"2.0\",\"id\":8,"
                                               "\"method\":\"nope\"}]");
    const char *heard = raw_hear(&host.peer);
    const char *const parts[] = {
        "[{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600",
        "\"id\":null,\"error\":{\"code\":-32600",
        "\"id\":null,\"error\":{\"code\":-32600",
        "\"id\":7,\"result\":{}",
        "\"id\":8,\"error\":{\"code\":-32601",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        heard = strstr(heard, parts[i]);
        assert_non_null(heard);
        heard += strlen(parts[i]);
    }
    assert_int_equal(heard[strlen(heard) - 1], ']');
    host_end(&host);
}

static void test_batch_does_not_answer_a_bad_response(void **state)
{
    (void)state;
    host_begin(&host, "2025-03-26");
    raw_asks(&host.peer,
             "[{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{}}," PING("1") "]",
             "[" EMPTY("1") "]");
    host_end(&host);
}

static void test_batch_must_not_hold_initialize_or_nothing(void **state)
{
    (void)state;
    host_begin(&host, "2025-03-26");
    raw_asks(&host.peer, "[" INITIALIZE("1", "2025-03-26") "," PING("2") "]",
             "[" ERROR_ANSWER("1", "-32600",
                              "\"initialize must not be in a batch\"") //
             "," EMPTY("2") "]");
    raw_say(&host.peer, "[]");
    raw_hears_part(&host.peer,
                   "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":"
                   "-32600");
    host_end(&host);
}

static void check_refused(const char *revision)
{
    host_begin_with(&host, NULL);
    if (revision != NULL)
        host_greet(&host.peer, revision);
    raw_asks(&host.peer, "[" PING("1") "]",
             ERROR_ANSWER("null", "-32600",
                          "\"batches exist in revision 2025-03-26 only\""));
    raw_asks(&host.peer, PING("1"), EMPTY("1"));
    host_end(&host);
}

static void test_batch_is_refused_in_every_other_revision(void **state)
{
    (void)state;
    check_refused(NULL);
    check_refused("2024-11-05");
    check_refused("2025-06-18");
    check_refused("2025-11-25");
}

static void test_batch_waits_for_its_last_answer(void **state)
{
    (void)state;
    host_begin(&host, "2025-03-26");
    raw_say(&host.peer, "[" CALL("1", "wait", "{}") "," PING("2") "," CALL(
                            "3", "wait", "{}") "]");
    host_kept(&host, 2);
    raw_asks(&host.peer, PING("9"), EMPTY("9")); /* does not wait for it */
    host_answer(&host, 1, "three");
    raw_hears_nothing(&host.peer);
    host_answer(&host, 0, "one");
    raw_hears(&host.peer, "[" EMPTY("2") "," TEXT_ANSWER("3", "three") //
              "," TEXT_ANSWER("1", "one") "]");
    host_end(&host);
}

static void test_batch_leaves_out_what_was_cancelled(void **state)
{
    (void)state;
    host_begin(&host, "2025-03-26");
    raw_say(&host.peer,
            "[" CALL("1", "wait", "{}") "," CALL("2", "wait", "{}") "]");
    host_kept(&host, 2);
    raw_say(&host.peer, CANCELLED("1"));
    io_until(host.loop, host.cancelled == 1);
    host_answer(&host, 1, "two");
    raw_hears(&host.peer, "[" TEXT_ANSWER("2", "two") "]");
    host_answer(&host, 0, "unheard");
    raw_hears_nothing(&host.peer);

    raw_say(&host.peer, "[" CALL("3", "wait", "{}") "]");
    host_kept(&host, 3);
    raw_say(&host.peer, "[" CANCELLED("3") "]");
    io_until(host.loop, host.cancelled == 2);
    host_answer(&host, 2, "unheard"); /* and so nothing is left of it */
    raw_hears_nothing(&host.peer);
    host_end(&host);
}

static void test_batch_refuses_the_same_id_twice(void **state)
{
    (void)state;
    host_begin(&host, "2025-03-26");
    raw_say(&host.peer,
            "[" CALL("1", "wait", "{}") "," CALL("1", "wait", "{}") "]");
    host_kept(&host, 1);
    host_answer(&host, 0, "x");
    raw_hears(&host.peer,
              "[" ERROR_ANSWER("1", "-32600",
                               "\"a request with this id is in flight\"") //
              "," TEXT_ANSWER("1", "x") "]");
    host_end(&host);
}

static void test_batch_is_failed_when_the_server_closes(void **state)
{
    (void)state;
    host_begin(&host, "2025-03-26");
    raw_say(&host.peer, "[" PING("1") "," CALL("2", "wait", "{}") "]");
    host_kept(&host, 1);
    fl_server_close(host.server, 0, host_closed, &host);
    raw_hears(&host.peer,
              "[" EMPTY("1") "," ERROR_ANSWER(
                  "2", "-32603", "\"the server is shutting down\"") "]");
    raw_hears_end(&host.peer);
    host_end(&host);
}

static void test_batch_outlives_its_client(void **state)
{
    (void)state;
    host_begin(&host, "2025-03-26");
    raw_say(&host.peer,
            "[" CALL("1", "wait", "{}") "," CALL("2", "wait", "{}") "]");
    host_kept(&host, 2);
    host_answer(&host, 0, "one");
    raw_close(&host.peer);
    io_until(host.loop, (host.now += 500, host.cancelled == 1));
    host_end(&host);
}

static void test_batch_answer_has_a_limit(void **state)
{
    fl_batch *batch = fl_batch_new(8);
    fl_span answer = FL_SPAN("123456"), array;

    (void)state;
    fl_batch_expect(batch);
    fl_batch_expect(batch);
    assert_false(fl_batch_add(batch, &answer, 1));
    assert_true(fl_batch_add(batch, NULL, 0));
    assert_int_equal(fl_batch_take(batch, &array), FL_OK);
    assert_memory_equal(array.ptr, "[123456]", array.len);
    fl_batch_free(batch);

    batch = fl_batch_new(7);
    fl_batch_expect(batch);
    assert_true(fl_batch_add(batch, &answer, 1));
    assert_int_equal(fl_batch_take(batch, &array), FL_E_TOO_BIG);
    fl_batch_free(batch);
    fl_batch_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch_is_answered_with_an_array),
        cmocka_unit_test(test_batch_without_requests_is_not_answered),
        cmocka_unit_test(test_batch_answers_each_element_that_is_wrong),
        cmocka_unit_test(test_batch_does_not_answer_a_bad_response),
        cmocka_unit_test(test_batch_must_not_hold_initialize_or_nothing),
        cmocka_unit_test(test_batch_is_refused_in_every_other_revision),
        cmocka_unit_test(test_batch_waits_for_its_last_answer),
        cmocka_unit_test(test_batch_leaves_out_what_was_cancelled),
        cmocka_unit_test(test_batch_refuses_the_same_id_twice),
        cmocka_unit_test(test_batch_is_failed_when_the_server_closes),
        cmocka_unit_test(test_batch_outlives_its_client),
        cmocka_unit_test(test_batch_answer_has_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
