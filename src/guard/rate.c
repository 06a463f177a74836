/*
 * rate.c - how often one address may do a thing.
 *
 * A bucket is kept upside down: not what is in it but what is missing, its
 * debt, in thousandths of a token. At `per_second` tokens a second that many
 * thousandths are paid back each millisecond, so all of it is whole numbers,
 * and a debt that is paid needs no multiplication that could overflow, however
 * far apart two readings of the clock are. A clock that goes backwards pays
 * nothing and takes nothing: the bucket counts on from the new time.
 *
 * When a stranger comes to a full table, the one to go is a bucket without
 * debt. All buckets lie in a heap by the time at which they will be free of
 * it, so the first is the only one to look at.
 */
#include "guard/rate.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/span.h"

#include <assert.h>

enum { TOKEN = 1000 };

struct account {
    uint64_t debt;
    uint64_t at_ms; /* when `debt` was last brought up to date */
};

struct bucket {
    struct account account;
    size_t place; /* in the heap */
    size_t len;
    char key[];
};

struct fl_rate {
    uint64_t per_second;
    uint64_t most; /* debt at which a bucket is empty */
    size_t max_keys;
    fl_map buckets;
    struct account common; /* of those the table has no room for */
    struct bucket *heap[];
};

fl_rate *fl_rate_new(unsigned per_second, unsigned burst, size_t max_keys)
{
    assert(per_second > 0 && burst > 0 && max_keys > 0);
    assert(max_keys < SIZE_MAX / 2 / sizeof(struct bucket *));
    fl_rate *rate = fl_mem_zalloc(sizeof *rate + max_keys * sizeof(void *));

    if (rate == NULL)
        return NULL;
    rate->per_second = per_second;
    rate->most = (uint64_t)burst * TOKEN;
    rate->max_keys = max_keys;
    fl_map_init(&rate->buckets, max_keys);
    return rate;
}

void fl_rate_free(fl_rate *rate)
{
    if (rate == NULL)
        return;
    for (size_t i = 0; i < fl_map_count(&rate->buckets); i++)
        fl_mem_free(rate->heap[i]);
    fl_map_deinit(&rate->buckets);
    fl_mem_free(rate);
}

/* How many milliseconds it takes to pay `debt` back. */
static uint64_t time_for(const fl_rate *rate, uint64_t debt)
{
    return debt / rate->per_second + (debt % rate->per_second != 0);
}

static uint64_t free_at(const fl_rate *rate, const struct bucket *bucket)
{
    const struct account *account = &bucket->account;
    uint64_t wait = time_for(rate, account->debt);

    return wait < UINT64_MAX - account->at_ms ? account->at_ms + wait
                                              : UINT64_MAX;
}

static void put(fl_rate *rate, size_t place, struct bucket *bucket)
{
    rate->heap[place] = bucket;
    bucket->place = place;
}

static bool is_before(const fl_rate *rate, size_t a, size_t b)
{
    return free_at(rate, rate->heap[a]) < free_at(rate, rate->heap[b]);
}

static void swap(fl_rate *rate, size_t a, size_t b)
{
    struct bucket *held = rate->heap[a];

    put(rate, a, rate->heap[b]);
    put(rate, b, held);
}

/* Moves a bucket whose time has changed to where it belongs: up if the clock
 * went back, else down. */
static void reseat(fl_rate *rate, size_t at, size_t count)
{
    for (; at > 0 && is_before(rate, at, (at - 1) / 2); at = (at - 1) / 2)
        swap(rate, at, (at - 1) / 2);

    for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_before(rate, child + 1, child))
            child++;
        if (!is_before(rate, child, at))
            return;
        swap(rate, at, child);
        at = child;
    }
}

/* Lets the first bucket go, if it says nothing any more. */
static bool make_room(fl_rate *rate, uint64_t now_ms)
{
    struct bucket *first = rate->heap[0];
    size_t last = fl_map_count(&rate->buckets) - 1;

    if (free_at(rate, first) > now_ms)
        return false;
    fl_map_remove(&rate->buckets, (fl_span){first->key, first->len});
    if (last > 0) {
        put(rate, 0, rate->heap[last]);
        reseat(rate, 0, last);
    }
    fl_mem_free(first);
    return true;
}

/* A bucket of its own for a new key, or NULL: then it shares. */
static struct bucket *admit(fl_rate *rate, fl_span key, uint64_t now_ms)
{
    if (fl_map_count(&rate->buckets) == rate->max_keys &&
        !make_room(rate, now_ms))
        return NULL;

    struct bucket *bucket = fl_mem_alloc(sizeof *bucket + key.len);
    if (bucket == NULL)
        return NULL;
    if (fl_map_add(&rate->buckets, key, bucket) != FL_OK) {
        fl_mem_free(bucket);
        return NULL;
    }
    bucket->account = (struct account){.at_ms = now_ms};
    bucket->len = key.len;
    if (key.len > 0)
        memcpy(bucket->key, key.ptr, key.len);
    size_t count = fl_map_count(&rate->buckets);
    put(rate, count - 1, bucket);
    reseat(rate, count - 1, count);
    return bucket;
}

static void pay(const fl_rate *rate, struct account *account, uint64_t now_ms)
{
    uint64_t passed = now_ms > account->at_ms ? now_ms - account->at_ms : 0;

    /* no product is formed that is larger than the debt it is taken from */
    account->debt = passed > account->debt / rate->per_second
                        ? 0
                        : account->debt - passed * rate->per_second;
    account->at_ms = now_ms;
}

static bool take(const fl_rate *rate, struct account *account, uint64_t now_ms,
                 uint64_t *wait_ms)
{
    pay(rate, account, now_ms);
    uint64_t wanted = account->debt + TOKEN;

    *wait_ms = wanted > rate->most ? time_for(rate, wanted - rate->most) : 0;
    if (wanted > rate->most)
        return false;
    account->debt = wanted;
    return true;
}

bool fl_rate_take(fl_rate *rate, fl_span key, uint64_t now_ms,
                  uint64_t *wait_ms)
{
    struct bucket *bucket = fl_map_get(&rate->buckets, key);

    if (bucket == NULL)
        bucket = admit(rate, key, now_ms);
    if (bucket == NULL)
        return take(rate, &rate->common, now_ms, wait_ms);

    bool taken = take(rate, &bucket->account, now_ms, wait_ms);
    reseat(rate, bucket->place, fl_map_count(&rate->buckets));
    return taken;
}
