/*
 * files.h - the directories whose files a server has as resources, for the
 * files of this room only.
 */
#ifndef FL_SERVER_FILES_H
#define FL_SERVER_FILES_H

#include <fairlead/files.h>

/* All of them go; nobody reads any more. */
void fl_files_free(fl_server *server);

#endif
