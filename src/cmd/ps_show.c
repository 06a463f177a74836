/*
 * ps_show.c - reports of gateways, as a table for people.
 *
 * A report may come from another version of the program: what is not in it, or
 * is not what was expected, is a dash.
 */
#include "cmd/ps_show.h"

#include "base/span.h"
#include "cmd/table.h"
#include "json/nav.h"

#include <inttypes.h>

enum { PID, SERVER, OWNER, STATE, AGE, MEMORY, BUSY, SAID, COLUMNS };

static const fl_table_column columns_of[COLUMNS] = {
    [PID] = {"PID", 0, true},       [SERVER] = {"SERVER", 28, false},
    [OWNER] = {"OWNER", 32, false}, [STATE] = {"STATE", 0, false},
    [AGE] = {"AGE", 0, true},       [MEMORY] = {"MEMORY", 0, true},
    [BUSY] = {"BUSY", 0, true},     [SAID] = {"LAST STDERR LINE", 0, false},
};

_Static_assert((int)COLUMNS <= (int)FL_TABLE_COLUMNS, "room");

enum { TEXT_MAX = 64 * 1024 };

typedef struct sheet {
    fl_table table;
    fl_buf text; /* on its way to a cell */
} sheet;

void fl_ps_age(uint64_t ms, char text[FL_PS_TEXT])
{
    uint64_t s = ms / 1000;

    if (s < 60)
        snprintf(text, FL_PS_TEXT, "%" PRIu64 "s", s);
    else if (s < 3600)
        snprintf(text, FL_PS_TEXT, "%" PRIu64 "m%02us", s / 60,
                 (unsigned)(s % 60));
    else if (s < 86400)
        snprintf(text, FL_PS_TEXT, "%" PRIu64 "h%02um", s / 3600,
                 (unsigned)(s % 3600 / 60));
    else
        snprintf(text, FL_PS_TEXT, "%" PRIu64 "d%02uh", s / 86400,
                 (unsigned)(s % 86400 / 3600));
}

void fl_ps_size(uint64_t bytes, char text[FL_PS_TEXT])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    double size = (double)bytes / 1024;
    size_t unit = 0;

    while (size >= 1023.95 && unit < 3) { /* or it would be shown as 1024.0 */
        size /= 1024;
        unit++;
    }
    if (bytes < 1024)
        snprintf(text, FL_PS_TEXT, "%u B", (unsigned)bytes);
    else
        snprintf(text, FL_PS_TEXT, "%.1f %s", size, units[unit]);
}

static fl_span get(fl_span object, const char *key)
{
    return fl_json_get(object, fl_span_of(key));
}

static bool is(fl_span object, const char *key, const char *text)
{
    return fl_json_string_is(get(object, key), fl_span_of(text));
}

static bool get_number(fl_span object, const char *key, uint64_t *out)
{
    int64_t number;

    *out = 0;
    if (fl_json_int64(get(object, key), &number) != FL_OK || number < 0)
        return false;
    *out = (uint64_t)number;
    return true;
}

static void put(sheet *on, unsigned column, const char *text)
{
    fl_table_put(&on->table, column, fl_span_of(text));
}

/* A JSON string's meaning; empty if it is none. Good until the next one. */
static fl_span meaning(sheet *on, fl_span value)
{
    fl_buf_clear(&on->text);
    if (fl_json_type_of(value) != FL_JSON_STRING)
        return (fl_span){0};
    fl_status rc = fl_json_string_copy(value, &on->text);
    if (on->table.status == FL_OK)
        on->table.status = rc;
    return fl_buf_view(&on->text);
}

/* Whether there was anything to put. */
static bool put_value(sheet *on, unsigned column, fl_span value)
{
    fl_span text = meaning(on, value);

    fl_table_put(&on->table, column, text);
    return text.len > 0;
}

static void put_number(sheet *on, unsigned column, fl_span object,
                       const char *key)
{
    char text[FL_PS_TEXT];
    uint64_t number;

    if (!get_number(object, key, &number))
        return;
    snprintf(text, sizeof text, "%" PRIu64, number);
    put(on, column, text);
}

