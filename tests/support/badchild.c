/*
 * badchild.c - a child process with every bad manner a child can have.
 *
 * The first argument names the manner. What it prints goes to stdout, one
 * line each, so that a test can wait for it; pids are printed as "pid N".
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

extern char **environ;

static void say(const char *text)
{
    size_t len = strlen(text);

    while (len > 0) {
        ssize_t n = write(STDOUT_FILENO, text, len);
        if (n < 0)
            exit(3);
        text += n;
        len -= (size_t)n;
    }
}

static void say_pid(void)
{
    char line[32];

    snprintf(line, sizeof line, "pid %d\n", (int)getpid());
    say(line);
}

static void sleep_for_ever(void)
{
    for (;;)
        pause();
}

static void swallow_stdin(void)
{
    char bytes[4096];

    while (read(STDIN_FILENO, bytes, sizeof bytes) > 0)
        continue;
}

static int echo(void)
{
    char bytes[65536];
    ssize_t n;

    while ((n = read(STDIN_FILENO, bytes, sizeof bytes)) > 0)
        for (ssize_t at = 0, put; at < n; at += put)
            if ((put = write(STDOUT_FILENO, bytes + at, (size_t)(n - at))) < 0)
                return 3;
    return 0;
}

/* No message, no UTF-8, no line end for a while, a NUL, and then an end. */
static int garbage(void)
{
    char noise[5000];

    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)(i * 167 + 131);
    say("{\"jsonrpc\":\n\n[[[[\n\xff\xfe\n");
    for (size_t at = 0; at < sizeof noise;) {
        ssize_t n = write(STDOUT_FILENO, noise + at, sizeof noise - at);
        if (n < 0)
            return 3;
        at += (size_t)n;
    }
    swallow_stdin();
    return 0;
}

static int close_stdout(void)
{
    say_pid();
    close(STDOUT_FILENO);
    swallow_stdin();
    sleep_for_ever();
    return 0;
}

static int ignore_term(void)
{
    signal(SIGTERM, SIG_IGN);
    say_pid();
    sleep_for_ever();
    return 0;
}

/* Lets go of the pipes, so that only killing ends it. */
static void linger(void)
{
    signal(SIGTERM, SIG_IGN);
    say_pid();
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    sleep_for_ever();
}

static int with_grandchild(void)
{
    if (fork() == 0)
        linger();
    say_pid();
    swallow_stdin();
    return 0;
}

static int with_session_grandchild(void)
{
    if (fork() == 0) {
        setsid();
        linger();
    }
    say_pid();
    swallow_stdin();
    return 0;
}

/* The daemon's way: the one in the middle goes at once. */
static int with_daemon(void)
{
    pid_t middle = fork();

    if (middle == 0) {
        setsid();
        if (fork() == 0)
            linger();
        _exit(0);
    }
    say_pid();
    swallow_stdin();
    return 0;
}

/* Four generations, each in a session of its own, none of which will leave
 * before it is killed. */
static int with_family(void)
{
    for (int generation = 0; generation < 4; generation++)
        if (fork() > 0) {
            if (generation > 0)
                linger();
            say_pid();
            swallow_stdin();
            return 0;
        } else {
            setsid();
        }
    linger();
    return 0;
}

static int die_mid_message(void)
{
    say("{\"jsonrpc\":\"2.0\",\"id\":1,\"resu");
    raise(SIGKILL);
    return 0;
}

static int print_env(void)
{
    for (char **one = environ; *one != NULL; one++) {
        say(*one);
        say("\n");
    }
    return 0;
}

static int print_cwd(void)
{
    char path[4096];

    say(getcwd(path, sizeof path) != NULL ? path : strerror(errno));
    say("\n");
    return 0;
}

static int print_limits(void)
{
    struct rlimit memory, cpu, files;
    char line[128];

    getrlimit(RLIMIT_AS, &memory);
    getrlimit(RLIMIT_CPU, &cpu);
    getrlimit(RLIMIT_NOFILE, &files);
    snprintf(line, sizeof line, "memory %llu cpu %llu files %llu\n",
             (unsigned long long)memory.rlim_cur,
             (unsigned long long)cpu.rlim_cur,
             (unsigned long long)files.rlim_cur);
    say(line);
    return 0;
}

