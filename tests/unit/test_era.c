/*
 * test_era.c - a client finds out of which era its server is, on a channel.
 *
 * The server is a raw socket that does what servers in the field do when they
 * are asked something they do not know; or a child that does. The clock is
 * driven, so silence takes no time.
 */
#include "client_desk.h"
#include "support/ration.h"

static raw_peer server;
static int door; /* where it listens */

static const fl_client_options quick = {
    .connection = {.reconnect_first_ms = 100, .reconnect_max_ms = 100},
};
static const fl_client_options single = {.connection.no_reconnect = true};

static void begin_as(const fl_client_options *options,
                     const fl_client_events *events)
{
    uint16_t port = 0;
    char url[64];
    fl_error error;

    at = (desk){.now = 1000};
    at.loop = io_driven_loop(&at.now);
    door = raw_listen(&port);
    server.fd = -1;
    snprintf(url, sizeof url, "tcp://127.0.0.1:%u", port);
    assert_int_equal(
        fl_client_open(at.loop, url, options, events, &at, &at.client, &error),
        FL_OK);
}

static void accept_it(void)
{
    if (server.fd >= 0)
        close(server.fd);
    raw_accept(&server, at.loop, door);
}

/* Up to the probe, which has arrived. */
static void begin(const fl_client_options *options)
{
    begin_as(options, &desk_events);
    desk_is(FL_ERA_AUTO, "");
    accept_it();
    raw_hears(&server, DISCOVER("1"));
}

static void end(void)
{
    desk_close();
    close(door);
    if (server.fd >= 0)
        close(server.fd);
}

static void see_modern(void)
{
    io_until(at.loop, at.ready > 0);
    raw_hears_nothing(&server); /* no initialized */
    desk_is(FL_ERA_MODERN, "2026-07-28");
    at.ready = 0;
}

/* The server's part in an initialize that has arrived. */
static void welcome(const char *answer)
{
    raw_say(&server, answer);
    raw_hears(&server, INITIALIZED);
    io_until(at.loop, at.ready > 0);
    desk_is(FL_ERA_LEGACY, "2025-11-25");
    at.ready = 0;
}

static void hang_up(void)
{
    raw_close(&server);
    desk_digest();
    at.now += 100; /* when a link that comes back does */
}

static void begin_modern(const fl_client_options *options)
{
    begin(options);
    raw_say(&server, ANSWER("1", DISCOVERED("[\"2026-07-28\"]", TOOLS)));
    see_modern();
}

static void begin_legacy(const fl_client_options *options)
{
    begin(options);
    raw_say(&server, REFUSAL("1", "-32601", ""));
    raw_hears(&server, INITIALIZE("2"));
    welcome(ANSWER("2", WELCOME));
}

static void check_said(fl_span said, const char *want)
{
    char text[128];

    desk_keep(text, sizeof text, said);
    assert_string_equal(text, want);
}

static void test_era_modern_server_tells_of_itself(void **state)
{
    (void)state;
    begin_modern(NULL);
    check_said(fl_client_server_info(at.client),
               "{\"name\":\"new\",\"version\":\"8\"}");
    check_said(fl_client_capabilities(at.client), TOOLS);
    check_said(fl_client_instructions(at.client), "\"be kind\"");
    end();
}

static void test_era_legacy_server_tells_of_itself(void **state)
{
    (void)state;
    begin_legacy(NULL);
    check_said(fl_client_server_info(at.client),
               "{\"name\":\"old\",\"version\":\"7\"}");
    check_said(fl_client_capabilities(at.client), TOOLS);
    end();
}

static void test_era_newest_common_version_is_modern(void **state)
{
    (void)state;
    begin(NULL);
    raw_say(&server, ANSWER("1", DISCOVERED("[\"2025-11-25\",7,\"2026-07-28\","
                                            "\"2031-01-01\"]",
                                            "{}")));
    see_modern();
    end();
}

/* The probe's answer leads to initialize on the same connection. */
static void check_falls_back(const char *answer)
{
    begin(NULL);
    raw_say(&server, answer);
    raw_hears(&server, INITIALIZE("2"));
    welcome(ANSWER("2", WELCOME));
    end();
}

