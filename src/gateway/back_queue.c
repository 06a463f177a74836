/*
 * back_queue.c - what waits for a server that is not there, or for a turn
 * (solo.h): how much of it.
 *
 * The bound is one for all conversations with a server. It is counted when
 * somebody is to be added, which few requests are; so nothing has to be kept up
 * to date on the way of all others.
 */
#include "base/span.h"
#include "base/status.h"
#include "gateway/gateway.h"
#include "gateway/route.h"

#include <stdio.h>

typedef struct load {
    size_t count, bytes;
} load;

static void add(load *all, const fl_list *waiting, size_t most)
{
    for (fl_list *node = waiting->next; node != waiting && all->count <= most;
         node = node->next) {
        const fl_errand *errand = FL_LIST_ENTRY(node, fl_errand, by_back);
        all->count++;
        all->bytes += errand->msg != NULL ? errand->msg->text.len : 0;
    }
}

/* A longer queue than is allowed need not be counted to its end. */
static load measure(const fl_route *route)
{
    load all = {0};

    for (fl_list *node = route->backs.next; node != &route->backs;
         node = node->next) {
        const fl_back *back = FL_LIST_ENTRY(node, fl_back, node);
        add(&all, &back->waiting, route->upstream.queue_max);
    }
    return all;
}

static void refuse(fl_errand *errand, const char *what, size_t limit,
                   const char *name)
{
    const fl_error *last = &errand->back->replica->health.why;
    char data[96];
    fl_error why;

    fl_error_set(&why, FL_BUSY,
                 "Upstream unavailable: %zu %s wait for it already, and no "
                 "more may (%s)%s%s",
                 limit, what, name, last->status != FL_OK ? "; last: " : "",
                 last->status != FL_OK ? last->text : "");
    int n = snprintf(data, sizeof data, "{\"%s\":%zu,\"retryAfter\":1}", name,
                     limit);
    fl_back_fail_with(errand, &why, (fl_span){data, (size_t)n}, 1);
}

bool fl_back_queue_takes(fl_errand *errand)
{
    const fl_upstream *upstream = &errand->back->route->upstream;
    load all = measure(errand->back->route);
    size_t more = errand->msg != NULL ? errand->msg->text.len : 0;

    if (all.count >= upstream->queue_max)
        refuse(errand, "requests", upstream->queue_max, "queueMax");
    else if (all.bytes + more > upstream->queue_bytes)
        refuse(errand, "bytes", upstream->queue_bytes, "queueBytes");
    else
        return true;
    return false;
}
