/*
 * test_gateway_merge.c - the answers of several servers, made one.
 */
#include "gateway/merge.h"

#include "base/mem.h"
#include "base/span.h"
#include "support/ration.h"

#include <fairlead/version.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 4, ROOM = 64 * 1024 };

/* Servers "a", "b", ... and what each has answered; NULL: nothing. */
typedef struct merge_desk {
    fl_joint *joint;
    fl_aggregate *all;
    fl_leg legs[MOST];
    fl_route routes[MOST];
    char prefixes[MOST][8];
} merge_desk;

static void keep(fl_buf *buf, const char *text)
{
    fl_buf_init(buf, ROOM);
    assert_int_equal(fl_buf_append(buf, fl_span_of(text)), FL_OK);
}

static void begin(merge_desk *desk, fl_method method,
                  const char *const *answers, const char *const *items,
                  size_t count)
{
    memset(desk, 0, sizeof *desk);
    desk->all = calloc(1, sizeof *desk->all + MOST * sizeof(fl_leg *));
    desk->joint =
        calloc(1, sizeof *desk->joint + MOST * sizeof *desk->joint->parts);
    desk->joint->all = desk->all;
    desk->joint->method = method;
    desk->joint->count = desk->all->count = count;
    for (size_t i = 0; i < count; i++) {
        snprintf(desk->prefixes[i], sizeof *desk->prefixes, "%c__",
                 (char)('a' + i));
        desk->routes[i].prefix = desk->prefixes[i];
        desk->legs[i].route = &desk->routes[i];
        desk->all->legs[i] = &desk->legs[i];
        desk->joint->parts[i].leg = i;
        keep(&desk->joint->parts[i].text, answers[i]);
        keep(&desk->joint->parts[i].items, items != NULL ? items[i] : "");
    }
}

static void end(merge_desk *desk)
{
    for (size_t i = 0; i < desk->joint->count; i++) {
        fl_buf_reset(&desk->joint->parts[i].text);
        fl_buf_reset(&desk->joint->parts[i].items);
    }
    free(desk->joint);
    free(desk->all);
}

#define RESULT(text) "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{" text "}}"
#define FAILED                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":\"\"}}"

static void expect_hello(const char *const *answers, size_t count,
                         const char *want)
{
    char text[1024];
    merge_desk desk;
    fl_buf out;

    begin(&desk, FL_METHOD_INITIALIZE, answers, NULL, count);
    fl_buf_init(&out, ROOM);
    assert_int_equal(fl_merge_hello(desk.joint, &out), FL_OK);
    snprintf(text, sizeof text, "%.*s", (int)fl_buf_len(&out), out.ptr);
    assert_string_equal(text, want);
    fl_buf_reset(&out);
    end(&desk);
}

static void test_capabilities_are_what_anybody_has(void **state)
{
    const char *const answers[] = {
        RESULT("\"capabilities\":{\"tools\":{},\"logging\":{}}"),
        FAILED,
        RESULT("\"capabilities\":{\"tools\":{\"listChanged\":true},"
               "\"prompts\":{\"listChanged\":false}}"),
        RESULT("\"capabilities\":{\"prompts\":{\"listChanged\":true}}"),
    };

    (void)state;
    expect_hello(answers, 4,
                 "{\"capabilities\":{\"tools\":{\"listChanged\":true},"
                 "\"logging\":{},\"prompts\":{\"listChanged\":true}}}");
}

static void test_instructions_stand_one_after_the_other(void **state)
{
    const char *const answers[] = {
        RESULT("\"x\":1"),
        RESULT("\"instructions\":\"say \\\"a\\\"\""),
        RESULT("\"instructions\":\"\""),
        RESULT("\"instructions\":\"b\""),
    };

    (void)state;
    expect_hello(answers, 4,
                 "{\"x\":1,\"instructions\":\"say \\\"a\\\"\\n\\nb\"}");
}

static void test_the_server_is_ourselves(void **state)
{
    const char *const answers[] = {
        RESULT("\"serverInfo\":{\"name\":\"x\",\"version\":\"1\"}"), FAILED};
    char want[128];

    (void)state;
    snprintf(want, sizeof want,
             "{\"serverInfo\":{\"name\":\"fairlead\",\"version\":\"%s\"}}",
             fl_version());
    expect_hello(answers, 2, want);
}

static void test_nobody_has_answered(void **state)
{
    const char *const answers[] = {FAILED, ""};
    merge_desk desk;
    fl_buf out;

    (void)state;
    begin(&desk, FL_METHOD_TOOLS_LIST, answers, NULL, 2);
    fl_buf_init(&out, ROOM);
    assert_int_equal(fl_merge_hello(desk.joint, &out), FL_E_STATE);
    assert_int_equal(fl_merge_list(desk.joint, &out), FL_E_STATE);
    fl_buf_reset(&out);
    end(&desk);
}

static const char *const pages[] = {
    RESULT("\"tools\":[],\"ttlMs\":5,\"nextCursor\":\"q\""),
    FAILED,
    RESULT("\"tools\":[],\"ttlMs\":9"),
};
static const char *const tools[] = {
    "{\"name\":\"x\"},{\"d\":1,\"name\":\"y\"}",
    "{\"name\":\"never\"}",
    "{\"name\":\"x\"},{\"name\":7}",
};

static void test_names_have_their_servers_in_front(void **state)
{
    char text[1024];
    merge_desk desk;
    fl_buf out;

    (void)state;
    begin(&desk, FL_METHOD_TOOLS_LIST, pages, tools, 3);
    fl_buf_init(&out, ROOM);
    assert_int_equal(fl_merge_list(desk.joint, &out), FL_OK);
    snprintf(text, sizeof text, "%.*s", (int)fl_buf_len(&out), out.ptr);
    assert_string_equal(text, "{\"ttlMs\":5,\"tools\":[{\"name\":\"a__x\"},"
                              "{\"d\":1,\"name\":\"a__y\"},{\"name\":\"c__x\"},"
                              "{\"name\":7}]}");
    fl_buf_reset(&out);
    end(&desk);
}

static void merge(void *user)
{
    merge_desk *desk = user;
    fl_buf out;

    fl_buf_init(&out, ROOM);
    fl_status rc = fl_merge_list(desk->joint, &out);
    assert_int_equal(rc, ration_refused() ? FL_E_NOMEM : FL_OK);
    fl_buf_reset(&out);
}

static void greet(void *user)
{
    merge_desk *desk = user;
    fl_buf out;

    fl_buf_init(&out, ROOM);
    fl_status rc = fl_merge_hello(desk->joint, &out);
    assert_int_equal(rc, ration_refused() ? FL_E_NOMEM : FL_OK);
    fl_buf_reset(&out);
}

static void test_no_memory_is_told_and_nothing_left(void **state)
{
    const char *const answers[] = {
        RESULT("\"capabilities\":{},\"instructions\":\"a\"")};
    merge_desk desk;

    (void)state;
    begin(&desk, FL_METHOD_TOOLS_LIST, pages, tools, 3);
    assert_true(ration_each(merge, &desk) > 1);
    end(&desk);
    begin(&desk, FL_METHOD_INITIALIZE, answers, NULL, 1);
    assert_true(ration_each(greet, &desk) > 1);
    end(&desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capabilities_are_what_anybody_has),
        cmocka_unit_test(test_instructions_stand_one_after_the_other),
        cmocka_unit_test(test_the_server_is_ourselves),
        cmocka_unit_test(test_nobody_has_answered),
        cmocka_unit_test(test_names_have_their_servers_in_front),
        cmocka_unit_test(test_no_memory_is_told_and_nothing_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
