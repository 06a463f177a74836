/*
 * tasks.c - the tasks of a server: which there are, and for how long.
 *
 * A task is two things with lives of their own. The job is the record: an id,
 * a status, in the end an outcome; the server keeps it until its time is up.
 * The call is the work: an fl_call like any other, in the hands of a handler,
 * which ends when that answers it. They point at each other while both are
 * there, and either may go first.
 *
 * What a call needs of its session it must find even when the client it came
 * from has gone. A legacy task is its session's, and over when that is: its
 * call stays where it is, and merely holds the link no longer. A modern one
 * is nobody's. Its call moves to the errands: a session without a link, one
 * for the whole server, where everything said on the way goes nowhere and all
 * else is as it was. Should a handler outlive the server itself, the errands
 * go with the last of their calls, as any session does.
 *
 * Whoever waits for a result (tasks/result) is a deferred call, too, one
 * without a handler: so it is cancelled, counted and ended like the rest.
 */
#include "server/tasks.h"

#include "base/mem.h"
#include "base/random.h"
#include "base/span.h"
#include "io/loop.h"
#include "server/call.h"
#include "server/server.h"
#include "server/session.h"
#include "json/nav.h"

enum { TOKEN_MAX = 256 };

static fl_job *entry(fl_list *node)
{
    return FL_LIST_ENTRY(node, fl_job, node);
}

void fl_jobs_init(fl_jobs *jobs)
{
    fl_list_init(&jobs->all);
    fl_map_init(&jobs->by_id, FL_JOBS_MAX);
    jobs->max = FL_JOBS_MAX;
    jobs->max_of_session = FL_JOBS_OF_SESSION;
    jobs->max_bytes = FL_JOBS_BYTES;
}

bool fl_jobs_are_busy(const fl_jobs *jobs)
{
    return jobs->errands != NULL && fl_session_is_busy(jobs->errands);
}

static fl_status make_id(char id[FL_JOB_ID + 1])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char random[FL_JOB_ID / 2];
    fl_status rc = fl_random_bytes(random, sizeof random);

    for (size_t i = 0; rc == FL_OK && i < sizeof random; i++) {
        id[2 * i] = digits[random[i] >> 4];
        id[2 * i + 1] = digits[random[i] & 15];
    }
    id[FL_JOB_ID] = '\0';
    return rc;
}

/* The first whose time is up, or NULL; `next` is when the next one's is. */
static fl_job *find_due(fl_jobs *jobs, uint64_t now, uint64_t *next)
{
    *next = UINT64_MAX;
    for (fl_list *node = jobs->all.next; node != &jobs->all;
         node = node->next) {
        if (entry(node)->due <= now)
            return entry(node);
        if (entry(node)->due < *next)
            *next = entry(node)->due;
    }
    return NULL;
}

/* To drop one may run a handler, so each time from the first. */
static void on_due(fl_timer *timer)
{
    fl_server *server = FL_LIST_ENTRY(timer, fl_server, jobs.timer);
    uint64_t now = fl_loop_now(server->loop), next;
    fl_job *job;

    while ((job = find_due(&server->jobs, now, &next)) != NULL)
        fl_job_drop(job, FL_SPAN("the task has expired"));
    if (next != UINT64_MAX)
        fl_timer_start(timer, next - now);
}

static void set_timer(fl_server *server)
{
    uint64_t now = fl_loop_now(server->loop), next;
    fl_job *due = find_due(&server->jobs, now, &next);

    fl_timer_start(&server->jobs.timer, due != NULL ? 0 : next - now);
}

void fl_job_set_ttl(fl_job *job, uint64_t ttl_ms)
{
    uint64_t made = job->due - job->ttl_ms;

    if (ttl_ms < FL_JOB_TTL_MIN)
        ttl_ms = FL_JOB_TTL_MIN;
    if (ttl_ms > FL_JOB_TTL_MAX)
        ttl_ms = FL_JOB_TTL_MAX;
    job->due = made + ttl_ms;
    job->ttl_ms = ttl_ms;
    set_timer(job->server);
}

/* The tasks of one session must not be all there can be. */
static bool has_room(const fl_jobs *jobs, const fl_session *session)
{
    return fl_map_count(&jobs->by_id) < jobs->max &&
           (session == NULL || session->jobs < jobs->max_of_session);
}

static void free_job(fl_job *job)
{
    fl_jobs *jobs = &job->server->jobs;

    jobs->bytes -= fl_buf_len(&job->outcome);
    fl_buf_reset(&job->outcome);
    fl_buf_reset(&job->message);
    fl_entry_unref(job->entry);
    fl_mem_free(job);
}

