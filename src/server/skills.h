/*
 * skills.h - the skills of a server, for the files of this room only.
 */
#ifndef FL_SERVER_SKILLS_H
#define FL_SERVER_SKILLS_H

#include "base/list.h"
#include "server/catalog.h"
#include "server/manifest.h"

#include <fairlead/files.h>

/* A directory that skills are in, and all that is below it. */
typedef struct fl_skills_root {
    fl_list node;
    char *directory;
    int fd;
    fl_manifest files;
} fl_skills_root;

/* A skill; its key is the URI of its SKILL.md. */
typedef struct fl_skills_entry {
    fl_entry entry;
    fl_skills_root *root;
    fl_buf json; /* as it is told */
} fl_skills_entry;

typedef struct fl_skills {
    fl_catalog catalog;
    fl_list roots;
    bool has_template;
} fl_skills;

extern const fl_catalog_kind fl_skills_kind;

/* "skill://<name>/SKILL.md", in `room`. */
enum { FL_SKILLS_KEY = 128 };
fl_span fl_skills_key(char room[FL_SKILLS_KEY], fl_span name);

/* Reads the file that the call's URI means; `user` is the server. */
fl_call_fn fl_skills_read;

void fl_skills_free(fl_server *server);
size_t fl_skills_count(const fl_server *server);

/*
 * What a URI names: a skill, or a file or directory in one. The item is good
 * until skills are added. FL_E_NOT_FOUND, FL_E_NOMEM.
 */
typedef struct fl_skills_place {
    const fl_skills_root *root;
    const fl_manifest_item *item;
} fl_skills_place;

FL_MUST_USE fl_status fl_skills_locate(const fl_server *server, fl_span uri,
                                       fl_skills_place *place);

#endif
