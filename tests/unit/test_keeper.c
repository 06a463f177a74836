/*
 * test_keeper.c - the keeper alone, with real processes under it.
 *
 * The test plays the part of the library: it forks the keeper, speaks on the
 * lifeline and reads the records.
 */
#include "io/keeper.h"
#include "support/process.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATIENCE_MS = 5000 };

typedef struct household {
    pid_t keeper;
    int in; /* the child's stdin */
    FILE *out;
    int lifeline;
    int status;
} household;

static void start_with(household *kept, const char *manner,
                       const char *kin_file)
{
    static char program[] = BADCHILD;
    char argument[32];
    char *argv[] = {program, argument, NULL};
    char *files[] = {program, NULL};
    char *envp[] = {NULL};
    int in[2], out[2], status[2], lifeline[2];
    sigset_t all, before;

    snprintf(argument, sizeof argument, "%s", manner);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(pipe2(status, O_CLOEXEC), 0);
    assert_int_equal(
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lifeline), 0);
    fl_keeper_plan plan = {.argv = argv,
                           .envp = envp,
                           .files = files,
                           .stdio = {in[0], out[1], out[1]},
                           .lifeline = lifeline[0],
                           .host_lifeline = lifeline[1],
                           .status = status[1],
                           .kin_file = kin_file};
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    kept->keeper = _Fork();
    if (kept->keeper == 0)
        fl_keeper_run(&plan);
    sigprocmask(SIG_SETMASK, &before, NULL);
    assert_true(kept->keeper > 0);
    close(in[0]);
    close(out[1]);
    close(status[1]);
    close(lifeline[0]);
    kept->in = in[1];
    kept->out = fdopen(out[0], "r");
    assert_non_null(kept->out);
    kept->status = status[0];
    kept->lifeline = lifeline[1];
}

static void say(const household *kept, char word)
{
    assert_int_equal(send(kept->lifeline, &word, 1, MSG_NOSIGNAL), 1);
}

static fl_keeper_record hear(const household *kept)
{
    fl_keeper_record record = {0};

    assert_int_equal(read(kept->status, &record, sizeof record), sizeof record);
    return record;
}

/* Starts it, lets it go, and returns the child's pid. */
static pid_t start(household *kept, const char *manner)
{
    start_with(kept, manner, FL_KEEPER_KIN_FILE);
    say(kept, FL_KEEPER_GO);
    fl_keeper_record record = hear(kept);
    assert_int_equal(record.news, FL_KEEPER_STARTED);
    return record.value;
}

static pid_t next_pid(household *kept)
{
    char line[32];

    assert_non_null(fgets(line, sizeof line, kept->out));
    assert_memory_equal(line, "pid ", 4);
    return (pid_t)strtol(line + 4, NULL, 10);
}

static void expect_end(const household *kept, int how)
{
    fl_keeper_record record = hear(kept);

    assert_int_equal(record.news, FL_KEEPER_ENDED);
    assert_int_equal(record.value, how);
}

static void expect_left(const household *kept, int count)
{
    fl_keeper_record record = hear(kept);

    assert_int_equal(record.news, FL_KEEPER_LEFT);
    assert_int_equal(record.value, count);
}

static void finish(household *kept)
{
    int how = -1;

    if (kept->lifeline >= 0)
        close(kept->lifeline);
    if (kept->in >= 0)
        close(kept->in);
    assert_int_equal(waitpid(kept->keeper, &how, 0), kept->keeper);
    assert_int_equal(how, 0);
    close(kept->status);
    fclose(kept->out);
    assert_true(process_has_no_children());
}

static void test_keeper_starts_nothing_before_the_word(void **state)
{
    household kept;
    fl_keeper_record record;

    (void)state;
    start_with(&kept, "exit-code", FL_KEEPER_KIN_FILE);
    close(kept.lifeline);
    kept.lifeline = -1;
    assert_int_equal(read(kept.status, &record, sizeof record), 0);
    finish(&kept);
}

static void test_keeper_reports_start_and_end(void **state)
{
    household kept;

    (void)state;
    pid_t pid = start(&kept, "exit-code"); /* without a number: 0 */
    assert_true(pid > 0);
    expect_end(&kept, 0);
    finish(&kept);
}

