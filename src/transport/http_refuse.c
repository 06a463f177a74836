/*
 * http_refuse.c - HTTP errors, each with a JSON-RPC error in its body that
 * says what was wrong, what the limit is, and which setting changes it (K8).
 */
#include "transport/http_server.h"

#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"

#include <inttypes.h>
#include <stdio.h>

enum { BODY_MAX = 4096 };

void fl_http_refuse(fl_http_turn *turn, const fl_http_refusal *refusal)
{
    fl_field fields[6];
    size_t count = 0;
    char seconds[24];
    fl_buf body;

    if (refusal->allow.len > 0)
        fields[count++] = FL_FIELD_SET(ALLOW, refusal->allow);
    if (refusal->retry_ms > 0) {
        int n = snprintf(seconds, sizeof seconds, "%" PRIu64,
                         (refusal->retry_ms + 999) / 1000);
        fields[count++] =
            FL_FIELD_SET(RETRY_AFTER, ((fl_span){seconds, (size_t)n}));
    }
    if (refusal->upgrade) { /* RFC 9110 15.5.22, RFC 6455 4.4 */
        fields[count++] = FL_FIELD_SET(UPGRADE, FL_SPAN("websocket"));
        fields[count++] = FL_FIELD_SET(SEC_WEBSOCKET_VERSION, FL_SPAN("13"));
    }
    if (refusal->challenge.len > 0)
        fields[count++] = FL_FIELD_SET(WWW_AUTHENTICATE, refusal->challenge);
    if (refusal->status == 415)
        fields[count++] =
            FL_FIELD_SET(ACCEPT_ENCODING, FL_SPAN("gzip, deflate, identity"));
    fl_buf_init(&body, BODY_MAX);
    fl_pool_lend(fl_loop_pool(turn->hub->loop), &body);
    fl_status rc = fl_rpc_error_write(&body, refusal->id, refusal->code,
                                      refusal->message, refusal->data);
    if (rc != FL_OK) /* an id too long to repeat */
        rc = fl_rpc_error_write(&body, (fl_span){0}, refusal->code,
                                refusal->message, refusal->data);
    fl_span text = fl_buf_view(&body);
    if (turn->link != NULL)
        turn->link->stats.errors++;
    fl_http_turn_answer(turn, refusal->status, fields, count, &text,
                        rc == FL_OK ? 1 : 0);
    fl_buf_truncate(&body, 0);
    fl_pool_return(fl_loop_pool(turn->hub->loop), &body);
    fl_http_turn_free(turn);
}

void fl_http_refuse_with(fl_http_turn *turn, unsigned status, int code,
                         const char *message)
{
    fl_http_refuse(turn, &(fl_http_refusal){
                             .status = status,
                             .code = code,
                             .message = fl_span_of(message),
                         });
}

void fl_http_refuse_limit(fl_http_turn *turn, unsigned status, int code,
                          const char *message, uint64_t limit)
{
    char data[48];
    int n = snprintf(data, sizeof data, "{\"limit\":%" PRIu64 "}", limit);

    fl_http_refuse(turn,
                   &(fl_http_refusal){
                       .status = status,
                       .code = code,
                       .message = fl_span_of(message),
                       .data = {data, (size_t)n},
                       .retry_ms = status == 503 || status == 429 ? 1000 : 0,
                   });
}