static int print_ids(void)
{
    char line[64];

    snprintf(line, sizeof line, "uid %u gid %u groups %d\n", (unsigned)getuid(),
             (unsigned)getgid(), getgroups(0, NULL));
    say(line);
    return 0;
}

/* The descriptors it was given beyond stdio, and the signals it was left
 * blocked or ignored: none, in good order. */
static int print_inherited(void)
{
    sigset_t mask;
    struct sigaction action;
    int files = 0, blocked = 0, ignored = 0;
    char line[64];

    for (int fd = 3; fd < 1024; fd++)
        files += fcntl(fd, F_GETFD) >= 0;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    for (int i = 1; i < NSIG; i++) {
        blocked += sigismember(&mask, i) == 1;
        ignored +=
            sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
    }
    snprintf(line, sizeof line, "files %d blocked %d ignored %d\n", files,
             blocked, ignored);
    say(line);
    return 0;
}

static int flood_stderr(long bytes)
{
    char noise[1000];

    memset(noise, 'e', sizeof noise);
    while (bytes > 0) {
        size_t ask = bytes < (long)sizeof noise ? (size_t)bytes : sizeof noise;
        ssize_t n = write(STDERR_FILENO, noise, ask);
        if (n < 0)
            return 3;
        bytes -= n;
    }
    say("flooded\n");
    return 0;
}

static int never_read(void)
{
    say_pid();
    sleep_for_ever();
    return 0;
}

static int stop_itself(void)
{
    say_pid();
    raise(SIGSTOP);
    return 0;
}

static const struct manner {
    const char *name;
    int (*run)(void);
} manners[] = {
    {"echo", echo},
    {"garbage", garbage},
    {"close-stdout", close_stdout},
    {"ignore-term", ignore_term},
    {"fork-grandchild", with_grandchild},
    {"setsid-grandchild", with_session_grandchild},
    {"daemon-grandchild", with_daemon},
    {"family", with_family},
    {"die-mid-message", die_mid_message},
    {"print-env", print_env},
    {"print-cwd", print_cwd},
    {"print-limits", print_limits},
    {"print-ids", print_ids},
    {"print-inherited", print_inherited},
    {"never-read", never_read},
    {"stop-itself", stop_itself},
};

/* A server of the legacy era that knows nothing but initialize. Each start
 * leaves a line in the file. What it does when it is asked something else
 * before that is in its name. */
static int legacy(const char *name, const char *path)
{
    char line[4096];
    FILE *starts = fopen(path, "a");

    if (starts == NULL)
        return 3;
    fprintf(starts, "%d\n", (int)getpid());
    fclose(starts);
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *id = strstr(line, "\"id\":");
        if (id == NULL)
            continue;
        long number = strtol(id + 5, NULL, 10);
        if (strstr(line, "\"method\":\"initialize\"") != NULL)
            printf("{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{"
                   "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                   "\"serverInfo\":{\"name\":\"x\",\"version\":\"1\"}}}\n",
                   number);
        else if (strcmp(name, "legacy-exits") == 0)
            return 1;
        else if (strcmp(name, "legacy-refuses") == 0)
            printf("{\"jsonrpc\":\"2.0\",\"id\":%ld,\"error\":{\"code\":"
                   "-32602,\"message\":\"not initialized\"}}\n",
                   number);
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    long number = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

    if (strcmp(name, "exit-code") == 0)
        return (int)number;
    if (strcmp(name, "flood-stderr") == 0)
        return flood_stderr(number);
    if (strncmp(name, "legacy-", 7) == 0 && argc > 2)
        return legacy(name, argv[2]);
    for (size_t i = 0; i < sizeof manners / sizeof *manners; i++)
        if (strcmp(name, manners[i].name) == 0)
            return manners[i].run();
    fprintf(stderr, "usage: badchild exit-code N | flood-stderr BYTES | "
                    "legacy-exits FILE | legacy-refuses FILE | "
                    "legacy-silent FILE");
    for (size_t i = 0; i < sizeof manners / sizeof *manners; i++)
        fprintf(stderr, " | %s", manners[i].name);
    fprintf(stderr, "\n");
    return 2;
}
