/*
 * face_supergateway.c - "fairlead supergateway".
 *
 * One server in, one transport out: a command or a URL, served over HTTP+SSE,
 * WebSocket or Streamable HTTP, or over stdio. What is different: the command
 * is run without a shell, what it is asked by two clients at once is kept
 * apart, and more transports than the one asked for are served where that
 * costs nothing.
 */
#include "cmd/face_parts.h"
#include "cmd/shell_words.h"

#include "base/span.h"
#include "base/status.h"

#include <string.h>

#define LEVELS "debug=debug info=info none=off"

static const fl_face_row rows[] = {
    {.name = "--stdio", .kind = FL_FACE_VALUE, .ours = "-- COMMAND"},
    {.name = "--sse", .kind = FL_FACE_VALUE, .ours = "sse+URL"},
    {.name = "--streamableHttp", .kind = FL_FACE_VALUE, .ours = "URL"},
    {.name = "--outputTransport",
     .kind = FL_FACE_VALUE,
     .ours = "--listen",
     .why = "stdio, sse, ws or streamableHttp"},
    {.name = "--port", .kind = FL_FACE_VALUE, .ours = "--listen"},
    {.name = "--host",
     .kind = FL_FACE_VALUE,
     .ours = "--listen",
     .why = "not among its flags: the address to listen on, 127.0.0.1"},
    {.name = "--baseUrl", .kind = FL_FACE_VALUE, .ours = "--allow-host"},
    {.name = "--ssePath", .kind = FL_FACE_VALUE, .ours = "--sse-path"},
    {.name = "--messagePath", .kind = FL_FACE_VALUE, .ours = "--message-path"},
    {.name = "--streamableHttpPath", .kind = FL_FACE_VALUE, .ours = "--listen"},
    {.name = "--stateful", .ours = "--child session"},
    {.name = "--sessionTimeout",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_MILLIS,
     .ours = "--session-timeout",
     .front = true},
    {.name = "--header",
     .kind = FL_FACE_VALUE,
     .ours = "--header",
     .secret = true},
    {.name = "--oauth2Bearer",
     .kind = FL_FACE_VALUE,
     .ours = "--header-env",
     .secret = true},
    {.name = "--cors", .kind = FL_FACE_LIST, .ours = "--allow-origin"},
    {.name = "--healthEndpoint", .kind = FL_FACE_LIST, .ours = "--health"},
    {.name = "--logLevel",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_WORD,
     .ours = "--log-level",
     .why = "debug, info and none",
     .words = LEVELS},
    {.name = "--protocolVersion",
     .kind = FL_FACE_VALUE,
     .deed = FL_FACE_IDLE,
     .why = "the revision is agreed on with the server"},
    {0},
};

static const char *const outputs[] = {"stdio", "sse", "ws", "streamableHttp",
                                      NULL};

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words != NULL && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

/* By the scheme when there is one, up to the path. */
static fl_span host_of(const char *url)
{
    const char *scheme = strstr(url, "://");
    const char *host = scheme != NULL ? scheme + 3 : url;
    size_t len = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/");

    return (fl_span){host, len};
}

/* Clients are told where to post to as a path, which needs no base; that it is
 * reached by another name has to be known all the same. */
static void put_base(fl_face *face)
{
    const char *base = fl_face_value(face, "--baseUrl", "");
    fl_span host = host_of(base);
    const char *path = strchr(host.ptr + host.len, '/');

    if (host.len > 0 && !fl_face_is_loopback(host))
        fl_face_putf(face, "--allow-host", "%.*s", (int)host.len, host.ptr);
    if (path != NULL && path[1] != '\0')
        fl_face_put(face, "--base-url", base);
}

static void put_origins(fl_face *face)
{
    const fl_face_said *said = NULL;

    while ((said = fl_face_next(face, "--cors", said)) != NULL) {
        const char *origin = said->value != NULL ? said->value : "*";
        if (origin[0] == '/')
            fl_face_warn(face,
                         "--cors %s is not heeded: it is a regular "
                         "expression, and origins are written out here, "
                         "or as in https://*.example.org",
                         origin);
        else
            fl_face_put(face, "--allow-origin", origin);
    }
}

static void put_health(fl_face *face)
{
    const fl_face_said *said = NULL;

    while ((said = fl_face_next(face, "--healthEndpoint", said)) != NULL)
        if (said->value != NULL)
            fl_face_put(face, "--health", said->value);
}

static void put_path(fl_face *face, const char *theirs, const char *ours,
                     const char *otherwise)
{
    const char *path = fl_face_value(face, theirs, otherwise);

    if (strcmp(path, otherwise) != 0)
        fl_face_put(face, ours, path);
}

