/*
 * oauth.h - who we are to a server that asks, under "oauth".
 */
#ifndef FL_CONFIG_OAUTH_H
#define FL_CONFIG_OAUTH_H

#include "config/reader.h"

/* Kind, URL and headers are known already. */
void fl_oauth_read(fl_reader *reader, fl_span value, fl_config_server *server);

#endif
