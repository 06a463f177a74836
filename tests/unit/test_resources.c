/*
 * test_resources.c - resources and templates: how each revision lists them,
 * how they are read, and what is said when they are not there.
 */
#include "lists.h"

#include "server/resources.h"
#include "support/ration.h"

static server_host host;

static const fl_resource full = {
    .uri = "doc:\"1\"",
    .name = "one",
    .title = "The first",
    .description = "what it is",
    .mime_type = "text/plain",
    .size = 7,
    .annotations = "{\"priority\":1}",
    .icons = "[{\"src\":\"i.png\"}]",
    .meta = "{\"org.example/a\":1}",
    .read = read_echo,
};

#define LIST(id) ASK(id, "resources/list", "{}")
#define TEMPLATES(id) ASK(id, "resources/templates/list", "{}")
#define BEGINS "\"name\":\"one\","
#define TITLE "\"title\":\"The first\","
#define MIDDLE "\"description\":\"what it is\",\"mimeType\":\"text/plain\""
#define NOTES ",\"annotations\":{\"priority\":1}"
#define ICONS ",\"icons\":[{\"src\":\"i.png\"}]"
#define OWN_META ",\"_meta\":{\"org.example/a\":1}"
#define HINTS ",\"ttlMs\":60000,\"cacheScope\":\"private\""

static void begin_full(const char *revision)
{
    fl_resource template = full;

    host_begin_bare(&host);
    template.uri = "doc:{id}";
    assert_int_equal(fl_server_add_resource(host.server, &full), FL_OK);
    assert_int_equal(fl_server_add_template(host.server, &template), FL_OK);
    lists_begin(&host, revision);
}

static void check_lists(const char *revision, const char *title,
                        const char *icons, const char *meta)
{
    char want[1024];

    begin_full(revision);
    snprintf(want, sizeof want,
             RESULT("1", "{\"resources\":[{\"uri\":\"doc:\\\"1\\\"\"," BEGINS
                         "%s" MIDDLE ",\"size\":7" NOTES "%s%s}]}"),
             title, icons, meta);
    raw_asks(&host.peer, LIST("1"), want);
    snprintf(want, sizeof want,
             RESULT("2", "{\"resourceTemplates\":[{\"uriTemplate\":\"doc:{id}"
                         "\"," BEGINS "%s" MIDDLE NOTES "%s%s}]}"),
             title, icons, meta);
    raw_asks(&host.peer, TEMPLATES("2"), want);
    host_end(&host);
}

static void test_resources_are_listed_as_each_revision_has_them(void **state)
{
    (void)state;
    check_lists("2024-11-05", "", "", "");
    check_lists("2025-03-26", "", "", "");
    check_lists("2025-06-18", TITLE, "", OWN_META);
    check_lists("2025-11-25", TITLE, ICONS, OWN_META);
}

static void test_resources_are_listed_in_the_modern_era(void **state)
{
    (void)state;
    begin_full(NULL);
    raw_asks(&host.peer, MODERN("1", "resources/list", ""),
             RESULT("1", "{" STAMP ",\"resources\":[{\"uri\":\"doc:\\\"1\\\"\""
                         "," BEGINS TITLE MIDDLE
                         ",\"size\":7" NOTES ICONS OWN_META "}]" HINTS "}"));
    raw_asks(&host.peer, MODERN("2", "resources/templates/list", ""),
             RESULT("2", "{" STAMP
                         ",\"resourceTemplates\":[{\"uriTemplate\":\"doc:{id}"
                         "\"," BEGINS TITLE MIDDLE NOTES ICONS OWN_META
                         "}]" HINTS "}"));
    host_end(&host);
}

static void test_resources_leave_out_what_is_not_set(void **state)
{
    (void)state;
    host_begin_bare(&host);
    add_resource(host.server, "doc:1");
    lists_begin(&host, "2025-11-25");
    raw_asks(&host.peer, LIST("1"),
             RESULT("1", "{\"resources\":[{\"uri\":\"doc:1\",\"name\":"
                         "\"doc:1\"}]}"));
    raw_asks(&host.peer, TEMPLATES("2"),
             RESULT("2", "{\"resourceTemplates\":[]}"));
    host_end(&host);
}

