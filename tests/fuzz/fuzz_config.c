/*
 * fuzz_config.c - configuration files under arbitrary bytes.
 *
 * Whatever comes, it is read or there is an error; every server and problem is
 * whole; and what is shown has nothing in it of a variable's value.
 */
#include "base/span.h"
#include "config/config.h"
#include "config/show.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
    if (!truth)
        abort();
}

static const char secret[] = "\x01hidden\x02";

/* Names that begin with a letter below N are set. */
static const char *variable(void *user, const char *name)
{
    (void)user;
    return (name[0] | 0x20) < 'n' ? secret : NULL;
}

static fl_status read_file(void *user, const char *path, fl_buf *out)
{
    (void)user;
    return strlen(path) % 2 == 0
               ? fl_buf_append(out, FL_SPAN("A=\x01hidden\x02\nB='x'\n"))
               : FL_E_NOT_FOUND;
}

static void require_text(const fl_config_text *text)
{
    require((text->text == NULL) == (text->shown == NULL));
    if (text->text != NULL && text->text != text->shown)
        require(strstr(text->shown, "hidden\x02") == NULL);
}

static void require_list(const fl_config_list *list)
{
    require(list->count <= FL_CONFIG_LIST);
    if (list->count == 0)
        return;
    require(list->items[list->count] == NULL);
    require(list->shown[list->count] == NULL);
    for (size_t i = 0; i < list->count; i++)
        require_text(&(fl_config_text){list->items[i], list->shown[i]});
}

static void require_place(const fl_config_server *server)
{
    require_text(&server->cwd);
    require_text(&server->url);
    require_list(&server->argv);
    require_list(&server->env);
    require_list(&server->headers);
}

static void require_login(const fl_config_login *login)
{
    require_text(&login->client_id);
    require_text(&login->client_secret);
    require_text(&login->scope);
    require_text(&login->redirect_uri);
    require_text(&login->metadata_url);
    require_text(&login->store);
}

static void require_server(const fl_config_server *server, bool is_sound)
{
    require(server->name != NULL && server->line > 0);
    require_place(server);
    require_login(&server->login);
    for (size_t i = 0; i < server->replica_count; i++)
        require_place(&server->replicas[i]);
    require_list(&server->include);
    require_list(&server->exclude);
    if (!is_sound || server->disabled)
        return;
    require(server->name[0] != '\0' && strlen(server->name) <= FL_CONFIG_NAME);
    if (server->kind == FL_CONFIG_CHILD)
        require(server->argv.count > 0 && server->url.text == NULL);
    else
        require(server->argv.count == 0 && server->url.text != NULL);
}

static void require_shown(const fl_config *config)
{
    fl_buf out;

    fl_buf_init(&out, 64u << 20);
    require(fl_config_show_servers(config, &out) == FL_OK);
    require(fl_config_show_problems(config, &out) == FL_OK);
    fl_span all = fl_buf_view(&out);
    for (size_t i = 0; i < all.len; i++)
        require((unsigned char)all.ptr[i] >= 0x20 || all.ptr[i] == '\n');
    fl_buf_reset(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const fl_config_source source = {.variable = variable,
                                            .read = read_file};
    char *copy = malloc(size > 0 ? size : 1);
    fl_config *config;
    fl_error error = {.status = FL_OK};
    size_t servers, problems, errors = 0;

    if (copy == NULL)
        return 0;
    if (size > 0)
        memcpy(copy, data, size);
    fl_status rc = fl_config_read((fl_span){copy, size}, "/a/b.json", &source,
                                  &config, &error);
    free(copy); /* nothing may borrow from it */
    require(rc == FL_OK || rc == FL_E_INVALID);
    require((rc == FL_OK) == (error.status == FL_OK));
    const fl_config_problem *problem = fl_config_problems(config, &problems);
    for (size_t i = 0; i < problems; i++) {
        require(problem[i].line > 0 && problem[i].column > 0);
        require(problem[i].text[0] != '\0' && problem[i].path != NULL);
        errors += problem[i].is_error ? 1 : 0;
    }
    require((errors > 0) == (rc != FL_OK));
    const fl_config_server *server = fl_config_servers(config, &servers);
    require(servers <= FL_CONFIG_SERVERS);
    for (size_t i = 0; i < servers; i++)
        require_server(&server[i], rc == FL_OK);
    require_shown(config);
    fl_config_free(config);
    return 0;
}