static void list_job(fl_job *job)
{
    fl_jobs *jobs = &job->server->jobs;

    if (fl_list_empty(&jobs->all))
        fl_timer_init(&jobs->timer, job->server->loop, on_due);
    job->number = ++jobs->last_number;
    fl_list_append(&jobs->all, &job->node);
    if (job->session != NULL)
        job->session->jobs++;
}

fl_status fl_job_new(fl_call *call, uint64_t ttl_ms, fl_job **out)
{
    fl_server *server = call->to.session->server;
    fl_session *session = call->to.revision->legacy ? call->to.session : NULL;
    fl_status rc = FL_E_NOMEM;

    *out = NULL;
    if (!has_room(&server->jobs, session))
        return FL_E_LIMIT;
    fl_job *job = fl_mem_zalloc(sizeof *job);
    if (job == NULL)
        return FL_E_NOMEM;
    job->server = server;
    job->session = session;
    job->entry = fl_entry_ref(call->entry);
    fl_buf_init(&job->message, FL_JOB_MESSAGE);
    fl_buf_init(&job->outcome, FL_JOBS_BYTES);
    rc = make_id(job->id);
    if (rc == FL_OK)
        rc = fl_map_add(&server->jobs.by_id, fl_span_of(job->id), job);
    if (rc != FL_OK) {
        free_job(job);
        return rc;
    }
    list_job(job);
    fl_clock_stamp(job->created);
    fl_clock_stamp(job->updated);
    job->due = fl_loop_now(server->loop);
    fl_job_set_ttl(job, ttl_ms > 0 ? ttl_ms : FL_JOB_TTL_MS);
    job->call = call;
    *out = job;
    return FL_OK;
}

static void unlist_job(fl_job *job)
{
    fl_jobs *jobs = &job->server->jobs;

    (void)fl_map_remove(&jobs->by_id, fl_span_of(job->id));
    fl_list_remove(&job->node);
    if (job->session != NULL)
        job->session->jobs--;
    if (fl_list_empty(&jobs->all))
        fl_timer_stop(&jobs->timer);
}

/* Its call is told last: what a handler does then must find all in order. */
void fl_job_drop(fl_job *job, fl_span why)
{
    fl_call *call = job->call;

    unlist_job(job);
    fl_job_disappoint(job, why);
    free_job(job);
    if (call != NULL) {
        call->job = NULL;
        fl_call_cancel(call);
    }
}

void fl_jobs_end(fl_server *server)
{
    fl_jobs *jobs = &server->jobs;
    fl_session *errands = jobs->errands;

    while (!fl_list_empty(&jobs->all))
        fl_job_drop(entry(jobs->all.next),
                    FL_SPAN("the server is shutting down"));
    fl_map_deinit(&jobs->by_id);
    fl_map_init(&jobs->by_id, FL_JOBS_MAX);
    jobs->errands = NULL;
    if (errands != NULL) {
        errands->server = NULL;
        fl_session_settle(errands);
    }
}

static fl_job *first_of(const fl_session *session)
{
    fl_jobs *jobs = &session->server->jobs;

    for (fl_list *node = jobs->all.next; session->jobs > 0; node = node->next)
        if (entry(node)->session == session)
            return entry(node);
    return NULL;
}

void fl_jobs_forget(fl_session *session)
{
    fl_job *job;

    while ((job = first_of(session)) != NULL)
        fl_job_drop(job, FL_SPAN("the session is over"));
}

/* Ids have nothing in them to be escaped; clients may do so all the same. */
static fl_job *find_escaped(const fl_jobs *jobs, fl_span token)
{
    fl_job *found = NULL;
    fl_buf text;

    fl_buf_init(&text, TOKEN_MAX);
    if (fl_json_string_copy(token, &text) == FL_OK)
        found = fl_map_get(&jobs->by_id, fl_buf_view(&text));
    fl_buf_reset(&text);
    return found;
}

fl_job *fl_job_find(const fl_server *server, const fl_session *session,
                    fl_span token)
{
    if (fl_json_type_of(token) != FL_JSON_STRING)
        return NULL;
    fl_span inside = {token.ptr + 1, token.len - 2};
    fl_job *job = fl_span_find(inside, '\\') == inside.len
                      ? fl_map_get(&server->jobs.by_id, inside)
                      : find_escaped(&server->jobs, token);
    return job != NULL && job->session == session ? job : NULL;
}
