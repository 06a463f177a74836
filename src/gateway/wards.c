/*
 * wards.c - tasks at a legacy server, whose modern clients ask for them.
 *
 * tasks/get goes to the server. If what it says needs more (the end, or a
 * question), tasks/result is asked for, once: it waits at the server until the
 * task is over, and meanwhile lets the server ask. Who asked for the state
 * waits for the end only if the task has ended.
 */
#include "gateway/wards.h"

#include "adapt/adapt.h"
#include "adapt/edit.h"
#include "base/mem.h"
#include "base/span.h"
#include "gateway/drive.h"
#include "gateway/gateway.h"
#include "gateway/inquiry.h"
#include "gateway/legacy.h"
#include "gateway/route.h"
#include "rpc/error.h"
#include "json/nav.h"

enum { TEXT_MAX = 64 * 1024 * 1024, PRINCIPAL_MAX = 4096 };

struct fl_ward {
    fl_list node;
    fl_wards *wards;
    fl_buf id; /* a raw token */
    fl_buf principal;
    fl_buf capabilities;         /* of its client */
    const fl_revision *revision; /* likewise */
    fl_questions questions;
    fl_errand *asked; /* tasks/result, or NULL */
    fl_buf end;       /* what came of it: a whole response; or empty */
};

void fl_wards_init(fl_wards *wards, fl_back *back)
{
    *wards = (fl_wards){.back = back};
    fl_list_init(&wards->list);
}

static void ward_free(fl_ward *ward)
{
    fl_list_remove(&ward->node);
    ward->wards->count--;
    if (ward->asked != NULL)
        fl_back_unask(ward->asked);
    fl_questions_deinit(&ward->questions);
    fl_buf_reset(&ward->id);
    fl_buf_reset(&ward->principal);
    fl_buf_reset(&ward->capabilities);
    fl_buf_reset(&ward->end);
    fl_mem_free(ward);
}

void fl_wards_deinit(fl_wards *wards)
{
    while (!fl_list_empty(&wards->list))
        ward_free(FL_LIST_ENTRY(wards->list.next, fl_ward, node));
}

void fl_wards_down(fl_wards *wards)
{
    for (fl_list *node = wards->list.next; node != &wards->list;
         node = node->next)
        fl_questions_deinit(&FL_LIST_ENTRY(node, fl_ward, node)->questions);
}

static fl_ward *find(const fl_wards *wards, fl_span id)
{
    for (fl_list *node = wards->list.next; node != &wards->list;
         node = node->next) {
        fl_ward *ward = FL_LIST_ENTRY(node, fl_ward, node);
        if (fl_msg_id_equal(fl_buf_view(&ward->id), id))
            return ward;
    }
    return NULL;
}

static bool is_of(const fl_ward *ward, const fl_front *front)
{
    fl_buf principal;

    fl_buf_init(&principal, PRINCIPAL_MAX);
    bool same =
        fl_front_principal(front, &principal) == FL_OK &&
        fl_span_equal(fl_buf_view(&principal), fl_buf_view(&ward->principal));
    fl_buf_reset(&principal);
    return same;
}

/* The oldest that nobody waits for makes room. */
static bool make_room(fl_wards *wards)
{
    fl_list *node = wards->list.next;

    if (wards->count < FL_WARDS_MAX)
        return true;
    for (; node != &wards->list; node = node->next)
        if (FL_LIST_ENTRY(node, fl_ward, node)->asked == NULL) {
            ward_free(FL_LIST_ENTRY(node, fl_ward, node));
            return true;
        }
    return false;
}

static fl_ward *ward_new(fl_wards *wards)
{
    fl_ward *ward = make_room(wards) ? fl_mem_zalloc(sizeof *ward) : NULL;

    if (ward == NULL)
        return NULL;
    ward->wards = wards;
    fl_buf_init(&ward->id, TEXT_MAX);
    fl_buf_init(&ward->principal, PRINCIPAL_MAX);
    fl_buf_init(&ward->capabilities, TEXT_MAX);
    fl_buf_init(&ward->end, TEXT_MAX);
    fl_questions_init(&ward->questions, wards->back);
    fl_list_append(&wards->list, &ward->node);
    wards->count++;
    return ward;
}

bool fl_wards_add(fl_errand *errand, fl_span task)
{
    fl_legacy *legacy = fl_legacy_of(errand->back);
    fl_span id = fl_json_get(task, FL_SPAN("taskId"));

    if (legacy == NULL || fl_json_type_of(id) != FL_JSON_STRING)
        return false;
    fl_ward *ward = ward_new(&legacy->wards);
    if (ward == NULL)
        return false;
    ward->revision = errand->asker.revision;
    if (fl_buf_append(&ward->id, id) == FL_OK &&
        fl_front_principal(errand->asker.front, &ward->principal) == FL_OK &&
        fl_buf_append(&ward->capabilities,
                      errand->msg->inner.claim.client_capabilities) == FL_OK)
        return true;
    ward_free(ward);
    return false;
}

