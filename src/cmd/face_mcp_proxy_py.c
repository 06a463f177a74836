/*
 * face_mcp_proxy_py.c - "fairlead mcp-proxy", as Python has it.
 *
 * Two programs in one: with a URL it serves that server over stdio; with a
 * command it serves that, and others that have names, over HTTP. Those with
 * names are written into a configuration, as the file for them would be.
 */
#include "cmd/face_parts.h"
#include "cmd/shell_words.h"

#include "base/buf.h"
#include "base/span.h"
#include "base/status.h"
#include "json/write.h"

#include <string.h>
#include <strings.h>

enum { CONFIG_MAX = 1024 * 1024 };

#define LEVELS                                                                 \
    "DEBUG=debug INFO=info WARNING=warn ERROR=error CRITICAL=error "           \
    "debug=debug info=info warning=warn error=error critical=error"

static const fl_face_row rows[] = {
    {.name = "--headers",
     .also = "-H",
     .kind = FL_FACE_PAIR,
     .ours = "--header",
     .secret = true},
    {.name = "--transport",
     .kind = FL_FACE_VALUE,
     .ours = "URL",
     .why = "sse or streamablehttp; sse"},
    {.name = "--verify-ssl", .kind = FL_FACE_MAYBE, .ours = "--tls-ca"},
    {.name = "--no-verify-ssl", .ours = "--insecure-skip-verify"},
    {.name = "--client-id", .kind = FL_FACE_VALUE, .ours = "--client-id"},
    {.name = "--client-secret",
     .kind = FL_FACE_VALUE,
     .ours = "--client-secret-env",
     .secret = true},
    {.name = "--token-url",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_IDLE,
     .why = "the server says where tokens are to be had"},
    {.name = "--env",
     .also = "-e",
     .kind = FL_FACE_PAIR,
     .ours = "--env",
     .secret = true},
    {.name = "--cwd",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_PASS,
     .ours = "--cwd",
     .front = true},
    {.name = "--pass-environment", .ours = "--inherit-env '*'"},
    {.name = "--log-level",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_WORD,
     .ours = "--log-level",
     .why = "DEBUG, INFO, WARNING, ERROR and CRITICAL",
     .words = LEVELS},
    {.name = "--debug", .ours = "--log-level debug"},
    {.name = "--named-server", .kind = FL_FACE_PAIR, .ours = "--config-json"},
    {.name = "--named-server-config",
     .kind = FL_FACE_VALUE,
     .ours = "--config"},
    {.name = "--port", .kind = FL_FACE_VALUE, .ours = "--listen"},
    {.name = "--host", .kind = FL_FACE_VALUE, .ours = "--listen"},
    {.name = "--sse-port", .kind = FL_FACE_VALUE, .ours = "--listen"},
    {.name = "--sse-host", .kind = FL_FACE_VALUE, .ours = "--listen"},
    {.name = "--stateless",
     .deed = FL_FACE_PASS,
     .ours = "--stateless",
     .front = true},
    {.name = "--allow-origin",
     .kind = FL_FACE_LIST,
     .deed = FL_FACE_PASS,
     .ours = "--allow-origin",
     .front = true},
    {.name = "--expose-header",
     .kind = FL_FACE_LIST,
     .deed = FL_FACE_PASS,
     .ours = "--expose-header",
     .front = true},
    {0},
};

static bool is_no(const char *word)
{
    return strcasecmp(word, "false") == 0 || strcasecmp(word, "no") == 0 ||
           strcmp(word, "0") == 0;
}

static bool is_yes(const char *word)
{
    return strcasecmp(word, "true") == 0 || strcasecmp(word, "yes") == 0 ||
           strcmp(word, "1") == 0;
}

