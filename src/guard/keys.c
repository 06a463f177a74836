/*
 * keys.c - the keys that clients must show.
 *
 * They are few, and each request is compared with all of them, to the last
 * byte: how long that takes says nothing about any but how long it is. A new
 * list is put together beside the old one, so that one that is wrong changes
 * nothing; keys that are in both keep their numbers, and with these their
 * sessions.
 */
#include "guard/keys.h"

#include "base/mem.h"
#include "base/random.h"
#include "base/span.h"
#include "base/status.h"

#include <stdio.h>

typedef struct key {
    uint64_t number;
    char *text;
    size_t len;
} key;

struct fl_keys {
    unsigned refs;
    key *items;
    size_t count;
    uint32_t tag;  /* the upper half of every number */
    uint32_t last; /* the lower half of the latest */
    fl_list watches;
};

fl_keys *fl_keys_new(void)
{
    fl_keys *keys = fl_mem_zalloc(sizeof *keys);

    if (keys == NULL)
        return NULL;
    keys->refs = 1;
    fl_list_init(&keys->watches);
    if (fl_random_bytes(&keys->tag, sizeof keys->tag) != FL_OK) {
        fl_mem_free(keys);
        return NULL;
    }
    return keys;
}

fl_keys *fl_keys_ref(fl_keys *keys)
{
    keys->refs++;
    return keys;
}

static void free_items(key *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fl_mem_wipe(items[i].text, items[i].len);
        fl_mem_free(items[i].text);
    }
    fl_mem_free(items);
}

void fl_keys_free(fl_keys *keys)
{
    if (keys == NULL || --keys->refs > 0)
        return;
    free_items(keys->items, keys->count);
    fl_mem_free(keys);
}

/* To the end, wherever they differ. */
static bool is_same(const char *a, const char *b, size_t len)
{
    unsigned difference = 0;

    for (size_t i = 0; i < len; i++)
        difference |= (unsigned char)a[i] ^ (unsigned)(unsigned char)b[i];
    return difference == 0;
}

uint64_t fl_keys_find(const fl_keys *keys, fl_span text)
{
    uint64_t found = 0;

    for (size_t i = 0; i < keys->count; i++) {
        const key *one = &keys->items[i];
        if (one->len == text.len && is_same(one->text, text.ptr, text.len))
            found = one->number;
    }
    return found;
}

bool fl_keys_has(const fl_keys *keys, uint64_t number)
{
    for (size_t i = 0; i < keys->count; i++)
        if (keys->items[i].number == number)
            return true;
    return false;
}

fl_status fl_keys_check(fl_span text, const char *where, fl_error *error)
{
    if (text.len == 0)
        return fl_error_set(error, FL_E_INVALID, "%s: the key is empty", where);
    if (text.len > FL_KEYS_TEXT)
        return fl_error_set(error, FL_E_INVALID,
                            "%s: a key of %zu characters; %d are allowed",
                            where, text.len, FL_KEYS_TEXT);
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~')
            return fl_error_set(error, FL_E_INVALID,
                                "%s: the character at %zu cannot be sent in a "
                                "header; keys are of visible ASCII, without "
                                "blanks",
                                where, i + 1);
    return FL_OK;
}

/* One that is there already keeps its number; one that is there twice counts
 * once. */
static fl_status add(const fl_keys *keys, fl_keys *fresh, fl_span text)
{
    if (fl_keys_find(fresh, text) != 0)
        return FL_OK;
    char *copy = fl_mem_string(text);
    if (copy == NULL)
        return FL_E_NOMEM;
    uint64_t number = fl_keys_find(keys, text);
    if (number == 0)
        number = (uint64_t)keys->tag << 32 | ++fresh->last;
    fresh->items[fresh->count++] = (key){number, copy, text.len};
    return FL_OK;
}

static fl_status check_all(const char *const *list, size_t *count,
                           fl_error *error)
{
    fl_status rc = FL_OK;
    char where[32];

    for (*count = 0; rc == FL_OK && list[*count] != NULL; ++*count) {
        snprintf(where, sizeof where, "key number %zu", *count + 1);
        rc = *count < FL_KEYS_MAX
                 ? fl_keys_check(fl_span_of(list[*count]), where, error)
                 : fl_error_set(error, FL_E_LIMIT, "more than %d keys",
                                FL_KEYS_MAX);
    }
    if (rc == FL_OK && *count == 0)
        rc = fl_error_set(error, FL_E_INVALID, "there is no key");
    return rc;
}

static void tell(fl_keys *keys)
{
    for (fl_list *node = keys->watches.next; node != &keys->watches;) {
        fl_keys_watch *watch = FL_LIST_ENTRY(node, fl_keys_watch, node);
        node = node->next;
        watch->changed(watch->user);
    }
}

fl_status fl_keys_set(fl_keys *keys, const char *const *list, fl_error *error)
{
    fl_keys fresh = {.last = keys->last};
    size_t count;
    fl_status rc = check_all(list, &count, error);

    if (rc != FL_OK)
        return rc;
    fresh.items = fl_mem_zalloc(count * sizeof *fresh.items);
    rc = fresh.items != NULL ? FL_OK : FL_E_NOMEM;
    for (size_t i = 0; i < count && rc == FL_OK; i++)
        rc = add(keys, &fresh, fl_span_of(list[i]));
    if (rc != FL_OK) {
        free_items(fresh.items, fresh.count);
        return fl_error_set(error, rc, "out of memory");
    }
    free_items(keys->items, keys->count);
    keys->items = fresh.items;
    keys->count = fresh.count;
    keys->last = fresh.last;
    tell(keys);
    return FL_OK;
}

void fl_keys_watch_begin(fl_keys *keys, fl_keys_watch *watch)
{
    fl_list_append(&keys->watches, &watch->node);
}

void fl_keys_watch_end(fl_keys_watch *watch)
{
    fl_list_remove(&watch->node);
}
