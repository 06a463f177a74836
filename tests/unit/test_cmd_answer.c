/*
 * test_cmd_answer.c - a form, filled in by somebody who types into a pipe.
 */
#include "client_talk.h"

#include "cmd/answer.h"

#include <stdlib.h>

#define ASK(params)                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"elicitation/create\","         \
    "\"params\":" params "}"

#define FORM                                                                   \
    "{\"message\":\"Who\\u001b?\",\"requestedSchema\":{\"properties\":{"       \
    "\"name\":{\"type\":\"string\",\"title\":\"Name\"},\"age\":{\"type\":"     \
    "\"integer\",\"default\":42},\"sure\":{\"type\":\"boolean\"},\"one\":{"    \
    "\"type\":\"string\",\"oneOf\":[{\"const\":\"a\",\"title\":\"A\"},{"       \
    "\"const\":\"b\"}]},\"some\":{\"type\":\"array\",\"items\":{\"enum\":["    \
    "\"x\",\"y\"]}}},\"required\":[\"name\"]}}"

static fl_answerer answerer;
static int typed[2];

static void on_form(fl_client *client, fl_ask *ask, void *user)
{
    (void)client, (void)user;
    fl_answer_form(&answerer, ask);
}

static void on_url(fl_client *client, fl_ask *ask, void *user)
{
    (void)client, (void)user;
    fl_answer_url(&answerer, ask);
}

/* What was shown meanwhile is returned; free() it. */
static char *check(fl_answerer how, const char *ask, const char *keys,
                   const char *want)
{
    const fl_client_handlers handlers = {.elicit = on_form,
                                         .elicit_url = on_url};
    char *shown = NULL;
    size_t len = 0;

    assert_int_equal(pipe(typed), 0);
    assert_int_equal(write(typed[1], keys, strlen(keys)),
                     (ssize_t)strlen(keys));
    close(typed[1]);
    answerer = how;
    answerer.in = typed[0];
    answerer.term =
        (fl_term){.file = open_memstream(&shown, &len), .is_tty = true};
    talk_legacy_with(&(fl_client_options){.handlers = &handlers}, "{}");
    raw_say(&said.server, ask);
    char line[512];
    snprintf(line, sizeof line, ANSWER("7", "%s"), want);
    raw_hears(&said.server, line);
    talk_end();
    close(typed[0]);
    fclose(answerer.term.file);
    return shown;
}

static const fl_answerer person = {0};

static void test_answer_takes_what_is_typed(void **state)
{
    char *shown = check(person, ASK(FORM), "Jo \"J\"\n7\nyes\nb\nx, y\ny\n",
                        "{\"action\":\"accept\",\"content\":{\"name\":\"Jo "
                        "\\\"J\\\"\",\"age\":7,\"sure\":true,\"one\":\"b\","
                        "\"some\":[\"x\",\"y\"]}}");

    (void)state;
    assert_non_null(strstr(shown, "The server asks: Who\\x1b?"));
    assert_non_null(strstr(shown, "Name (text)\n> "));
    assert_non_null(strstr(shown, "age (integer) [42]\n> "));
    assert_non_null(strstr(shown, "sure (y/n) [none]\n> "));
    assert_non_null(strstr(shown, "one (a, b) [none]\n> "));
    free(shown);
}

static void test_answer_takes_defaults_for_nothing(void **state)
{
    (void)state;
    free(check(person, ASK(FORM), "Jo\n\n\n\n\n\n",
               "{\"action\":\"accept\",\"content\":{\"name\":\"Jo\",\"age\":42}"
               "}"));
}

static void test_answer_asks_again_until_it_is_one(void **state)
{
    char *shown =
        check(person, ASK(FORM), "\nJo\n1.5\n8\nmaybe\nno\nc\na\nz\nx\n\n",
              "{\"action\":\"accept\",\"content\":{\"name\":\"Jo\",\"age\":8,"
              "\"sure\":false,\"one\":\"a\",\"some\":[\"x\"]}}");
    int complaints = 0;

    (void)state;
    for (const char *at_word = shown;
         (at_word = strstr(at_word, "That is no answer")) != NULL; at_word++)
        complaints++;
    assert_int_equal(complaints, 5);
    free(shown);
}

/* A form of one field. */
#define ONE(rules)                                                             \
    ASK("{\"message\":\"m\",\"requestedSchema\":{\"properties\":{\"f\":"       \
        "{" rules "}},\"required\":[\"f\"]}}")

