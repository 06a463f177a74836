/*
 * replicas.h - the further places where a server runs.
 */
#ifndef FL_CONFIG_REPLICAS_H
#define FL_CONFIG_REPLICAS_H

#include "config/reader.h"

/* A URL, or an array of URLs and of entries like that of a server. Kind, URL
 * and headers of the first are known already. */
void fl_replicas_read(fl_reader *reader, fl_span value,
                      fl_config_server *server);

#endif
