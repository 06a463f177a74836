/*
 * http-sink.c - answers every well-formed request 200 with its method and
 * path: for suites that test how strictly HTTP is read.
 */
#include "http_front.h"

#include "base/span.h"

#include <stdio.h>

static unsigned echo(const fl_head *head, fl_span body, fl_buf *answer)
{
    fl_span parts[] = {head->method, FL_SPAN(" "), head->target, FL_SPAN("\n")};
    fl_status rc = FL_OK;

    (void)body;
    for (size_t i = 0; i < 4 && rc == FL_OK; i++)
        rc = fl_buf_append(answer, parts[i]);
    return rc == FL_OK ? 200 : 500;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: http-sink PORT\n");
        return 2;
    }
    return http_front_run(argv[1], "text/plain", echo);
}
