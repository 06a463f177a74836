/*
 * test_child.c - child processes, real ones, and every way they can end.
 *
 * What happens is written down as letters: d the stream's end of data, s its
 * close, x the exit, c the child's close. After each run there must be no
 * descriptor and no process, not even a zombie, that was not there before.
 */
#include "base/mem.h"
#include "io/child.h"
#include "io/loop.h"
#include "support/process.h"
#include "support/ration.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATIENCE_MS = 5000, SHORT_MS = 40, PIDS = 8 };

/* _Fork() as the library sees it. */
static bool fork_refused;

pid_t _Fork(void)
{
    pid_t (*real)(void);

    if (fork_refused) {
        errno = EAGAIN;
        return -1;
    }
    *(void **)&real = dlsym(RTLD_NEXT, "_Fork");
    return real();
}

typedef struct scene {
    fl_loop *loop;
    fl_child *child;
    fl_stream *stream;
    char events[16];
    char out[8192];
    size_t out_len;
    size_t errors;
    char error_text[128]; /* how what it wrote to stderr begins */
    fl_child_exit how;

    /* What to do when so many lines have come, or at the end of data. */
    int lines_wanted;
    void (*then)(struct scene *run);
    bool keep_stream; /* after the end of data, until the exit */
    bool stop_on_stderr;
    int files_before;
} scene;

static void note(scene *run, char event)
{
    size_t len = strlen(run->events);

    assert_true(len + 1 < sizeof run->events);
    run->events[len] = event;
    run->events[len + 1] = '\0';
}

static int count_lines(const scene *run)
{
    int lines = 0;

    for (size_t i = 0; i < run->out_len; i++)
        lines += run->out[i] == '\n';
    return lines;
}

static void on_data(void *user, fl_span bytes)
{
    scene *run = user;

    assert_true(run->out_len + bytes.len < sizeof run->out);
    memcpy(run->out + run->out_len, bytes.ptr, bytes.len);
    run->out_len += bytes.len;
    run->out[run->out_len] = '\0';
    if (run->then != NULL && count_lines(run) >= run->lines_wanted) {
        void (*then)(struct scene *) = run->then;
        run->then = NULL;
        then(run);
    }
}

static void on_end(void *user, const fl_error *error)
{
    scene *run = user;

    (void)error;
    note(run, 'd');
    if (!run->keep_stream)
        fl_stream_close(run->stream);
}

static void on_stream_closed(void *user)
{
    note(user, 's');
}

static void on_stderr(void *user, fl_span bytes)
{
    scene *run = user;

    if (run->errors == 0)
        snprintf(run->error_text, sizeof run->error_text, "%.*s",
                 (int)bytes.len, bytes.ptr);
    run->errors += bytes.len;
    if (run->stop_on_stderr)
        fl_child_stop(run->child);
}

static void on_exit_of(void *user, const fl_child_exit *how)
{
    scene *run = user;

    note(run, 'x');
    run->how = *how;
    fl_child_stop(run->child); /* harmless */
    if (run->keep_stream)
        fl_stream_close(run->stream);
}

static void on_closed(void *user)
{
    scene *run = user;

    note(run, 'c');
    run->child = NULL;
}

static const fl_stream_events stream_events = {
    .on_data = on_data, .on_end = on_end, .on_closed = on_stream_closed};
static const fl_child_events child_events = {
    .on_stderr = on_stderr, .on_exit = on_exit_of, .on_closed = on_closed};

static fl_child_options options_for(const char *const *argv)
{
    static const char *const envp[] = {"PATH=/usr/bin:/bin", NULL};

    return (fl_child_options){.argv = argv,
                              .envp = envp,
                              .stop_grace_ms = (uint64_t)stretched(SHORT_MS),
                              .kill_grace_ms = (uint64_t)stretched(SHORT_MS)};
}

static void begin(scene *run, const fl_child_options *options)
{
    fl_error error = {0};

    if (run->loop == NULL) {
        run->files_before = process_count_files(getpid());
        run->loop = fl_loop_new();
        assert_non_null(run->loop);
    }
    assert_int_equal(fl_child_spawn(run->loop, options, &child_events, run,
                                    &run->child, &run->stream, &error),
                     FL_OK);
    assert_int_equal(fl_child_pid(run->child), 0);
    assert_int_equal(fl_stream_start(run->stream, &stream_events, run), FL_OK);
}

