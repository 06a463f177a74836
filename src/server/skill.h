/*
 * skill.h - one skill, read: what its head says, and what its files are.
 *
 * SEP-2640, "Skill Entries", and the Agent Skills specification, which says
 * what a name may be.
 */
#ifndef FL_SERVER_SKILL_H
#define FL_SERVER_SKILL_H

#include "base/buf.h"
#include "server/manifest.h"

#define FL_SKILL_SCHEME "skill://"
#define FL_SKILL_FILE "SKILL.md"

enum {
    FL_SKILL_NAME_MAX = 64,
    FL_SKILL_DESCRIPTION_MAX = 1024, /* characters */
    FL_SKILL_FILES = 512,
    FL_SKILL_BYTES = 16 * 1024 * 1024, /* of all its files together */
    FL_SKILL_ENTRY_MAX = 8 * 1024 * 1024,
};

/* Below which directory it is, and what was found there. */
typedef struct fl_skill_source {
    int root;
    const fl_manifest *files; /* of all skills below the root */
    fl_span name;             /* the directory's */
} fl_skill_source;

typedef struct fl_skill_entry {
    fl_buf json;        /* {"uri":...,"frontmatter":...,"resources":[...]} */
    fl_buf description; /* with a NUL at its end */
    uint64_t size;      /* of its SKILL.md */
} fl_skill_entry;

/* 1 to 64 of a-z, 0-9 and hyphens, none of which is first, last or beside
 * another. */
bool fl_skill_is_name(fl_span name);

/*
 * The YAML between the lines of three hyphens that `text` begins with. False:
 * it does not begin so.
 */
bool fl_skill_front(fl_span text, fl_span *yaml);

/* Reads all its files. Waits for the disk. FL_E_INVALID, FL_E_TOO_BIG,
 * FL_E_NOMEM or that of fl_file_slurp(); `error` says what it is about. The
 * entry is to be deinitialised whatever is returned. */
FL_MUST_USE fl_status fl_skill_read(const fl_skill_source *source,
                                    fl_skill_entry *entry, fl_error *error);
void fl_skill_deinit(fl_skill_entry *entry);

/* "skill://" and the path, encoded, with a NUL at its end. */
FL_MUST_USE fl_status fl_skill_uri(fl_span path, fl_buf *out);

#endif
