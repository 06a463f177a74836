/*
 * yaml.h - one YAML document, told as JSON.
 *
 * What people write at the head of a Markdown file or in a configuration. A
 * plain scalar is typed by the core schema of YAML 1.2 (10.3.2), and by it
 * alone, for that is what can be told apart by looking:
 *
 *     null, Null, NULL, ~ or nothing       null
 *     true, True, TRUE, false ...          true, false
 *     12, -3, 0o17, 0x1F                   a number
 *     1.0, .5, 6e23                        a number
 *     .inf, -.inf, .nan                    null, as JSON has none
 *     anything else: yes, no, on, 2026-07-28, 1_000, 12:30    a string
 *
 * What is quoted, or a block, is a string. Keys are strings as they are
 * written. The tags of the core schema are heeded; other tags, aliases, keys
 * that are not scalars, keys given twice and second documents are refused.
 */
#ifndef FL_JSON_YAML_H
#define FL_JSON_YAML_H

#include "base/buf.h"

enum {
    FL_YAML_BYTES = 256 * 1024,
    FL_YAML_DEPTH = 32, /* lists and mappings in each other */
    FL_YAML_NODES = 10000,
};

/*
 * Appends the document to `out`; on failure what was appended so far is taken
 * back. FL_E_INVALID: not YAML, or what is refused above; FL_E_BAD_TEXT;
 * FL_E_TOO_BIG, FL_E_TOO_DEEP, FL_E_LIMIT: over a limit; FL_E_NOMEM. `error`,
 * if wanted, says where, counting lines from 1.
 */
FL_MUST_USE fl_status fl_yaml_to_json(fl_span text, fl_buf *out,
                                      fl_error *error);

#endif