static void test_era_errors_of_all_kinds_mean_legacy(void **state)
{
    (void)state;
    check_falls_back(REFUSAL("1", "-32601", ""));
    check_falls_back(REFUSAL("1", "-32602", ""));
    check_falls_back(REFUSAL("1", "-32600", ""));
    check_falls_back(REFUSAL("1", "-32002", ""));
    check_falls_back(REFUSAL("1", "0", ",\"data\":{\"httpStatus\":503}"));
    check_falls_back(REFUSAL("1", "99999999999", ""));
    check_falls_back(REFUSAL("null", "-32600", "")); /* it cannot tell whose */
}

static void test_era_results_without_a_version_of_ours_mean_legacy(void **state)
{
    (void)state;
    check_falls_back(ANSWER("1", "{}"));
    check_falls_back(ANSWER("1", "[]"));
    check_falls_back(ANSWER("1", "{\"supportedVersions\":\"2026-07-28\"}"));
    check_falls_back(ANSWER("1", "{\"supportedVersions\":[]}"));
    check_falls_back(ANSWER("1", DISCOVERED("[\"2025-11-25\"]", "{}")));
    check_falls_back(
        ANSWER("1", DISCOVERED("[\"2031-01-01\",\"2024-11-05\"]", "{}")));
    check_falls_back(REFUSAL("1", "-32022", SUPPORTED("[\"2025-06-18\"]")));
}

static void check_leaves(const char *answer, const char *text)
{
    begin(NULL);
    raw_say(&server, answer);
    desk_see_closed(FL_E_UNSUPPORTED, text);
    raw_hears_end(&server);
    end();
}

static void test_era_strangers_are_named(void **state)
{
    (void)state;
    check_leaves(
        ANSWER("1", DISCOVERED("[\"2031-01-01\",\"2032-01-01\"]", "{}")),
        "the server speaks 2031-01-01, 2032-01-01; this client speaks "
        "2026-07-28 and up to 2025-11-25");
    check_leaves(REFUSAL("1", "-32022", SUPPORTED("[\"2031-01-01\"]")),
                 "the server speaks 2031-01-01;");
    check_leaves(REFUSAL("1", "-32022", ""), "another revision, unnamed");
}

static void test_era_a_version_that_is_offered_is_asked_in_once(void **state)
{
    (void)state;
    begin(NULL);
    raw_say(&server, REFUSAL("1", "-32022", SUPPORTED("[\"2026-07-28\"]")));
    raw_hears(&server, DISCOVER("2"));
    raw_say(&server, ANSWER("2", DISCOVERED("[\"2026-07-28\"]", "{}")));
    see_modern();
    end();

    begin(NULL);
    raw_say(&server, REFUSAL("1", "-32022", SUPPORTED("[\"2026-07-28\"]")));
    raw_hears(&server, DISCOVER("2"));
    raw_say(&server, REFUSAL("2", "-32022", SUPPORTED("[\"2026-07-28\"]")));
    desk_see_closed(FL_E_UNSUPPORTED, "the server speaks 2026-07-28;");
    end();
}

static void test_era_other_modern_errors_mean_modern(void **state)
{
    static const char *const refusals[] = {REFUSAL("1", "-32020", ""),
                                           REFUSAL("1", "-32021", "")};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        begin(NULL);
        raw_say(&server, refusals[i]);
        see_modern();
        assert_int_equal(fl_client_capabilities(at.client).len, 0);
        desk_ask("tools/list"); /* it may well have some */
        raw_hears(&server, MODERN("2", "tools/list"));
        end();
    }
}

static void test_era_silence_is_raced_after_two_seconds(void **state)
{
    (void)state;
    begin(NULL);
    at.now += 1999;
    raw_hears_nothing(&server);
    at.now += 1;
    raw_hears(&server, INITIALIZE("2"));
    welcome(ANSWER("2", WELCOME));
    raw_say(&server, ANSWER("1", DISCOVERED("[\"2026-07-28\"]", "{}")));
    desk_digest();
    raw_hears_nothing(&server); /* too late to matter */
    desk_is(FL_ERA_LEGACY, "2025-11-25");
    end();
}

static void begin_race(const fl_client_options *options)
{
    begin(options);
    at.now += 2000;
    raw_hears(&server, INITIALIZE("2"));
}

