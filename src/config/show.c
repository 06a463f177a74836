/*
 * show.c - what was read, for people, with nothing in it that is secret.
 *
 *     github: a child
 *       command npx -y @modelcontextprotocol/server-github
 *       env GITHUB_TOKEN=${GITHUB_TOKEN}
 *     files: HTTP, disabled
 *       url https://files.example/mcp
 *       header Authorization: [redacted]
 */
#include "config/show.h"

#include "base/log_mask.h"
#include "base/span.h"

#include <string.h>

/* Remembers its first failure, as a writer does. */
typedef struct printer {
    fl_buf *out;
    fl_status status;
} printer;

static void put(printer *p, fl_span text)
{
    if (p->status == FL_OK)
        p->status = fl_buf_append(p->out, text);
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

static void put_text(printer *p, const char *text)
{
    put(p, fl_span_of(text));
}

/* It ends up on a terminal. */
static void put_clean(printer *p, fl_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        put(p,
            c < 0x20 || c == 0x7f ? FL_SPAN("?") : (fl_span){text.ptr + i, 1});
    }
}

/* The length of ${NAME}, $NAME or {env:NAME} at the front, or 0. One with a
 * default does not count: the default is plain text. */
static size_t reference_length(fl_span text)
{
    fl_span inside =
        fl_span_starts(text, FL_SPAN("$")) ? fl_span_from(text, 1) : text;
    size_t len = fl_span_find(inside, '}');

    if (fl_span_starts(inside, FL_SPAN("{")) && len < inside.len &&
        memmem(inside.ptr, len, ":-", 2) == NULL)
        return text.len - inside.len + len + 1;
    if (inside.len == text.len)
        return 0;
    for (len = 0; len < inside.len && is_name_byte(inside.ptr[len]);)
        len++;
    return len > 0 ? len + 1 : 0;
}

/* Whether there is nothing in it but references, perhaps behind a scheme as in
 * "Bearer ${TOKEN}": they name a secret and do not tell it. */
static bool only_names(fl_span text)
{
    size_t word = fl_span_find(text, ' ');

    if (word < text.len && word < 12 && fl_span_find(text, '$') > word &&
        fl_span_find(text, '{') > word)
        text = fl_span_from(text, word + 1);
    size_t len = reference_length(text);
    while (len > 0 && len < text.len) {
        text = fl_span_from(text, len);
        len = reference_length(text);
    }
    return len > 0;
}

/* Nothing from outside is in what is shown, but the file may have secrets. */
static void put_value(printer *p, const char *shown)
{
    char masked[FL_LOG_VALUE];
    fl_span text = fl_span_of(shown);

    put_clean(p, only_names(text) ? text : fl_log_mask(text, NULL, masked));
}

/* "NAME=VALUE" or "Name: value": masked whole if it is called like a secret. */
static void put_pair(printer *p, const char *shown, fl_span mark)
{
    const char *at = strstr(shown, mark.ptr);
    fl_span name = {shown, at != NULL ? (size_t)(at - shown) : 0};
    fl_span value = fl_span_of(at != NULL ? at + mark.len : shown);

    if (only_names(value) || fl_span_equal(value, FL_SPAN("(envFile)"))) {
        put_clean(p, fl_span_of(shown));
    } else if (fl_log_is_secret(name, NULL)) {
        put_clean(p, name);
        put(p, mark);
        put_text(p, FL_LOG_MASKED);
    } else {
        put_value(p, shown);
    }
}

static void put_field(printer *p, const char *name, const char *shown)
{
    if (shown == NULL || *shown == '\0')
        return;
    put_text(p, "  ");
    put_text(p, name);
    put_text(p, " ");
    put_value(p, shown);
    put_text(p, "\n");
}

/* Each in a line of its own. */
static void put_pairs(printer *p, const char *name, const fl_config_list *list,
                      fl_span mark)
{
    for (size_t i = 0; i < list->count; i++) {
        put_text(p, "  ");
        put_text(p, name);
        put_text(p, " ");
        put_pair(p, list->shown[i], mark);
        put_text(p, "\n");
    }
}

/* "--token" is followed by one. */
static bool announces(const char *argument)
{
    return argument[0] == '-' && strchr(argument, '=') == NULL &&
           fl_log_is_secret(fl_span_of(argument), NULL);
}

/* All in one line. */
static void put_list(printer *p, const char *name, const fl_config_list *list)
{
    if (list->count == 0)
        return;
    put_text(p, "  ");
    put_text(p, name);
    for (size_t i = 0; i < list->count; i++) {
        const char *shown = list->shown[i];
        put_text(p, " ");
        if (i > 0 && announces(list->shown[i - 1]) &&
            !only_names(fl_span_of(shown)))
            put_text(p, FL_LOG_MASKED);
        else
            put_value(p, shown);
    }
    put_text(p, "\n");
}

static void put_number(printer *p, const char *name, uint32_t number)
{
    if (p->status == FL_OK)
        p->status = fl_buf_printf(p->out, "  %s %u\n", name, number);
}