static void put_trust(fl_face *face)
{
    const char *verify = fl_face_value(face, "--verify-ssl", "true");

    if (fl_face_is_on(face, "--no-verify-ssl") || is_no(verify)) {
        fl_face_put(face, "--insecure-skip-verify", NULL);
        fl_face_warn(face, "any certificate is accepted: whoever is on the way "
                           "to the server can be the server");
    } else if (!is_yes(verify)) {
        fl_face_put(face, "--tls-ca", verify);
    }
}

static fl_status put_login(fl_face *face, fl_error *error)
{
    const char *id = fl_face_value(face, "--client-id", NULL);
    const char *secret = fl_face_value(face, "--client-secret", NULL);

    if (id == NULL && secret == NULL)
        return FL_OK;
    if (id == NULL || secret == NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "--client-id and --client-secret go together");
    fl_face_put(face, "--auth", "client-credentials");
    fl_face_put(face, "--client-id", id);
    fl_face_secret(face, "--client-secret-env", "", "FAIRLEAD_CLIENT_SECRET",
                   secret);
    return FL_OK;
}

static fl_status put_headers(fl_face *face, fl_error *error)
{
    const char *token =
        fl_face_getenv(face->environment, FL_SPAN("API_ACCESS_TOKEN"));
    const fl_face_said *said = NULL;
    fl_status rc = FL_OK;

    while (rc == FL_OK &&
           (said = fl_face_next(face, "--headers", said)) != NULL)
        rc = fl_face_header(face, "--headers", fl_span_of(said->value),
                            fl_span_of(said->second), false, error);
    if (rc == FL_OK && token != NULL && *token != '\0')
        rc = fl_face_bearer(face, "API_ACCESS_TOKEN", token, error);
    return rc;
}

static fl_status compose_client(fl_face *face, const char *url, fl_error *error)
{
    const char *transport = fl_face_value(face, "--transport", "sse");
    bool sse = strcmp(transport, "sse") == 0;

    face->connect = true;
    if (!sse && strcmp(transport, "streamablehttp") != 0)
        return fl_error_set(error, FL_E_INVALID,
                            "option --transport: '%s' is not sse or "
                            "streamablehttp",
                            transport);
    if (fl_face_next(face, "--named-server", NULL) != NULL ||
        fl_face_next(face, "--named-server-config", NULL) != NULL)
        fl_face_warn(face, "servers with names are left out: one at a URL is "
                           "served, over stdio");
    fl_status rc = put_headers(face, error);
    if (rc == FL_OK)
        rc = put_login(face, error);
    put_trust(face);
    return rc == FL_OK ? fl_face_server(face, url, sse, error) : rc;
}

/* It becomes part of a path. */
static bool is_name(const char *name)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

    return name[0] != '\0' && name[0] != '.' &&
           name[strspn(name, good)] == '\0';
}

static fl_status write_server(fl_json_writer *writer, const fl_face_said *said,
                              fl_error *error)
{
    fl_texts words;

    if (!is_name(said->value))
        return fl_error_set(error, FL_E_INVALID,
                            "option --named-server: '%s' is no name; letters, "
                            "digits, '-', '_' and '.' make one",
                            said->value);
    fl_status rc = fl_shell_words(said->second, &words, error);
    if (rc != FL_OK)
        return rc;
    fl_json_key(writer, said->value);
    fl_json_object(writer);
    fl_json_key(writer, "command");
    fl_json_string(writer, words.items[0]);
    fl_json_key(writer, "args");
    fl_json_array(writer);
    for (size_t i = 1; i < words.count; i++)
        fl_json_string(writer, words.items[i]);
    fl_json_array_end(writer);
    fl_json_object_end(writer);
    fl_texts_deinit(&words);
    return FL_OK;
}