static void test_era_race_is_won_by_a_late_discovery(void **state)
{
    (void)state;
    begin_race(NULL);
    at.now += 50000;
    raw_say(&server, ANSWER("1", DISCOVERED("[\"2026-07-28\"]", TOOLS)));
    desk_digest();
    raw_say(&server, REFUSAL("2", "-32601", ""));
    see_modern();
    end();

    begin_race(NULL);
    raw_say(&server, ANSWER("1", DISCOVERED("[\"2026-07-28\"]", TOOLS)));
    desk_digest();
    at.now += 2000; /* initialize is not answered */
    see_modern();
    raw_say(&server, ANSWER("2", WELCOME)); /* passed over */
    desk_digest();
    raw_hears_nothing(&server);
    desk_is(FL_ERA_MODERN, "2026-07-28");
    end();
}

/* One that knows both eras, and was slow to start, is opened by initialize and
 * legacy from there on. */
static void test_era_race_is_lost_by_a_late_discovery(void **state)
{
    (void)state;
    begin_race(NULL);
    raw_say(&server, ANSWER("1", DISCOVERED("[\"2026-07-28\"]", TOOLS)));
    desk_digest();
    raw_hears_nothing(&server);
    welcome(ANSWER("2", WELCOME));
    desk_is(FL_ERA_LEGACY, "2025-11-25");
    end();
}

static void test_era_race_waits_for_the_other_when_one_fails(void **state)
{
    (void)state;
    begin_race(NULL);
    raw_say(&server, REFUSAL("1", "-32601", ""));
    desk_digest();
    raw_hears_nothing(&server); /* initialize is not said twice */
    welcome(ANSWER("2", WELCOME));
    end();

    begin_race(NULL);
    raw_say(&server, REFUSAL("2", "-32601", ""));
    desk_digest();
    raw_hears_nothing(&server);
    assert_int_equal(at.closed, 0);
    raw_say(&server, ANSWER("1", DISCOVERED("[\"2026-07-28\"]", "{}")));
    see_modern();
    end();
}

static void test_era_race_says_initialize_once(void **state)
{
    (void)state;
    begin_race(NULL);
    raw_say(&server, REFUSAL("1", "-32022", SUPPORTED("[\"2026-07-28\"]")));
    raw_hears(&server, DISCOVER("3"));
    at.now += 10000;
    raw_hears_nothing(&server);
    raw_say(&server, ANSWER("3", DISCOVERED("[\"2026-07-28\"]", "{}")));
    desk_digest();
    at.now += 2000; /* initialize is not answered */
    see_modern();
    end();
}

static void test_era_race_is_lost_when_both_fail(void **state)
{
    (void)state;
    begin_race(NULL);
    raw_say(&server, REFUSAL("2", "-32000", ""));
    raw_say(&server, REFUSAL("1", "-32601", ""));
    desk_see_closed(FL_E_REMOTE, "initialize failed: no");
    end();

    begin_race(NULL);
    raw_say(&server, REFUSAL("1", "-32601", ""));
    raw_say(&server, REFUSAL("2", "-32000", ""));
    desk_see_closed(FL_E_REMOTE, "initialize failed: no");
    end();

    begin_race(NULL);
    raw_say(&server, REFUSAL("2", "-32000", ""));
    desk_digest();
    at.now += 58000;
    desk_see_closed(FL_E_REMOTE, "initialize failed: no");
    end();
}

static void test_era_a_race_without_answers_is_opened_anew_once(void **state)
{
    (void)state;
    begin_race(NULL);
    at.now += 57999;
    raw_hears_nothing(&server);
    at.now += 1; /* a minute in all */
    raw_hears_end(&server);
    accept_it();
    raw_hears(&server, INITIALIZE("3"));
    at.now += 59999;
    raw_hears_nothing(&server);
    desk_see_closed(FL_E_TIMEOUT,
                    "initialize failed: no answer, and no progress, for 60000 "
                    "ms");
    end();

    begin_race(&single);
    at.now += 58000;
    raw_hears_end(&server);
    accept_it();
    raw_hears(&server, INITIALIZE("3"));
    welcome(ANSWER("3", WELCOME));
    end();
}

