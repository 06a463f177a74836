/*
 * test_config_shapes.c - the files of every host, read as they stand.
 */
#include "config_desk.h"

#include <fairlead/types.h>

static void check_file(const char *name, const char *problems,
                       const char *servers)
{
    char path[256];

    snprintf(path, sizeof path, "tests/corpus/config/%s", name);
    char *text = desk_load(path);
    desk_problems(text, FL_OK, problems);
    desk_servers(text, servers);
    free(text);
}

static void test_config_claude_desktop(void **state)
{
    (void)state;
    check_file("claude-desktop.json", "",
               "filesystem: a child\n"
               "  command npx -y @modelcontextprotocol/server-filesystem "
               "/home/ada/notes\n");
}

static void test_config_claude_code(void **state)
{
    (void)state;
    check_file("claude-code.json", "",
               "github: a child\n"
               "  command ${GITHUB_MCP:-github-mcp-server} stdio --toolsets "
               "repos\n"
               "  env GITHUB_TOKEN=${GITHUB_TOKEN}\n"
               "issues: HTTP\n"
               "  url https://issues.example/mcp\n"
               "  header Authorization: Bearer ${ISSUES_TOKEN}\n"
               "events: HTTP+SSE\n"
               "  url https://events.example/sse\n"
               "live: WebSocket\n"
               "  url wss://live.example/mcp\n");
}

static void test_config_cursor(void **state)
{
    (void)state;
    check_file("cursor.json", "",
               "docs: HTTP or HTTP+SSE\n"
               "  url https://docs.example/mcp\n"
               "  header X-Api-Key: ${env:DOCS_KEY}\n"
               "local: a child\n"
               "  command ${workspaceFolder}/bin/server --home ${userHome}\n"
               "  env PORT=(envFile)\n"
               "  env KEY=(envFile)\n");
}

static void test_config_windsurf(void **state)
{
    (void)state;
    check_file("windsurf.json", "",
               "figma: HTTP or HTTP+SSE\n"
               "  url https://figma.example/mcp\n"
               "  header Authorization: Bearer ${file:~/secrets/figma}\n"
               "  deny delete_*\n");
}

static void test_config_gemini(void **state)
{
    (void)state;
    check_file("gemini.json", "",
               "search: HTTP\n"
               "  url https://search.example/mcp\n"
               "  header Authorization: Bearer $SEARCH_TOKEN\n"
               "  allow search fetch\n"
               "  timeout 30000\n"
               "old: HTTP+SSE\n"
               "  url https://old.example/sse\n"
               "  deny wipe\n");
}

static void test_config_vscode(void **state)
{
    (void)state;
    check_file("vscode.json", "",
               "perplexity: a child\n"
               "  command docker run -i --rm -e PERPLEXITY_API_KEY "
               "mcp/perplexity\n"
               "  env PERPLEXITY_API_KEY=${input:perplexity-key}\n"
               "  env REGION=${input:region}\n"
               "socket: HTTP\n"
               "  url unix:/run/server.sock#/mcp\n"
               "remote: HTTP or HTTP+SSE\n"
               "  url https://remote.example/mcp\n");
}

static void test_config_copilot(void **state)
{
    (void)state;
    check_file("copilot.json", "",
               "playwright: a child\n"
               "  command npx @playwright/mcp@latest\n"
               "  allow *\n");
}

static void test_config_tbxark(void **state)
{
    (void)state;
    check_file("tbxark.json",
               "/etc/mcp/mcp.json:2:15: warning: mcpProxy: it has no effect: "
               "where to listen, and who may come, is said when the gateway "
               "is started\n",
               "github: a child\n"
               "  command npx -y @modelcontextprotocol/server-github\n"
               "  deny create_or_update_file\n"
               "amap: HTTP, disabled\n"
               "  url https://amap.example/mcp\n");
}

static void test_config_opencode(void **state)
{
    (void)state;
    check_file("opencode.json", "",
               "local: a child\n"
               "  command bun x my-mcp-command\n"
               "  env API_KEY={env:API_KEY}\n"
               "remote: HTTP or HTTP+SSE, disabled\n"
               "  url https://remote.example/mcp\n"
               "  header Authorization: Bearer {file:~/secrets/remote}\n");
}