static void end(scene *run)
{
    fl_loop_run(run->loop);
    fl_loop_free(run->loop);
    assert_null(run->child);
    assert_int_equal(process_count_files(getpid()), run->files_before);
    assert_true(process_has_no_children());
}

/* Each once, and the exit before the close. */
static void assert_complete(const scene *run)
{
    assert_int_equal(strlen(run->events), 4);
    assert_non_null(strchr(run->events, 'd'));
    assert_non_null(strchr(run->events, 's'));
    assert_non_null(strchr(run->events, 'x'));
    assert_true(strchr(run->events, 'c') > strchr(run->events, 'x'));
}

static void assert_code(const scene *run, int code)
{
    assert_int_equal(run->how.failure.status, FL_OK);
    assert_int_equal(run->how.signal, 0);
    assert_int_equal(run->how.code, code);
}

static void assert_signal(const scene *run, int signal)
{
    assert_int_equal(run->how.failure.status, FL_OK);
    assert_int_equal(run->how.signal, signal);
}

static void run_badchild(scene *run, const char *manner, const char *number)
{
    const char *const argv[] = {BADCHILD, manner, number, NULL};
    fl_child_options options = options_for(argv);

    begin(run, &options);
    end(run);
    assert_complete(run);
}

static uint64_t now_ms(void)
{
    fl_clock clock = fl_clock_system();

    return fl_clock_now(&clock);
}

static void stop(scene *run)
{
    fl_child_stop(run->child);
}

static void close_and_stop(scene *run)
{
    fl_child_stop(run->child);
    fl_stream_close(run->stream);
}

static void finish_input(scene *run)
{
    fl_stream_finish(run->stream);
}

static int read_pids(const scene *run, pid_t pids[PIDS])
{
    int count = 0;

    for (const char *at = run->out; (at = strstr(at, "pid ")) != NULL; at += 4)
        pids[count++] = (pid_t)strtol(at + 4, NULL, 10);
    return count;
}

static void test_child_answers_on_its_stream(void **state)
{
    const char *const argv[] = {BADCHILD, "echo", NULL};
    fl_child_options options = options_for(argv);
    scene run = {.lines_wanted = 2, .then = finish_input};
    const fl_span parts[] = {{"hello\n", 6}, {"world\n", 6}};

    (void)state;
    begin(&run, &options);
    assert_int_equal(fl_stream_write(run.stream, parts, 2), FL_OK);
    end(&run);
    assert_complete(&run);
    assert_string_equal(run.out, "hello\nworld\n");
    assert_code(&run, 0);
}

static void test_child_knows_its_pid(void **state)
{
    const char *const argv[] = {BADCHILD, "never-read", NULL};
    fl_child_options options = options_for(argv);
    scene run = {0};

    (void)state;
    begin(&run, &options);
    while (count_lines(&run) == 0 || fl_child_pid(run.child) == 0)
        fl_loop_step(run.loop);
    assert_int_equal(fl_child_pid(run.child), strtol(run.out + 4, NULL, 10));
    fl_child_stop(run.child);
    end(&run);
    assert_complete(&run);
}

static void test_child_exit_code_is_told(void **state)
{
    static const char *const codes[] = {"0", "1", "42", "127", "255"};

    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        scene run = {0};
        run_badchild(&run, "exit-code", codes[i]);
        assert_code(&run, (int)strtol(codes[i], NULL, 10));
    }
}

static void test_child_signal_is_told_and_output_kept(void **state)
{
    scene run = {0};

    (void)state;
    run_badchild(&run, "die-mid-message", NULL);
    assert_signal(&run, SIGKILL);
    assert_string_equal(run.out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"resu");
}

static void test_child_found_in_its_own_path(void **state)
{
    const char *const argv[] = {"true", NULL};
    fl_child_options options = options_for(argv);
    scene run = {0};

    (void)state;
    begin(&run, &options);
    end(&run);
    assert_code(&run, 0);
}

