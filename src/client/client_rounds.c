/*
 * client_rounds.c - what a modern server asks, before it answers.
 *
 * It has no requests of its own. It answers ours with questions instead, and
 * with a state that means nothing to us; and we send the same request again,
 * as a new one, with the answers and that state as it came (MCP 2026-07-28,
 * "Multi Round-Trip Requests"). With a state and no questions it only wants to
 * be asked again, in a while: as often as there is time. Questions it may have
 * some times, but not for ever.
 *
 * The questions of a task (client_tasks.c) are gathered here, too; their
 * answers go another way.
 */
#include "client/client_steps.h"

#include "base/mem.h"
#include "base/span.h"
#include "client/client.h"
#include "json/nav.h"

#include <stdio.h>

enum {
    ROUNDS = 10,
    PAUSE_FIRST_MS = 250,
    PAUSE_MAX_MS = 5000,
    TEXT_MAX = 64 * 1024 * 1024,
    SHOWN = 80,
};

struct fl_round {
    fl_buf members; /* of inputResponses */
    fl_buf state;   /* the raw token; empty: there was none */
    bool asks;      /* there were questions, if only such as we knew */
    bool ready;     /* all of them have been put into the list */
};

void fl_round_free(fl_round *round)
{
    if (round == NULL)
        return;
    fl_buf_reset(&round->members);
    fl_buf_reset(&round->state);
    fl_mem_free(round);
}

fl_span fl_round_members(const fl_round *round)
{
    return fl_buf_view(&round->members);
}

fl_status fl_round_add(fl_round *round, fl_span key, fl_span result)
{
    bool first = fl_buf_len(&round->members) == 0;
    fl_span parts[] = {first ? FL_SPAN("") : FL_SPAN(","), key, FL_SPAN(":"),
                       result};

    return fl_buf_append_all(&round->members, parts, 4);
}

static fl_round *new_round(void)
{
    fl_round *round = fl_mem_zalloc(sizeof *round);

    if (round == NULL)
        return NULL;
    fl_buf_init(&round->members, TEXT_MAX);
    fl_buf_init(&round->state, TEXT_MAX);
    return round;
}

/* The first one of this request's that has not been shown, or any. */
static fl_ask *find(const fl_client *client, const fl_request *request,
                    bool any)
{
    const fl_asked *asked = &client->asked;

    for (fl_list *node = asked->list.next; node != &asked->list;
         node = node->next) {
        fl_ask *ask = FL_LIST_ENTRY(node, fl_ask, node);
        if (ask->request == request && (any || !ask->shown))
            return ask;
    }
    return NULL;
}

static void withdraw(fl_client *client, const fl_request *request)
{
    fl_ask *ask;

    while ((ask = find(client, request, true)) != NULL)
        fl_ask_withdraw(ask);
}

void fl_client_round_drop(fl_client *client, fl_request *request)
{
    withdraw(client, request);
    fl_round_free(request->round);
    request->round = NULL;
}

static fl_status write_extra(fl_request *request)
{
    const fl_round *round = request->round;
    fl_span state = fl_buf_view(&round->state);
    fl_span parts[] = {
        round->asks ? FL_SPAN("\"inputResponses\":{") : FL_SPAN(""),
        round->asks ? fl_round_members(round) : FL_SPAN(""),
        round->asks ? FL_SPAN("}") : FL_SPAN(""),
        round->asks && state.len > 0 ? FL_SPAN(",") : FL_SPAN(""),
        state.len > 0 ? FL_SPAN("\"requestState\":") : FL_SPAN(""),
        state,
    };

    fl_buf_clear(&request->extra);
    return fl_buf_append_all(&request->extra, parts,
                             sizeof parts / sizeof *parts);
}

static void repeat(fl_client *client, fl_request *request)
{
    fl_status rc = write_extra(request);

    fl_round_free(request->round);
    request->round = NULL;
    if (rc != FL_OK)
        fl_request_fail_later(request, rc);
    else
        fl_client_let_go(client, request);
}

void fl_client_round_answered(fl_client *client, fl_request *request)
{
    if (request->ending != FL_OK || !request->round->ready ||
        find(client, request, true) != NULL)
        return;
    if (request->follow != NULL)
        fl_client_task_gathered(client, request);
    else
        repeat(client, request);
}

void fl_client_round_refused(fl_client *client, fl_request *request,
                             const char *text)
{
    fl_request_explain_later(request, FL_E_CANCELLED, fl_span_of(text));
    withdraw(client, request);
}

/* One question, checked; a key stays the raw token that it is. */
static fl_status add_question(fl_client *client, fl_request *request,
                              const fl_json_member *input, fl_buf *text)
{
    fl_span method = fl_json_get(input->value, FL_SPAN("method"));
    fl_question question = {
        .name = {input->key.ptr - 1, input->key.len + 2}, /* its quotes */
        .params = fl_json_get(input->value, FL_SPAN("params")),
    };
    int code;

    if (fl_json_type_of(method) == FL_JSON_STRING)
        question.method = (fl_span){method.ptr + 1, method.len - 2};
    question.kind =
        fl_client_asked_kind(client, question.method, question.params, &code);
    if (question.kind == FL_ASK_UNKNOWN)
        return fl_buf_printf(text,
                             "the server wants input that this client has not "
                             "declared: %.*s",
                             (int)(method.len < SHOWN ? method.len : SHOWN),
                             method.len > 0 ? method.ptr : "") == FL_OK
                   ? FL_E_UNSUPPORTED
                   : FL_E_NOMEM;
    if (question.kind == FL_ASK_ROOTS && fl_client_has_roots(client))
        return fl_round_add(request->round, question.name,
                            fl_buf_view(&client->offer.roots));
    if (client->asked.count >= client->asked.max)
        return fl_buf_printf(text,
                             "the server asks for more input at one time than "
                             "this client takes: %zu",
                             client->asked.max) == FL_OK
                   ? FL_E_LIMIT
                   : FL_E_NOMEM;
    return fl_ask_new(client, request, &question);
}

