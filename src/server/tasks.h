/*
 * tasks.h - the tasks of a server: calls whose client was sent away with an id
 * to ask by, and what has become of them. For the files of this room only.
 *
 *   tasks.c         which there are, and for how long
 *   task_call.c     calls that become tasks
 *   task_tell.c     how a task goes on and ends, and who is told of it
 *   task_text.c     how a task is told in each era
 *   method_tasks.c  what clients ask about them
 *
 * "Task" is the protocol's word, and fl_task means something else in this
 * library: inside, a task is a job.
 */
#ifndef FL_SERVER_TASKS_H
#define FL_SERVER_TASKS_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/map.h"
#include "io/timer.h"
#include "json/write.h"

#include <fairlead/server.h>

struct fl_entry;
struct fl_session;

enum {
    FL_JOB_ID = 32,     /* characters: 128 random bits in hexadecimal */
    FL_JOBS_MAX = 4096, /* of a server */
    FL_JOBS_OF_SESSION = 256,
    FL_JOBS_BYTES = 64 * 1024 * 1024, /* of results that wait to be fetched */
    FL_JOB_TTL_MS = 60 * 60 * 1000,   /* unless somebody says otherwise */
    FL_JOB_TTL_MIN = 1000,
    FL_JOB_TTL_MAX = 24 * 60 * 60 * 1000,
    FL_JOB_POLL_MS = 500,
    FL_JOB_MESSAGE = 1024, /* bytes of its line of status */
};

typedef enum fl_job_status {
    FL_JOB_WORKING,
    FL_JOB_INPUT_REQUIRED,
    FL_JOB_COMPLETED, /* from here on nothing changes any more */
    FL_JOB_FAILED,
    FL_JOB_CANCELLED,
} fl_job_status;

typedef struct fl_job {
    fl_list node;    /* among the server's, by number */
    uint64_t number; /* in the order they were made */
    char id[FL_JOB_ID + 1];
    fl_server *server;
    struct fl_session *session; /* whose it is (legacy); NULL: whoever knows
                                   its id may ask (modern) */
    struct fl_entry *entry;     /* the tool; a reference is held */
    struct fl_call *call;       /* while it runs, or NULL */
    fl_job_status status;
    bool ttl_asked; /* the client said how long */
    bool has_error; /* the outcome is one */
    uint64_t ttl_ms, due;
    char created[FL_CLOCK_STAMP], updated[FL_CLOCK_STAMP];
    fl_buf message; /* its line of status */
    fl_buf outcome; /* JSON: the result, or the error */
} fl_job;

typedef struct fl_jobs {
    fl_list all;
    fl_map by_id;
    uint64_t last_number;
    size_t max, max_of_session, max_bytes;
    size_t bytes;               /* of outcomes */
    fl_timer timer;             /* runs while there are any */
    struct fl_session *errands; /* where calls live on that have left their
                                   link; NULL until there is one */
} fl_jobs;

void fl_jobs_init(fl_jobs *jobs);
/* All of them go; those that run are cancelled. The server is closing. */
void fl_jobs_end(fl_server *server);
/* The same for those of a session that is over. */
void fl_jobs_forget(struct fl_session *session);
/* Whether one of their calls is under way, on no session of the server's. */
bool fl_jobs_are_busy(const fl_jobs *jobs);

/* A new one, for this call; `ttl_ms` 0: the usual. FL_E_LIMIT, FL_E_NOMEM or
 * FL_E_IO: there is none. */
FL_MUST_USE fl_status fl_job_new(struct fl_call *call, uint64_t ttl_ms,
                                 fl_job **out);
/* It goes; whoever waits for its result is told `why`. */
void fl_job_drop(fl_job *job, fl_span why);
/* From now on; at least a second and at most a day from when it was made. */
void fl_job_set_ttl(fl_job *job, uint64_t ttl_ms);

/* By the token of a request, if whoever sent that may know of it; or NULL. */
fl_job *fl_job_find(const fl_server *server, const struct fl_session *session,
                    fl_span token);

static inline bool fl_job_is_over(const fl_job *job)
{
    return job->status >= FL_JOB_COMPLETED;
}

/* task_call.c: a call of this tool begins, and may be wanted as a task, or
 * have to be one. False: refused, and said so. */
FL_MUST_USE bool fl_jobs_start(struct fl_call *call, const fl_tool *tool);
/* The client has declared the extension with this request. */
bool fl_jobs_declared(fl_span capabilities);

/* task_tell.c: the call moved in memory; or was cancelled, for whatever reason.
 */
void fl_job_moved(struct fl_call *call);
void fl_job_cancelled(struct fl_call *call);
/* Has `waiter`, a deferred request for the result, hear of it in the end. */
void fl_job_await(fl_job *job, struct fl_call *waiter);
/* Everybody who waits gets what there is; the task is over. */
void fl_job_tell_waiters(fl_job *job);
/* Whoever waits is told why there will be nothing. */
void fl_job_disappoint(fl_job *job, fl_span why);

/* task_text.c: the members of a task, into an object that is open. */
void fl_job_write(fl_json_writer *writer, const fl_job *job, bool modern);
/* The answer to the request that became one. */
FL_MUST_USE fl_status fl_job_write_created(fl_buf *out, const fl_job *job);
/* All that tasks/get tells, in the era of the task. */
FL_MUST_USE fl_status fl_job_write_details(fl_buf *out, const fl_job *job);
/* What it came to, into its outcome. */
FL_MUST_USE fl_status fl_job_keep_result(fl_job *job, fl_span result);
FL_MUST_USE fl_status fl_job_keep_error(fl_job *job, int code, fl_span message,
                                        fl_span data);
/* {"requiredCapabilities":...} naming the extension. */
fl_span fl_job_requirement(void);

#define FL_JOB_RELATED "\"io.modelcontextprotocol/related-task\":{\"taskId\":\""

#endif
