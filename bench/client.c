/*
 * client.c - what every bench client does before it can measure.
 *
 * Processor time comes from the process's own CPU clock (POSIX lets anybody
 * read it), which counts nanoseconds; utime and stime in /proc count ticks of
 * 10 ms, too coarse for a ratio of a few per cent.
 */
#include "client.h"

#include "hello.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 30000, HOST_MAX = 64, ANSWER_MAX = 16384 };

static const char initialize[] = HELLO_INITIALIZE "\n";
static const char initialized[] = HELLO_INITIALIZED "\n";

void die(const char *format, ...)
{
    int code = errno;
    va_list arguments;

    va_start(arguments, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (code != 0)
        fprintf(stderr, ": %s", strerror(code));
    fputc('\n', stderr);
    exit(1);
}

uint64_t number_of(const char *option, const char *text, uint64_t least)
{
    char *end;

    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' ||
        number < least)
        die("%s wants a number of at least %" PRIu64 ", not '%s'", option,
            least, text);
    return number;
}

void pin_to(int cpu)
{
    cpu_set_t set;

    if (cpu < 0)
        return;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        die("processor %d", cpu);
}

static struct sockaddr_in parse_address(const char *address)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    char host[HOST_MAX];
    const char *colon = strrchr(address, ':');

    if (colon == NULL || (size_t)(colon - address) >= sizeof host)
        die("'%s' is not HOST:PORT", address);
    memcpy(host, address, (size_t)(colon - address));
    host[colon - address] = '\0';
    if (inet_pton(AF_INET, host, &to.sin_addr) != 1)
        die("'%s' is not a numeric host", host);
    to.sin_port = htons((uint16_t)number_of("port", colon + 1, 1));
    return to;
}

/* Only an address: the port is the kernel's to choose, at connect. */
static void leave_from(int fd, unsigned neighbour)
{
    struct sockaddr_in from = {.sin_family = AF_INET};
    int on = 1;

    from.sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~0xffU) | neighbour);
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (bind(fd, (const struct sockaddr *)&from, sizeof from) != 0)
        die("bind to 127.0.0.%u", neighbour);
}

route connect_from(const char *address, unsigned neighbour)
{
    struct sockaddr_in to = parse_address(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;

    if (fd < 0)
        die("socket");
    if (neighbour > 0)
        leave_from(fd, neighbour);
    if (connect(fd, (const struct sockaddr *)&to, sizeof to) != 0)
        die("connect to %s", address);
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
        die("TCP_NODELAY");
    return (route){fd, fd};
}

route connect_to(const char *address)
{
    return connect_from(address, 0);
}

void raise_file_limit(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

/* In the child: never returns. */
static _Noreturn void become(char *const argv[], int cpu, int in, int out)
{
    if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
        _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin_to(cpu);
    execvp(argv[0], argv);
    fprintf(stderr, "bench: %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

route spawn(char *const argv[], int cpu, pid_t *pid)
{
    int down[2], up[2]; /* to its stdin, from its stdout */

    if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0)
        die("pipe");
    *pid = fork();
    if (*pid < 0)
        die("fork");
    if (*pid == 0)
        become(argv, cpu, down[0], up[1]);
    close(down[0]);
    close(up[1]);
    return (route){.in = up[0], .out = down[1]};
}

static bool say(int fd, const char *text, size_t size)
{
    return write(fd, text, size) == (ssize_t)size;
}

/* Reads up to the end of one line, which nothing may follow yet. */
static bool hear_line(int fd)
{
    char answer[ANSWER_MAX];
    struct pollfd ready = {.fd = fd, .events = POLLIN};

    for (;;) {
        if (poll(&ready, 1, PATIENCE_MS) != 1)
            return false;
        ssize_t n = read(fd, answer, sizeof answer);
        if (n <= 0)
            return false;
        if (answer[n - 1] == '\n')
            return memmem(answer, (size_t)n, "\"error\"", 7) == NULL;
    }
}

bool greet(route server)
{
    return say(server.out, initialize, sizeof initialize - 1) &&
           hear_line(server.in) &&
           say(server.out, initialized, sizeof initialized - 1);
}

void make_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
        die("O_NONBLOCK");
}

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;

    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

uint64_t now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t cpu_ns(pid_t pid)
{
    clockid_t clock;

    return clock_getcpuclockid(pid, &clock) == 0 ? read_clock(clock) : 0;
}
