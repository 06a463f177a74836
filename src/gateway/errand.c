/*
 * errand.c - one request of a client, on its way to a server and back.
 */
#include "gateway/errand.h"

#include "base/mem.h"
#include "base/numbers.h"
#include "base/span.h"
#include "gateway/back.h"
#include "gateway/cells.h"
#include "gateway/front.h"
#include "gateway/gateway.h"
#include "gateway/rounds.h"
#include "gateway/route.h"
#include "gateway/solo.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "rpc/extract.h"

#include <stdio.h>
#include <string.h>

static bool is_modern(const fl_asker *asker)
{
    return asker->revision != NULL && !asker->revision->legacy;
}

/* All in it are answered. */
static void send_batch(const fl_asker *asker)
{
    fl_link *link = asker->front->link;
    fl_span array;
    fl_status rc = fl_batch_take(asker->batch, &array);

    if (rc == FL_OK && link != NULL)
        rc = fl_reply_end(asker->reply, &array, array.len > 0 ? 1 : 0);
    if (rc < 0 && rc != FL_E_STATE && link != NULL)
        fl_link_close(link); /* an array that does not fit */
    fl_batch_free(asker->batch);
}

/*
 * The code a transport chooses its status by; 0 for none. Of what is found
 * wrong behind the door, HTTP has statuses for unknown methods, for missing
 * capabilities and for being busy; a 400 or 500 for the rest would make a
 * client believe that it speaks the wrong protocol.
 */
static int status_code(const fl_asker *asker, int code)
{
    if (code == 0)
        return 0;
    if (asker->early)
        return asker->revision != NULL ? code : FL_RPC_INVALID_REQUEST;
    if (code == FL_RPC_INVALID_PARAMS || code == FL_RPC_INTERNAL_ERROR)
        return 0;
    return fl_rpc_error_find(code)->code == code ? code : 0;
}

static void refuse_size(const fl_asker *asker, fl_span id)
{
    fl_link_info info;
    char data[48];

    fl_link_get_info(asker->front->link, &info);
    int n = snprintf(data, sizeof data, "{\"limit\":%zu}", info.max_message);
    fl_asker_refuse(asker, id, FL_RPC_INTERNAL_ERROR,
                    FL_SPAN("the answer is larger than a message may be"),
                    (fl_span){data, (size_t)n});
}

void fl_asker_send(const fl_asker *asker, fl_span id, int code,
                   const fl_span *parts, size_t count)
{
    if (asker->batch != NULL) {
        if (fl_batch_add(asker->batch, parts, count))
            send_batch(asker);
    } else if (asker->front->link != NULL &&
               fl_reply_end_error(asker->reply, status_code(asker, code), parts,
                                  count) == FL_E_TOO_BIG) {
        refuse_size(asker, id);
    }
}

void fl_asker_result(const fl_asker *asker, fl_span id, fl_span result)
{
    fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"), id,
                       FL_SPAN(",\"result\":"), result, FL_SPAN("}")};

    fl_asker_send(asker, id, 0, parts, 5);
}

void fl_asker_refuse(const fl_asker *asker, fl_span id, int code, fl_span text,
                     fl_span data)
{
    fl_link *link = asker->front->link;

    if (link == NULL) {
        fl_asker_send(asker, id, code, NULL, 0);
        return;
    }
    fl_buf *out = fl_loop_scratch(link->loop);
    int said = is_modern(asker) ? fl_rpc_error_modern(code) : code;
    fl_status rc = fl_rpc_error_write(out, id, said, text, data);
    fl_span whole = rc == FL_OK ? fl_buf_view(out) : (fl_span){0};

    if (asker->batch != NULL)
        fl_asker_send(asker, id, code, &whole, whole.len > 0 ? 1 : 0);
    else if (rc == FL_OK)
        rc = fl_reply_end_retry(asker->reply, status_code(asker, code),
                                asker->retry_s, &whole, 1);
    if (rc == FL_E_TOO_BIG || rc == FL_E_NOMEM) /* no way even to say so */
        fl_link_close(link);
}

static fl_span put(char **at, fl_span text)
{
    fl_span copy = {*at, text.len};

    if (text.len > 0)
        memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return copy;
}

fl_status fl_errand_keep(fl_errand *errand, const fl_msg *msg)
{
    size_t size = sizeof *msg + msg->text.len;

    if (size > errand->copy_size) {
        fl_msg *larger = fl_mem_alloc(size);
        if (larger == NULL)
            return FL_E_NOMEM;
        fl_mem_free(errand->copy);
        errand->copy = larger;
        errand->copy_size = size;
    }
    errand->msg = errand->copy;
    fl_msg_copy(msg, (char *)(errand->msg + 1), errand->msg);
    return FL_OK;
}

/* What an errand needs of its message: in its own room, or in a copy. */
static fl_status keep(fl_errand *errand, const fl_msg *msg, bool whole)
{
    fl_span object = fl_extract_object(msg);
    fl_span token = msg->inner.progress_token;

    if (!whole && msg->id.len + token.len + object.len <= FL_ERRAND_ROOM) {
        char *at = errand->room;
        errand->id = put(&at, msg->id);
        errand->token = put(&at, token);
        errand->object = put(&at, object);
        return FL_OK;
    }
    fl_status rc = fl_errand_keep(errand, msg);
    if (rc != FL_OK)
        return rc;
    errand->id = errand->msg->id;
    errand->token = errand->msg->inner.progress_token;
    errand->object = fl_extract_object(errand->msg);
    return FL_OK;
}

