/*
 * test_stdio.c - links to child processes, and this process's own stdin and
 * stdout.
 *
 * Children are badchild, for manners, and this same program, started with
 * --child, for what an honest server does.
 */
#include "base/span.h"
#include "raw_peer.h"
#include "support/process.h"
#include "support/ration.h"
#include "transport/link.h"

#include <fairlead/fairlead.h>

#include <signal.h>
#include <sys/wait.h>

typedef struct nest {
    fl_loop *loop;
    fl_link *link;
    int opened, closed, messages, writable;
    fl_error why;
    uint32_t errors;
    size_t length; /* of the last message */
    char last[512], all[4096];
} nest;

static nest at;
static char self[4096];

static void on_open(fl_link *link)
{
    assert_int_equal(link->state, FL_LINK_ACTIVE);
    assert_int_equal(at.messages, 0); /* none comes before it */
    at.opened++;
}

static void on_message(fl_link *link, const fl_msg *msg, fl_reply reply)
{
    size_t used = strlen(at.all);

    (void)link;
    (void)reply;
    at.messages++;
    at.length = msg->text.len;
    snprintf(at.last, sizeof at.last, "%.*s",
             (int)(msg->text.len < 500 ? msg->text.len : 500), msg->text.ptr);
    snprintf(at.all + used, sizeof at.all - used, "%s\n", at.last);
}

static void on_writable(fl_link *link)
{
    (void)link;
    at.writable++;
}

static void on_closed(fl_link *link, const fl_error *why)
{
    at.closed++;
    at.why = *why;
    at.errors = link->stats.errors;
}

static const fl_link_events events = {
    .on_open = on_open,
    .on_message = on_message,
    .on_writable = on_writable,
    .on_closed = on_closed,
};

static fl_status try_run(const fl_options *options, fl_error *error)
{
    at = (nest){.loop = io_loop()};
    fl_status rc =
        fl_link_connect(at.loop, NULL, options, &events, NULL, &at.link, error);
    if (rc != FL_OK)
        assert_null(at.link);
    return rc;
}

static void run(const fl_options *options)
{
    fl_error error;

    if (try_run(options, &error) != FL_OK)
        fail_msg("%s", error.text);
}

static void run_child(const char *manner, const char *argument)
{
    const char *argv[] = {BADCHILD, manner, argument, NULL};

    run(&(fl_options){.child.argv = argv});
}

static void run_self(const char *mode, const fl_options *base)
{
    const char *argv[] = {self, "--child", mode, NULL};
    fl_options options = base != NULL ? *base : (fl_options){0};

    options.child.argv = argv;
    run(&options);
}

static fl_status say(const char *text)
{
    fl_span span = fl_span_of(text);

    return fl_link_send(at.link, &span, 1);
}

static void wait_closed(void)
{
    io_until(at.loop, at.closed == 1);
}

static void end(void)
{
    if (at.closed == 0)
        fl_link_close(at.link);
    wait_closed();
    io_some_turns(at.loop);
    assert_int_equal(at.closed, 1);
    fl_loop_free(at.loop);
    assert_true(process_has_no_children());
}

static void check_why(fl_status status, const char *part)
{
    wait_closed();
    if (at.why.status != status || strstr(at.why.text, part) == NULL)
        fail_msg("closed with %s '%s', not '%s'", fl_status_name(at.why.status),
                 at.why.text, part);
}

#define NOTE "{\"jsonrpc\":\"2.0\",\"method\":\"note\"}"

static void test_stdio_speaks_with_a_child(void **state)
{
    (void)state;
    run_child("echo", NULL);
    assert_int_equal(at.opened, 0);
    io_until(at.loop, at.opened == 1);
    assert_int_equal(say(NOTE), FL_OK);
    io_until(at.loop, at.messages == 1);
    assert_string_equal(at.last, NOTE);
    fl_link_close(at.link);
    check_why(FL_OK, "");
    end();
}

static void test_stdio_first_message_comes_after_on_open(void **state)
{
    (void)state;
    run_self("cwd", NULL);
    usleep(200000); /* so that it has spoken before we first look */
    io_until(at.loop, at.messages == 1); /* on_open looks at the order */
    assert_int_equal(at.opened, 1);
    end();
}

