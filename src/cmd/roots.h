/*
 * roots.h - the folders a server may work on, from --root.
 */
#ifndef FL_CMD_ROOTS_H
#define FL_CMD_ROOTS_H

#include "cmd/flags.h"

#include <fairlead/client.h>

/* Each is a URI, or the path of something that exists. Tells the client;
 * FL_E_INVALID names the path. */
FL_MUST_USE fl_status fl_roots_tell(fl_client *client,
                                    const fl_flag_list *roots, fl_error *error);

#endif
