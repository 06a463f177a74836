/*
 * extra.h - what fairlead itself wants to know of a server, under "fairlead".
 */
#ifndef FL_CONFIG_EXTRA_H
#define FL_CONFIG_EXTRA_H

#include "config/reader.h"

/* Kind and URL are known already. */
void fl_extra_read(fl_reader *reader, fl_span value, fl_config_server *server);

#endif
