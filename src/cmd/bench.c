/*
 * bench.c - "fairlead bench": how fast a server is.
 *
 *   look at it once -> connect all -> warm up -> measure -> tell
 *
 * On a terminal a line shows how far it is; the figures come in the end, and
 * nothing else is on stdout.
 */
#include "cmd/bench.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "cmd/advice.h"
#include "cmd/bench_show.h"
#include "cmd/complain.h"
#include "cmd/exits.h"
#include "cmd/help.h"
#include "cmd/progress.h"
#include "io/loop.h"
#include "io/signals.h"
#include "io/uv_status.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { REPORT_MAX = 16 * 1024 * 1024, SPARE_FILES = 64 };

typedef struct trial {
    const fl_bench_line *line;
    fl_loop *loop;
    fl_bench_scout scout;
    fl_load *load;
    fl_load_outcome *outcome;
    fl_progress progress;
    uint64_t answers; /* at the last view, and when that was */
    uint64_t passed_ms;
} trial;

static void on_signal(void *user)
{
    trial *t = user;

    if (t->load != NULL)
        fl_load_stop(t->load);
}

static void on_view(void *user, const fl_load_view *view)
{
    trial *t = user;
    const fl_load_plan *plan = &t->line->plan;
    double all =
        (double)(view->measuring ? plan->duration_ms : plan->warmup_ms);
    double rate = view->passed_ms > t->passed_ms
                      ? (double)(view->answers - t->answers) * 1e3 /
                            (double)(view->passed_ms - t->passed_ms)
                      : 0;
    char text[96];

    t->answers = view->answers;
    t->passed_ms = view->passed_ms;
    if (view->ready < plan->connections && view->passed_ms == 0) {
        snprintf(text, sizeof text, "connecting");
        fl_progress_show(&t->progress, view->ready, plan->connections,
                         fl_span_of(text));
        return;
    }
    snprintf(text, sizeof text, "%s  %.0f/s  %llu faults",
             view->measuring ? "measuring" : "warming up", rate,
             (unsigned long long)view->faults);
    double passed = (double)view->passed_ms;
    fl_progress_show(&t->progress, (passed < all ? passed : all) / 1e3,
                     all / 1e3, fl_span_of(text));
}

/* Ten thousand connections are more than a shell gives at first. */
static void want_files(const fl_load_plan *plan)
{
    struct rlimit limit;
    uint64_t wanted =
        (uint64_t)plan->connections * (plan->depth + 2) + SPARE_FILES;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* What the other commands advise, but for options that are not here. */
static const char *advise(fl_status status, bool is_child)
{
    if (is_child && (status == FL_E_CHILD || status == FL_END))
        return "'fairlead doctor -- COMMAND' says what is wrong with it.";
    if (!is_child && status == FL_E_DENIED)
        return "May this user use that address? To a server that asks who it "
               "is: --header-file FILE.";
    return fl_advice_for(status, is_child);
}

static int complain(const trial *t, const fl_error *error)
{
    const char *advice = advise(error->status, t->line->plan.url == NULL);

    fl_complain("bench", "%s", error->text);
    if (advice != NULL)
        fprintf(stderr, "%s\n", advice);
    return error->status == FL_E_CANCELLED ? FL_EXIT_INTERRUPTED
           : error->status == FL_E_INVALID || error->status == FL_E_NOMEM
               ? FL_EXIT_LOCAL
               : (int)fl_advice_exit(error->status);
}

/* Better known now than when all has been measured. */
static bool can_write(const char *path)
{
    bool is_new = access(path, F_OK) != 0;
    FILE *file = fopen(path, "a");

    if (file == NULL) {
        fl_complain("bench", "option --html: cannot write '%s': %s", path,
                    fl_uv_text(-errno));
        return false;
    }
    fclose(file);
    if (is_new)
        remove(path);
    return true;
}

static bool write_file(const char *path, fl_span text)
{
    FILE *file = fopen(path, "w");

    if (file == NULL) {
        fl_complain("bench", "cannot write '%s': %s", path, fl_uv_text(-errno));
        return false;
    }
    bool good = fwrite(text.ptr, 1, text.len, file) == text.len;
    if (fclose(file) != 0 || !good) {
        fl_complain("bench", "cannot write all of '%s': %s", path,
                    fl_uv_text(-errno));
        return false;
    }
    return true;
}

typedef fl_status writer_fn(const fl_bench_report *report, fl_buf *out);

/* To a file, or to stdout if there is no path. */
static bool write_report(const fl_bench_report *report, writer_fn *writer,
                         const char *path)
{
    fl_buf text;
    bool good = false;

    fl_buf_init(&text, REPORT_MAX);
    fl_status rc = writer(report, &text);
    if (rc != FL_OK)
        fl_complain("bench", "the report cannot be made: %s",
                    fl_status_text(rc));
    else if (path != NULL)
        good = write_file(path, fl_buf_view(&text));
    else
        good = printf("%.*s\n", (int)fl_buf_len(&text),
                      fl_buf_view(&text).ptr) > 0;
    fl_buf_reset(&text);
    return good;
}

static int tell(const trial *t)
{
    fl_bench_report report = {t->line, &t->scout, t->outcome};
    fl_term out = fl_term_of(stdout);
    bool good = true;

    if (t->line->json)
        good = write_report(&report, fl_bench_json, NULL);
    else
        fl_bench_show(&out, &report);
    if (t->line->html != NULL)
        good = write_report(&report, fl_bench_page, t->line->html) && good;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fl_complain("bench", "cannot write to stdout: %s", fl_uv_text(-errno));
        good = false;
    }
    if (!good)
        return FL_EXIT_LOCAL;
    if (t->outcome->interrupted)
        return FL_EXIT_INTERRUPTED;
    return t->outcome->deserted || fl_bench_faults(t->outcome) > 0
               ? FL_EXIT_REMOTE
               : FL_EXIT_OK;
}