/* Runs what must not start, and compares status and text. */
static void expect_failure(const fl_child_options *options, fl_status status,
                           const char *text)
{
    scene run = {0};

    begin(&run, options);
    end(&run);
    assert_complete(&run);
    assert_int_equal(run.out_len, 0);
    assert_int_equal(run.how.failure.status, status);
    assert_string_equal(run.how.failure.text, text);
}

static void test_child_not_found_is_said(void **state)
{
    const char *const bare[] = {"no-such-program", NULL};
    const char *const path[] = {"./no-such-program", NULL};
    const char *const empty[] = {"", NULL};
    const char *const nowhere[] = {"PATH=/nowhere", NULL};
    const char *const sh[] = {"sh", NULL};
    fl_child_options options = options_for(bare);

    (void)state;
    expect_failure(&options, FL_E_NOT_FOUND,
                   "cannot run 'no-such-program': not found in PATH");
    options.argv = path;
    expect_failure(&options, FL_E_NOT_FOUND,
                   "cannot run './no-such-program': no such file or directory");
    options.argv = empty;
    expect_failure(&options, FL_E_NOT_FOUND,
                   "cannot run '': not found in PATH");
    options.argv = sh; /* in our PATH, but not in the child's */
    options.envp = nowhere;
    expect_failure(&options, FL_E_NOT_FOUND,
                   "cannot run 'sh': not found in PATH");
}

/* A file with these bytes and mode in a directory of its own. */
static void make_file(char directory[32], const char *bytes, mode_t mode)
{
    char path[64];

    snprintf(directory, 32, "/tmp/fl-child-XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/x", directory);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
    close(fd);
    assert_int_equal(chmod(path, mode), 0);
}

static void remove_file(const char *directory)
{
    char path[64];

    snprintf(path, sizeof path, "%s/x", directory);
    unlink(path);
    rmdir(directory);
}

static void test_child_not_executable_is_said(void **state)
{
    char directory[32], path_variable[64];
    const char *const given[] = {"./x", NULL};
    const char *const searched[] = {"x", NULL};
    const char *const envp[] = {path_variable, NULL};
    fl_child_options options = options_for(given);

    (void)state;
    make_file(directory, "#!/bin/sh\n", 0600);
    options.cwd = directory;
    expect_failure(&options, FL_E_DENIED,
                   "cannot run './x': permission denied");
    /* what may not be run is told, though the search went on */
    snprintf(path_variable, sizeof path_variable, "PATH=%s:/nowhere",
             directory);
    options.argv = searched;
    options.envp = envp;
    expect_failure(&options, FL_E_DENIED, "cannot run 'x': permission denied");
    remove_file(directory);
}

static void test_child_never_meets_a_shell(void **state)
{
    char directory[32];
    const char *const argv[] = {"./x", NULL};
    fl_child_options options = options_for(argv);

    (void)state;
    make_file(directory, "echo I ran\n", 0700);
    options.cwd = directory;
    expect_failure(&options, FL_E_CHILD,
                   "cannot run './x': not in a format that can be run");
    remove_file(directory);
}

static void test_child_runs_in_its_directory(void **state)
{
    const char *const argv[] = {BADCHILD, "print-cwd", NULL};
    fl_child_options options = options_for(argv);
    scene run = {0};

    (void)state;
    options.cwd = "/usr";
    begin(&run, &options);
    end(&run);
    assert_string_equal(run.out, "/usr\n");
}

static void test_child_bad_directory_is_said(void **state)
{
    const char *const argv[] = {BADCHILD, "print-cwd", NULL};
    fl_child_options options = options_for(argv);

    (void)state;
    options.cwd = "/nope";
    expect_failure(&options, FL_E_NOT_FOUND,
                   "cannot enter directory '/nope': no such file or directory");
    options.cwd = "/dev/null";
    expect_failure(&options, FL_E_NOT_FOUND,
                   "cannot enter directory '/dev/null': not a directory");
}

