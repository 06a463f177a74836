/*
 * stanza.h - one entry of a configuration.
 */
#ifndef FL_CONFIG_STANZA_H
#define FL_CONFIG_STANZA_H

#include "config/pick.h"
#include "config/reader.h"
#include "json/scan.h"

/* The keys of an entry that have a meaning here, all hosts together. */
#define FL_STANZA_KEYS(X)                                                      \
    X(TYPE, "type")                                                            \
    X(TRANSPORT, "transport")                                                  \
    X(TRANSPORT_TYPE, "transportType")                                         \
    X(COMMAND, "command")                                                      \
    X(ARGS, "args")                                                            \
    X(ENV, "env")                                                              \
    X(ENVIRONMENT, "environment")                                              \
    X(ENV_FILE, "envFile")                                                     \
    X(CWD, "cwd")                                                              \
    X(URL, "url")                                                              \
    X(HTTP_URL, "httpUrl")                                                     \
    X(SERVER_URL, "serverUrl")                                                 \
    X(HEADERS, "headers")                                                      \
    X(OAUTH, "oauth")                                                          \
    X(DISABLED, "disabled")                                                    \
    X(ENABLED, "enabled")                                                      \
    X(TIMEOUT, "timeout")                                                      \
    X(ERA, "protocolEra")                                                      \
    X(INCLUDE, "includeTools")                                                 \
    X(EXCLUDE, "excludeTools")                                                 \
    X(TOOLS, "tools")                                                          \
    X(DISABLED_TOOLS, "disabledTools")                                         \
    X(OPTIONS, "options")                                                      \
    X(FAIRLEAD, "fairlead")                                                    \
    X(TRUST, "trust")                                                          \
    X(DESCRIPTION, "description")                                              \
    X(WEIGHT, "weight")

typedef enum fl_stanza_key {
#define FL_STANZA_ENUM(key, name) FL_STANZA_##key,
    FL_STANZA_KEYS(FL_STANZA_ENUM)
#undef FL_STANZA_ENUM
        FL_STANZA_COUNT,
} fl_stanza_key;

/* The values of one entry; empty where it has none. */
typedef struct fl_stanza {
    const char *at; /* its name in the text */
    fl_span values[FL_STANZA_COUNT];
    bool is_gemini; /* so is the file */
} fl_stanza;

/* The values of an entry; false if it is none. */
bool fl_stanza_find(fl_reader *reader, fl_span value, fl_pick_unknown unknown,
                    fl_stanza *stanza);

/* How it is reached: its command or URL, and what goes with that; and whether
 * it is switched off. */
void fl_stanza_read_place(fl_reader *reader, const fl_stanza *stanza,
                          fl_config_server *server);

/* Reads one member of what holds the servers. What is wrong is told. */
void fl_stanza_read(fl_reader *reader, fl_json_member member, bool is_gemini,
                    fl_config_server *server);

#endif