static void test_config_opencode_and_vscode_have_servers_in_mcp(void **state)
{
    (void)state;
    desk_servers("{\"mcp\":{\"servers\":{\"a\":{\"type\":\"local\","
                 "\"command\":[\"b\"]}},\"inputs\":[]}}",
                 "a: a child\n  command b\n");
    desk_servers("{\"mcp\":{\"servers\":{\"type\":\"local\","
                 "\"command\":[\"b\"]}}}",
                 "servers: a child\n  command b\n");
}

static void test_config_envoy(void **state)
{
    (void)state;
    check_file("envoy.json", "",
               "kiwi: HTTP\n"
               "  url https://mcp.kiwi.example\n"
               "  allow search-flight\n");
}

static void test_config_mcphost(void **state)
{
    (void)state;
    check_file("mcphost.json", "",
               "listed: HTTP or HTTP+SSE\n"
               "  url https://listed.example/mcp\n"
               "  header Authorization: Bearer ${LISTED_TOKEN}\n"
               "  header X-Team: blue\n");
}

static void test_config_own_keys(void **state)
{
    (void)state;
    check_file("fairlead.jsonc", "",
               "search: HTTP or HTTP+SSE\n"
               "  url https://search-1.example/mcp\n"
               "  replica https://search-2.example/mcp\n"
               "  replica search-mcp --stdio\n"
               "    weight 0\n"
               "    env API_KEY=[redacted]\n"
               "  era modern\n"
               "  prefix search_\n"
               "  allow search_*\n"
               "  deny search_admin_*\n"
               "  http2\n"
               "  allowHttp\n"
               "  timeout 20000\n"
               "  weight 3\n"
               "  connectAttempts 5\n"
               "  queueTime 20000\n"
               "  healthInterval 0\n"
               "browser: a child\n"
               "  command browser-mcp\n"
               "  cwd /srv/browser\n"
               "  child session\n");
}

static void test_config_codex_is_told_apart(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "model = \"gpt-5\"\n",
        "[mcp_servers.docs]\nurl = 1\n",
        "# a remark\n\n[[x]]\n",
        "[mcp_servers.\"a b\"]\n",
    };
    char *file = desk_load("tests/corpus/config/codex.toml");
    const char *problem =
        "/etc/mcp/mcp.json:1:1: error: this looks like TOML, as Codex has it; "
        "it is not read. Write the servers as JSON, under \"mcpServers\"\n";

    desk_problems(file, FL_E_INVALID, problem);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        desk_problems(texts[i], FL_E_INVALID, problem);
    free(file);
}

/* The page's promise: each block of JSON in it is read as it stands. */
static void test_config_page_has_files_that_are_read(void **state)
{
    (void)state;
    char *page = desk_load("docs/configuration.md");
    size_t blocks = 0;

    for (char *at = strstr(page, "\n```json"); at != NULL;
         at = strstr(at, "\n```json")) {
        char *from = strchr(at + 1, '\n') + 1;
        char *end = strstr(from, "\n```\n");
        assert_non_null(end);
        *end = '\0';
        fl_config *config = desk_take(fl_span_of(from), FL_OK);
        size_t count;
        fl_config_servers(config, &count);
        assert_true(count > 0);
        fl_config_free(config);
        blocks++;
        at = end + 1;
    }
    assert_in_range(blocks, 9, 40);
    free(page);
}

