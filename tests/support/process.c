/*
 * process.c - what a test wants to know about processes and descriptors.
 */
#include "support/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

char process_state(pid_t pid)
{
    char path[64], text[512];

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    if (got <= 0)
        return 0;
    text[got] = '\0';
    const char *state = strrchr(text, ')'); /* "12 (name) S ..." */
    return state != NULL ? state[2] : 0;
}

bool process_alive(pid_t pid)
{
    char state = process_state(pid);

    return state != 0 && state != 'Z' && state != 'X';
}

bool process_gone_within(pid_t pid, int ms)
{
    const struct timespec moment = {.tv_nsec = 5 * 1000 * 1000};

    for (int waited = 0; process_alive(pid); waited += 5) {
        if (waited >= stretched(ms))
            return false;
        nanosleep(&moment, NULL);
    }
    return true;
}

bool process_has_no_children(void)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 &&
           errno == ECHILD;
}

int process_count_files(pid_t pid)
{
    char path[64];
    int count = 0;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *directory = opendir(path);
    if (directory == NULL)
        return -1;
    for (struct dirent *one; (one = readdir(directory)) != NULL;)
        count += one->d_name[0] != '.';
    closedir(directory);
    return pid == getpid() ? count - 1 : count; /* the directory's own */
}

int stretched(int time)
{
    const char *slow = getenv("FL_SLOW");
    long factor = slow != NULL ? strtol(slow, NULL, 10) : 1;

    return factor > 1 && factor <= 100 ? time * (int)factor : time;
}

bool process_in_valgrind(void)
{
    const char *preload = getenv("LD_PRELOAD");

    return preload != NULL && strstr(preload, "vgpreload") != NULL;
}

void skip_because(const char *why)
{
    fprintf(stderr, "SKIPPED: %s\n", why);
    skip();
}
