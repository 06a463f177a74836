/*
 * keeper.c - the process that stands between us and a child.
 *
 * It is the child's parent and, as a subreaper, becomes the parent of every
 * descendant whose own parent dies: no double fork and no setsid() escapes it.
 * It waits for two things only: words on the lifeline and SIGCHLD, which a
 * signalfd turns into something poll() understands. All other signals stay
 * blocked, for whoever ends us must not end the one who cleans up after us.
 *
 * The trick is about process numbers, which the system uses again. To kill by
 * number is safe only while nobody else can have the number: that holds for a
 * process we are the parent of until we reap it, and for the child's group
 * until we reap the child. So the child is looked at before it is reaped, its
 * group gets its signal in between, and from then on only processes on the
 * list of our own children are signalled. Each round may make orphans, which
 * become ours; the rounds end when wait says that there is nobody left.
 */
#include "io/keeper.h"

#include "io/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ORPHAN_GRACE_MS = 500,    /* after our end of the lifeline broke */
    STRAGGLER_GRACE_MS = 200, /* for what outlives the child */
    FIRST_ROUND_MS = 5,       /* between rounds of killing; doubles up to */
    LAST_ROUND_MS = 1000,
};

typedef struct keeper {
    const char *kin_file;
    int lifeline; /* -1 when it broke */
    int status;
    int signals;
    pid_t child;
    bool child_gone;
    int how; /* the child's end, as from waitpid() */
    bool killing;
    bool told;    /* all were asked to end, so that leaving is no news */
    uint64_t due; /* when the next round comes; 0: none */
    int round_ms;
} keeper;

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void tell(int fd, fl_keeper_news news, fl_keeper_step step, int value)
{
    fl_keeper_record record = {
        .news = (int32_t)news, .step = (int32_t)step, .value = value};

    if (write(fd, &record, sizeof record) < 0)
        return; /* whom else should we tell */
}

/* Stopped processes would sit on a SIGTERM for ever. */
static void send_signal(pid_t to, int signal)
{
    kill(to, signal);
    if (signal != SIGKILL)
        kill(to, SIGCONT);
}

static bool is_running(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
}

/* Signals each child on the list "12 34 56 ", and counts those that run;
 * below zero when there is no list. */
static int signal_kin(const keeper *self, int signal)
{
    int fd = open(self->kin_file, O_RDONLY | O_CLOEXEC);
    char text[1024];
    ssize_t got;
    pid_t pid = 0;
    int running = 0;

    if (fd < 0)
        return -1;
    while ((got = read(fd, text, sizeof text)) > 0)
        for (const char *at = text; at < text + got; at++)
            if (*at >= '0' && *at <= '9') {
                pid = pid * 10 + (*at - '0');
            } else if (pid > 0) {
                running += is_running(pid);
                send_signal(pid, signal);
                pid = 0;
            }
    close(fd);
    return got == 0 ? running : -1;
}

static void signal_group(const keeper *self, int signal)
{
    if (!self->child_gone)
        send_signal(-self->child, signal);
}

static void signal_all(const keeper *self, int signal)
{
    signal_group(self, signal);
    signal_kin(self, signal);
}

/* One round of killing; the next comes later and later, lest we spin over
 * somebody who cannot be killed: a set-user-ID program, or a dead disk. */
static void kill_round(keeper *self)
{
    signal_all(self, SIGKILL);
    self->killing = true;
    self->due = now_ms() + (uint64_t)self->round_ms;
    if (self->round_ms < LAST_ROUND_MS)
        self->round_ms *= 2;
}

static void kill_after(keeper *self, uint64_t ms)
{
    uint64_t due = now_ms() + ms;

    if (!self->killing && (self->due == 0 || due < self->due))
        self->due = due;
}

/* The child has ended but is not reaped yet: its group's number still holds. */
static void end_stragglers(keeper *self)
{
    int signal = self->killing ? SIGKILL : SIGTERM;
    int left = signal_kin(self, signal);

    if (left < 0)
        signal = SIGKILL; /* no list: the last chance to reach anybody */
    if (left > 0 && !self->told)
        tell(self->status, FL_KEEPER_LEFT, FL_KEEPER_EXEC, left);
    signal_group(self, signal);
    kill_after(self, STRAGGLER_GRACE_MS);
}

/* Reaps whoever has ended. Returns false when nobody is left at all. */
static bool reap(keeper *self)
{
    for (;;) {
        siginfo_t info = {.si_pid = 0};
        int how = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
            return errno != ECHILD;
        if (info.si_pid == 0)
            return true;
        if (info.si_pid == self->child)
            end_stragglers(self);
        waitpid(info.si_pid, &how, 0);
        if (info.si_pid == self->child) {
            self->child_gone = true;
            self->how = how;
        }
    }
}