static void test_config_every_spelling_of_a_type(void **state)
{
    (void)state;
    static const struct {
        const char *type, *url;
        fl_config_kind kind;
    } cases[] = {
        {"http", "https://a.example/", FL_CONFIG_HTTP},
        {"streamable-http", "https://a.example/", FL_CONFIG_HTTP},
        {"streamableHttp", "http://a.example/", FL_CONFIG_HTTP},
        {"streamable_http", "https://a.example/", FL_CONFIG_HTTP},
        {"streamablehttp", "https://a.example/", FL_CONFIG_HTTP},
        {"streaming", "https://a.example/", FL_CONFIG_HTTP},
        {"stream", "https://a.example/", FL_CONFIG_HTTP},
        {"remote", "https://a.example/", FL_CONFIG_AUTO},
        {"sse", "https://a.example/", FL_CONFIG_SSE},
        {"sse", "sse+https://a.example/", FL_CONFIG_SSE},
        {"remote", "sse+http://a.example/", FL_CONFIG_SSE},
        {"ws", "ws://a.example/", FL_CONFIG_WS},
        {"websocket", "wss://a.example/", FL_CONFIG_WS},
        {"remote", "wss://a.example/", FL_CONFIG_WS},
        {"tcp", "tcp://127.0.0.1:7332", FL_CONFIG_TCP},
        {"tcp", "tls://a.example:7333", FL_CONFIG_TCP},
        {"unix", "unix:/run/a.sock", FL_CONFIG_UNIX},
        {"sse", "unix:///run/a.sock#/sse", FL_CONFIG_SSE},
    };
    static const char *const keys[] = {"type", "transport", "transportType"};

    for (size_t i = 0; i < 3 * (sizeof cases / sizeof *cases); i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "{\"mcpServers\":{\"a\":{\"%s\":\"%s\",\"url\":\"%s\"}}}",
                 keys[i % 3], cases[i / 3].type, cases[i / 3].url);
        fl_config *config = desk_take(fl_span_of(text), FL_OK);
        assert_int_equal(desk_first(config)->kind, cases[i / 3].kind);
        fl_config_free(config);
    }
    desk_servers("{\"mcpServers\":{\"a\":{\"type\":\"stdio\",\"command\":\"b\"}"
                 ",\"c\":{\"type\":\"local\",\"command\":\"d\"}}}",
                 "a: a child\n  command b\nc: a child\n  command d\n");
}

static void test_config_scheme_says_the_kind_if_nobody_does(void **state)
{
    (void)state;
    static const struct {
        const char *member;
        fl_config_kind kind;
    } cases[] = {
        {"\"url\":\"http://a.example/\"", FL_CONFIG_AUTO},
        {"\"serverUrl\":\"https://a.example/\"", FL_CONFIG_AUTO},
        {"\"httpUrl\":\"https://a.example/\"", FL_CONFIG_HTTP},
        {"\"httpUrl\":\"${URL}\"", FL_CONFIG_HTTP},
        {"\"trust\":true,\"url\":\"https://a.example/\"", FL_CONFIG_SSE},
        {"\"trust\":true,\"url\":\"ws://a.example/\"", FL_CONFIG_WS},
        {"\"trust\":true,\"url\":\"https://a.example/\",\"type\":\"http\"",
         FL_CONFIG_HTTP},
        {"\"url\":\"wss://a.example/\"", FL_CONFIG_WS},
        {"\"url\":\"tcp://a.example:1\"", FL_CONFIG_TCP},
        {"\"url\":\"sse+http://a.example/\"", FL_CONFIG_SSE},
        {"\"url\":\"unix:/run/a\"", FL_CONFIG_UNIX},
        {"\"url\":\"unix:///run/a#/mcp\"", FL_CONFIG_HTTP},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"mcpServers\":{\"a\":{%s}}}",
                 cases[i].member);
        fl_config *config = desk_take(fl_span_of(text), FL_OK);
        assert_int_equal(desk_first(config)->kind, cases[i].kind);
        fl_config_free(config);
    }
}

