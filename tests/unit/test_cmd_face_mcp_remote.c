/*
 * test_cmd_face_mcp_remote.c - its command lines, and what they mean here.
 */
#include "face_lines.h"

#include <unistd.h>

#define URL "https://remote.mcp.server/sse"
#define CONNECT "fairlead connect --auth code "
#define HEADER                                                                 \
    "FAIRLEAD_HEADER_AUTHORIZATION='...' fairlead connect --header-env "       \
    "Authorization=FAIRLEAD_HEADER_AUTHORIZATION "

static const fl_face_program *const it = &fl_face_mcp_remote;

/* Without a place to keep a login in, so that the lines stay short. */
static void test_mcp_remote_examples_have_their_counterparts(void **state)
{
    static const struct line_case cases[] = {
        {URL, CONNECT URL},
        {URL " 9696", CONNECT "--redirect-uri "
                              "http://localhost:9696/oauth/callback " URL},
        {URL " --host 127.0.0.1",
         CONNECT "--redirect-uri http://127.0.0.1:0/oauth/callback " URL},
        {URL " --callback-path /custom/callback",
         CONNECT "--redirect-uri http://localhost:0/custom/callback " URL},
        {"http://internal-service.vpc/sse --allow-http",
         CONNECT "--allow-http http://internal-service.vpc/sse"},
        {URL " --debug", CONNECT "--log-level debug " URL},
        {URL " --silent", CONNECT "--log-level off " URL},
        {URL " --enable-proxy", CONNECT URL},
        {URL " --ignore-tool 'delete*' --ignore-tool 'remove*'",
         CONNECT "--hide-tool 'delete*' --hide-tool 'remove*' " URL},
        {URL " --auth-timeout 60", CONNECT "--auth-timeout 60 " URL},
        {"https://example.remote/server --transport sse-only",
         CONNECT "sse+https://example.remote/server"},
        {"https://example.remote/server --transport http-first",
         CONNECT "https://example.remote/server"},
        {"https://example.remote/server --static-oauth-client-metadata "
         "'{ \"scope\": \"space separated scopes\" }'",
         CONNECT "--scope 'space separated scopes' "
                 "https://example.remote/server"},
        {"https://example.remote/server --static-oauth-client-info "
         "'{ \"client_id\": \"xxx\", \"client_secret\": \"yyy\" }'",
         "FAIRLEAD_CLIENT_SECRET='...' " CONNECT
         "--client-id xxx --client-secret-env FAIRLEAD_CLIENT_SECRET "
         "https://example.remote/server"},
        {NULL, NULL},
    };

    (void)state;
    expect_all(it, cases);
}

static void test_mcp_remote_flags_have_their_counterparts(void **state)
{
    static const struct line_case cases[] = {
        {URL " --header 'X-A:b c' --header-file /f",
         "fairlead connect --header 'X-A: b c' --header-file /f " URL},
        {URL " --protocol legacy --headers-timeout 5 --client-metadata-url "
             "https://m",
         CONNECT
         "--era legacy --timeout 5 --client-metadata-url https://m " URL},
        {URL " --client-credentials --static-oauth-client-info "
             "'{\"client_id\":\"a\",\"client_secret\":\"b\"}'",
         "FAIRLEAD_CLIENT_SECRET='...' fairlead connect --auth "
         "client-credentials --client-id a --client-secret-env "
         "FAIRLEAD_CLIENT_SECRET " URL},
        {URL " --debug --silent", CONNECT "--log-level debug " URL},
        {"http://[::1]:8080/mcp", CONNECT "'http://[::1]:8080/mcp'"},
        {NULL, NULL},
    };

    (void)state;
    expect_all(it, cases);
}

static void test_mcp_remote_table_is_kept(void **state)
{
    (void)state;
    expect_table_kept(it, URL);
}

static void test_mcp_remote_headers_take_variables(void **state)
{
    char token[] = "AUTH_TOKEN=a$b${c}", header[] = "AUTH_HEADER=Bearer hush";
    char *environment[] = {token, header, NULL};
    struct outcome got;

    (void)state;
    expect_in(it, URL " --header 'Authorization: Bearer ${AUTH_TOKEN}'",
              environment, HEADER URL);
    expect_in(it, URL " --header 'Authorization:${AUTH_HEADER}'", environment,
              HEADER URL);
    wear_in(&got, it,
            URL " --header 'Authorization: Bearer ${AUTH_TOKEN}' --header "
                "'X-Who: $5 ${AUTH_HEADER}!'",
            environment);
    assert_int_equal(got.rc, FL_OK);
    assert_string_equal(got.face.secrets.items[0],
                        "FAIRLEAD_HEADER_AUTHORIZATION=Bearer a$b${c}");
    assert_string_equal(got.face.secrets.items[1],
                        "FAIRLEAD_HEADER_X_WHO=$5 Bearer hush!");
    take_off(&got);
}

