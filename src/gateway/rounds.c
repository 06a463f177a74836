/*
 * rounds.c - from an answer that asks to the next try.
 *
 *   input_required -> the client is asked -> tried again with its answers
 *        |  only a state: a pause ------------^
 *        +- only pages it has seen: a longer pause
 *
 * Meanwhile the errand is set aside: the server has answered, so that there is
 * nothing to wait for, nothing to cancel and no time running but the client's.
 */
#include "gateway/rounds.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "gateway/gateway.h"
#include "gateway/route.h"
#include "gateway/tasks.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "json/nav.h"
#include "json/write.h"

enum {
    TEXT_MAX = 64 * 1024 * 1024,
    ASKED_MAX = 10,
    PAUSE_FIRST_MS = 250,
    PAUSE_MAX_MS = 5000,
    PAGE_FIRST_MS = 1000,
    PAGE_MAX_MS = 10000,
};

static uint64_t now(const fl_rounds *round)
{
    return fl_loop_now(round->timer.loop);
}

/* A tool says itself what went wrong; of the others it is an error. */
static void finish(fl_errand *errand, const char *text, fl_span data)
{
    fl_json_writer writer;
    fl_buf out;

    fl_buf_init(&out, TEXT_MAX);
    fl_json_writer_init(&writer, &out);
    fl_json_object(&writer);
    fl_json_key(&writer, "content");
    fl_json_array(&writer);
    fl_json_object(&writer);
    fl_json_key(&writer, "type");
    fl_json_string(&writer, "text");
    fl_json_key(&writer, "text");
    fl_json_string(&writer, text);
    fl_json_object_end(&writer);
    fl_json_array_end(&writer);
    fl_json_key(&writer, "isError");
    fl_json_bool(&writer, true);
    fl_json_object_end(&writer);
    if (fl_json_writer_end(&writer) == FL_OK &&
        errand->method == FL_METHOD_TOOLS_CALL)
        fl_errand_result(errand, fl_buf_view(&out));
    else
        fl_errand_fail(errand, FL_RPC_INTERNAL_ERROR, fl_span_of(text), data);
    fl_buf_reset(&out);
}

void fl_rounds_stop(fl_rounds *round, const char *text, fl_span error)
{
    fl_buf data, why;

    fl_buf_init(&data, TEXT_MAX);
    fl_buf_init(&why, TEXT_MAX);
    fl_span said = fl_json_get(error, FL_SPAN("message"));
    bool worded = fl_json_type_of(said) == FL_JSON_STRING &&
                  fl_buf_printf(&why, "%s: ", text) == FL_OK &&
                  fl_json_string_copy(said, &why) == FL_OK &&
                  fl_buf_append(&why, (fl_span){"", 1}) == FL_OK;
    if (error.len > 0 && fl_buf_printf(&data, "{\"client\":%.*s}",
                                       (int)error.len, error.ptr) != FL_OK)
        fl_buf_reset(&data);
    finish(round->errand, worded ? fl_buf_view(&why).ptr : text,
           fl_buf_view(&data));
    fl_buf_reset(&data);
    fl_buf_reset(&why);
}

static void refuse(fl_rounds *round, fl_status rc)
{
    fl_errand_fail(round->errand, FL_RPC_INTERNAL_ERROR,
                   rc == FL_E_UNSUPPORTED
                       ? FL_SPAN("Upstream requested undeclared input")
                       : fl_span_of(fl_status_text(rc)),
                   (fl_span){0});
}

static fl_status write_members(fl_rounds *round)
{
    fl_buf *out = &round->members;
    fl_status rc = FL_OK;

    fl_buf_clear(out);
    if (round->count > 0)
        rc = fl_buf_append(out, FL_SPAN("\"inputResponses\":{"));
    for (size_t i = 0; i < round->count && rc == FL_OK; i++) {
        const fl_round_entry *entry = &round->entries[i];
        fl_span parts[] = {
            i > 0 ? FL_SPAN(",\"") : FL_SPAN("\""),
            entry->key,
            FL_SPAN("\":"),
            fl_buf_view(&entry->answer),
        };
        for (size_t part = 0; part < 4 && rc == FL_OK; part++)
            rc = fl_buf_append(out, parts[part]);
    }
    if (rc == FL_OK && round->count > 0)
        rc = fl_buf_append(out, FL_SPAN("}"));
    if (rc == FL_OK && round->state.len > 0) {
        rc =
            fl_buf_append(out, round->count > 0 ? FL_SPAN(",\"requestState\":")
                                                : FL_SPAN("\"requestState\":"));
        if (rc == FL_OK)
            rc = fl_buf_append(out, round->state);
    }
    return rc;
}

fl_span fl_rounds_members(const fl_errand *errand)
{
    return errand->rounds != NULL ? fl_buf_view(&errand->rounds->members)
                                  : (fl_span){0};
}

static void try_again(fl_rounds *round)
{
    fl_errand *errand = round->errand;

    fl_timer_stop(&round->timer);
    if (round->asking) /* its client's time is not the server's */
        errand->started_ms += now(round) - round->since_ms;
    round->asking = false;
    fl_status rc = write_members(round);
    if (rc != FL_OK) {
        refuse(round, rc);
        return;
    }
    if (fl_buf_len(&round->task) > 0) {
        fl_tasks_update(round);
        return;
    }
    errand->again = false; /* it is another request */
    fl_back_carry_again(errand);
}

static void on_timer(fl_timer *timer)
{
    fl_rounds *round = FL_LIST_ENTRY(timer, fl_rounds, timer);

    if (round->asking)
        finish(round->errand, "Client input timed out", (fl_span){0});
    else if (round->polling)
        fl_tasks_poll(round);
    else
        try_again(round);
}

