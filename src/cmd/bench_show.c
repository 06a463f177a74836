/*
 * bench_show.c - what came of a load, for people.
 *
 * Figures are shown with what they do not say: a closed load forgives a slow
 * server, an idle server may only have waited for a busy generator.
 */
#include "cmd/bench_show.h"

#include "base/span.h"

#include <string.h>

#define BUSY 0.9

const char *fl_bench_time(uint64_t ns, char out[FL_BENCH_AMOUNT])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double value = (double)ns;
    unsigned unit = 0;

    for (; value >= 999.5 && unit < 3; unit++)
        value /= 1000;
    snprintf(out, FL_BENCH_AMOUNT, "%.*f %s",
             value >= 99.5 || unit == 0 ? 0
             : value >= 9.95            ? 1
                                        : 2,
             value, units[unit]);
    return out;
}

/* 1234567 as "1,234,567". */
static const char *grouped(uint64_t number, char out[FL_BENCH_AMOUNT])
{
    char plain[24];
    int len = snprintf(plain, sizeof plain, "%llu", (unsigned long long)number);
    char *to = out;

    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            *to++ = ',';
        *to++ = plain[i];
    }
    *to = '\0';
    return out;
}

double fl_bench_rate(const fl_load_outcome *outcome)
{
    return outcome->elapsed_ns > 0
               ? (double)outcome->answers * 1e9 / (double)outcome->elapsed_ns
               : 0;
}

uint64_t fl_bench_faults(const fl_load_outcome *outcome)
{
    uint64_t all = outcome->unsent;

    for (unsigned i = FL_LOAD_NO_FAULT + 1; i < FL_LOAD_FAULTS; i++)
        all += outcome->faults[i];
    return all;
}

void fl_bench_target(const fl_bench_line *line, char out[FL_BENCH_TARGET])
{
    const char *const *argv = line->plan.client.connection.child.argv;
    size_t len = 0;

    if (line->plan.url != NULL) { /* a query may hold a token */
        snprintf(out, FL_BENCH_TARGET, "%.*s",
                 (int)strcspn(line->plan.url, "?"), line->plan.url);
        return;
    }
    for (size_t i = 0; argv[i] != NULL && len + 1 < FL_BENCH_TARGET; i++) {
        int n = snprintf(out + len, FL_BENCH_TARGET - len, "%s%s",
                         i > 0 ? " " : "", argv[i]);
        len += n > 0 ? (size_t)n : 0;
    }
}

void fl_bench_describe(const fl_bench_line *line, char out[FL_BENCH_TARGET])
{
    const fl_load_plan *plan = &line->plan;
    char pace[64] = "closed loop";

    if (plan->rate > 0)
        snprintf(pace, sizeof pace, "open loop of %.0f a second%s", plan->rate,
                 plan->scatter ? " at random" : "");
    snprintf(out, FL_BENCH_TARGET,
             "%u connection%s, %u request%s under way on each%s, %s, "
             "%u thread%s",
             plan->connections, plan->connections == 1 ? "" : "s", plan->depth,
             plan->depth == 1 ? "" : "s", plan->rate > 0 ? " at most" : "",
             pace, plan->threads, plan->threads == 1 ? "" : "s");
}

size_t fl_bench_notes(const fl_bench_report *report,
                      const char *notes[FL_BENCH_NOTES])
{
    const fl_load_outcome *outcome = report->outcome;
    const fl_load_plan *plan = &report->line->plan;
    size_t count = 0;

    if (outcome->interrupted)
        notes[count++] = "It was interrupted: the figures are of the time "
                         "until then.";
    if (outcome->deserted)
        notes[count++] = "A thread lost all its connections for good: from "
                         "then on it asked nothing more.";
    if (plan->rate > 0)
        notes[count++] = "Times are counted from when a request was due, "
                         "waiting for room included (no coordinated "
                         "omission); \"service\" is from when it was sent.";
    else
        notes[count++] = "A closed loop asks less when the server is slow, so "
                         "its percentiles leave out requests that would have "
                         "waited (coordinated omission). --rate N does not.";
    if (outcome->busy > BUSY)
        notes[count++] = "The generator itself was at its limit: this is what "
                         "it can ask, not what the server can answer. "
                         "--threads N gives it more.";
    if (outcome->unsent > 0)
        notes[count++] = "Requests were due that could never be sent: the "
                         "server does not keep up with this rate.";
    if (outcome->outages > 0)
        notes[count++] = "Connections were lost on the way; they are made anew "
                         "when the server is back.";
    return count;
}