static void heed_lifeline(keeper *self)
{
    char word = 0;
    ssize_t got = read(self->lifeline, &word, 1);

    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got <= 0) {
        self->lifeline = -1; /* which poll() skips; exit closes it */
        self->told = true;
        signal_all(self, SIGTERM);
        kill_after(self, ORPHAN_GRACE_MS);
    } else if (word == FL_KEEPER_TERM) {
        self->told = true;
        signal_group(self, SIGTERM);
    } else if (word == FL_KEEPER_KILL) {
        self->told = true;
        kill_round(self);
    }
}

static int wait_ms(const keeper *self)
{
    uint64_t now = now_ms();

    if (self->due == 0)
        return self->signals < 0 ? LAST_ROUND_MS : -1;
    return self->due > now ? (int)(self->due - now) : 0;
}

/* Whether anybody is left to keep. When nobody can be listed, those who left
 * the group cannot be found, and are not waited for beyond their grace. */
static bool anybody_left(keeper *self)
{
    if (!reap(self))
        return false;
    if (!self->child_gone || self->due == 0 || now_ms() < self->due)
        return true;
    return access(self->kin_file, R_OK) == 0;
}

/* That a child ended is enough to know; reap() finds out which. */
static void drain(int signals)
{
    struct signalfd_siginfo one;

    while (read(signals, &one, sizeof one) > 0)
        continue;
}

static void keep(keeper *self)
{
    while (anybody_left(self)) {
        struct pollfd on[] = {{.fd = self->lifeline, .events = POLLIN},
                              {.fd = self->signals, .events = POLLIN}};

        if (self->due != 0 && now_ms() >= self->due)
            kill_round(self);
        if (poll(on, 2, wait_ms(self)) <= 0)
            continue;
        if (on[0].revents != 0)
            heed_lifeline(self);
        if (on[1].revents != 0)
            drain(self->signals);
    }
}

/* Lets go of everything of our host's: its files, its directory. */
static void shed(const fl_keeper_plan *plan)
{
    unsigned low = (unsigned)plan->lifeline, high = (unsigned)plan->status;

    if (low > high) {
        low = (unsigned)plan->status;
        high = (unsigned)plan->lifeline;
    }
    fl_launch_close(0, low - 1);
    fl_launch_close(low + 1, high - 1);
    fl_launch_close(high + 1, ~0U);
    if (chdir("/") != 0 || open("/dev/null", O_RDWR) != 0 || dup(0) != 1 ||
        dup(0) != 2)
        return; /* it was tidiness only */
}

/* Waits for the first word; none comes if we could not finish setting up. */
static bool may_go(const fl_keeper_plan *plan)
{
    char word = 0;

    close(plan->host_lifeline); /* or we would never see it break */
    return read(plan->lifeline, &word, 1) == 1 && word == FL_KEEPER_GO;
}

_Noreturn void fl_keeper_run(const fl_keeper_plan *plan)
{
    sigset_t only_child;
    keeper self = {.kin_file = plan->kin_file,
                   .lifeline = plan->lifeline,
                   .status = plan->status,
                   .signals = -1,
                   .round_ms = FIRST_ROUND_MS};

    setpgid(0, 0); /* a terminal's Ctrl-C is not for us */
    prctl(PR_SET_NAME, "fairlead-keeper");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fl_launch_reset_signals();
    if (!may_go(plan))
        _exit(0);

    pid_t keeper_pid = getpid();
    self.child = _Fork();
    if (self.child < 0) {
        tell(plan->status, FL_KEEPER_FAILED, FL_KEEPER_FORK, errno);
        _exit(1);
    }
    if (self.child == 0) {
        fl_keeper_step step = fl_launch(plan, keeper_pid);
        tell(plan->status, FL_KEEPER_FAILED, step, errno);
        _exit(127);
    }
    setpgid(self.child, self.child); /* whoever of us two comes first */
    tell(plan->status, FL_KEEPER_STARTED, FL_KEEPER_FORK, self.child);

    shed(plan);
    sigemptyset(&only_child);
    sigaddset(&only_child, SIGCHLD);
    self.signals = signalfd(-1, &only_child, SFD_CLOEXEC | SFD_NONBLOCK);
    keep(&self);
    tell(plan->status, FL_KEEPER_ENDED, FL_KEEPER_EXEC, self.how);
    _exit(0);
}
