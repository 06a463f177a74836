/*
 * parks.c - all calls of a gateway that wait for their clients to come back.
 */
#include "gateway/parks.h"

#include "base/mem.h"
#include "base/random.h"
#include "base/span.h"

fl_parks *fl_parks_new(void)
{
    fl_parks *parks = fl_mem_zalloc(sizeof *parks);

    if (parks == NULL)
        return NULL;
    fl_map_init(&parks->by_id, FL_PARKS_MAX);
    fl_map_init(&parks->by_principal, FL_PARKS_MAX);
    if (fl_park_key_make(&parks->key) == FL_OK)
        return parks;
    fl_parks_free(parks);
    return NULL;
}

void fl_parks_free(fl_parks *parks)
{
    if (parks == NULL)
        return;
    fl_map_deinit(&parks->by_id);
    fl_map_deinit(&parks->by_principal);
    fl_mem_wipe(&parks->key, sizeof parks->key);
    fl_mem_free(parks);
}

static fl_span name(const unsigned char *bytes, size_t size)
{
    return (fl_span){(const char *)bytes, size};
}

static void uncount(fl_parks *parks, const unsigned char principal[FL_SHA256])
{
    size_t *count =
        fl_map_get(&parks->by_principal, name(principal, FL_SHA256));

    if (count == NULL || --*count > 0)
        return;
    fl_map_remove(&parks->by_principal, name(principal, FL_SHA256));
    fl_mem_free(count);
}

static fl_status count_first(fl_parks *parks, fl_span principal)
{
    size_t *count = fl_mem_alloc(sizeof *count);

    if (count == NULL)
        return FL_E_NOMEM;
    *count = 1;
    fl_status rc = fl_map_add(&parks->by_principal, principal, count);
    if (rc != FL_OK)
        fl_mem_free(count);
    return rc;
}

static fl_status count_one(fl_parks *parks,
                           const unsigned char principal[FL_SHA256])
{
    size_t *count =
        fl_map_get(&parks->by_principal, name(principal, FL_SHA256));

    if (count == NULL)
        return count_first(parks, name(principal, FL_SHA256));
    if (*count >= FL_PARKS_OF_ONE)
        return FL_E_LIMIT;
    ++*count;
    return FL_OK;
}

fl_status fl_parks_add(fl_parks *parks, fl_park *park,
                       const unsigned char principal[FL_SHA256],
                       unsigned char id[FL_PARK_ID])
{
    fl_status rc = count_one(parks, principal);

    if (rc != FL_OK)
        return rc;
    rc = fl_random_bytes(id, FL_PARK_ID);
    if (rc == FL_OK)
        rc = fl_map_add(&parks->by_id, name(id, FL_PARK_ID), park);
    if (rc != FL_OK)
        uncount(parks, principal);
    return rc;
}

void fl_parks_remove(fl_parks *parks, const unsigned char id[FL_PARK_ID],
                     const unsigned char principal[FL_SHA256], bool ended)
{
    fl_map_remove(&parks->by_id, name(id, FL_PARK_ID));
    uncount(parks, principal);
    if (!ended)
        return;
    memcpy(parks->ended[parks->next], id, FL_PARK_ID);
    parks->next = (parks->next + 1) % FL_PARKS_ENDED;
}

fl_park *fl_parks_find(const fl_parks *parks,
                       const unsigned char id[FL_PARK_ID], fl_park_fault *fault)
{
    fl_park *park = fl_map_get(&parks->by_id, name(id, FL_PARK_ID));

    *fault = park != NULL ? FL_PARK_FINE : FL_PARK_LOST;
    for (size_t i = 0; park == NULL && i < FL_PARKS_ENDED; i++)
        if (memcmp(parks->ended[i], id, FL_PARK_ID) == 0)
            *fault = FL_PARK_REPLAYED;
    return park;
}