static void test_era_a_short_timeout_shortens_the_wait(void **state)
{
    (void)state;
    begin(&(fl_client_options){.request_timeout_ms = 300});
    at.now += 149;
    raw_hears_nothing(&server);
    at.now += 1;
    raw_hears(&server, INITIALIZE("2"));
    at.now += 149;
    raw_hears_nothing(&server);
    at.now += 1;
    raw_hears_end(&server);
    accept_it();
    raw_hears(&server, INITIALIZE("3"));
    end();
}

static void test_era_a_link_that_comes_back_is_not_probed_again(void **state)
{
    (void)state;
    begin(&quick);
    desk_ask("ping");
    hang_up();
    accept_it();
    raw_hears(&server, INITIALIZE("3"));
    welcome(ANSWER("3", WELCOME));
    raw_hears(&server, LEGACY("2", "ping"));
    hang_up();
    accept_it();
    raw_hears(&server, INITIALIZE("4"));
    end();
}

/* Neither way was borne: that says nothing about either. */
static void test_era_hanging_up_on_both_is_no_sign(void **state)
{
    (void)state;
    begin(&quick);
    hang_up();
    accept_it();
    raw_hears(&server, INITIALIZE("2"));
    hang_up();
    accept_it();
    raw_hears(&server, DISCOVER("3"));
    raw_say(&server, ANSWER("3", DISCOVERED("[\"2026-07-28\"]", "{}")));
    see_modern();
    end();
}

static void test_era_a_link_that_ends_is_opened_anew_once(void **state)
{
    (void)state;
    begin(&single);
    raw_close(&server);
    accept_it();
    raw_hears(&server, INITIALIZE("2"));
    welcome(ANSWER("2", WELCOME));
    raw_close(&server); /* this time it is not the probe's doing */
    desk_see_closed(FL_END, "");
    end();

    begin(&single);
    raw_close(&server);
    accept_it();
    raw_hears(&server, INITIALIZE("2"));
    raw_close(&server);
    desk_see_closed(FL_END, "");
    end();

    begin_race(&single);
    raw_close(&server);
    accept_it();
    raw_hears(&server, INITIALIZE("3"));
    end();
}

static void test_era_who_answers_and_leaves_is_opened_anew(void **state)
{
    (void)state;
    begin(&single);
    raw_say(&server, REFUSAL("1", "-32602", ""));
    raw_hears(&server, INITIALIZE("2"));
    raw_close(&server);
    accept_it();
    raw_hears(&server, INITIALIZE("3"));
    welcome(ANSWER("3", WELCOME));
    end();

    begin(&single);
    raw_say(&server, REFUSAL("1", "-32602", ""));
    raw_close(&server);
    accept_it();
    raw_hears_part(&server, "\"method\":\"initialize\"");
    end();
}

/* What a probe in vain was told is not held against the next one. */
static void test_era_each_connection_is_a_new_start(void **state)
{
    (void)state;
    begin_race(&quick);
    raw_say(&server, REFUSAL("2", "-32000", ""));
    desk_digest();
    hang_up();
    accept_it();
    raw_hears(&server, INITIALIZE("3"));
    hang_up();
    accept_it();
    raw_hears(&server, DISCOVER("4"));
    raw_say(&server, REFUSAL("4", "-32601", ""));
    raw_hears(&server, INITIALIZE("5"));
    welcome(ANSWER("5", WELCOME));
    end();
}

static void test_era_is_opened_anew_for_silence_only_once(void **state)
{
    (void)state;
    begin_race(NULL);
    at.now += 58000;
    raw_hears_end(&server);
    accept_it();
    raw_hears(&server, INITIALIZE("3"));
    raw_say(&server, REFUSAL("3", "-32601", ""));
    raw_hears(&server, DISCOVER("4"));
    at.now += 2000;
    raw_hears(&server, INITIALIZE("5"));
    at.now += 58000;
    desk_see_closed(FL_E_TIMEOUT, "failed: no answer");
    end();
}

static void test_era_race_is_not_decided_by_a_complaint(void **state)
{
    (void)state;
    begin_race(NULL);
    raw_say(&server, REFUSAL("null", "-32600", ""));
    raw_say(&server, ANSWER("1", DISCOVERED("[\"2026-07-28\"]", "{}")));
    desk_digest();
    at.now += 2000; /* initialize is not answered */
    see_modern();
    end();
}