static void test_resources_copy_what_they_are_given(void **state)
{
    char uri[] = "doc:1", name[] = "n", json[] = "{\"a\":1}";
    fl_resource given = {
        .uri = uri, .name = name, .annotations = json, .read = read_echo};

    (void)state;
    host_begin_bare(&host);
    assert_int_equal(fl_server_add_resource(host.server, &given), FL_OK);
    memset(uri, 'x', sizeof uri - 1);
    memset(name, 'x', sizeof name - 1);
    memset(json, 'x', sizeof json - 1);
    lists_begin(&host, "2025-11-25");
    raw_asks(&host.peer, LIST("1"),
             RESULT("1", "{\"resources\":[{\"uri\":\"doc:1\",\"name\":\"n\","
                         "\"annotations\":{\"a\":1}}]}"));
    host_end(&host);
}

static void test_resources_refuse_what_is_not_one(void **state)
{
    const fl_resource wrong[] = {
        {.name = "n", .read = read_echo},
        {.uri = "", .name = "n", .read = read_echo},
        {.uri = "u:", .read = read_echo},
        {.uri = "u:", .name = "", .read = read_echo},
        {.uri = "u:", .name = "n"},
        {.uri = "u:", .name = "n", .read = read_echo, .annotations = "[]"},
        {.uri = "u:", .name = "n", .read = read_echo, .annotations = "{"},
        {.uri = "u:", .name = "n", .read = read_echo, .icons = "{}"},
        {.uri = "u:", .name = "n", .read = read_echo, .meta = "1"},
        {.uri = "u:", .name = "n", .read = read_echo, .size = UINT64_MAX},
    };
    const fl_resource bad = {.uri = "u:{a}{b}", .name = "n", .read = read_echo};
    char *large = test_malloc(FL_TEMPLATE_BYTES + 2);

    (void)state;
    host_begin_bare(&host);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(fl_server_add_resource(host.server, &wrong[i]),
                         FL_E_INVALID);
        assert_int_equal(fl_server_add_template(host.server, &wrong[i]),
                         FL_E_INVALID);
    }
    assert_int_equal(fl_server_add_template(host.server, &bad), FL_E_INVALID);
    assert_int_equal(fl_server_add_resource(host.server, &bad), FL_OK);
    memset(large, 'x', FL_TEMPLATE_BYTES + 1);
    large[FL_TEMPLATE_BYTES + 1] = '\0';
    const fl_resource long_one = {.uri = large, .name = "n", .read = read_echo};
    assert_int_equal(fl_server_add_template(host.server, &long_one),
                     FL_E_INVALID);
    test_free(large);
    assert_int_equal(fl_server_add_resource(host.server, &bad), FL_E_IN_USE);
    assert_int_equal(fl_server_remove_resource(host.server, "u:"),
                     FL_E_NOT_FOUND);
    assert_int_equal(fl_server_remove_resource(host.server, bad.uri), FL_OK);
    fl_server_free(host.server);
    fl_loop_free(host.loop);
}

#define CONTENTS(uri, text)                                                    \
    "{\"contents\":[{\"uri\":\"" uri "\",\"text\":\"" text "\"}]}"

static void begin_readable(const char *revision)
{
    const fl_resource late = {
        .uri = "late:{x}", .name = "late", .read = read_later, .user = &host};

    host_begin_bare(&host);
    add_resource(host.server, "doc:1");
    add_resource(host.server, "doc:\xC3\xA9");
    add_template(host.server, "doc:{id}");
    add_template(host.server, "doc:{+path}");
    assert_int_equal(fl_server_add_template(host.server, &late), FL_OK);
    lists_begin(&host, revision);
}

static void test_resources_are_read_exactly_first(void **state)
{
    (void)state;
    begin_readable("2025-11-25");
    raw_asks(&host.peer, READ("1", "doc:1"),
             RESULT("1", CONTENTS("doc:1", "doc:1 ")));
    raw_asks(
        &host.peer, READ("2", "doc:%31"),
        RESULT("2", CONTENTS("doc:%31", "doc:%31 {\\\"id\\\":\\\"1\\\"}")));
    raw_asks(
        &host.peer, READ("3", "doc:a/b"),
        RESULT("3", CONTENTS("doc:a/b", "doc:a/b {\\\"path\\\":\\\"a/b\\\"}")));
    /* by what the URI means */
    raw_asks(&host.peer, READ("4", "doc:\\u00e9"),
             RESULT("4", CONTENTS("doc:\\u00e9", "doc:\xC3\xA9 ")));
    raw_asks(&host.peer, READ("5", "doc\\u003aa\\/b"),
             RESULT("5", CONTENTS("doc\\u003aa\\/b",
                                  "doc:a/b {\\\"path\\\":\\\"a/b\\\"}")));
    /* what came as arguments is none of a resource's */
    raw_asks(&host.peer,
             ASK("6", "resources/read",
                 "{\"uri\":\"doc:1\",\"arguments\":{\"id\":\"9\"}}"),
             RESULT("6", CONTENTS("doc:1", "doc:1 ")));
    host_end(&host);
}

