/*
 * catalog.c - a list a server has: added to, found in, told in pages.
 */
#include "server/catalog.h"

#include "base/base64.h"
#include "base/mem.h"
#include "base/span.h"
#include "server/cache.h"
#include "json/nav.h"
#include "json/scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    LIST_MAX = 64 * 1024 * 1024,
    KEY_MAX_BYTES = 8192,
    CURSOR_MAX = 64,
};

void fl_catalog_init(fl_catalog *catalog, const fl_catalog_kind *kind)
{
    *catalog = (fl_catalog){.kind = kind};
    fl_map_init(&catalog->by_key, FL_CATALOG_MAX);
    for (size_t i = 0; i < FL_CATALOG_LISTS; i++)
        fl_buf_init(&catalog->lists[i], LIST_MAX);
}

static void forget_lists(fl_catalog *catalog)
{
    for (size_t i = 0; i < FL_CATALOG_LISTS; i++)
        fl_buf_reset(&catalog->lists[i]);
}

void fl_catalog_deinit(fl_catalog *catalog)
{
    for (size_t i = 0; i < catalog->count; i++)
        fl_entry_unref(catalog->entries[i]);
    fl_mem_free(catalog->entries);
    fl_map_deinit(&catalog->by_key);
    forget_lists(catalog);
    *catalog = (fl_catalog){0};
}

static fl_status grow(fl_catalog *catalog)
{
    if (catalog->count < catalog->cap)
        return FL_OK;
    size_t cap = catalog->cap > 0 ? catalog->cap * 2 : 8;
    fl_entry **grown =
        fl_mem_realloc(catalog->entries, cap * sizeof(fl_entry *));
    if (grown == NULL)
        return FL_E_NOMEM;
    catalog->entries = grown;
    catalog->cap = cap;
    return FL_OK;
}

fl_status fl_catalog_add(fl_catalog *catalog, fl_entry *entry)
{
    fl_status rc = grow(catalog);

    if (rc == FL_OK)
        rc = fl_map_add(&catalog->by_key, fl_span_of(entry->key), entry);
    if (rc != FL_OK)
        return rc;
    entry->number = ++catalog->last_number;
    catalog->entries[catalog->count++] = entry;
    catalog->completers += entry->complete != NULL ? 1 : 0;
    forget_lists(catalog);
    return FL_OK;
}