static fl_status put_door(fl_face *face, const char *output, fl_error *error)
{
    bool ws = strcmp(output, "ws") == 0;
    bool streamable = strcmp(output, "streamableHttp") == 0;
    const char *path = fl_face_value(face, "--streamableHttpPath", "/mcp");

    if (ws)
        path = fl_face_value(face, "--messagePath", "/message");
    fl_face_put(face, "--until-stdin-ends", NULL);
    fl_status rc = fl_face_listen(
        face,
        &(fl_face_door){.scheme = ws ? "ws" : "http",
                        .host = fl_face_value(face, "--host", NULL),
                        .port = fl_face_value(face, "--port", "8000"),
                        .path = path},
        error);
    if (streamable)
        fl_face_put(face, "--no-sse", NULL);
    if (strcmp(output, "sse") == 0) {
        put_path(face, "--ssePath", "--sse-path", "/sse");
        fl_face_put(face, "--message-path",
                    fl_face_value(face, "--messagePath", "/message"));
    }
    if (fl_face_is_on(face, "--stateful"))
        fl_face_put(face, "--child", "session");
    else if (streamable)
        fl_face_put(face, "--stateless", NULL);
    put_base(face);
    put_origins(face);
    put_health(face);
    return rc;
}

static fl_status put_headers(fl_face *face, fl_error *error)
{
    const char *bearer = fl_face_value(face, "--oauth2Bearer", NULL);
    const fl_face_said *said = NULL;
    fl_status rc = FL_OK;

    while (rc == FL_OK && (said = fl_face_next(face, "--header", said)) != NULL)
        rc = fl_face_header_line(face, "--header", said->value, false, error);
    if (rc == FL_OK && bearer != NULL)
        rc = fl_face_bearer(face, "--oauth2Bearer", bearer, error);
    return rc;
}

/* Its headers would be added to what it answers, which asks for nothing. */
static fl_status put_command(fl_face *face, const char *command,
                             fl_error *error)
{
    fl_texts words;
    fl_status rc = fl_shell_words(command, &words, error);

    if (rc != FL_OK)
        return rc;
    if (fl_face_next(face, "--header", NULL) != NULL ||
        fl_face_next(face, "--oauth2Bearer", NULL) != NULL)
        fl_face_warn(face, "--header and --oauth2Bearer have no meaning here: "
                           "a command gets no headers, and answers carry none "
                           "of yours");
    fl_face_put(face, "--inherit-env", "*");
    fl_face_command(face, &words);
    return FL_OK;
}

static fl_status choose_input(const fl_face *face, const char **name,
                              fl_error *error)
{
    static const char *const inputs[] = {"--stdio", "--sse", "--streamableHttp",
                                         NULL};
    size_t count = 0;

    for (size_t i = 0; inputs[i] != NULL; i++)
        if (fl_face_next(face, inputs[i], NULL) != NULL) {
            *name = inputs[i];
            count++;
        }
    if (count == 1 && face->words.count == 0)
        return FL_OK;
    if (count == 1)
        return fl_error_set(error, FL_E_INVALID,
                            "'%s' belongs to no option; a command is one "
                            "argument: --stdio 'COMMAND ARGUMENT...'",
                            face->words.items[0]);
    return fl_error_set(error, FL_E_INVALID,
                        "want one of --stdio 'COMMAND', --sse URL and "
                        "--streamableHttp URL%s",
                        count > 1 ? ", not more" : "");
}

static fl_status compose(fl_face *face, fl_error *error)
{
    const char *input = "";
    fl_status rc = choose_input(face, &input, error);

    if (rc != FL_OK)
        return rc;
    bool child = strcmp(input, "--stdio") == 0;
    const char *value = fl_face_value(face, input, "");
    const char *output =
        fl_face_value(face, "--outputTransport", child ? "sse" : "stdio");
    if (!is_one_of(output, outputs))
        return fl_error_set(error, FL_E_INVALID,
                            "option --outputTransport: '%s' is not one of "
                            "stdio, sse, ws and streamableHttp",
                            output);
    bool stdio = strcmp(output, "stdio") == 0;
    face->connect = stdio && !child;
    if (stdio && child)
        fl_face_put(face, "--listen", "stdio:");
    if (!stdio)
        rc = put_door(face, output, error);
    if (rc == FL_OK && child)
        return put_command(face, value, error);
    if (rc == FL_OK)
        rc = put_headers(face, error);
    if (rc == FL_OK)
        rc = fl_face_server(face, value, strcmp(input, "--sse") == 0, error);
    return rc;
}

const fl_face_program fl_face_supergateway = {
    .name = "supergateway",
    .usage = "--stdio 'COMMAND' [FLAG]...\n"
             "       fairlead supergateway --sse URL [FLAG]...\n"
             "       fairlead supergateway --streamableHttp URL [FLAG]...",
    .examples =
        "  fairlead supergateway --stdio 'uvx mcp-server-git' --port 8000\n"
        "  fairlead supergateway --streamableHttp https://example.org/mcp\n",
    .notes =
        "The command is cut into words as a shell does, but no shell is run: "
        "what\nneeds one goes into a script.\n",
    .rows = rows,
    .compose = compose,
};
