/*
 * remote.c - how a server is reached: what `type` and the URL say together.
 *
 * Hosts spell the same few types in many ways, or leave them out; then the
 * field that has the URL says it (Gemini), or its scheme, or nobody, which is
 * what FL_CONFIG_AUTO is for. Whatever is said must agree.
 */
#include "config/remote.h"

#include "base/span.h"
#include "config/pick.h"
#include "json/nav.h"

#include <string.h>

/* In the order of `spelled`. */
static const fl_config_kind kinds[] = {
    FL_CONFIG_CHILD, FL_CONFIG_CHILD, FL_CONFIG_AUTO, FL_CONFIG_HTTP,
    FL_CONFIG_HTTP,  FL_CONFIG_HTTP,  FL_CONFIG_HTTP, FL_CONFIG_HTTP,
    FL_CONFIG_HTTP,  FL_CONFIG_HTTP,  FL_CONFIG_SSE,  FL_CONFIG_WS,
    FL_CONFIG_WS,    FL_CONFIG_TCP,   FL_CONFIG_UNIX,
};
static const char *const spelled[] = {
    "stdio",
    "local",
    "remote",
    "http",
    "streaming",
    "streamable-http",
    "streamable_http",
    "streamableHttp",
    "stream",
    "streamablehttp",
    "sse",
    "ws",
    "websocket",
    "tcp",
    "unix",
    NULL,
};

static const struct scheme {
    const char *front;
    fl_config_kind kind; /* AUTO: of HTTP, whichever */
} schemes[] = {
    {"http://", FL_CONFIG_AUTO},    {"https://", FL_CONFIG_AUTO},
    {"ws://", FL_CONFIG_WS},        {"wss://", FL_CONFIG_WS},
    {"tcp://", FL_CONFIG_TCP},      {"tls://", FL_CONFIG_TCP},
    {"sse+http://", FL_CONFIG_SSE}, {"sse+https://", FL_CONFIG_SSE},
    {"unix:", FL_CONFIG_UNIX},      {"sse+unix:", FL_CONFIG_SSE},
};

/* What is said about the type, by any of three keys. */
static bool read_type(fl_reader *reader, const fl_stanza *stanza, bool *said,
                      fl_config_kind *kind)
{
    static const fl_stanza_key keys[] = {FL_STANZA_TYPE, FL_STANZA_TRANSPORT,
                                         FL_STANZA_TRANSPORT_TYPE};
    bool fine = true;

    *said = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        fl_span value = stanza->values[keys[i]];
        size_t which;
        if (value.len == 0)
            continue;
        if (!fl_pick_word(reader, value, spelled, &which)) {
            fine = false;
        } else if (*said && kinds[which] != *kind) {
            fl_reader_error(reader, value.ptr,
                            "it says another type than the key before it");
            fine = false;
        } else {
            *said = true;
            *kind = kinds[which];
        }
    }
    return fine;
}

/* The URL that counts; others are passed over, and that is said. */
static fl_span pick_url(fl_reader *reader, const fl_stanza *stanza)
{
    static const fl_stanza_key keys[] = {FL_STANZA_HTTP_URL,
                                         FL_STANZA_SERVER_URL, FL_STANZA_URL};
    fl_span picked = {0};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        fl_span value = stanza->values[keys[i]];
        if (picked.len == 0)
            picked = value;
        else if (value.len > 0)
            fl_reader_warn(reader, value.ptr,
                           "it has no effect beside the other URL");
    }
    return picked;
}

static const struct scheme *find_scheme(const char *url)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t len = strlen(schemes[i].front);
        if (strncmp(url, schemes[i].front, len) == 0 && url[len] != '\0')
            return &schemes[i];
    }
    return NULL;
}

/* A rough look; the transport will look more closely. The URL itself is not
 * quoted: it may have come from a variable. */
