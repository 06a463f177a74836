/*
 * test_adapt_question.c - what a server asks, what a client answers.
 */
#include "adapt_words.h"

static void asked(int from, int to, fl_method method, const char *text,
                  const char *want)
{
    fl_adapt adapt = between(from, to, method);

    check_words(fl_adapt_question, &adapt, text, want);
}

static void refused(int from, int to, fl_method method, const char *text)
{
    fl_adapt adapt = between(from, to, method);

    check_refused(fl_adapt_question, &adapt, text, FL_E_UNSUPPORTED);
}

#define T(text) "{'type':'text','text':'" text "'}"

static void test_question_of_one_part_is_unwrapped(void **state)
{
    (void)state;
    for (int to = L1; to <= L3; to++) {
        asked(L4, to, FL_METHOD_SAMPLE,
              "{'messages':[{'role':'user','content':[" T("a") "]}]}",
              "{'messages':[{'role':'user','content':" T("a") "}]}");
        asked(M, to, FL_METHOD_SAMPLE,
              "{'messages':[{'role':'user','content':" T("a") "}]}", NULL);
    }
    asked(M, L4, FL_METHOD_SAMPLE,
          "{'messages':[{'role':'user','content':[" T("a") "]}]}", NULL);
}

static void test_question_of_several_parts_is_several_messages(void **state)
{
    (void)state;
    asked(L4, L3, FL_METHOD_SAMPLE,
          "{'messages':[{'_meta':{},'content':[" T("a") "," T(
              "b") "],"
                   "'role':'user'},{'role':'assistant','content':[]}],'"
                   "maxTokens':1}",
          "{'messages':[{'_meta':{},'content':" T(
              "a") ",'role':'user'},"
                   "{'role':'user','content':" T("b") "}],'maxTokens':1}");
}

static void test_question_that_cannot_be_put_is_refused(void **state)
{
    (void)state;
    for (int to = L1; to <= L3; to++) {
        refused(L4, to, FL_METHOD_SAMPLE,
                "{'messages':[{'content':[{'type':'tool_use'}]}]}");
        refused(L4, to, FL_METHOD_SAMPLE,
                "{'messages':[{'content':{'type':'tool_result'}}]}");
    }
    refused(L2, L1, FL_METHOD_SAMPLE,
            "{'messages':[{'content':{'type':'audio'}}]}");
    asked(L4, L2, FL_METHOD_SAMPLE,
          "{'messages':[{'content':{'type':'audio'}}]}", NULL);
}

static void test_question_loses_what_the_client_has_no_word_for(void **state)
{
    (void)state;
    asked(L4, M, FL_METHOD_ELICIT,
          "{'mode':'url','url':'u','elicitationId':'e','task':{}}",
          "{'mode':'url','url':'u'}");
    asked(L4, M, FL_METHOD_SAMPLE, "{'task':{},'messages':[]}",
          "{'messages':[]}");
    asked(L4, L3, FL_METHOD_SAMPLE, "{'messages':[],'task':{}}",
          "{'messages':[]}");
    asked(L4, M, FL_METHOD_ROOTS_LIST, "{'_meta':{}}", NULL);
}

static void test_question_about_a_url_gets_its_id(void **state)
{
    fl_adapt adapt = between(M, L4, FL_METHOD_ELICIT);

    (void)state;
    adapt.object = FL_SPAN("\"e1\"");
    check_words(fl_adapt_question, &adapt, "{'mode':'url','url':'u'}",
                "{'mode':'url','url':'u','elicitationId':'e1'}");
    check_same(fl_adapt_question, &adapt, "{'mode':'form'}");
    check_same(fl_adapt_question, &adapt, "{}");
    check_same(fl_adapt_question, &adapt,
               "{'mode':'url','elicitationId':'own'}");
    asked(M, L4, FL_METHOD_ELICIT, "{'mode':'url','url':'u'}", NULL);
}

static void test_question_is_for_those_who_know_of_it(void **state)
{
    (void)state;
    for (int to = L1; to <= L2; to++)
        refused(L3, to, FL_METHOD_ELICIT, "{'message':'m'}");
    for (int to = L1; to <= L3; to++)
        refused(M, to, FL_METHOD_ELICIT, "{'mode':'\\u0075rl'}");
    asked(M, L3, FL_METHOD_ELICIT, "{'mode':'form','message':'m'}",
          "{'message':'m'}");
}

#define FORM(property)                                                         \
    "{'requestedSchema':{'type':'object','properties':{'p':" property "}}}"

static void test_question_with_titles_has_names_instead(void **state)
{
    (void)state;
    asked(L4, L3, FL_METHOD_ELICIT,
          FORM("{'type':'string','oneOf':[{'const':'a','title':'A'},"
               "{'const':'b'}],'title':'t'}"),
          FORM("{'type':'string','title':'t','enum':['a','b'],"
               "'enumNames':['A','b']}"));
    asked(L4, L3, FL_METHOD_ELICIT,
          FORM("{'type':'string','oneOf':[],'default':'a'}"),
          FORM("{'type':'string','enum':[],'enumNames':[]}"));
    asked(L4, M, FL_METHOD_ELICIT, FORM("{'oneOf':[{'const':'a'}]}"), NULL);
}

