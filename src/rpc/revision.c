/*
 * revision.c - what each dated revision of the protocol has.
 *
 * Each row is the one before it, plus what its changelog adds, less what it
 * removes, so that a row can be read beside the changelog. Dates in ISO form
 * sort as text, which is all the arithmetic that negotiation needs.
 */
#include "rpc/revision.h"

#include "base/span.h"

#define WITH_2024_11_05                                                        \
    (FL_HAS_INITIALIZE | FL_HAS_HTTP_SSE | FL_HAS_TOO_LARGE_CODE)

#define WITH_2025_03_26                                                        \
    ((WITH_2024_11_05 & ~FL_HAS_HTTP_SSE) | FL_HAS_STREAMABLE_HTTP |           \
     FL_HAS_BATCH | FL_HAS_TOOL_ANNOTATIONS | FL_HAS_PROGRESS_MESSAGE |        \
     FL_HAS_AUDIO | FL_HAS_COMPLETIONS)

#define WITH_2025_06_18                                                        \
    ((WITH_2025_03_26 & ~FL_HAS_BATCH) | FL_HAS_STRUCTURED_CONTENT |           \
     FL_HAS_ELICITATION | FL_HAS_VERSION_HEADER | FL_HAS_TITLE)

#define WITH_2025_11_25                                                        \
    (WITH_2025_06_18 | FL_HAS_ICONS | FL_HAS_URL_ELICITATION | FL_HAS_TASKS |  \
     FL_HAS_SSE_POLLING | FL_HAS_INPUT_ERRORS | FL_HAS_SAMPLING_PARTS |        \
     FL_HAS_TITLED_ENUMS)

/* Tasks left the core for an extension, and so are gone from here. URL mode
 * elicitation stays, without its id and its error code. */
#define WITH_2026_07_28                                                        \
    ((WITH_2025_11_25 & ~(FL_HAS_INITIALIZE | FL_HAS_TASKS |                   \
                          FL_HAS_SSE_POLLING | FL_HAS_TOO_LARGE_CODE)) |       \
     FL_HAS_DISCOVER | FL_HAS_INPUT_REQUIRED | FL_HAS_DISCONNECT_CANCELS |     \
     FL_HAS_STRUCTURED_ANY)

/* Whatever says this or a later date is of the modern era. */
#define FIRST_MODERN "2026-07-28"

static const fl_revision table[] = {
    {FL_REVISION_2024_11_05, "2024-11-05", true, WITH_2024_11_05},
    {FL_REVISION_2025_03_26, "2025-03-26", true, WITH_2025_03_26},
    {FL_REVISION_2025_06_18, "2025-06-18", true, WITH_2025_06_18},
    {FL_REVISION_2025_11_25, "2025-11-25", true, WITH_2025_11_25},
    {FL_REVISION_2026_07_28, FIRST_MODERN, false, WITH_2026_07_28},
    {FL_REVISION_UNKNOWN, NULL, false, 0},
};

/* A preview from before the first revision. Servers in the field still answer
 * with it; what they speak is 2024-11-05. */
static const struct {
    fl_span name;
    fl_revision_id id;
} aliases[] = {{{"2024-10-07", 10}, FL_REVISION_2024_11_05}};

const fl_revision *fl_revision_table(void)
{
    return table;
}

const fl_revision *fl_revision_get(fl_revision_id id)
{
    for (const fl_revision *row = table; row->name != NULL; row++)
        if (row->id == id)
            return row;
    return NULL;
}

const fl_revision *fl_revision_find(fl_span name)
{
    for (const fl_revision *row = table; row->name != NULL; row++)
        if (fl_span_equal(name, fl_span_of(row->name)))
            return row;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (fl_span_equal(name, aliases[i].name))
            return fl_revision_get(aliases[i].id);
    return NULL;
}

static bool is_date(fl_span name)
{
    static const char shape[] = "0000-00-00";

    if (name.len != sizeof shape - 1)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        bool digit = name.ptr[i] >= '0' && name.ptr[i] <= '9';
        if (shape[i] == '0' ? !digit : name.ptr[i] != shape[i])
            return false;
    }
    return true;
}

bool fl_revision_is_modern(fl_span name)
{
    if (fl_span_same_name(name, FL_SPAN(FIRST_MODERN)))
        return true; /* which is nearly always so */
    return is_date(name) && memcmp(name.ptr, FIRST_MODERN, name.len) > 0;
}

/* What is no date is later than nothing, and so gets the oldest. */
const fl_revision *fl_revision_negotiate(fl_span asked)
{
    const fl_revision *best = table;

    if (!is_date(asked))
        return best;
    for (const fl_revision *row = table; row->name != NULL; row++)
        if (row->legacy && memcmp(row->name, asked.ptr, asked.len) <= 0)
            best = row;
    return best;
}