static int measure(trial *t)
{
    fl_load_plan plan = t->line->plan;
    fl_error error = {0};

    plan.method = t->scout.method;
    plan.params = fl_buf_view(&t->scout.params);
    plan.client.verdict = t->scout.verdict;
    fl_signals *signals = fl_signals_watch(t->loop, on_signal, t);
    if (signals != NULL)
        t->load = fl_load_begin(t->loop, &plan, on_view, t);
    if (t->load == NULL) {
        fl_complain("bench", "out of memory or descriptors");
        fl_signals_close(signals);
        fl_loop_run(t->loop);
        return FL_EXIT_LOCAL;
    }
    fl_loop_run(t->loop);
    fl_status rc = fl_load_end(t->load, t->outcome, &error);
    t->load = NULL;
    fl_progress_clear(&t->progress);
    fl_signals_close(signals);
    fl_loop_run(t->loop);
    return rc == FL_OK ? tell(t) : complain(t, &error);
}

static int run(const fl_bench_line *line)
{
    trial t = {.line = line, .progress = {.term = fl_term_of(stderr)}};
    fl_error error = {0};
    int code = FL_EXIT_LOCAL;

    want_files(&line->plan);
    t.loop = fl_loop_new();
    t.outcome = fl_mem_zalloc(sizeof *t.outcome);
    if (t.loop == NULL || t.outcome == NULL)
        fl_complain("bench", "out of memory or descriptors");
    else if (fl_bench_scout_run(&t.scout, t.loop, line, &error) != FL_OK)
        code = complain(&t, &error);
    else
        code = measure(&t);
    fl_bench_scout_deinit(&t.scout);
    fl_mem_free(t.outcome);
    fl_loop_free(t.loop);
    return code;
}

int fl_bench_command(char **argv)
{
    fl_bench_line line;
    fl_error error;
    int code = FL_EXIT_OK;

    if (fl_bench_line_parse(argv, &line, &error) != FL_OK)
        code = fl_complain_usage("bench", &error);
    else if (line.help)
        fl_help_bench(stdout);
    else if (line.html != NULL && !can_write(line.html))
        code = FL_EXIT_LOCAL;
    else
        code = run(&line);
    fl_bench_line_deinit(&line);
    return code;
}