static void test_answer_says_what_the_schema_wants(void **state)
{
    static const struct {
        const char *ask, *keys, *sent, *says;
    } cases[] = {
        {ONE("\"type\":\"integer\",\"minimum\":1,\"maximum\":9"),
         "10\n0\n9\n\n", "9", ": must be at most 9.\n"},
        {ONE("\"type\":\"integer\",\"minimum\":1,\"maximum\":9"), "0\n1\n\n",
         "1", ": must be at least 1.\n"},
        {ONE("\"type\":\"integer\""), "1.5\n1\n\n", "1",
         ": must be integer, not a fraction.\n"},
        {ONE("\"type\":\"number\""), "many\n1.5\n\n", "1.5",
         ": must be a number.\n"},
        {ONE("\"type\":\"string\",\"minLength\":2"), "a\nab\n\n", "\"ab\"",
         ": must have at least 2 characters.\n"},
        {ONE("\"type\":\"string\",\"maxLength\":2"), "abc\n\u00e4\u00f6\n\n",
         "\"\u00e4\u00f6\"", ": must have at most 2 characters.\n"},
        {ONE("\"type\":\"string\",\"pattern\":\"^[a-c]+$\""), "d\na\n\n",
         "\"a\"", ": must match \"^[a-c]+$\".\n"},
        {ONE("\"type\":\"string\",\"format\":\"email\""), "me\na@b.org\n\n",
         "\"a@b.org\"", ": must be of format email.\n"},
        {ONE("\"type\":\"string\",\"enum\":[\"a\",\"b\"]"), "c\na\n\n", "\"a\"",
         ": must be one of the choices.\n"},
        {ONE("\"type\":\"array\",\"maxItems\":1,\"items\":{\"enum\":[\"a\","
             "\"b\"]}"),
         "a,b\nc\na\n\n", "[\"a\"]", ": must have at most 1 elements.\n"},
        {ONE("\"type\":\"boolean\""), "maybe\nYES\n\n", "true",
         ": must be y or n.\n"},
        {ONE("\"type\":\"string\""), "\na\n\n", "\"a\"",
         ": must not be left out.\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char want[128];
        snprintf(want, sizeof want,
                 "{\"action\":\"accept\",\"content\":{\"f\":%s}}",
                 cases[i].sent);
        char *shown = check(person, cases[i].ask, cases[i].keys, want);
        assert_non_null(strstr(shown, cases[i].says));
        free(shown);
    }
}

static void test_answer_prompts_for_what_the_schema_wants(void **state)
{
    static const struct {
        const char *ask, *shows;
    } cases[] = {
        {ONE("\"type\":\"integer\",\"minimum\":1,\"maximum\":9"),
         "\nf (integer, 1 to 9)\n> "},
        {ONE("\"type\":\"number\",\"minimum\":-1.5"),
         "\nf (number, at least -1.5)\n> "},
        {ONE("\"type\":\"number\",\"exclusiveMinimum\":0,\"maximum\":9,"
             "\"multipleOf\":2"),
         "\nf (number, at most 9, more than 0, a multiple of 2)\n> "},
        {ONE("\"type\":\"string\",\"minLength\":1"),
         "\nf (text, at least 1 character)\n> "},
        {ONE("\"type\":\"string\",\"minLength\":2,\"maxLength\":8"),
         "\nf (text, 2 to 8 characters)\n> "},
        {ONE("\"type\":\"string\",\"minLength\":5,\"maxLength\":5,"
             "\"pattern\":\"^\\\\d+$\""),
         "\nf (text, 5 characters, matching ^\\d+$)\n> "},
        {ONE("\"type\":\"string\",\"format\":\"email\""),
         "\nf (text, of format email)\n> "},
        {ONE("\"type\":\"boolean\",\"default\":false"), "\nf (y/n) [n]\n> "},
        {ONE("\"type\":\"array\",\"items\":{\"enum\":[\"a\",\"b\"]}"),
         "\nf (any of a, b, with commas between them)\n> "},
        {ONE("\"type\":\"array\",\"maxItems\":1,\"items\":{\"enum\":[\"a\","
             "\"b\"]}"),
         "\nf (at most 1 of a, b, with commas between them)\n> "},
        {ONE("\"description\":\"what\""), "\nf: what (text)\n> "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *shown =
            check(person, cases[i].ask, "", "{\"action\":\"cancel\"}");
        assert_non_null(strstr(shown, cases[i].shows));
        free(shown);
    }
}

/* What is wrong with it is for the server to find. */
static void test_answer_leaves_an_odd_schema_alone(void **state)
{
    (void)state;
    free(check(person, ONE("\"type\":\"integer\",\"minimum\":\"no\""), "1\n\n",
               "{\"action\":\"accept\",\"content\":{\"f\":1}}"));
}

static void test_answer_can_be_no_or_nothing(void **state)
{
    (void)state;
    free(check(person, ASK(FORM), "Jo\n\n\n\n\nn\n",
               "{\"action\":\"decline\"}"));
    free(
        check(person, ASK(FORM), "Jo\n\n\n\n\nc\n", "{\"action\":\"cancel\"}"));
    free(check(person, ASK(FORM), "Jo\n", "{\"action\":\"cancel\"}"));
    free(check(person, ASK(FORM), "", "{\"action\":\"cancel\"}"));
}

static void test_answer_is_confirmed_by_a_word_it_knows(void **state)
{
    char *shown = check(person, ONE("\"type\":\"string\""), "a\nsure\nx\nY\n",
                        "{\"action\":\"accept\",\"content\":{\"f\":\"a\"}}");
    const char *again = strstr(shown, "must be y, n or c.\nSend this? [Y]es, ");

    (void)state;
    assert_non_null(again);
    assert_non_null(
        strstr(again + 1, "must be y, n or c.\nSend this? [Y]es, "));
    free(shown);
    free(check(person, ONE("\"type\":\"string\""), "a\nq\ncancel\n",
               "{\"action\":\"cancel\"}"));
    free(check(person, ONE("\"type\":\"string\""), "a\nq\nNo\n",
               "{\"action\":\"decline\"}"));
    free(check(person, ONE("\"type\":\"string\""), "a\nq\n",
               "{\"action\":\"cancel\"}"));
}

/* What was left out has none, and is not sent. */
static void test_answer_speaks_of_defaults_if_there_are_any(void **state)
{
    char *shown = check(person, ASK(FORM), "Jo\n1\n\n\n\n\n",
                        "{\"action\":\"accept\",\"content\":{\"name\":\"Jo\","
                        "\"age\":1}}");

    (void)state;
    assert_non_null(strstr(shown, "\nSend this? [Y]es, [n]o, [c]ancel > "));
    free(shown);
    shown = check(person, ASK(FORM), "Jo\n\n\n\n\n\n",
                  "{\"action\":\"accept\",\"content\":{\"name\":\"Jo\","
                  "\"age\":42}}");
    assert_non_null(
        strstr(shown, "\nSend this, and the defaults of the rest? "));
    free(shown);
}

#define EASY                                                                   \
    "{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\","             \
    "\"properties\":{\"age\":{\"type\":\"integer\",\"default\":42}},"          \
    "\"required\":[\"age\"]}}"

static void test_answer_without_anybody(void **state)
{
    const fl_answerer accepts = {.accept_defaults = true};
    const fl_answerer declines = {.decline = true};

    (void)state;
    free(check(accepts, ASK(EASY), "",
               "{\"action\":\"accept\",\"content\":{\"age\":42}}"));
    char *shown = check(accepts, ASK(FORM), "", "{\"action\":\"cancel\"}");
    assert_non_null(strstr(shown, "has no default"));
    free(shown);
    free(check(declines, ASK(FORM), "", "{\"action\":\"decline\"}"));
    assert_true(fl_answerer_can(&accepts));
    assert_true(fl_answerer_can(&declines));
    assert_false(fl_answerer_can(&(fl_answerer){.in = -1}));
}

#define PAGE "{\"mode\":\"url\",\"message\":\"m\",\"url\":\"https://x.org/\"}"

static void test_answer_visits_only_whom_the_user_says(void **state)
{
    char *shown = check(person, ASK(PAGE), "y\n", "{\"action\":\"accept\"}");

    (void)state;
    assert_non_null(strstr(shown, "https://x.org/"));
    free(shown);
    free(check(person, ASK(PAGE), "what\nn\n", "{\"action\":\"decline\"}"));
    free(check(person, ASK(PAGE), "", "{\"action\":\"cancel\"}"));
    free(check((fl_answerer){.accept_defaults = true}, ASK(PAGE), "",
               "{\"action\":\"decline\"}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answer_takes_what_is_typed),
        cmocka_unit_test(test_answer_takes_defaults_for_nothing),
        cmocka_unit_test(test_answer_asks_again_until_it_is_one),
        cmocka_unit_test(test_answer_says_what_the_schema_wants),
        cmocka_unit_test(test_answer_prompts_for_what_the_schema_wants),
        cmocka_unit_test(test_answer_leaves_an_odd_schema_alone),
        cmocka_unit_test(test_answer_can_be_no_or_nothing),
        cmocka_unit_test(test_answer_is_confirmed_by_a_word_it_knows),
        cmocka_unit_test(test_answer_speaks_of_defaults_if_there_are_any),
        cmocka_unit_test(test_answer_without_anybody),
        cmocka_unit_test(test_answer_visits_only_whom_the_user_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
