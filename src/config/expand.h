/*
 * expand.h - variables, files and inputs named inside a value.
 *
 *     ${NAME}  ${NAME:-default}  ${env:NAME}  ${env:NAME:-default}
 *     ${file:PATH}             a file's text, line ends at its end left off
 *     ${input:ID}              VS Code: FAIRLEAD_INPUT_ID, or its default
 *     ${workspaceFolder}       VS Code, Cursor: FAIRLEAD_WORKSPACE
 *     ${workspaceFolderBasename}  ${userHome}  ${pathSeparator}  ${/}
 *     $NAME                    in a file of Gemini's
 *     {env:NAME}  {file:PATH}  in a file of opencode's
 *     $${                      the two characters ${
 */
#ifndef FL_CONFIG_EXPAND_H
#define FL_CONFIG_EXPAND_H

#include "config/reader.h"

/*
 * Appends the meaning of `text` to reader->real, and to reader->shown what may
 * be shown of it. False if something is not to be had, which has been told:
 * `at` is where. For a disabled server that is a warning, and nothing stands
 * in its place.
 */
bool fl_expand(fl_reader *reader, const char *at, fl_span text);

/* Appends where a path of the file leads to, and a NUL: a relative one starts
 * in the directory of the configuration, "~/" at HOME. */
bool fl_expand_path(fl_reader *reader, fl_span path, fl_buf *out);

/* Appends another file. */
FL_MUST_USE fl_status fl_expand_read(fl_reader *reader, fl_span path,
                                     fl_buf *out);

#endif
