/*
 * server_identity.c - who a server says it is.
 *
 * Its name and version, and what else a program wants to be shown of it. In
 * the modern era every result carries it, so it is made once.
 */
#include "base/span.h"
#include "server/server.h"
#include "server/session.h"
#include "json/nav.h"
#include "json/scan.h"

enum { IDENTITY_MAX = 1 << 20, OPENING_ROOM = 128 };

static void write_name(fl_json_writer *writer, const char *name,
                       const char *version)
{
    fl_json_key(writer, "name");
    fl_json_string(writer, name);
    fl_json_key(writer, "version");
    fl_json_string(writer, version);
}

static fl_status write_opening(fl_buf *out, fl_span identity)
{
    fl_status rc =
        fl_buf_append(out, FL_SPAN(FL_RESULT FL_RESULT_TYPE FL_RESULT_SERVER));

    if (rc == FL_OK)
        rc = fl_buf_append(out, identity);
    return rc == FL_OK ? fl_buf_append(out, FL_SPAN("}," FL_RESULT_TEXT)) : rc;
}

fl_status fl_server_name(fl_server *server, const char *name,
                         const char *version)
{
    fl_json_writer writer;

    fl_buf_init(&server->identity, IDENTITY_MAX);
    fl_buf_init(&server->opening, IDENTITY_MAX + OPENING_ROOM);
    fl_json_writer_init(&writer, &server->identity);
    fl_json_object(&writer);
    write_name(&writer, name, version);
    fl_json_object_end(&writer);
    fl_status rc = fl_json_writer_end(&writer);
    return rc == FL_OK
               ? write_opening(&server->opening, fl_buf_view(&server->identity))
               : rc;
}

/* Our own members first; of those a program gives, what we have is left out. */
static void merge(fl_json_writer *writer, fl_span own, fl_span more)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_object(writer);
    fl_json_walk_init(&walk, own);
    while (fl_json_walk_next(&walk, &member)) {
        fl_json_raw_key(writer, member.key);
        fl_json_raw(writer, member.value);
    }
    fl_json_walk_init(&walk, more);
    while (fl_json_walk_next(&walk, &member))
        if (fl_json_get(own, member.key).len == 0) {
            fl_json_raw_key(writer, member.key);
            fl_json_raw(writer, member.value);
        }
    fl_json_object_end(writer);
}

fl_status fl_server_set_identity(fl_server *server, const char *json)
{
    fl_json_writer writer;
    fl_json_top top;
    fl_buf merged, opening;

    if (fl_json_scan(fl_span_of(json), 0, &top, NULL) != FL_OK ||
        top.type != FL_JSON_OBJECT)
        return FL_E_INVALID;
    fl_buf_init(&merged, IDENTITY_MAX);
    fl_buf_init(&opening, IDENTITY_MAX + OPENING_ROOM);
    fl_json_writer_init(&writer, &merged);
    merge(&writer, fl_buf_view(&server->identity), top.value);
    fl_status rc = fl_json_writer_end(&writer);
    if (rc == FL_OK)
        rc = write_opening(&opening, fl_buf_view(&merged));
    if (rc != FL_OK) {
        fl_buf_reset(&merged);
        fl_buf_reset(&opening);
        return rc;
    }
    fl_buf_reset(&server->identity);
    fl_buf_reset(&server->opening);
    server->identity = merged;
    server->opening = opening;
    fl_server_forget_hello(server);
    return FL_OK;
}
