/*
 * task_text.c - how a task is told in each era.
 *
 * The legacy one nests a new task in its result, keeps results apart from the
 * task, and has whatever is about a task say so in its _meta. The modern one
 * is flat, has the outcome in the task, and names its units.
 */
#include "server/tasks.h"

#include "base/span.h"
#include "rpc/error.h"
#include "server/call.h"
#include "server/server.h"

#include "json/nav.h"

enum { ERROR_ROOM = 4096 };

static const char *const names[] = {
    [FL_JOB_WORKING] = "working",
    [FL_JOB_INPUT_REQUIRED] = "input_required",
    [FL_JOB_COMPLETED] = "completed",
    [FL_JOB_FAILED] = "failed",
    [FL_JOB_CANCELLED] = "cancelled",
};

fl_span fl_job_requirement(void)
{
    return FL_SPAN("{\"requiredCapabilities\":{\"extensions\":{"
                   "\"io.modelcontextprotocol/tasks\":{}}}}");
}

void fl_job_write(fl_json_writer *writer, const fl_job *job, bool modern)
{
    fl_json_key(writer, "taskId");
    fl_json_string(writer, job->id);
    fl_json_key(writer, "status");
    fl_json_string(writer, names[job->status]);
    if (fl_buf_len(&job->message) > 0) {
        fl_json_key(writer, "statusMessage");
        fl_json_text(writer, fl_buf_view(&job->message));
    }
    fl_json_key(writer, "createdAt");
    fl_json_string(writer, job->created);
    fl_json_key(writer, "lastUpdatedAt");
    fl_json_string(writer, job->updated);
    fl_json_key(writer, modern ? "ttlMs" : "ttl");
    fl_json_integer(writer, (int64_t)job->ttl_ms);
    fl_json_key(writer, modern ? "pollIntervalMs" : "pollInterval");
    fl_json_integer(writer, FL_JOB_POLL_MS);
}

fl_status fl_job_write_created(fl_buf *out, const fl_job *job)
{
    bool modern = job->session == NULL;
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    if (modern) {
        fl_json_key(&writer, "resultType");
        fl_json_string(&writer, "task");
    } else {
        fl_json_key(&writer, "task");
        fl_json_object(&writer);
    }
    fl_job_write(&writer, job, modern);
    if (!modern)
        fl_json_object_end(&writer);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

/* What it wants to know, as far as it is not answered yet. */
static void write_questions(fl_json_writer *writer, const fl_job *job)
{
    fl_buf asked;

    fl_buf_init(&asked, FL_JOBS_BYTES);
    fl_json_key(writer, "inputRequests");
    if (fl_asking_write(job->call, &asked) == FL_OK)
        fl_json_raw(writer, fl_buf_view(&asked));
    else
        fl_json_object(writer); /* unfinished: the whole fails */
    fl_buf_reset(&asked);
}

static void write_outcome(fl_json_writer *writer, const fl_job *job)
{
    fl_json_key(writer, job->has_error ? "error" : "result");
    if (fl_buf_len(&job->outcome) > 0) {
        fl_json_raw(writer, fl_buf_view(&job->outcome));
    } else { /* there was no memory for it */
        fl_json_object(writer);
        fl_json_key(writer, "code");
        fl_json_integer(writer, FL_RPC_INTERNAL_ERROR);
        fl_json_key(writer, "message");
        fl_json_string(writer, "out of memory");
        fl_json_object_end(writer);
    }
}

fl_status fl_job_write_details(fl_buf *out, const fl_job *job)
{
    bool modern = job->session == NULL;
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_job_write(&writer, job, modern);
    if (modern && job->status == FL_JOB_INPUT_REQUIRED)
        write_questions(&writer, job);
    if (modern && fl_job_is_over(job) && job->status != FL_JOB_CANCELLED)
        write_outcome(&writer, job);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

/* All that is kept together is bounded; `least` is had in any case. */
static void make_room(fl_job *job, size_t least)
{
    const fl_jobs *jobs = &job->server->jobs;
    size_t room =
        jobs->max_bytes > jobs->bytes ? jobs->max_bytes - jobs->bytes : 0;

    fl_buf_reset(&job->outcome);
    fl_buf_init(&job->outcome, room > least ? room : least);
}

static fl_status settle(fl_job *job, fl_status rc)
{
    if (rc == FL_OK)
        job->server->jobs.bytes += fl_buf_len(&job->outcome);
    else
        fl_buf_reset(&job->outcome);
    return rc;
}

static fl_status put(fl_buf *out, fl_status rc, fl_span text)
{
    return rc == FL_OK ? fl_buf_append(out, text) : rc;
}

/* A member as it came, after a comma if it is not the first. */
static fl_status put_member(fl_buf *out, fl_status rc,
                            const fl_json_member *member)
{
    fl_span before = fl_buf_view(out);
    char last = before.len > 0 ? before.ptr[before.len - 1] : '{';

    rc = put(out, rc, last == '{' ? FL_SPAN("\"") : FL_SPAN(",\""));
    rc = put(out, rc, member->key);
    rc = put(out, rc, FL_SPAN("\":"));
    return put(out, rc, member->value);
}

/* The members of `object` but the one of this key, if there is any such; what
 * comes before is an object's beginning. */
static fl_status put_members(fl_buf *out, fl_status rc, fl_span object,
                             fl_span but)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, object);
    while (rc == FL_OK && fl_json_walk_next(&walk, &member)) {
        fl_span token = {member.key.ptr - 1, member.key.len + 2};
        if (but.ptr == NULL || !fl_json_string_is(token, but))
            rc = put_member(out, rc, &member);
    }
    return rc;
}