static void test_question_has_no_defaults_but_booleans(void **state)
{
    (void)state;
    asked(M, L3, FL_METHOD_ELICIT, FORM("{'type':'number','default':1}"),
          FORM("{'type':'number'}"));
    asked(M, L3, FL_METHOD_ELICIT, FORM("{'default':null,'type':'string'}"),
          FORM("{'type':'string'}"));
    asked(M, L3, FL_METHOD_ELICIT, FORM("{'type':'boolean','default':true}"),
          NULL);
    asked(M, L3, FL_METHOD_ELICIT, FORM("{'type':'boolean','default':false}"),
          NULL);
}

static void test_question_with_several_choices_is_refused(void **state)
{
    (void)state;
    refused(L4, L3, FL_METHOD_ELICIT,
            FORM("{'type':'array','items':{'enum':['a']}}"));
    refused(M, L3, FL_METHOD_ELICIT, FORM("{'type':'\\u0061rray'}"));
    asked(M, L4, FL_METHOD_ELICIT, FORM("{'type':'array','items':{}}"), NULL);
}

static void test_question_of_an_odd_shape_passes(void **state)
{
    static const char *const odd[] = {
        "[]",
        "{'messages':{'content':[]},'requestedSchema':[1]}",
        "{'messages':[1,[],{'content':[[" T("a") "]]},{'content':[1,2]},{}]}",
        "{'requestedSchema':{'properties':['a',{'type':'array'}]}}",
        "{'requestedSchema':{'properties':{'p':'array','q':["
        "{'type':'array'}],'r':{'oneOf':[{'const':1}]},"
        "'s':{'oneOf':{'const':'a'}},'t':{'oneOf':[{'const':'a'}],"
        "'enum':[]}}}}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        asked(L4, L3, FL_METHOD_SAMPLE, odd[i], NULL);
        asked(L4, L3, FL_METHOD_ELICIT, odd[i], NULL);
    }
}

static void answered(int from, int to, const char *text, const char *want)
{
    fl_adapt adapt = between(from, to, FL_METHOD_SAMPLE);

    check_words(fl_adapt_answer, &adapt, text, want);
}

static void test_answer_of_several_parts_is_one(void **state)
{
    (void)state;
    for (int to = L1; to <= L3; to++) {
        answered(L4, to, "{'role':'user','content':[" T("a") "]}",
                 "{'role':'user','content':" T("a") "}");
        answered(M, to,
                 "{'content':[" T("a\\u0062") "," T("c") "],'model':'m'}",
                 "{'content':" T("a\\u0062\\nc") ",'model':'m'}");
        answered(M, to, "{'content':[{'type':'image'}," T("c") "]}",
                 "{'content':{'type':'image'}}");
        answered(M, to, "{'content':[]}", "{'content':" T("") "}");
        answered(M, to, "{'content':" T("a") "}", NULL);
        answered(M, to, "{'content':[1]}", NULL);
        answered(M, to, "[]", NULL);
    }
    answered(M, L4, "{'content':[]}", NULL);
    answered(L3, L1, "{'content':[]}", NULL);
}

static void test_answer_to_a_form_is_the_same_everywhere(void **state)
{
    fl_adapt adapt = between(M, L3, FL_METHOD_ELICIT);

    (void)state;
    check_same(fl_adapt_answer, &adapt, "{'action':'accept','content':[]}");
}

static void test_question_wants_memory_and_says_so(void **state)
{
    fl_adapt sample = between(L4, L3, FL_METHOD_SAMPLE);
    fl_adapt elicit = between(L4, L3, FL_METHOD_ELICIT);

    (void)state;
    check_scarcity(fl_adapt_question, &sample,
                   "{'messages':[{'content':[" T("a") "," T("b") "]}]}");
    check_scarcity(fl_adapt_question, &elicit,
                   FORM("{'oneOf':[{'const':'a','title':'A'}]}"));
    check_scarcity(fl_adapt_answer, &sample,
                   "{'content':[" T("a") "," T("b") "]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_question_of_one_part_is_unwrapped),
        cmocka_unit_test(test_question_of_several_parts_is_several_messages),
        cmocka_unit_test(test_question_that_cannot_be_put_is_refused),
        cmocka_unit_test(test_question_loses_what_the_client_has_no_word_for),
        cmocka_unit_test(test_question_about_a_url_gets_its_id),
        cmocka_unit_test(test_question_is_for_those_who_know_of_it),
        cmocka_unit_test(test_question_with_titles_has_names_instead),
        cmocka_unit_test(test_question_has_no_defaults_but_booleans),
        cmocka_unit_test(test_question_with_several_choices_is_refused),
        cmocka_unit_test(test_question_of_an_odd_shape_passes),
        cmocka_unit_test(test_answer_of_several_parts_is_one),
        cmocka_unit_test(test_answer_to_a_form_is_the_same_everywhere),
        cmocka_unit_test(test_question_wants_memory_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