static void show_times(const fl_term *to, const char *name,
                       const fl_histogram *times)
{
    static const double shares[] = {0.5, 0.9, 0.95, 0.99, 0.999};
    char text[FL_BENCH_AMOUNT];

    fl_term_say(to, FL_TERM_PLAIN, "  %-10s", name);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        fl_term_say(to, FL_TERM_PLAIN, " %9s",
                    fl_bench_time(fl_histogram_at(times, shares[i]), text));
    fl_term_say(to, FL_TERM_PLAIN, " %9s\n", fl_bench_time(times->max, text));
}

static void show_faults(const fl_term *to, const fl_load_outcome *outcome)
{
    uint64_t all = fl_bench_faults(outcome);
    char text[FL_BENCH_AMOUNT];

    fl_term_say(to, FL_TERM_PLAIN, "  %-10s", "faults");
    fl_term_say(to, all > 0 ? FL_TERM_RED : FL_TERM_PLAIN, " %9s",
                grouped(all, text));
    for (unsigned i = FL_LOAD_NO_FAULT + 1; i < FL_LOAD_FAULTS; i++)
        if (outcome->faults[i] > 0)
            fl_term_say(to, FL_TERM_PLAIN, "   %s %s",
                        fl_load_fault_name((fl_load_fault)i),
                        grouped(outcome->faults[i], text));
    if (outcome->unsent > 0)
        fl_term_say(to, FL_TERM_PLAIN, "   never sent %s",
                    grouped(outcome->unsent, text));
    fl_term_say(to, FL_TERM_PLAIN, "\n");
    if (outcome->fault[0] != '\0') {
        fl_term_say(to, FL_TERM_PLAIN, "  the first: ");
        fl_term_put(to, fl_span_of(outcome->fault));
        fl_term_say(to, FL_TERM_PLAIN, "\n");
    }
}

static void show_head(const fl_term *to, const fl_bench_report *report)
{
    const fl_load_plan *plan = &report->line->plan;
    char text[FL_BENCH_TARGET];

    fl_bench_target(report->line, text);
    fl_term_put(to, fl_buf_len(&report->scout->server) > 0
                        ? fl_buf_view(&report->scout->server)
                        : FL_SPAN("a server without a name"));
    fl_term_say(to, FL_TERM_PLAIN, " (%s), ", report->outcome->revision);
    fl_term_put(to, fl_span_of(text));
    fl_term_say(to, FL_TERM_PLAIN, "\n");
    fl_term_put(to, fl_buf_view(&report->scout->what));
    fl_bench_describe(report->line, text);
    fl_term_say(to, FL_TERM_PLAIN, ": %s; %.1f s after %.1f s of warm-up\n\n",
                text, (double)report->outcome->elapsed_ns / 1e9,
                (double)plan->warmup_ms / 1e3);
}

void fl_bench_show(const fl_term *to, const fl_bench_report *report)
{
    const fl_load_outcome *outcome = report->outcome;
    const char *notes[FL_BENCH_NOTES];
    size_t count = fl_bench_notes(report, notes);
    char text[FL_BENCH_AMOUNT];

    show_head(to, report);
    fl_term_say(to, FL_TERM_PLAIN, "  %-10s %9s\n", "answers",
                grouped(outcome->answers, text));
    fl_term_say(to, FL_TERM_PLAIN, "  %-10s ", "per second");
    fl_term_say(to, FL_TERM_BOLD, "%9s\n",
                grouped((uint64_t)(fl_bench_rate(outcome) + 0.5), text));
    show_faults(to, outcome);
    fl_term_say(to, FL_TERM_DIM, "\n  %-10s %9s %9s %9s %9s %9s %9s\n", "",
                "p50", "p90", "p95", "p99", "p99.9", "max");
    show_times(to, "latency", &outcome->latency);
    if (report->line->plan.rate > 0)
        show_times(to, "service", &outcome->service);
    fl_term_say(to, FL_TERM_PLAIN,
                "\n  all connections ready after %s; generator %.0f %% busy\n",
                fl_bench_time(outcome->connect_ns, text), outcome->busy * 100);
    for (size_t i = 0; i < count; i++)
        fl_term_say(to, FL_TERM_PLAIN, "%s%s\n", i == 0 ? "\n" : "", notes[i]);
}
