/*
 * return.c - the one way answers leave: to the link, or into the batch their
 * request came in.
 */
#include "base/span.h"
#include "io/loop.h"
#include "peer/session.h"
#include "rpc/error.h"

#include "json/write.h"
#include <stdio.h>

enum { DATA_MAX = 512 }; /* of what an error repeats to its sender */

/* An answer over the limit must not go, and the asker must not wait. */
static void refuse_size(fl_return to, fl_span id)
{
    fl_link_info info;
    char data[48];

    fl_link_get_info(to.session->link, &info);
    int n = snprintf(data, sizeof data, "{\"limit\":%zu}", info.max_message);
    fl_return_error(to, id, FL_RPC_INTERNAL_ERROR,
                    FL_SPAN("the answer is larger than a message may be"),
                    (fl_span){data, (size_t)n});
}

static void send_batch(fl_return to)
{
    fl_span array;
    fl_status rc = fl_batch_take(to.batch, &array);

    if (to.session->link != NULL && rc == FL_OK)
        rc = fl_reply_end(to.reply, &array, array.len > 0 ? 1 : 0);
    if (to.session->link != NULL && rc != FL_OK)
        fl_link_close(to.session->link); /* better than half an array */
    fl_batch_free(to.batch);
}

void fl_return_send(fl_return to, fl_span id, const fl_span *parts,
                    size_t count)
{
    if (to.batch != NULL) {
        if (fl_batch_add(to.batch, parts, count))
            send_batch(to);
    } else if (to.session->link != NULL &&
               fl_reply_end(to.reply, parts, count) == FL_E_TOO_BIG) {
        refuse_size(to, id);
    }
}

void fl_return_result(fl_return to, fl_span id, fl_span result)
{
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
        id,
        FL_SPAN(",\"result\":"),
        result,
        FL_SPAN("}"),
    };
    fl_return_send(to, id, parts, 5);
}

void fl_return_error(fl_return to, fl_span id, int code, fl_span message,
                     fl_span data)
{
    fl_buf *out = fl_loop_scratch(to.session->loop);
    fl_link *link = to.session->link;
    fl_span whole = {0};

    if (fl_rpc_error_write(out, id, code, message, data) == FL_OK)
        whole = fl_buf_view(out);
    else if (link != NULL)
        fl_link_close(link); /* no memory even to say so */
    if (to.batch != NULL)
        fl_return_send(to, id, &whole, whole.len > 0 ? 1 : 0);
    else if (link != NULL && whole.len > 0 &&
             fl_reply_end(to.reply, &whole, 1) == FL_E_TOO_BIG)
        fl_link_close(link); /* an id nearly as long as a message may be */
}

void fl_return_refuse(fl_return to, fl_span id, int code, const char *message,
                      const char *key, fl_span value)
{
    fl_buf data;
    fl_json_writer writer;

    fl_buf_init(&data, DATA_MAX);
    fl_json_writer_init(&writer, &data);
    fl_json_object(&writer);
    fl_json_key(&writer, key);
    fl_json_raw(&writer, value);
    fl_json_object_end(&writer);
    /* a value too long to repeat is left out */
    bool fits = fl_json_writer_end(&writer) == FL_OK;
    fl_return_error(to, id, code, fl_span_of(message),
                    fits ? fl_buf_view(&data) : (fl_span){0});
    fl_buf_reset(&data);
}
