/*
 * test_cmd_face_supergateway.c - its command lines, and what they mean here.
 */
#include "face_lines.h"

#define FS "npx -y @modelcontextprotocol/server-filesystem"
#define SSE                                                                    \
    "fairlead serve --until-stdin-ends --listen http://127.0.0.1:8000/mcp "
#define CHILD "--inherit-env '*' -- "

static const fl_face_program *const it = &fl_face_supergateway;

/* Those its manual shows. */
static void test_supergateway_examples_have_their_counterparts(void **state)
{
    static const struct line_case cases[] = {
        {"--stdio 'uvx mcp-server-git'",
         SSE "--message-path /message " CHILD "uvx mcp-server-git"},
        {"--stdio '" FS " ./my-folder' --port 8000 "
         "--baseUrl http://localhost:8000 --ssePath /sse "
         "--messagePath /message",
         SSE "--message-path /message " CHILD FS " ./my-folder"},
        {"--sse https://example.org", "fairlead connect sse+https://"
                                      "example.org"},
        {"--sse https://example.org --oauth2Bearer some-access-token "
         "--header 'X-My-Header: another-header-value'",
         "FAIRLEAD_HEADER_AUTHORIZATION='...' fairlead connect --header "
         "'X-My-Header: another-header-value' --header-env "
         "Authorization=FAIRLEAD_HEADER_AUTHORIZATION "
         "sse+https://example.org"},
        {"--streamableHttp https://mcp-server.example.com/mcp",
         "fairlead connect https://mcp-server.example.com/mcp"},
        {"--stdio '" FS " ./my-folder' --outputTransport streamableHttp "
         "--port 8000",
         SSE "--no-sse --stateless " CHILD FS " ./my-folder"},
        {"--stdio '" FS " ./my-folder' --outputTransport streamableHttp "
         "--stateful --sessionTimeout 60000 --port 8000",
         SSE "--no-sse --child session --inherit-env '*' --session-timeout 60 "
             "-- " FS " ./my-folder"},
        {"--stdio '" FS " ./my-folder' --port 8000 --outputTransport ws "
         "--messagePath /message",
         "fairlead serve --until-stdin-ends --listen "
         "ws://127.0.0.1:8000/message " CHILD FS " ./my-folder"},
        {"--stdio 'deno run -A jsr:@omedia/mcp-server-drupal --drupal-url "
         "https://your-drupal-server.com'",
         SSE "--message-path /message " CHILD "deno run -A "
             "jsr:@omedia/mcp-server-drupal --drupal-url "
             "https://your-drupal-server.com"},
        {NULL, NULL},
    };

    (void)state;
    expect_all(it, cases);
}

static void test_supergateway_flags_have_their_counterparts(void **state)
{
    static const struct line_case cases[] = {
        {"--stdio a --port 9000 --ssePath /s --messagePath /m",
         "fairlead serve --until-stdin-ends --listen http://127.0.0.1:9000/mcp "
         "--sse-path /s "
         "--message-path /m " CHILD "a"},
        {"--stdio a --output-transport streamable-http",
         NULL}, /* a dash for a hump in the name, not in the value */
        {"--stdio=a --output-transport=streamableHttp "
         "--streamableHttpPath=/x",
         "fairlead serve --until-stdin-ends --listen http://127.0.0.1:8000/x "
         "--no-sse "
         "--stateless " CHILD "a"},
        {"--stdio a --outputTransport stdio",
         "fairlead serve --listen stdio: " CHILD "a"},
        {"--stdio a --cors",
         SSE "--message-path /message --allow-origin '*' " CHILD "a"},
        {"--cors https://a.example https://b.example --stdio a",
         SSE "--message-path /message --allow-origin https://a.example "
             "--allow-origin https://b.example " CHILD "a"},
        {"--stdio a --healthEndpoint /healthz --healthEndpoint /ready",
         SSE "--message-path /message --health /healthz --health /ready " CHILD
             "a"},
        {"--stdio a --baseUrl https://mcp.example.org:444",
         SSE "--message-path /message --allow-host mcp.example.org " CHILD "a"},
        {"--stdio a --baseUrl https://example.org/tools",
         SSE "--message-path /message --allow-host example.org --base-url "
             "https://example.org/tools " CHILD "a"},
        {"--stdio a --logLevel none",
         SSE "--message-path /message --inherit-env '*' --log-level off -- a"},
        {"--stdio a --sessionTimeout 1500",
         SSE "--message-path /message --inherit-env '*' --session-timeout "
             "1.500 -- a"},
        {"--sse https://example.org --outputTransport streamableHttp",
         SSE "--no-sse --stateless sse+https://example.org"},
        {"--stdio a --stateful false",
         SSE "--message-path /message " CHILD "a"},
        {"--stdio a --host ::1", "fairlead serve --until-stdin-ends --listen "
                                 "'http://[::1]:8000/mcp' --message-path "
                                 "/message " CHILD "a"},
        {"--stdio a --host 0.0.0.0",
         "fairlead serve --until-stdin-ends --listen http://0.0.0.0:8000/mcp "
         "--insecure-no-auth "
         "--message-path /message " CHILD "a"},
        {NULL, NULL},
    };

    (void)state;
    for (const struct line_case *at = cases; at->in != NULL; at++)
        if (at->out != NULL)
            expect(it, at->in, at->out);
        else
            refuse(it, at->in, "streamable-http");
}

