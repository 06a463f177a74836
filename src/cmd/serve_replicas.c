/*
 * serve_replicas.c - the further places where the server of a command line
 * runs.
 *
 * A URL has no blank in it, so what follows one is ours.
 */
#include "cmd/serve_replicas.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum { WEIGHT = 1000 };

typedef struct replica {
    char url[FL_DOOR_URL];
    unsigned weight;
    bool standby;
} replica;

static bool read_weight(const char *text, replica *to)
{
    char *end;

    if (strncmp(text, "weight=", 7) != 0 || text[7] < '0' || text[7] > '9')
        return false;
    unsigned long weight = strtoul(text + 7, &end, 10);
    if (*end != '\0' || weight > WEIGHT)
        return false;
    to->weight = (unsigned)weight;
    to->standby = weight == 0;
    return true;
}

static fl_status read_replica(const char *text, bool plain, replica *to,
                              fl_error *error)
{
    size_t len = strcspn(text, " ");
    const char *rest = text + len + strspn(text + len, " ");

    *to = (replica){.weight = 1};
    if (len == 0 || len >= sizeof to->url)
        return fl_error_set(error, FL_E_INVALID,
                            "option --replica: '%.80s' is no address", text);
    memcpy(to->url, text, len);
    if (*rest != '\0' && !read_weight(rest, to))
        return fl_error_set(error, FL_E_INVALID,
                            "option --replica: '%.80s': after the address "
                            "there may be weight=N, from 0 (if no other is "
                            "well) to %d",
                            rest, WEIGHT);
    if (!plain && fl_serve_is_plain(to->url))
        return fl_error_set(error, FL_E_INVALID,
                            "option --replica: '%.80s': everybody on the way "
                            "could read and change what is said; if that is "
                            "fine, add --allow-http",
                            to->url);
    return FL_OK;
}

fl_status fl_serve_replicas_check(const fl_serve_line *line, fl_error *error)
{
    bool plain = line->upstream.client.connection.http.allow_plaintext;
    fl_status rc = FL_OK;
    replica one;

    for (size_t i = 0; i < line->replicas.count && rc == FL_OK; i++)
        rc = read_replica(line->replicas.items[i], plain, &one, error);
    return rc;
}

fl_status fl_serve_replicas_add(const fl_serve_line *line,
                                const fl_upstream *first, fl_gateway *gateway,
                                fl_error *error)
{
    fl_upstream upstream = *first;
    fl_status rc = FL_OK;
    replica one;

    for (size_t i = 0; i < line->replicas.count && rc == FL_OK; i++) {
        rc = read_replica(line->replicas.items[i], true, &one, error);
        upstream.url = one.url;
        upstream.weight = one.weight;
        upstream.standby = one.standby;
        if (rc == FL_OK)
            rc = fl_gateway_add_replica(gateway, &upstream, error);
    }
    return rc;
}
