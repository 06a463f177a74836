/*
 * server_hello.c - what a server says of itself, in the words of each era.
 *
 * Each text is made when it is first asked for, and forgotten when what it
 * tells has changed.
 */
#include "base/span.h"
#include "rpc/revision.h"
#include "server/cache.h"
#include "server/server.h"

static void write_capability(fl_json_writer *writer, const char *name,
                             fl_span value)
{
    fl_json_key(writer, name);
    fl_json_raw(writer, value);
}

static void write_core_tasks(fl_json_writer *writer, unsigned offers,
                             const fl_revision *revision)
{
    if ((offers & FL_OFFER_TASKS) != 0 &&
        fl_revision_has(revision, FL_HAS_TASKS))
        write_capability(writer, "tasks",
                         FL_SPAN("{\"list\":{},\"cancel\":{},\"requests\":{"
                                 "\"tools\":{\"call\":{}}}}"));
}

/* What is not of the core (tasks were, once); left out when there is nothing.
 */
static void write_extensions(fl_json_writer *writer, unsigned offers,
                             const fl_revision *revision)
{
    bool tasks = (offers & FL_OFFER_TASKS) != 0 && !revision->legacy;

    if ((offers & FL_OFFER_SKILLS) == 0 && !tasks)
        return;
    fl_json_key(writer, "extensions");
    fl_json_object(writer);
    if (tasks)
        write_capability(writer, "io.modelcontextprotocol/tasks",
                         FL_SPAN("{}"));
    if ((offers & FL_OFFER_SKILLS) != 0)
        write_capability(writer, "io.modelcontextprotocol/skills",
                         FL_SPAN("{\"directoryRead\":true}"));
    fl_json_object_end(writer);
}

static void write_capabilities(fl_json_writer *writer, const fl_server *server,
                               const fl_revision *revision)
{
    unsigned offers = fl_server_offers(server);

    fl_json_key(writer, "capabilities");
    fl_json_object(writer);
    if ((offers & FL_OFFER_TOOLS) != 0)
        write_capability(writer, "tools", FL_SPAN("{\"listChanged\":true}"));
    if ((offers & FL_OFFER_RESOURCES) != 0)
        write_capability(writer, "resources",
                         FL_SPAN("{\"subscribe\":true,\"listChanged\":true}"));
    if ((offers & FL_OFFER_PROMPTS) != 0)
        write_capability(writer, "prompts", FL_SPAN("{\"listChanged\":true}"));
    if ((offers & FL_OFFER_COMPLETIONS) != 0 &&
        fl_revision_has(revision, FL_HAS_COMPLETIONS))
        write_capability(writer, "completions", FL_SPAN("{}"));
    if ((offers & FL_OFFER_LOGGING) != 0)
        write_capability(writer, "logging", FL_SPAN("{}"));
    write_core_tasks(writer, offers, revision);
    write_extensions(writer, offers, revision);
    fl_json_object_end(writer);
}

static void write_instructions(fl_json_writer *writer, const fl_server *server)
{
    if (server->instructions == NULL)
        return;
    fl_json_key(writer, "instructions");
    fl_json_string(writer, server->instructions);
}

static void write_hello(fl_json_writer *writer, const fl_server *server,
                        const fl_revision *revision)
{
    fl_json_object(writer);
    write_capabilities(writer, server, revision);
    fl_json_key(writer, "serverInfo");
    fl_json_raw(writer, fl_buf_view(&server->identity));
    write_instructions(writer, server);
    fl_json_object_end(writer);
}

void fl_server_write_versions(fl_json_writer *writer)
{
    fl_json_array(writer);
    for (const fl_revision *row = fl_revision_table(); row->name != NULL; row++)
        if (!row->legacy)
            fl_json_string(writer, row->name);
    fl_json_array_end(writer);
}

static void write_discovery(fl_json_writer *writer, const fl_server *server,
                            const fl_revision *revision)
{
    fl_json_object(writer);
    fl_json_key(writer, "supportedVersions");
    fl_server_write_versions(writer);
    write_capabilities(writer, server, revision);
    write_instructions(writer, server);
    fl_cache_write_hints(writer);
    fl_json_object_end(writer);
}

typedef void fl_hello_writer(fl_json_writer *writer, const fl_server *server,
                             const fl_revision *revision);

/* Of this revision: made when it is first asked for. */
static fl_status make(fl_server *server, const fl_revision *revision,
                      fl_hello_writer *write, fl_span *text)
{
    fl_buf *hello = &server->hellos[revision->id];
    fl_status rc = FL_OK;

    if (fl_buf_len(hello) == 0) {
        fl_json_writer writer;
        fl_json_writer_init(&writer, hello);
        write(&writer, server, revision);
        rc = fl_json_writer_end(&writer);
        if (rc != FL_OK)
            fl_buf_reset(hello);
    }
    *text = fl_buf_view(hello);
    return rc;
}

fl_status fl_server_hello(fl_server *server, const fl_revision *revision,
                          fl_span *hello)
{
    fl_status rc = make(server, revision, write_hello, hello);

    /* the members, without the braces: initialize adds its own */
    if (rc == FL_OK)
        *hello = (fl_span){hello->ptr + 1, hello->len - 2};
    return rc;
}

fl_status fl_server_discovery(fl_server *server, const fl_revision *revision,
                              fl_span *discovery)
{
    return make(server, revision, write_discovery, discovery);
}