static void test_keeper_reports_the_signal(void **state)
{
    household kept;

    (void)state;
    start(&kept, "die-mid-message");
    expect_end(&kept, SIGKILL);
    finish(&kept);
}

static void test_keeper_passes_term_on(void **state)
{
    household kept;

    (void)state;
    start(&kept, "never-read");
    next_pid(&kept);
    say(&kept, FL_KEEPER_TERM);
    expect_end(&kept, SIGTERM);
    finish(&kept);
}

static void test_keeper_wakes_the_stopped_to_be_termed(void **state)
{
    household kept;

    (void)state;
    pid_t pid = start(&kept, "stop-itself");
    while (process_state(pid) != 'T')
        usleep(1000);
    say(&kept, FL_KEEPER_TERM);
    expect_end(&kept, SIGTERM);
    finish(&kept);
}

static void test_keeper_kills_what_ignores_term(void **state)
{
    household kept;

    (void)state;
    pid_t pid = start(&kept, "ignore-term");
    next_pid(&kept);
    say(&kept, FL_KEEPER_TERM);
    usleep(20 * 1000); /* a TERM that did work would show by now */
    assert_true(process_alive(pid));
    say(&kept, FL_KEEPER_KILL);
    expect_end(&kept, SIGKILL);
    finish(&kept);
}

/* All its pids are gone when the end is reported, not some time later. */
static void outlived(const char *manner, int count)
{
    household kept;
    pid_t pids[8];

    start(&kept, manner);
    for (int i = 0; i < count; i++)
        pids[i] = next_pid(&kept);
    close(kept.in); /* the child exits; the others would stay */
    kept.in = -1;
    expect_left(&kept, 1); /* the first of them; others have parents */
    expect_end(&kept, 0);
    for (int i = 0; i < count; i++)
        assert_int_equal(kill(pids[i], 0), -1);
    finish(&kept);
}

static void test_keeper_ends_what_outlives_the_child(void **state)
{
    (void)state;
    outlived("fork-grandchild", 2);
    outlived("setsid-grandchild", 2);
    outlived("daemon-grandchild", 2);
    outlived("family", 5);
}

static void test_keeper_kills_a_whole_family(void **state)
{
    household kept;
    pid_t pids[5];

    (void)state;
    start(&kept, "family");
    for (int i = 0; i < 5; i++)
        pids[i] = next_pid(&kept);
    say(&kept, FL_KEEPER_KILL);
    expect_end(&kept, SIGKILL);
    for (int i = 0; i < 5; i++)
        assert_int_equal(kill(pids[i], 0), -1);
    finish(&kept);
}

static void test_keeper_ends_all_when_the_lifeline_breaks(void **state)
{
    household kept;
    pid_t pids[5];

    (void)state;
    start(&kept, "family");
    for (int i = 0; i < 5; i++)
        pids[i] = next_pid(&kept);
    close(kept.lifeline);
    kept.lifeline = -1;
    expect_end(&kept, SIGTERM);
    for (int i = 0; i < 5; i++)
        assert_int_equal(kill(pids[i], 0), -1);
    finish(&kept);
}

static void
test_keeper_kills_the_stubborn_when_the_lifeline_breaks(void **state)
{
    household kept;

    (void)state;
    start(&kept, "ignore-term");
    next_pid(&kept);
    close(kept.lifeline);
    kept.lifeline = -1;
    expect_end(&kept, SIGKILL);
    finish(&kept);
}

static void test_keeper_reaps_orphans_while_the_child_lives(void **state)
{
    household kept;

    (void)state;
    pid_t child = start(&kept, "daemon-grandchild");
    pid_t first = next_pid(&kept), second = next_pid(&kept);
    pid_t daemon = first == child ? second : first;
    kill(daemon, SIGKILL);
    for (int waited = 0; kill(daemon, 0) == 0; waited++) {
        assert_true(waited < stretched(PATIENCE_MS));
        usleep(1000);
    }
    assert_true(process_alive(child));
    say(&kept, FL_KEEPER_KILL);
    expect_end(&kept, SIGKILL);
    finish(&kept);
}