/* Each in a line of its own, with the headers that are not the server's. */
static void put_replicas(printer *p, const fl_config_server *server)
{
    for (size_t i = 0; i < server->replica_count; i++) {
        const fl_config_server *replica = &server->replicas[i];
        put_list(p, "replica", &replica->argv);
        put_field(p, "replica", replica->url.shown);
        if (replica->disabled && !server->disabled)
            put_text(p, "    disabled\n");
        if (replica->weight != 1)
            put_number(p, "  weight", replica->weight);
        if (replica->headers.items != server->headers.items)
            put_pairs(p, "  header", &replica->headers, FL_SPAN(": "));
        put_pairs(p, "  env", &replica->env, FL_SPAN("="));
    }
}

static void put_outages(printer *p, const fl_config_outages *outages)
{
    const struct {
        const char *name;
        uint32_t number;
    } rows[] = {
        {"connectAttempts", outages->connect_attempts},
        {"connectBackoff", outages->connect_backoff_ms},
        {"connectBackoffMax", outages->connect_backoff_max_ms},
        {"queueMax", outages->queue_max},
        {"queueBytes", outages->queue_bytes},
        {"queueTime", outages->queue_ms},
        {"breakerFailures", outages->breaker_failures},
        {"breakerPause", outages->breaker_pause_ms},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].number > 0)
            put_number(p, rows[i].name, rows[i].number);
    if (outages->health_ms > 0)
        put_number(p, "healthInterval",
                   outages->health_ms == UINT32_MAX ? 0 : outages->health_ms);
}

static void put_login(printer *p, const fl_config_login *login)
{
    static const char *const grants[] = {"", "none", "code",
                                         "client-credentials"};
    const char *secret = login->client_secret.shown;

    put_field(p, "oauth", grants[login->grant]);
    put_field(p, "clientId", login->client_id.shown);
    if (secret != NULL)
        put_field(p, "clientSecret",
                  only_names(fl_span_of(secret)) ? secret : FL_LOG_MASKED);
    put_field(p, "scope", login->scope.shown);
    put_field(p, "redirectUri", login->redirect_uri.shown);
    put_field(p, "clientMetadataUrl", login->metadata_url.shown);
    put_field(p, "store", login->store.shown);
}

static void put_server(printer *p, const fl_config_server *server)
{
    static const char *const kinds[] = {
        [FL_CONFIG_AUTO] = "HTTP or HTTP+SSE",
        [FL_CONFIG_CHILD] = "a child",
        [FL_CONFIG_HTTP] = "HTTP",
        [FL_CONFIG_SSE] = "HTTP+SSE",
        [FL_CONFIG_WS] = "WebSocket",
        [FL_CONFIG_TCP] = "TCP",
        [FL_CONFIG_UNIX] = "a Unix socket",
    };
    static const char *const children[] = {"", "shared", "session", "request"};
    static const char *const eras[] = {"", "legacy", "modern"};

    put_clean(p, fl_span_of(server->name));
    put_text(p, ": ");
    put_text(p, kinds[server->kind]);
    put_text(p, server->disabled ? ", disabled\n" : "\n");
    put_list(p, "command", &server->argv);
    put_field(p, "url", server->url.shown);
    put_replicas(p, server);
    put_pairs(p, "header", &server->headers, FL_SPAN(": "));
    put_pairs(p, "env", &server->env, FL_SPAN("="));
    put_login(p, &server->login);
    put_field(p, "cwd", server->cwd.shown);
    put_field(p, "child", children[server->child]);
    put_field(p, "era", eras[server->era]);
    put_field(p, "prefix", server->prefix);
    put_list(p, "allow", &server->include);
    put_list(p, "deny", &server->exclude);
    put_text(p, server->http2 ? "  http2\n" : "");
    put_text(p, server->allow_http ? "  allowHttp\n" : "");
    if (server->timeout_ms > 0)
        put_number(p, "timeout", server->timeout_ms);
    if (server->weight != 1)
        put_number(p, "weight", server->weight);
    put_outages(p, &server->outages);
}

fl_status fl_config_show_servers(const fl_config *config, fl_buf *out)
{
    printer p = {.out = out};
    size_t count;
    const fl_config_server *servers = fl_config_servers(config, &count);

    for (size_t i = 0; i < count; i++)
        put_server(&p, &servers[i]);
    return p.status;
}

static void put_problem(printer *p, const char *file,
                        const fl_config_problem *problem)
{
    put_clean(p, fl_span_of(file));
    if (p->status == FL_OK)
        p->status = fl_buf_printf(p->out, ":%zu:%zu: %s: ", problem->line,
                                  problem->column,
                                  problem->is_error ? "error" : "warning");
    put_clean(p, fl_span_of(problem->path));
    put_text(p, *problem->path != '\0' ? ": " : "");
    put_text(p, problem->text);
    put_text(p, "\n");
}

fl_status fl_config_show_problems(const fl_config *config, fl_buf *out)
{
    printer p = {.out = out};
    size_t count;
    const fl_config_problem *problems = fl_config_problems(config, &count);

    for (size_t i = 0; i < count; i++)
        put_problem(&p, fl_config_file(config), &problems[i]);
    return p.status;
}
