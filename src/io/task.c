/*
 * task.c - tasks for the loop to run: soon, from any thread, or after a while.
 */
#include "base/mem.h"
#include "io/loop_impl.h"

typedef struct post {
    fl_list node;
    fl_task *task;
    void *user;
} post;

typedef struct after {
    fl_timer timer;
    fl_list node; /* in loop->afters */
    fl_task *task;
    void *user;
} after;

static void take_posts(fl_loop *loop, fl_list *posts)
{
    uv_mutex_lock(&loop->lock);
    fl_list_move(posts, &loop->posts);
    uv_mutex_unlock(&loop->lock);
}

bool fl_loop_has_posts(fl_loop *loop)
{
    uv_mutex_lock(&loop->lock);
    bool any = !fl_list_empty(&loop->posts);
    uv_mutex_unlock(&loop->lock);
    return any;
}

void fl_loop_run_posts(fl_loop *loop)
{
    fl_list posts;
    fl_list *node;

    take_posts(loop, &posts);
    while ((node = fl_list_take(&posts)) != NULL) {
        post task = *FL_LIST_ENTRY(node, post, node);
        fl_mem_free(FL_LIST_ENTRY(node, post, node));
        task.task(task.user);
    }
}

fl_status fl_loop_post(fl_loop *loop, fl_task *task, void *user)
{
    post *entry = fl_mem_alloc(sizeof *entry);

    if (entry == NULL)
        return FL_E_NOMEM;
    *entry = (post){.task = task, .user = user};
    uv_mutex_lock(&loop->lock);
    fl_list_append(&loop->posts, &entry->node);
    /* Under the lock: once the task has run, the loop may be freed. */
    uv_async_send(&loop->wake);
    uv_mutex_unlock(&loop->lock);
    return FL_OK;
}

static void run_after(fl_timer *timer)
{
    after *entry = FL_LIST_ENTRY(timer, after, timer);
    after task = *entry;

    fl_list_remove(&entry->node);
    fl_mem_free(entry);
    task.task(task.user);
}

fl_status fl_loop_after(fl_loop *loop, uint64_t ms, fl_task *task, void *user)
{
    after *entry = fl_mem_alloc(sizeof *entry);

    if (entry == NULL)
        return FL_E_NOMEM;
    *entry = (after){.task = task, .user = user};
    fl_list_append(&loop->afters, &entry->node);
    fl_timer_init(&entry->timer, loop, run_after);
    fl_timer_start(&entry->timer, ms);
    return FL_OK;
}

void fl_loop_drop_tasks(fl_loop *loop)
{
    fl_list posts;
    fl_list *node;

    take_posts(loop, &posts);
    while ((node = fl_list_take(&posts)) != NULL)
        fl_mem_free(FL_LIST_ENTRY(node, post, node));
    while ((node = fl_list_take(&loop->afters)) != NULL) {
        after *task = FL_LIST_ENTRY(node, after, node);
        fl_timer_stop(&task->timer);
        fl_mem_free(task);
    }
}
