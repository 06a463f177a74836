/*
 * remote.h - how a server is reached: what `type` and the URL say together.
 */
#ifndef FL_CONFIG_REMOTE_H
#define FL_CONFIG_REMOTE_H

#include "config/stanza.h"

/* Sets kind and url. The command has been read: a server that has one
 * is a child. */
void fl_remote_read(fl_reader *reader, const fl_stanza *stanza,
                    fl_config_server *server);

/* Whether two URLs are of one kind, by their schemes. */
bool fl_remote_is_like(const char *a, const char *b);

/* Header fields: an object, or an array of "Name: value". */
void fl_remote_headers(fl_reader *reader, fl_span value, fl_config_list *list);

#endif
