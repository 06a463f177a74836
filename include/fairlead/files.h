/*
 * files.h - a directory whose files are resources, and a directory of skills.
 *
 *     fl_files docs = {.root = "/srv/docs", .uri_prefix = "docs:///"};
 *     if (fl_server_add_files(server, &docs) != FL_OK)
 *         return 1;
 *
 * A client reads "docs:///guide/intro.md" and gets root/guide/intro.md, or is
 * told that there is no such resource. Nothing it can say leads out of the
 * root, and reading never keeps other clients waiting. docs/files.md says what
 * is served, and as what.
 */
#ifndef FAIRLEAD_FILES_H
#define FAIRLEAD_FILES_H

#include <fairlead/server.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fl_files {
    const char *root;       /* the directory */
    const char *uri_prefix; /* before each path; NULL: "file:///" */
    const char *name;       /* of the template; NULL: "files" */
    const char *title;
    const char *description;
    const char *annotations; /* JSON; of each file, too */
    size_t max_bytes;        /* of one file; 0: 8 MiB */
    size_t max_listed;       /* 0: 1000; the others can be read all the same */
    bool template_only;      /* list none of them */
    bool hidden;             /* also names that begin with a dot */
    bool follow_links;       /* symbolic ones, that stay below the root */
} fl_files;

/*
 * Adds a template for all files below the root, and each of them as a
 * resource. All is copied. FL_E_NOT_FOUND, FL_E_DENIED: the root is no
 * directory that can be read; FL_E_INVALID: the prefix is not the beginning of
 * a URI, or the annotations are no JSON object; FL_E_IN_USE: the prefix is
 * taken. fl_server_error() says more.
 */
FL_API FL_MUST_USE fl_status fl_server_add_files(fl_server *server,
                                                 const fl_files *files);

/*
 * Looks again at what there is below the roots: lists what is new, no longer
 * lists what is gone, and tells those who want to know, also of files that
 * have changed. A root that is another directory by now is opened anew.
 */
FL_API FL_MUST_USE fl_status fl_server_files_rescan(fl_server *server);

/* What the latest look found. */
typedef struct fl_files_count {
    size_t listed;
    size_t unnamed; /* passed over: their names are not UTF-8 */
    size_t others;  /* passed over: links, fifos, what could not be opened */
    bool more;      /* there are files past max_listed */
} fl_files_count;

/* FL_E_NOT_FOUND: no files were added with this prefix. */
FL_API FL_MUST_USE fl_status fl_server_files_count(const fl_server *server,
                                                   const char *uri_prefix,
                                                   fl_files_count *count);

/*
 * Each sub-directory with a SKILL.md becomes a skill (SEP-2640): listed, and
 * its files readable as skill://<name>/<path>. Called again with the same
 * directory it looks again. FL_E_INVALID: one of them is not as a skill has to
 * be, FL_E_TOO_BIG: over the limits of one, FL_E_IN_USE: its name is taken;
 * then none is added, and what there was stays. FL_E_NOT_FOUND, FL_E_DENIED:
 * the directory, or a file, cannot be read. fl_server_error() says more.
 */
FL_API FL_MUST_USE fl_status fl_server_add_skills(fl_server *server,
                                                  const char *directory);

#ifdef __cplusplus
}
#endif

#endif
