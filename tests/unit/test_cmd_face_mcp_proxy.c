/*
 * test_cmd_face_mcp_proxy.c - the command lines of npm's, what they mean here,
 * and how it is told from Python's.
 */
#include "face_lines.h"

#define SERVE "fairlead serve --listen http://127.0.0.1:8080/mcp "
#define TSX "--inherit-env '*' -- tsx server.js"

static const fl_face_program *const it = &fl_face_mcp_proxy;

/* Those its manual shows. */
static void test_mcp_proxy_examples_have_their_counterparts(void **state)
{
    static const struct line_case cases[] = {
        {"--port 8080 --endpoint /sse tsx server.js", SERVE TSX},
        {"--port 8080 --shell tsx server.js", SERVE TSX},
        {"--port 8080 -- tsx server.js", SERVE TSX},
        {"--port 8080 -- tsx server.js --debug",
         SERVE "--inherit-env '*' -- tsx server.js --debug"},
        {"tsx server.js --port 8080 --server stream", SERVE "--no-sse " TSX},
        {NULL, NULL},
    };

    (void)state;
    expect_all(it, cases);
}

static void test_mcp_proxy_flags_have_their_counterparts(void **state)
{
    static const struct line_case cases[] = {
        {"--host 127.0.0.2 --port 1 tsx server.js",
         "fairlead serve --listen http://127.0.0.2:1/mcp " TSX},
        {"--host :: tsx server.js",
         "fairlead serve --listen 'http://[::]:8080/mcp' "
         "--insecure-no-auth " TSX},
        {"--server sse --endpoint /events tsx server.js",
         SERVE "--sse-path /events " TSX},
        {"--server stream --endpoint /s tsx server.js",
         "fairlead serve --listen http://127.0.0.1:8080/s --no-sse " TSX},
        {"--endpoint /both tsx server.js",
         "fairlead serve --listen http://127.0.0.1:8080/both " TSX},
        {"--sseEndpoint /a --streamEndpoint /b tsx server.js",
         "fairlead serve --listen http://127.0.0.1:8080/b --sse-path /a " TSX},
        {"--apiKey k tsx server.js",
         "FAIRLEAD_API_KEY='...' fairlead serve --listen "
         "'http://[::]:8080/mcp' --api-key-env FAIRLEAD_API_KEY "
         "--allow-short-keys --allow-origin '*' " TSX},
        {"--apiKey 0123456789abcde tsx server.js",
         "FAIRLEAD_API_KEY='...' fairlead serve --listen "
         "'http://[::]:8080/mcp' --api-key-env FAIRLEAD_API_KEY "
         "--allow-short-keys --allow-origin '*' " TSX},
        {"--apiKey 0123456789abcdef tsx server.js",
         "FAIRLEAD_API_KEY='...' fairlead serve --listen "
         "'http://[::]:8080/mcp' --api-key-env FAIRLEAD_API_KEY "
         "--allow-origin '*' " TSX},
        {"--sslCert c --sslKey k --sslCa a tsx server.js",
         "fairlead serve --listen 'https://[::]:8080/mcp' --tls-ca a "
         "--require-client-cert --inherit-env '*' --tls-cert c --tls-key k -- "
         "tsx server.js"},
        {"--stateless --upstreamProtocol auto --requestTimeout 1000 "
         "--keepAliveTimeout 2500 --sessionIdleTimeout 3000 --maxBodySize 4 "
         "--corsAddAllowedHeader X-A --debug tsx server.js",
         SERVE "--inherit-env '*' --stateless --era auto --timeout 1 "
               "--idle-timeout 2.500 --session-timeout 3 --max-message 4 "
               "--allow-header X-A --log-level debug -- tsx server.js"},
        {"--no-stateless tsx server.js", SERVE TSX},
        {"--shell -- 'tsx \"a b\"' c",
         SERVE "--inherit-env '*' -- tsx 'a b' c"},
        {NULL, NULL},
    };

    (void)state;
    expect_all(it, cases);
}

static void test_mcp_proxy_table_is_kept(void **state)
{
    (void)state;
    expect_table_kept(it, "-- tsx server.js");
}

static void test_mcp_proxy_takes_flags_from_the_environment(void **state)
{
    char port[] = "MCP_PROXY_PORT=1234", key[] = "MCP_PROXY_API_KEY=hush";
    char less[] = "MCP_PROXY_STATELESS=true", debug[] = "MCP_PROXY_DEBUG=false";
    char other[] = "MCP_PROXY_PORTS=1";
    char *environment[] = {other, port, key, less, debug, NULL};

    (void)state;
    expect_in(it, "tsx server.js", environment,
              "FAIRLEAD_API_KEY='...' fairlead serve --listen "
              "'http://[::]:1234/mcp' --api-key-env FAIRLEAD_API_KEY "
              "--allow-short-keys --allow-origin '*' --inherit-env '*' "
              "--stateless -- tsx "
              "server.js");
    expect_in(it, "--port 99 --no-stateless tsx server.js", environment,
              "FAIRLEAD_API_KEY='...' fairlead serve --listen "
              "'http://[::]:99/mcp' --api-key-env FAIRLEAD_API_KEY "
              "--allow-short-keys --allow-origin '*' " TSX);
}

