/*
 * doctor_protocol.h - what a conversation is looked at for, once it has begun.
 */
#ifndef FL_CMD_DOCTOR_PROTOCOL_H
#define FL_CMD_DOCTOR_PROTOCOL_H

#include "cmd/talk.h"

/* The one member that params of the modern era must have. */
#define FL_EXAM_CLAIM                                                          \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","   \
    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"fairlead-doctor\","    \
    "\"version\":\"1\"},\"io.modelcontextprotocol/clientCapabilities\":{}}"

#define FL_EXAM_CLIENT                                                         \
    "\"capabilities\":{},\"clientInfo\":{\"name\":\"fairlead-doctor\","        \
    "\"version\":\"1\"}"

/* Ids, errors, ping: how it answers, whatever it is asked. */
void fl_exam_manners(fl_exam *exam, fl_talk *talk, bool modern);

/* What it lists: pages, names, schemas. `capabilities` is JSON. */
void fl_exam_lists(fl_exam *exam, fl_talk *talk, fl_span capabilities,
                   bool modern);

/* What is wrong with one tool, resource or prompt is counted over its list,
 * and told with one example. */
typedef struct fl_flaw {
    unsigned count;
    char example[FL_CHART_QUOTE];
} fl_flaw;

void fl_flaw_note(fl_flaw *flaw, fl_span what);

/* The tools of a list, one JSON array for each page. */
typedef struct fl_tool_flaws {
    fl_flaw unnamed, odd_name, long_name, undescribed;
    fl_flaw no_schema, bad_schema, not_object, bad_output;
    char why[FL_CHART_QUOTE]; /* of the first bad schema */
} fl_tool_flaws;

void fl_exam_tool(fl_tool_flaws *flaws, fl_span tool, bool modern);
void fl_exam_tool_report(fl_exam *exam, const fl_tool_flaws *flaws,
                         size_t count);

#endif
