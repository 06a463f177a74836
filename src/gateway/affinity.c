/*
 * affinity.c - tasks are asked about where they were made.
 *
 * Replicas are remembered by number: one may be gone before its tasks are
 * forgotten.
 */
#include "gateway/affinity.h"

#include "base/span.h"
#include "gateway/route.h"
#include "rpc/extract.h"
#include "json/nav.h"

enum { TASK_MAX = 1024 };

/* The id of a task; both eras have it, one a level deeper. */
static fl_span task_of(fl_span result)
{
    fl_span id = fl_json_get(result, FL_SPAN("taskId"));

    if (id.len == 0)
        id = fl_json_get(fl_json_get(result, FL_SPAN("task")),
                         FL_SPAN("taskId"));
    return fl_json_type_of(id) == FL_JSON_STRING ? id : (fl_span){0};
}

/* A full map is begun anew: the latest are the ones that are asked about. */
static void remember(fl_map *map, fl_span id, void *number)
{
    (void)fl_map_remove(map, id);
    fl_status rc = fl_map_add(map, id, number);

    if (rc != FL_E_LIMIT)
        return; /* without memory its turns are taken as any other's */
    fl_map_deinit(map);
    fl_map_init(map, FL_AFFINITY_MAX);
    (void)!fl_map_add(map, id, number);
}

void fl_affinity_learn(fl_replica *replica, fl_method method, fl_span result)
{
    if (replica->route->replica_count < 2 || method != FL_METHOD_TOOLS_CALL)
        return;
    fl_span id = task_of(result);
    if (id.len > 0 && id.len <= TASK_MAX)
        remember(&replica->route->tasks, id, fl_map_number(replica->number));
}

fl_replica *fl_affinity_find(const fl_route *route, const fl_msg *msg)
{
    uint64_t wait_ms;

    if (fl_map_count(&route->tasks) == 0)
        return NULL;
    fl_method method = fl_method_of(msg);
    if (method != FL_METHOD_TASKS_GET && method != FL_METHOD_TASKS_CANCEL &&
        method != FL_METHOD_TASKS_RESULT && method != FL_METHOD_TASKS_UPDATE)
        return NULL;
    fl_span id = fl_json_get(msg->params, FL_SPAN("taskId"));
    uintptr_t number = (uintptr_t)fl_map_get(&route->tasks, id);
    for (fl_list *node = route->replicas.next; node != &route->replicas;
         node = node->next) {
        fl_replica *replica = FL_LIST_ENTRY(node, fl_replica, node);
        if (replica->number == number && fl_health_would(replica, &wait_ms))
            return replica;
    }
    return NULL;
}