static fl_ward *ward_of(const fl_errand *errand)
{
    fl_legacy *legacy = errand->back->legacy;
    fl_ward *ward =
        legacy != NULL ? find(&legacy->wards, errand->object) : NULL;

    return ward != NULL && is_of(ward, errand->asker.front) ? ward : NULL;
}

static void acknowledge(fl_errand *errand)
{
    fl_errand_result(errand, FL_SPAN("{\"resultType\":\"complete\"}"));
}

bool fl_wards_take(fl_errand *errand, const fl_msg *msg)
{
    fl_ward *ward = ward_of(errand);

    if (ward == NULL) {
        fl_errand_fail(errand, FL_RPC_INVALID_PARAMS, FL_SPAN("Task not found"),
                       (fl_span){0});
        return true;
    }
    if (errand->method != FL_METHOD_TASKS_UPDATE)
        return false;
    (void)fl_questions_give(&ward->questions, errand->asker.revision,
                            msg->inner.input_responses);
    acknowledge(errand);
    return true;
}

/* Those who wait for the end ask for the state once more. */
static void release(fl_ward *ward)
{
    fl_back *back = ward->wards->back;
    fl_list *node = back->sent.next;

    while (node != &back->sent) {
        fl_errand *errand = FL_LIST_ENTRY(node, fl_errand, by_back);
        node = node->next;
        if (errand->method == FL_METHOD_TASKS_GET && errand->number == 0 &&
            errand->own == NULL &&
            fl_msg_id_equal(errand->object, fl_buf_view(&ward->id)))
            fl_back_requeue_later(errand);
    }
    fl_back_carry_waiting(back);
}

static void on_end(void *user, const fl_msg *msg, const fl_error *why)
{
    fl_ward *ward = user;

    ward->asked = NULL;
    fl_buf_clear(&ward->end);
    if (why == NULL && fl_buf_append(&ward->end, msg->text) != FL_OK)
        fl_buf_reset(&ward->end);
    release(ward);
}

static bool ask_end(fl_ward *ward)
{
    fl_buf params;

    if (ward->asked != NULL || fl_buf_len(&ward->end) > 0)
        return true; /* a state that is older than its end may come after it */
    fl_buf_init(&params, TEXT_MAX);
    bool asked =
        fl_drive_write(fl_buf_view(&ward->id), &params) == FL_OK &&
        fl_back_ask(ward->wards->back, FL_METHOD_TASKS_RESULT,
                    fl_buf_view(&params), on_end, ward, &ward->asked) == FL_OK;
    fl_buf_reset(&params);
    return asked;
}

/* {"status":..., and what else it was given} */
static fl_status say_state(fl_errand *errand, fl_span state, const char *status,
                           const char *name, fl_span value, fl_buf *out)
{
    fl_adapt adapt = {
        .from = fl_back_speaks(errand->back),
        .to = errand->asker.revision,
        .method = FL_METHOD_TASKS_GET,
        .object = errand->object,
        .server_info = fl_client_server_info(errand->back->lane),
        .tasks = true,
    };
    fl_edit edit;
    fl_edit_walk walk;
    fl_json_member member;
    fl_buf told;

    fl_buf_init(&told, TEXT_MAX);
    fl_edit_init(&edit, state, &told);
    fl_edit_open(&walk, &edit, state);
    while (fl_edit_next(&walk, &member))
        if (fl_edit_named(&member, "status"))
            fl_edit_replace(&edit, member.value, fl_span_of(status));
    if (name != NULL)
        fl_edit_add_raw(&walk, name, value);
    fl_status rc = fl_edit_end(&edit);
    if (rc == FL_OK)
        rc = fl_adapt_result(&adapt, fl_buf_view(&told), out);
    if (rc == FL_END)
        rc = fl_buf_append(out, fl_buf_view(&told));
    fl_buf_reset(&told);
    return rc;
}

/* In the words of the client: what its call would have been answered. */
static fl_status say_end(const fl_errand *errand, const fl_msg *end,
                         fl_buf *out)
{
    fl_adapt adapt = {
        .from = fl_back_speaks(errand->back),
        .to = errand->asker.revision,
        .method = FL_METHOD_TOOLS_CALL,
        .server_info = fl_client_server_info(errand->back->lane),
        .outputs = &errand->back->outputs,
    };
    int code;
    fl_status rc = end->kind == FL_MSG_ERROR
                       ? fl_adapt_error(&adapt, end->error, out, &code)
                       : fl_adapt_result(&adapt, end->result, out);

    if (rc != FL_END)
        return rc;
    return fl_buf_append(out,
                         end->kind == FL_MSG_ERROR ? end->error : end->result);
}