static void put_age(sheet *on, unsigned column, fl_span object, const char *key)
{
    char text[FL_PS_TEXT];
    uint64_t ms;

    if (!get_number(object, key, &ms))
        return;
    fl_ps_age(ms, text);
    put(on, column, text);
}

static void put_memory(sheet *on, fl_span child)
{
    char text[FL_PS_TEXT];
    uint64_t bytes;

    if (!get_number(get(child, "memory"), "family", &bytes))
        return;
    fl_ps_size(bytes, text);
    put(on, MEMORY, text);
}

static bool is_named(fl_span server)
{
    return fl_json_type_of(get(server, "named")) == FL_JSON_TRUE;
}

/* One without a name is known by what runs it, or where it is: `place`, of one
 * that runs in several. */
static void put_server(sheet *on, fl_span server, fl_span place)
{
    if (is_named(server) || (!put_value(on, SERVER, place) &&
                             !put_value(on, SERVER, get(server, "command")) &&
                             !put_value(on, SERVER, get(server, "url"))))
        put_value(on, SERVER, get(server, "name"));
}

/* And for how long it will be left alone. */
static void put_state(sheet *on, fl_span object, fl_span health)
{
    uint64_t wait_ms;

    put_value(on, STATE, get(object, "state"));
    if (get_number(health, "retry_ms", &wait_ms) && wait_ms > 0) {
        put(on, STATE, " ");
        put_age(on, STATE, health, "retry_ms");
    }
}

static void put_client(sheet *on, fl_span owner)
{
    fl_span client = get(owner, "client");

    if (fl_json_type_of(client) != FL_JSON_STRING)
        return;
    put(on, OWNER, " (");
    put_value(on, OWNER, client);
    put(on, OWNER, ")");
}

/* "#3" is whoever is on the third link. */
static void put_user(sheet *on, fl_span owner)
{
    fl_span user = meaning(on, get(owner, "user"));

    if (fl_span_starts(user, FL_SPAN("#"))) {
        put(on, OWNER, "client ");
        user = fl_span_from(user, 1);
    }
    fl_table_put(&on->table, OWNER, user);
}

static void put_owner(sheet *on, fl_span owner)
{
    uint64_t number;

    if (is(owner, "kind", "user"))
        put_user(on, owner);
    else
        put_value(on, OWNER, get(owner, "kind"));
    if (get_number(owner, "session", &number)) {
        put(on, OWNER, " ");
        put_number(on, OWNER, owner, "session");
    }
    put_client(on, owner);
    if (is(owner, "kind", "shared") && get_number(owner, "sessions", &number) &&
        number > 0) {
        put(on, OWNER, " (");
        put_number(on, OWNER, owner, "sessions");
        put(on, OWNER, ")");
    }
}

/* Who says nothing on stderr may have another reason. */
static void put_said(sheet *on, fl_span said, fl_span error)
{
    if (put_value(on, SAID, said) || fl_json_type_of(error) != FL_JSON_STRING)
        return;
    put(on, SAID, "(");
    put_value(on, SAID, error);
    put(on, SAID, ")");
}

static void make_child(sheet *on, fl_span server, fl_span child)
{
    put_number(on, PID, child, "pid");
    put_server(on, server, get(child, "replica"));
    put_owner(on, get(child, "owner"));
    put_value(on, STATE, get(child, "state"));
    put_age(on, AGE, child, "age_ms");
    put_memory(on, child);
    put_number(on, BUSY, child, "in_flight");
    put_said(on, get(child, "stderr"), get(child, "error"));
    fl_table_end_row(&on->table);
}

/* A server that has no child now, or that is not asked though it has, is a row
 * all the same. */
static void make_lonely(sheet *on, fl_span server)
{
    fl_span health = get(server, "health");

    put_server(on, server, (fl_span){0});
    put_state(on, server, health);
    put_number(on, BUSY, server, "in_flight");
    if (!is(health, "breaker", "closed"))
        put_said(on, (fl_span){0}, get(health, "error"));
    fl_table_end_row(&on->table);
}

