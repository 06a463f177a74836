/*
 * door_keys.h - the keys that clients must show, from variables and a file.
 */
#ifndef FL_CMD_DOOR_KEYS_H
#define FL_CMD_DOOR_KEYS_H

#include "cmd/flags.h"

#include <fairlead/keys.h>

/* A shorter key can be found by trying. */
enum { FL_DOOR_KEY_LEAST = 16 };

/* The flags fill in the first three. */
typedef struct fl_door_keys {
    fl_flag_list env; /* --api-key-env: variables, a key in each */
    const char *file; /* --api-key-file: one a line; NULL: none */
    bool allow_short; /* --allow-short-keys */
    char *of_env[FL_FLAG_LIST_MAX]; /* their values, once they are hidden */
} fl_door_keys;

/* Whether clients need a key. */
bool fl_door_keys_wanted(const fl_door_keys *keys);

/* FL_E_INVALID: a variable is missing, or no key. The error names it, and no
 * key. */
FL_MUST_USE fl_status fl_door_keys_check(const fl_door_keys *keys,
                                         fl_error *error);

/* Takes the variables out of the environment: neither a child nor the list of
 * processes shall have them. */
FL_MUST_USE fl_status fl_door_keys_hide(fl_door_keys *keys, fl_error *error);

/* Reads the file, for the first time or again, and sets all keys. When it says
 * anything but FL_OK, `into` is as it was. */
FL_MUST_USE fl_status fl_door_keys_load(const fl_door_keys *keys, fl_keys *into,
                                        fl_error *error);

/* Overwrites them. */
void fl_door_keys_deinit(fl_door_keys *keys);

#endif
