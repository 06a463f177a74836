/*
 * skills_add.c - the skills of a server, added.
 *
 * A directory of skills is looked at as a whole: its skills are all read
 * before the first one is added, so that one that is no good leaves everything
 * as it was.
 */
#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "server/resources.h"
#include "server/server.h"
#include "server/skill.h"
#include "server/skills.h"

#include <stdio.h>
#include <string.h>

enum { FILES_MAX = 100000 };

/* Skills that have been read and not been added yet, or were and are to go. */
typedef struct batch {
    fl_server *server;
    fl_skills_root *root;
    fl_skills_entry **made;
    fl_skill_entry *read;
    size_t count;
} batch;

static void free_entry(fl_entry *entry)
{
    fl_buf_reset(&((fl_skills_entry *)entry)->json);
    fl_mem_free(entry);
}

static void drop(batch *b)
{
    for (size_t i = 0; i < b->count; i++) {
        fl_skill_deinit(&b->read[i]);
        if (b->made[i] != NULL)
            fl_entry_unref(&b->made[i]->entry);
    }
    fl_mem_free(b->made);
    fl_mem_free(b->read);
    b->count = 0;
}

static fl_status complain(const batch *b, fl_span name, fl_status rc,
                          const fl_error *why)
{
    const char *text =
        why != NULL && why->text[0] != '\0' ? why->text : fl_status_text(rc);

    return fl_error_set(&b->server->error, rc, "skill '%.*s': %.160s",
                        name.len < 64 ? (int)name.len : 64, name.ptr, text);
}

static fl_skills_entry *make_entry(fl_skills_root *root, fl_span key,
                                   fl_skill_entry *read)
{
    fl_skills_entry *made = fl_mem_zalloc(sizeof *made + key.len + 1);

    if (made == NULL)
        return NULL;
    memcpy(made + 1, key.ptr, key.len);
    made->entry = (fl_entry){
        .key = (char *)(made + 1),
        .refs = 1,
        .free = free_entry,
    };
    made->root = root;
    made->json = read->json;
    fl_buf_init(&read->json, 1); /* it has moved */
    return made;
}

/* Taken by another directory, or by a resource of the program's own. */
static bool is_taken(const batch *b, fl_span key)
{
    const fl_skills_entry *there = (const fl_skills_entry *)fl_catalog_find(
        &b->server->skills->catalog, key);

    if (there != NULL)
        return there->root != b->root;
    return fl_catalog_find(&b->server->catalogs[FL_LIST_RESOURCES], key) !=
           NULL;
}

static fl_status read_skill(batch *b, const fl_skill_source *source)
{
    fl_error why = {.status = FL_OK};
    char room[FL_SKILLS_KEY];
    size_t at = b->count++;
    fl_status rc = fl_skill_read(source, &b->read[at], &why);

    if (rc != FL_OK)
        return complain(b, source->name, rc, &why);
    fl_span key = fl_skills_key(room, source->name);
    if (is_taken(b, key))
        return complain(b, source->name, FL_E_IN_USE, NULL);
    b->made[at] = make_entry(b->root, key, &b->read[at]);
    return b->made[at] != NULL ? FL_OK
                               : complain(b, source->name, FL_E_NOMEM, NULL);
}

/* A directory right below the root, with a SKILL.md in it. */
static bool is_skill(const fl_manifest *files, const fl_manifest_item *item)
{
    char path[FL_BELOW_PATH_MAX + sizeof "/" FL_SKILL_FILE];

    if (!item->is_directory || strchr(item->path, '/') != NULL)
        return false;
    int n = snprintf(path, sizeof path, "%s/" FL_SKILL_FILE, item->path);
    const fl_manifest_item *main =
        fl_manifest_find(files, (fl_span){path, (size_t)n});
    return main != NULL && !main->is_directory;
}

static fl_status read_all(batch *b, int fd, const fl_manifest *files)
{
    size_t most = 0;
    fl_status rc = FL_OK;

    for (size_t i = 0; i < files->count; i++)
        most += is_skill(files, &files->items[i]);
    b->made = fl_mem_zalloc((most + 1) * sizeof(fl_skills_entry *));
    b->read = fl_mem_zalloc((most + 1) * sizeof *b->read);
    if (b->made == NULL || b->read == NULL)
        return fl_error_set(&b->server->error, FL_E_NOMEM, "out of memory");
    for (size_t i = 0; i < files->count && rc == FL_OK; i++)
        if (is_skill(files, &files->items[i]))
            rc = read_skill(b, &(fl_skill_source){
                                   .root = fd,
                                   .files = files,
                                   .name = fl_span_of(files->items[i].path)});
    return rc;
}

/* What was there of this directory goes. */
static void remove_old(const batch *b)
{
    fl_catalog *catalog = &b->server->skills->catalog;

    for (size_t i = catalog->count; i > 0; i--) {
        fl_entry *entry = fl_catalog_at(catalog, i - 1);
        fl_span key = fl_span_of(entry->key);
        if (((fl_skills_entry *)entry)->root != b->root)
            continue;
        fl_server_unlist(b->server, key);
        fl_status gone = fl_catalog_remove(catalog, key);
        (void)gone; /* it was there */
    }
}

