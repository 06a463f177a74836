/*
 * flow.c - one authorization under way: how it begins, how it ends.
 *
 *   discover -> who we are -> (refresh, or ask the user) -> token
 *
 * There is one at a time, for all requests that wait for it. Every step ends
 * in a fetch, a question to the user, or the end; the next one starts from
 * what came of it, never from inside a call of the transport or of a hook.
 */
#include "auth/auth_impl.h"

#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    DOCUMENT_MAX = 1024 * 1024,
    FETCH_MS = 30000,
    FAILED_MS = 30000, /* how long a failure stands */
};

static void clear(fl_authorizer *a)
{
    fl_flow *flow = &a->flow;

    fl_timer_stop(&a->kick);
    fl_timer_stop(&a->deadline);
    fl_fetch_cancel(flow->fetch);
    fl_callback_close(flow->callback);
    fl_challenge_deinit(&flow->challenge);
    fl_prm_deinit(&flow->prm);
    fl_as_deinit(&flow->as);
    fl_code_end(&flow->code);
    fl_text_drop(&flow->scope);
    fl_text_drop(&flow->wanted);
    fl_text_drop(&flow->redirect);
    fl_text_drop(&flow->granted);
    fl_text_drop(&flow->said);
    *flow = (fl_flow){0};
}

static void tell_all(fl_authorizer *a, const fl_error *why)
{
    fl_list waits, *node;

    fl_list_move(&waits, &a->waits);
    while ((node = fl_list_take(&waits)) != NULL) {
        fl_auth_wait *wait = FL_LIST_ENTRY(node, fl_auth_wait, node);
        wait->fn(wait->user, why);
    }
}

void fl_flow_end(fl_authorizer *a, const fl_error *why)
{
    fl_error told;

    if (why != NULL) {
        told = *why; /* it may lie in what is cleared */
        a->failed = *why;
        a->failed_until = fl_loop_now(a->loop) + FAILED_MS;
        fl_log_say(fl_loop_log(a->loop), FL_LOG_WARN, "authorization failed",
                   fl_log_text("server", fl_span_of(a->server)),
                   fl_log_text("reason", fl_span_of(told.text)));
    }
    clear(a);
    fl_authorizer_ref(a);
    tell_all(a, why != NULL ? &told : NULL);
    fl_authorizer_unref(a);
}

void fl_flow_fail(fl_authorizer *a, fl_status status, const char *format, ...)
{
    char text[256];
    fl_error why;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fl_error_set(&why, status, "%s", text);
    fl_flow_end(a, &why);
}

void fl_flow_abort(fl_authorizer *a)
{
    clear(a);
}

void fl_flow_fetch(fl_authorizer *a, fl_fetch_request *request, fl_fetch_fn *fn)
{
    fl_field fields[8];
    size_t count = 0;
    fl_error why;

    for (; count < request->count && count < 6; count++)
        fields[count] = request->fields[count];
    fields[count++] = FL_FIELD_SET(ACCEPT, FL_SPAN("application/json"));
    if (a->revision[0] != '\0' && request->body.len == 0)
        fields[count++] =
            FL_FIELD_SET(MCP_PROTOCOL_VERSION, fl_span_of(a->revision));
    request->fields = fields;
    request->count = count;
    request->tls = a->tls;
    request->plain = a->plain;
    request->no_proxy = a->no_proxy;
    request->max_body = DOCUMENT_MAX;
    request->timeout_ms = FETCH_MS;
    if (fl_fetch_start(a->loop, request, fn, a, &a->flow.fetch, &why) != FL_OK)
        fl_flow_end(a, &why);
}

static void ask_program(fl_authorizer *a)
{
    bool was_refused = a->serial > 0;

    a->flow.asking = true;
    fl_timer_start(&a->deadline, a->setup.timeout_ms);
    a->setup.hooks.token(&a->auth, was_refused, a->setup.hooks.user);
}

static void take_token(fl_authorizer *a)
{
    fl_record *record = &a->record;
    fl_status rc =
        fl_record_set(record, FL_RECORD_ACCESS, fl_span_of(a->flow.said));

    if (rc == FL_OK)
        rc = fl_record_set(record, FL_RECORD_TYPE, FL_SPAN("Bearer"));
    if (rc != FL_OK) {
        fl_flow_fail(a, rc, "out of memory");
        return;
    }
    a->serial++;
    a->spent++;
    fl_flow_end(a, NULL);
}

static void hear(fl_authorizer *a)
{
    fl_flow_reply reply = a->flow.reply;

    a->flow.reply = FL_REPLY_NONE;
    if (reply == FL_REPLY_DENIED)
        fl_flow_fail(a, FL_E_DENIED, "%s",
                     a->flow.said != NULL ? a->flow.said : "not authorized");
    else if (reply == FL_REPLY_TOKEN)
        take_token(a);
    else
        fl_flow_redirected(a, fl_span_of(a->flow.said));
}

static void on_kick(fl_timer *timer)
{
    fl_authorizer *a = FL_LIST_ENTRY(timer, fl_authorizer, kick);

    if (a->flow.reply != FL_REPLY_NONE)
        hear(a);
    else if (a->flow.reason == FL_FLOW_HOOK)
        ask_program(a);
    else if (a->flow.reason == FL_FLOW_RENEW)
        fl_flow_refresh(a);
    else
        fl_flow_discover(a);
}

static void on_deadline(fl_timer *timer)
{
    fl_flow_fail(FL_LIST_ENTRY(timer, fl_authorizer, deadline), FL_E_TIMEOUT,
                 "nobody authorized this program in time");
}

void fl_flow_init(fl_authorizer *a)
{
    fl_timer_init(&a->kick, a->loop, on_kick);
    fl_timer_init(&a->deadline, a->loop, on_deadline);
}

void fl_flow_begin(fl_authorizer *a, fl_flow_reason reason,
                   fl_challenge *challenge)
{
    a->flow = (fl_flow){.reason = reason};
    if (challenge != NULL) {
        a->flow.challenge = *challenge;
        *challenge = (fl_challenge){0};
    }
    fl_log_say(fl_loop_log(a->loop), FL_LOG_INFO,
               reason == FL_FLOW_RENEW ? "the access token runs out"
                                       : "the server asks for authorization",
               fl_log_text("server", fl_span_of(a->server)));
    fl_timer_start(&a->kick, 0);
}

void fl_flow_tell(fl_authorizer *a, fl_flow_reply reply, fl_span text)
{
    if (!a->flow.asking)
        return; /* nobody asked */
    if (fl_text_set(&a->flow.said, text) != FL_OK)
        reply = FL_REPLY_DENIED;
    a->flow.reply = reply;
    fl_timer_start(&a->kick, 0);
}
