/*
 * door.h - what a command that serves can be told about its addresses: who may
 * come, how many, how long; and what it says of itself.
 */
#ifndef FL_CMD_DOOR_H
#define FL_CMD_DOOR_H

#include "base/log.h"
#include "cmd/flags.h"

#include <fairlead/options.h>

typedef struct fl_door_settings {
    fl_flag_list listen;
    fl_flag_list allow;
    fl_flag_list deny;
    fl_flag_list origins; /* --allow-origin */
    fl_flag_list hosts;   /* --allow-host */
    fl_flag_list send;    /* --allow-header */
    fl_flag_list read;    /* --expose-header */
    fl_options options;
    unsigned log_level;  /* fl_log_level; FL_LOG_DEFAULT: not said */
    unsigned log_format; /* fl_log_format */
    bool quiet;
    bool help;
} fl_door_settings;

/* The most rows that fl_door_flags() makes. */
enum { FL_DOOR_FLAGS = 40 };

/* Fills `flags` with the rows about doors and says how many they are; the
 * command's own come behind them. */
size_t fl_door_flags(fl_door_settings *to, fl_flag *flags);

/* After the flags are parsed: what they mean together. */
void fl_door_settle(fl_door_settings *to);

/* NULL when there is no memory. */
FL_MUST_USE fl_log *fl_door_log(const fl_door_settings *settings);

enum { FL_DOOR_URL = 1536 };

/* The address somebody can connect to: with the port that was bound. */
void fl_door_describe(const char *url, uint16_t port, char out[FL_DOOR_URL]);

/* The same place for WebSockets, which an HTTP server takes, too; empty: it
 * does not. */
void fl_door_describe_ws(const fl_door_settings *settings, const char *shown,
                         char out[FL_DOOR_URL]);

/* For machines: one line of the log. `ws` may be empty. */
void fl_door_announce(fl_log *log, const char *url, const char *ws);

#endif