static pid_t pid_of_child(void)
{
    fl_buf answer;
    char digits[16] = "";

    fl_buf_init(&answer, 64);
    if (fl_link_operate(at.link, "pid", &answer) == FL_OK)
        snprintf(digits, sizeof digits, "%.*s", (int)fl_buf_len(&answer),
                 fl_buf_view(&answer).ptr);
    fl_buf_reset(&answer);
    return (pid_t)strtol(digits, NULL, 10);
}

static void test_stdio_tells_the_pid_of_its_child(void **state)
{
    fl_buf answer;

    (void)state;
    run_child("echo", NULL);
    io_until(at.loop, pid_of_child() > 0);
    pid_t pid = pid_of_child();
    assert_true(process_alive(pid));
    fl_buf_init(&answer, 64);
    assert_int_equal(fl_link_operate(at.link, "peer-subject", &answer),
                     FL_E_UNSUPPORTED);
    fl_buf_reset(&answer);
    fl_link_close(at.link);
    wait_closed();
    assert_false(process_alive(pid)); /* when we are told, it is so */
    end();
}

static void check_denied(const char *command, const char *const *allow)
{
    const char *argv[] = {command, "echo", NULL};
    fl_error error;

    assert_int_equal(
        try_run(&(fl_options){.child = {.argv = argv, .allow = allow}}, &error),
        FL_E_DENIED);
    assert_non_null(strstr(error.text, command));
    assert_non_null(strstr(error.text, "child.allow"));
    fl_loop_free(at.loop);
}

static void test_stdio_runs_only_what_is_allowed(void **state)
{
    const char *const some[] = {"cat", "/usr/bin/true", NULL};
    const char *const none[] = {NULL};
    const char *const this[] = {"cat", BADCHILD, NULL};
    const char *argv[] = {BADCHILD, "echo", NULL};

    (void)state;
    check_denied(BADCHILD, some);
    check_denied(BADCHILD, none);
    check_denied("/bin/cat", some); /* the name is allowed, not any path */
    check_denied("true", some);
    run(&(fl_options){.child = {.argv = argv, .allow = this}});
    io_until(at.loop, at.opened == 1);
    end();
}

static void test_stdio_child_gets_no_secrets(void **state)
{
    static const char *const extra[] = {"FLT_MORE=4", "FLT_PLAIN=5", NULL};
    static const char *const inherit[] = {"FLT_SOME_KEY", NULL};

    (void)state;
    setenv("FLT_PLAIN", "1", 1);
    setenv("FLT_API_TOKEN", "2", 1);
    setenv("FLT_SOME_KEY", "3", 1);
    setenv("FLT_OTHER_KEY", "3", 1);
    run_self("env",
             &(fl_options){.child = {.env = extra, .env_inherit = inherit}});
    wait_closed();
    assert_non_null(strstr(at.all, "[\"FLT_MORE=4\"]"));
    assert_non_null(strstr(at.all, "[\"FLT_PLAIN=5\"]"));
    assert_null(strstr(at.all, "FLT_PLAIN=1"));
    assert_non_null(strstr(at.all, "[\"FLT_SOME_KEY=3\"]"));
    assert_null(strstr(at.all, "FLT_API_TOKEN"));
    assert_null(strstr(at.all, "FLT_OTHER_KEY"));
    end();
}

static void test_stdio_child_runs_where_it_is_told_to(void **state)
{
    (void)state;
    run_self("cwd", &(fl_options){.child.cwd = "/usr"});
    wait_closed();
    assert_non_null(strstr(at.all, "[\"/usr\"]"));
    end();

    run_self("cwd", &(fl_options){.child.cwd = "/nowhere/at/all"});
    check_why(FL_E_NOT_FOUND, "/nowhere/at/all");
    assert_int_equal(at.messages, 0);
    end();
}

static void test_stdio_says_that_a_command_is_not_there(void **state)
{
    static const char *const argv[] = {"no-such-command-anywhere", NULL};
    fl_error error;

    (void)state;
    fl_status rc = try_run(&(fl_options){.child.argv = argv}, &error);
    if (rc == FL_OK) {
        check_why(FL_E_NOT_FOUND, "no-such-command-anywhere");
        end();
        return;
    }
    assert_int_equal(rc, FL_E_NOT_FOUND);
    assert_non_null(strstr(error.text, "no-such-command-anywhere"));
    fl_loop_free(at.loop);
}

