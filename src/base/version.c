/*
 * version.c - which fairlead this is, at run time.
 */
#include <fairlead/version.h>

const char *fl_version(void)
{
    return FL_VERSION;
}