/* Legacy: with _meta that says whose it is, whatever the tool has said. */
static fl_status put_related(fl_job *job, fl_span result)
{
    fl_buf *out = &job->outcome;
    fl_span meta = fl_json_get(result, FL_SPAN("_meta"));
    fl_status rc = put(out, FL_OK, FL_SPAN("{\"_meta\":{" FL_JOB_RELATED));

    rc = put(out, rc, fl_span_of(job->id));
    rc = put(out, rc, FL_SPAN("\"}"));
    rc = put_members(
        out, rc, fl_json_type_of(meta) == FL_JSON_OBJECT ? meta : (fl_span){0},
        FL_SPAN("io.modelcontextprotocol/related-task"));
    rc = put(out, rc, FL_SPAN("}"));
    rc = put_members(out, rc, result, FL_SPAN("_meta"));
    return put(out, rc, FL_SPAN("}"));
}

/* Modern: what the request would have been answered with. */
static fl_status put_typed(fl_job *job, fl_span result)
{
    fl_buf *out = &job->outcome;

    if (fl_json_get(result, FL_SPAN("resultType")).len > 0)
        return put(out, FL_OK, result);
    fl_status rc = put(out, FL_OK, FL_SPAN("{\"resultType\":\"complete\""));
    rc = put_members(out, rc, result, (fl_span){0});
    return put(out, rc, FL_SPAN("}"));
}

fl_status fl_job_keep_result(fl_job *job, fl_span result)
{
    make_room(job, 1);
    return settle(job, job->session != NULL ? put_related(job, result)
                                            : put_typed(job, result));
}

fl_status fl_job_keep_error(fl_job *job, int code, fl_span message,
                            fl_span data)
{
    bool modern = job->session == NULL;
    fl_json_writer writer;

    make_room(job, ERROR_ROOM);
    fl_json_writer_init(&writer, &job->outcome);
    fl_json_object(&writer);
    fl_json_key(&writer, "code");
    fl_json_integer(&writer, modern ? fl_rpc_error_modern(code) : code);
    fl_json_key(&writer, "message");
    fl_json_text(&writer, message.len > 0
                              ? message
                              : fl_span_of(fl_rpc_error_find(code)->message));
    if (data.len > 0) {
        fl_json_key(&writer, "data");
        fl_json_raw(&writer, data);
    }
    fl_json_object_end(&writer);
    job->has_error = true;
    return settle(job, fl_json_writer_end(&writer));
}