static fl_status write_config(fl_face *face, fl_buf *config, fl_error *error)
{
    const fl_face_said *said = NULL;
    fl_json_writer writer;
    fl_status rc = FL_OK;

    fl_json_writer_init(&writer, config);
    fl_json_object(&writer);
    fl_json_key(&writer, "mcpServers");
    fl_json_object(&writer);
    while (rc == FL_OK &&
           (said = fl_face_next(face, "--named-server", said)) != NULL)
        rc = write_server(&writer, said, error);
    fl_json_object_end(&writer);
    fl_json_object_end(&writer);
    if (fl_json_writer_end(&writer) != FL_OK && rc == FL_OK)
        rc = fl_error_set(error, FL_E_NOMEM, "out of memory");
    return rc;
}

static fl_status put_named(fl_face *face, fl_error *error)
{
    const char *file = fl_face_value(face, "--named-server-config", NULL);
    bool named = fl_face_next(face, "--named-server", NULL) != NULL;
    fl_buf config;

    if (file != NULL) {
        if (named)
            fl_face_warn(face, "--named-server is left out: "
                               "--named-server-config has all of them");
        fl_face_put(face, "--config", file);
        return FL_OK;
    }
    if (!named)
        return FL_OK;
    fl_buf_init(&config, CONFIG_MAX);
    fl_status rc = write_config(face, &config, error);
    if (rc == FL_OK) {
        fl_texts_add(&face->argv, "--config-json");
        fl_texts_add_span(&face->argv, fl_buf_view(&config));
    }
    fl_buf_reset(&config);
    return rc;
}

static void put_environment(fl_face *face)
{
    const fl_face_said *said = NULL;

    if (fl_face_is_on(face, "--pass-environment"))
        fl_face_put(face, "--inherit-env", "*");
    while ((said = fl_face_next(face, "--env", said)) != NULL)
        fl_face_putf(face, "--env", "%s=%s", said->value, said->second);
}

static fl_status compose_server(fl_face *face, fl_error *error)
{
    fl_status rc = fl_face_listen(
        face,
        &(fl_face_door){
            .scheme = "http",
            .host = fl_face_value(face, "--host",
                                  fl_face_value(face, "--sse-host", NULL)),
            .port = fl_face_value(face, "--port",
                                  fl_face_value(face, "--sse-port", "0")),
            .path = "/mcp",
            .private_host = true,
        },
        error);

    if (rc == FL_OK)
        rc = put_named(face, error);
    fl_face_put(face, "--health", "/status");
    put_environment(face);
    if (fl_face_next(face, "--headers", NULL) != NULL)
        fl_face_warn(face, "--headers have no meaning here: a command gets "
                           "none, only a server at a URL does");
    if (rc == FL_OK && face->words.count > 0)
        fl_face_command(face, &face->words);
    return rc;
}

static fl_status compose(fl_face *face, fl_error *error)
{
    const char *first =
        face->words.count > 0
            ? face->words.items[0]
            : fl_face_getenv(face->environment, FL_SPAN("SSE_URL"));

    if (first == NULL && fl_face_next(face, "--named-server", NULL) == NULL &&
        fl_face_next(face, "--named-server-config", NULL) == NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "there is no server: want a URL, a command, "
                            "--named-server NAME 'COMMAND' or "
                            "--named-server-config FILE");
    if (fl_face_is_on(face, "--debug"))
        fl_face_debug(face);
    return first != NULL && fl_face_is_url(first)
               ? compose_client(face, first, error)
               : compose_server(face, error);
}

const fl_face_program fl_face_mcp_proxy_py = {
    .name = "mcp-proxy",
    .usage = "[FLAG]... URL\n"
             "       fairlead mcp-proxy [FLAG]... [--] COMMAND [ARGUMENT]...",
    .examples =
        "  fairlead mcp-proxy --transport streamablehttp "
        "https://example.org/mcp\n"
        "  fairlead mcp-proxy --named-server fetch 'uvx mcp-server-fetch' \\\n"
        "                     --port 8080\n",
    .notes =
        "This is the mcp-proxy of Python; the one of npm has the same name, "
        "and is\nmeant if any of its own flags is there, or no flag tells.\n",
    .rows = rows,
    .compose = compose,
};
