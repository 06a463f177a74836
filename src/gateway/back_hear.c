/*
 * back_hear.c - what comes back from a server, and whom it is for.
 *
 * An answer has our number. Progress has it too, as its token; what a modern
 * server tells of changes has it as the subscription's id. All else says
 * nothing of whom it is for: changes of lists are for all, those of resources
 * for who subscribed, a log for the only one it can be for (whose.h).
 */
#include "adapt/adapt.h"
#include "base/span.h"
#include "gateway/affinity.h"
#include "gateway/cells.h"
#include "gateway/drive.h"
#include "gateway/gateway.h"
#include "gateway/inquiry.h"
#include "gateway/listening.h"
#include "gateway/mend.h"
#include "gateway/route.h"
#include "gateway/standing.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "rpc/extract.h"
#include "json/nav.h"

#define TASKS "io.modelcontextprotocol/tasks"
#define SUBSCRIPTION "io.modelcontextprotocol/subscriptionId"

enum { TEXT_MAX = 64 * 1024 * 1024 };

/* `text` with one token in it replaced. */
static void cut(fl_span text, fl_span token, fl_span with, fl_span parts[3])
{
    parts[0] = (fl_span){text.ptr, (size_t)(token.ptr - text.ptr)};
    parts[1] = with;
    parts[2] = fl_span_from(text, parts[0].len + token.len);
}

fl_errand *fl_back_about(const fl_back *back)
{
    fl_span id = fl_link_about(fl_lane_link(back->lane));
    fl_errand *errand = fl_numbers_get(&back->numbers, fl_numbers_read(id));

    return errand != NULL && errand->own == NULL ? errand : NULL;
}

static fl_span subscription_of(fl_span object)
{
    return fl_json_get(fl_json_get(object, FL_SPAN("_meta")),
                       FL_SPAN(SUBSCRIPTION));
}

/* Whether a modern server says so. */
static bool makes_tasks(const fl_back *back)
{
    fl_span can =
        fl_json_get(fl_lane_said(back->lane), FL_SPAN("capabilities"));
    fl_span extensions = fl_json_get(can, FL_SPAN("extensions"));

    return fl_back_is_modern(back) &&
           fl_json_get(extensions, FL_SPAN(TASKS)).len > 0;
}

fl_adapt fl_back_adapt(const fl_errand *errand)
{
    const fl_back *back = errand->back;

    return (fl_adapt){
        .from = fl_back_speaks(back),
        .to = errand->asker.revision,
        .method = errand->method,
        .object = errand->object,
        .server_info = fl_client_server_info(back->lane),
        .outputs = &back->outputs,
        .tasks = errand->method == FL_METHOD_TOOLS_LIST && makes_tasks(back),
    };
}

/* As it came, with the client's id in place of ours; and a listen's result
 * names it once more. */
static void answer_raw(fl_errand *errand, const fl_msg *msg, int code)
{
    fl_span tag = errand->method == FL_METHOD_LISTEN
                      ? subscription_of(msg->result)
                      : (fl_span){0};
    fl_span parts[5], inner[3];

    fl_msg_splice_id(msg, errand->id, parts);
    if (tag.len == 0 || tag.ptr < parts[2].ptr) {
        fl_errand_end(errand, code, parts, 3);
        return;
    }
    cut(parts[2], tag, errand->id, inner);
    parts[2] = inner[0];
    parts[3] = inner[1];
    parts[4] = inner[2];
    fl_listening_answer(errand, parts, 5);
}

static void answer_adapted(fl_errand *errand, const fl_msg *msg, fl_span said,
                           int code)
{
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
        errand->id,
        msg->kind == FL_MSG_ERROR ? FL_SPAN(",\"error\":")
                                  : FL_SPAN(",\"result\":"),
        said,
        FL_SPAN("}"),
    };

    fl_errand_end(errand, code, parts, 5);
}

