/*
 * method.h - the methods of MCP by number, and what is so of each.
 *
 * Who stands between a client and a server does not serve methods, but treats
 * some unlike others: a list may be kept, a read may be repeated, a call may
 * stop to ask. That is a table here, so that nobody compares names.
 */
#ifndef FL_RPC_METHOD_H
#define FL_RPC_METHOD_H

#include "rpc/msg.h"

typedef enum fl_method {
    FL_METHOD_OTHER, /* one we have no word for; it may exist all the same */

    /* requests of clients */
    FL_METHOD_INITIALIZE,
    FL_METHOD_PING, /* of either side */
    FL_METHOD_DISCOVER,
    FL_METHOD_TOOLS_LIST,
    FL_METHOD_TOOLS_CALL,
    FL_METHOD_RESOURCES_LIST,
    FL_METHOD_TEMPLATES_LIST,
    FL_METHOD_RESOURCES_READ,
    FL_METHOD_SUBSCRIBE,
    FL_METHOD_UNSUBSCRIBE,
    FL_METHOD_PROMPTS_LIST,
    FL_METHOD_PROMPTS_GET,
    FL_METHOD_COMPLETE,
    FL_METHOD_SET_LEVEL,
    FL_METHOD_LISTEN,
    FL_METHOD_TASKS_GET,
    FL_METHOD_TASKS_CANCEL,
    FL_METHOD_TASKS_RESULT,
    FL_METHOD_TASKS_LIST,
    FL_METHOD_TASKS_UPDATE,

    /* requests of servers */
    FL_METHOD_ROOTS_LIST,
    FL_METHOD_SAMPLE,
    FL_METHOD_ELICIT,

    /* notifications */
    FL_METHOD_INITIALIZED,
    FL_METHOD_CANCELLED,
    FL_METHOD_PROGRESS,
    FL_METHOD_MESSAGE,
    FL_METHOD_TOOLS_CHANGED,
    FL_METHOD_PROMPTS_CHANGED,
    FL_METHOD_RESOURCES_CHANGED,
    FL_METHOD_RESOURCE_UPDATED,
    FL_METHOD_ROOTS_CHANGED,
    FL_METHOD_ELICITED, /* notifications/elicitation/complete */
    FL_METHOD_TASK_STATUS,
    FL_METHOD_TASK_TOLD, /* notifications/tasks, of the modern extension */
    FL_METHOD_ACKNOWLEDGED,
    FL_METHOD_HANG_UP, /* ours: rpc/carry.h */

    FL_METHOD_COUNT
} fl_method;

typedef enum fl_method_trait {
    FL_METHOD_LEGACY = 1 << 0,    /* the legacy era has it */
    FL_METHOD_MODERN = 1 << 1,    /* the modern one, or an extension of it */
    FL_METHOD_CLIENTS = 1 << 2,   /* a client says it */
    FL_METHOD_SERVERS = 1 << 3,   /* a server says it */
    FL_METHOD_NOTICE = 1 << 4,    /* a notification */
    FL_METHOD_CAN_ASK = 1 << 5,   /* may be answered by input_required */
    FL_METHOD_CACHEABLE = 1 << 6, /* its result has ttlMs and cacheScope */
    FL_METHOD_SAFE = 1 << 7,      /* changes nothing: may be asked again */
} fl_method_trait;

/* By what msg->method means. */
fl_method fl_method_of(const fl_msg *msg);

/* The name without escapes; for FL_METHOD_OTHER an empty span. */
fl_span fl_method_name(fl_method method);

/* fl_method_trait, or'ed; of FL_METHOD_OTHER nothing is known: 0. */
unsigned fl_method_traits(fl_method method);

static inline bool fl_method_is(fl_method method, fl_method_trait trait)
{
    return (fl_method_traits(method) & (unsigned)trait) != 0;
}

#endif
