/*
 * list.h - a ring of nodes embedded in the things they list.
 *
 * A node that is in no list points to itself, so removing twice is harmless
 * and "am I queued?" needs no flag.
 */
#ifndef FL_BASE_LIST_H
#define FL_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct fl_list {
    struct fl_list *next;
    struct fl_list *prev;
} fl_list;

/* The struct of type `type` whose member `member` is the node. */
#define FL_LIST_ENTRY(node, type, member)                                      \
    ((type *)(void *)((char *)(node)-offsetof(type, member)))

static inline void fl_list_init(fl_list *node)
{
    node->next = node->prev = node;
}

static inline bool fl_list_empty(const fl_list *node)
{
    return node->next == node;
}

/* Puts `node`, which is in no list, at the end of `head`. */
static inline void fl_list_append(fl_list *head, fl_list *node)
{
    node->prev = head->prev;
    node->next = head;
    head->prev->next = node;
    head->prev = node;
}

/* Likewise at the beginning: what was put there last is taken first, and is
 * still warm. */
static inline void fl_list_prepend(fl_list *head, fl_list *node)
{
    fl_list_append(head->next, node);
}

static inline void fl_list_remove(fl_list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    fl_list_init(node);
}

/* Takes the first node off, or returns NULL. */
static inline fl_list *fl_list_take(fl_list *head)
{
    fl_list *first = head->next;

    if (first == head)
        return NULL;
    fl_list_remove(first);
    return first;
}

/*
 * Moves every node of `from` to the empty `to`. The way to walk a list whose
 * members may come and go meanwhile: move it away, then take one at a time.
 */
static inline void fl_list_move(fl_list *to, fl_list *from)
{
    fl_list_init(to);
    if (fl_list_empty(from))
        return;
    *to = *from;
    to->next->prev = to;
    to->prev->next = to;
    fl_list_init(from);
}

#endif
