/*
 * params.h - what params has in it that we go by ourselves.
 *
 * Which tool, resource or task a request is about, and what its _meta says of
 * its sender, is asked for at every stage that it passes: the transport, the
 * ladder, the method. It is found once, when the message is read (rpc/msg.h),
 * and carried with it.
 */
#ifndef FL_RPC_PARAMS_H
#define FL_RPC_PARAMS_H

#include "json/nav.h"

/* Raw JSON tokens borrowed from the message, of whatever type they came as
 * (strings have their quotes); an absent one is an empty span. */
typedef struct fl_claim {
    bool present;
    fl_span version;
    fl_span client_capabilities;
    fl_span client_info;
    fl_span log_level;
} fl_claim;

/* The same. Of a member given twice the last one counts, and a name may be
 * spelled with escapes. */
typedef struct fl_params {
    fl_span name;
    fl_span uri;
    fl_span task_id;
    fl_span task; /* the wish that it become one */
    fl_span arguments;
    fl_json_cuts cuts;       /* of the arguments, for who looks into them */
    fl_span input_responses; /* what the client was asked for in an earlier */
    fl_span request_state;   /* round of this request, and carries for us */
    fl_span meta;
    fl_span progress_token; /* in _meta */
    fl_claim claim;         /* likewise: rpc/claim.h */
} fl_params;

/* `params` has been zeroed. `text` is a member of the object `top` was read
 * from; one that is no object has nothing in it. */
void fl_params_read(const fl_json_top *top, fl_span text, fl_params *params);

#endif
