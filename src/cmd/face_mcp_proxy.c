/*
 * face_mcp_proxy.c - "fairlead mcp-proxy", as npm has it.
 *
 * A command, served over Streamable HTTP and HTTP+SSE at one time. Each flag
 * can be an environment variable as well: --sslCert is MCP_PROXY_SSL_CERT.
 *
 * There is a program of the same name for Python. Which of the two is meant is
 * told by the flags, of which they share four; by a URL where the command would
 * be, which only Python's takes; and else it is this one, whose port is not
 * another each time.
 */
#include "cmd/door_keys.h"
#include "cmd/face_parts.h"
#include "cmd/shell_words.h"

#include "base/buf.h"
#include "base/span.h"
#include "base/status.h"

#include <string.h>

enum { COMMAND_MAX = 4 * 1024 * 1024 }; /* twice what the kernel takes */

#define KEY_VARIABLE "FAIRLEAD_API_KEY"
#define TUNNEL                                                                 \
    "there is no tunnel here: run one beside it, such as ssh -R or "           \
    "cloudflared"

static const fl_face_row rows[] = {
    {.name = "--host", .kind = FL_FACE_VALUE, .ours = "--listen"},
    {.name = "--port", .kind = FL_FACE_VALUE, .ours = "--listen"},
    {.name = "--server",
     .kind = FL_FACE_VALUE,
     .ours = "--no-sse",
     .why = "stream: without HTTP+SSE; sse: both, as without it"},
    {.name = "--endpoint", .kind = FL_FACE_VALUE, .ours = "--listen"},
    {.name = "--sseEndpoint", .kind = FL_FACE_VALUE, .ours = "--sse-path"},
    {.name = "--streamEndpoint", .kind = FL_FACE_VALUE, .ours = "--listen"},
    {.name = "--stateless", .deed = FL_FACE_PASS, .ours = "--stateless"},
    {.name = "--modern",
     .deed = FL_FACE_IDLE,
     .why = "revision 2026-07-28 is served to those who ask for it, and the "
            "older ones to the others"},
    {.name = "--upstreamProtocol",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_WORD,
     .ours = "--era",
     .why = "legacy, auto and modern",
     .words = "legacy=legacy auto=auto modern=modern"},
    {.name = "--connectionTimeout",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_IDLE,
     .why = "clients wait for a command that starts as long as for an answer, "
            "--requestTimeout"},
    {.name = "--requestTimeout",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_MILLIS,
     .ours = "--timeout"},
    {.name = "--keepAliveTimeout",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_MILLIS,
     .ours = "--idle-timeout"},
    {.name = "--sessionIdleTimeout",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_MILLIS,
     .ours = "--session-timeout"},
    {.name = "--eventStore",
     .deed = FL_FACE_IDLE,
     .why = "events are kept for clients that come back, for five minutes and "
            "within limits"},
    {.name = "--eventStoreMaxEvents",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_IDLE,
     .why = "1000 events, or 4 MiB of them, are kept for each session"},
    {.name = "--maxBodySize",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_PASS,
     .ours = "--max-message"},
    {.name = "--gracefulShutdownTimeout",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_IDLE,
     .why = "calls that are under way are waited for as they always are; a "
            "second signal ends it at once"},
    {.name = "--apiKey",
     .kind = FL_FACE_VALUE,
     .ours = "--api-key-env",
     .secret = true},
    {.name = "--sslCa",
     .kind = FL_FACE_VALUE,
     .ours = "--tls-ca --require-client-cert"},
    {.name = "--sslCert",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_PASS,
     .ours = "--tls-cert"},
    {.name = "--sslKey",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_PASS,
     .ours = "--tls-key"},
    {.name = "--corsAddAllowedHeader",
     .kind = FL_FACE_LIST,
     .deed = FL_FACE_PASS,
     .ours = "--allow-header"},
    {.name = "--shell",
     .why = "no shell is run, but the words are joined and cut as by one"},
    {.name = "--tunnel", .deed = FL_FACE_NEVER, .why = TUNNEL},
    {.name = "--tunnelSubdomain",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_NEVER,
     .why = TUNNEL},
    {.name = "--debug", .ours = "--log-level debug"},
    {0},
};

/* The GET of HTTP+SSE is taken at the endpoint, too: one path does for both,
 * if it is not the other's own. */
static const char *stream_path(const fl_face *face, const char *sse)
{
    const char *server = fl_face_value(face, "--server", "");
    const char *endpoint = fl_face_value(face, "--endpoint", NULL);

    if (endpoint == NULL || strcmp(server, "sse") == 0 ||
        (strcmp(server, "") == 0 && strcmp(endpoint, sse) == 0))
        endpoint = "/mcp";
    return fl_face_value(face, "--streamEndpoint", endpoint);
}

