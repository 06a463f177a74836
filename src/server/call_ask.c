/*
 * call_ask.c - asking the client back: what handlers say and see of it.
 *
 * A handler is written once, and run from its beginning whenever the client
 * has answered. In the modern era each run is a request of its own: it is
 * answered with what is wanted (input_required), nothing of it stays behind,
 * and the client brings along, sealed, what was known (MCP 2026-07-28, "Multi
 * Round-Trip Requests"). In the legacy eras the call stays and asks by requests
 * of ours: ask_questions.c. A call that has become a task asks whoever asks for
 * the task.
 *
 * Nothing that goes wrong while a handler says what it wants ends the call
 * under its hands: the handler would go on with a call that is gone. It is
 * noted, and told when it asks.
 */
#include "server/asking.h"

#include "base/mem.h"
#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "server/server.h"
#include "json/nav.h"
#include "json/write.h"

static void say_internal(fl_call *call, fl_span text)
{
    fl_call_end_error(call, FL_RPC_INTERNAL_ERROR, text, (fl_span){0});
}

bool fl_asking_is_open(const fl_call *call)
{
    const fl_asking *asking = call->asking;

    return asking != NULL && !asking->waiting && !asking->at_hand &&
           (asking->count > 0 || asking->fault != NULL || asking->missing != 0);
}

bool fl_asking_is_waiting(const fl_call *call)
{
    return call->asking != NULL && call->asking->waiting;
}

bool fl_asking_is_answered(fl_call *call)
{
    bool answered = call->asking != NULL && call->asking->at_hand;

    if (answered) {
        call->asking->at_hand = false;
        fl_asking_drop(call->asking);
    }
    return answered;
}

fl_input fl_call_input(const fl_call *call, const char *key, fl_span *content)
{
    const fl_known *known = call->asking != NULL
                                ? fl_asking_known(call->asking, fl_span_of(key))
                                : NULL;

    *content = known != NULL ? known->content : (fl_span){"", 0};
    return known != NULL ? known->input : FL_INPUT_NONE;
}

fl_span fl_call_state(const fl_call *call)
{
    fl_span none = {"", 0};

    if (call->asking == NULL || fl_buf_len(&call->asking->state) == 0)
        return none;
    return fl_buf_view(&call->asking->state);
}

/* `state` may be a part of the one there is. */
void fl_call_set_state(fl_call *call, fl_span state)
{
    fl_asking *asking = fl_asking_of(call);
    fl_buf made;

    if (asking == NULL) {
        fl_call_blame(call, FL_SPAN("out of memory"));
        return;
    }
    fl_buf_init(&made, FL_ASKING_STATE);
    fl_status rc = fl_buf_append(&made, state);
    if (rc != FL_OK && asking->fault == NULL) {
        asking->code = FL_RPC_INTERNAL_ERROR;
        asking->fault = rc == FL_E_TOO_BIG
                            ? "the handler's state is larger than 128 KiB"
                            : "out of memory";
    }
    fl_buf_reset(&asking->state);
    asking->state = made;
}

static void say_missing(fl_call *call)
{
    fl_buf data;

    fl_buf_init(&data, 512);
    fl_status rc = fl_asking_write_missing(call, &data);
    fl_call_end_error(
        call, FL_RPC_MISSING_CAPABILITY,
        FL_SPAN("this needs a capability the client has not declared"),
        rc == FL_OK ? fl_buf_view(&data) : (fl_span){0});
    fl_buf_reset(&data);
}

/* Whether there is somebody to ask, and something that can be asked. If not,
 * the call has ended. */
static bool may_ask(fl_call *call)
{
    const fl_asking *asking = call->asking;
    const fl_session *session = call->to.session;

    if (call->cancelled || (call->job == NULL && session->link == NULL))
        say_internal(call, FL_SPAN("nobody is there to be asked"));
    else if (call->fault.len > 0)
        fl_call_end_fault(call);
    else if (asking == NULL)
        say_internal(call, FL_SPAN("there was nothing to ask, or no memory"));
    else if (asking->fault != NULL)
        fl_call_end_error(call, asking->code, fl_span_of(asking->fault),
                          (fl_span){0});
    else if (asking->missing != 0)
        say_missing(call);
    else if (asking->count == 0)
        say_internal(call, FL_SPAN("the handler asks, but for nothing"));
    else if (asking->rounds >= FL_ASKING_ROUNDS)
        fl_call_fail(call, "the client was asked %d times, which is the most",
                     FL_ASKING_ROUNDS);
    else
        return true;
    return false;
}

/* A key that is asked for anew is not known any more. What was known stays
 * until now, for the handler may hold on to it while it says what it wants. */
static void begin_round(fl_call *call)
{
    fl_asking *asking = call->asking;

    asking->rounds++;
    for (fl_list *node = asking->knowns.next; node != &asking->knowns;) {
        fl_known *known = FL_LIST_ENTRY(node, fl_known, node);
        node = node->next;
        if (fl_asking_find(asking, known->key) == NULL)
            continue;
        fl_list_remove(&known->node);
        fl_mem_free(known);
    }
    fl_content_free(call->content); /* the next run begins anew */
    call->content = NULL;
    call->on_cancel = NULL;
}

static void write_wants(fl_json_writer *writer, const fl_asking *asking)
{
    fl_json_object(writer);
    for (fl_list *node = asking->wants.next; node != &asking->wants;
         node = node->next) {
        const fl_want *want = FL_LIST_ENTRY(node, fl_want, node);
        if (want->answered)
            continue;
        fl_json_key(writer, want->key.ptr); /* NUL-terminated */
        fl_json_object(writer);
        fl_json_key(writer, "method");
        fl_json_string(writer, fl_want_method(want->kind));
        fl_json_key(writer, "params");
        fl_json_raw(writer, want->params);
        fl_json_object_end(writer);
    }
    fl_json_object_end(writer);
}