static void test_stdio_says_how_its_child_ended(void **state)
{
    (void)state;
    run_child("exit-code", "0");
    check_why(FL_END, "exited");
    end();
    run_child("exit-code", "3");
    check_why(FL_E_CHILD, "exited with code 3");
    end();
    run_child("no-such-manner", NULL);
    check_why(FL_E_CHILD, "exited with code 2; it last said: usage: badchild");
    end();
    run_child("die-mid-message", NULL);
    check_why(FL_E_CHILD, "was ended by signal 9");
    assert_int_equal(at.messages, 0); /* half a message is none */
    end();
}

static void test_stdio_child_killed_by_others_is_noticed(void **state)
{
    (void)state;
    run_child("echo", NULL);
    io_until(at.loop, pid_of_child() > 0);
    kill(pid_of_child(), SIGSEGV);
    check_why(FL_E_CHILD, "was ended by signal 11");
    end();
}

static void test_stdio_child_that_closes_its_stdout_is_ended(void **state)
{
    const char *argv[] = {BADCHILD, "close-stdout", NULL};

    (void)state;
    run(&(fl_options){
        .child = {.argv = argv, .stop_grace_ms = 50, .kill_grace_ms = 50}});
    wait_closed();
    assert_int_not_equal(at.why.status, FL_OK);
    end();
}

static void test_stdio_child_that_will_not_go_is_killed(void **state)
{
    const char *argv[] = {BADCHILD, "ignore-term", NULL};

    (void)state;
    run(&(fl_options){
        .child = {.argv = argv, .stop_grace_ms = 20, .kill_grace_ms = 20}});
    io_until(at.loop, at.link->stats.errors == 1); /* its pid, as a line */
    fl_link_close(at.link);
    check_why(FL_OK, "");
    end();
}

static void test_stdio_skips_and_counts_garbage(void **state)
{
    (void)state;
    run_child("garbage", NULL);
    io_until(at.loop, at.link->stats.bytes_in > 5000);
    fl_link_close(at.link);
    check_why(FL_OK, "");
    assert_int_equal(at.messages, 0);
    assert_true(at.errors >= 3);
    end();
}

static void test_stdio_is_not_stopped_by_a_flood_of_stderr(void **state)
{
    (void)state;
    ration_reset();
    size_t before = (size_t)ration_live_bytes();
    run_child("flood-stderr", "4000000"); /* one line of 4 MB */
    wait_closed();
    assert_int_equal(at.errors, 1); /* "flooded" came through */
    assert_true(ration_peak_bytes() - before < 512 * 1024);
    check_why(FL_END, "exited");
    end();
}

static void test_stdio_carries_what_is_larger_than_a_pipe(void **state)
{
    static char big[3 * 1024 * 1024];
    size_t len = (size_t)snprintf(big, sizeof big,
                                  "{\"jsonrpc\":\"2.0\",\"method\":\"%0*d\"}",
                                  2 * 1024 * 1024, 0);

    (void)state;
    run_child("echo", NULL);
    io_until(at.loop, at.opened == 1);
    assert_int_equal(say(big), FL_OK);
    assert_int_equal(say(NOTE), FL_BUSY);
    io_until(at.loop, at.messages == 1);
    assert_int_equal(at.length, len);
    io_until(at.loop, at.writable > 0);
    assert_int_equal(say(NOTE), FL_OK);
    io_until(at.loop, at.messages == 2);
    assert_string_equal(at.last, NOTE);
    end();
}

static void test_stdio_close_delivers_what_was_accepted(void **state)
{
    (void)state;
    run_self("count", NULL);
    io_until(at.loop, at.opened == 1);
    for (int i = 0; i < 100; i++)
        assert_int_equal(say(NOTE), FL_OK);
    fl_link_close(at.link);
    check_why(FL_OK, "");
    end();
    char seen[64] = "";
    FILE *in = fopen(getenv("FLT_COUNT"), "r");
    assert_non_null(in);
    assert_non_null(fgets(seen, sizeof seen, in));
    fclose(in);
    unlink(getenv("FLT_COUNT"));
    assert_string_equal(seen, "100");
}