/* The place of the first entry with a number past this one. */
static size_t place_after(const fl_catalog *catalog, uint64_t number)
{
    size_t low = 0, high = catalog->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (catalog->entries[middle]->number <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

fl_status fl_catalog_remove(fl_catalog *catalog, fl_span key)
{
    fl_entry *entry = fl_map_remove(&catalog->by_key, key);

    if (entry == NULL)
        return FL_E_NOT_FOUND;
    size_t after = place_after(catalog, entry->number);
    memmove(&catalog->entries[after - 1], &catalog->entries[after],
            (catalog->count - after) * sizeof(fl_entry *));
    catalog->count--;
    catalog->completers -= entry->complete != NULL ? 1 : 0;
    catalog->last = NULL;
    forget_lists(catalog);
    fl_entry_unref(entry);
    return FL_OK;
}

fl_entry *fl_catalog_find(fl_catalog *catalog, fl_span key)
{
    if (catalog->last != NULL && fl_span_same_name(catalog->last_key, key))
        return catalog->last;
    fl_entry *found = fl_map_get(&catalog->by_key, key);
    if (found != NULL && fl_span_find(key, '\\') == key.len) {
        catalog->last = found;
        catalog->last_key = fl_span_of(found->key);
    }
    return found;
}

fl_entry *fl_catalog_find_token(fl_catalog *catalog, fl_span token)
{
    fl_span inside = {token.ptr + 1, token.len - 2};
    fl_entry *found = NULL;
    fl_buf text;

    /* it has no backslash: what is spelled like it has none either */
    if (catalog->last != NULL && fl_span_same_name(catalog->last_key, inside))
        return catalog->last;
    /* almost none has an escape in it */
    if (fl_span_find(inside, '\\') == inside.len)
        return fl_catalog_find(catalog, inside);
    fl_buf_init(&text, KEY_MAX_BYTES);
    if (fl_json_string_copy(token, &text) == FL_OK)
        found = fl_catalog_find(catalog, fl_buf_view(&text));
    fl_buf_reset(&text);
    return found;
}

/*
 * A cursor is "<member>:<number>" in Base64: nobody's business, but ours may
 * not be taken for another list's.
 */
void fl_catalog_write_cursor(fl_json_writer *writer, const char *member,
                             uint64_t number)
{
    char plain[CURSOR_MAX], coded[2 * CURSOR_MAX];

    int n = snprintf(plain, sizeof plain, "%s:%" PRIu64, member, number);
    fl_base64_put((fl_span){plain, (size_t)n}, coded);
    fl_json_key(writer, "nextCursor");
    fl_json_text(writer, (fl_span){coded, ((size_t)n + 2) / 3 * 4});
}

/* The digits after the prefix, all of them. */
static fl_status read_number(fl_span text, uint64_t *number)
{
    *number = 0;
    if (text.len == 0 || text.len > 19)
        return FL_E_INVALID;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return FL_E_INVALID;
        *number = *number * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    return FL_OK;
}

static fl_status parse_cursor(fl_span member, fl_span plain, uint64_t *number)
{
    if (!fl_span_starts(plain, member) || plain.len <= member.len ||
        plain.ptr[member.len] != ':')
        return FL_E_INVALID;
    return read_number(fl_span_from(plain, member.len + 1), number);
}

fl_status fl_catalog_read_cursor(const char *member, fl_span token,
                                 uint64_t *number)
{
    fl_buf plain;

    *number = 0;
    if (token.len == 0)
        return FL_OK;
    if (fl_json_type_of(token) != FL_JSON_STRING)
        return FL_E_INVALID;
    fl_buf_init(&plain, CURSOR_MAX);
    fl_span coded = {token.ptr + 1, token.len - 2};
    fl_status rc = fl_base64_decode(coded, &plain);
    if (rc == FL_OK)
        rc = parse_cursor(fl_span_of(member), fl_buf_view(&plain), number);
    fl_buf_reset(&plain);
    return rc == FL_E_NOMEM ? rc : rc == FL_OK ? FL_OK : FL_E_INVALID;
}

static fl_status write_list(fl_catalog *catalog, const fl_catalog_page *page,
                            size_t from, fl_buf *out)
{
    size_t to =
        catalog->count - from > page->size ? from + page->size : catalog->count;
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, catalog->kind->member);
    fl_json_array(&writer);
    for (size_t i = from; i < to; i++)
        catalog->kind->write(&writer, catalog->entries[i], page->revision);
    fl_json_array_end(&writer);
    if (to < catalog->count)
        fl_catalog_write_cursor(&writer, catalog->kind->member,
                                catalog->entries[to - 1]->number);
    if (fl_revision_has(page->revision, FL_HAS_DISCOVER))
        fl_cache_write_hints(&writer);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

fl_status fl_catalog_list(fl_catalog *catalog, const fl_catalog_page *page,
                          fl_buf *scratch, fl_span *result)
{
    bool whole = page->cursor.len == 0 && catalog->count <= page->size;
    fl_buf *out = whole ? &catalog->lists[page->revision->id] : scratch;
    uint64_t after;
    fl_status rc =
        fl_catalog_read_cursor(catalog->kind->member, page->cursor, &after);

    *result = (fl_span){0};
    if (rc != FL_OK)
        return rc;
    if (!whole || fl_buf_len(out) == 0) {
        fl_buf_clear(out);
        rc = write_list(catalog, page, place_after(catalog, after), out);
        if (rc != FL_OK)
            fl_buf_reset(out);
    }
    *result = fl_buf_view(out);
    return rc;
}

void fl_catalog_write_text(fl_json_writer *writer, const char *key,
                           const char *text)
{
    if (text == NULL)
        return;
    fl_json_key(writer, key);
    fl_json_string(writer, text);
}

void fl_catalog_write_json(fl_json_writer *writer, const char *key,
                           const char *json)
{
    if (json == NULL)
        return;
    fl_json_key(writer, key);
    fl_json_raw(writer, fl_span_of(json));
}

void *fl_catalog_copy(size_t size, const char **texts, size_t count)
{
    size_t room = size;

    for (size_t i = 0; i < count; i++)
        room += texts[i] != NULL ? strlen(texts[i]) + 1 : 0;
    char *made = fl_mem_zalloc(room);
    if (made == NULL)
        return NULL;
    char *at = made + size;
    for (size_t i = 0; i < count; i++) {
        if (texts[i] == NULL)
            continue;
        size_t len = strlen(texts[i]) + 1;
        memcpy(at, texts[i], len);
        texts[i] = at;
        at += len;
    }
    return made;
}

bool fl_catalog_is_json(const char *json, char open)
{
    fl_json_top top;

    return json == NULL ||
           (fl_json_scan(fl_span_of(json), 0, &top, NULL) == FL_OK &&
            top.value.ptr[0] == open);
}
