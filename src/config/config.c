/*
 * config.c - a whole configuration file: its form, and where the servers are.
 *
 * Hosts differ in the key the servers are under:
 *
 *     mcpServers     nearly all of them
 *     servers        VS Code, with "inputs" beside it
 *     mcp            opencode; mcp.servers in its later form, and in the
 *                    settings of VS Code. Beside mcpServers it is Gemini's,
 *                    and about something else
 *
 * The text is copied once, comments blanked, and looked at in that copy until
 * everything has been taken out of it.
 */
#include "config/config.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "config/jsonc.h"
#include "config/pick.h"
#include "config/reader.h"
#include "config/stanza.h"
#include "json/nav.h"

#include <string.h>

enum { NOTES = 256 * 1024 };

enum { MCP_SERVERS, SERVERS, MCP, INPUTS, MCP_PROXY, OWN, ROOTS };

static const char *const roots[] = {
    "mcpServers", "servers", "mcp", "inputs", "mcpProxy", "fairlead", NULL,
};

/* Only Gemini has these. */
static bool is_gemini(fl_span servers)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, servers);
    while (fl_json_walk_next(&walk, &member))
        if (fl_json_get(member.value, FL_SPAN("httpUrl")).len > 0 ||
            fl_json_get(member.value, FL_SPAN("trust")).len > 0)
            return true;
    return false;
}

static size_t count_members(fl_span object)
{
    fl_json_walk walk;
    fl_json_member member;
    size_t count = 0;

    fl_json_walk_init(&walk, object);
    while (fl_json_walk_next(&walk, &member))
        count++;
    return count;
}

static void note_name(fl_reader *reader, fl_map *seen, const char *at,
                      const fl_config_server *server)
{
    fl_status rc = server->name != NULL
                       ? fl_map_add(seen, fl_span_of(server->name), reader)
                       : FL_OK;

    if (rc == FL_E_IN_USE)
        fl_reader_error(reader, at, "there is a server of this name already");
    else
        fl_reader_try(reader, rc);
}

static void read_each(fl_reader *reader, fl_span servers, bool gemini)
{
    fl_config *config = reader->config;
    fl_json_walk walk;
    fl_json_member member;
    fl_map seen;

    fl_map_init(&seen, FL_CONFIG_SERVERS);
    fl_json_walk_init(&walk, servers);
    while (reader->status == FL_OK && fl_json_walk_next(&walk, &member)) {
        fl_config_server *server = &config->servers[config->server_count++];
        fl_stanza_read(reader, member, gemini, server);
        note_name(reader, &seen, member.key.ptr - 1, server);
    }
    fl_map_deinit(&seen);
}

static void read_servers(fl_reader *reader, fl_span servers, bool gemini)
{
    size_t count = count_members(servers);
    void *room;

    if (fl_json_type_of(servers) != FL_JSON_OBJECT)
        fl_reader_error(reader, servers.ptr, "it must be an object");
    else if (count > FL_CONFIG_SERVERS)
        fl_reader_error(reader, servers.ptr, "there are more than %d servers",
                        FL_CONFIG_SERVERS);
    else if (count == 0)
        fl_reader_warn(reader, servers.ptr, "there is no server in it");
    else if (fl_reader_try(reader,
                           fl_keep_take(&reader->config->keep,
                                        count * sizeof(fl_config_server),
                                        &room))) {
        reader->config->servers = room;
        reader->bare_dollar = gemini;
        read_each(reader, servers, gemini);
    }
}

/* A member called "servers" is an entry of that name if it looks like one. */
static fl_span inner_servers(fl_span mcp)
{
    fl_span inner = fl_json_get(mcp, FL_SPAN("servers"));
    bool is_entry = fl_json_get(inner, FL_SPAN("type")).len > 0 ||
                    fl_json_get(inner, FL_SPAN("command")).len > 0 ||
                    fl_json_get(inner, FL_SPAN("url")).len > 0;

    return !is_entry ? inner : (fl_span){0};
}

