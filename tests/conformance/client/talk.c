/*
 * talk.c - one conversation with a server, one thing after the other.
 */
#include "talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS_MAX_MS = 20000 };

static void on_closed(fl_client *client, const fl_error *why, void *user)
{
    struct talk *talk = user;

    (void)client;
    if (why->status != FL_OK)
        fprintf(stderr, "closed: %s\n", why->text);
    talk->client = NULL;
    fl_loop_stop(talk->loop);
}

static const fl_client_events events = {.on_closed = on_closed};

fl_status talk_begin(struct talk *talk)
{
    bool modern = strcmp(talk->revision, "2026-07-28") >= 0;
    fl_client_options options = {
        .name = "fairlead-conformance-client",
        .version = "1.0.0",
        .revision = talk->revision,
        .era = modern ? FL_ERA_MODERN : FL_ERA_LEGACY,
        .request_timeout_ms = SECONDS_MAX_MS,
        .handlers = talk->handlers,
        .connection.no_reconnect = true,
        .connection.http.auth = talk->auth,
    };
    fl_error error = {.status = FL_E_NOMEM};

    talk->loop = fl_loop_new();
    if (talk->loop == NULL)
        return FL_E_NOMEM;
    fl_status rc = fl_client_open(talk->loop, talk->url, &options, &events,
                                  talk, &talk->client, &error);
    if (rc == FL_OK)
        rc = fl_client_set_roots(
            talk->client, &(fl_root){.uri = TEXT("file:///conformance")}, 1);
    else
        fprintf(stderr, "%s\n", error.text);
    return rc;
}

void talk_end(struct talk *talk)
{
    if (talk->client != NULL)
        fl_client_close(talk->client);
    if (talk->loop != NULL)
        fl_loop_run(talk->loop);
    fl_loop_free(talk->loop);
    fl_auth_free(talk->auth);
    free(talk->text);
}

static void on_answer(fl_client *client, const fl_answer *answer, void *user)
{
    struct talk *talk = user;

    (void)client;
    talk->waiting = false;
    talk->status = answer->status;
    if (answer->status == FL_OK)
        talk->text = strndup(answer->result.ptr, answer->result.len);
    else
        fprintf(stderr, "%s: %.*s\n", fl_status_name(answer->status),
                SHOW(answer->text));
    fl_loop_stop(talk->loop);
}

/* Runs until the answer to what was asked with this outcome. */
static fl_span await(struct talk *talk, fl_status asked)
{
    free(talk->text);
    talk->text = NULL;
    talk->status = asked;
    talk->waiting = asked == FL_OK;
    if (asked != FL_OK)
        fprintf(stderr, "not asked: %s\n", fl_status_text(asked));
    while (talk->waiting)
        fl_loop_run(talk->loop);
    return talk->text != NULL ? (fl_span){talk->text, strlen(talk->text)}
                              : (fl_span){"", 0};
}

fl_span talk_ask(struct talk *talk, const char *method, fl_span params)
{
    if (talk->client == NULL)
        return await(talk, FL_E_CLOSED);
    return await(talk, fl_client_request(talk->client, method, params, NULL,
                                         on_answer, talk, NULL));
}

fl_span talk_list(struct talk *talk, fl_list_kind kind)
{
    if (talk->client == NULL)
        return await(talk, FL_E_CLOSED);
    return await(
        talk, fl_client_list(talk->client, kind, NULL, on_answer, talk, NULL));
}

fl_span talk_call(struct talk *talk, fl_span tool, fl_span arguments)
{
    if (talk->client == NULL)
        return await(talk, FL_E_CLOSED);
    return await(talk, fl_client_call_tool(talk->client, tool, arguments, NULL,
                                           on_answer, talk, NULL));
}

fl_span talk_read(struct talk *talk, fl_span uri)
{
    if (talk->client == NULL)
        return await(talk, FL_E_CLOSED);
    return await(
        talk, fl_client_read(talk->client, uri, NULL, on_answer, talk, NULL));
}

fl_span talk_prompt(struct talk *talk, fl_span name)
{
    if (talk->client == NULL)
        return await(talk, FL_E_CLOSED);
    return await(talk, fl_client_get_prompt(talk->client, name, (fl_span){0},
                                            NULL, on_answer, talk, NULL));
}

char *text_of(fl_span object, const char *key)
{
    fl_span value = fl_raw_get(object, key);
    size_t size = fl_raw_text(value, NULL, 0) + 1;
    char *text = value.len > 0 && value.ptr[0] == '"' ? malloc(size) : NULL;

    if (text != NULL)
        fl_raw_text(value, text, size);
    return text;
}
