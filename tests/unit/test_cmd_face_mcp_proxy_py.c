/*
 * test_cmd_face_mcp_proxy_py.c - the command lines of Python's mcp-proxy, and
 * what they mean here.
 */
#include "face_lines.h"

#define SERVE(port) "fairlead serve --listen http://127.0.0.1:" port "/mcp "
#define FETCH "--health /status -- uvx mcp-server-fetch"
#define CONFIG(servers) "--config-json '{\"mcpServers\":{" servers "}}' "
#define SERVER(name)                                                           \
    "\"" name "\":{\"command\":\"uvx\",\"args\":[\"mcp-server-fetch\"]}"

static const fl_face_program *const it = &fl_face_mcp_proxy_py;

/* Those its manual and its help show. */
static void test_proxy_py_examples_have_their_counterparts(void **state)
{
    static const struct line_case cases[] = {
        {"uvx mcp-server-fetch", SERVE("0") FETCH},
        {"--port=8080 uvx mcp-server-fetch", SERVE("8080") FETCH},
        {"--sse-port=8080 uvx mcp-server-fetch", SERVE("8080") FETCH},
        {"--host=0.0.0.0 --port=8080 uvx mcp-server-fetch",
         "fairlead serve --listen http://0.0.0.0:8080/mcp "
         "--insecure-no-auth " FETCH},
        {"--sse-host=0.0.0.0 --sse-port=8080 uvx mcp-server-fetch",
         "fairlead serve --listen http://0.0.0.0:8080/mcp "
         "--insecure-no-auth " FETCH},
        {"--port=8080 -- uvx mcp-server-fetch --user-agent=YourUserAgent",
         SERVE("8080") FETCH " --user-agent=YourUserAgent"},
        {"--port=8080 --named-server fetch 'uvx mcp-server-fetch' "
         "--named-server fetch2 'uvx mcp-server-fetch'",
         SERVE("8080")
             CONFIG(SERVER("fetch") "," SERVER("fetch2")) "--health /status"},
        {"--port=8080 --named-server-config ./servers.json",
         SERVE("8080") "--config ./servers.json --health /status"},
        {"--pass-environment --port=8096 --sse-host 0.0.0.0 uvx "
         "mcp-server-fetch",
         "fairlead serve --listen http://0.0.0.0:8096/mcp --insecure-no-auth "
         "--health /status --inherit-env '*' -- uvx mcp-server-fetch"},
        {"http://localhost:8080/sse",
         "fairlead connect sse+http://localhost:8080/sse"},
        {"--transport streamablehttp http://localhost:8080/mcp",
         "fairlead connect http://localhost:8080/mcp"},
        {"--headers Authorization 'Bearer YOUR_TOKEN' "
         "http://localhost:8080/sse",
         "FAIRLEAD_HEADER_AUTHORIZATION='...' fairlead connect --header-env "
         "Authorization=FAIRLEAD_HEADER_AUTHORIZATION "
         "sse+http://localhost:8080/sse"},
        {"--port 8080 -- your-command --arg1 value1 --arg2 value2",
         SERVE("8080") "--health /status -- your-command --arg1 value1 --arg2 "
                       "value2"},
        {"your-command --port 8080 -e KEY VALUE -e ANOTHER_KEY ANOTHER_VALUE",
         SERVE("8080") "--health /status --env KEY=VALUE --env "
                       "ANOTHER_KEY=ANOTHER_VALUE -- your-command"},
        {"your-command --port 8080 --allow-origin='*'",
         SERVE("8080") "--health /status --allow-origin '*' -- your-command"},
        {NULL, NULL},
    };

    (void)state;
    expect_all(it, cases);
}

