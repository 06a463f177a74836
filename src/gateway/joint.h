/*
 * joint.h - one request of a client to all servers: where it goes, and what
 * becomes of the answers.
 *
 * Tools and prompts have the name of their server in front of their own, so
 * that what is asked of one goes there. A resource goes where it was listed.
 * Lists, and what opens a conversation, are asked of all, for so long; who has
 * not answered by then is left out. From then on he is asked and not waited
 * for, until he has been heard of. What cannot be told is asked of all, and the
 * first that knows it is heard.
 */
#ifndef FL_GATEWAY_JOINT_H
#define FL_GATEWAY_JOINT_H

#include "gateway/aggregate.h"

typedef enum fl_joint_kind {
    FL_JOINT_ONE,   /* its answer is the answer */
    FL_JOINT_ANY,   /* the first result */
    FL_JOINT_ALL,   /* the first result, once all have answered */
    FL_JOINT_HELLO, /* merged */
    FL_JOINT_LIST,  /* merged, all pages of it */
} fl_joint_kind;

typedef struct fl_joint fl_joint;

/* What one server has to do with it; a leg's replies point here. */
typedef struct fl_part {
    fl_joint *joint;
    size_t leg;
    fl_buf text;   /* its answer; of a list the first page */
    fl_buf items;  /* of a list: what is in the pages, with commas between */
    fl_buf cursor; /* ... and where the next begins; a JSON string */
    unsigned pages;
    int code;
    bool late; /* it is not waited for */
    bool ended;
} fl_part;

struct fl_joint {
    fl_list node;
    fl_aggregate *all;
    fl_reply reply;
    fl_joint_kind kind;
    fl_method method;
    fl_timer timer;
    fl_buf text;      /* the request, where it is needed again */
    unsigned waiting; /* parts that have not ended, and whoever is at it */
    bool answered;
    bool acknowledged;
    bool abandoned;
    size_t count;
    fl_part parts[];
};

/* For so many parts, which are waited for, and so is the caller. NULL: no
 * memory. */
FL_MUST_USE fl_joint *fl_joint_new(fl_aggregate *all, fl_joint_kind kind,
                                   const fl_msg *msg, fl_reply reply,
                                   size_t count);
/* Marks the parts of servers that were missed, and not heard of since. */
void fl_joint_excuse(fl_joint *joint);
/* The caller is done with it. It may be gone on return. */
void fl_joint_let_go(fl_joint *joint);
void fl_joint_free(fl_joint *joint);
/* Answers a request that became no joint, or a joint's. */
void fl_joint_refuse(fl_reply reply, fl_span id, int code, const char *text);

/* joint_send.c: a request has come. */
void fl_joint_begin(fl_aggregate *all, const fl_msg *msg, fl_reply reply);

/* A server's answer. FL_E_TOO_BIG: it has not ended. */
fl_status fl_part_end(fl_part *part, int code, const fl_span *parts,
                      size_t count);

/* Nobody waits for what is on this stream any more. */
void fl_joints_abandon(fl_aggregate *all, const void *stream);
/* One leg has gone; or all are to be forgotten. */
void fl_joints_lose(fl_aggregate *all, size_t leg);
void fl_joints_free(fl_aggregate *all);
/* joint_pages.c: a page has come; true: there are more, which are asked for in
 * a moment. */
FL_MUST_USE bool fl_part_turn(fl_part *part, fl_span text);
/* Asks for the next pages. */
void fl_joints_turn(fl_aggregate *all);

#endif