static const struct scheme *check_url(fl_reader *reader, const char *at,
                                      const char *url)
{
    const struct scheme *scheme = find_scheme(url);

    for (const char *c = url; *c != '\0'; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f) {
            fl_reader_error(reader, at, "a URL has no white space in it");
            return NULL;
        }
    if (strncmp(url, "pipe:", 5) == 0)
        fl_reader_error(reader, at,
                        "named pipes are of Windows; here it is "
                        "unix:///PATH");
    else if (scheme == NULL)
        fl_reader_error(reader, at,
                        "it must be a URL that begins with http://, https://, "
                        "ws://, wss://, tcp://, tls://, unix:, "
                        "sse+http(s):// or sse+unix:");
    return scheme;
}

bool fl_remote_is_like(const char *a, const char *b)
{
    const struct scheme *one = find_scheme(a), *other = find_scheme(b);

    return one != NULL && other != NULL && one->kind == other->kind;
}

/* unix:///PATH is unix:/PATH; and if HTTP is to go through it, the target of
 * the requests comes behind "#", as VS Code means it. */
static void shorten_unix(fl_reader *reader, bool http, fl_config_server *server)
{
    const char *path = server->url.text + strlen("unix:");
    bool plain = server->url.text == server->url.shown;
    bool untold = http && strchr(path, '#') == NULL;
    const char *url;

    path += strncmp(path, "//", 2) == 0 ? 2 : 0;
    while (strncmp(path, "//", 2) == 0) /* or it would be shortened twice */
        path++;
    fl_buf_clear(&reader->real);
    if (!fl_reader_try(reader, fl_buf_printf(&reader->real, "unix:%s%s", path,
                                             untold ? "#/" : "")) ||
        !fl_reader_try(reader, fl_keep_text(&reader->config->keep,
                                            fl_buf_view(&reader->real), &url)))
        return;
    server->url.text = url;
    server->url.shown = plain ? url : server->url.shown;
}

static bool is_http(fl_config_kind kind)
{
    return kind == FL_CONFIG_AUTO || kind == FL_CONFIG_HTTP ||
           kind == FL_CONFIG_SSE;
}

/* What the type and the scheme make together; false if they do not agree. */
static bool agree(bool said, fl_config_kind type, fl_config_kind scheme,
                  fl_config_kind *kind)
{
    *kind = said && is_http(scheme) && scheme != FL_CONFIG_SSE ? type : scheme;
    return !said || type == scheme ||
           (is_http(type) && scheme == FL_CONFIG_AUTO) ||
           (type == FL_CONFIG_AUTO && scheme != FL_CONFIG_UNIX);
}

static void read_url(fl_reader *reader, fl_span value, bool said,
                     fl_config_kind type, fl_config_server *server)
{
    if (!fl_pick_text(reader, value, &server->url))
        return;
    /* A server that is switched off may have a URL that lacks its variable. */
    if (server->disabled && server->url.text != server->url.shown)
        return;
    const struct scheme *scheme =
        check_url(reader, value.ptr, server->url.text);
    if (scheme == NULL)
        return;
    bool marked = strchr(server->url.text, '#') != NULL;
    if (scheme->kind == FL_CONFIG_UNIX && said && type == FL_CONFIG_UNIX &&
        marked) {
        fl_reader_error(reader, value.ptr,
                        "what is behind # is for HTTP, and the type is unix");
    } else if (scheme->kind == FL_CONFIG_UNIX &&
               (said ? is_http(type) : marked)) {
        server->kind = said ? type : FL_CONFIG_HTTP;
        shorten_unix(reader, true, server);
    } else if (!agree(said, type, scheme->kind, &server->kind)) {
        fl_reader_error(reader, value.ptr,
                        "the URL's scheme is not of the type that is given");
    } else if (server->kind == FL_CONFIG_UNIX) {
        shorten_unix(reader, false, server);
    }
}

/* Gemini says the type by the key. */
static fl_config_kind type_of_key(const fl_stanza *stanza)
{
    if (stanza->values[FL_STANZA_HTTP_URL].len > 0)
        return FL_CONFIG_HTTP;
    return stanza->is_gemini && stanza->values[FL_STANZA_SERVER_URL].len == 0
               ? FL_CONFIG_SSE
               : FL_CONFIG_AUTO;
}