void fl_back_answer(fl_errand *errand, const fl_msg *msg)
{
    bool failed = msg->kind == FL_MSG_ERROR;
    int code = failed ? (int)fl_extract_error_code(msg) : 0;
    fl_buf out;

    if (fl_back_speaks(errand->back) == errand->asker.revision) {
        answer_raw(errand, msg, code);
        return;
    }
    fl_adapt adapt = fl_back_adapt(errand);
    fl_buf_init(&out, TEXT_MAX);
    fl_status rc = failed ? fl_adapt_error(&adapt, msg->error, &out, &code)
                          : fl_adapt_result(&adapt, msg->result, &out);
    if (rc == FL_OK)
        answer_adapted(errand, msg, fl_buf_view(&out), code);
    else if (rc == FL_END)
        answer_raw(errand, msg, code);
    else
        fl_errand_fail(errand, FL_RPC_INTERNAL_ERROR,
                       FL_SPAN("the answer cannot be said in this revision: "
                               "out of memory, or too large"),
                       (fl_span){0});
    fl_buf_reset(&out);
}

/* The server knows nothing of us any more; the request has not run. */
static bool retry(fl_errand *errand, const fl_msg *msg)
{
    fl_back *back = errand->back;

    if (msg->kind != FL_MSG_ERROR || errand->again || errand->msg == NULL ||
        !fl_lane_was_refused(back->lane, msg->error))
        return false;
    fl_back_take_back(errand);
    return true;
}

/* An error that the transport made up is no word of the server's. */
static bool was_lost(fl_errand *errand)
{
    const fl_link *link = fl_lane_link(errand->back->lane);
    const fl_error *blame = fl_link_blame(link);

    if (blame == NULL)
        return false;
    if (link->unsent) {
        fl_health_lost(errand->back->replica, blame);
        fl_back_defer(errand, blame);
    } else {
        fl_health_failed(errand->back->replica, blame);
        fl_back_lose(errand, blame);
    }
    return true;
}

/* Nobody is there to be told. */
static void hear_parked(fl_errand *errand, const fl_msg *msg)
{
    const fl_error *blame = fl_link_blame(fl_lane_link(errand->back->lane));

    if (blame != NULL)
        fl_to_legacy_lost(errand, blame);
    else
        (void)fl_to_legacy_answers(errand, msg);
}

/* What is said of tools concerns calls to come. */
static void learn_tools(const fl_errand *errand, const fl_msg *msg)
{
    fl_back *back = errand->back;

    fl_mirrors_learn(&back->route->mirrors, msg);
    if (fl_back_is_modern(back) && errand->asker.revision->legacy &&
        fl_outputs_learn(&back->outputs, msg->result) != FL_OK)
        fl_log_say(fl_loop_log(back->route->gateway->loop), FL_LOG_WARN,
                   "too many tools to remember what they promise",
                   fl_log_text("server", fl_span_of(back->route->name)));
}

static void hear_result(fl_errand *errand, const fl_msg *msg);

/* A list of tools without those that are not for clients; it is read anew, for
 * it is another message now. */
static void hear_tools(fl_errand *errand, const fl_msg *msg)
{
    fl_msg_fault fault;
    fl_msg shorter;
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    if (fl_filter_tools(&errand->back->route->filter, msg->text, msg->result,
                        &text) == FL_OK &&
        fl_msg_read(fl_buf_view(&text), &shorter, &fault) == FL_OK)
        hear_result(errand, &shorter);
    else
        fl_errand_fail(errand, FL_RPC_INTERNAL_ERROR, FL_SPAN("out of memory"),
                       (fl_span){0});
    fl_buf_reset(&text);
}