static const char *sse_path(const fl_face *face)
{
    bool only = strcmp(fl_face_value(face, "--server", ""), "sse") == 0;
    const char *endpoint = fl_face_value(face, "--endpoint", "/sse");

    return fl_face_value(face, "--sseEndpoint", only ? endpoint : "/sse");
}

static fl_status put_door(fl_face *face, fl_error *error)
{
    const char *sse = sse_path(face);
    const char *server = fl_face_value(face, "--server", "");
    bool stream = strcmp(server, "stream") == 0;
    const char *ca = fl_face_value(face, "--sslCa", NULL);
    bool tls = fl_face_value(face, "--sslCert", NULL) != NULL;
    fl_status rc = fl_face_listen(
        face,
        &(fl_face_door){
            .scheme = tls ? "https" : "http",
            .host = fl_face_value(face, "--host", NULL),
            .port = fl_face_value(face, "--port", "8080"),
            .path = stream_path(face, sse),
            .asks = ca != NULL || fl_face_value(face, "--apiKey", NULL) != NULL,
        },
        error);

    if (rc == FL_OK && !stream && *server != '\0' && strcmp(server, "sse") != 0)
        rc = fl_error_set(error, FL_E_INVALID,
                          "option --server: '%s' is not sse or stream", server);
    if (stream)
        fl_face_put(face, "--no-sse", NULL);
    else if (strcmp(sse, "/sse") != 0)
        fl_face_put(face, "--sse-path", sse);
    if (ca != NULL) {
        fl_face_put(face, "--tls-ca", ca);
        fl_face_put(face, "--require-client-cert", NULL);
    }
    return rc;
}

/* Its pages may come from anywhere; here only where they need a key. */
static void put_key(fl_face *face)
{
    const char *key = fl_face_value(face, "--apiKey", NULL);

    if (key == NULL)
        return;
    fl_face_secret(face, "--api-key-env", "", KEY_VARIABLE, key);
    if (strlen(key) < FL_DOOR_KEY_LEAST) {
        fl_face_warn(face,
                     "--apiKey has %zu characters, which can be guessed; %d "
                     "or more are better",
                     strlen(key), FL_DOOR_KEY_LEAST);
        fl_face_put(face, "--allow-short-keys", NULL);
    }
    fl_face_put(face, "--allow-origin", "*");
}

/* As a shell would get them: with blanks between, and none of the quotes. */
static fl_status cut_again(fl_face *face, fl_texts *words, fl_error *error)
{
    fl_buf line;
    fl_status rc = FL_OK;

    fl_buf_init(&line, COMMAND_MAX);
    for (size_t i = 0; i < face->words.count && rc == FL_OK; i++)
        rc = fl_buf_printf(&line, "%s%s", i > 0 ? " " : "",
                           face->words.items[i]);
    if (rc == FL_OK)
        rc = fl_buf_append(&line, (fl_span){"", 1});
    rc = rc == FL_OK ? fl_shell_words(fl_buf_view(&line).ptr, words, error)
                     : fl_error_set(error, rc, "out of memory");
    fl_buf_reset(&line);
    return rc;
}

static fl_status compose(fl_face *face, fl_error *error)
{
    fl_texts words = {0};

    if (face->words.count == 0)
        return fl_error_set(error, FL_E_INVALID,
                            "there is no command to run; want mcp-proxy "
                            "[FLAG]... -- COMMAND [ARGUMENT]...");
    fl_status rc = put_door(face, error);
    if (rc != FL_OK)
        return rc;
    put_key(face);
    if (fl_face_is_on(face, "--debug"))
        fl_face_debug(face);
    fl_face_put(face, "--inherit-env", "*");
    if (fl_face_is_on(face, "--shell"))
        rc = cut_again(face, &words, error);
    else
        fl_texts_move(&words, &face->words);
    if (rc == FL_OK)
        fl_face_command(face, &words);
    return rc;
}

const fl_face_program fl_face_mcp_proxy = {
    .name = "mcp-proxy",
    .usage = "[FLAG]... [--] COMMAND [ARGUMENT]...",
    .examples = "  fairlead mcp-proxy --port 8080 -- tsx server.js --verbose\n"
                "  MCP_PROXY_API_KEY=... fairlead mcp-proxy --host :: -- tsx "
                "server.js\n",
    .notes =
        "This is the mcp-proxy of npm; the one for Python has the same name, "
        "and is\nmeant if any of its own flags is there, or a URL.\n"
        "Pages of other origins may use it only together with --apiKey.\n",
    .prefix = "MCP_PROXY_",
    .rows = rows,
    .compose = compose,
};
