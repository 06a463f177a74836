/*
 * server_lists.c - what a server offers: added, removed, changed, and told of.
 */
#include "base/span.h"
#include "base/status.h"
#include "server/levels.h"
#include "server/listen.h"
#include "server/prompts.h"
#include "server/resources.h"
#include "server/server.h"
#include "server/session.h"
#include "server/skills.h"
#include "server/tools.h"
#include "server/watch.h"

#include <stdarg.h>

/* Logging always: any handler may have a word for the log, and who says one
 * must have declared it (MCP 2025-11-25, logging). */
unsigned fl_server_offers(const fl_server *server)
{
    const fl_catalog *lists = server->catalogs;
    unsigned offers = FL_OFFER_LOGGING;

    if (lists[FL_LIST_TOOLS].count > 0)
        offers |= FL_OFFER_TOOLS;
    if (lists[FL_LIST_RESOURCES].count + lists[FL_LIST_TEMPLATES].count > 0)
        offers |= FL_OFFER_RESOURCES;
    if (lists[FL_LIST_PROMPTS].count > 0)
        offers |= FL_OFFER_PROMPTS;
    if (lists[FL_LIST_PROMPTS].completers +
            lists[FL_LIST_TEMPLATES].completers >
        0)
        offers |= FL_OFFER_COMPLETIONS;
    if (server->task_tools > 0)
        offers |= FL_OFFER_TASKS;
    if (fl_skills_count(server) > 0)
        offers |= FL_OFFER_SKILLS;
    return offers;
}

void fl_server_set_page_size(fl_server *server, size_t elements)
{
    server->page_size = elements > 0 ? elements : FL_CATALOG_PAGE;
}

void fl_server_set_era(fl_server *server, fl_era era)
{
    server->era = era;
}

void fl_server_list_changed(fl_server *server, fl_list_kind list)
{
    fl_offer offer = fl_offer_of(list);

    fl_server_forget_hello(server); /* the first of a kind is a capability */
    for (fl_list *node = server->sessions.next; node != &server->sessions;
         node = node->next)
        fl_session_changed(FL_LIST_ENTRY(node, fl_session, node), offer);
}

void fl_server_resource_updated(fl_server *server, const char *uri)
{
    fl_span text = fl_span_of(uri);

    for (fl_list *node = server->sessions.next; node != &server->sessions;
         node = node->next) {
        fl_session *session = FL_LIST_ENTRY(node, fl_session, node);
        fl_listen_updated(session, text);
        fl_watch_updated(session, text);
    }
}

static fl_status note(fl_server *server, fl_list_kind list, fl_status rc)
{
    if (rc == FL_OK)
        fl_server_list_changed(server, list);
    return rc;
}

const fl_error *fl_server_error(const fl_server *server)
{
    return &server->error;
}

/* What could not be added is named, whatever was wrong with it. */
static fl_status complain(fl_server *server, const char *what, const char *name,
                          const fl_error *why)
{
    const char *text =
        why->text[0] != '\0' ? why->text : fl_status_text(why->status);

    return fl_error_set(&server->error, why->status, "%s '%.64s': %.160s", what,
                        name != NULL ? name : "", text);
}

fl_status fl_server_add_tool(fl_server *server, const fl_tool *tool)
{
    fl_error why = {0};

    why.status = fl_tools_add(&server->catalogs[FL_LIST_TOOLS], tool, &why);
    if (why.status != FL_OK)
        return complain(server, "tool", tool->name, &why);
    if (tool->task != FL_TASK_NEVER)
        server->task_tools++;
    return note(server, FL_LIST_TOOLS, FL_OK);
}

fl_status fl_server_add_resource(fl_server *server, const fl_resource *resource)
{
    fl_error why = {0};

    why.status =
        fl_resources_add(&server->catalogs[FL_LIST_RESOURCES], resource, &why);
    return why.status == FL_OK
               ? note(server, FL_LIST_RESOURCES, FL_OK)
               : complain(server, "resource", resource->uri, &why);
}

fl_status fl_server_add_template(fl_server *server, const fl_resource *resource)
{
    fl_error why = {0};

    why.status =
        fl_templates_add(&server->catalogs[FL_LIST_TEMPLATES], resource, &why);
    return why.status == FL_OK
               ? note(server, FL_LIST_TEMPLATES, FL_OK)
               : complain(server, "template", resource->uri, &why);
}

fl_status fl_server_add_prompt(fl_server *server, const fl_prompt *prompt)
{
    fl_error why = {0};

    why.status =
        fl_prompts_add(&server->catalogs[FL_LIST_PROMPTS], prompt, &why);
    return why.status == FL_OK ? note(server, FL_LIST_PROMPTS, FL_OK)
                               : complain(server, "prompt", prompt->name, &why);
}

static fl_status remove_from(fl_server *server, fl_list_kind list,
                             const char *key)
{
    return note(server, list,
                fl_catalog_remove(&server->catalogs[list], fl_span_of(key)));
}

fl_status fl_server_remove_tool(fl_server *server, const char *name)
{
    const fl_tools_entry *tool = (const fl_tools_entry *)fl_catalog_find(
        &server->catalogs[FL_LIST_TOOLS], fl_span_of(name));

    if (tool != NULL && tool->tool.task != FL_TASK_NEVER)
        server->task_tools--;
    return remove_from(server, FL_LIST_TOOLS, name);
}

fl_status fl_server_remove_resource(fl_server *server, const char *uri)
{
    return remove_from(server, FL_LIST_RESOURCES, uri);
}

fl_status fl_server_remove_template(fl_server *server, const char *uri)
{
    return remove_from(server, FL_LIST_TEMPLATES, uri);
}

fl_status fl_server_remove_prompt(fl_server *server, const char *name)
{
    return remove_from(server, FL_LIST_PROMPTS, name);
}

/* Those that have not said so hear from the default level on. */
static void log_to(fl_session *session, fl_level level, fl_span params)
{
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\","
                "\"params\":"),
        params,
        FL_SPAN("}"),
    };

    if (session->state == FL_SESSION_READY &&
        (session->offers & FL_OFFER_LOGGING) != 0 &&
        level >= session->log_level)
        (void)!fl_link_send(session->link, parts, 3);
}

/* A client too slow for its log misses a word of it. */
void fl_server_logf(fl_server *server, fl_level level, const char *logger,
                    const char *format, ...)
{
    fl_buf params;
    va_list args;

    if (fl_levels_name(level) == NULL)
        return;
    fl_buf_init(&params, FL_LEVELS_TEXT);
    va_start(args, format);
    fl_status rc = fl_levels_format(&params, level, logger, format, args);
    va_end(args);
    for (fl_list *node = server->sessions.next;
         rc == FL_OK && node != &server->sessions; node = node->next)
        log_to(FL_LIST_ENTRY(node, fl_session, node), level,
               fl_buf_view(&params));
    fl_buf_reset(&params);
}

void fl_server_unlist(fl_server *server, fl_span uri)
{
    fl_status gone =
        fl_catalog_remove(&server->catalogs[FL_LIST_RESOURCES], uri);

    (void)gone;
}