static void test_era_may_be_closed_while_it_is_opened_anew(void **state)
{
    (void)state;
    begin_race(NULL);
    at.now += 58000;
    raw_hears_end(&server);
    fl_client_close(at.client);
    desk_see_closed(FL_OK, "");
    end();

    begin(&single);
    raw_close(&server);
    fl_client_close(at.client);
    desk_see_closed(FL_OK, "");
    end();

    begin(NULL);
    fl_client_close(at.client);
    desk_see_closed(FL_OK, "");
    end();

    begin(NULL);
    at.close_when_ready = true;
    raw_say(&server, ANSWER("1", DISCOVERED("[\"2026-07-28\"]", "{}")));
    desk_see_closed(FL_OK, "");
    end();
}

static void test_era_who_is_turned_away_hears_why(void **state)
{
    (void)state;
    begin(&single);
    raw_say(&server, REFUSAL("null", "-32010", ""));
    raw_hears(&server, INITIALIZE("2"));
    raw_close(&server);
    accept_it();
    raw_hears(&server, INITIALIZE("3"));
    raw_say(&server, REFUSAL("null", "-32010", ""));
    desk_digest();
    raw_close(&server);
    desk_see_closed(FL_E_REMOTE, "the server said: no");
    end();
}

static void test_era_legacy_is_not_probed_when_told_so(void **state)
{
    static const fl_client_options told[] = {
        {.era = FL_ERA_LEGACY},
        {.era = FL_ERA_LEGACY, .revision = "2025-11-25"},
        {.revision = "2025-11-25"}, /* the newest to offer is no modern one */
    };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        begin_as(&told[i], &desk_events);
        accept_it();
        raw_hears(&server, INITIALIZE("1"));
        raw_say(&server, REFUSAL("1", "-32601", ""));
        desk_see_closed(FL_E_REMOTE, "initialize failed: no");
        end();
    }
    begin(&(fl_client_options){.revision = "2026-07-28"});
    end();
}

static const fl_client_options modern = {.era = FL_ERA_MODERN};

static void test_era_modern_does_not_fall_back_when_told_so(void **state)
{
    (void)state;
    begin(&modern);
    raw_say(&server, REFUSAL("1", "-32601", ""));
    desk_see_closed(FL_E_UNSUPPORTED,
                    "the server does not speak 2026-07-28, only older "
                    "revisions: no");
    end();

    begin(&modern);
    raw_say(&server, ANSWER("1", DISCOVERED("[\"2025-11-25\"]", "{}")));
    desk_see_closed(FL_E_UNSUPPORTED, "the server speaks 2025-11-25; this "
                                      "client speaks 2026-07-28");
    end();

    begin(&modern);
    at.now += 59999;
    raw_hears_nothing(&server); /* no race */
    desk_see_closed(FL_E_TIMEOUT, "server/discover failed: no answer");
    end();

    begin(&(fl_client_options){.era = FL_ERA_MODERN,
                               .connection.no_reconnect = true});
    raw_close(&server);
    desk_see_closed(FL_END, "");
    end();
}

static void test_era_legacy_is_believed_for_a_day(void **state)
{
    (void)state;
    begin_legacy(&quick);
    at.now += UINT64_C(24) * 3600 * 1000 - 1000;
    hang_up();
    accept_it();
    raw_hears(&server, INITIALIZE("3"));
    welcome(ANSWER("3", WELCOME));
    at.now += 1000; /* counted from when it was found out */
    hang_up();
    accept_it();
    raw_hears(&server, DISCOVER("4"));
    raw_say(&server, ANSWER("4", DISCOVERED("[\"2026-07-28\"]", "{}")));
    see_modern();
    end();
}

