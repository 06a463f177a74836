/*
 * yaml_scalar.h - what a YAML scalar is in JSON: the table in yaml.h.
 */
#ifndef FL_JSON_YAML_SCALAR_H
#define FL_JSON_YAML_SCALAR_H

#include "json/write.h"

/*
 * Writes it. `tag` is the last part of one of YAML's own ("int"), or "" for
 * none, in which case `plain` says whether it is typed by what it looks like.
 * False: the tag is not known, or the text is none of its kind.
 */
FL_MUST_USE bool fl_yaml_scalar_write(fl_json_writer *writer, fl_span text,
                                      const char *tag, bool plain);

#endif
