/*
 * revision.h - what each dated revision of the protocol has, as data.
 *
 * Code asks "does this revision have batches?", never "is it 2025-03-26?".
 * A new revision is a row here.
 */
#ifndef FL_RPC_REVISION_H
#define FL_RPC_REVISION_H

#include <fairlead/types.h>

typedef enum fl_revision_id {
    FL_REVISION_UNKNOWN,
    FL_REVISION_2024_11_05,
    FL_REVISION_2025_03_26,
    FL_REVISION_2025_06_18,
    FL_REVISION_2025_11_25,
    FL_REVISION_2026_07_28,
} fl_revision_id;

typedef enum fl_feature {
    FL_HAS_INITIALIZE = 1 << 0,      /* sessions opened by initialize; ping */
    FL_HAS_BATCH = 1 << 1,           /* JSON-RPC arrays */
    FL_HAS_HTTP_SSE = 1 << 2,        /* the 2024 transport is the standard */
    FL_HAS_STREAMABLE_HTTP = 1 << 3, /* one endpoint */
    FL_HAS_VERSION_HEADER = 1 << 4,  /* MCP-Protocol-Version */
    FL_HAS_PROGRESS_MESSAGE = 1 << 5,
    FL_HAS_TOOL_ANNOTATIONS = 1 << 6,
    FL_HAS_AUDIO = 1 << 7,
    FL_HAS_COMPLETIONS = 1 << 8,        /* the capability has a name */
    FL_HAS_STRUCTURED_CONTENT = 1 << 9, /* outputSchema, resource_link */
    FL_HAS_TITLE = 1 << 10,
    FL_HAS_ELICITATION = 1 << 11,
    FL_HAS_ICONS = 1 << 12,
    FL_HAS_TASKS = 1 << 13, /* as part of the core */
    FL_HAS_URL_ELICITATION = 1 << 14,
    FL_HAS_SSE_POLLING = 1 << 15, /* priming event, retry */
    FL_HAS_DISCOVER = 1 << 16,    /* stateless: server/discover, claims */
    FL_HAS_INPUT_REQUIRED = 1 << 17,
    FL_HAS_DISCONNECT_CANCELS = 1 << 18,
    FL_HAS_STRUCTURED_ANY = 1 << 19, /* structuredContent may be any JSON */
    FL_HAS_TOO_LARGE_CODE = 1 << 20, /* -32012 may be used */
    FL_HAS_INPUT_ERRORS = 1 << 21,   /* wrong arguments are the model's to read:
                                        isError, not -32602 */
    FL_HAS_SAMPLING_PARTS = 1 << 22, /* a sampled message may have several, and
                                        tools among them */
    FL_HAS_TITLED_ENUMS = 1 << 23,   /* in forms; so are several choices, and
                                        defaults that are no booleans */
} fl_feature;

typedef struct fl_revision {
    fl_revision_id id;
    const char *name; /* "2025-11-25" */
    bool legacy;      /* opened by initialize */
    uint32_t features;
} fl_revision;

/* Oldest first; ends with FL_REVISION_UNKNOWN. */
const fl_revision *fl_revision_table(void);

/* NULL when we do not know it. */
const fl_revision *fl_revision_find(fl_span name);
const fl_revision *fl_revision_get(fl_revision_id id);

/*
 * What a server answers to initialize: the revision asked for if it is legacy
 * and known; otherwise the newest legacy one not later than the one asked for
 * ("2026-07-28" in an initialize gets 2025-11-25); otherwise the oldest.
 */
const fl_revision *fl_revision_negotiate(fl_span asked);

/* A date of the modern era, whether we know the revision or not. */
bool fl_revision_is_modern(fl_span name);

static inline bool fl_revision_has(const fl_revision *revision,
                                   fl_feature feature)
{
    return (revision->features & (uint32_t)feature) != 0;
}

#endif
