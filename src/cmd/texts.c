/*
 * texts.c - a growing list of strings that belong to it.
 *
 * The place after the last is always NULL, as argv wants it.
 */
#include "cmd/texts.h"

#include "base/mem.h"
#include "base/span.h"

#include <string.h>

enum { FIRST_ROOM = 8 };

/* For one more and the NULL behind it. */
static bool make_room(fl_texts *list)
{
    if (list->count + 1 < list->room)
        return true;
    size_t room = list->room > 0 ? list->room * 2 : FIRST_ROOM;
    char **items = fl_mem_realloc(list->items, room * sizeof *items);
    if (items == NULL)
        return false;
    list->items = items;
    list->room = room;
    return true;
}

/* Takes `text`, which is NULL if there was no memory for it. */
static void take(fl_texts *list, char *text)
{
    if (list->failed || text == NULL || !make_room(list)) {
        list->failed = true;
        fl_mem_free(text);
        return;
    }
    list->items[list->count++] = text;
    list->items[list->count] = NULL;
}

void fl_texts_add_span(fl_texts *list, fl_span text)
{
    take(list, fl_mem_string(text));
}

void fl_texts_add(fl_texts *list, const char *text)
{
    fl_texts_add_span(list, fl_span_of(text));
}

void fl_texts_move(fl_texts *list, fl_texts *from)
{
    list->failed = list->failed || from->failed;
    for (size_t i = 0; i < from->count; i++) {
        take(list, from->items[i]);
        from->items[i] = NULL;
    }
    from->count = 0;
    fl_texts_deinit(from);
}

void fl_texts_deinit(fl_texts *list)
{
    for (size_t i = 0; i < list->count; i++) {
        fl_mem_wipe(list->items[i], strlen(list->items[i]));
        fl_mem_free(list->items[i]);
    }
    fl_mem_free(list->items);
    *list = (fl_texts){0};
}
