/*
 * auth-client.c - a client that is asked who it is.
 *
 *     auth-client [OPTION=VALUE...] URL
 *
 * Connects, lists the tools, calls each tool named by tool=, and says what
 * came of it: "ready REVISION", "tools N", "called NAME", "failed STATUS TEXT".
 * The options are those of fl_auth_options, by their names. The user is played
 * by user=: "fetch" asks for the authorization page itself and reads where it
 * would be sent; "open" prints "open URL" and waits for somebody to come to
 * the door; "token" has tokens of its own, from tokens=A,B.
 *
 * The conformance suite's variables are understood: MCP_CONFORMANCE_CONTEXT
 * has options in JSON, MCP_CONFORMANCE_PROTOCOL_VERSION says which era.
 */
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/span.h"
#include "io/loop.h"
#include "transport/http_fetch.h"
#include "json/nav.h"

#include <fairlead/fairlead.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOOLS_MAX = 16 };

typedef struct session {
    fl_loop *loop;
    fl_client *client;
    fl_auth *auth;
    fl_auth_options options;
    const char *url;
    const char *user; /* how the user is played */
    const char *tokens;
    const char *era;
    const char *timeout; /* of requests, in ms */
    const char *log;
    const char *tools[TOOLS_MAX];
    size_t tool_count, called;
    fl_fetch *fetch;
    int code; /* to exit with */
} session;

static void say(const char *what, fl_span more)
{
    printf("%s%s%.*s\n", what, more.len > 0 ? " " : "", (int)more.len,
           more.len > 0 ? more.ptr : "");
    fflush(stdout);
}

static void finish(session *s, int code)
{
    s->code = code;
    fl_client_close(s->client);
}

static void failed(session *s, fl_status status, fl_span text)
{
    say(fl_status_name(status), text);
    finish(s, 1);
}

static void next(session *s);

static void on_called(fl_client *client, const fl_answer *answer, void *user)
{
    session *s = user;

    (void)client;
    if (answer->status == FL_E_CLOSED)
        return;
    if (answer->status != FL_OK) {
        failed(s, answer->status, answer->text);
        return;
    }
    say("called", fl_span_of(s->tools[s->called++]));
    next(s);
}

static void next(session *s)
{
    if (s->called == s->tool_count) {
        finish(s, 0);
        return;
    }
    fl_status rc =
        fl_client_call_tool(s->client, fl_span_of(s->tools[s->called]),
                            (fl_span){0}, NULL, on_called, s, NULL);
    if (rc != FL_OK)
        failed(s, rc, (fl_span){0});
}

static void on_listed(fl_client *client, const fl_answer *answer, void *user)
{
    session *s = user;

    (void)client;
    if (answer->status == FL_E_CLOSED)
        return;
    if (answer->status != FL_OK) {
        failed(s, answer->status, answer->text);
        return;
    }
    say("tools", (fl_span){0});
    next(s);
}

static void on_ready(fl_client *client, void *user)
{
    session *s = user;

    say("ready", fl_span_of(fl_client_revision(client)));
    fl_status rc = fl_client_request(client, "tools/list", (fl_span){0}, NULL,
                                     on_listed, s, NULL);
    if (rc != FL_OK)
        failed(s, rc, (fl_span){0});
}

static void on_closed(fl_client *client, const fl_error *why, void *user)
{
    session *s = user;

    (void)client;
    s->client = NULL;
    if (why->status != FL_OK) {
        say(fl_status_name(why->status), fl_span_of(why->text));
        s->code = 1;
    }
    if (s->fetch != NULL)
        fl_fetch_cancel(s->fetch);
    s->fetch = NULL;
}

static void on_page(void *user, const fl_fetch_answer *answer)
{
    session *s = user;
    char *to = fl_mem_string(answer->value[0]);

    s->fetch = NULL;
    if (answer->why != NULL || answer->status / 100 != 3 || to == NULL)
        fl_auth_deny(s->auth, "the authorization page sent us nowhere");
    else
        fl_auth_redirected(s->auth, to);
    fl_mem_free(to);
}

static void fetch_page(fl_auth *auth, const char *url, void *user)
{
    session *s = user;
    fl_error error;

    if (fl_fetch_start(s->loop,
                       &(fl_fetch_request){.method = FL_SPAN("GET"),
                                           .url = fl_span_of(url),
                                           .want = {"location"},
                                           .plain = FL_FETCH_LOOPBACK},
                       on_page, s, &s->fetch, &error) != FL_OK)
        fl_auth_deny(auth, error.text);
}

static void open_page(fl_auth *auth, const char *url, void *user)
{
    (void)auth;
    (void)user;
    say("open", fl_span_of(url));
}

static void give_token(fl_auth *auth, bool refused, void *user)
{
    session *s = user;
    size_t len = strcspn(s->tokens, ",");
    char *token = fl_mem_string((fl_span){s->tokens, len});

    say(refused ? "token-refused" : "token-wanted", (fl_span){0});
    if (len == 0 || token == NULL) {
        fl_auth_deny(auth, "there are no tokens left");
    } else {
        fl_auth_set_token(auth, token);
        s->tokens += len + (s->tokens[len] == ',');
    }
    fl_mem_free(token);
}

static fl_auth_grant grant_of(const char *name)
{
    return strcmp(name, "client_credentials") == 0 ? FL_AUTH_CLIENT_CREDENTIALS
           : strcmp(name, "jwt_bearer") == 0       ? FL_AUTH_JWT_BEARER
           : strcmp(name, "enterprise") == 0       ? FL_AUTH_ENTERPRISE
                                                   : FL_AUTH_CODE;
}

