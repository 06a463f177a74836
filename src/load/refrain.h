/*
 * refrain.h - what is asked again and again, and which answers are right.
 */
#ifndef FL_LOAD_REFRAIN_H
#define FL_LOAD_REFRAIN_H

#include "base/buf.h"
#include "rpc/msg.h"

typedef enum fl_load_fault {
    FL_LOAD_NO_FAULT,
    FL_LOAD_ERROR,   /* the server said no: a JSON-RPC error */
    FL_LOAD_TOOL,    /* the tool failed: isError */
    FL_LOAD_ASKED,   /* no answer, but a question back: input_required */
    FL_LOAD_TIMEOUT, /* nothing came in time */
    FL_LOAD_LOST,    /* nothing will come: the connection or the child has
                        gone, or HTTP had another answer */
    FL_LOAD_FAULTS,
} fl_load_fault;

/* Owned by whoever embeds it. */
typedef struct fl_refrain {
    fl_buf text;
    fl_msg msg;  /* of the text; its id is to be replaced */
    fl_buf good; /* the result that was right the last time */
} fl_refrain;

/*
 * `params` is a JSON object or empty; `claim` is what fl_lane_claim() says.
 * FL_E_NOMEM, FL_E_TOO_BIG, or FL_E_INVALID: they make no request.
 */
FL_MUST_USE fl_status fl_refrain_init(fl_refrain *refrain, const char *method,
                                      fl_span params, fl_span claim);
void fl_refrain_deinit(fl_refrain *refrain);

/* What is wrong with an answer that came from the server. */
fl_load_fault fl_refrain_judge(fl_refrain *refrain, const fl_msg *answer);

const char *fl_load_fault_name(fl_load_fault fault);

#endif
