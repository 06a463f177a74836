/*
 * merge.h - the answers of several servers, made one.
 */
#ifndef FL_GATEWAY_MERGE_H
#define FL_GATEWAY_MERGE_H

#include "gateway/joint.h"

/* Append a result, of the parts that have one. FL_E_STATE: none has. */
FL_MUST_USE fl_status fl_merge_hello(const fl_joint *joint, fl_buf *out);
FL_MUST_USE fl_status fl_merge_list(const fl_joint *joint, fl_buf *out);

/* The member of a list's result that is the list. */
fl_span fl_merge_key(fl_method method);

/* What this part was answered; false: it was no result. */
bool fl_merge_result(const fl_part *part, fl_span *result);

#endif
