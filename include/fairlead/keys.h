/*
 * keys.h - the keys that clients of a server must show, over HTTP and
 * WebSocket.
 *
 *     fl_keys *keys = fl_keys_new();
 *     fl_keys_set(keys, list, &error);
 *     fl_options options = {.http.keys = keys};
 *
 * With every request comes "X-API-Key: KEY" or "Authorization: Bearer KEY";
 * who has neither is told 401. Each key is a user of its own: what was begun
 * with one goes on with that one only. All addresses that are to take the same
 * keys share one fl_keys, which belongs to the thread of their loop.
 */
#ifndef FAIRLEAD_KEYS_H
#define FAIRLEAD_KEYS_H

#include <fairlead/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fl_keys fl_keys;

/* Without any: nobody may come. NULL when there is no memory. */
FL_API FL_MUST_USE fl_keys *fl_keys_new(void);

/*
 * These, and no others, from now on: a NULL-terminated list, which is copied.
 * What is open with a key that is not among them is closed; a key that stays
 * is the same user as before. FL_E_INVALID, FL_E_LIMIT: `error` says which by
 * its number, never by its text, and nothing changes. A key is 1 to 512
 * visible ASCII characters; how many are enough is the caller's to say.
 */
FL_API FL_MUST_USE fl_status fl_keys_set(fl_keys *keys, const char *const *list,
                                         fl_error *error);

/* Whoever listens with it goes on. The last one overwrites the keys. */
FL_API void fl_keys_free(fl_keys *keys);

#ifdef __cplusplus
}
#endif

#endif
