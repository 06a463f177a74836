/*
 * child.c - a child process that cannot get lost: our side of the keeper.
 *
 * Three descriptors are watched: the status pipe, on which the keeper reports;
 * a pidfd, which says that the keeper itself has ended; and the child's
 * stderr, which is read to its end, come what may, so that nobody blocks on
 * it. The rest is a ladder of deadlines: stdin ends, TERM, KILL, and at last
 * the keeper, should it be stopped or stuck with somebody unkillable.
 *
 * A spawn that fails must leave nothing behind, at once, yet a stream closes
 * only later. So the stream comes last, when the keeper has been forked but
 * waits for its first word; if that word does not come, it just exits.
 */
#include "io/child.h"

#include "base/mem.h"
#include "base/status.h"
#include "io/keeper.h"
#include "io/loop_impl.h"
#include "io/spawn.h"
#include "io/uv_status.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    STOP_GRACE_MS = 2000,
    KILL_GRACE_MS = 2000,
    KEEPER_GRACE_MS = 5000, /* after KILL: then the keeper goes too */
    TIDY_MS = 10,           /* between looks for what is late */
    TIDY_LOOKS = 100,       /* all dead, and yet stderr did not end: enough */
    LAST_READS = 16,        /* of 64 KiB: as much as a pipe can hold */
};

typedef enum rung { RUNNING, ENDING, TERMED, KILLED } rung;

struct fl_child {
    fl_loop *loop;
    fl_child_events events;
    void *user;
    char *program; /* for the texts only */
    char *cwd;
    uint64_t stop_grace_ms;
    uint64_t kill_grace_ms;

    pid_t keeper;
    pid_t pid;
    int lifeline;
    fl_watch status;
    fl_watch errors;
    fl_watch end; /* the keeper's pidfd */
    fl_timer ladder;
    fl_timer tidy; /* or, once it is closing, for the end */
    unsigned looks;
    rung rung;
    bool ended;    /* how it ended is known */
    bool reported; /* and told */
    bool reaped;
    bool closing;
    fl_child_exit how;
};

static void free_child(fl_child *child)
{
    fl_spawn_close(&child->lifeline);
    fl_mem_free(child->program);
    fl_mem_free(child->cwd);
    fl_mem_free(child);
}

static void tell_closed(fl_child *child)
{
    fl_child_events events = child->events;
    void *user = child->user;

    child->loop->live--;
    child->loop->poller.wanted--;
    free_child(child);
    events.on_closed(user);
}

/* Takes `fd`, failure included. Below zero: libuv's code. */
FL_MUST_USE static int watch_open(fl_child *child, fl_watch *watch, int *fd)
{
    watch->fd = *fd;
    *fd = -1;
    int rc = fl_watch_unblock(watch->fd);
    if (rc == 0)
        rc = fl_poller_ask(&child->loop->poller, watch, EPOLLIN);
    if (rc < 0)
        fl_poller_drop(&child->loop->poller, watch);
    return rc;
}

static void stop_watching(fl_child *child)
{
    fl_poller_drop(&child->loop->poller, &child->status);
    fl_poller_drop(&child->loop->poller, &child->errors);
    fl_poller_drop(&child->loop->poller, &child->end);
}

static void close_child(fl_child *child)
{
    child->closing = true;
    fl_timer_stop(&child->ladder);
    stop_watching(child);
    fl_timer_start(&child->tidy, 0);
}

/* Closes once everything is told, reaped and read. */
static void settle(fl_child *child)
{
    if (child->closing || !child->reported || !child->reaped ||
        child->errors.fd >= 0)
        return;
    close_child(child);
}

static void take_record(fl_child *child, const fl_keeper_record *record)
{
    switch ((fl_keeper_news)record->news) {
    case FL_KEEPER_STARTED:
        child->pid = record->value;
        break;
    case FL_KEEPER_FAILED:
        fl_spawn_explain(&child->how.failure, record, child->program,
                         child->cwd);
        break;
    case FL_KEEPER_LEFT:
        child->how.left = (unsigned)record->value;
        break;
    case FL_KEEPER_ENDED:
        if (WIFSIGNALED(record->value))
            child->how.signal = WTERMSIG(record->value);
        else
            child->how.code = WEXITSTATUS(record->value);
        child->ended = true;
        break;
    }
}

/* Reads what the keeper reported; returns false when it reports no more. */
static bool take_records(fl_child *child)
{
    fl_keeper_record record;
    ssize_t got;

    while ((got = read(child->status.fd, &record, sizeof record)) ==
           (ssize_t)sizeof record)
        take_record(child, &record);
    return got < 0 && (errno == EAGAIN || errno == EINTR);
}

