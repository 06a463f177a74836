/*
 * test_adapt_error.c - errors, on their way to a client of another revision.
 */
#include "adapt_words.h"

static int code;

static fl_status say_error(const fl_adapt *adapt, fl_span error, fl_buf *out)
{
    return fl_adapt_error(adapt, error, out, &code);
}

static void told(const fl_adapt *adapt, const char *text, const char *want,
                 int becomes)
{
    code = 1;
    check_words(say_error, adapt, text, want);
    assert_int_equal(code, becomes);
}

#define URI "\"file:///a\""

static void test_error_what_is_not_found_is_a_wrong_param(void **state)
{
    fl_adapt adapt = between(L3, M, FL_METHOD_RESOURCES_READ);

    (void)state;
    adapt.object = FL_SPAN(URI);
    told(&adapt, "{'code':-32002,'message':'no'}",
         "{'code':-32602,'message':'no','data':{'uri':'file:///a'}}", -32602);
    told(&adapt, "{'code':-32002.0,'data':{'uri':'u','x':1}}",
         "{'code':-32602,'data':{'uri':'u','x':1}}", -32602);
    told(&adapt, "{'data':{'x':1},'code':-32002}",
         "{'data':{'x':1,'uri':'file:///a'},'code':-32602}", -32602);
    told(&adapt, "{'c\\u006fde':-32002,'data':[7]}",
         "{'c\\u006fde':-32602,'data':{'uri':'file:///a','data':[7]}}", -32602);
    adapt.object = (fl_span){0};
    told(&adapt, "{'code':-32002,'message':'no'}",
         "{'code':-32602,'message':'no'}", -32602);
}

static void test_error_of_a_reserved_code_is_kept_inside(void **state)
{
    fl_adapt call = between(L4, M, FL_METHOD_TOOLS_CALL);

    (void)state;
    told(&call, "{'code':-32002,'message':'no'}",
         "{'code':-32603,'message':'no','data':{'upstream':"
         "{'code':-32002,'message':'no'}}}",
         -32603);
    told(&call, "{'code':-32020,'data':[1],'message':''}",
         "{'code':-32603,'data':{'upstream':{'code':-32020,'data':[1],"
         "'message':''}},'message':''}",
         -32603);
    for (int reserved = -32099; reserved <= -32020; reserved++) {
        char text[64], want[128];
        snprintf(text, sizeof text, "{'code':%d}", reserved);
        snprintf(want, sizeof want,
                 "{'code':-32603,'data':{'upstream':{'code':%d}}}", reserved);
        if (reserved == -32042)
            told(&call, text, NULL, -32042);
        else
            told(&call, text, want, -32603);
    }
}

static void test_error_of_any_other_code_passes(void **state)
{
    static const int codes[] = {-32000, -32001, -32003, -32010, -32012,
                                -32019, -32100, -32600, -32601, -32602,
                                -32603, -32700, -1,     0,      7};
    fl_adapt up = between(L1, M, FL_METHOD_RESOURCES_READ);
    fl_adapt down = between(M, L1, FL_METHOD_RESOURCES_READ);

    (void)state;
    up.object = down.object = FL_SPAN(URI);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char text[64];
        snprintf(text, sizeof text, "{'code':%d,'message':'m'}", codes[i]);
        told(&up, text, NULL, codes[i]);
        told(&down, text, NULL, codes[i]);
    }
}

static void test_error_of_what_was_asked_for_is_not_found(void **state)
{
    fl_adapt adapt = between(M, L3, FL_METHOD_RESOURCES_READ);
    fl_adapt call = between(M, L3, FL_METHOD_TOOLS_CALL);

    (void)state;
    adapt.object = call.object = FL_SPAN(URI);
    told(&adapt, "{'code':-32602,'data':{'uri':'file:\\/\\/\\/a'}}",
         "{'code':-32002,'data':{'uri':'file:\\/\\/\\/a'}}", -32002);
    told(&adapt, "{'code':-32602,'data':{'uri':'file:///b'}}", NULL, -32602);
    told(&adapt, "{'code':-32602,'data':{'uri':7}}", NULL, -32602);
    told(&adapt, "{'code':-32602,'data':'file:///a'}", NULL, -32602);
    told(&call, "{'code':-32602,'data':{'uri':'file:///a'}}", NULL, -32602);
    adapt.object = FL_SPAN("\"file:\\/\\/\\/a\"");
    told(&adapt, "{'code':-32602,'data':{'uri':'file:///a'}}",
         "{'code':-32002,'data':{'uri':'file:///a'}}", -32002);
    adapt.object = (fl_span){0};
    told(&adapt, "{'code':-32602,'data':{'uri':''}}", NULL, -32602);
}

static void test_error_of_a_modern_code_is_told_if_it_can_be(void **state)
{
    fl_adapt adapt = between(M, L4, FL_METHOD_TOOLS_CALL);

    (void)state;
    told(&adapt, "{'code':-32022,'message':'v'}",
         "{'code':-32603,'message':'v','data':{'upstream':{'code':-32022,"
         "'message':'v'}}}",
         -32603);
    told(&adapt, "{'code':-32021,'data':{'requiredCapabilities':{}}}", NULL,
         -32021);
    told(&adapt, "{'code':-32020}", NULL, -32020);
}

static void test_error_is_the_same_in_one_era(void **state)
{
    (void)state;
    for (int from = L1; from <= L4; from++) {
        for (int to = L1; to <= L4; to++) {
            fl_adapt adapt = between(from, to, FL_METHOD_RESOURCES_READ);
            adapt.object = FL_SPAN(URI);
            told(&adapt, "{'code':-32002}", NULL, -32002);
            told(&adapt, "{'code':-32042}", NULL, -32042);
            told(&adapt, "{'code':-32602,'data':{'uri':'file:///a'}}", NULL,
                 -32602);
        }
    }
}

static void test_error_without_a_code_is_an_internal_one(void **state)
{
    static const char *const texts[] = {"{}",           "{'code':'x'}",
                                        "{'code':1.5}", "{'code':null}",
                                        "[1]",          "{'code':3000000000}"};
    fl_adapt up = between(L4, M, FL_METHOD_TOOLS_CALL);
    fl_adapt down = between(M, L4, FL_METHOD_TOOLS_CALL);

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        told(&up, texts[i], NULL, -32603);
        told(&down, texts[i], NULL, -32603);
    }
}

static void test_error_wants_memory_and_says_so(void **state)
{
    fl_adapt read = between(L3, M, FL_METHOD_RESOURCES_READ);
    fl_adapt call = between(L3, M, FL_METHOD_TOOLS_CALL);

    (void)state;
    read.object = FL_SPAN(URI);
    check_scarcity(say_error, &read, "{'code':-32002,'data':7}");
    check_scarcity(say_error, &call, "{'code':-32002,'message':'a'}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_what_is_not_found_is_a_wrong_param),
        cmocka_unit_test(test_error_of_a_reserved_code_is_kept_inside),
        cmocka_unit_test(test_error_of_any_other_code_passes),
        cmocka_unit_test(test_error_of_what_was_asked_for_is_not_found),
        cmocka_unit_test(test_error_of_a_modern_code_is_told_if_it_can_be),
        cmocka_unit_test(test_error_is_the_same_in_one_era),
        cmocka_unit_test(test_error_without_a_code_is_an_internal_one),
        cmocka_unit_test(test_error_wants_memory_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