static const char **text_option(session *s, const char *name)
{
    fl_auth_options *o = &s->options;
    const struct {
        const char *name;
        const char **slot;
    } table[] = {
        {"client_name", &o->client_name},
        {"client_id", &o->client_id},
        {"client_secret", &o->client_secret},
        {"issuer", &o->issuer},
        {"private_key_pem", &o->private_key_pem},
        {"signing_algorithm", &o->algorithm},
        {"client_metadata_url", &o->client_metadata_url},
        {"redirect_uri", &o->redirect_uri},
        {"scope", &o->scope},
        {"assertion", &o->assertion},
        {"valid_jwt", &o->assertion},
        {"idp_token_endpoint", &o->idp.token_endpoint},
        {"idp_client_id", &o->idp.client_id},
        {"idp_id_token", &o->idp.id_token},
        {"store_file", &o->store_file},
        {"user", &s->user},
        {"tokens", &s->tokens},
        {"era", &s->era},
        {"timeout", &s->timeout},
        {"log", &s->log},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(name, table[i].name) == 0)
            return table[i].slot;
    return NULL;
}

/* False: there is no such option. The strings live as long as we do. */
static bool set_option(session *s, const char *name, const char *value)
{
    const char **slot = text_option(s, name);

    if (slot != NULL)
        *slot = value;
    else if (strcmp(name, "grant") == 0)
        s->options.grant = grant_of(value);
    else if (strcmp(name, "dpop") == 0)
        s->options.dpop = strcmp(value, "on") == 0    ? FL_AUTH_DPOP_ON
                          : strcmp(value, "off") == 0 ? FL_AUTH_DPOP_OFF
                                                      : FL_AUTH_DPOP_AUTO;
    else if (strcmp(name, "tool") == 0 && s->tool_count < TOOLS_MAX)
        s->tools[s->tool_count++] = value;
    else
        return false;
    return true;
}

static void read_context(session *s, const char *text)
{
    fl_json_top top;
    fl_json_walk walk;
    fl_json_member member;

    if (text == NULL || fl_json_scan(fl_span_of(text), 0, &top, NULL) != FL_OK)
        return;
    fl_json_walk_init(&walk, top.value);
    while (fl_json_walk_next(&walk, &member)) {
        fl_buf value;
        char *name = fl_mem_string(member.key);
        fl_buf_init(&value, 65536);
        if (name != NULL && fl_json_string_copy(member.value, &value) == FL_OK)
            set_option(s, name, fl_mem_string(fl_buf_view(&value)));
        fl_buf_reset(&value);
        fl_mem_free(name);
    }
}

static fl_era era_of(const char *revision)
{
    if (revision == NULL)
        return FL_ERA_AUTO;
    return strcmp(revision, "2026-07-28") >= 0 ? FL_ERA_MODERN : FL_ERA_LEGACY;
}

static void choose_hooks(session *s)
{
    fl_auth_hooks *hooks = &s->options.hooks;

    hooks->user = s;
    if (s->user == NULL || strcmp(s->user, "fetch") == 0) {
        hooks->authorize = fetch_page;
        if (s->options.redirect_uri == NULL)
            s->options.redirect_uri = "http://localhost:3000/callback";
    } else if (strcmp(s->user, "token") == 0) {
        hooks->token = give_token;
    } else {
        hooks->open_url = open_page;
    }
}

static int run(session *s)
{
    static const fl_client_events events = {.on_ready = on_ready,
                                            .on_closed = on_closed};
    fl_error error;
    fl_status rc = fl_auth_new(&s->options, &s->auth, &error);

    if (rc == FL_OK)
        rc = fl_client_open(
            s->loop, s->url,
            &(fl_client_options){
                .name = "auth-client",
                .revision = s->era,
                .era = era_of(s->era),
                .request_timeout_ms =
                    s->timeout != NULL ? strtoul(s->timeout, NULL, 10) : 0,
                .connection = {.http.auth = s->auth, .no_reconnect = true},
            },
            &events, s, &s->client, &error);
    if (rc == FL_OK)
        fl_loop_run(s->loop);
    else {
        say(fl_status_name(rc), fl_span_of(error.text));
        s->code = 2;
    }
    fl_auth_free(s->auth);
    return s->code;
}

int main(int argc, char **argv)
{
    session s = {.tokens = ""};

    s.era = getenv("MCP_CONFORMANCE_PROTOCOL_VERSION");
    for (int i = 1; i < argc - 1; i++) {
        char *value = strchr(argv[i], '=');
        if (value != NULL)
            *value++ = '\0';
        if (value == NULL || !set_option(&s, argv[i], value)) {
            fprintf(stderr, "auth-client: no option %s\n", argv[i]);
            return 2;
        }
    }
    if (argc < 2)
        return 2;
    s.url = argv[argc - 1];
    read_context(&s, getenv("MCP_CONFORMANCE_CONTEXT"));
    choose_hooks(&s);
    fl_log *log = fl_log_new(
        &(fl_log_options){.level = s.log != NULL ? FL_LOG_DEBUG : FL_LOG_OFF});
    s.loop = fl_loop_new_with(&(fl_loop_options){.log = log});
    int code = s.loop != NULL ? run(&s) : 2;
    if (s.loop != NULL)
        fl_loop_free(s.loop);
    fl_log_free(log);
    return code;
}
