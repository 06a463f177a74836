/*
 * test_config_expand.c - variables, files and inputs named inside values.
 */
#include "config_desk.h"

typedef enum host {
    COMMON,
    GEMINI,
    OPENCODE,
    VSCODE,
} host;

/* A file of that host, in which the command is what is given. */
static void write_file(host whose, const char *written, char text[512])
{
    static const char *const frames[][2] = {
        [COMMON] = {"{\"mcpServers\":{\"a\":{\"args\":[],\"command\":\"",
                    "\"}}}"},
        [GEMINI] = {"{\"mcpServers\":{\"a\":{\"args\":[],\"command\":\"",
                    "\",\"trust\":true}}}"},
        [OPENCODE] = {"{\"mcp\":{\"a\":{\"type\":\"local\",\"command\":[\"",
                      "\",\"b\"]}}}"},
        [VSCODE] = {"{\"inputs\":[1,{\"id\":\"other\"},{\"id\":\"k-1\"},"
                    "{\"id\":\"with\",\"default\":\"d\\u00e9f\"}],"
                    "\"servers\":{\"a\":{\"args\":[],\"command\":\"",
                    "\"}}}"},
    };

    snprintf(text, 512, "%s%s%s", frames[whose][0], written, frames[whose][1]);
}

static void check(host whose, const char *written, const char *real,
                  const char *shown)
{
    char text[512];

    write_file(whose, written, text);
    fl_config *config = desk_take(fl_span_of(text), FL_OK);
    const fl_config_server *server = desk_first(config);
    assert_string_equal(server->argv.items[0], real);
    assert_string_equal(server->argv.shown[0], shown);
    assert_true((server->argv.items[0] == server->argv.shown[0]) ==
                (strcmp(real, shown) == 0));
    fl_config_free(config);
}

static void check_refused(host whose, const char *written, const char *why)
{
    char text[512];
    size_t count;

    write_file(whose, written, text);
    fl_config *config = desk_take(fl_span_of(text), FL_E_INVALID);
    const fl_config_problem *problems = fl_config_problems(config, &count);
    assert_int_equal(count, 1);
    assert_string_equal(problems[0].text, why);
    fl_config_free(config);
}

static void test_expand_variables(void **state)
{
    (void)state;
    check(COMMON, "plain", "plain", "plain");
    check(COMMON, "${TOKEN}", "s3cret-token", "${TOKEN}");
    check(COMMON, "${env:TOKEN}", "s3cret-token", "${env:TOKEN}");
    check(COMMON, "<${TOKEN}|${TOKEN}>", "<s3cret-token|s3cret-token>",
          "<${TOKEN}|${TOKEN}>");
    check(COMMON, "\\u0024{TOKEN}", "s3cret-token", "${TOKEN}");
    check(COMMON, "a${EMPTY}b", "ab", "a${EMPTY}b");
}

static void test_expand_defaults(void **state)
{
    (void)state;
    check(COMMON, "${NONE:-x y}", "x y", "${NONE:-x y}");
    check(COMMON, "${env:NONE:-x}", "x", "${env:NONE:-x}");
    check(COMMON, "${EMPTY:-x}", "x", "${EMPTY:-x}");
    check(COMMON, "${TOKEN:-x}", "s3cret-token", "${TOKEN:-x}");
    check(COMMON, "a${NONE:-}", "a", "a${NONE:-}");
    check(COMMON, "${NONE:-:-}", ":-", "${NONE:-:-}");
}

static void test_expand_leaves_what_is_no_reference(void **state)
{
    (void)state;
    check(COMMON, "$", "$", "$");
    check(COMMON, "a$", "a$", "a$");
    check(COMMON, "pa$$word", "pa$$word", "pa$$word");
    check(COMMON, "$TOKEN x", "$TOKEN x", "$TOKEN x");
    check(COMMON, "{env:TOKEN}", "{env:TOKEN}", "{env:TOKEN}");
    check(COMMON, "$(TOKEN) }{", "$(TOKEN) }{", "$(TOKEN) }{");
    check(OPENCODE, "{\\\"env\\\":1}", "{\"env\":1}", "{\"env\":1}");
}

