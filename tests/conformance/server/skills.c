/*
 * skills.c - skills, which are folders: see the folder skills beside this one.
 */
#include "fixture.h"

fl_status add_skills(fl_server *server, const char *folder)
{
    return fl_server_add_skills(server, folder);
}
