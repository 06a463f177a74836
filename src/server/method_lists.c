/*
 * method_lists.c - the four lists, page by page.
 */
#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "server/methods.h"
#include "server/server.h"

#include "json/nav.h"

static void list(const fl_return *to, const fl_msg *msg, fl_list_kind kind)
{
    fl_server *server = to->session->server;
    fl_catalog_page page = {
        .revision = to->revision,
        .cursor = fl_json_get(msg->params, FL_SPAN("cursor")),
        .size = server->page_size,
    };
    fl_span result;
    fl_status rc = fl_catalog_list(&server->catalogs[kind], &page,
                                   fl_loop_scratch(to->session->loop), &result);

    if (rc == FL_OK)
        fl_return_result(to, msg->id, result);
    else if (rc == FL_E_INVALID)
        fl_return_refuse(to, msg->id, FL_RPC_INVALID_PARAMS,
                         "unknown cursor: begin again without one", "cursor",
                         page.cursor);
    else
        fl_return_error(to, msg->id, FL_RPC_INTERNAL_ERROR,
                        FL_SPAN("out of memory"), (fl_span){0});
}

void fl_method_tools_list(const fl_return *to, const fl_msg *msg)
{
    list(to, msg, FL_LIST_TOOLS);
}

void fl_method_resources_list(const fl_return *to, const fl_msg *msg)
{
    list(to, msg, FL_LIST_RESOURCES);
}

void fl_method_templates_list(const fl_return *to, const fl_msg *msg)
{
    list(to, msg, FL_LIST_TEMPLATES);
}

void fl_method_prompts_list(const fl_return *to, const fl_msg *msg)
{
    list(to, msg, FL_LIST_PROMPTS);
}