static void test_child_environment_is_exact(void **state)
{
    const char *const argv[] = {BADCHILD, "print-env", NULL};
    const char *const envp[] = {"ONE=1", "EMPTY=", "ODD=a=b c", NULL};
    fl_child_options options = options_for(argv);
    scene some = {0}, none = {0};

    (void)state;
    options.envp = envp;
    begin(&some, &options);
    end(&some);
    assert_string_equal(some.out, "ONE=1\nEMPTY=\nODD=a=b c\n");
    options.envp = NULL;
    begin(&none, &options);
    end(&none);
    assert_int_equal(none.out_len, 0);
    assert_code(&none, 0);
}

static void test_child_limits_are_in_force(void **state)
{
    const char *const argv[] = {BADCHILD, "print-limits", NULL};
    fl_child_options options = options_for(argv);
    scene run = {0};

    (void)state;
    if (process_in_valgrind())
        skip_because("Valgrind sets limits of its own");
    options.max_memory_bytes = UINT64_C(1) << 30;
    options.max_cpu_seconds = 7;
    options.max_files = 33;
    begin(&run, &options);
    end(&run);
    assert_string_equal(run.out, "memory 1073741824 cpu 7 files 33\n");
}

static void test_child_limit_beyond_the_system_is_said(void **state)
{
    const char *const argv[] = {BADCHILD, "print-limits", NULL};
    fl_child_options options = options_for(argv);

    (void)state;
    options.max_files = UINT64_MAX - 1;
    expect_failure(&options, FL_E_DENIED,
                   "cannot set limit on open files: operation not permitted");
}

static void test_child_drops_its_rights(void **state)
{
    const char *const argv[] = {BADCHILD, "print-ids", NULL};
    fl_child_options options = options_for(argv);
    scene run = {0};

    (void)state;
    options.set_uid = options.set_gid = true;
    options.uid = 65534;
    options.gid = 65533;
    if (geteuid() != 0) {
        expect_failure(&options, FL_E_DENIED,
                       "cannot change user or group: operation not permitted");
        return;
    }
    begin(&run, &options);
    end(&run);
    if (run.how.failure.status == FL_E_DENIED) /* it may not read BADCHILD */
        skip_because("nobody may not run the test's child here");
    assert_string_equal(run.out, "uid 65534 gid 65533 groups 1\n");
}

static void test_child_without_rights_can_be_killed(void **state)
{
    const char *const argv[] = {"sleep", "1000", NULL};
    fl_child_options options = options_for(argv);
    scene run = {0};

    (void)state;
    if (geteuid() != 0)
        skip_because("only root can drop rights");
    options.set_uid = options.set_gid = true;
    options.uid = options.gid = 65534;
    begin(&run, &options);
    fl_child_stop(run.child);
    end(&run);
    assert_signal(&run, SIGTERM);
}