static void tell_no_servers(fl_reader *reader)
{
    static const char *const names[] = {"mcpServers", "servers", NULL};
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, reader->root);
    while (fl_json_walk_next(&walk, &member)) {
        const char *meant = fl_pick_meant(member.key, names);
        if (meant != NULL) {
            fl_reader_error(reader, member.key.ptr - 1, "is \"%s\" meant?",
                            meant);
            return;
        }
    }
    fl_reader_error(reader, reader->root.ptr,
                    "there are no servers: no \"mcpServers\", no \"servers\" "
                    "(VS Code), no \"mcp\" (opencode)");
}

static void read_mcp(fl_reader *reader, fl_span mcp)
{
    fl_span inner = inner_servers(mcp);

    reader->braces = true;
    if (inner.len > 0 && reader->inputs.len == 0)
        reader->inputs = fl_json_get(mcp, FL_SPAN("inputs"));
    read_servers(reader, inner.len > 0 ? inner : mcp, false);
}

static void read_root(fl_reader *reader)
{
    fl_span values[ROOTS];

    if (!fl_pick_find(reader, reader->root, roots, values, FL_PICK_IGNORE))
        return;
    reader->inputs = values[INPUTS];
    if (values[OWN].len > 0)
        fl_reader_error(reader, values[OWN].ptr,
                        "it belongs into the entry of a server");
    if (values[MCP_PROXY].len > 0)
        fl_reader_warn(reader, values[MCP_PROXY].ptr,
                       "it has no effect: where to listen, and who may come, "
                       "is said when the gateway is started");
    if (values[MCP_SERVERS].len > 0 && values[SERVERS].len > 0)
        fl_reader_error(reader, values[SERVERS].ptr,
                        "there is \"mcpServers\" as well; a file has one of "
                        "the two");
    if (values[MCP_SERVERS].len > 0)
        read_servers(reader, values[MCP_SERVERS],
                     values[MCP].len > 0 || is_gemini(values[MCP_SERVERS]));
    else if (values[SERVERS].len > 0)
        read_servers(reader, values[SERVERS], false);
    else if (values[MCP].len > 0)
        read_mcp(reader, values[MCP]);
    else
        tell_no_servers(reader);
}

/* Its first line with something in it is [a.table] or key = value. */
static bool is_toml(fl_span text)
{
    size_t at = 0;

    while (at < text.len &&
           (text.ptr[at] == '#' || (unsigned char)text.ptr[at] <= ' ')) {
        bool remark = text.ptr[at] == '#';
        at += remark ? fl_span_find(fl_span_from(text, at), '\n') : 1;
    }
    fl_span line = fl_span_from(text, at);
    line.len = fl_span_find(line, '\n');
    bool table = line.len > 2 && line.ptr[0] == '[' &&
                 (line.ptr[1] == '[' || line.ptr[1] == '"' ||
                  (line.ptr[1] >= 'a' && line.ptr[1] <= 'z')) &&
                 fl_span_find(line, ',') == line.len;
    bool pair = line.len > 2 && line.ptr[0] >= 'A' && line.ptr[0] <= 'z' &&
                fl_span_find(line, '=') < line.len;
    return table || pair;
}

static void tell_no_json(fl_reader *reader, fl_status rc, size_t at)
{
    const char *where = reader->text.ptr + at;

    if (is_toml(reader->text))
        fl_reader_error(reader, reader->text.ptr,
                        "this looks like TOML, as Codex has it; it is not "
                        "read. Write the servers as JSON, under "
                        "\"mcpServers\"");
    else if (rc == FL_E_TOO_DEEP)
        fl_reader_error(reader, where, "it is nested deeper than %d brackets",
                        FL_CONFIG_DEPTH);
    else if (rc == FL_E_BAD_TEXT)
        fl_reader_error(reader, where, "it is not UTF-8 from here on");
    else if (at == reader->text.len)
        fl_reader_error(reader, where, "it ends too early");
    else
        fl_reader_error(reader, where, "it is not JSON from here on");
}

