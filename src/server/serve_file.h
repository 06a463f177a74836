/*
 * serve_file.h - answering a resources/read with a file.
 */
#ifndef FL_SERVER_SERVE_FILE_H
#define FL_SERVER_SERVE_FILE_H

#include "io/file.h"

#include <fairlead/call.h>

/* Answers the call, later. The place is copied, the call used up. A file that
 * is not to be had is a resource that is not found; nothing that is said of
 * it names a directory of ours. */
void fl_serve_file(fl_call *call, const fl_file_place *place);

#endif
