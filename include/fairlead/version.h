/*
 * version.h - which fairlead this is.
 */
#ifndef FAIRLEAD_VERSION_H
#define FAIRLEAD_VERSION_H

#include <fairlead/types.h>

#define FL_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the library at run time, which may be newer than the header. */
FL_API const char *fl_version(void);

#ifdef __cplusplus
}
#endif

#endif
