/*
 * hellos.c - what a server has said of itself, for those who come while it is
 * not there.
 */
#include "gateway/hellos.h"

#include "base/span.h"

enum { SAID_MAX = 16 * 1024 * 1024, MODERN = FL_REVISION_2026_07_28 };

static unsigned place_of(const fl_revision *offered)
{
    return offered != NULL ? offered->id : FL_REVISION_2025_11_25;
}

static void forget(fl_hello *hello)
{
    hello->revision = NULL;
    fl_buf_reset(&hello->said);
}

void fl_hellos_deinit(fl_hellos *hellos)
{
    for (unsigned i = 0; i < FL_HELLOS; i++)
        forget(&hellos->by_offer[i]);
}

/* One that is of another era now will not say again what it said then. */
static void forget_era(fl_hellos *hellos, bool legacy)
{
    for (unsigned i = 0; i < FL_HELLOS; i++)
        if ((i != MODERN) == legacy)
            forget(&hellos->by_offer[i]);
}

void fl_hellos_learn(fl_hellos *hellos, const fl_revision *offered,
                     const fl_revision *revision, fl_span said)
{
    unsigned place = revision->legacy ? place_of(offered) : MODERN;
    fl_hello *hello = &hellos->by_offer[place];

    forget_era(hellos, !revision->legacy);
    if (hello->revision == revision &&
        fl_span_equal(fl_buf_view(&hello->said), said))
        return;
    forget(hello);
    fl_buf_init(&hello->said, SAID_MAX);
    if (said.len > 0 && fl_buf_append(&hello->said, said) == FL_OK)
        hello->revision = revision;
}

const fl_hello *fl_hellos_find(const fl_hellos *hellos,
                               const fl_revision *offered)
{
    const fl_hello *modern = &hellos->by_offer[MODERN];
    const fl_hello *legacy = &hellos->by_offer[place_of(offered)];

    if (modern->revision != NULL)
        return modern;
    return legacy->revision != NULL ? legacy : NULL;
}
