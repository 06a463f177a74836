/*
 * test_gateway_unread.c - a client that does not read: it loses notifications,
 * which is counted, and nothing else.
 */
#include "gateway_host.h"

#include "gateway/gateway.h"
#include "gateway/route.h"

enum { NOTE = 16 * 1024, NOTES = 8000 };

#define HELLO                                                                  \
    ASK("1", "initialize",                                                     \
        "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"              \
        "\"clientInfo\":{\"name\":\"a\",\"version\":\"1\"}")
#define READY "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"

static uint64_t unread(void)
{
    return FL_LIST_ENTRY(host.gateway->routes.next, fl_route, node)->unread;
}

static int begin(void **state)
{
    (void)state;
    host_open(NULL);
    raw_say(&host.client, HELLO);
    host_welcome("2025-06-18", "{\"tools\":{},\"logging\":{}}");
    raw_hears_part(&host.client, "\"serverInfo\"");
    raw_say(&host.client, READY);
    raw_say(&host.client, ASK("2", "tools/call", "\"name\":\"x\""));
    raw_hears_part(&host.server, "tools/call");
    return 0;
}

static int finish(void **state)
{
    (void)state;
    host_end();
    return 0;
}

/* The server tells of this until some of it is lost. */
static void flood(const char *note)
{
    for (int i = 0; i < NOTES && unread() == 0; i++) {
        raw_say(&host.server, note);
        io_turn(host.loop);
    }
    assert_true(unread() > 0);
}

static void test_unread_log_is_counted_and_the_answer_comes(void **state)
{
    static char note[2 * NOTE];
    const char *heard = "";

    (void)state;
    snprintf(note, sizeof note,
             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\","
             "\"params\":{\"level\":\"info\",\"data\":\"%0*d\"}}",
             NOTE, 0);
    flood(note);
    raw_say(&host.server, GIVE("2", "{\"content\":[]}"));
    while (strstr(heard, "\"id\":2,") == NULL)
        heard = raw_hear(&host.client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_unread_log_is_counted_and_the_answer_comes, begin, finish),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