static void test_mcp_proxy_names_what_is_wrong(void **state)
{
    (void)state;
    refuse(it, "--port 8080", "there is no command");
    refuse(it, "tsx server.js --verbose", "put -- before that");
    refuse(it, "--prot 1 tsx", "did you mean --port?");
    refuse(it, "--server ws tsx", "'ws' is not sse or stream");
    refuse(it, "--upstreamProtocol old tsx", "legacy, auto and modern");
    refuse(it, "--tunnel tsx", "ssh -R");
    refuse(it, "--shell -- 'a | b'", "put the command into a script");
    refuse(it, "--requestTimeout x tsx", "milliseconds");
}

static void test_mcp_proxy_warns_of_addresses_open_to_all(void **state)
{
    struct outcome got;

    (void)state;
    expect_warning(it, "tsx server.js", "--host 0.0.0.0");
    expect_warning(it, "--host 0.0.0.0 tsx server.js", "whoever reaches");
    expect_warning(it, "--apiKey 0123456789abcde tsx server.js",
                   "15 characters");
    wear(&got, it, "--host 0.0.0.0 --apiKey 0123456789abcdef tsx server.js");
    assert_int_equal(got.rc, FL_OK);
    assert_int_equal(got.face.warnings.count, 0);
    take_off(&got);
}

static const fl_face_program *choose_in(const char *line, char **environment)
{
    const fl_face_program *program;
    fl_texts argv;
    char text[512];
    fl_error error;

    snprintf(text, sizeof text, "program %s", line);
    assert_int_equal(fl_shell_words(text, &argv, NULL), FL_OK);
    fl_status rc = fl_face_choose("mcp-proxy", argv.items + 1, environment,
                                  &program, &error);
    if (rc != FL_OK)
        assert_non_null(strstr(error.text, "two programs"));
    fl_texts_deinit(&argv);
    return rc == FL_OK ? program : NULL;
}

static const fl_face_program *choose(const char *line)
{
    return choose_in(line, empty_environment);
}

static void test_mcp_proxy_is_told_by_its_flags(void **state)
{
    const fl_face_program *python = &fl_face_mcp_proxy_py;
    char url[] = "SSE_URL=http://x/sse";
    char *environment[] = {url, NULL};

    (void)state;
    assert_ptr_equal(choose("tsx server.js"), it);
    assert_ptr_equal(choose("--port 1 --host x --stateless --debug tsx"), it);
    assert_ptr_equal(choose("--server sse tsx"), it);
    assert_ptr_equal(choose("--ssl-cert x tsx"), it);
    assert_ptr_equal(choose("--no-eventStore tsx"), it);
    assert_ptr_equal(choose("tsx -- -e --headers"), it);
    assert_ptr_equal(choose("tsx http://x"), it);
    assert_ptr_equal(choose(""), it);
    assert_ptr_equal(choose("http://x/sse"), python);
    assert_ptr_equal(choose("--port 1 -- https://x/sse"), python);
    assert_ptr_equal(choose("-e A B uvx x"), python);
    assert_ptr_equal(choose("uvx x --no-pass-environment"), python);
    assert_ptr_equal(choose("--allow-origin='*' uvx x"), python);
    assert_ptr_equal(choose("--headers --server x http://x"), python);
    assert_ptr_equal(choose("-e"), python);
    assert_ptr_equal(choose_in("", environment), python);
    assert_null(choose("--server sse --cwd /x tsx"));
    assert_null(choose("--server sse http://x"));
}

static void test_mcp_proxy_is_one_of_the_known_names(void **state)
{
    const fl_face_program *program;

    (void)state;
    assert_true(fl_face_is_known("mcp-proxy"));
    assert_true(fl_face_is_known("/usr/local/bin/mcp-remote"));
    assert_true(fl_face_is_known("./supergateway"));
    assert_false(fl_face_is_known("fairlead"));
    assert_false(fl_face_is_known("supergateway/fairlead"));
    assert_false(fl_face_is_known(""));
    assert_int_equal(
        fl_face_choose("fairlead", empty_environment, NULL, &program, NULL),
        FL_OK);
    assert_null(program);
    assert_int_equal(
        fl_face_choose("supergateway", empty_environment, NULL, &program, NULL),
        FL_OK);
    assert_ptr_equal(program, &fl_face_supergateway);
}

static void test_mcp_proxy_survives_any_lack_of_memory(void **state)
{
    (void)state;
    expect_survival(it, "--apiKey k --sslCa x --shell --debug -- 'a b' c d");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mcp_proxy_examples_have_their_counterparts),
        cmocka_unit_test(test_mcp_proxy_flags_have_their_counterparts),
        cmocka_unit_test(test_mcp_proxy_table_is_kept),
        cmocka_unit_test(test_mcp_proxy_takes_flags_from_the_environment),
        cmocka_unit_test(test_mcp_proxy_names_what_is_wrong),
        cmocka_unit_test(test_mcp_proxy_warns_of_addresses_open_to_all),
        cmocka_unit_test(test_mcp_proxy_is_told_by_its_flags),
        cmocka_unit_test(test_mcp_proxy_is_one_of_the_known_names),
        cmocka_unit_test(test_mcp_proxy_survives_any_lack_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
