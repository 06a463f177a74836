/*
 * store.h - a record in a file that nobody else can read.
 */
#ifndef FL_AUTH_STORE_H
#define FL_AUTH_STORE_H

#include "auth/record.h"

/*
 * FL_E_NOT_FOUND: there is no such file. FL_E_DENIED: it is not ours, or
 * others may read or write it, or it is no regular file. FL_E_BAD_JSON: it is
 * none of ours. `error` names the file and what to do.
 */
FL_MUST_USE fl_status fl_store_load(const char *path, fl_record *record,
                                    fl_error *error);

/* Written beside it, mode 0600, and put in its place whole. */
FL_MUST_USE fl_status fl_store_save(const char *path, const fl_record *record,
                                    fl_error *error);

#endif
