/*
 * test_gateway_front.c - what the gateway keeps of its clients.
 */
#include "gateway_host.h"

#include "gateway/gateway.h"
#include "gateway/route.h"

#define HELLO(name)                                                            \
    ASK("1", "initialize",                                                     \
        "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"              \
        "\"clientInfo\":{\"name\":\"" name "\",\"version\":\"1\"}")

static raw_peer second;

static size_t count_texts(void)
{
    return fl_map_count(&host.gateway->introductions.by_digest);
}

static const fl_front *front_at(int place)
{
    fl_route *route = FL_LIST_ENTRY(host.gateway->routes.next, fl_route, node);
    fl_list *node = route->fronts.next;

    for (int i = 0; i < place && node != &route->fronts; i++)
        node = node->next;
    return node != &route->fronts ? FL_LIST_ENTRY(node, fl_front, node) : NULL;
}

static bool has_said(int place)
{
    const fl_front *front = front_at(place);

    return front != NULL && front->params != NULL;
}

static int begin(void **state)
{
    (void)state;
    host_open(NULL);
    raw_say(&host.client, HELLO("a"));
    raw_accept(&host.server, host.loop, host.door);
    io_until(host.loop, has_said(0));
    raw_take(&second, host.loop, raw_dial(fl_gateway_port(host.gateway)));
    return 0;
}

static int finish(void **state)
{
    (void)state;
    host_end();
    return 0;
}

static void test_front_shares_what_another_has_said(void **state)
{
    (void)state;
    raw_say(&second, HELLO("a"));
    io_until(host.loop, has_said(1));
    assert_ptr_equal(front_at(0)->params, front_at(1)->params);
    assert_int_equal(count_texts(), 1);
    raw_close(&second);
    io_until(host.loop, (host.now += 500, front_at(1) == NULL));
    assert_int_equal(count_texts(), 1);
}

static void test_front_that_says_another_thing_has_its_own(void **state)
{
    (void)state;
    raw_say(&second, HELLO("b"));
    io_until(host.loop, has_said(1));
    assert_ptr_not_equal(front_at(0)->params, front_at(1)->params);
    assert_int_equal(count_texts(), 2);
    raw_close(&second);
    io_until(host.loop, (host.now += 500, front_at(1) == NULL));
    assert_int_equal(count_texts(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_front_shares_what_another_has_said,
                                        begin, finish),
        cmocka_unit_test_setup_teardown(
            test_front_that_says_another_thing_has_its_own, begin, finish),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
