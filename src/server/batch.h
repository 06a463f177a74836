/*
 * batch.h - the answers to a JSON-RPC array, gathered into one array.
 *
 * Only revision 2025-03-26 has these. On a channel the array leaves when the
 * last request in it has been answered; requests may be answered in any
 * order, and late.
 */
#ifndef FL_SERVER_BATCH_H
#define FL_SERVER_BATCH_H

#include "base/buf.h"

typedef struct fl_batch fl_batch;

/* NULL when there is no memory. `max` bounds the array. */
FL_MUST_USE fl_batch *fl_batch_new(size_t max);
void fl_batch_free(fl_batch *batch);

/* One more answer to wait for. */
void fl_batch_expect(fl_batch *batch);

/* One answer less to wait for; an empty one adds nothing. True: that was the
 * last one, take the array and free the batch. */
bool fl_batch_add(fl_batch *batch, const fl_span *parts, size_t count);

/* The array; empty if nothing was answered (notifications only). FL_E_NOMEM
 * or FL_E_TOO_BIG if an answer did not fit. */
FL_MUST_USE fl_status fl_batch_take(fl_batch *batch, fl_span *array);

#endif