static void read_text(fl_reader *reader, char *copy, size_t len)
{
    fl_json_top top;
    size_t at;

    if (fl_jsonc_blank(copy, len, &at) != FL_OK) {
        fl_reader_error(reader, copy + at, "this comment has no end");
        return;
    }
    fl_status rc = fl_json_scan(reader->text, FL_CONFIG_DEPTH, &top, &at);
    if (rc != FL_OK) {
        tell_no_json(reader, rc, at);
        return;
    }
    reader->root = top.value;
    read_root(reader);
    if (reader->status == FL_E_LIMIT)
        fl_reader_error(reader, copy,
                        "its values are larger than %d bytes together",
                        FL_CONFIG_KEPT);
}

static void read_copy(fl_reader *reader, fl_span text)
{
    char *copy = fl_mem_string(text);

    if (!fl_reader_try(reader, copy != NULL ? FL_OK : FL_E_NOMEM))
        return;
    reader->text = (fl_span){copy, text.len};
    fl_buf_init(&reader->raw, FL_CONFIG_VALUE);
    fl_buf_init(&reader->real, FL_CONFIG_VALUE);
    fl_buf_init(&reader->shown, FL_CONFIG_VALUE);
    read_text(reader, copy, text.len);
    fl_buf_reset(&reader->raw);
    fl_buf_reset(&reader->real);
    fl_buf_reset(&reader->shown);
    fl_mem_wipe(copy, text.len);
    fl_mem_free(copy);
}

static fl_status conclude(const fl_config *config, fl_error *error)
{
    for (size_t i = 0; i < config->problem_count; i++) {
        const fl_config_problem *first = &config->problems[i];
        if (first->is_error)
            return fl_error_set(error, FL_E_INVALID, "%s:%zu:%zu: %s%s%s",
                                config->file, first->line, first->column,
                                first->path, *first->path != '\0' ? ": " : "",
                                first->text);
    }
    return FL_OK;
}

static fl_config *make(const char *file)
{
    fl_config *config = fl_mem_zalloc(sizeof *config);

    if (config == NULL)
        return NULL;
    fl_keep_init(&config->keep, FL_CONFIG_KEPT);
    fl_keep_init(&config->notes, NOTES);
    if (fl_keep_text(&config->notes, fl_span_of(file), &config->file) == FL_OK)
        return config;
    fl_config_free(config);
    return NULL;
}

fl_status fl_config_read(fl_span text, const char *file,
                         const fl_config_source *source, fl_config **out,
                         fl_error *error)
{
    fl_config *config = make(file);
    fl_reader reader = {.config = config, .source = source, .text = text};

    *out = NULL;
    if (config == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    if (fl_span_starts(text, FL_SPAN("\xEF\xBB\xBF")))
        text = fl_span_from(text, 3);
    if (text.len > FL_CONFIG_BYTES)
        fl_reader_error(&reader, reader.text.ptr,
                        "the file is larger than %d bytes", FL_CONFIG_BYTES);
    else
        read_copy(&reader, text);
    if (reader.status == FL_E_NOMEM) {
        fl_config_free(config);
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    }
    *out = config;
    return conclude(config, error);
}

void fl_config_free(fl_config *config)
{
    if (config == NULL)
        return;
    fl_keep_deinit(&config->keep);
    fl_keep_deinit(&config->notes);
    fl_mem_free(config);
}

const fl_config_server *fl_config_servers(const fl_config *config,
                                          size_t *count)
{
    *count = config->server_count;
    return config->servers;
}

const fl_config_problem *fl_config_problems(const fl_config *config,
                                            size_t *count)
{
    *count = config->problem_count;
    return config->problems;
}

const char *fl_config_file(const fl_config *config)
{
    return config->file;
}
