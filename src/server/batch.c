/*
 * batch.c - the answers to a JSON-RPC array, gathered into one array.
 */
#include "server/batch.h"

#include "base/mem.h"
#include "base/span.h"

#include <assert.h>

struct fl_batch {
    fl_buf out;
    size_t waiting;
    fl_status status; /* the first thing that went wrong */
};

fl_batch *fl_batch_new(size_t max)
{
    fl_batch *batch = fl_mem_zalloc(sizeof *batch);

    if (batch != NULL)
        fl_buf_init(&batch->out, max);
    return batch;
}

void fl_batch_free(fl_batch *batch)
{
    if (batch == NULL)
        return;
    fl_buf_reset(&batch->out);
    fl_mem_free(batch);
}

void fl_batch_expect(fl_batch *batch)
{
    batch->waiting++;
}

static void append(fl_batch *batch, fl_span bytes)
{
    if (batch->status == FL_OK)
        batch->status = fl_buf_append(&batch->out, bytes);
}

bool fl_batch_add(fl_batch *batch, const fl_span *parts, size_t count)
{
    assert(batch->waiting > 0);
    if (count > 0)
        append(batch,
               fl_buf_len(&batch->out) > 0 ? FL_SPAN(",") : FL_SPAN("["));
    for (size_t i = 0; i < count; i++)
        append(batch, parts[i]);
    return --batch->waiting == 0;
}

fl_status fl_batch_take(fl_batch *batch, fl_span *array)
{
    if (fl_buf_len(&batch->out) > 0)
        append(batch, FL_SPAN("]"));
    *array = fl_buf_view(&batch->out);
    return batch->status;
}