static void leave_front(fl_errand *errand)
{
    fl_front *front = errand->asker.front;

    fl_list_remove(&errand->by_front);
    errand->asker.front = NULL;
    if (front == NULL)
        return;
    front->in_flight--;
    if (front->link != NULL)
        fl_link_release(front->link);
    fl_gateway_settle(front->route->gateway);
}

static void join_front(fl_errand *errand, const fl_asker *asker)
{
    fl_front *front = asker->front;

    errand->asker = *asker;
    fl_list_append(&front->errands, &errand->by_front);
    front->in_flight++;
    fl_link_hold(front->link);
}

fl_errand *fl_errand_new(const fl_asker *asker, const fl_msg *msg,
                         fl_method method, bool whole)
{
    fl_leftovers *leftovers = &asker->front->route->gateway->leftovers;
    fl_errand *errand = fl_leftovers_take(leftovers);

    if (errand == NULL)
        return NULL;
    errand->method = method;
    if (keep(errand, msg, whole) != FL_OK) {
        fl_leftovers_give(leftovers, errand);
        return NULL;
    }
    errand->started_ms = errand->seen_ms =
        fl_loop_now(asker->front->link->loop);
    join_front(errand, asker);
    return errand;
}

void fl_errand_drop(fl_errand *errand)
{
    fl_back *back = errand->back;
    const fl_route *route =
        back != NULL ? back->route : errand->asker.front->route;

    fl_whose_ended(errand);
    fl_cells_drop(errand);
    leave_front(errand);
    fl_list_remove(&errand->by_back);
    if (errand->number != 0)
        fl_numbers_remove(&back->numbers, errand->number);
    fl_leftovers_give(&route->gateway->leftovers, errand);
    if (back == NULL)
        return;
    fl_solo_pass(back);
    fl_back_leave(back);
}

void fl_errand_park(fl_errand *errand)
{
    leave_front(errand);
    errand->state = FL_ERRAND_PARKED;
    errand->seen_ms = fl_loop_now(errand->back->route->gateway->loop);
    fl_list_remove(&errand->by_back);
    fl_list_append(&errand->back->parked, &errand->by_back);
    fl_solo_pass(errand->back);
}

/* What its client took to think is not the server's time. */
static void excuse(fl_errand *errand)
{
    uint64_t now = fl_loop_now(errand->back->route->gateway->loop);

    errand->started_ms += now - errand->seen_ms;
    errand->seen_ms = now;
    errand->state = FL_ERRAND_SENT;
    fl_list_remove(&errand->by_back);
    fl_list_append(&errand->back->sent, &errand->by_back);
}

fl_status fl_errand_resume(fl_errand *errand, const fl_asker *asker,
                           const fl_msg *msg)
{
    fl_status rc = keep(errand, msg, true);

    if (rc != FL_OK)
        return rc;
    join_front(errand, asker);
    excuse(errand);
    return FL_OK;
}

fl_errand *fl_errand_new_own(fl_back *back, fl_method method, fl_own_fn *own,
                             void *user)
{
    fl_errand *errand = fl_leftovers_take(&back->route->gateway->leftovers);

    if (errand == NULL)
        return NULL;
    errand->back = back;
    errand->asker.revision = back->revision;
    errand->method = method;
    errand->own = own;
    errand->user = user;
    errand->started_ms = errand->seen_ms =
        fl_loop_now(back->route->gateway->loop);
    fl_back_lean(back);
    return errand;
}

void fl_errand_end(fl_errand *errand, int code, const fl_span *parts,
                   size_t count)
{
    fl_asker asker = errand->asker;

    fl_rounds_free(errand); /* while its client can be told */
    fl_asker_send(&asker, errand->id, code, parts, count);
    fl_errand_drop(errand);
}

void fl_errand_result(fl_errand *errand, fl_span result)
{
    fl_asker asker = errand->asker;

    fl_rounds_free(errand); /* while its client can be told */
    fl_asker_result(&asker, errand->id, result);
    fl_errand_drop(errand);
}

void fl_errand_fail(fl_errand *errand, int code, fl_span text, fl_span data)
{
    fl_asker asker = errand->asker;

    fl_rounds_free(errand); /* while its client can be told */
    fl_asker_refuse(&asker, errand->id, code, text, data);
    fl_errand_drop(errand);
}

/* Where the reply is a stream its client sees it end; nothing is said. */
void fl_errand_abandon(fl_errand *errand)
{
    fl_errand_end(errand, 0, NULL, 0);
}

fl_status fl_errand_tell(fl_errand *errand, const fl_span *parts, size_t count)
{
    const fl_front *front = errand->asker.front;

    return front != NULL && front->link != NULL
               ? fl_reply_send(errand->asker.reply, parts, count)
               : FL_E_STATE;
}