static fl_span name_of(const fl_skills_entry *skill)
{
    fl_span rest =
        fl_span_from(fl_span_of(skill->entry.key), sizeof FL_SKILL_SCHEME - 1);

    return (fl_span){rest.ptr, fl_span_find(rest, '/')};
}

static fl_status add_skill(batch *b, size_t at)
{
    char name[FL_SKILL_NAME_MAX + 1];
    fl_skills_entry *skill = b->made[at];
    fl_span label = name_of(skill);

    snprintf(name, sizeof name, "%.*s", (int)label.len, label.ptr);
    fl_status rc = fl_resources_add(
        &b->server->catalogs[FL_LIST_RESOURCES],
        &(fl_resource){
            .uri = skill->entry.key,
            .name = name,
            .description = fl_buf_view(&b->read[at].description).ptr,
            .mime_type = "text/markdown",
            .size = b->read[at].size,
            .read = fl_skills_read,
            .user = b->server,
        },
        NULL);
    if (rc != FL_OK)
        return rc;
    rc = fl_catalog_add(&b->server->skills->catalog, &skill->entry);
    if (rc == FL_OK)
        b->made[at] = NULL; /* it is the catalog's */
    else
        fl_server_unlist(b->server, fl_span_of(skill->entry.key));
    return rc;
}

/* One for the files of all skills, with the first of them. */
static fl_status add_template(fl_server *server)
{
    if (server->skills->has_template)
        return FL_OK;
    fl_status rc =
        fl_templates_add(&server->catalogs[FL_LIST_TEMPLATES],
                         &(fl_resource){.uri = FL_SKILL_SCHEME "{+path}",
                                        .name = "skills",
                                        .description = "Files of skills",
                                        .read = fl_skills_read,
                                        .user = server},
                         NULL);
    server->skills->has_template = rc == FL_OK;
    return rc;
}

static fl_status add_all(batch *b)
{
    fl_status rc = add_template(b->server);

    remove_old(b);
    for (size_t i = 0; i < b->count && rc == FL_OK; i++)
        rc = add_skill(b, i);
    fl_server_list_changed(b->server, FL_LIST_RESOURCES);
    return rc == FL_OK ? rc
                       : fl_error_set(&b->server->error, rc, "skills: %s",
                                      fl_status_text(rc));
}

static fl_status make_skills(fl_server *server)
{
    fl_skills *skills = server->skills;

    if (skills != NULL)
        return FL_OK;
    skills = fl_mem_zalloc(sizeof *skills);
    if (skills == NULL)
        return FL_E_NOMEM;
    fl_catalog_init(&skills->catalog, &fl_skills_kind);
    fl_list_init(&skills->roots);
    server->skills = skills;
    return FL_OK;
}

/* The one of this directory, made if need be. NULL: no memory. */
static fl_skills_root *get_root(fl_skills *skills, const char *directory)
{
    for (fl_list *node = skills->roots.next; node != &skills->roots;
         node = node->next) {
        fl_skills_root *root = FL_LIST_ENTRY(node, fl_skills_root, node);
        if (strcmp(root->directory, directory) == 0)
            return root;
    }
    fl_skills_root *made = fl_mem_zalloc(sizeof *made);
    if (made == NULL)
        return NULL;
    made->fd = -1;
    made->directory = fl_mem_string(fl_span_of(directory));
    if (made->directory == NULL) {
        fl_mem_free(made);
        return NULL;
    }
    fl_list_append(&skills->roots, &made->node);
    return made;
}

/* All that is read is good: it takes the place of what was there. */
static fl_status replace(batch *b, int *fd, fl_manifest *files)
{
    fl_skills_root *root = b->root;
    fl_manifest old = root->files;
    int before = root->fd;

    fl_status rc = read_all(b, *fd, files);
    if (rc != FL_OK)
        return rc;
    root->files = *files;
    root->fd = *fd;
    *files = old;
    *fd = before;
    return add_all(b);
}

static fl_status look(fl_server *server, fl_skills_root *root)
{
    batch b = {.server = server, .root = root};
    fl_manifest files = {0};
    int fd;

    fl_status rc = fl_below_root(root->directory, &fd);
    if (rc == FL_OK)
        rc = fl_manifest_read(
            &files, fd,
            &(fl_manifest_want){.max = FILES_MAX, .with_directories = true});
    if (rc == FL_OK && files.more)
        rc = FL_E_LIMIT;
    if (rc != FL_OK)
        rc = fl_error_set(&server->error, rc, "skills in '%.160s': %s",
                          root->directory, fl_status_text(rc));
    else
        rc = replace(&b, &fd, &files);
    drop(&b);
    fl_manifest_deinit(&files);
    fl_below_close(&fd);
    return rc;
}

fl_status fl_server_add_skills(fl_server *server, const char *directory)
{
    fl_skills_root *root = NULL;
    fl_status rc = make_skills(server);

    if (rc == FL_OK) {
        root = get_root(server->skills, directory);
        rc = root != NULL ? FL_OK : FL_E_NOMEM;
    }
    if (rc != FL_OK)
        return fl_error_set(&server->error, rc, "skills: %s",
                            fl_status_text(rc));
    return look(server, root);
}