static void test_resources_are_read_in_the_modern_era(void **state)
{
    (void)state;
    begin_readable(NULL);
    raw_say(&host.peer, MODERN_READ("1", "doc:x"));
    raw_hears_part(&host.peer, "\"contents\":[{\"uri\":\"doc:x\",\"text\":"
                               "\"doc:x {\\\"id\\\":\\\"x\\\"}\"}],\"ttlMs\":");
    raw_asks(&host.peer, MODERN_READ("2", "gone:1"),
             ERROR_ANSWER("2", "-32602",
                          "\"resource not found\",\"data\":{\"uri\":\"gone:1"
                          "\"}"));
    host_end(&host);
}

static void test_resources_may_be_read_later(void **state)
{
    (void)state;
    begin_readable("2025-11-25");
    raw_say(&host.peer, READ("1", "late:a%20b"));
    host_kept(&host, 1);
    fl_span x = fl_call_text(host.kept[0], "x");
    assert_int_equal(x.len, 3);
    assert_memory_equal(x.ptr, "a b", 3);
    fl_span uri = fl_call_uri(host.kept[0]);
    assert_int_equal(uri.len, 10);
    assert_memory_equal(uri.ptr, "late:a%20b", 10);
    /* an id that is in flight is taken */
    raw_say(&host.peer, READ("1", "doc:1"));
    raw_hears_part(&host.peer, "a request with this id is in flight");
    host_answer(&host, 0, "here");
    raw_hears(&host.peer, RESULT("1", CONTENTS("late:a%20b", "here")));
    host_end(&host);
}

static void test_resources_say_what_is_not_there(void **state)
{
    (void)state;
    begin_readable("2025-11-25");
    raw_asks(&host.peer, READ("1", "gone:\\u0031"),
             ERROR_ANSWER("1", "-32002",
                          "\"resource not found\",\"data\":{\"uri\":\"gone:"
                          "\\u0031\"}"));
    raw_asks(&host.peer, READ("2", ""),
             ERROR_ANSWER("2", "-32002",
                          "\"resource not found\",\"data\":{\"uri\":\"\"}"));
    raw_asks(&host.peer, ASK("3", "resources/read", "{}"),
             ERROR_ANSWER("3", "-32602", "\"params.uri must be a string\""));
    raw_asks(&host.peer, ASK("4", "resources/read", "{\"uri\":7}"),
             ERROR_ANSWER("4", "-32602", "\"params.uri must be a string\""));
    assert_int_equal(fl_server_remove_resource(host.server, "doc:1"), FL_OK);
    assert_int_equal(fl_server_remove_template(host.server, "doc:{id}"), FL_OK);
    assert_int_equal(fl_server_remove_template(host.server, "doc:{+path}"),
                     FL_OK);
    raw_hears_part(&host.peer, "resources/list_changed");
    raw_hears_part(&host.peer, "resources/list_changed");
    raw_hears_part(&host.peer, "resources/list_changed");
    raw_say(&host.peer, READ("5", "doc:1"));
    raw_hears_part(&host.peer, "-32002");
    host_end(&host);
}

static void test_resources_do_not_look_for_what_is_too_long(void **state)
{
    static char line[4 * FL_RESOURCES_URI_MAX];

    (void)state;
    begin_readable("2025-11-25");
    /* 8187 letters and "\/": 8192 bytes of meaning with "doc:" */
    snprintf(line, sizeof line, "%s%0*d%s",
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\","
             "\"params\":{\"uri\":\"doc:\\/",
             FL_RESOURCES_URI_MAX - 5, 7, "\"}}");
    raw_say(&host.peer, line);
    raw_hears_part(&host.peer, "\"contents\"");
    snprintf(line, sizeof line, "%s%0*d%s",
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\","
             "\"params\":{\"uri\":\"doc:\\/",
             FL_RESOURCES_URI_MAX - 4, 7, "\"}}");
    raw_say(&host.peer, line);
    raw_hears_part(&host.peer, "-32002");
    host_end(&host);
}

static void read_nothing(fl_call *call, void *user)
{
    (void)user;
    fl_call_not_found(call);
}