static void test_mcp_remote_refuses_variables_that_are_not_set(void **state)
{
    (void)state;
    refuse(it, URL " --header 'A: ${GONE}'", "the environment has no 'GONE'");
    refuse(it, URL " --header 'A: ${}'", "without a name");
    refuse(it, URL " --header 'A: ${GONE'", "without a name");
    expect(it, URL " --header 'A: $GONE $'",
           "fairlead connect --header 'A: $GONE $' --auth code " URL);
}

static void test_mcp_remote_keeps_a_login_for_each_resource(void **state)
{
    char home[] = "HOME=/home/me", folder[] = "MCP_REMOTE_CONFIG_DIR=/d";
    char *at_home[] = {home, NULL}, *elsewhere[] = {home, folder, NULL};
    struct outcome plain, one, again;
    const char *path;

    (void)state;
    wear_in(&plain, it, URL, at_home);
    wear_in(&one, it, URL " --resource https://t1", elsewhere);
    wear_in(&again, it, URL " --resource https://t1", elsewhere);
    path = plain.face.argv.items[3];
    assert_string_equal(plain.face.argv.items[2], "--auth-store");
    assert_memory_equal(path, "/home/me/.mcp-auth/fairlead-", 28);
    assert_memory_equal(one.face.argv.items[3], "/d/fairlead-", 12);
    assert_string_not_equal(path + 28, one.face.argv.items[3] + 12);
    assert_string_equal(one.face.argv.items[3], again.face.argv.items[3]);
    take_off(&plain);
    take_off(&one);
    take_off(&again);
    expect_warning(it, URL, "the login is not kept");
}

static void test_mcp_remote_reads_client_information_from_a_file(void **state)
{
    static const char json[] = "{\"client_id\":\"from a file\"}\n";
    char path[] = "/tmp/fairlead-face-XXXXXX", line[256];
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, json, sizeof json - 1), sizeof json - 1);
    close(fd);
    snprintf(line, sizeof line, URL " --static-oauth-client-info @%s", path);
    expect(it, line, CONNECT "--client-id 'from a file' " URL);
    unlink(path);
    refuse(it, URL " --static-oauth-client-info '[1]'", "want a JSON object");
    refuse(it, URL " --static-oauth-client-info '{'", "want a JSON object");
}

static void test_mcp_remote_names_what_is_wrong(void **state)
{
    (void)state;
    refuse(it, "", "want the URL");
    refuse(it, URL " 1 2", "want the URL");
    refuse(it, URL " port", "'port' is not a port");
    refuse(it, "example.org", "not the URL of a server");
    refuse(it, "http://10.0.0.1/mcp", "add --allow-http");
    refuse(it, URL " --transport stdio", "'stdio' is not one of");
    refuse(it, URL " --protocol modern", "legacy and auto");
    refuse(it, URL " --callback-path x", "begin with a slash");
    refuse(it, URL " --client-credentials", "client_id and");
    refuse(it, URL " --device-code", "open the page");
    refuse(it, URL " --heeder a:b", "did you mean --header?");
}

static void test_mcp_remote_survives_any_lack_of_memory(void **state)
{
    (void)state;
    expect_survival(it, URL " 9696 --header 'X-Api-Key: $b' --debug --ipv4 "
                            "--static-oauth-client-info "
                            "'{\"client_id\":\"a\",\"client_secret\":"
                            "\"b\"}'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mcp_remote_examples_have_their_counterparts),
        cmocka_unit_test(test_mcp_remote_flags_have_their_counterparts),
        cmocka_unit_test(test_mcp_remote_table_is_kept),
        cmocka_unit_test(test_mcp_remote_headers_take_variables),
        cmocka_unit_test(test_mcp_remote_refuses_variables_that_are_not_set),
        cmocka_unit_test(test_mcp_remote_keeps_a_login_for_each_resource),
        cmocka_unit_test(test_mcp_remote_reads_client_information_from_a_file),
        cmocka_unit_test(test_mcp_remote_names_what_is_wrong),
        cmocka_unit_test(test_mcp_remote_survives_any_lack_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