/* Handlers may do anything but free the request: that comes later. */
static void show_all(fl_client *client, fl_request *request)
{
    fl_ask *ask;

    request->round->ready = true;
    while (request->ending == FL_OK && request->round != NULL &&
           (ask = find(client, request, false)) != NULL)
        fl_ask_show(ask);
}

/* Whether `key` is among the tokens in `list`, one to a line. */
static bool is_in(fl_span list, fl_span key)
{
    while (list.len > 0) {
        size_t end = fl_span_find(list, '\n');
        if (fl_span_equal((fl_span){list.ptr, end},
                          (fl_span){key.ptr - 1, key.len + 2}))
            return true;
        list = fl_span_from(list, end < list.len ? end + 1 : end);
    }
    return false;
}

fl_status fl_client_gather(fl_client *client, fl_request *request,
                           fl_span inputs, fl_span skip, fl_buf *text)
{
    fl_json_walk walk;
    fl_json_member input;
    fl_status rc = FL_OK;

    if (request->round == NULL)
        request->round = new_round();
    if (request->round == NULL)
        return FL_E_NOMEM;
    request->round->asks = inputs.len > 0;
    request->held = true;
    fl_json_walk_init(&walk, inputs);
    while (rc == FL_OK && fl_json_walk_next(&walk, &input))
        if (!is_in(skip, input.key))
            rc = add_question(client, request, &input, text);
    if (rc != FL_OK) {
        withdraw(client, request);
        return rc;
    }
    fl_request_await(request, FL_WAIT_INPUT, 0);
    show_all(client, request);
    if (request->ending == FL_OK && request->round != NULL)
        fl_client_round_answered(client, request);
    return FL_OK;
}

static bool may_want_input(fl_span method)
{
    return fl_span_equal(method, FL_SPAN("tools/call")) ||
           fl_span_equal(method, FL_SPAN("prompts/get")) ||
           fl_span_equal(method, FL_SPAN("resources/read"));
}

static void pause(fl_request *request)
{
    uint64_t ms = request->pause_ms > 0 ? 2 * request->pause_ms
                                        : (uint64_t)PAUSE_FIRST_MS;

    request->pause_ms = ms < PAUSE_MAX_MS ? ms : PAUSE_MAX_MS;
    request->held = true;
    fl_request_await(request, FL_WAIT_PAUSE, request->pause_ms);
}

/* It has what it takes: a state, questions, or both. */
static fl_status begin(fl_client *client, fl_request *request, fl_span result,
                       fl_buf *text)
{
    fl_span inputs = fl_json_get(result, FL_SPAN("inputRequests"));
    fl_span state = fl_json_get(result, FL_SPAN("requestState"));
    fl_status rc = fl_request_renew(request);

    if (rc != FL_OK)
        return rc;
    request->resumes = true;
    request->round = new_round();
    if (request->round == NULL)
        return FL_E_NOMEM;
    rc = fl_buf_append(&request->round->state, state);
    if (rc != FL_OK)
        return rc;
    if (inputs.len > 0) {
        request->pause_ms = 0;
        return fl_client_gather(client, request, inputs, (fl_span){0}, text);
    }
    rc = write_extra(request);
    fl_round_free(request->round);
    request->round = NULL;
    if (rc == FL_OK)
        pause(request);
    return rc;
}

bool fl_client_step_round(fl_client *client, fl_request *request,
                          fl_answer *answer, fl_buf *text)
{
    fl_span inputs = fl_json_get(answer->result, FL_SPAN("inputRequests"));
    fl_span state = fl_json_get(answer->result, FL_SPAN("requestState"));
    fl_json_type type = fl_json_type_of(inputs);

    if (!may_want_input(fl_request_method(request)) ||
        (inputs.len > 0 && type != FL_JSON_OBJECT) ||
        (state.len > 0 && fl_json_type_of(state) != FL_JSON_STRING) ||
        inputs.len + state.len == 0) {
        *answer = fl_client_blunder(
            FL_E_BAD_MESSAGE, text,
            "the server wants more input (input_required) where it may not, "
            "or does not say which");
        return false;
    }
    if (inputs.len > 0 && ++request->rounds > ROUNDS) {
        *answer = fl_client_blunder(FL_E_LIMIT, text,
                                    "the server wanted more input %d times "
                                    "and is still not content",
                                    ROUNDS);
        return false;
    }
    fl_status rc = begin(client, request, answer->result, text);
    if (rc == FL_OK)
        return true;
    fl_span why = fl_buf_view(text);
    *answer = (fl_answer){.status = rc, .text = why};
    if (why.len == 0)
        answer->text = fl_span_of(fl_status_text(rc));
    return false;
}
