/*
 * carry.h - words between a fairlead server and a fairlead gateway.
 *
 * A gateway carries what a revision has in messages. Two things that a server
 * means are in none of them: that an event stream may be let go (2025-11-25
 * calls it polling; over a pipe there is nothing to let go), and under which
 * key a question goes, which has keys in 2026-07-28 alone. A client that
 * declares the experimental capability FL_CARRY is told: by a notification,
 * and by a member of a question's _meta. Others never see either.
 */
#ifndef FL_RPC_CARRY_H
#define FL_RPC_CARRY_H

#define FL_CARRY "fairlead/carry"
#define FL_CARRY_KEY "fairlead/key"

/* {"requestId":...,"retryMs":...}: FL_METHOD_HANG_UP. */
#define FL_CARRY_HANG_UP "notifications/fairlead/hang_up"

#endif
