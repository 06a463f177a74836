/*
 * extra.c - what fairlead itself wants to know of a server, under "fairlead".
 *
 * Nobody else writes here, so what is not known is a mistake.
 */
#include "config/extra.h"

#include "base/span.h"
#include "config/pick.h"
#include "config/remote.h"

enum { PREFIX = 32, WEIGHT = 1000, REPLICAS = 64 };

enum { CHILD, PREFIX_KEY, REPLICAS_KEY, WEIGHT_KEY, ALLOW, DENY, KEYS };

static const char *const names[] = {
    "child", "prefix", "replicas", "weight", "allow", "deny", NULL,
};

static void read_child(fl_reader *reader, fl_span value,
                       fl_config_server *server)
{
    static const char *const words[] = {"auto", "shared", "session", "request",
                                        NULL};
    size_t which;

    if (!fl_pick_word(reader, value, words, &which))
        return;
    server->child = (fl_config_child)which;
    if (server->kind != FL_CONFIG_CHILD)
        fl_reader_error(reader, value.ptr, "it is for a server with a command");
}

static bool is_prefix(const char *text)
{
    size_t len = 0;

    for (; text[len] != '\0'; len++) {
        char c = text[len];
        if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') &&
            (c < '0' || c > '9') && c != '_' && c != '-' && c != '.')
            return false;
    }
    return len <= PREFIX;
}

static void read_prefix(fl_reader *reader, fl_span value,
                        fl_config_server *server)
{
    fl_config_text text;

    if (!fl_pick_text(reader, value, &text))
        return;
    server->prefix = text.text;
    if (!is_prefix(text.text))
        fl_reader_error(reader, value.ptr,
                        "it must be up to %d of A-Z a-z 0-9 _ - .", PREFIX);
}

static void read_replicas(fl_reader *reader, fl_span value,
                          fl_config_server *server)
{
    if (value.len == 0)
        return;
    if (server->kind == FL_CONFIG_CHILD)
        fl_reader_error(reader, value.ptr, "it is for a server with a URL");
    fl_pick_texts(reader, value, &server->replicas);
    if (server->replicas.count > REPLICAS)
        fl_reader_error(reader, value.ptr, "there are more than %d", REPLICAS);
    for (size_t i = 0; i < server->replicas.count; i++)
        if (server->url.text != NULL && !server->disabled &&
            !fl_remote_is_like(server->replicas.items[i], server->url.text))
            fl_reader_error(reader, value.ptr,
                            "replica %zu is no URL of the kind of the first",
                            i + 1);
}

void fl_extra_read(fl_reader *reader, fl_span value, fl_config_server *server)
{
    fl_span values[KEYS];

    if (value.len == 0 ||
        !fl_pick_find(reader, value, names, values, FL_PICK_REFUSE))
        return;
    read_child(reader, values[CHILD], server);
    read_prefix(reader, values[PREFIX_KEY], server);
    read_replicas(reader, values[REPLICAS_KEY], server);
    fl_pick_number(reader, values[WEIGHT_KEY], 1, WEIGHT, &server->weight);
    fl_pick_texts(reader, values[ALLOW], &server->include);
    fl_pick_texts(reader, values[DENY], &server->exclude);
}
