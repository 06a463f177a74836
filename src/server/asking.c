/*
 * asking.c - what a call wants to know and what it knows, kept by key.
 *
 * Each is one block with its texts behind it. There are a few dozen at most,
 * so they are found by looking at one after the other.
 */
#include "server/asking.h"

#include "base/mem.h"
#include "base/span.h"

static void on_timer(fl_timer *timer)
{
    fl_asking_expire(FL_LIST_ENTRY(timer, fl_asking, timer));
}

fl_asking *fl_asking_of(fl_call *call)
{
    fl_asking *asking = call->asking;

    if (asking != NULL || call->ended) /* nothing would free it any more */
        return asking;
    asking = fl_mem_zalloc(sizeof *asking);
    if (asking == NULL)
        return NULL;
    fl_list_init(&asking->wants);
    fl_list_init(&asking->knowns);
    fl_buf_init(&asking->state, FL_ASKING_STATE);
    fl_buf_init(&asking->task, FL_ASKING_SEALED);
    fl_timer_init(&asking->timer, fl_call_loop(call), on_timer);
    call->asking = asking;
    return asking;
}

void fl_asking_drop(fl_asking *asking)
{
    fl_list *node;

    fl_timer_stop(&asking->timer);
    while ((node = fl_list_take(&asking->wants)) != NULL) {
        fl_want *want = FL_LIST_ENTRY(node, fl_want, node);
        fl_list_remove(&want->listed);
        fl_mem_free(want);
    }
    asking->count = 0;
}

void fl_asking_free(fl_asking *asking)
{
    fl_list *node;

    if (asking == NULL)
        return;
    fl_asking_drop(asking);
    while ((node = fl_list_take(&asking->knowns)) != NULL)
        fl_mem_free(FL_LIST_ENTRY(node, fl_known, node));
    fl_buf_reset(&asking->state);
    fl_buf_reset(&asking->task);
    fl_mem_free(asking);
}

/* Copies a text to `*room`, NUL-terminated, and moves that on. */
static fl_span put(char **room, fl_span text)
{
    fl_span copy = {*room, text.len};

    if (text.len > 0)
        memcpy(*room, text.ptr, text.len);
    (*room)[text.len] = '\0';
    *room += text.len + 1;
    return copy;
}

fl_status fl_asking_want(fl_asking *asking, fl_want_kind kind, fl_span key,
                         fl_span params, fl_span schema)
{
    fl_want *want =
        fl_mem_alloc(sizeof *want + key.len + params.len + schema.len + 3);

    if (want == NULL)
        return FL_E_NOMEM;
    char *room = (char *)(want + 1);
    *want = (fl_want){
        .asking = asking,
        .kind = kind,
        .key = put(&room, key),
        .params = put(&room, params),
        .schema = put(&room, schema),
    };
    fl_list_init(&want->listed);
    fl_list_append(&asking->wants, &want->node);
    asking->count++;
    return FL_OK;
}

fl_want *fl_asking_find(const fl_asking *asking, fl_span key)
{
    for (fl_list *node = asking->wants.next; node != &asking->wants;
         node = node->next) {
        fl_want *want = FL_LIST_ENTRY(node, fl_want, node);
        if (fl_span_equal(want->key, key))
            return want;
    }
    return NULL;
}

const fl_known *fl_asking_known(const fl_asking *asking, fl_span key)
{
    for (fl_list *node = asking->knowns.next; node != &asking->knowns;
         node = node->next) {
        const fl_known *known = FL_LIST_ENTRY(node, fl_known, node);
        if (fl_span_equal(known->key, key))
            return known;
    }
    return NULL;
}

/* What a client tells a call that waits for it stays as long as the call does:
 * it is counted with the call's message. A call that does not wait is over
 * with its request. */
static bool admit(fl_call *call, size_t bytes)
{
    if (call == NULL)
        return true;
    fl_session *session = call->to.session;
    if (bytes > 0 && session->kept + bytes > FL_SESSION_KEPT_MAX)
        return false;
    call->kept += bytes;
    session->kept += bytes;
    return true;
}

fl_status fl_asking_learn(fl_asking *asking, fl_span key, fl_input input,
                          fl_span content)
{
    if (!admit(asking->call, content.len))
        return FL_E_LIMIT;
    fl_known *known = fl_mem_alloc(sizeof *known + key.len + content.len + 2);
    if (known == NULL)
        return FL_E_NOMEM;
    char *room = (char *)(known + 1);
    *known = (fl_known){
        .input = input,
        .key = put(&room, key),
        .content = put(&room, content),
    };
    fl_list_append(&asking->knowns, &known->node);
    return FL_OK;
}