static void test_expand_escapes(void **state)
{
    (void)state;
    check(COMMON, "$${TOKEN}", "${TOKEN}", "${TOKEN}");
    check(COMMON, "$$${TOKEN}", "$${TOKEN}", "$${TOKEN}");
    check(COMMON, "$${", "${", "${");
    check(COMMON, "$${TOKEN}${TOKEN}", "${TOKEN}s3cret-token",
          "${TOKEN}${TOKEN}");
    check(GEMINI, "$$TOKEN", "$TOKEN", "$TOKEN");
    check(GEMINI, "$$ $", "$$ $", "$$ $");
    check(OPENCODE, "$${env:TOKEN}", "${env:TOKEN}", "${env:TOKEN}");
}

static void test_expand_bare_names_for_gemini(void **state)
{
    (void)state;
    check(GEMINI, "$TOKEN", "s3cret-token", "$TOKEN");
    check(GEMINI, "a$TOKEN-b", "as3cret-token-b", "a$TOKEN-b");
    check(GEMINI, "${TOKEN}", "s3cret-token", "${TOKEN}");
    check(GEMINI, "$1 $", "$1 $", "$1 $");
    check_refused(GEMINI, "$NONE",
                  "the variable NONE is not set; set it, or "
                  "give a default: ${NONE:-...}");
}

static void test_expand_braces_for_opencode(void **state)
{
    (void)state;
    check(OPENCODE, "{env:TOKEN}", "s3cret-token", "{env:TOKEN}");
    check(OPENCODE, "${TOKEN}", "s3cret-token", "${TOKEN}");
    check(OPENCODE, "{file:near}", "s3cret-near", "{file:near}");
    check_refused(OPENCODE, "{env:NONE}",
                  "the variable NONE is not set; set it, or give a default: "
                  "${NONE:-...}");
    check_refused(OPENCODE, "{env:NONE",
                  "{env:NONE has no }; to mean these "
                  "characters, double the $");
}

static void test_expand_files(void **state)
{
    (void)state;
    check(COMMON, "${file:/etc/mcp/near}", "s3cret-near",
          "${file:/etc/mcp/near}");
    check(COMMON, "${file:near}", "s3cret-near", "${file:near}");
    check(COMMON, "${file:~/secrets/figma}", "s3cret-figma",
          "${file:~/secrets/figma}");
    check_refused(COMMON, "${file:none}",
                  "the file none cannot be read: not found");
    check_refused(COMMON, "${file:nul}", "the file nul has a NUL in it");
}

static void test_expand_inputs(void **state)
{
    (void)state;
    check(VSCODE, "${input:perplexity-key}", "s3cret-perplexity",
          "${input:perplexity-key}");
    check(VSCODE, "${input:with}",
          "d\xC3\xA9"
          "f",
          "${input:with}");
    check_refused(VSCODE, "${input:k-1}",
                  "nobody can be asked for the input k-1 here; set the "
                  "variable FAIRLEAD_INPUT_K_1, or give the input a default");
    check_refused(COMMON, "${input:x}",
                  "nobody can be asked for the input x here; set the variable "
                  "FAIRLEAD_INPUT_X, or give the input a default");
}

static void test_expand_places(void **state)
{
    (void)state;
    check(VSCODE, "${workspaceFolder}/x", "/home/ada/project/x",
          "${workspaceFolder}/x");
    check(VSCODE, "${workspaceFolderBasename}", "project",
          "${workspaceFolderBasename}");
    check(COMMON, "${userHome}${/}x${pathSeparator}", "/home/ada/x/",
          "${userHome}${/}x${pathSeparator}");
}

static const char *nothing(void *user, const char *name)
{
    (void)user;
    (void)name;
    return NULL;
}

static void test_expand_without_a_workspace_or_files(void **state)
{
    (void)state;
    static const char *const sources[][2] = {
        {"${workspaceFolder}", "there is no workspace here; set the variable "
                               "FAIRLEAD_WORKSPACE to its directory"},
        {"${file:x}", "the file x cannot be read: not supported"},
        {"${userHome}", "the variable HOME is not set; set it, or give a "
                        "default: ${HOME:-...}"},
    };
    fl_config_source source = {.variable = nothing};

    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        char text[512];
        size_t count;
        fl_config *config;
        write_file(VSCODE, sources[i][0], text);
        assert_int_equal(fl_config_read(fl_span_of(text), "mcp.json", &source,
                                        &config, NULL),
                         FL_E_INVALID);
        const fl_config_problem *problems = fl_config_problems(config, &count);
        assert_string_equal(problems[0].text, sources[i][1]);
        fl_config_free(config);
    }
}

