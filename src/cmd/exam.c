/*
 * exam.c - an examination: waiting, with a limit, for what a probe began.
 *
 * The loop is driven as a foreign loop would drive it: look how long it can
 * sleep, sleep no longer than the probe has left, take a step.
 */
#include "cmd/exam.h"

#include <fairlead/loop.h>

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LONGEST_NAP_MS = 1000 };

uint64_t fl_exam_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void nap(const fl_exam *exam, uint64_t left)
{
    struct pollfd on = {.fd = fl_loop_fd(exam->loop), .events = POLLIN};
    int ms = fl_loop_timeout(exam->loop);

    if (ms < 0 || ms > LONGEST_NAP_MS)
        ms = LONGEST_NAP_MS;
    if ((uint64_t)ms > left)
        ms = (int)left;
    (void)poll(&on, 1, ms); /* a signal is as good a reason to look as any */
}

bool fl_exam_wait(fl_exam *exam, const bool *done, uint64_t ms)
{
    uint64_t end = fl_exam_clock() + ms;

    while (!*done && !exam->interrupted) {
        uint64_t now = fl_exam_clock();
        if (now >= end)
            break;
        nap(exam, end - now);
        (void)fl_loop_step(exam->loop);
    }
    return *done;
}

void fl_exam_wait_closed(fl_exam *exam, const bool *closed)
{
    while (!*closed) {
        nap(exam, LONGEST_NAP_MS);
        (void)fl_loop_step(exam->loop);
    }
}

bool fl_exam_goes_on(const fl_exam *exam)
{
    return !exam->interrupted && fl_exam_clock() < exam->until;
}

const char *fl_exam_host(const fl_exam *exam)
{
    const char *host = exam->address.host;

    return host[0] != '\0' ? host : "localhost";
}

const char *fl_exam_url(const fl_exam *exam, const char *scheme,
                        const char *target, char out[FL_EXAM_URL])
{
    const fl_address *address = &exam->address;
    const char *host = fl_exam_host(exam);
    bool six = strchr(host, ':') != NULL;
    char port[8] = "";

    if (target == NULL)
        target = address->target;
    if (address->has_port)
        snprintf(port, sizeof port, ":%u", address->port);
    snprintf(out, FL_EXAM_URL, "%s://%s%s%s%s%s%s", scheme, six ? "[" : "",
             host, six ? "]" : "", port,
             target[0] == '/' || target[0] == '\0' ? "" : "/", target);
    return out;
}

const char *fl_exam_tell(const fl_exam *exam, const char *url,
                         char out[FL_EXAM_URL])
{
    const char *socket = fl_address_socket(&exam->address);
    const char *host = strstr(url, "://");
    const char *target = host != NULL ? strchr(host + 3, '/') : NULL;

    if (socket == NULL)
        return url;
    snprintf(out, FL_EXAM_URL, "unix:%s#%s", socket,
             target != NULL ? target : "/");
    return out;
}

bool fl_exam_is_http(const fl_exam *exam)
{
    return strstr(exam->address.scheme, "http") != NULL;
}
