/*
 * offers.h - what a server can offer, as one set: which capabilities it has,
 * how the methods that belong to them are kept from whoever was not told of
 * them (K6), and whose lists change.
 */
#ifndef FL_SERVER_OFFERS_H
#define FL_SERVER_OFFERS_H

#include <fairlead/types.h>

/* A set of these is an unsigned. */
typedef enum fl_offer {
    FL_OFFER_TOOLS = 1 << 0,
    FL_OFFER_RESOURCES = 1 << 1,
    FL_OFFER_PROMPTS = 1 << 2,
    FL_OFFER_COMPLETIONS = 1 << 3,
    FL_OFFER_LOGGING = 1 << 4,
    FL_OFFER_TASKS = 1 << 5,
    FL_OFFER_SKILLS = 1 << 6,
} fl_offer;

/* Those that are lists, and told of when they change. */
enum { FL_OFFER_LISTS = 3 };

typedef struct fl_offer_list {
    fl_offer offer;
    fl_span changed; /* notifications/..., without that */
    fl_span filter;  /* how subscriptions/listen asks for it */
} fl_offer_list;

static const fl_offer_list fl_offer_lists[FL_OFFER_LISTS] = {
    {FL_OFFER_TOOLS, {"tools/list_changed", 18}, {"toolsListChanged", 16}},
    {FL_OFFER_RESOURCES,
     {"resources/list_changed", 22},
     {"resourcesListChanged", 20}},
    {FL_OFFER_PROMPTS,
     {"prompts/list_changed", 20},
     {"promptsListChanged", 18}},
};

/* The one a list of this kind belongs to; templates are resources'. */
static inline fl_offer fl_offer_of(fl_list_kind kind)
{
    switch (kind) {
    case FL_LIST_TOOLS:
        return FL_OFFER_TOOLS;
    case FL_LIST_PROMPTS:
        return FL_OFFER_PROMPTS;
    case FL_LIST_RESOURCES:
    case FL_LIST_TEMPLATES:
        break;
    }
    return FL_OFFER_RESOURCES;
}

#endif
