/*
 * leftovers.c - errands that have ended, kept for those that come.
 *
 * The last one given back is the first one taken: it is the one whose memory
 * is still near.
 */
#include "gateway/leftovers.h"

#include "base/mem.h"

#include <string.h>

/* Where every use after the end is to be found, memory is not used again. */
#ifdef __SANITIZE_ADDRESS__
enum { LEFTOVERS_MAX = 0 };
#else
enum { LEFTOVERS_MAX = 128 };
#endif

enum { COPY_MAX = 4096 };

void fl_leftovers_init(fl_leftovers *leftovers)
{
    fl_list_init(&leftovers->list);
    leftovers->count = 0;
}

static void destroy(fl_errand *errand)
{
    fl_mem_free(errand->copy);
    fl_mem_free(errand);
}

void fl_leftovers_deinit(fl_leftovers *leftovers)
{
    fl_list *node;

    while ((node = fl_list_take(&leftovers->list)) != NULL)
        destroy(FL_LIST_ENTRY(node, fl_errand, by_front));
    leftovers->count = 0;
}

static fl_errand *take_last(fl_leftovers *leftovers)
{
    fl_list *node = leftovers->list.prev;

    if (node == &leftovers->list)
        return NULL;
    fl_list_remove(node);
    leftovers->count--;
    return FL_LIST_ENTRY(node, fl_errand, by_front);
}

fl_errand *fl_leftovers_take(fl_leftovers *leftovers)
{
    fl_errand *errand = take_last(leftovers);
    fl_msg *copy = errand != NULL ? errand->copy : NULL;
    size_t copy_size = errand != NULL ? errand->copy_size : 0;

    if (errand == NULL)
        errand = fl_mem_alloc(sizeof *errand);
    if (errand == NULL)
        return NULL;
    memset(errand, 0, offsetof(fl_errand, room));
    errand->copy = copy;
    errand->copy_size = copy_size;
    fl_list_init(&errand->by_front);
    fl_list_init(&errand->by_back);
    return errand;
}

void fl_leftovers_give(fl_leftovers *leftovers, fl_errand *errand)
{
    if (leftovers->count + 1 > LEFTOVERS_MAX) {
        destroy(errand);
        return;
    }
    if (errand->copy_size > COPY_MAX) {
        fl_mem_free(errand->copy);
        errand->copy = NULL;
        errand->copy_size = 0;
    }
    fl_list_append(&leftovers->list, &errand->by_front);
    leftovers->count++;
}