/* The keeper was killed. Its death killed the child; what else was in the
 * child's group we end, while nobody can have taken its number yet. */
static void mourn_keeper(fl_child *child)
{
    child->ended = true;
    if (child->how.failure.status != FL_OK)
        return;
    child->how.signal = SIGKILL;
    if (child->pid > 0)
        kill(-child->pid, SIGKILL);
    fl_log_say(fl_loop_log(child->loop), FL_LOG_WARN,
               "the keeper of a child process was killed",
               fl_log_int("pid", child->pid));
}

/* False when there is nothing to be read now. */
static bool read_errors(fl_child *child)
{
    char *bytes = child->loop->read;
    ssize_t got = read(child->errors.fd, bytes, sizeof child->loop->read);

    if (got > 0) {
        if (child->events.on_stderr != NULL)
            child->events.on_stderr(child->user, (fl_span){bytes, (size_t)got});
        return true;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR))
        fl_poller_drop(&child->loop->poller, &child->errors);
    return false;
}

/* Its last words say more than how it ended: they come first. */
static void report(fl_child *child)
{
    if (!child->ended || child->reported)
        return;
    for (int i = 0; i < LAST_READS && child->errors.fd >= 0; i++)
        if (!read_errors(child))
            break;
    child->reported = true;
    child->how.told = child->rung >= TERMED;
    fl_timer_stop(&child->ladder);
    fl_timer_start(&child->tidy, TIDY_MS);
    child->events.on_exit(child->user, &child->how);
}

/* Somebody else in this process may have waited for every child there is:
 * then the keeper is reaped all the same. */
static void reap_keeper(fl_child *child)
{
    siginfo_t info = {.si_pid = 0};
    bool by_fd = child->end.fd >= 0;
    id_t who = (id_t)(by_fd ? child->end.fd : child->keeper);

    if (child->reaped)
        return;
    int rc = waitid(by_fd ? P_PIDFD : P_PID, who, &info, WEXITED | WNOHANG);
    child->reaped = rc == 0 ? info.si_pid != 0 : errno != EINTR;
}

/* After news from the keeper, or when there will be no more. */
static void conclude(fl_child *child, bool keeper_gone)
{
    if (keeper_gone && !child->ended)
        mourn_keeper(child);
    report(child);
    settle(child);
}

static void on_status(fl_watch *watch, unsigned events)
{
    fl_child *child = FL_LIST_ENTRY(watch, fl_child, status);
    bool silent = !take_records(child);

    (void)events;
    if (silent)
        fl_poller_stop(&child->loop->poller, watch);
    conclude(child, silent);
}

static void on_keeper_end(fl_watch *watch, unsigned events)
{
    fl_child *child = FL_LIST_ENTRY(watch, fl_child, end);

    (void)events;
    reap_keeper(child);
    if (child->reaped) /* or it would say so in every turn */
        fl_poller_stop(&child->loop->poller, watch);
    take_records(child); /* its last words may not have been heard yet */
    conclude(child, true);
}

static void on_errors(fl_watch *watch, unsigned events)
{
    fl_child *child = FL_LIST_ENTRY(watch, fl_child, errors);

    (void)events;
    read_errors(child);
    settle(child);
}

/* Dead is dead when it was told; what is not tidy soon after is made so. */
static void on_tidy(fl_timer *timer)
{
    fl_child *child = FL_LIST_ENTRY(timer, fl_child, tidy);

    if (child->closing) {
        tell_closed(child);
        return;
    }
    reap_keeper(child);
    if (++child->looks >= TIDY_LOOKS) {
        fl_poller_drop(&child->loop->poller, &child->errors);
        if (!child->reaped)
            kill(child->keeper, SIGKILL);
    }
    fl_timer_start(timer, TIDY_MS);
    settle(child);
}

/* A socket and not a pipe, so that a dead keeper costs no SIGPIPE. If this
 * fails it is dead, which we shall hear of. */