static void test_resources_handler_may_not_find_it(void **state)
{
    const fl_resource none = {
        .uri = "none:{x}", .name = "none", .read = read_nothing};
    const fl_tool odd = {.name = "odd", .call = read_nothing};

    (void)state;
    host_begin_bare(&host);
    assert_int_equal(fl_server_add_template(host.server, &none), FL_OK);
    assert_int_equal(fl_server_add_tool(host.server, &odd), FL_OK);
    lists_begin(&host, "2025-06-18");
    raw_asks(&host.peer, READ("1", "none:a"),
             ERROR_ANSWER("1", "-32002",
                          "\"resource not found\",\"data\":{\"uri\":\"none:a"
                          "\"}"));
    raw_asks(&host.peer, MODERN_READ("2", "none:a"),
             ERROR_ANSWER("2", "-32602",
                          "\"resource not found\",\"data\":{\"uri\":\"none:a"
                          "\"}"));
    raw_asks(&host.peer, CALL("3", "odd", "{}"),
             ERROR_ANSWER("3", "-32002", "\"resource not found\""));
    host_end(&host);
}

static void read_and_remove(fl_call *call, void *user)
{
    assert_int_equal(fl_server_remove_template(user, "self:{x}"), FL_OK);
    fl_call_reply_text(call, fl_call_text(call, "x"));
}

static void test_resources_may_be_removed_while_read(void **state)
{
    (void)state;
    host_begin_bare(&host);
    const fl_resource self = {.uri = "self:{x}",
                              .name = "self",
                              .read = read_and_remove,
                              .user = host.server};
    assert_int_equal(fl_server_add_template(host.server, &self), FL_OK);
    lists_begin(&host, "2025-11-25");
    raw_say(&host.peer, READ("1", "self:a"));
    raw_hears_part(&host.peer, "list_changed");
    raw_hears(&host.peer, RESULT("1", CONTENTS("self:a", "a")));
    host_end(&host);
}

static void test_resources_are_served_only_where_declared(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    add_resource(host.server, "doc:1");
    raw_say(&host.peer, READ("1", "doc:1"));
    raw_hears_part(&host.peer, "-32601");
    raw_say(&host.peer, MODERN_READ("2", "doc:1"));
    raw_hears_part(&host.peer, "\"contents\"");
    host_end(&host);
}

static void add_both(void *user)
{
    bool *done = user;
    fl_resource template = full;
    fl_server *server = fl_server_new("s", "1");
    fl_status rc = server != NULL ? FL_OK : FL_E_NOMEM;

    template.uri = "doc:{id}";
    if (rc == FL_OK)
        rc = fl_server_add_resource(server, &full);
    if (rc == FL_OK)
        rc = fl_server_add_template(server, &template);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    *done = rc == FL_OK;
    fl_server_free(server);
}

static void test_resources_are_added_or_not_when_memory_lacks(void **state)
{
    bool done = false;

    (void)state;
    assert_true(ration_each(add_both, &done) > 5);
    assert_true(done);
}

static void test_resources_read_says_when_there_is_no_memory(void **state)
{
    (void)state;
    begin_readable("2025-11-25");
    for (size_t n = 1;; n++) {
        ration_reset();
        ration_fail_at(n);
        raw_say(&host.peer, READ("1", "doc:a\\/b"));
        const char *heard = raw_hear(&host.peer);
        bool refused = ration_refused();
        ration_reset();
        if (strstr(heard, "out of memory") == NULL &&
            strstr(heard, "\"path\\\":\\\"a/b\\\"") == NULL)
            fail_msg("%s", heard);
        if (!refused)
            break;
        assert_true(n < 100);
    }
    host_end(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resources_are_listed_as_each_revision_has_them),
        cmocka_unit_test(test_resources_are_listed_in_the_modern_era),
        cmocka_unit_test(test_resources_leave_out_what_is_not_set),
        cmocka_unit_test(test_resources_copy_what_they_are_given),
        cmocka_unit_test(test_resources_refuse_what_is_not_one),
        cmocka_unit_test(test_resources_are_read_exactly_first),
        cmocka_unit_test(test_resources_are_read_in_the_modern_era),
        cmocka_unit_test(test_resources_may_be_read_later),
        cmocka_unit_test(test_resources_say_what_is_not_there),
        cmocka_unit_test(test_resources_do_not_look_for_what_is_too_long),
        cmocka_unit_test(test_resources_handler_may_not_find_it),
        cmocka_unit_test(test_resources_may_be_removed_while_read),
        cmocka_unit_test(test_resources_are_served_only_where_declared),
        cmocka_unit_test(test_resources_are_added_or_not_when_memory_lacks),
        cmocka_unit_test(test_resources_read_says_when_there_is_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