static void test_child_inherits_nothing(void **state)
{
    int extra = open("/dev/null", O_RDONLY); /* not close-on-exec */
    sigset_t some, before;
    scene run = {0};

    (void)state;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigprocmask(SIG_BLOCK, &some, &before);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    run_badchild(&run, "print-inherited", NULL);
    assert_string_equal(run.out, "files 0 blocked 0 ignored 0\n");
    signal(SIGPIPE, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    sigset_t after;
    sigprocmask(SIG_SETMASK, &before, &after);
    assert_int_equal(sigismember(&after, SIGUSR1), 1); /* ours is as it was */
    assert_int_equal(sigismember(&after, SIGUSR2), 0);
    close(extra);
}

/* A host whose own stdio is closed hands the low numbers to our pipes. The
 * loop and its first stream must be there before: libuv opens descriptors of
 * its own then, and aborts when it comes to close one of the low numbers. */
static void test_child_starts_without_our_stdio(void **state)
{
    const char *const argv[] = {BADCHILD, "print-inherited", NULL};
    fl_child_options options = options_for(argv);
    scene run = {.files_before = process_count_files(getpid())};
    scene first = {.loop = fl_loop_new()};
    int saved[3];

    (void)state;
    begin(&first, &options);
    fl_loop_run(first.loop);
    run.loop = first.loop;
    for (int fd = 0; fd < 3; fd++) {
        saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
        close(fd);
    }
    begin(&run, &options);
    for (int fd = 0; fd < 3; fd++) {
        dup2(saved[fd], fd);
        close(saved[fd]);
    }
    end(&run);
    assert_string_equal(run.out, "files 0 blocked 0 ignored 0\n");
}

static void test_child_stop_ends_its_input_first(void **state)
{
    const char *const argv[] = {BADCHILD, "fork-grandchild", NULL};
    fl_child_options options = options_for(argv);
    scene run = {.lines_wanted = 2, .then = close_and_stop};

    (void)state;
    options.stop_grace_ms = 60 * 1000; /* it needs no more than the end */
    begin(&run, &options);
    end(&run);
    assert_code(&run, 0);
    assert_string_equal(run.events, "sxc");
}

static void test_child_stop_terms_after_the_grace(void **state)
{
    const char *const argv[] = {BADCHILD, "never-read", NULL};
    fl_child_options options = options_for(argv);
    scene run = {.lines_wanted = 1, .then = stop};
    uint64_t start = now_ms();

    (void)state;
    begin(&run, &options);
    end(&run);
    assert_complete(&run);
    assert_signal(&run, SIGTERM);
    assert_true(now_ms() - start >= (uint64_t)stretched(SHORT_MS));
}

static void test_child_stop_kills_what_ignores_term(void **state)
{
    const char *const argv[] = {BADCHILD, "ignore-term", NULL};
    fl_child_options options = options_for(argv);
    scene run = {.lines_wanted = 1, .then = close_and_stop};
    uint64_t start = now_ms();

    (void)state;
    begin(&run, &options);
    end(&run);
    assert_signal(&run, SIGKILL);
    uint64_t took = now_ms() - start;
    assert_true(took >= (uint64_t)stretched(2 * SHORT_MS));
    assert_true(took < (uint64_t)stretched(2 * SHORT_MS + 2000));
}

static void test_child_stop_right_away_and_twice(void **state)
{
    const char *const argv[] = {"sleep", "1000", NULL};
    fl_child_options options = options_for(argv);
    scene run = {0};

    (void)state;
    begin(&run, &options);
    fl_child_stop(run.child);
    fl_child_stop(run.child);
    end(&run);
    assert_complete(&run);
    assert_signal(&run, SIGTERM);
}

static void test_child_stop_from_its_stderr(void **state)
{
    const char *const argv[] = {"sh", "-c", "echo oops >&2; exec sleep 1000",
                                NULL};
    fl_child_options options = options_for(argv);
    scene run = {.stop_on_stderr = true};

    (void)state;
    begin(&run, &options);
    end(&run);
    assert_complete(&run);
    assert_signal(&run, SIGTERM);
    assert_string_equal(run.error_text, "oops\n");
}

static void test_child_takes_its_descendants_along(void **state)
{
    static const struct {
        const char *manner;
        int count;
    } cases[] = {{"fork-grandchild", 2},
                 {"setsid-grandchild", 2},
                 {"daemon-grandchild", 2},
                 {"family", 5}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const argv[] = {BADCHILD, cases[i].manner, NULL};
        fl_child_options options = options_for(argv);
        scene run = {.lines_wanted = cases[i].count, .then = close_and_stop};
        pid_t pids[PIDS];
        options.stop_grace_ms = 60 * 1000; /* the end of input does for it */
        begin(&run, &options);
        end(&run);
        assert_code(&run, 0);
        assert_int_equal(run.how.left, 1); /* those of its own */
        assert_int_equal(read_pids(&run, pids), cases[i].count);
        for (int k = 0; k < cases[i].count; k++)
            assert_int_equal(kill(pids[k], 0), -1);
    }
}

static void test_child_without_stdout_lives_on(void **state)
{
    const char *const argv[] = {BADCHILD, "close-stdout", NULL};
    fl_child_options options = options_for(argv);
    scene run = {.keep_stream = true};

    (void)state;
    begin(&run, &options);
    while (strchr(run.events, 'd') == NULL)
        fl_loop_step(run.loop);
    pid_t pid = (pid_t)strtol(run.out + 4, NULL, 10);
    assert_true(process_alive(pid));
    fl_child_stop(run.child);
    end(&run);
    assert_complete(&run);
    assert_signal(&run, SIGTERM);
}

static void test_child_stderr_is_drained(void **state)
{
    scene run = {0};

    (void)state;
    run_badchild(&run, "flood-stderr", "10485760");
    assert_int_equal(run.errors, 10485760);
    assert_string_equal(run.out, "flooded\n");
    assert_code(&run, 0);
}

static void test_child_garbage_is_passed_on(void **state)
{
    const char *const argv[] = {BADCHILD, "garbage", NULL};
    fl_child_options options = options_for(argv);
    scene run = {.lines_wanted = 5, .then = finish_input};

    (void)state;
    begin(&run, &options);
    end(&run);
    assert_code(&run, 0);
    assert_true(run.out_len > 5000);
}

/* The process whose parent is us: the keeper. */
static pid_t find_keeper(void)
{
    char text[64] = "";
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_true(read(fd, text, sizeof text - 1) > 0);
    close(fd);
    return (pid_t)strtol(text, NULL, 10);
}

static void kill_keeper(scene *run)
{
    (void)run;
    kill(find_keeper(), SIGKILL);
}

static void test_child_survives_no_death_of_its_keeper(void **state)
{
    const char *const argv[] = {BADCHILD, "fork-grandchild", NULL};
    fl_child_options options = options_for(argv);
    scene run = {.lines_wanted = 2, .then = kill_keeper};
    pid_t pids[PIDS];

    (void)state;
    begin(&run, &options);
    end(&run);
    assert_complete(&run);
    assert_signal(&run, SIGKILL);
    assert_int_equal(read_pids(&run, pids), 2);
    assert_true(process_gone_within(pids[0], PATIENCE_MS));
    assert_true(process_gone_within(pids[1], PATIENCE_MS));
}

static void stop_keeper(scene *run)
{
    kill(find_keeper(), SIGSTOP);
    fl_child_stop(run->child);
}

static uint64_t driven_ms(void *user)
{
    return *(uint64_t *)user;
}

/* Somebody stops the keeper, and it does not do as it is told. The clock is
 * ours, so that nobody waits for the last rung of the ladder. */
static void test_child_ends_though_its_keeper_hangs(void **state)
{
    const char *const argv[] = {BADCHILD, "ignore-term", NULL};
    fl_child_options options = options_for(argv);
    scene run = {.lines_wanted = 1, .then = stop_keeper};
    uint64_t time = 1000;
    fl_clock clock = {.now_ms = driven_ms, .user = &time};

    (void)state;
    run.files_before = process_count_files(getpid());
    run.loop = fl_loop_new_with(&(fl_loop_options){.clock = &clock});
    begin(&run, &options);
    while (run.child != NULL || strchr(run.events, 's') == NULL) {
        fl_loop_step(run.loop);
        time += run.then == NULL;
        usleep(100);
    }
    end(&run);
    assert_complete(&run);
    assert_signal(&run, SIGKILL);
}

/* What a program that uses the library does until it is killed. */
static void be_the_host(const char *manner, int lines)
{
    const char *const argv[] = {BADCHILD, manner, NULL};
    fl_child_options options = options_for(argv);
    scene run = {0};

    begin(&run, &options);
    while (count_lines(&run) < lines)
        fl_loop_step(run.loop);
    if (write(STDOUT_FILENO, run.out, run.out_len) < 0)
        _exit(1);
    fl_loop_run(run.loop);
    _exit(1);
}

static void test_child_dies_when_we_are_killed(void **state)
{
    scene heard = {0};
    pid_t pids[PIDS];
    int out[2], how;

    (void)state;
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    pid_t host = fork();
    assert_true(host >= 0);
    if (host == 0) {
        dup2(out[1], STDOUT_FILENO);
        be_the_host("family", 5);
    }
    close(out[1]);
    while (count_lines(&heard) < 5) {
        ssize_t got = read(out[0], heard.out + heard.out_len, 256);
        assert_true(got > 0);
        heard.out_len += (size_t)got;
    }
    close(out[0]);
    assert_int_equal(read_pids(&heard, pids), 5);
    for (int i = 0; i < 5; i++)
        assert_true(process_alive(pids[i]));
    kill(host, SIGKILL);
    assert_int_equal(waitpid(host, &how, 0), host);
    for (int i = 0; i < 5; i++)
        assert_true(process_gone_within(pids[i], 3000));
}

static void test_child_reaped_by_somebody_else_is_closed(void **state)
{
    scene run = {0};

    (void)state;
    signal(SIGCHLD, SIG_IGN); /* the system reaps, and tells nobody */
    run_badchild(&run, "exit-code", "3");
    signal(SIGCHLD, SIG_DFL);
    assert_code(&run, 3);
}

static void test_child_two_hundred_leave_nothing(void **state)
{
    int files = process_count_files(getpid());

    (void)state;
    for (int i = 0; i < 200; i++) {
        scene run = {0};
        run_badchild(&run, "exit-code", "0");
    }
    assert_int_equal(process_count_files(getpid()), files);
    assert_true(process_has_no_children());
}

static void test_child_many_at_once(void **state)
{
    enum { MANY = 20 };
    const char *const argv[] = {BADCHILD, "ignore-term", NULL};
    fl_child_options options = options_for(argv);
    static scene runs[MANY];
    int files = process_count_files(getpid());

    (void)state;
    fl_loop *loop = fl_loop_new();
    for (int i = 0; i < MANY; i++) {
        runs[i] = (scene){.loop = loop, .lines_wanted = 1, .then = stop};
        assert_int_equal(fl_child_spawn(loop, &options, &child_events, &runs[i],
                                        &runs[i].child, &runs[i].stream, NULL),
                         FL_OK);
        assert_int_equal(
            fl_stream_start(runs[i].stream, &stream_events, &runs[i]), FL_OK);
    }
    fl_loop_run(loop);
    for (int i = 0; i < MANY; i++) {
        assert_complete(&runs[i]);
        assert_signal(&runs[i], SIGKILL);
    }
    fl_loop_free(loop);
    assert_int_equal(process_count_files(getpid()), files);
    assert_true(process_has_no_children());
}

static void test_child_without_a_command_is_refused(void **state)
{
    const char *const empty[] = {NULL};
    fl_child_options options = {0};
    fl_child *child;
    fl_stream *stream;
    fl_error error;
    fl_loop *loop = fl_loop_new();

    (void)state;
    assert_int_equal(fl_child_spawn(loop, &options, &child_events, NULL, &child,
                                    &stream, &error),
                     FL_E_INVALID);
    options.argv = empty;
    assert_int_equal(fl_child_spawn(loop, &options, &child_events, NULL, &child,
                                    &stream, &error),
                     FL_E_INVALID);
    assert_null(child);
    assert_null(stream);
    fl_loop_free(loop);
}

/* The limit that leaves just so many descriptors. */
static rlim_t limit_for(int spare)
{
    int fd = 0;

    for (; spare > 0; fd++)
        spare -= fcntl(fd, F_GETFD) < 0;
    return (rlim_t)fd;
}

/*
 * Spawns with `spare` descriptors left, or with plenty if that is 0. If it
 * works it runs to its end. If not, there is no process left at once.
 */
static fl_status try_to_spawn(int spare, fl_error *error)
{
    const char *const argv[] = {BADCHILD, "exit-code", "0", NULL};
    fl_child_options options = options_for(argv);
    scene run = {.files_before = process_count_files(getpid())};
    struct rlimit plenty, tight;

    options.cwd = "/";
    run.loop = fl_loop_new();
    if (run.loop == NULL)
        return FL_E_NOMEM;
    getrlimit(RLIMIT_NOFILE, &plenty);
    tight = plenty;
    tight.rlim_cur = limit_for(spare);
    if (spare > 0)
        setrlimit(RLIMIT_NOFILE, &tight);
    fl_status status = fl_child_spawn(run.loop, &options, &child_events, &run,
                                      &run.child, &run.stream, error);
    setrlimit(RLIMIT_NOFILE, &plenty);
    if (status == FL_OK) {
        assert_int_equal(fl_stream_start(run.stream, &stream_events, &run),
                         FL_OK);
        end(&run);
        assert_code(&run, 0);
        return FL_OK;
    }
    assert_null(run.child);
    assert_null(run.stream);
    assert_true(process_has_no_children());
    fl_loop_run(run.loop); /* a stream that came to nothing closes later */
    fl_loop_free(run.loop);
    assert_int_equal(process_count_files(getpid()), run.files_before);
    return status;
}

/* Ten for the pipes, one for the pidfd, which can be done without, and one
 * that libuv keeps in reserve. */
static void test_child_out_of_descriptors_leaves_nothing(void **state)
{
    (void)state;
    if (process_in_valgrind())
        skip_because("Valgrind sets limits of its own");
    for (int spare = 1; spare < 10; spare++) {
        fl_error error = {0};
        assert_int_equal(try_to_spawn(spare, &error), FL_E_LIMIT);
        assert_int_equal(error.status, FL_E_LIMIT);
        assert_string_equal(error.text,
                            "cannot start '" BADCHILD "': too many open files");
    }
    for (int spare = 10; spare < 14; spare++)
        assert_int_equal(try_to_spawn(spare, NULL), FL_OK);
}

static void test_child_fork_refused_leaves_nothing(void **state)
{
    fl_error error = {0};

    (void)state;
    fork_refused = true;
    assert_int_equal(try_to_spawn(0, &error), FL_E_LIMIT);
    fork_refused = false;
    assert_string_equal(error.text, "cannot start '" BADCHILD
                                    "': resource temporarily unavailable");
}

static void spawn_rationed(void *user)
{
    fl_error error = {0};
    fl_status status = try_to_spawn(0, &error);

    (void)user;
    assert_int_equal(status, ration_refused() ? FL_E_NOMEM : FL_OK);
}

static void test_child_without_memory_leaves_nothing(void **state)
{
    (void)state;
#ifdef FL_COVERAGE
    skip_because("the coverage runtime does not bear a refusal");
#endif
    assert_true(ration_each(spawn_rationed, NULL) > 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_child_answers_on_its_stream),
        cmocka_unit_test(test_child_knows_its_pid),
        cmocka_unit_test(test_child_exit_code_is_told),
        cmocka_unit_test(test_child_signal_is_told_and_output_kept),
        cmocka_unit_test(test_child_found_in_its_own_path),
        cmocka_unit_test(test_child_not_found_is_said),
        cmocka_unit_test(test_child_not_executable_is_said),
        cmocka_unit_test(test_child_never_meets_a_shell),
        cmocka_unit_test(test_child_runs_in_its_directory),
        cmocka_unit_test(test_child_bad_directory_is_said),
        cmocka_unit_test(test_child_environment_is_exact),
        cmocka_unit_test(test_child_limits_are_in_force),
        cmocka_unit_test(test_child_limit_beyond_the_system_is_said),
        cmocka_unit_test(test_child_drops_its_rights),
        cmocka_unit_test(test_child_without_rights_can_be_killed),
        cmocka_unit_test(test_child_inherits_nothing),
        cmocka_unit_test(test_child_starts_without_our_stdio),
        cmocka_unit_test(test_child_stop_ends_its_input_first),
        cmocka_unit_test(test_child_stop_terms_after_the_grace),
        cmocka_unit_test(test_child_stop_kills_what_ignores_term),
        cmocka_unit_test(test_child_stop_right_away_and_twice),
        cmocka_unit_test(test_child_stop_from_its_stderr),
        cmocka_unit_test(test_child_takes_its_descendants_along),
        cmocka_unit_test(test_child_without_stdout_lives_on),
        cmocka_unit_test(test_child_stderr_is_drained),
        cmocka_unit_test(test_child_garbage_is_passed_on),
        cmocka_unit_test(test_child_survives_no_death_of_its_keeper),
        cmocka_unit_test(test_child_ends_though_its_keeper_hangs),
        cmocka_unit_test(test_child_dies_when_we_are_killed),
        cmocka_unit_test(test_child_reaped_by_somebody_else_is_closed),
        cmocka_unit_test(test_child_two_hundred_leave_nothing),
        cmocka_unit_test(test_child_many_at_once),
        cmocka_unit_test(test_child_without_a_command_is_refused),
        cmocka_unit_test(test_child_out_of_descriptors_leaves_nothing),
        cmocka_unit_test(test_child_fork_refused_leaves_nothing),
        cmocka_unit_test(test_child_without_memory_leaves_nothing),
    };

    alarm((unsigned)stretched(120)); /* a hang is a failure too */
    fl_loop_free(fl_loop_new());     /* what libuv opens once and for all */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
