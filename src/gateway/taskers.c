/*
 * taskers.c - which tools of a legacy server can be called as tasks only.
 */
#include "gateway/taskers.h"

#include "base/span.h"
#include "gateway/legacy.h"
#include "json/nav.h"
#include "json/write.h"

enum { CURSOR_MAX = 1024 * 1024, PATIENCE_MS = 5000 };

static void on_page(void *user, const fl_msg *msg, const fl_error *why);

void fl_taskers_init(fl_taskers *taskers)
{
    *taskers = (fl_taskers){0};
    fl_map_init(&taskers->required, FL_TASKERS_MAX);
}

void fl_taskers_deinit(fl_taskers *taskers)
{
    fl_map_deinit(&taskers->required);
}

static bool makes_tasks(const fl_back *back)
{
    fl_span said =
        fl_json_get(fl_lane_said(back->lane), FL_SPAN("capabilities"));
    fl_span requests =
        fl_json_get(fl_json_get(said, FL_SPAN("tasks")), FL_SPAN("requests"));
    fl_span tools = fl_json_get(requests, FL_SPAN("tools"));

    return fl_json_get(tools, FL_SPAN("call")).len > 0;
}

bool fl_taskers_is_told(const fl_errand *errand)
{
    fl_span said = errand->msg != NULL
                       ? errand->msg->inner.claim.client_capabilities
                       : (fl_span){0};

    return fl_json_get(fl_json_get(said, FL_SPAN("extensions")),
                       FL_SPAN("io.modelcontextprotocol/tasks"))
               .len > 0;
}

static void note(fl_taskers *taskers, fl_span tool)
{
    fl_span name = fl_json_get(tool, FL_SPAN("name"));
    fl_span support = fl_json_get(fl_json_get(tool, FL_SPAN("execution")),
                                  FL_SPAN("taskSupport"));

    if (fl_json_string_is(support, FL_SPAN("required")) &&
        fl_map_add(&taskers->required, name, taskers) == FL_E_NOMEM)
        taskers->known = false; /* its calls will be refused by the server */
}

static void note_all(fl_taskers *taskers, fl_span result)
{
    fl_json_walk walk;
    fl_json_member tool;

    fl_json_walk_init(&walk, fl_json_get(result, FL_SPAN("tools")));
    while (fl_json_walk_next(&walk, &tool))
        note(taskers, tool.value);
}

static fl_span next_of(fl_span result)
{
    fl_span cursor = fl_json_get(result, FL_SPAN("nextCursor"));

    return fl_json_type_of(cursor) == FL_JSON_STRING ? cursor : (fl_span){0};
}

/* Only a list that came whole is sure to be one. */
void fl_taskers_learn(fl_errand *errand, const fl_msg *msg)
{
    fl_legacy *legacy = errand->back->legacy;

    if (legacy == NULL || errand->msg == NULL || msg->kind != FL_MSG_RESULT ||
        fl_json_get(errand->msg->params, FL_SPAN("cursor")).len > 0 ||
        next_of(msg->result).len > 0 || legacy->taskers.asked != NULL)
        return;
    fl_taskers_forget(errand->back);
    legacy->taskers.known = true;
    note_all(&legacy->taskers, msg->result);
}

void fl_taskers_forget(fl_back *back)
{
    fl_taskers *taskers = &back->legacy->taskers;

    fl_map_deinit(&taskers->required);
    fl_map_init(&taskers->required, FL_TASKERS_MAX);
    taskers->known = false;
}

static fl_status ask_page(fl_back *back, fl_span cursor)
{
    fl_taskers *taskers = &back->legacy->taskers;
    fl_json_writer writer;
    fl_buf params;

    fl_buf_init(&params, CURSOR_MAX);
    fl_json_writer_init(&writer, &params);
    fl_json_object(&writer);
    if (cursor.len > 0) {
        fl_json_key(&writer, "cursor");
        fl_json_raw(&writer, cursor);
    }
    fl_json_object_end(&writer);
    fl_status rc = fl_json_writer_end(&writer);
    if (rc == FL_OK)
        rc = fl_back_ask(back, FL_METHOD_TOOLS_LIST, fl_buf_view(&params),
                         on_page, back, &taskers->asked);
    fl_buf_reset(&params);
    return rc;
}

/* Whoever waits goes on, whatever is known now. */
static void release(fl_back *back)
{
    for (fl_list *node = back->sent.next; node != &back->sent;
         node = node->next) {
        fl_park *park = FL_LIST_ENTRY(node, fl_errand, by_back)->park;
        if (park != NULL && park->awaits_tools && park->stage == FL_PARK_HELD)
            fl_timer_start(&park->timer, 0);
    }
}

static void on_page(void *user, const fl_msg *msg, const fl_error *why)
{
    fl_back *back = user;
    fl_taskers *taskers = &back->legacy->taskers;

    taskers->asked = NULL;
    if (why != NULL)
        return;
    note_all(taskers, msg->result);
    fl_span cursor = next_of(msg->result);
    if (cursor.len > 0 && ++taskers->pages < FL_TASKERS_PAGES &&
        ask_page(back, cursor) == FL_OK)
        return;
    taskers->known = true;
    release(back);
}

static bool begin(fl_back *back)
{
    fl_taskers *taskers = &back->legacy->taskers;

    if (taskers->asked != NULL)
        return true;
    taskers->pages = 0;
    return ask_page(back, (fl_span){0}) == FL_OK;
}

bool fl_taskers_hold(fl_errand *errand)
{
    fl_back *back = errand->back;
    fl_park *park;

    if (errand->method != FL_METHOD_TOOLS_CALL || back->legacy == NULL ||
        !makes_tasks(back))
        return false;
    if (back->legacy->taskers.known) {
        errand->as_task =
            fl_map_get(&back->legacy->taskers.required, errand->object) != NULL;
        return false;
    }
    if (fl_park_of(errand, &park) != FL_OK || park->awaits_tools ||
        !begin(back))
        return false;
    park->awaits_tools = true;
    fl_park_hold(park, PATIENCE_MS, fl_park_send);
    return true;
}