static void test_era_legacy_that_refuses_initialize_is_probed(void **state)
{
    static const char *const refusals[] = {
        REFUSAL("3", "-32601", ""), REFUSAL("3", "-32602", ""),
        REFUSAL("3", "-32022", SUPPORTED("[\"2026-07-28\"]"))};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        begin_legacy(&quick);
        hang_up();
        accept_it();
        raw_hears(&server, INITIALIZE("3"));
        raw_say(&server, refusals[i]);
        raw_hears(&server, DISCOVER("4"));
        raw_say(&server, ANSWER("4", DISCOVERED("[\"2026-07-28\"]", "{}")));
        see_modern();
        end();
    }
    begin_legacy(&quick); /* but once is enough */
    hang_up();
    accept_it();
    raw_hears(&server, INITIALIZE("3"));
    raw_say(&server, REFUSAL("3", "-32601", ""));
    raw_hears(&server, DISCOVER("4"));
    raw_say(&server, REFUSAL("4", "-32601", ""));
    raw_hears(&server, INITIALIZE("5"));
    raw_say(&server, REFUSAL("5", "-32601", ""));
    desk_see_closed(FL_E_REMOTE, "initialize failed: no");
    end();

    begin_legacy(&quick); /* on another connection too */
    hang_up();
    accept_it();
    raw_hears(&server, INITIALIZE("3"));
    raw_say(&server, REFUSAL("3", "-32601", ""));
    raw_hears(&server, DISCOVER("4"));
    hang_up();
    accept_it();
    raw_hears(&server, INITIALIZE("5"));
    raw_say(&server, REFUSAL("5", "-32601", ""));
    desk_see_closed(FL_E_REMOTE, "initialize failed: no");
    end();
}

static void test_era_modern_is_asked_again_but_not_raced(void **state)
{
    (void)state;
    begin_modern(&quick);
    hang_up();
    accept_it();
    raw_hears(&server, DISCOVER("2"));
    at.now += 30000;
    raw_hears_nothing(&server);
    raw_say(&server, ANSWER("2", DISCOVERED("[\"2026-07-28\"]", "{}")));
    see_modern();
    check_said(fl_client_capabilities(at.client), "{}"); /* it has changed */
    end();

    begin_modern(&quick); /* and may have become another */
    hang_up();
    accept_it();
    raw_hears(&server, DISCOVER("2"));
    raw_say(&server, REFUSAL("2", "-32601", ""));
    raw_hears(&server, INITIALIZE("3"));
    welcome(ANSWER("3", WELCOME));
    end();

    begin_modern(&quick); /* which is not forgotten before it is settled */
    hang_up();
    accept_it();
    raw_hears(&server, DISCOVER("2"));
    raw_say(&server, REFUSAL("2", "-32601", ""));
    raw_hears(&server, INITIALIZE("3"));
    hang_up();
    accept_it();
    raw_hears(&server, INITIALIZE("4"));
    hang_up();
    accept_it();
    raw_hears(&server, DISCOVER("5"));
    at.now += 2000;
    raw_hears(&server, INITIALIZE("6"));
    end();
}

static void test_era_a_modern_server_that_fell_is_found_again(void **state)
{
    (void)state;
    begin_modern(&quick);
    hang_up();
    accept_it();
    raw_hears(&server, DISCOVER("2"));
    hang_up(); /* not because of that, but how should we know? */
    accept_it();
    raw_hears(&server, INITIALIZE("3"));
    raw_say(&server, REFUSAL("3", "-32601", ""));
    raw_hears(&server, DISCOVER("4"));
    raw_say(&server, ANSWER("4", DISCOVERED("[\"2026-07-28\"]", "{}")));
    see_modern();
    end();
}

static void test_era_what_waits_is_said_in_the_way_that_was_found(void **state)
{
    const char *params = "{\"a\":1,\"_meta\":{\"b\":2}}";

    (void)state;
    begin(NULL);
    assert_int_equal(desk_try("tools/list", params), FL_OK);
    raw_say(&server, ANSWER("1", DISCOVERED("[\"2026-07-28\"]", TOOLS)));
    raw_hears(&server,
              "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\","
              "\"params\":{\"a\":1,\"_meta\":{" CLAIM ",\"b\":2}}}");
    end();

    begin(NULL);
    assert_int_equal(desk_try("tools/list", params), FL_OK);
    raw_say(&server, REFUSAL("1", "-32601", ""));
    raw_hears(&server, INITIALIZE("3"));
    welcome(ANSWER("3", WELCOME));
    raw_hears(&server, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
                       "list\",\"params\":{\"a\":1,\"_meta\":{\"b\":2}}}");
    end();
}