/* One of the places where a server runs, whoever is on it. */
static void make_replica(sheet *on, fl_span server, fl_span replica)
{
    fl_span place = get(replica, "replica");

    put_server(on, server, place);
    put(on, OWNER, "replica");
    if (is_named(server)) {
        put(on, OWNER, " ");
        put_value(on, OWNER, place);
    }
    put_state(on, replica, replica);
    put_number(on, BUSY, replica, "in_flight");
    if (!is(replica, "state", "up"))
        put_said(on, (fl_span){0}, get(replica, "error"));
    fl_table_end_row(&on->table);
}

typedef void make_fn(sheet *on, fl_span server, fl_span part);

/* Whether there were any. */
static bool make_each(sheet *on, fl_span server, const char *key, make_fn *make)
{
    fl_json_walk walk;
    fl_json_member part;
    bool any = false;

    fl_json_walk_init(&walk, get(server, key));
    for (; fl_json_walk_next(&walk, &part); any = true)
        make(on, server, part.value);
    return any;
}

static void make_server(sheet *on, fl_span server)
{
    bool replicas = make_each(on, server, "replicas", make_replica);
    bool children = make_each(on, server, "children", make_child);

    if (!replicas && (!children || is(server, "state", "unavailable")))
        make_lonely(on, server);
}

static void make_rows(sheet *on, fl_span report)
{
    fl_json_walk walk;
    fl_json_member server;

    fl_table_titles(&on->table);
    fl_json_walk_init(&walk, get(report, "servers"));
    while (fl_json_walk_next(&walk, &server))
        make_server(on, server.value);
}

/* A line of its own for a text of the report, spelt out. */
static void print_text(sheet *on, const char *before, fl_span value)
{
    FILE *file = on->table.to->file;
    fl_buf spelt;

    fl_buf_init(&spelt, TEXT_MAX);
    fl_status rc = fl_term_spell(&spelt, meaning(on, value));
    fl_span text = fl_buf_view(&spelt);
    fprintf(file, "%s%.*s", before, (int)text.len,
            text.len > 0 ? text.ptr : "");
    if (on->table.status == FL_OK)
        on->table.status = rc;
    fl_buf_reset(&spelt);
}

/* "Gateway 4242: fairlead 0.1.0, up 3m12s, 2 clients", and where it is. */
static void print_head(sheet *on, fl_span report)
{
    const fl_term *to = on->table.to;
    uint64_t pid, uptime_ms, clients;
    char age[FL_PS_TEXT];
    fl_json_walk walk;
    fl_json_member url;

    (void)get_number(report, "pid", &pid);
    (void)get_number(report, "uptime_ms", &uptime_ms);
    (void)get_number(report, "clients", &clients);
    fl_ps_age(uptime_ms, age);
    fl_term_say(to, FL_TERM_BOLD, "Gateway %" PRIu64, pid);
    print_text(on, ": fairlead ", get(report, "version"));
    fprintf(to->file, ", up %s, %" PRIu64 " client%s%s\n", age, clients,
            clients == 1 ? "" : "s",
            is(report, "state", "ending") ? ", ending" : "");
    fl_json_walk_init(&walk, get(report, "listen"));
    while (fl_json_walk_next(&walk, &url)) {
        print_text(on, "  on ", url.value);
        fputc('\n', to->file);
    }
}

fl_status fl_ps_show(const fl_term *to, fl_span report, size_t columns)
{
    sheet on;
    uint64_t omitted;

    fl_table_init(&on.table, to, columns, columns_of, COLUMNS);
    fl_buf_init(&on.text, TEXT_MAX);
    print_head(&on, report);
    make_rows(&on, report);
    fl_table_print(&on.table);
    make_rows(&on, report);
    if (get_number(report, "omitted", &omitted) && omitted > 0)
        fprintf(to->file, "  ... and %" PRIu64 " more\n", omitted);
    fl_status rc = on.table.status;
    fl_buf_reset(&on.text);
    fl_table_deinit(&on.table);
    return rc;
}
