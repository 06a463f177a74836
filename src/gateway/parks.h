/*
 * parks.h - all calls of a gateway that wait for their clients to come back.
 *
 * A client that comes back has a token (park_token.h) which names its call.
 * Those that were answered are remembered for a while by their names, so that
 * a token used twice is told from one whose call was lost.
 */
#ifndef FL_GATEWAY_PARKS_H
#define FL_GATEWAY_PARKS_H

#include "base/list.h"
#include "base/map.h"
#include "gateway/park_token.h"

enum {
    FL_PARKS_OF_ONE = 64,  /* of one principal */
    FL_PARKS_MAX = 65536,  /* of all */
    FL_PARKS_ENDED = 1024, /* names of those that ended */
};

typedef struct fl_park fl_park;

/* Owned by the gateway. Fields are private to parks.c but for the key. */
typedef struct fl_parks {
    fl_park_key key;
    fl_map by_id;
    fl_map by_principal; /* how many are whose: a count behind each */
    size_t next;         /* place among the ended */
    unsigned char ended[FL_PARKS_ENDED][FL_PARK_ID];
} fl_parks;

/* NULL: no memory, or no randomness. */
FL_MUST_USE fl_parks *fl_parks_new(void);
void fl_parks_free(fl_parks *parks);

/* Gives `park` a name, `id`; `principal` is the token's. FL_E_LIMIT: that one
 * has too many; FL_E_NOMEM, FL_E_IO. */
FL_MUST_USE fl_status fl_parks_add(fl_parks *parks, fl_park *park,
                                   const unsigned char principal[FL_SHA256],
                                   unsigned char id[FL_PARK_ID]);

/* `ended`: it was answered, and is remembered. */
void fl_parks_remove(fl_parks *parks, const unsigned char id[FL_PARK_ID],
                     const unsigned char principal[FL_SHA256], bool ended);

/* NULL: `fault` says whether it has ended, or was lost. */
fl_park *fl_parks_find(const fl_parks *parks,
                       const unsigned char id[FL_PARK_ID],
                       fl_park_fault *fault);

#endif
