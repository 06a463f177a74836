/*
 * replicas.c - the further places where a server runs.
 *
 * A URL alone is reached as the first one is, with the same headers. An entry
 * says all of that for itself, as that of a server does; but what holds for
 * the name, however many places it stands for, is said once.
 */
#include "config/replicas.h"

#include "base/span.h"
#include "config/pick.h"
#include "config/remote.h"
#include "config/stanza.h"
#include "json/nav.h"

enum { REPLICAS = 64, WEIGHT = 1000 };

static void read_url(fl_reader *reader, fl_span value,
                     const fl_config_server *first, fl_config_server *replica)
{
    fl_stanza stanza = {.at = value.ptr};

    stanza.values[FL_STANZA_URL] = value;
    fl_remote_read(reader, &stanza, replica);
    if (replica->kind == FL_CONFIG_AUTO)
        replica->kind = first->kind;
    replica->headers = first->headers;
    replica->era = first->era;
}

/* What an entry of a server has and one of a replica must not. */
static void refuse_others(fl_reader *reader, const fl_stanza *stanza)
{
    static const fl_stanza_key others[] = {
        FL_STANZA_TIMEOUT,  FL_STANZA_INCLUDE,        FL_STANZA_EXCLUDE,
        FL_STANZA_TOOLS,    FL_STANZA_DISABLED_TOOLS, FL_STANZA_OPTIONS,
        FL_STANZA_FAIRLEAD, FL_STANZA_OAUTH,
    };

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (stanza->values[others[i]].len > 0)
            fl_reader_error(reader, stanza->values[others[i]].ptr,
                            "it holds for all replicas: say it in the entry "
                            "of the server");
}

static void read_entry(fl_reader *reader, fl_span value,
                       fl_config_server *replica)
{
    fl_stanza stanza = {.at = value.ptr};

    if (!fl_stanza_find(reader, value, FL_PICK_REFUSE, &stanza))
        return;
    refuse_others(reader, &stanza);
    fl_stanza_read_place(reader, &stanza, replica);
    fl_pick_number(reader, stanza.values[FL_STANZA_WEIGHT], 0, WEIGHT,
                   &replica->weight);
}

static void read_one(fl_reader *reader, fl_span value, fl_span all,
                     fl_config_server *server)
{
    fl_config_server *replica = &server->replicas[server->replica_count++];

    *replica = (fl_config_server){
        .name = server->name,
        .line = fl_reader_line(reader, value.ptr),
        .disabled = server->disabled,
        .weight = 1,
    };
    if (fl_json_type_of(value) == FL_JSON_OBJECT) {
        read_entry(reader, value, replica);
        return;
    }
    if (server->kind == FL_CONFIG_CHILD) {
        fl_reader_error(reader, all.ptr,
                        "a URL alone is for a server with a URL; write an "
                        "entry: {\"url\": ...}");
        return;
    }
    read_url(reader, value, server, replica);
    if (server->url.text != NULL && replica->url.text != NULL &&
        !server->disabled &&
        !fl_remote_is_like(replica->url.text, server->url.text))
        fl_reader_error(reader, all.ptr,
                        "replica %zu is no URL of the kind of the first",
                        server->replica_count);
}

static size_t count_items(fl_span array)
{
    fl_json_walk walk;
    fl_json_member member;
    size_t count = 0;

    fl_json_walk_init(&walk, array);
    while (fl_json_walk_next(&walk, &member))
        count++;
    return count;
}

static void read_array(fl_reader *reader, fl_span value,
                       fl_config_server *server)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, value);
    while (reader->status == FL_OK && fl_json_walk_next(&walk, &member)) {
        fl_json_type type = fl_json_type_of(member.value);
        if (type == FL_JSON_STRING || type == FL_JSON_OBJECT)
            read_one(reader, member.value, value, server);
        else
            fl_reader_error(reader, member.value.ptr,
                            "it must be a URL, or an entry of a server");
    }
}

void fl_replicas_read(fl_reader *reader, fl_span value,
                      fl_config_server *server)
{
    fl_json_type type = fl_json_type_of(value);
    size_t count = type == FL_JSON_ARRAY ? count_items(value) : 1;
    void *room;

    if (type == FL_JSON_NONE || count == 0)
        return;
    if (type != FL_JSON_ARRAY && type != FL_JSON_STRING) {
        fl_reader_error(reader, value.ptr,
                        "it must be an array of URLs, or of entries of "
                        "servers");
        return;
    }
    if (count > REPLICAS) {
        fl_reader_error(reader, value.ptr, "there are more than %d", REPLICAS);
        return;
    }
    if (!fl_reader_try(reader,
                       fl_keep_take(&reader->config->keep,
                                    count * sizeof *server->replicas, &room)))
        return;
    server->replicas = room;
    if (type == FL_JSON_STRING)
        read_one(reader, value, value, server);
    else
        read_array(reader, value, server);
}
