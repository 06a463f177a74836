/*
 * doctor_child.c - is a command a server on stdio, and does it behave?
 *
 *   start -> initialize -> first answer -> end of stdin -> it leaves
 *
 * Here its stdout is read as it is, line by line, before anything that would
 * skip what is no message; what it says in the protocol is looked at later,
 * over links, on other processes of it.
 */
#include "cmd/doctor_child.h"

#include "base/mem.h"
#include "base/span.h"
#include "rpc/msg.h"
#include "transport/environ.h"

#include <string.h>

extern char **environ;

enum {
    LINE_MAX_BYTES = 4 * 1024 * 1024,
    KILL_GRACE_MS = 1000,
};

static void take_line(fl_visit *at, fl_span line)
{
    fl_msg_fault fault;
    fl_msg msg;

    if (fl_msg_read(line, &msg, &fault) == FL_OK) {
        if (msg.kind == FL_MSG_RESULT || msg.kind == FL_MSG_ERROR)
            at->answered = at->settled = true;
        return;
    }
    size_t blank = 0;
    while (blank < line.len && strchr(" \t\r", line.ptr[blank]) != NULL)
        blank++;
    if (blank < line.len && at->noises++ == 0)
        fl_chart_quote(line, at->noise);
}

static void on_data(void *user, fl_span bytes)
{
    fl_visit *at = user;
    fl_status rc;
    fl_span line;

    while ((rc = fl_lines_next(&at->lines, &bytes, &line)) != FL_AGAIN)
        if (rc == FL_OK)
            take_line(at, line);
        else
            at->noises++;
}

static void on_end(void *user, const fl_error *error)
{
    fl_visit *at = user;
    fl_span line;

    (void)error;
    if (fl_lines_finish(&at->lines, &line) == FL_OK)
        take_line(at, line);
}

static void on_stream_closed(void *user)
{
    fl_visit *at = user;

    at->stream_closed = true;
}

static void on_stderr(void *user, fl_span bytes)
{
    fl_visit *at = user;
    fl_status rc;
    fl_span line;

    while ((rc = fl_lines_next(&at->errors, &bytes, &line)) != FL_AGAIN)
        if (rc == FL_OK && line.len > 0)
            fl_last_words_add(&at->words, line);
}

static void on_exit(void *user, const fl_child_exit *how)
{
    fl_visit *at = user;

    at->how = *how;
    at->exited = at->settled = true;
}

static void on_child_closed(void *user)
{
    fl_visit *at = user;

    at->child = NULL;
    at->child_closed = true;
}

static const fl_stream_events stream_events = {
    .on_data = on_data, .on_end = on_end, .on_closed = on_stream_closed};

static const fl_child_events child_events = {
    .on_stderr = on_stderr, .on_exit = on_exit, .on_closed = on_child_closed};

static void take_leave(fl_visit *at)
{
    uint64_t began = fl_exam_clock();

    fl_stream_finish(at->stream);
    fl_child_stop(at->child);
    fl_exam_wait_closed(at->exam, &at->exited);
    fl_visit_report_leaving(at, fl_exam_clock() - began);
}

static fl_status spawn(fl_visit *at, fl_error *error)
{
    const fl_child_settings *child = &at->exam->line->options.child;
    const char **envp = fl_environ_make((const char *const *)environ,
                                        child->env_inherit, child->env);
    fl_status rc = FL_E_NOMEM;

    if (envp != NULL)
        rc = fl_child_spawn(at->exam->loop,
                            &(fl_child_options){
                                .argv = child->argv,
                                .envp = envp,
                                .cwd = child->cwd,
                                .stop_grace_ms = FL_VISIT_GRACE_MS,
                                .kill_grace_ms = KILL_GRACE_MS,
                                .limits.send_timeout_ms = UINT64_MAX,
                            },
                            &child_events, at, &at->child, &at->stream, error);
    fl_mem_free(envp);
    return rc;
}

static bool say_hello(fl_visit *at)
{
    const fl_span hello = FL_SPAN(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
        "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
        "\"clientInfo\":{\"name\":\"fairlead-doctor\",\"version\":\"1\"}}}\n");

    if (fl_stream_start(at->stream, &stream_events, at) < 0)
        return false;
    return fl_stream_write(at->stream, &hello, 1) == FL_OK;
}

static bool look(fl_visit *at)
{
    uint64_t began = fl_exam_clock();
    bool answered = false;

    if (say_hello(at)) {
        fl_exam_wait(at->exam, &at->settled, at->exam->step_ms);
        answered = fl_visit_report_start(at, fl_exam_clock() - began);
    }
    if (answered && !at->exited)
        take_leave(at);
    fl_stream_close(at->stream);
    if (at->child != NULL)
        fl_child_stop(at->child);
    fl_exam_wait_closed(at->exam, &at->stream_closed);
    fl_exam_wait_closed(at->exam, &at->child_closed);
    return answered;
}

bool fl_exam_command(fl_exam *exam)
{
    fl_visit at = {.exam = exam};
    fl_error error;
    bool answered = false;

    fl_chart_group(exam->chart, "command");
    fl_lines_init(&at.lines, FL_LINES_LF, LINE_MAX_BYTES);
    fl_lines_init(&at.errors, FL_LINES_ANY, LINE_MAX_BYTES);
    fl_last_words_init(&at.words);
    if (spawn(&at, &error) == FL_OK)
        answered = look(&at);
    else
        fl_chart_find(exam->chart, FL_CHART_FAULT, "command.start",
                      "See to memory and descriptors here (ulimit).",
                      "cannot start it: %s", error.text);
    fl_lines_deinit(&at.lines);
    fl_lines_deinit(&at.errors);
    fl_last_words_deinit(&at.words);
    exam->chart->unreachable = !answered;
    return answered;
}