static void hear_answer(fl_back *back, const fl_msg *msg)
{
    fl_errand *errand =
        fl_numbers_get(&back->numbers, fl_numbers_read(msg->id));

    if (back->lane != NULL && fl_link_blame(fl_lane_link(back->lane)) == NULL) {
        fl_health_answered(back->replica);
        fl_backoff_reset(&back->backoff);
    }
    if (errand == NULL) { /* late: whoever asked does not wait any more */
        fl_log_say(fl_loop_log(back->route->gateway->loop), FL_LOG_DEBUG,
                   "an answer that nobody waits for any more",
                   fl_log_text("server", fl_span_of(back->route->name)),
                   fl_log_text("id", msg->id));
        fl_drive_disown(back, msg);
        return;
    }
    if (errand->own != NULL) {
        fl_own_fn *own = errand->own;
        void *user = errand->user;
        fl_errand_drop(errand);
        own(user, msg, NULL);
        return;
    }
    if (errand->state == FL_ERRAND_PARKED) {
        hear_parked(errand, msg);
        return;
    }
    if (retry(errand, msg) || was_lost(errand))
        return;
    if (errand->method == FL_METHOD_TOOLS_LIST && msg->kind == FL_MSG_RESULT &&
        fl_filter_is_on(&back->route->filter))
        hear_tools(errand, msg);
    else
        hear_result(errand, msg);
}

static void hear_result(fl_errand *errand, const fl_msg *msg)
{
    fl_back *back = errand->back;

    if (errand->method == FL_METHOD_TOOLS_LIST && msg->kind == FL_MSG_RESULT)
        learn_tools(errand, msg);
    if (msg->kind == FL_MSG_RESULT)
        fl_affinity_learn(back->replica, errand->method, msg->result);
    if (msg->kind == FL_MSG_ERROR)
        fl_standing_refused(errand);
    if (fl_errand_crosses(errand) &&
        (fl_back_is_modern(back) ? fl_to_modern_answers(errand, msg)
                                 : fl_to_legacy_answers(errand, msg)))
        return;
    if (!fl_errand_crosses(errand) && fl_back_is_modern(back) &&
        fl_mend_headers(errand, msg))
        return;
    fl_back_answer(errand, msg);
}

/* Says a notification to the client of an errand, `token` in it replaced. */
static void tell(fl_errand *errand, const fl_msg *msg, fl_span token,
                 fl_span with)
{
    fl_span parts[3];

    cut(msg->text, token, with, parts);
    fl_front_missed(errand->back->route, fl_errand_tell(errand, parts, 3));
}

static void hear_progress(fl_back *back, const fl_msg *msg)
{
    fl_span token = fl_json_get(msg->params, FL_SPAN("progressToken"));
    fl_errand *errand = fl_numbers_get(&back->numbers, fl_numbers_read(token));

    if (errand == NULL)
        return;
    if (errand->state == FL_ERRAND_PARKED) {
        fl_to_legacy_progress(errand, msg);
        return;
    }
    if (errand->token.len == 0)
        return;
    fl_back_touch(errand);
    if (errand->state == FL_ERRAND_SENT)
        tell(errand, msg, token, errand->token);
}

/* A server of ours lets the stream of a call go (rpc/carry.h). */
static void hear_hang_up(fl_back *back, const fl_msg *msg)
{
    fl_span id = fl_json_get(msg->params, FL_SPAN("requestId"));
    fl_errand *errand = fl_numbers_get(&back->numbers, fl_numbers_read(id));
    int64_t retry_ms;

    if (errand == NULL || errand->asker.front == NULL ||
        errand->asker.batch != NULL ||
        fl_json_int64(fl_json_get(msg->params, FL_SPAN("retryMs")),
                      &retry_ms) != FL_OK ||
        retry_ms < 0)
        return;
    fl_reply_hang_up(errand->asker.reply, (uint64_t)retry_ms);
}

/* True: it is about a subscription of a modern client's. */
static bool hear_subscription(fl_back *back, const fl_msg *msg)
{
    fl_span tag = subscription_of(msg->params);
    fl_errand *errand =
        tag.len > 0 ? fl_numbers_get(&back->numbers, fl_numbers_read(tag))
                    : NULL;

    if (errand == NULL)
        return tag.len > 0;
    fl_back_touch(errand);
    if (errand->own != NULL)
        errand->own(errand->user, msg, NULL);
    else
        tell(errand, msg, tag, errand->id);
    return true;
}