static void finish(fl_errand *errand, fl_status rc, fl_span result)
{
    if (rc == FL_OK)
        fl_errand_result(errand, result);
    else
        fl_errand_fail(errand, FL_RPC_INTERNAL_ERROR,
                       FL_SPAN("the state of the task cannot be told"),
                       (fl_span){0});
}

/* A call that failed has failed; a tool that did has completed. */
static void tell_end(fl_errand *errand, fl_ward *ward, fl_span state)
{
    fl_msg end;
    fl_msg_fault fault;
    fl_buf said, out;

    fl_buf_init(&said, TEXT_MAX);
    fl_buf_init(&out, TEXT_MAX);
    fl_status rc = fl_msg_read(fl_buf_view(&ward->end), &end, &fault);
    bool failed = rc == FL_OK && end.kind == FL_MSG_ERROR;
    if (rc == FL_OK)
        rc = say_end(errand, &end, &said);
    if (rc == FL_OK)
        rc = say_state(errand, state, failed ? "\"failed\"" : "\"completed\"",
                       failed ? "error" : "result", fl_buf_view(&said), &out);
    finish(errand, rc, fl_buf_view(&out));
    fl_buf_reset(&said);
    fl_buf_reset(&out);
}

/* Until its questions have come, it works. */
static void tell_questions(fl_errand *errand, fl_ward *ward, fl_span state)
{
    fl_json_writer writer;
    fl_buf said, out;

    fl_buf_init(&said, TEXT_MAX);
    fl_buf_init(&out, TEXT_MAX);
    fl_json_writer_init(&writer, &said);
    fl_questions_write(&ward->questions, &writer);
    fl_status rc = fl_json_writer_end(&writer);
    bool any = ward->questions.count > 0;
    if (rc == FL_OK)
        rc =
            say_state(errand, state, any ? "\"input_required\"" : "\"working\"",
                      any ? "inputRequests" : NULL, fl_buf_view(&said), &out);
    finish(errand, rc, fl_buf_view(&out));
    fl_buf_reset(&said);
    fl_buf_reset(&out);
}

/* The server has answered: its number is void until it is asked again. */
static void await_end(fl_errand *errand)
{
    fl_numbers_remove(&errand->back->numbers, errand->number);
    errand->number = 0;
}

static bool hear_state(fl_errand *errand, fl_ward *ward, fl_span state)
{
    fl_span status = fl_json_get(state, FL_SPAN("status"));
    bool asks = fl_json_string_is(status, FL_SPAN("input_required"));
    bool over = fl_json_string_is(status, FL_SPAN("completed")) ||
                fl_json_string_is(status, FL_SPAN("failed"));

    if (!asks && !over)
        return false;
    if (over && fl_buf_len(&ward->end) > 0)
        tell_end(errand, ward, state);
    else if (!ask_end(ward))
        finish(errand, FL_E_STATE, (fl_span){0});
    else if (asks)
        tell_questions(errand, ward, state);
    else
        await_end(errand);
    return true;
}

bool fl_wards_answer(fl_errand *errand, const fl_msg *msg)
{
    fl_ward *ward = ward_of(errand);

    if (errand->method == FL_METHOD_TASKS_CANCEL) {
        if (ward == NULL)
            return false;
        acknowledge(errand); /* one that is over cannot be, and need not */
        return true;
    }
    return ward != NULL && msg->kind == FL_MSG_RESULT &&
           hear_state(errand, ward, msg->result);
}

bool fl_wards_hear(fl_wards *wards, fl_span task, const fl_msg *msg,
                   fl_reply reply)
{
    fl_ward *ward = find(wards, task);
    fl_method method = fl_method_of(msg);

    if (ward == NULL)
        return false;
    int code = fl_question_judge(fl_buf_view(&ward->capabilities), method,
                                 msg->params);
    if (code == 0 && fl_questions_add(&ward->questions, ward->revision, method,
                                      msg, reply) != FL_OK)
        code = FL_RPC_INTERNAL_ERROR;
    if (code != 0)
        fl_inquiry_refuse(reply, msg->id, code, (fl_span){0});
    return true;
}

bool fl_wards_withdraw(fl_wards *wards, fl_span id)
{
    for (fl_list *node = wards->list.next; node != &wards->list;
         node = node->next)
        if (fl_questions_withdraw(
                &FL_LIST_ENTRY(node, fl_ward, node)->questions, id))
            return true;
    return false;
}