static void test_proxy_py_flags_have_their_counterparts(void **state)
{
    static const struct line_case cases[] = {
        {"uvx mcp-server-fetch --cwd /x --stateless --log-level WARNING "
         "--allow-origin https://a https://b --expose-header X-A",
         SERVE("0") "--health /status --cwd /x --stateless --log-level warn "
                    "--allow-origin https://a --allow-origin https://b "
                    "--expose-header X-A -- uvx mcp-server-fetch"},
        {"uvx mcp-server-fetch --debug --log-level ERROR",
         SERVE("0") "--health /status --log-level error --log-level debug -- "
                    "uvx mcp-server-fetch"},
        {"uvx mcp-server-fetch --no-debug --no-stateless "
         "--no-pass-environment",
         SERVE("0") FETCH},
        {"--named-server a 'uvx mcp-server-fetch' -- b c",
         SERVE("0") CONFIG(SERVER("a")) "--health /status -- b c"},
        {"--named-server a 'x \"y z\"'",
         SERVE("0")
             CONFIG("\"a\":{\"command\":\"x\",\"args\":[\"y z\"]}") "--health "
                                                                    "/status"},
        {"-H X-A b --verify-ssl /ca.pem https://x/sse",
         "fairlead connect --header 'X-A: b' --tls-ca /ca.pem "
         "sse+https://x/sse"},
        {"https://x/sse --verify-ssl", "fairlead connect sse+https://x/sse"},
        {"--no-verify-ssl https://x/sse",
         "fairlead connect --insecure-skip-verify sse+https://x/sse"},
        {"--verify-ssl=false https://x/sse",
         "fairlead connect --insecure-skip-verify sse+https://x/sse"},
        {"--client-id me --client-secret hush https://x/sse",
         "FAIRLEAD_CLIENT_SECRET='...' fairlead connect --auth "
         "client-credentials --client-id me --client-secret-env "
         "FAIRLEAD_CLIENT_SECRET sse+https://x/sse"},
        {NULL, NULL},
    };

    (void)state;
    expect_all(it, cases);
}

static void test_proxy_py_table_is_kept(void **state)
{
    (void)state;
    expect_table_kept(it, "-- uvx mcp-server-fetch");
}

static void test_proxy_py_heeds_the_environment(void **state)
{
    char token[] = "API_ACCESS_TOKEN=hush", url[] = "SSE_URL=https://x/sse";
    char *environment[] = {token, url, NULL};

    (void)state;
    expect_in(it, "", environment,
              "FAIRLEAD_HEADER_AUTHORIZATION='...' fairlead connect "
              "--header-env Authorization=FAIRLEAD_HEADER_AUTHORIZATION "
              "sse+https://x/sse");
    expect_in(it, "uvx mcp-server-fetch", environment, SERVE("0") FETCH);
}

static void test_proxy_py_warns_of_what_is_different(void **state)
{
    (void)state;
    expect_warning(it, "--cwd /x https://x/sse", "--cwd has no meaning");
    expect_warning(it, "--named-server a b https://x/sse", "left out");
    expect_warning(it, "--named-server a b --named-server-config f",
                   "--named-server is left out");
    expect_warning(it, "-H a b uvx x", "a command gets none");
    expect_warning(it, "--no-verify-ssl https://x", "any certificate");
    expect_warning(it, "--token-url https://t https://x", "--token-url");
    expect_warning(it, "http://example.io/sse", "can be read by all");
    expect_warning(it, "--host 0.0.0.0 uvx x", "whoever reaches");
}

static void test_proxy_py_names_what_is_wrong(void **state)
{
    (void)state;
    refuse(it, "--port 1", "there is no server");
    refuse(it, "-H only", "two values");
    refuse(it, "--headers=A b https://x", "two values");
    refuse(it, "-e A -- uvx", "two values");
    refuse(it, "-H 'a:b' c https://x", "want 'NAME: VALUE'");
    refuse(it, "--transport ws https://x", "'ws' is not sse");
    refuse(it, "--named-server a/b c", "'a/b' is no name");
    refuse(it, "--named-server .. c", "is no name");
    refuse(it, "--named-server a 'b > c'", "asks for a shell");
    refuse(it, "--named-server a ''", "there is no command");
    refuse(it, "--client-id me https://x", "go together");
    refuse(it, "--log-level LOUD uvx", "DEBUG, INFO");
    refuse(it, "--named-servre a b", "did you mean --named-server?");
    refuse(it, "uvx --allow-origin", "--allow-origin needs a value");
}

static void test_proxy_py_survives_any_lack_of_memory(void **state)
{
    (void)state;
    expect_survival(it, "--named-server a 'b c' --named-server d e -e K V "
                        "--pass-environment --cwd /x -- a b c");
    expect_survival(it,
                    "-H Authorization x -H B c --client-id a --client-secret "
                    "b --verify-ssl /x http://10.0.0.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_proxy_py_examples_have_their_counterparts),
        cmocka_unit_test(test_proxy_py_flags_have_their_counterparts),
        cmocka_unit_test(test_proxy_py_table_is_kept),
        cmocka_unit_test(test_proxy_py_heeds_the_environment),
        cmocka_unit_test(test_proxy_py_warns_of_what_is_different),
        cmocka_unit_test(test_proxy_py_names_what_is_wrong),
        cmocka_unit_test(test_proxy_py_survives_any_lack_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
