/*
 * stanza.c - one entry of a configuration.
 *
 * First the keys are found, then they are read in an order of ours: whether
 * the server is switched off comes before its variables, and the env file
 * before what overrides it.
 */
#include "config/stanza.h"

#include "base/span.h"
#include "config/dotenv.h"
#include "config/expand.h"
#include "config/extra.h"
#include "config/oauth.h"
#include "config/pick.h"
#include "config/remote.h"
#include "json/nav.h"

#include <string.h>

enum { MAX_TIMEOUT_MS = 86400000 };

static const char *const keys[] = {
#define NAME(key, name) name,
    FL_STANZA_KEYS(NAME)
#undef NAME
        NULL,
};

/* It becomes part of a path, and of messages. */
static bool is_name(fl_span name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') &&
            (c < '0' || c > '9') && c != '_' && c != '-' &&
            (c != '.' || i == 0))
            return false;
    }
    return name.len > 0 && name.len <= FL_CONFIG_NAME;
}

static void read_name(fl_reader *reader, fl_span key, fl_config_server *server)
{
    fl_span quoted = {key.ptr - 1, key.len + 2};

    fl_buf_clear(&reader->raw);
    if (!fl_reader_try(reader, fl_json_string_copy(quoted, &reader->raw)))
        return;
    fl_span name = fl_buf_view(&reader->raw);
    if (!is_name(name))
        fl_reader_error(reader, key.ptr - 1,
                        "a name becomes part of a URL: it must be 1 to %d of "
                        "A-Z a-z 0-9 _ - . and not begin with a dot",
                        FL_CONFIG_NAME);
    fl_reader_try(reader,
                  fl_keep_text(&reader->config->keep, name, &server->name));
}

static void read_switches(fl_reader *reader, const fl_stanza *stanza,
                          fl_config_server *server)
{
    bool enabled = true, disabled = false;

    fl_pick_bool(reader, stanza->values[FL_STANZA_ENABLED], &enabled);
    fl_pick_bool(reader, stanza->values[FL_STANZA_DISABLED], &disabled);
    server->disabled = server->disabled || disabled || !enabled;
}

static void read_filter(fl_reader *reader, fl_span filter,
                        fl_config_server *server)
{
    static const char *const names[] = {"mode", "list", NULL};
    static const char *const modes[] = {"allow", "block", NULL};
    fl_span values[2];
    size_t mode;

    if (filter.len == 0 ||
        !fl_pick_find(reader, filter, names, values, FL_PICK_WARN))
        return;
    if (values[0].len == 0)
        fl_reader_error(reader, filter.ptr, "it needs a \"mode\"");
    else if (fl_pick_word(reader, values[0], modes, &mode))
        fl_pick_texts(reader, values[1],
                      mode == 0 ? &server->include : &server->exclude);
}

/* tbxark's. What its own proxy would do with the rest is not ours. */
static void read_options(fl_reader *reader, fl_span options,
                         fl_config_server *server)
{
    static const char *const names[] = {"disabled",   "toolFilter",
                                        "logEnabled", "panicIfInvalid",
                                        "authTokens", NULL};
    fl_span values[5];
    bool disabled = false;

    if (options.len == 0 ||
        !fl_pick_find(reader, options, names, values, FL_PICK_WARN))
        return;
    fl_pick_bool(reader, values[0], &disabled);
    server->disabled = server->disabled || disabled;
    read_filter(reader, values[1], server);
    if (values[4].len > 0)
        fl_reader_warn(reader, values[4].ptr,
                       "it has no effect: who may use the gateway is said "
                       "when it is started");
}

/* opencode has the arguments in the same array. */
static void read_command(fl_reader *reader, const fl_stanza *stanza,
                         fl_config_server *server)
{
    fl_span command = stanza->values[FL_STANZA_COMMAND];
    fl_span args = stanza->values[FL_STANZA_ARGS];

    if (command.len == 0) {
        if (args.len > 0)
            fl_reader_error(reader, args.ptr, "there is no command for it");
        return;
    }
    size_t errors = reader->config->error_count;
    fl_pick_texts(reader, command, &server->argv);
    bool failed = reader->config->error_count > errors;
    const char *first = server->argv.count > 0 ? server->argv.items[0] : "";
    if (!failed && *first == '\0' && !server->disabled)
        fl_reader_error(reader, command.ptr, "it must not be empty");
    else if (!failed && args.len == 0 && server->argv.count == 1 &&
             strchr(first, ' ') != NULL)
        fl_reader_warn(reader, command.ptr,
                       "there is no shell to take it apart: the arguments "
                       "belong into \"args\"");
    if (fl_json_type_of(args) == FL_JSON_STRING)
        fl_reader_error(reader, args.ptr, "it must be an array of strings");
    else
        fl_pick_texts(reader, args, &server->argv);
}