/* A server of ours on stdio, with all three of its descriptors ours. */
typedef struct served {
    pid_t pid;
    int in, out, err;
} served;

static served serve(const char *mode)
{
    int in[2], out[2], err[2];

    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(pipe2(err, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        dup2(err[1], STDERR_FILENO);
        execl(self, self, "--child", mode, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    return (served){pid, in[1], out[0], err[0]};
}

static void put(const served *child, const char *line)
{
    assert_int_equal(write(child->in, line, strlen(line)), strlen(line));
}

/* All there is to its end. */
static void drain(int fd, char *text, size_t size)
{
    size_t len = 0;
    ssize_t n;

    while (len < size - 1 && (n = read(fd, text + len, size - 1 - len)) > 0)
        len += (size_t)n;
    text[len] = '\0';
    close(fd);
}

static int finish(const served *child, char *out, char *err, size_t size)
{
    int status;

    close(child->in);
    drain(child->out, out, size);
    drain(child->err, err, size);
    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

#define INITIALIZE                                                             \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"     \
    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{"  \
    "\"name\":\"t\",\"version\":\"0\"}}}\n"

#define CALL(id, tool)                                                         \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool "\"}}\n"

static char out[8192], err[8192];

static void test_stdio_server_keeps_stray_prints_out_of_the_way(void **state)
{
    served child = serve("serve");

    (void)state;
    put(&child, INITIALIZE CALL("1", "print"));
    assert_int_equal(finish(&child, out, err, sizeof out), 0);
    assert_non_null(strstr(out, "\"id\":0,\"result\""));
    assert_non_null(strstr(out, "\"text\":\"printed\""));
    assert_null(strstr(out, "stray"));
    assert_non_null(strstr(err, "stray words"));
}

static void test_stdio_server_drains_after_the_end_of_file(void **state)
{
    served child = serve("serve");

    (void)state;
    put(&child, INITIALIZE CALL("1", "later"));
    assert_int_equal(finish(&child, out, err, sizeof out), 0);
    assert_non_null(strstr(out, "\"id\":1,\"result\""));
    assert_non_null(strstr(out, "\"text\":\"later\""));
}

static void test_stdio_server_answers_a_last_line_without_end(void **state)
{
    served child = serve("serve");

    (void)state;
    put(&child, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    assert_int_equal(finish(&child, out, err, sizeof out), 0);
    assert_string_equal(out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
}

static void test_stdio_server_is_one_in_a_process(void **state)
{
    served child = serve("twice");

    (void)state;
    assert_int_equal(finish(&child, out, err, sizeof out), 1);
    assert_non_null(strstr(err, "already taken"));
}

static void test_stdio_server_ends_on_a_signal(void **state)
{
    served child = serve("serve");
    char byte;

    (void)state;
    put(&child, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    assert_int_equal(read(child.out, &byte, 1), 1); /* it is up */
    kill(child.pid, SIGTERM);
    int status;
    assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(child.in);
    close(child.out);
    close(child.err);
}

/* Start, one echo and stop, with memory that runs out. */
static void visit(void *user)
{
    const char *argv[] = {BADCHILD, "echo", NULL};
    const fl_options options = {.child.argv = argv};
    fl_error error;

    (void)user;
    at = (nest){.loop = fl_loop_new()};
    if (at.loop == NULL)
        return;
    if (fl_link_connect(at.loop, NULL, &options, &events, NULL, &at.link,
                        &error) == FL_OK) {
        fl_link_ref(at.link);
        for (int i = 0; i < 100 && at.opened == 0 && at.closed == 0; i++)
            io_turn(at.loop);
        if (at.closed == 0 && say(NOTE) == FL_OK)
            for (int i = 0; i < 100 && at.messages == 0 && at.closed == 0; i++)
                io_turn(at.loop);
        if (at.closed == 0)
            fl_link_close(at.link);
        wait_closed();
        fl_link_unref(at.link);
    } else {
        assert_int_equal(error.status, FL_E_NOMEM);
    }
    io_some_turns(at.loop);
    fl_loop_free(at.loop);
    assert_true(process_has_no_children());
}

static void test_stdio_survives_every_failed_allocation(void **state)
{
    (void)state;
    assert_true(ration_each(visit, NULL) > 5);
}

/* --child: what the children made of this program do. */

extern char **environ;

static int print_environment(void)
{
    for (char **one = environ; *one != NULL; one++)
        if (strncmp(*one, "FLT_", 4) == 0)
            printf("{\"jsonrpc\":\"2.0\",\"method\":\"env\",\"params\":[\"%s\"]"
                   "}\n",
                   *one);
    return 0;
}

static int print_directory(void)
{
    char path[4096];

    printf("{\"jsonrpc\":\"2.0\",\"method\":\"cwd\",\"params\":[\"%s\"]}\n",
           getcwd(path, sizeof path));
    return 0;
}

static int count_lines(void)
{
    static char line[1024];
    FILE *result = fopen(getenv("FLT_COUNT"), "w");
    int lines = 0;

    while (fgets(line, sizeof line, stdin) != NULL)
        lines++;
    fprintf(result, "%d", lines);
    fclose(result);
    return 0;
}

static void tool_print(fl_call *call, void *user)
{
    (void)user;
    printf("stray words\n");
    fflush(stdout);
    fl_call_replyf(call, "printed");
}

static void reply_later(void *user)
{
    fl_call_replyf(user, "later");
}

static void tool_later(fl_call *call, void *user)
{
    fl_call *kept = fl_call_defer(call);

    (void)user;
    if (kept != NULL &&
        fl_loop_after(fl_call_loop(kept), 200, reply_later, kept) != FL_OK)
        fl_call_fail(kept, "no memory");
}

static int serve_tools(const char *second)
{
    const char *urls[] = {"stdio:", second, NULL};
    fl_server *server = fl_server_new("served", "1");
    const fl_tool print = {.name = "print", .call = tool_print};
    const fl_tool later = {.name = "later", .call = tool_later};

    if (fl_server_add_tool(server, &print) != FL_OK ||
        fl_server_add_tool(server, &later) != FL_OK)
        return 3;
    return fl_server_run(server, urls);
}

static int be_child(const char *mode)
{
    if (strcmp(mode, "env") == 0)
        return print_environment();
    if (strcmp(mode, "cwd") == 0)
        return print_directory();
    if (strcmp(mode, "count") == 0)
        return count_lines();
    return serve_tools(strcmp(mode, "twice") == 0 ? "stdio:" : NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stdio_speaks_with_a_child),
        cmocka_unit_test(test_stdio_first_message_comes_after_on_open),
        cmocka_unit_test(test_stdio_tells_the_pid_of_its_child),
        cmocka_unit_test(test_stdio_runs_only_what_is_allowed),
        cmocka_unit_test(test_stdio_child_gets_no_secrets),
        cmocka_unit_test(test_stdio_child_runs_where_it_is_told_to),
        cmocka_unit_test(test_stdio_says_that_a_command_is_not_there),
        cmocka_unit_test(test_stdio_says_how_its_child_ended),
        cmocka_unit_test(test_stdio_child_killed_by_others_is_noticed),
        cmocka_unit_test(test_stdio_child_that_closes_its_stdout_is_ended),
        cmocka_unit_test(test_stdio_child_that_will_not_go_is_killed),
        cmocka_unit_test(test_stdio_skips_and_counts_garbage),
        cmocka_unit_test(test_stdio_is_not_stopped_by_a_flood_of_stderr),
        cmocka_unit_test(test_stdio_carries_what_is_larger_than_a_pipe),
        cmocka_unit_test(test_stdio_close_delivers_what_was_accepted),
        cmocka_unit_test(test_stdio_server_keeps_stray_prints_out_of_the_way),
        cmocka_unit_test(test_stdio_server_drains_after_the_end_of_file),
        cmocka_unit_test(test_stdio_server_answers_a_last_line_without_end),
        cmocka_unit_test(test_stdio_server_is_one_in_a_process),
        cmocka_unit_test(test_stdio_server_ends_on_a_signal),
        cmocka_unit_test(test_stdio_survives_every_failed_allocation),
    };
    char count[64];

    if (argc > 2 && strcmp(argv[1], "--child") == 0)
        return be_child(argv[2]);
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return 1;
    snprintf(count, sizeof count, "/tmp/fl-count-%d", (int)getpid());
    setenv("FLT_COUNT", count, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