static void say_to(fl_front *front, const fl_msg *msg)
{
    if (front->state == FL_FRONT_READY)
        fl_front_say(front, &msg->text, 1);
}

/* The client of a server that has but one. */
static fl_front *only_front(const fl_back *back)
{
    return back->own && !fl_list_empty(&back->fronts)
               ? FL_LIST_ENTRY(back->fronts.next, fl_front, by_back)
               : NULL;
}

/* On the stream of a call of its client's, if there is one. */
static void hear_log(fl_back *back, const fl_msg *msg)
{
    fl_whose whose = fl_whose_log(back);

    if (whose.errand != NULL)
        fl_cells_log(whose.errand, msg);
    else if (whose.front == NULL)
        fl_whose_withhold(back);
    else if (fl_standing_wants_log(whose.front, msg))
        say_to(whose.front, msg);
}

static void hear_changed(fl_back *back, fl_method method)
{
    for (fl_list *node = back->fronts.next; node != &back->fronts;
         node = node->next)
        fl_front_changed(FL_LIST_ENTRY(node, fl_front, by_back), method);
}

static void hear_updated(fl_back *back, const fl_msg *msg)
{
    for (fl_list *node = back->fronts.next; node != &back->fronts;
         node = node->next) {
        fl_front *front = FL_LIST_ENTRY(node, fl_front, by_back);
        if (fl_front_watches(front, msg->inner.uri))
            say_to(front, msg);
    }
}

/* What we have no word for: to the only one it can be for, if there is one. */
static void hear_other(fl_back *back, const fl_msg *msg)
{
    fl_front *only = only_front(back);

    if (only != NULL)
        say_to(only, msg);
}

static void hear_notice(fl_back *back, const fl_msg *msg)
{
    fl_method method = fl_method_of(msg);

    if (method == FL_METHOD_PROGRESS) {
        hear_progress(back, msg);
        return;
    }
    if (method == FL_METHOD_HANG_UP) {
        hear_hang_up(back, msg);
        return;
    }
    if (fl_back_is_modern(back) && hear_subscription(back, msg))
        return;
    if (method == FL_METHOD_MESSAGE) {
        hear_log(back, msg);
    } else if (method == FL_METHOD_TOOLS_CHANGED ||
               method == FL_METHOD_PROMPTS_CHANGED ||
               method == FL_METHOD_RESOURCES_CHANGED) {
        hear_changed(back, method);
        fl_to_legacy_changed(back, msg);
    } else if (method == FL_METHOD_RESOURCE_UPDATED) {
        hear_updated(back, msg);
        fl_to_legacy_changed(back, msg);
    } else if (method == FL_METHOD_CANCELLED) {
        fl_inquiry_withdraw(back, msg);
    } else if (method == FL_METHOD_ELICITED) {
        hear_other(back, msg);
        fl_to_legacy_elicited(back, msg);
    } else {
        hear_other(back, msg);
    }
}

static void hear_one(fl_back *back, const fl_msg *msg, fl_reply reply)
{
    if (msg->kind == FL_MSG_RESULT || msg->kind == FL_MSG_ERROR)
        hear_answer(back, msg);
    else if (msg->kind == FL_MSG_NOTIFICATION)
        hear_notice(back, msg);
    else if (msg->kind == FL_MSG_REQUEST)
        fl_inquiry_hear(back, msg, reply);
}

void fl_back_hear(void *user, const fl_msg *msg, fl_reply reply)
{
    fl_back *back = user;

    fl_back_lean(back); /* the last to be told may be the last to leave */
    hear_one(back, msg, reply);
    fl_back_leave(back);
}

void fl_back_hear_again(fl_back *back, fl_span text)
{
    fl_msg msg;
    fl_msg_fault fault;

    if (fl_msg_read(text, &msg, &fault) == FL_OK)
        hear_one(back, &msg, (fl_reply){0});
}
