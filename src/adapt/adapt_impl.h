/*
 * adapt_impl.h - what the files of this room say to each other.
 */
#ifndef FL_ADAPT_ADAPT_IMPL_H
#define FL_ADAPT_ADAPT_IMPL_H

#include "adapt/adapt.h"
#include "adapt/edit.h"

#define FL_META(name) "io.modelcontextprotocol/" name
#define FL_META_SERVER FL_META("serverInfo")
#define FL_META_SUBSCRIPTION FL_META("subscriptionId")
#define FL_META_TASKS FL_META("tasks")

static inline bool fl_adapt_is_same(const fl_adapt *adapt)
{
    return adapt->from->id == adapt->to->id;
}

static inline bool fl_adapt_is_upward(const fl_adapt *adapt)
{
    return adapt->from->legacy && !adapt->to->legacy;
}

static inline bool fl_adapt_is_downward(const fl_adapt *adapt)
{
    return !adapt->from->legacy && adapt->to->legacy;
}

/* Only the one who speaks has it. */
static inline bool fl_adapt_lacks(const fl_adapt *adapt, fl_feature feature)
{
    return fl_revision_has(adapt->from, feature) &&
           !fl_revision_has(adapt->to, feature);
}

/* adapt_content.c: parts that adapt->to has no word for. */
bool fl_adapt_has_parts(const fl_adapt *adapt);
void fl_adapt_part(const fl_adapt *adapt, fl_edit *edit, fl_span part);
/* A string that is a JSON text. */
void fl_adapt_put_text_part(fl_edit *edit, fl_span json);

/* adapt_tools.c: how the result of a call is told to who knows less. */
typedef struct fl_adapt_output {
    fl_span value; /* structuredContent; or empty */
    bool wrap;
    bool hide;
    bool tell; /* as text, for there is none */
} fl_adapt_output;

void fl_adapt_tools(const fl_adapt *adapt, fl_edit *edit, fl_span tools);
bool fl_adapt_has_tools(const fl_adapt *adapt);
void fl_adapt_judge_output(const fl_adapt *adapt, fl_span result,
                           fl_adapt_output *output);

/* adapt_task.c: a task, and what is known of it before it is walked over. */
typedef struct fl_adapt_task {
    const fl_adapt *adapt;
    bool both[2]; /* it has the names of both eras, and keeps only one */
    bool failed;
    bool lasts; /* it says for how long, in whatever words */
} fl_adapt_task;

void fl_adapt_task_look(const fl_adapt *adapt, fl_span text,
                        fl_adapt_task *task);
/* Whether it was one that is said otherwise. */
bool fl_adapt_task_member(const fl_adapt_task *task, fl_edit_walk *walk,
                          const fl_json_member *member);
/* After the last one of them: what the other era cannot do without. */
void fl_adapt_task_end(const fl_adapt_task *task, fl_edit_walk *walk);
bool fl_adapt_task_made(const fl_adapt *adapt, fl_span result);
/* {"task":{...}} becomes {"resultType":"task",...}, and back. */
void fl_adapt_task_lift(const fl_adapt *adapt, fl_edit_walk *walk,
                        const fl_json_member *member);
FL_MUST_USE fl_status fl_adapt_task_lower(const fl_adapt *adapt, fl_span result,
                                          fl_buf *out);

/* adapt_form.c: a requestedSchema, for who has no titles for its choices.
 * Several of them are noted as FL_E_UNSUPPORTED. */
void fl_adapt_form(fl_edit *edit, fl_span schema);

/* adapt_capabilities.c: those of a server; `capabilities` may be anything. */
void fl_adapt_server_capabilities(const fl_adapt *adapt, fl_edit *edit,
                                  fl_span capabilities);

#endif