/* One line of an env file. What is shown names the file, not the value. */
static bool add_line(fl_reader *reader, const char *at, fl_span name,
                     const fl_buf *value, fl_config_list *env)
{
    fl_buf_clear(&reader->real);
    fl_buf_clear(&reader->shown);
    return fl_reader_try(reader, fl_buf_append(&reader->real, name)) &&
           fl_reader_try(reader, fl_buf_append(&reader->shown, name)) &&
           fl_reader_try(reader, fl_buf_append(&reader->real, FL_SPAN("="))) &&
           fl_reader_try(reader,
                         fl_buf_append(&reader->real, fl_buf_view(value))) &&
           fl_reader_try(
               reader, fl_buf_append(&reader->shown, FL_SPAN("=(envFile)"))) &&
           fl_pick_push(reader, at, env);
}

static void add_lines(fl_reader *reader, const char *at, fl_span text,
                      fl_config_list *env)
{
    size_t line = 0;
    fl_status rc = FL_OK;
    fl_span name;
    fl_buf value;

    fl_buf_init(&value, FL_CONFIG_VALUE);
    while (rc == FL_OK) {
        rc = fl_dotenv_next(&text, &line, &name, &value);
        if (rc == FL_OK && !add_line(reader, at, name, &value, env))
            break;
    }
    if (rc == FL_E_INVALID)
        fl_reader_error(reader, at, "line %zu of that file is not NAME=VALUE",
                        line);
    else if (rc < 0)
        fl_reader_try(reader, rc);
    fl_buf_reset(&value);
}

static void read_env_file(fl_reader *reader, fl_span value, fl_config_list *env)
{
    fl_config_text path;
    fl_buf content;

    if (!fl_pick_text(reader, value, &path))
        return;
    fl_buf_init(&content, FL_CONFIG_VALUE);
    fl_status rc = fl_expand_read(reader, fl_span_of(path.text), &content);
    if (rc == FL_OK)
        add_lines(reader, value.ptr, fl_buf_view(&content), env);
    else if (rc == FL_E_NOMEM)
        fl_reader_try(reader, rc);
    else
        fl_reader_missing(reader, value.ptr, "the file cannot be read: %s",
                          fl_status_text(rc));
    fl_buf_reset(&content);
}

static bool add_variable(fl_reader *reader, const fl_json_member *member,
                         fl_config_list *env)
{
    fl_span quoted = {member->key.ptr - 1, member->key.len + 2};
    fl_buf front;
    bool fine = true;

    fl_buf_init(&front, FL_CONFIG_VALUE);
    fl_status rc = fl_json_string_copy(quoted, &front);
    fl_span name = fl_buf_view(&front);
    if (rc == FL_OK && (name.len == 0 || fl_span_find(name, '=') < name.len ||
                        fl_span_find(name, '\0') < name.len)) {
        fl_reader_error(reader, member->key.ptr - 1,
                        "it is no name of a variable");
        fine = false;
    }
    fine = fine && fl_reader_try(reader, rc) &&
           fl_reader_try(reader, fl_buf_append(&front, FL_SPAN("="))) &&
           fl_pick_add(reader, fl_buf_view(&front), member->value, env, true);
    fl_buf_reset(&front);
    return fine;
}

static void read_env(fl_reader *reader, fl_span value, fl_config_list *env)
{
    fl_json_walk walk;
    fl_json_member member;

    if (value.len == 0)
        return;
    if (fl_json_type_of(value) != FL_JSON_OBJECT) {
        fl_reader_error(reader, value.ptr, "it must be an object");
        return;
    }
    fl_json_walk_init(&walk, value);
    while (reader->status == FL_OK && fl_json_walk_next(&walk, &member)) {
        if (fl_json_type_of(member.value) == FL_JSON_NULL)
            fl_reader_warn(reader, member.key.ptr - 1,
                           "it is null and has no effect");
        else if (!add_variable(reader, &member, env) &&
                 env->count == FL_CONFIG_LIST)
            return;
    }
}

