/*
 * to_modern.c - legacy clients of modern servers.
 *
 * The client has a session, its server does not know of one: what was said
 * once is said again with each request, what was asked for once and for all is
 * listened for, and what the server wants to know is asked.
 */
#include "base/mem.h"
#include "base/span.h"
#include "gateway/cells.h"
#include "gateway/mend.h"
#include "gateway/rounds.h"
#include "gateway/tasks.h"
#include "gateway/watching.h"
#include "rpc/error.h"
#include "server/levels.h"
#include "json/nav.h"

struct fl_modern_cell {
    fl_watching lists;
    fl_watching resources;
    fl_tasks tasks;
};

/* NULL when there is no memory. */
static struct fl_modern_cell *cell_of(fl_front *front)
{
    fl_front_more *more = fl_front_get_more(front);

    if (more == NULL || more->modern != NULL)
        return more != NULL ? more->modern : NULL;
    more->modern = fl_mem_zalloc(sizeof *more->modern);
    if (more->modern == NULL)
        return NULL;
    fl_watching_init(&more->modern->lists, front, true);
    fl_watching_init(&more->modern->resources, front, false);
    fl_tasks_init(&more->modern->tasks);
    return more->modern;
}

static void set_level(fl_errand *errand, const fl_msg *msg)
{
    fl_front *front = errand->asker.front;
    fl_span token = fl_json_get(msg->params, FL_SPAN("level"));
    fl_level level;

    if (fl_levels_read(token, &level) != FL_OK) {
        fl_errand_fail(errand, FL_RPC_INVALID_PARAMS,
                       FL_SPAN("params.level is not a log level"),
                       (fl_span){0});
        return;
    }
    front->log_level = (uint8_t)level;
    front->wants_log = true;
    fl_front_forget_claim(front);
    fl_errand_result(errand, FL_SPAN("{}"));
}

static void watch(struct fl_modern_cell *cell, fl_errand *errand)
{
    if (errand->asker.front->back == NULL)
        fl_errand_fail(errand, FL_RPC_METHOD_NOT_FOUND,
                       FL_SPAN("a server that ends with each request has no "
                               "subscriptions"),
                       (fl_span){0});
    else
        fl_watching_takes(&cell->resources, errand);
}

bool fl_to_modern_takes(fl_errand *errand, const fl_msg *msg)
{
    struct fl_modern_cell *cell = cell_of(errand->asker.front);
    fl_method method = errand->method;

    if (cell == NULL)
        fl_errand_fail(errand, FL_RPC_INTERNAL_ERROR, FL_SPAN("out of memory"),
                       (fl_span){0});
    else if (method == FL_METHOD_SET_LEVEL)
        set_level(errand, msg);
    else if (method == FL_METHOD_SUBSCRIBE || method == FL_METHOD_UNSUBSCRIBE)
        watch(cell, errand);
    else
        return fl_tasks_take(&cell->tasks, errand);
    return true;
}

bool fl_to_modern_answers(fl_errand *errand, const fl_msg *msg)
{
    const fl_front_more *more = errand->asker.front->more;
    struct fl_modern_cell *cell = more != NULL ? more->modern : NULL;

    return fl_rounds_takes(errand, msg) || fl_mend_takes(errand, msg) ||
           (cell != NULL && fl_tasks_answer(&cell->tasks, errand, msg));
}

void fl_to_modern_began(fl_front *front)
{
    const fl_back *back = front->back; /* NULL: each request has its own */
    struct fl_modern_cell *cell =
        back != NULL && fl_back_is_modern(back) ? cell_of(front) : NULL;

    if (cell == NULL)
        return;
    fl_watching_resume(&cell->lists);
    fl_watching_resume(&cell->resources);
}

void fl_to_modern_ready(fl_back *back)
{
    for (fl_list *node = back->fronts.next; node != &back->fronts;
         node = node->next) {
        fl_front *front = FL_LIST_ENTRY(node, fl_front, by_back);
        if (front->state == FL_FRONT_READY)
            fl_to_modern_began(front);
    }
}

void fl_to_modern_free(fl_back *back)
{
    (void)back; /* all there is hangs on its fronts */
}

void fl_to_modern_left(fl_front *front)
{
    fl_front_more *more = front->more;

    if (more == NULL || more->modern == NULL)
        return;
    fl_watching_deinit(&more->modern->lists);
    fl_watching_deinit(&more->modern->resources);
    fl_tasks_deinit(&more->modern->tasks);
    fl_mem_free(more->modern);
    more->modern = NULL;
}
