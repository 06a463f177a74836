/*
 * outputs.h - which tools of a server promise a structured result that is no
 * object.
 *
 * 2026-07-28 lets a result be any JSON; 2025-06-18 and 2025-11-25 want an
 * object, and clients of theirs check results against the schema they were
 * shown. So a schema is shown wrapped, {"result": ...}, and the result is
 * wrapped likewise: or, where the schema has references that would not survive
 * a wrapping, neither is shown, and the text has to do.
 */
#ifndef FL_ADAPT_OUTPUTS_H
#define FL_ADAPT_OUTPUTS_H

#include "base/map.h"

typedef enum fl_output {
    FL_OUTPUT_UNKNOWN, /* no such tool was listed, or it promises nothing */
    FL_OUTPUT_OBJECT,  /* as every revision has it */
    FL_OUTPUT_WRAPPED,
    FL_OUTPUT_HIDDEN,
} fl_output;

/* Owned by whoever embeds it. Fields are private to outputs.c. */
typedef struct fl_outputs {
    fl_map tools; /* by name; only those that are no object */
} fl_outputs;

/* Allocates nothing; at most `max` tools are remembered. */
void fl_outputs_init(fl_outputs *outputs, size_t max);
void fl_outputs_deinit(fl_outputs *outputs);

/* A result of tools/list, as the server said it: what it says of a tool
 * replaces what was known. FL_E_NOMEM, FL_E_LIMIT. */
FL_MUST_USE fl_status fl_outputs_learn(fl_outputs *outputs, fl_span result);

/* `name` is a raw token. */
fl_output fl_outputs_find(const fl_outputs *outputs, fl_span name);

/* What is to become of this schema (JSON) toward such clients. */
fl_output fl_output_judge(fl_span schema);

#endif