static void say(const fl_child *child, char word)
{
    if (send(child->lifeline, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return;
}

static void on_ladder(fl_timer *timer)
{
    fl_child *child = FL_LIST_ENTRY(timer, fl_child, ladder);

    switch (child->rung) {
    case RUNNING:
    case ENDING:
        say(child, FL_KEEPER_TERM);
        child->rung = TERMED;
        fl_timer_start(timer, child->kill_grace_ms);
        break;
    case TERMED:
        say(child, FL_KEEPER_KILL);
        child->rung = KILLED;
        fl_timer_start(timer, KEEPER_GRACE_MS);
        break;
    case KILLED:
        kill(child->keeper, SIGKILL);
        break;
    }
}

void fl_child_stop(fl_child *child)
{
    if (child->rung != RUNNING || child->reported)
        return;
    child->rung = ENDING;
    fl_timer_start(&child->ladder, child->stop_grace_ms);
}

pid_t fl_child_pid(const fl_child *child)
{
    return child->pid;
}

static fl_child *new_child(fl_loop *loop, const fl_child_options *options)
{
    fl_child *child = fl_mem_zalloc(sizeof *child);
    const char *program = options->argv[0], *cwd = options->cwd;

    if (child == NULL)
        return NULL;
    child->loop = loop;
    child->lifeline = -1;
    fl_watch_init(&child->status, on_status);
    fl_watch_init(&child->errors, on_errors);
    fl_watch_init(&child->end, on_keeper_end);
    child->stop_grace_ms =
        options->stop_grace_ms > 0 ? options->stop_grace_ms : STOP_GRACE_MS;
    child->kill_grace_ms =
        options->kill_grace_ms > 0 ? options->kill_grace_ms : KILL_GRACE_MS;
    fl_timer_init(&child->ladder, loop, on_ladder);
    fl_timer_init(&child->tidy, loop, on_tidy);
    child->program = fl_mem_string((fl_span){program, strlen(program)});
    if (cwd != NULL)
        child->cwd = fl_mem_string((fl_span){cwd, strlen(cwd)});
    if (child->program == NULL || (cwd != NULL && child->cwd == NULL)) {
        free_child(child);
        return NULL;
    }
    return child;
}

/* What is left of a child that was not to be. */
static void discard(fl_child *child, fl_spawned *spawned)
{
    if (spawned->keeper > 0)
        fl_spawn_undo(spawned);
    stop_watching(child);
    free_child(child);
}

static fl_status watch_all(fl_child *child, fl_spawned *spawned,
                           fl_error *error)
{
    int rc = watch_open(child, &child->status, &spawned->status);

    if (rc == 0)
        rc = watch_open(child, &child->errors, &spawned->stdio[2]);
    if (rc != 0)
        return fl_error_set(error, fl_status_from_uv(rc),
                            "cannot watch the pipes of '%.100s': %s",
                            child->program, fl_uv_text(rc));
    /* Without a pidfd the end of the status pipe has to do. */
    if (spawned->pidfd >= 0)
        (void)!watch_open(child, &child->end, &spawned->pidfd);
    return FL_OK;
}

static fl_status open_stream(fl_child *child, const fl_child_options *options,
                             fl_spawned *spawned, fl_stream **stream,
                             fl_error *error)
{
    int in = spawned->stdio[1], out = spawned->stdio[0];

    spawned->stdio[0] = spawned->stdio[1] = -1;
    fl_status status =
        fl_stream_open_pair(child->loop, in, out, &options->limits, stream);
    if (status == FL_OK)
        return FL_OK;
    return fl_error_set(error, status, "cannot use the pipes of '%.100s': %s",
                        child->program, fl_status_text(status));
}

static void let_go(fl_child *child, fl_spawned *spawned)
{
    child->keeper = spawned->keeper;
    child->lifeline = spawned->lifeline;
    child->loop->live++;
    child->loop->poller.wanted++;
    say(child, FL_KEEPER_GO);
}

fl_status fl_child_spawn(fl_loop *loop, const fl_child_options *options,
                         const fl_child_events *events, void *user,
                         fl_child **out, fl_stream **stream, fl_error *error)
{
    fl_spawned spawned = {.keeper = 0};

    *out = NULL;
    *stream = NULL;
    if (options->argv == NULL || options->argv[0] == NULL)
        return fl_error_set(error, FL_E_INVALID, "no command to run");

    fl_child *child = new_child(loop, options);
    if (child == NULL)
        return fl_error_set(error, FL_E_NOMEM, "no memory to run a program");
    fl_status status = fl_spawn_keeper(options, &spawned, error);
    if (status == FL_OK)
        status = watch_all(child, &spawned, error);
    if (status == FL_OK)
        status = open_stream(child, options, &spawned, stream, error);
    if (status < 0) {
        discard(child, &spawned);
        return status;
    }
    child->events = *events;
    child->user = user;
    let_go(child, &spawned);
    *out = child;
    return FL_OK;
}