static void read_timeout(fl_reader *reader, fl_span value,
                         fl_config_server *server)
{
    if (fl_pick_number(reader, value, 1, MAX_TIMEOUT_MS, &server->timeout_ms) &&
        server->timeout_ms < 1000)
        fl_reader_warn(reader, value.ptr,
                       "these are milliseconds, so less than a second");
}

static void read_rest(fl_reader *reader, const fl_stanza *stanza,
                      fl_config_server *server)
{
    read_timeout(reader, stanza->values[FL_STANZA_TIMEOUT], server);
    fl_pick_texts(reader, stanza->values[FL_STANZA_INCLUDE], &server->include);
    fl_pick_texts(reader, stanza->values[FL_STANZA_TOOLS], &server->include);
    fl_pick_texts(reader, stanza->values[FL_STANZA_EXCLUDE], &server->exclude);
    fl_pick_texts(reader, stanza->values[FL_STANZA_DISABLED_TOOLS],
                  &server->exclude);
    fl_oauth_read(reader, stanza->values[FL_STANZA_OAUTH], server);
    fl_extra_read(reader, stanza->values[FL_STANZA_FAIRLEAD], server);
}

/* What only one kind of server can use. */
static void check_use(fl_reader *reader, const fl_stanza *stanza,
                      const fl_config_server *server)
{
    bool is_child = stanza->values[FL_STANZA_COMMAND].len > 0;

    if (is_child && server->headers.count > 0)
        fl_reader_warn(reader, stanza->values[FL_STANZA_HEADERS].ptr,
                       "a command is sent no headers; it has no effect");
    if (!is_child && server->env.count > 0)
        fl_reader_warn(reader, stanza->at,
                       "its variables are for a command; they have no effect");
}

bool fl_stanza_find(fl_reader *reader, fl_span value, fl_pick_unknown unknown,
                    fl_stanza *stanza)
{
    return fl_pick_find(reader, value, keys, stanza->values, unknown);
}

static void read_era(fl_reader *reader, fl_span value, fl_config_server *server)
{
    static const char *const eras[] = {"auto", "legacy", "modern", NULL};
    size_t era;

    if (fl_pick_word(reader, value, eras, &era))
        server->era = (fl_era)era;
}

void fl_stanza_read_place(fl_reader *reader, const fl_stanza *stanza,
                          fl_config_server *server)
{
    const fl_span *values = stanza->values;
    bool outer = reader->disabled;

    read_switches(reader, stanza, server);
    reader->disabled = server->disabled;
    read_command(reader, stanza, server);
    fl_remote_read(reader, stanza, server);
    fl_pick_text(reader, values[FL_STANZA_CWD], &server->cwd);
    read_env_file(reader, values[FL_STANZA_ENV_FILE], &server->env);
    read_env(reader, values[FL_STANZA_ENV], &server->env);
    read_env(reader, values[FL_STANZA_ENVIRONMENT], &server->env);
    fl_remote_headers(reader, values[FL_STANZA_HEADERS], &server->headers);
    read_era(reader, values[FL_STANZA_ERA], server);
    check_use(reader, stanza, server);
    reader->disabled = outer;
}

void fl_stanza_read(fl_reader *reader, fl_json_member member, bool is_gemini,
                    fl_config_server *server)
{
    fl_stanza stanza = {.at = member.key.ptr - 1, .is_gemini = is_gemini};

    *server = (fl_config_server){.weight = 1};
    server->line = fl_reader_line(reader, stanza.at);
    read_name(reader, member.key, server);
    if (!fl_stanza_find(reader, member.value, FL_PICK_WARN, &stanza))
        return;
    if (stanza.values[FL_STANZA_WEIGHT].len > 0)
        fl_reader_warn(reader, stanza.values[FL_STANZA_WEIGHT].ptr,
                       "it has no effect here; it belongs into \"fairlead\"");
    read_options(reader, stanza.values[FL_STANZA_OPTIONS], server);
    fl_stanza_read_place(reader, &stanza, server);
    reader->disabled = server->disabled;
    read_rest(reader, &stanza, server);
    reader->disabled = false;
}