static void test_supergateway_table_is_kept(void **state)
{
    (void)state;
    expect_table_kept(it, "--stdio a");
}

static void test_supergateway_warns_of_what_is_different(void **state)
{
    (void)state;
    expect_warning(it, "--stdio a", "--host 0.0.0.0");
    expect_warning(it, "--stdio a --host 10.0.0.1", "whoever reaches 10.0.0.1");
    expect_warning(it, "--stdio a --cors '/x$/'", "regular expression");
    expect_warning(it, "--stdio a --header 'A: b'",
                   "a command gets no headers");
    expect_warning(it, "--sse https://x --sessionTimeout 1000",
                   "--sessionTimeout has no meaning");
    expect_warning(it, "--stdio a --sessionTimeout 0", "a day is the longest");
    expect_warning(it, "--sse http://10.1.2.3/sse", "can be read by all");
}

static void test_supergateway_wants_one_server(void **state)
{
    (void)state;
    refuse(it, "", "want one of --stdio");
    refuse(it, "--stdio a --sse https://x", "not more");
    refuse(it, "--stdio a b", "'b' belongs to no option");
    refuse(it, "--sse example.org", "not the URL of a server");
    refuse(it, "--stdio ''", "there is no command in it");
    refuse(it, "--stdio 'cd /x && a'", "put the command into a script");
    refuse(it, "--stdio 'a $HOME'", "put the command into a script");
    refuse(it, "--stdio 'KEY=1 a'", "write env KEY=1");
}

static void test_supergateway_names_what_is_wrong(void **state)
{
    (void)state;
    refuse(it, "--stdoi a", "did you mean --stdio?");
    refuse(it, "--stdio", "--stdio needs a value");
    refuse(it, "--stdio a --port 65536", "'65536' is not a port");
    refuse(it, "--stdio a --port x", "'x' is not a port");
    refuse(it, "--stdio a --streamableHttpPath mcp", "begin with a slash");
    refuse(it, "--stdio a --outputTransport tcp", "'tcp' is not one of");
    refuse(it, "--stdio a --logLevel loud", "debug, info and none");
    refuse(it, "--stdio a --logLevel ''", "is not one of");
    refuse(it, "--stdio a --sessionTimeout 5s", "milliseconds");
    refuse(it, "--stdio a --stateful=maybe", "not true or false");
    refuse(it, "--sse https://x --header nonsense", "want 'NAME: VALUE'");
    refuse(it, "--sse https://x --header 'a b: c'", "want 'NAME: VALUE'");
}

static void test_supergateway_takes_the_last_possible_port(void **state)
{
    (void)state;
    expect(it, "--stdio a --port 65535",
           "fairlead serve --until-stdin-ends --listen "
           "http://127.0.0.1:65535/mcp --message-path "
           "/message " CHILD "a");
}

static void test_supergateway_keeps_secrets_out_of_the_arguments(void **state)
{
    struct outcome got;

    (void)state;
    wear(&got, it,
         "--sse https://x --oauth2Bearer hush --header 'X-Api-Key: hush2' "
         "--header 'Authorization: hush3'");
    assert_int_equal(got.rc, FL_OK);
    for (size_t i = 0; i < got.face.argv.count; i++)
        assert_null(strstr(got.face.argv.items[i], "hush"));
    assert_int_equal(got.face.secrets.count, 3);
    assert_string_equal(got.face.secrets.items[0],
                        "FAIRLEAD_HEADER_X_API_KEY=hush2");
    assert_string_equal(got.face.secrets.items[2],
                        "FAIRLEAD_HEADER_AUTHORIZATION=Bearer hush");
    assert_int_equal(got.face.argv.count, 5); /* Authorization is sent once */
    take_off(&got);
}

static void test_supergateway_helps_instead_of_running(void **state)
{
    struct outcome got;

    (void)state;
    wear(&got, it, "--port x --help");
    assert_int_equal(got.rc, FL_OK);
    assert_true(got.face.help);
    take_off(&got);
    wear(&got, it, "--version");
    assert_true(got.face.version);
    take_off(&got);
    wear(&got, it, "--stdio a --show");
    assert_true(got.face.show);
    take_off(&got);
}

static void test_supergateway_survives_any_lack_of_memory(void **state)
{
    (void)state;
    expect_survival(it, "--stdio 'a b' --cors https://x --baseUrl http://h/p "
                        "--sessionTimeout 1 --host 10.0.0.1 --logLevel info");
    expect_survival(it,
                    "--sse http://10.0.0.1 --oauth2Bearer x --header 'A: b'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_supergateway_examples_have_their_counterparts),
        cmocka_unit_test(test_supergateway_flags_have_their_counterparts),
        cmocka_unit_test(test_supergateway_table_is_kept),
        cmocka_unit_test(test_supergateway_warns_of_what_is_different),
        cmocka_unit_test(test_supergateway_wants_one_server),
        cmocka_unit_test(test_supergateway_names_what_is_wrong),
        cmocka_unit_test(test_supergateway_takes_the_last_possible_port),
        cmocka_unit_test(test_supergateway_keeps_secrets_out_of_the_arguments),
        cmocka_unit_test(test_supergateway_helps_instead_of_running),
        cmocka_unit_test(test_supergateway_survives_any_lack_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