static void test_keeper_is_deaf_to_signals(void **state)
{
    static const int signals[] = {SIGTERM, SIGINT,  SIGHUP,
                                  SIGQUIT, SIGPIPE, SIGUSR1};
    household kept;

    (void)state;
    pid_t child = start(&kept, "never-read");
    next_pid(&kept);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        kill(kept.keeper, signals[i]);
    usleep(20 * 1000); /* one that did work would show by now */
    assert_true(process_alive(kept.keeper));
    assert_true(process_alive(child));
    say(&kept, FL_KEEPER_TERM);
    expect_end(&kept, SIGTERM);
    finish(&kept);
}

static void test_keeper_dead_takes_the_child_along(void **state)
{
    household kept;
    int how;

    (void)state;
    pid_t child = start(&kept, "ignore-term");
    next_pid(&kept);
    kill(kept.keeper, SIGKILL);
    assert_true(process_gone_within(child, PATIENCE_MS));
    assert_int_equal(waitpid(kept.keeper, &how, 0), kept.keeper);
    close(kept.lifeline);
    close(kept.in);
    close(kept.status);
    fclose(kept.out);
}

static void test_keeper_holds_nothing_of_its_host(void **state)
{
    household kept;
    int inherited[40];

    (void)state;
    if (process_in_valgrind()) /* which has descriptors of its own */
        skip_because("Valgrind has descriptors of its own");
    for (size_t i = 0; i < 40; i++)
        inherited[i] = open("/dev/null", O_RDONLY); /* not close-on-exec */
    start(&kept, "never-read");
    next_pid(&kept);
    /* stdio, lifeline, status, its signals; a moment for it to let go */
    for (int waited = 0; process_count_files(kept.keeper) > 6; waited++) {
        assert_true(waited < stretched(PATIENCE_MS));
        usleep(1000);
    }
    say(&kept, FL_KEEPER_KILL);
    expect_end(&kept, SIGKILL);
    finish(&kept);
    for (size_t i = 0; i < 40; i++)
        close(inherited[i]);
}

/* Where /proc is missing the group can still be ended, and whoever left it is
 * neither found nor waited for. */
static void test_keeper_without_a_list_ends_the_group(void **state)
{
    static const char *const manners[] = {"fork-grandchild",
                                          "setsid-grandchild"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        household kept;
        start_with(&kept, manners[i], "/nowhere/children");
        say(&kept, FL_KEEPER_GO);
        pid_t child = hear(&kept).value;
        pid_t first = next_pid(&kept), second = next_pid(&kept);
        pid_t grandchild = first == child ? second : first;
        close(kept.in);
        kept.in = -1;
        expect_end(&kept, 0);
        finish(&kept);
        assert_int_equal(process_alive(grandchild), i == 1);
        kill(grandchild, SIGKILL);
        assert_true(process_gone_within(grandchild, PATIENCE_MS));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keeper_starts_nothing_before_the_word),
        cmocka_unit_test(test_keeper_reports_start_and_end),
        cmocka_unit_test(test_keeper_reports_the_signal),
        cmocka_unit_test(test_keeper_passes_term_on),
        cmocka_unit_test(test_keeper_wakes_the_stopped_to_be_termed),
        cmocka_unit_test(test_keeper_kills_what_ignores_term),
        cmocka_unit_test(test_keeper_ends_what_outlives_the_child),
        cmocka_unit_test(test_keeper_kills_a_whole_family),
        cmocka_unit_test(test_keeper_ends_all_when_the_lifeline_breaks),
        cmocka_unit_test(
            test_keeper_kills_the_stubborn_when_the_lifeline_breaks),
        cmocka_unit_test(test_keeper_reaps_orphans_while_the_child_lives),
        cmocka_unit_test(test_keeper_is_deaf_to_signals),
        cmocka_unit_test(test_keeper_dead_takes_the_child_along),
        cmocka_unit_test(test_keeper_holds_nothing_of_its_host),
        cmocka_unit_test(test_keeper_without_a_list_ends_the_group),
    };

    alarm((unsigned)stretched(60)); /* a hang is a failure too */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
