/*
 * worker.c - a tool that works for long, on a thread of its own, as a task.
 *
 *     worker [URL]...
 *
 *     fairlead call call count_primes below=3000000 -- ./worker
 *     fairlead call call count_primes below=3000000 --task -- ./worker
 *
 * A handler must not keep the loop waiting: everybody else is served by it.
 * So the call is kept, the work goes to a thread, and the thread says that it
 * is done through fl_loop_post(), the one function other threads may call. All
 * that touches a call happens on the loop.
 *
 * The one trick is who frees the job. The thread posts finish() exactly once,
 * as its last act, and only finish() frees. A cancellation therefore stops the
 * thread, waits for it (it looks at `stop` all the time) and answers; finish()
 * then finds that there is no call any more.
 *
 * To a client that holds tasks the call becomes one: it may hang up, and come
 * back for the answer. For others the same code is a call that takes a while.
 */
#include <fairlead/fairlead.h>

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEEP_MS = 10 * 60 * 1000 };

struct job {
    fl_call *call; /* NULL: cancelled, and answered */
    fl_loop *loop;
    pthread_t thread;
    int64_t below;
    int64_t told;           /* the loop's */
    int64_t count;          /* the thread's, until it has ended */
    atomic_int_fast64_t at; /* how far it is */
    atomic_bool stop;
};

static void post(struct job *job, fl_task *task)
{
    while (fl_loop_post(job->loop, task, job) != FL_OK)
        sched_yield(); /* no memory now: somebody waits for this, so later */
}

static bool is_prime(int64_t n)
{
    for (int64_t d = 2; d <= n / d; d++)
        if (n % d == 0)
            return false;
    return true;
}

/* On the loop, once for each percent; but the thread may be faster than the
 * loop, and the same is not told twice. */
static void tell(void *user)
{
    struct job *job = user;
    int64_t at = atomic_load(&job->at);
    char text[64];

    if (job->call == NULL || at <= job->told)
        return;
    job->told = at;
    snprintf(text, sizeof text, "looked at %" PRId64, at);
    fl_call_progress(job->call, (double)at, (double)job->below, text);
    fl_call_task_status(job->call, text);
}

/* On the loop, the last that happens. */
static void finish(void *user)
{
    struct job *job = user;

    if (job->call != NULL) {
        pthread_join(job->thread, NULL);
        fl_call_replyf(job->call, "%" PRId64 " primes", job->count);
    }
    free(job);
}

/* On the loop: the client cancelled, or left, or the server closes. */
static void on_cancel(fl_call *call, void *user)
{
    struct job *job = user;

    atomic_store(&job->stop, true);
    pthread_join(job->thread, NULL);
    job->call = NULL;
    fl_call_fail(call, "cancelled");
}

/* On the thread, where no fl_call may be touched. */
static void *work(void *user)
{
    struct job *job = user;
    int64_t step = job->below / 100 + 1;

    for (int64_t n = 2; n < job->below && !atomic_load(&job->stop); n++) {
        job->count += is_prime(n);
        if (n % step == 0) {
            atomic_store(&job->at, n);
            post(job, tell);
        }
    }
    post(job, finish);
    return NULL;
}

static void count_primes(fl_call *call, void *user)
{
    struct job *job = calloc(1, sizeof *job);

    (void)user;
    if (job == NULL) {
        fl_call_fail(call, "out of memory");
        return;
    }
    job->below = fl_call_integer(call, "below");
    job->loop = fl_call_loop(call);
    job->call = fl_call_as_task(call, KEEP_MS);
    if (job->call == NULL) {
        free(job); /* it has been answered already */
        return;
    }
    if (pthread_create(&job->thread, NULL, work, job) != 0) {
        fl_call_fail(job->call, "no thread to be had");
        free(job);
        return;
    }
    fl_call_on_cancel(job->call, on_cancel, job);
}

int main(int argc, char **argv)
{
    static const char *const only_stdio[] = {"stdio:", NULL};
    fl_server *server = fl_server_new("worker", "1.0");
    fl_tool tool = {
        .name = "count_primes",
        .description = "Counts the primes below a number, the slow way",
        .input_schema = "{\"type\":\"object\",\"properties\":{\"below\":{"
                        "\"type\":\"integer\",\"minimum\":2,"
                        "\"maximum\":1000000000}},\"required\":[\"below\"]}",
        .task = FL_TASK_MAY,
        .call = count_primes,
    };

    if (server == NULL || fl_server_add_tool(server, &tool) != FL_OK)
        return fl_server_fail(server);
    return fl_server_run(server, argc > 1 ? (const char *const *)(argv + 1)
                                          : only_stdio);
}
