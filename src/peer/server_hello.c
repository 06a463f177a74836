/*
 * server_hello.c - what a server says of itself, in the words of each era.
 *
 * Each text is made when it is first asked for, and forgotten when what it
 * tells has changed.
 */
#include "base/span.h"
#include "peer/cache.h"
#include "peer/server.h"
#include "rpc/revision.h"

static void write_capabilities(fl_json_writer *writer, const fl_server *server)
{
    fl_json_key(writer, "capabilities");
    fl_json_object(writer);
    if (server->tools.count > 0) {
        fl_json_key(writer, "tools");
        fl_json_raw(writer, FL_SPAN("{\"listChanged\":true}"));
    }
    fl_json_object_end(writer);
}

static void write_instructions(fl_json_writer *writer, const fl_server *server)
{
    if (server->instructions == NULL)
        return;
    fl_json_key(writer, "instructions");
    fl_json_string(writer, server->instructions);
}

static void write_hello(fl_json_writer *writer, const fl_server *server)
{
    fl_json_object(writer);
    write_capabilities(writer, server);
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

static void write_discovery(fl_json_writer *writer, const fl_server *server)
{
    fl_json_object(writer);
    fl_json_key(writer, "supportedVersions");
    fl_server_write_versions(writer);
    write_capabilities(writer, server);
    write_instructions(writer, server);
    fl_cache_write_hints(writer);
    fl_json_object_end(writer);
}

static fl_status make(fl_server *server, fl_buf *text,
                      void (*write)(fl_json_writer *, const fl_server *))
{
    fl_json_writer writer;

    if (fl_buf_len(text) > 0)
        return FL_OK;
    fl_json_writer_init(&writer, text);
    write(&writer, server);
    fl_status rc = fl_json_writer_end(&writer);
    if (rc != FL_OK)
        fl_buf_reset(text);
    return rc;
}

fl_status fl_server_hello(fl_server *server, fl_span *hello)
{
    fl_status rc = make(server, &server->hello, write_hello);

    *hello = (fl_span){0};
    if (rc != FL_OK)
        return rc;
    /* the members, without the braces: initialize adds its own */
    fl_span whole = fl_buf_view(&server->hello);
    *hello = (fl_span){whole.ptr + 1, whole.len - 2};
    return FL_OK;
}

fl_status fl_server_discovery(fl_server *server, fl_span *discovery)
{
    fl_status rc = make(server, &server->discovery, write_discovery);

    *discovery = fl_buf_view(&server->discovery);
    return rc;
}
