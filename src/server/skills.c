/*
 * skills.c - the skills of a server: found, and read.
 *
 * Only files that were there when the skill was looked at are served, for a
 * client goes by the list that it was given and takes any other for a forgery.
 */
#include "server/skills.h"

#include "base/mem.h"
#include "base/span.h"
#include "server/paths.h"
#include "server/serve_file.h"
#include "server/server.h"
#include "server/skill.h"

#include <stdio.h>

static void write_skill(fl_json_writer *writer, const fl_entry *entry,
                        const fl_revision *revision)
{
    (void)revision;
    fl_json_raw(writer, fl_buf_view(&((const fl_skills_entry *)entry)->json));
}

const fl_catalog_kind fl_skills_kind = {.member = "skills",
                                        .write = write_skill};

static void free_root(fl_skills_root *root)
{
    fl_below_close(&root->fd);
    fl_manifest_deinit(&root->files);
    fl_mem_free(root->directory);
    fl_mem_free(root);
}

void fl_skills_free(fl_server *server)
{
    fl_skills *skills = server->skills;
    fl_list *node;

    if (skills == NULL)
        return;
    fl_catalog_deinit(&skills->catalog);
    while ((node = fl_list_take(&skills->roots)) != NULL)
        free_root(FL_LIST_ENTRY(node, fl_skills_root, node));
    fl_mem_free(skills);
    server->skills = NULL;
}

size_t fl_skills_count(const fl_server *server)
{
    return server->skills != NULL ? server->skills->catalog.count : 0;
}

fl_span fl_skills_key(char room[FL_SKILLS_KEY], fl_span name)
{
    int n = snprintf(room, FL_SKILLS_KEY, FL_SKILL_SCHEME "%.*s/" FL_SKILL_FILE,
                     (int)name.len, name.ptr);

    return (fl_span){room, (size_t)n};
}

static fl_status find_item(const fl_server *server, fl_span path,
                           fl_skills_place *place)
{
    fl_span name = {path.ptr, fl_span_find(path, '/')};
    char room[FL_SKILLS_KEY];

    if (!fl_skill_is_name(name))
        return FL_E_NOT_FOUND;
    const fl_skills_entry *skill = (const fl_skills_entry *)fl_catalog_find(
        &server->skills->catalog, fl_skills_key(room, name));
    if (skill == NULL)
        return FL_E_NOT_FOUND;
    place->root = skill->root;
    place->item = fl_manifest_find(&skill->root->files, path);
    return place->item != NULL ? FL_OK : FL_E_NOT_FOUND;
}

fl_status fl_skills_locate(const fl_server *server, fl_span uri,
                           fl_skills_place *place)
{
    fl_span scheme = FL_SPAN(FL_SKILL_SCHEME);
    fl_buf path;

    *place = (fl_skills_place){0};
    if (server->skills == NULL || !fl_span_starts(uri, scheme))
        return FL_E_NOT_FOUND;
    fl_buf_init(&path, FL_BELOW_PATH_MAX);
    fl_status rc = fl_paths_decode(fl_span_from(uri, scheme.len), &path);
    if (rc == FL_OK)
        rc = find_item(server, fl_buf_view(&path), place);
    fl_buf_reset(&path);
    return rc == FL_OK || rc == FL_E_NOMEM ? rc : FL_E_NOT_FOUND;
}

void fl_skills_read(fl_call *call, void *user)
{
    fl_skills_place place;
    fl_status rc = fl_skills_locate(user, fl_call_uri(call), &place);

    if (rc == FL_OK && !place.item->is_directory)
        fl_serve_file(call, &(fl_file_place){.root = place.root->fd,
                                             .path = place.item->path,
                                             .max = FL_SKILL_BYTES});
    else if (rc == FL_E_NOMEM)
        fl_call_fail(call, "out of memory");
    else
        fl_call_not_found(call);
}