fl_status fl_asking_write(const fl_call *call, fl_buf *out)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    write_wants(&writer, call->asking);
    return fl_json_writer_end(&writer);
}

/* FL_AGAIN: some are not answered yet. FL_E_NOMEM. */
static fl_status take(fl_asking *asking, fl_span responses)
{
    fl_status rc = FL_OK;

    for (fl_list *node = asking->wants.next; node != &asking->wants && rc >= 0;
         node = node->next) {
        fl_want *want = FL_LIST_ENTRY(node, fl_want, node);
        fl_span content, result = fl_json_get(responses, want->key);
        if (want->answered)
            continue;
        fl_input input = fl_asking_judge(want, result, &content);
        if (input == FL_INPUT_NONE) {
            rc = asking->fault == NULL ? FL_AGAIN : FL_E_NOMEM;
        } else if (fl_asking_learn(asking, want->key, input, content) ==
                   FL_OK) {
            want->answered = true;
            fl_list_remove(&want->listed);
        } else {
            rc = FL_E_NOMEM;
        }
    }
    return rc;
}

bool fl_asking_take(fl_call *call, fl_span responses)
{
    if (take(call->asking, responses) != FL_OK)
        return false;
    call->asking->waiting = false;
    fl_asking_drop(call->asking);
    return true;
}

static fl_status write_result(fl_call *call, fl_span state, fl_buf *out)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "resultType");
    fl_json_string(&writer, "input_required");
    fl_json_key(&writer, "inputRequests");
    write_wants(&writer, call->asking);
    fl_json_key(&writer, "requestState");
    fl_json_text(&writer, state);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

static void say_input_required(fl_call *call)
{
    fl_buf *out = fl_loop_scratch(fl_call_loop(call));
    fl_buf state;

    fl_buf_init(&state, FL_ASKING_SEALED);
    fl_status rc = fl_asking_seal(call, &state);
    if (rc == FL_E_TOO_BIG)
        say_internal(call, FL_SPAN("what is known, and has to be carried to "
                                   "the next round, is larger than 256 KiB"));
    else if (rc != FL_OK ||
             write_result(call, fl_buf_view(&state), out) != FL_OK)
        say_internal(call, FL_SPAN("out of memory"));
    else
        fl_call_end_result(call, fl_buf_view(out));
    fl_buf_reset(&state);
}

/*
 * A client that answers what it has not been asked: it sends inputResponses
 * and no state, as it may have learned from a server that needs none. They
 * belong to the first round of this call, if to any, and are heard when the
 * handler asks: by then it is known what they have to be. A handler that asks
 * later than it returns asks for real.
 */
static bool is_at_hand(fl_call *call)
{
    const fl_params *params = &call->msg->inner;

    return params->input_responses.len > 0 && params->request_state.len == 0 &&
           call->asking->rounds == 1 && !call->deferred &&
           fl_asking_take(call, params->input_responses);
}

/* Whoever asks for the task is asked in turn. */
static void wait_as_task(fl_call *used_up)
{
    fl_call *call = fl_call_defer(used_up);

    if (call == NULL)
        return;
    call->asking->waiting = true;
    call->asking->call = call;
    fl_job_asks(call);
}

void fl_call_ask(fl_call *call)
{
    if (call->ended || !may_ask(call))
        return;
    begin_round(call);
    if (call->job != NULL) {
        wait_as_task(call);
    } else if (call->to.revision->legacy) {
        fl_asking_question(call);
    } else if (is_at_hand(call)) {
        call->asking->at_hand = true;
    } else {
        say_input_required(call);
    }
}

static bool refuse(fl_call *call, const char *text, const char *data)
{
    fl_call_end_error(call, FL_RPC_INVALID_PARAMS, fl_span_of(text),
                      fl_span_of(data));
    return false;
}

static bool open_state(fl_call *call, fl_span token)
{
    fl_span text = fl_call_meaning(call, token);
    fl_status rc = text.ptr != NULL ? fl_asking_unseal(call, text) : FL_E_NOMEM;

    if (rc == FL_OK)
        return true;
    if (rc == FL_E_NOMEM) {
        say_internal(call, FL_SPAN("out of memory"));
        return false;
    }
    return rc == FL_E_TIMEOUT
               ? refuse(call,
                        "requestState has expired: send the request again, "
                        "without it",
                        "{\"reason\":\"expired\"}")
               : refuse(call,
                        "requestState is not one this server gave for this "
                        "request: send it again, without it",
                        "{\"reason\":\"mismatch\"}");
}

bool fl_asking_begin(fl_call *call)
{
    const fl_params *params = &call->msg->inner;
    fl_span state = params->request_state;
    fl_span responses = params->input_responses;

    if ((state.len == 0 && responses.len == 0) || call->to.revision->legacy ||
        call->kind == FL_CALL_COMPLETION)
        return true;
    if (responses.len > 0 && fl_json_type_of(responses) != FL_JSON_OBJECT)
        return refuse(call, "params.inputResponses must be an object", NULL);
    if (state.len == 0)
        return true; /* see is_at_hand() */
    if (fl_json_type_of(state) != FL_JSON_STRING)
        return refuse(call, "params.requestState must be a string", NULL);
    if (!open_state(call, state))
        return false;
    fl_status rc = take(call->asking, responses);
    fl_asking_drop(call->asking); /* what is missing will be asked for again */
    if (rc < 0)
        say_internal(call, FL_SPAN("out of memory"));
    return rc >= 0;
}