static void test_era_opening_has_room_however_much_waits(void **state)
{
    (void)state;
    begin(&(fl_client_options){.connection.max_in_flight = 1});
    desk_ask("ping");
    assert_int_equal(desk_try("ping", ""), FL_BUSY);
    at.now += 2000;
    raw_hears(&server, INITIALIZE("3"));
    assert_int_equal(desk_try("ping", ""), FL_BUSY);
    welcome(ANSWER("3", WELCOME));
    raw_hears(&server, LEGACY("2", "ping"));
    raw_say(&server, ANSWER("2", "{}"));
    io_until(at.loop, at.answers == 1);
    desk_ask("ping");
    raw_hears(&server, LEGACY("4", "ping"));
    end();
}

static int count_pids(const char *path)
{
    FILE *file = fopen(path, "r");
    int lines = 0;

    assert_non_null(file);
    for (int c; (c = getc(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}

enum { TICK_MS = 5 }; /* of a clock that goes about as fast as children do */

/* A child that answers only initialize, and if it is asked anything before
 * that, does what its name says. */
static void check_child(const char *manner, int starts)
{
    char path[] = "/tmp/fairlead-era-XXXXXX";
    int fd = mkstemp(path);
    const char *argv[] = {BADCHILD, manner, path, NULL};
    fl_client_options options = {.connection.child.argv = argv};
    fl_error error;

    assert_true(fd >= 0);
    at = (desk){.now = 1000};
    at.loop = io_driven_loop(&at.now);
    assert_int_equal(fl_client_open(at.loop, NULL, &options, &desk_events, &at,
                                    &at.client, &error),
                     FL_OK);
    argv[1] = "not kept"; /* nothing of the options is needed any more */
    options = (fl_client_options){0};
    io_until(at.loop, (at.now += TICK_MS, at.ready > 0 || at.closed > 0));
    assert_int_equal(at.ready, 1);
    desk_is(FL_ERA_LEGACY, "2025-11-25");
    assert_int_equal(count_pids(path), starts);
    desk_close();
    close(fd);
    unlink(path);
}

static void test_era_a_child_that_exits_is_run_again_once(void **state)
{
    (void)state;
    check_child("legacy-exits", 2);
    check_child("legacy-refuses", 1);
    check_child("legacy-silent", 1);
}

static void test_era_a_child_that_always_exits_is_given_up(void **state)
{
    const char *argv[] = {BADCHILD, "exit-code", "7", NULL};
    fl_client_options options = {.connection.child.argv = argv};
    fl_error error;

    (void)state;
    at = (desk){.now = 1000};
    at.loop = io_driven_loop(&at.now);
    assert_int_equal(fl_client_open(at.loop, NULL, &options, &desk_events, &at,
                                    &at.client, &error),
                     FL_OK);
    io_until(at.loop, (at.now += TICK_MS, at.closed > 0));
    desk_see_closed(FL_E_CHILD, "exited with code 7");
    desk_close();
}

/* Each way to ready, with memory that runs out somewhere on it. */
static void live(void *user)
{
    const char *const *lines = user;
    fl_clock clock = {io_read_clock, &at.now};
    struct sockaddr_in name;
    socklen_t len = sizeof name;
    char url[64];
    fl_error error;
    int fd = -1;

    at = (desk){.now = 1000};
    at.loop = fl_loop_new_with(&(fl_loop_options){.clock = &clock});
    if (at.loop == NULL)
        return;
    getsockname(door, (struct sockaddr *)&name, &len);
    snprintf(url, sizeof url, "tcp://127.0.0.1:%u", ntohs(name.sin_port));
    if (fl_client_open(at.loop, url, &single, &desk_hears_all, &at, &at.client,
                       &error) != FL_OK) {
        assert_int_equal(error.status, FL_E_NOMEM);
        fl_loop_free(at.loop);
        return;
    }
    int asked = desk_try("tools/list", "{\"a\":1}") == FL_OK;
    for (int i = 0; i < 60 && at.closed == 0; i++) {
        at.now += i < 10 ? 50 : 5000; /* soon nothing comes any more */
        int next = accept(door, NULL, NULL);
        if (next >= 0 && fd >= 0)
            close(fd);
        fd = next >= 0 ? next : fd;
        if (next >= 0 && *lines == NULL)
            shutdown(fd, SHUT_RDWR);
        for (; next >= 0 && *lines != NULL; lines++)
            send(fd, *lines, strlen(*lines), MSG_NOSIGNAL);
        io_turn(at.loop);
        if (at.answers > 0 && at.client != NULL)
            fl_client_close(at.client);
    }
    if (at.client != NULL)
        fl_client_close(at.client);
    for (int i = 0; i < 1000 && at.closed == 0; i++, at.now += 1000)
        io_turn(at.loop);
    assert_int_equal(at.closed, 1);
    assert_int_equal(at.answers, asked);
    if (fd >= 0)
        close(fd);
    while ((fd = accept(door, NULL, NULL)) >= 0)
        close(fd);
    fl_loop_free(at.loop);
}

static void test_era_survives_every_failed_allocation(void **state)
{
    static const char *const modern_way[] = {
        ANSWER("2", DISCOVERED("[\"2026-07-28\"]",
                               "{\"tools\":{\"listChanged\":true}}")) "\n",
        ANSWER("1", "{\"resultType\":\"odd\"}") "\n", NULL};
    static const char *const legacy_way[] = {REFUSAL("2", "-32601", "") "\n",
                                             ANSWER("3", WELCOME) "\n",
                                             ANSWER("1", "{}") "\n", NULL};
    static const char *const hangs_up[] = {NULL};
    uint16_t port = 0;

    (void)state;
    door = raw_listen(&port);
    assert_true(ration_each(live, (void *)(uintptr_t)modern_way) > 20);
    assert_true(ration_each(live, (void *)(uintptr_t)legacy_way) > 20);
    assert_true(ration_each(live, (void *)(uintptr_t)hangs_up) > 20);
    close(door);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_era_modern_server_tells_of_itself),
        cmocka_unit_test(test_era_legacy_server_tells_of_itself),
        cmocka_unit_test(test_era_newest_common_version_is_modern),
        cmocka_unit_test(test_era_errors_of_all_kinds_mean_legacy),
        cmocka_unit_test(
            test_era_results_without_a_version_of_ours_mean_legacy),
        cmocka_unit_test(test_era_strangers_are_named),
        cmocka_unit_test(test_era_a_version_that_is_offered_is_asked_in_once),
        cmocka_unit_test(test_era_other_modern_errors_mean_modern),
        cmocka_unit_test(test_era_silence_is_raced_after_two_seconds),
        cmocka_unit_test(test_era_race_is_won_by_a_late_discovery),
        cmocka_unit_test(test_era_race_is_lost_by_a_late_discovery),
        cmocka_unit_test(test_era_race_waits_for_the_other_when_one_fails),
        cmocka_unit_test(test_era_race_says_initialize_once),
        cmocka_unit_test(test_era_race_is_lost_when_both_fail),
        cmocka_unit_test(test_era_a_race_without_answers_is_opened_anew_once),
        cmocka_unit_test(test_era_a_short_timeout_shortens_the_wait),
        cmocka_unit_test(test_era_a_link_that_comes_back_is_not_probed_again),
        cmocka_unit_test(test_era_hanging_up_on_both_is_no_sign),
        cmocka_unit_test(test_era_a_link_that_ends_is_opened_anew_once),
        cmocka_unit_test(test_era_who_answers_and_leaves_is_opened_anew),
        cmocka_unit_test(test_era_each_connection_is_a_new_start),
        cmocka_unit_test(test_era_is_opened_anew_for_silence_only_once),
        cmocka_unit_test(test_era_race_is_not_decided_by_a_complaint),
        cmocka_unit_test(test_era_may_be_closed_while_it_is_opened_anew),
        cmocka_unit_test(test_era_who_is_turned_away_hears_why),
        cmocka_unit_test(test_era_legacy_is_not_probed_when_told_so),
        cmocka_unit_test(test_era_modern_does_not_fall_back_when_told_so),
        cmocka_unit_test(test_era_legacy_is_believed_for_a_day),
        cmocka_unit_test(test_era_legacy_that_refuses_initialize_is_probed),
        cmocka_unit_test(test_era_modern_is_asked_again_but_not_raced),
        cmocka_unit_test(test_era_a_modern_server_that_fell_is_found_again),
        cmocka_unit_test(test_era_what_waits_is_said_in_the_way_that_was_found),
        cmocka_unit_test(test_era_opening_has_room_however_much_waits),
        cmocka_unit_test(test_era_a_child_that_exits_is_run_again_once),
        cmocka_unit_test(test_era_a_child_that_always_exits_is_given_up),
        cmocka_unit_test(test_era_survives_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