void fl_remote_read(fl_reader *reader, const fl_stanza *stanza,
                    fl_config_server *server)
{
    fl_config_kind type = FL_CONFIG_AUTO;
    bool said;
    bool has_command = stanza->values[FL_STANZA_COMMAND].len > 0;

    if (!read_type(reader, stanza, &said, &type))
        return;
    fl_span url = pick_url(reader, stanza);
    bool child = said && type == FL_CONFIG_CHILD;
    if (has_command && url.len > 0)
        fl_reader_error(reader, url.ptr,
                        "there is a command as well; a server has one of the "
                        "two");
    else if (!has_command && url.len == 0)
        fl_reader_missing(reader, stanza->at,
                          "a server needs a \"command\" or a \"url\"");
    else if (said && child != has_command)
        fl_reader_error(reader, stanza->at,
                        child ? "its type is that of a command, and it has a "
                                "URL"
                              : "its type is that of a URL, and it has a "
                                "command");
    else if (has_command)
        server->kind = FL_CONFIG_CHILD;
    else {
        read_url(reader, url, said, type, server);
        if (!said && server->kind == FL_CONFIG_AUTO)
            server->kind = type_of_key(stanza);
    }
}

static bool is_token(fl_span name)
{
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (c <= ' ' || c >= 0x7f || strchr("()<>@,;:\\\"/[]?={}", c) != NULL)
            return false;
    }
    return name.len > 0;
}

/* RFC 9110, 5.5; what is in the list's last item. */
static void check_header(fl_reader *reader, const char *at,
                         const fl_config_list *list)
{
    fl_span item = fl_span_of(list->items[list->count - 1]);
    fl_span name = {item.ptr, fl_span_find(item, ':')};

    if (name.len == item.len || !is_token(name))
        fl_reader_error(reader, at, "a header is \"Name: value\"");
    for (size_t i = 0; i < item.len; i++)
        if (((unsigned char)item.ptr[i] < ' ' && item.ptr[i] != '\t') ||
            item.ptr[i] == 0x7f) {
            fl_reader_error(reader, at,
                            "a header has no line ends or other "
                            "controls in it");
            return;
        }
}

static bool add_header(fl_reader *reader, const fl_json_walk *walk,
                       const fl_json_member *member, fl_config_list *list)
{
    fl_buf front;
    bool fine = true;

    fl_buf_init(&front, FL_CONFIG_VALUE);
    if (walk->in_object) {
        fl_span quoted = {member->key.ptr - 1, member->key.len + 2};
        fl_status rc = fl_json_string_copy(quoted, &front);
        fl_span name = fl_buf_view(&front);
        fine = fl_reader_try(reader, rc);
        if (fine && !is_token(name)) {
            fl_reader_error(reader, member->key.ptr - 1,
                            "it is no name of a header");
            fine = false;
        }
        fine =
            fine && fl_reader_try(reader, fl_buf_append(&front, FL_SPAN(": ")));
    }
    fine = fine &&
           fl_pick_add(reader, fl_buf_view(&front), member->value, list, false);
    fl_buf_reset(&front);
    if (fine)
        check_header(reader, member->value.ptr, list);
    return fine;
}

void fl_remote_headers(fl_reader *reader, fl_span value, fl_config_list *list)
{
    fl_json_type type = fl_json_type_of(value);
    fl_json_walk walk;
    fl_json_member member;

    if (type == FL_JSON_NONE)
        return;
    if (type != FL_JSON_OBJECT && type != FL_JSON_ARRAY)
        fl_reader_error(reader, value.ptr,
                        "it must be an object, or an array of \"Name: value\"");
    fl_json_walk_init(&walk, value);
    while (reader->status == FL_OK && fl_json_walk_next(&walk, &member))
        if (!add_header(reader, &walk, &member, list) &&
            list->count == FL_CONFIG_LIST)
            return;
}
