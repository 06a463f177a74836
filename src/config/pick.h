/*
 * pick.h - the members of an object by name, and values of one type each.
 *
 * Every function that returns bool says whether there is a value to use; if
 * not, that has been told.
 */
#ifndef FL_CONFIG_PICK_H
#define FL_CONFIG_PICK_H

#include "config/reader.h"

typedef enum fl_pick_unknown {
    FL_PICK_IGNORE, /* members that nobody asked for */
    FL_PICK_WARN,
    FL_PICK_REFUSE,
} fl_pick_unknown;

/*
 * Finds the members of `object` that are called as in `names`, which a NULL
 * ends, and writes their values to `values`: empty where there is none, or
 * where it is null. One that is given twice is an error. False if it is no
 * object.
 */
bool fl_pick_find(fl_reader *reader, fl_span object, const char *const *names,
                  fl_span *values, fl_pick_unknown unknown);

/* The one of `names` that `key` is a single slip away from, or NULL. */
const char *fl_pick_meant(fl_span key, const char *const *names);

/* Nothing is written for an empty value. */
bool fl_pick_bool(fl_reader *reader, fl_span value, bool *out);
bool fl_pick_number(fl_reader *reader, fl_span value, uint32_t least,
                    uint32_t most, uint32_t *out);

/* The index of the word, of which a NULL ends the list. */
bool fl_pick_word(fl_reader *reader, fl_span value, const char *const *words,
                  size_t *out);

/* Expanded, as is everything that follows. */
bool fl_pick_text(fl_reader *reader, fl_span value, fl_config_text *out);

/* Adds each string of an array; one string is taken for an array of it. */
void fl_pick_texts(fl_reader *reader, fl_span value, fl_config_list *list);

/* Adds `front` and then the value, a string, number or bool. An item of the
 * list that begins with `front` is replaced if `once`. */
bool fl_pick_add(fl_reader *reader, fl_span front, fl_span value,
                 fl_config_list *list, bool once);

/* Adds what is in reader->real and reader->shown. */
bool fl_pick_push(fl_reader *reader, const char *at, fl_config_list *list);

#endif
