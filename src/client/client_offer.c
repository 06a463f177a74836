/*
 * client_offer.c - what a client declares that it can do, and its roots.
 *
 * There is no list of capabilities to keep in step with the handlers: what is
 * declared is written from them, in the words of the revision that it is for.
 */
#include "client/client.h"

#include "base/span.h"
#include "base/status.h"
#include "json/nav.h"

enum { ROOTS_MAX = 4 * 1024 * 1024, EXTRA_MAX = 1024 * 1024 };

#define TASKS "io.modelcontextprotocol/tasks"

static fl_status keep_object(fl_buf *to, const char *json, const char *option,
                             fl_error *error)
{
    fl_json_top top;

    fl_buf_init(to, EXTRA_MAX);
    if (json == NULL)
        return FL_OK;
    if (fl_json_scan(fl_span_of(json), 0, &top, NULL) != FL_OK ||
        top.type != FL_JSON_OBJECT)
        return fl_error_set(error, FL_E_INVALID,
                            "option %s: want a JSON object", option);
    fl_status rc = fl_buf_append(to, top.value);
    return rc == FL_OK ? rc : fl_error_set(error, rc, "out of memory");
}

/* Ours among those of the program; what it says of it itself holds. */
static fl_status add_tasks(fl_offer *offer)
{
    fl_span given = fl_buf_view(&offer->extensions);
    bool bare = given.len == 0;

    fl_buf_init(&offer->with_tasks, EXTRA_MAX);
    if (!offer->tasks || fl_json_get(given, FL_SPAN(TASKS)).len > 0)
        return bare ? FL_OK : fl_buf_append(&offer->with_tasks, given);
    fl_json_walk walk;
    fl_json_member member;
    fl_json_walk_init(&walk, given);
    bool empty = !fl_json_walk_next(&walk, &member);
    return fl_buf_printf(&offer->with_tasks, "%.*s%s\"" TASKS "\":{}}",
                         bare ? 1 : (int)given.len - 1, bare ? "{" : given.ptr,
                         empty ? "" : ",");
}

fl_status fl_client_offer_init(fl_client *client,
                               const fl_client_options *options,
                               fl_error *error)
{
    fl_offer *offer = &client->offer;

    if (options->handlers != NULL)
        client->handlers = *options->handlers;
    offer->tasks = options->tasks;
    fl_buf_init(&offer->foreign, EXTRA_MAX);
    fl_buf_init(&offer->foreign_modern, EXTRA_MAX);
    fl_buf_init(&offer->roots, ROOTS_MAX);
    fl_status rc = keep_object(&offer->extensions, options->extensions,
                               "extensions", error);
    if (rc == FL_OK)
        rc = keep_object(&offer->experimental, options->experimental,
                         "experimental", error);
    if (rc == FL_OK && add_tasks(offer) != FL_OK)
        rc = fl_error_set(error, FL_E_NOMEM, "out of memory");
    return rc;
}

void fl_client_offer_deinit(fl_client *client)
{
    fl_buf_reset(&client->offer.extensions);
    fl_buf_reset(&client->offer.with_tasks);
    fl_buf_reset(&client->offer.experimental);
    fl_buf_reset(&client->offer.foreign);
    fl_buf_reset(&client->offer.foreign_modern);
    fl_buf_reset(&client->offer.roots);
}

static void write_flag(fl_json_writer *writer, const char *key, bool flag)
{
    if (!flag)
        return;
    fl_json_key(writer, key);
    fl_json_raw(writer, FL_SPAN("{}"));
}

static void write_roots(const fl_client *client, const fl_revision *revision,
                        fl_json_writer *writer)
{
    if (client->handlers.roots == NULL && !fl_client_has_roots(client))
        return;
    fl_json_key(writer, "roots");
    fl_json_raw(writer, revision->legacy ? FL_SPAN("{\"listChanged\":true}")
                                         : FL_SPAN("{}"));
}

/* What one can say about sampling, and which modes of elicitation there are,
 * can be said from the same revision on. */
static void write_handlers(const fl_client *client, const fl_revision *revision,
                           fl_json_writer *writer)
{
    const fl_client_handlers *handlers = &client->handlers;
    bool detailed = fl_revision_has(revision, FL_HAS_URL_ELICITATION);
    bool url = handlers->elicit_url != NULL && detailed;

    if (handlers->sample != NULL) {
        fl_json_key(writer, "sampling");
        fl_json_object(writer);
        write_flag(writer, "context", detailed && handlers->sample_context);
        write_flag(writer, "tools", detailed && handlers->sample_tools);
        fl_json_object_end(writer);
    }
    if ((handlers->elicit == NULL && !url) ||
        !fl_revision_has(revision, FL_HAS_ELICITATION))
        return;
    fl_json_key(writer, "elicitation");
    fl_json_object(writer);
    write_flag(writer, "form", detailed && handlers->elicit != NULL);
    write_flag(writer, "url", url);
    fl_json_object_end(writer);
}

static void write_extensions(const fl_client *client,
                             const fl_revision *revision,
                             fl_json_writer *writer)
{
    const fl_offer *offer = &client->offer;
    fl_span extensions =
        fl_buf_view(revision->legacy ? &offer->extensions : &offer->with_tasks);

    if (extensions.len == 0)
        return;
    fl_json_key(writer, "extensions");
    fl_json_raw(writer, extensions);
}

void fl_client_offer_write(const fl_client *client, const fl_revision *revision,
                           fl_json_writer *writer)
{
    fl_span experimental = fl_buf_view(&client->offer.experimental);
    fl_span foreign =
        fl_buf_view(revision->legacy ? &client->offer.foreign
                                     : &client->offer.foreign_modern);

    if (foreign.len > 0) {
        fl_json_raw(writer, foreign);
        return;
    }
    fl_json_object(writer);
    if (experimental.len > 0) {
        fl_json_key(writer, "experimental");
        fl_json_raw(writer, experimental);
    }
    write_roots(client, revision, writer);
    write_handlers(client, revision, writer);
    write_extensions(client, revision, writer);
    fl_json_object_end(writer);
}

static fl_status write_list(fl_buf *to, const fl_root *roots, size_t count)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, to);
    fl_json_object(&writer);
    fl_json_key(&writer, "roots");
    fl_json_array(&writer);
    for (size_t i = 0; i < count; i++) {
        fl_json_object(&writer);
        fl_json_key(&writer, "uri");
        fl_json_text(&writer, roots[i].uri);
        if (roots[i].name.len > 0) {
            fl_json_key(&writer, "name");
            fl_json_text(&writer, roots[i].name);
        }
        fl_json_object_end(&writer);
    }
    fl_json_array_end(&writer);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

fl_status fl_client_set_roots(fl_client *client, const fl_root *roots,
                              size_t count)
{
    fl_buf *kept = &client->offer.roots;
    bool declared =
        client->handlers.roots != NULL || fl_client_has_roots(client);
    fl_buf list;

    if (client->state == FL_CLIENT_CLOSING)
        return FL_E_CLOSED;
    if (!declared && client->state != FL_CLIENT_OPENING)
        return FL_E_STATE;
    fl_buf_init(&list, ROOTS_MAX);
    fl_status rc = write_list(&list, roots, count);
    if (rc != FL_OK) {
        fl_buf_reset(&list);
        return rc;
    }
    fl_buf_reset(kept);
    *kept = list;
    if (client->state == FL_CLIENT_READY && client->revision->legacy)
        (void)!fl_client_notify(client, "notifications/roots/list_changed",
                                (fl_span){0});
    return FL_OK;
}