/* The server is to be given time: it is told nothing that is new to it. */
static void pause_for(fl_rounds *round, uint64_t first_ms, uint64_t max_ms)
{
    fl_errand *errand = round->errand;
    uint64_t most = errand->back->route->upstream.max_total_ms;

    if (now(round) - errand->started_ms >= most) {
        finish(errand, "Upstream timeout", (fl_span){0});
        return;
    }
    round->pause_ms = round->pause_ms < first_ms     ? first_ms
                      : round->pause_ms * 2 < max_ms ? round->pause_ms * 2
                                                     : max_ms;
    fl_timer_start(&round->timer, round->pause_ms);
}

void fl_rounds_answered(fl_rounds *round)
{
    if (--round->open == 0)
        try_again(round);
}

static void ask(fl_rounds *round)
{
    if (++round->asked > ASKED_MAX) {
        finish(round->errand, "Input rounds exceeded", (fl_span){0});
        return;
    }
    round->asking = true;
    round->since_ms = now(round);
    round->pause_ms = 0;
    fl_status rc = fl_rounds_ask(round);
    if (rc == FL_E_UNSUPPORTED)
        fl_rounds_stop(round, "The client cannot be asked that", (fl_span){0});
    else if (rc != FL_OK)
        fl_rounds_stop(round, "The client cannot be asked: it does not read",
                       (fl_span){0});
    else if (round->open == 0)
        try_again(round);
    else
        fl_timer_start(&round->timer,
                       round->errand->back->route->upstream.input_timeout_ms);
}

static void go_on(fl_rounds *round)
{
    size_t fresh = fl_rounds_recall(round);

    fl_round_close_pages(round, false);
    if (fresh > 0)
        ask(round);
    else if (round->count > 0)
        pause_for(round, PAGE_FIRST_MS, PAGE_MAX_MS);
    else if (round->state.len > 0)
        pause_for(round, PAUSE_FIRST_MS, PAUSE_MAX_MS);
    else
        fl_errand_fail(round->errand, FL_RPC_INTERNAL_ERROR,
                       FL_SPAN("Upstream requested input, but did not say "
                               "which"),
                       (fl_span){0});
}

fl_rounds *fl_rounds_of(fl_errand *errand)
{
    fl_rounds *round = errand->rounds;

    if (round != NULL)
        return round;
    round = errand->rounds = fl_mem_zalloc(sizeof *round);
    if (round == NULL)
        return NULL;
    round->errand = errand;
    fl_list_init(&round->pages);
    fl_buf_init(&round->said, TEXT_MAX);
    fl_buf_init(&round->members, TEXT_MAX);
    fl_buf_init(&round->task, TEXT_MAX);
    fl_timer_init(&round->timer, errand->back->route->gateway->loop, on_timer);
    return round;
}

static fl_status keep(fl_rounds *round, fl_span result)
{
    fl_rounds_forget(round);
    fl_buf_clear(&round->said);
    fl_status rc = fl_buf_append(&round->said, result);
    if (rc != FL_OK)
        return rc;
    round->state =
        fl_json_get(fl_buf_view(&round->said), FL_SPAN("requestState"));
    return fl_rounds_read(round);
}

bool fl_rounds_hear(fl_rounds *round, fl_span state)
{
    fl_status rc = keep(round, state);

    round->polling = false;
    if (rc != FL_OK)
        refuse(round, rc);
    else if (round->count > 0)
        go_on(round);
    else
        return false;
    return true;
}

static bool asks(const fl_msg *msg)
{
    return msg->kind == FL_MSG_RESULT &&
           fl_json_string_is(fl_json_get(msg->result, FL_SPAN("resultType")),
                             FL_SPAN("input_required"));
}

bool fl_rounds_takes(fl_errand *errand, const fl_msg *msg)
{
    if (!asks(msg)) {
        if (errand->rounds != NULL)
            fl_round_close_pages(errand->rounds, true);
        return false;
    }
    if (!fl_method_is(errand->method, FL_METHOD_CAN_ASK) ||
        errand->msg == NULL) {
        fl_errand_fail(errand, FL_RPC_INTERNAL_ERROR,
                       FL_SPAN("Upstream requested undeclared input"),
                       (fl_span){0});
        return true;
    }
    fl_back_set_aside(errand);
    fl_rounds *round = fl_rounds_of(errand);
    if (round == NULL) {
        fl_errand_fail(errand, FL_RPC_INTERNAL_ERROR, FL_SPAN("out of memory"),
                       (fl_span){0});
        return true;
    }
    fl_status rc = keep(round, msg->result);
    if (rc != FL_OK)
        refuse(round, rc);
    else
        go_on(round);
    return true;
}

static void free_pages(fl_rounds *round)
{
    while (!fl_list_empty(&round->pages)) {
        fl_list *node = fl_list_take(&round->pages);
        fl_round_page *page = FL_LIST_ENTRY(node, fl_round_page, node);
        fl_buf_reset(&page->params);
        fl_mem_free(page);
    }
}

void fl_rounds_free(fl_errand *errand)
{
    fl_rounds *round = errand->rounds;

    if (round == NULL)
        return;
    errand->rounds = NULL;
    fl_timer_stop(&round->timer);
    if (round->own != NULL)
        fl_back_unask(round->own);
    if (fl_buf_len(&round->task) > 0 && !round->task_ended)
        fl_tasks_call_off(round);
    fl_rounds_forget(round);
    free_pages(round);
    fl_buf_reset(&round->task);
    fl_buf_reset(&round->said);
    fl_buf_reset(&round->members);
    fl_mem_free(round);
}