static void test_expand_refuses_what_it_does_not_know(void **state)
{
    (void)state;
    check_refused(COMMON, "${}",
                  "${} names no variable; to mean these "
                  "characters, write $${}");
    check_refused(COMMON, "${a b}",
                  "${a b} names no variable; to mean these "
                  "characters, write $${a b}");
    check_refused(COMMON, "${command:x}",
                  "${command:x} names no variable; to mean these characters, "
                  "write $${command:x}");
    check_refused(COMMON, "${1A}",
                  "${1A} names no variable; to mean these "
                  "characters, write $${1A}");
    check_refused(COMMON, "x ${TOKEN",
                  "${TOKEN has no }; to mean these "
                  "characters, double the $");
}

static void test_expand_warns_of_a_bare_name(void **state)
{
    (void)state;
    desk_problems("{\"mcpServers\":{\"a\":{\"command\":\"b\",\n\"env\":{\"A\":"
                  "\"$MY_TOKEN\"}}}}",
                  FL_OK,
                  "/etc/mcp/mcp.json:2:12: warning: mcpServers.a.env.A: "
                  "$MY_TOKEN is taken as it stands; for the variable, write "
                  "${MY_TOKEN}\n");
}

/* Every field that the page promises. */
static void test_expand_works_in_every_field(void **state)
{
    (void)state;
    fl_config *config = desk_take(
        FL_SPAN("{\"mcpServers\":{\"a\":{\"url\":\"${URL}\",\"headers\":{"
                "\"A\":\"${TOKEN}\"},\"fairlead\":{\"replicas\":[\"${URL}\"]}},"
                "\"b\":{\"command\":\"${TOKEN}\",\"args\":[\"${TOKEN}\"],"
                "\"cwd\":\"${HOME}\",\"env\":{\"A\":\"${TOKEN}\"},"
                "\"envFile\":\"${HOME}/project/.env\"}}}"),
        FL_OK);
    const fl_config_server *a = desk_first(config), *b = a + 1;

    assert_string_equal(a->url.text, "https://s3cret.example/mcp");
    assert_string_equal(a->headers.items[0], "A: s3cret-token");
    assert_string_equal(a->replicas[0].url.text, "https://s3cret.example/mcp");
    assert_string_equal(b->argv.items[0], "s3cret-token");
    assert_string_equal(b->argv.items[1], "s3cret-token");
    assert_string_equal(b->cwd.text, "/home/ada");
    assert_string_equal(b->env.items[0], "PORT=8080");
    assert_string_equal(b->env.items[2], "A=s3cret-token");
    desk_expect(config, fl_config_show_servers,
                "a: HTTP or HTTP+SSE\n  url ${URL}\n  replica ${URL}\n"
                "  header A: ${TOKEN}\n"
                "b: a child\n  command ${TOKEN} ${TOKEN}\n"
                "  env PORT=(envFile)\n  env KEY=(envFile)\n"
                "  env A=${TOKEN}\n  cwd ${HOME}\n");
    fl_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expand_variables),
        cmocka_unit_test(test_expand_defaults),
        cmocka_unit_test(test_expand_leaves_what_is_no_reference),
        cmocka_unit_test(test_expand_escapes),
        cmocka_unit_test(test_expand_bare_names_for_gemini),
        cmocka_unit_test(test_expand_braces_for_opencode),
        cmocka_unit_test(test_expand_files),
        cmocka_unit_test(test_expand_inputs),
        cmocka_unit_test(test_expand_places),
        cmocka_unit_test(test_expand_without_a_workspace_or_files),
        cmocka_unit_test(test_expand_refuses_what_it_does_not_know),
        cmocka_unit_test(test_expand_warns_of_a_bare_name),
        cmocka_unit_test(test_expand_works_in_every_field),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