static void test_config_logins(void **state)
{
    (void)state;
    desk_servers("{\"mcpServers\":{"
                 "\"a\":{\"url\":\"https://a.example/\",\"oauth\":true},"
                 "\"b\":{\"url\":\"https://b.example/\",\"oauth\":false},"
                 "\"c\":{\"url\":\"https://c.example/\",\"oauth\":{"
                 "\"clientId\":\"me\",\"clientSecret\":\"plain\","
                 "\"scopes\":[\"read\",\"write\"],\"callbackPort\":9696,"
                 "\"clientMetadataUrl\":\"https://me.example/c.json\","
                 "\"store\":\"/x\"}},"
                 "\"d\":{\"url\":\"https://d.example/\",\"oauth\":{"
                 "\"enabled\":false,\"clientId\":\"me\"}},"
                 "\"e\":{\"url\":\"https://e.example/\",\"oauth\":{"
                 "\"grant\":\"client-credentials\",\"clientId\":\"me\","
                 "\"clientSecret\":\"${SOCKET}\",\"scope\":\"all\","
                 "\"redirectUri\":\"http://127.0.0.1:1/c\"}}}}",
                 "a: HTTP or HTTP+SSE\n  url https://a.example/\n"
                 "  oauth code\n"
                 "b: HTTP or HTTP+SSE\n  url https://b.example/\n"
                 "  oauth none\n"
                 "c: HTTP or HTTP+SSE\n  url https://c.example/\n"
                 "  oauth code\n  clientId me\n  clientSecret [redacted]\n"
                 "  scope read write\n"
                 "  redirectUri http://localhost:9696/callback\n"
                 "  clientMetadataUrl https://me.example/c.json\n"
                 "  store /x\n"
                 "d: HTTP or HTTP+SSE\n  url https://d.example/\n"
                 "  oauth none\n  clientId me\n"
                 "e: HTTP or HTTP+SSE\n  url https://e.example/\n"
                 "  oauth client-credentials\n  clientId me\n"
                 "  clientSecret ${SOCKET}\n  scope all\n"
                 "  redirectUri http://127.0.0.1:1/c\n");
}

static void test_config_unix_urls(void **state)
{
    (void)state;
    desk_servers("{\"servers\":{"
                 "\"a\":{\"url\":\"unix:///run/a\"},"
                 "\"b\":{\"type\":\"http\",\"url\":\"unix:///run/b\"},"
                 "\"c\":{\"url\":\"unix:/run/c#/mcp?x=1\"}}}",
                 "a: a Unix socket\n  url unix:/run/a\n"
                 "b: HTTP\n  url unix:/run/b#/\n"
                 "c: HTTP\n  url unix:/run/c#/mcp?x=1\n");
    fl_config *config = desk_take(
        FL_SPAN("{\"servers\":{\"a\":{\"url\":\"unix://${SOCKET}#/mcp\"}}}"),
        FL_OK);
    assert_string_equal(desk_first(config)->url.text,
                        "unix:/run/s3cret.sock#/mcp");
    desk_expect(config, fl_config_show_servers,
                "a: HTTP\n  url unix://${SOCKET}#/mcp\n");
    fl_config_free(config);
}

static void test_config_values_are_for_use(void **state)
{
    (void)state;
    fl_config *config =
        desk_take(FL_SPAN("{\"mcpServers\":{\n\"a\":{\"command\":[\"x\",\"y\"],"
                          "\"args\":[\"${TOKEN}\"],\"cwd\":\"/tmp\","
                          "\"env\":{\"PORT\":8080,\"ON\":true,\"OFF\":null,"
                          "\"A\":\"1\",\"A\":\"2\"},\"enabled\":true}}}"),
                  FL_OK);
    const fl_config_server *server = desk_first(config);

    assert_string_equal(server->name, "a");
    assert_int_equal(server->line, 2);
    assert_int_equal(server->argv.count, 3);
    assert_string_equal(server->argv.items[0], "x");
    assert_string_equal(server->argv.items[1], "y");
    assert_string_equal(server->argv.items[2], "s3cret-token");
    assert_string_equal(server->argv.shown[2], "${TOKEN}");
    assert_ptr_equal(server->argv.items[1], server->argv.shown[1]);
    assert_null(server->argv.items[3]);
    assert_int_equal(server->env.count, 3);
    assert_string_equal(server->env.items[0], "PORT=8080");
    assert_string_equal(server->env.items[1], "ON=true");
    assert_string_equal(server->env.items[2], "A=2");
    assert_null(server->env.items[3]);
    assert_string_equal(server->cwd.text, "/tmp");
    assert_null(server->url.text);
    assert_null(server->headers.items);
    assert_int_equal(server->weight, 1);
    assert_int_equal(server->timeout_ms, 0);
    assert_false(server->disabled);
    fl_config_free(config);
}

static void test_config_env_overrides_the_env_file(void **state)
{
    (void)state;
    fl_config *config = desk_take(
        FL_SPAN("{\"mcpServers\":{\"a\":{\"command\":\"x\",\"envFile\":"
                "\"~/project/.env\",\"env\":{\"PORT\":\"1\"}}}}"),
        FL_OK);
    const fl_config_server *server = desk_first(config);

    assert_int_equal(server->env.count, 2);
    assert_string_equal(server->env.items[0], "PORT=1");
    assert_string_equal(server->env.items[1], "KEY=s3cret env");
    fl_config_free(config);
}

static void test_config_plain_secrets_are_masked(void **state)
{
    (void)state;
    desk_servers("{\"mcpServers\":{\"a\":{\"command\":\"x\",\"args\":[\"--"
                 "token\",\"s3cret\",\"--api-key=s3cret\",\"\\u001b[1m\"],"
                 "\"env\":{\"MY_PASSWORD\":\"s3cret\",\"A\":\"1\"}},"
                 "\"b\":{\"url\":\"https://u:s3cret@b.example/?token=s3cret\","
                 "\"headers\":{\"Authorization\":\"Basic s3cret\"}}}}",
                 "a: a child\n"
                 "  command x --token [redacted] --api-key=[redacted] ?[1m\n"
                 "  env MY_PASSWORD=[redacted]\n"
                 "  env A=1\n"
                 "b: HTTP or HTTP+SSE\n"
                 "  url https://[redacted]@b.example/?token=[redacted]\n"
                 "  header Authorization: [redacted]\n");
}

/* What stands beside a variable, or in its default, is plain text as well. */
static void test_config_plain_secrets_beside_variables_are_masked(void **state)
{
    (void)state;
    desk_servers("{\"mcpServers\":{\"a\":{\"command\":\"x\",\"args\":[\"--"
                 "token\",\"s3cret${EMPTY}\",\"--token\",\"${TOKEN}\"],"
                 "\"env\":{\"MY_PASSWORD\":\"${EMPTY:-s3cret}\",\"MY_TOKEN\":"
                 "\"${EMPTY}${TOKEN}\"}},"
                 "\"b\":{\"url\":\"https://u:s3cret@b.example/${EMPTY}\","
                 "\"headers\":{\"Authorization\":\"Basic s3cret${EMPTY}\","
                 "\"X-Token\":\"Token ${TOKEN}\"}}}}",
                 "a: a child\n"
                 "  command x --token [redacted] --token ${TOKEN}\n"
                 "  env MY_PASSWORD=[redacted]\n"
                 "  env MY_TOKEN=${EMPTY}${TOKEN}\n"
                 "b: HTTP or HTTP+SSE\n"
                 "  url https://[redacted]@b.example/${EMPTY}\n"
                 "  header Authorization: [redacted]\n"
                 "  header X-Token: Token ${TOKEN}\n");
}

static void test_config_takes_a_byte_order_mark(void **state)
{
    (void)state;
    desk_servers("\xEF\xBB\xBF{\"mcpServers\":{\"a\":{\"command\":\"b\"}}}",
                 "a: a child\n  command b\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config_claude_desktop),
        cmocka_unit_test(test_config_claude_code),
        cmocka_unit_test(test_config_cursor),
        cmocka_unit_test(test_config_windsurf),
        cmocka_unit_test(test_config_gemini),
        cmocka_unit_test(test_config_vscode),
        cmocka_unit_test(test_config_copilot),
        cmocka_unit_test(test_config_tbxark),
        cmocka_unit_test(test_config_opencode),
        cmocka_unit_test(test_config_opencode_and_vscode_have_servers_in_mcp),
        cmocka_unit_test(test_config_envoy),
        cmocka_unit_test(test_config_mcphost),
        cmocka_unit_test(test_config_own_keys),
        cmocka_unit_test(test_config_codex_is_told_apart),
        cmocka_unit_test(test_config_page_has_files_that_are_read),
        cmocka_unit_test(test_config_every_spelling_of_a_type),
        cmocka_unit_test(test_config_scheme_says_the_kind_if_nobody_does),
        cmocka_unit_test(test_config_logins),
        cmocka_unit_test(test_config_unix_urls),
        cmocka_unit_test(test_config_values_are_for_use),
        cmocka_unit_test(test_config_env_overrides_the_env_file),
        cmocka_unit_test(test_config_plain_secrets_are_masked),
        cmocka_unit_test(test_config_plain_secrets_beside_variables_are_masked),
        cmocka_unit_test(test_config_takes_a_byte_order_mark),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
