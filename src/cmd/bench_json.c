/*
 * bench_json.c - what came of a load, for scripts.
 *
 * Times are in microseconds, with a fraction; members may be added.
 */
#include "base/clock.h"
#include "cmd/bench_show.h"
#include "json/write.h"

#include <fairlead/version.h>

static void put_times(fl_json_writer *writer, const char *key,
                      const fl_histogram *times)
{
    static const struct {
        const char *name;
        double share;
    } rows[] = {{"p50", 0.5},      {"p75", 0.75}, {"p90", 0.9},
                {"p95", 0.95},     {"p99", 0.99}, {"p99.9", 0.999},
                {"p99.99", 0.9999}};

    fl_json_key(writer, key);
    fl_json_object(writer);
    fl_json_key(writer, "count");
    fl_json_integer(writer, (int64_t)times->count);
    fl_json_key(writer, "min");
    fl_json_number(writer, (double)times->min / 1e3);
    fl_json_key(writer, "mean");
    fl_json_number(writer, fl_histogram_mean(times) / 1e3);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fl_json_key(writer, rows[i].name);
        fl_json_number(writer,
                       (double)fl_histogram_at(times, rows[i].share) / 1e3);
    }
    fl_json_key(writer, "max");
    fl_json_number(writer, (double)times->max / 1e3);
    fl_json_object_end(writer);
}

static void put_number(fl_json_writer *writer, const char *key, double value)
{
    fl_json_key(writer, key);
    fl_json_number(writer, value);
}

static void put_plan(fl_json_writer *writer, const fl_bench_report *report)
{
    const fl_load_plan *plan = &report->line->plan;

    fl_json_key(writer, "plan");
    fl_json_object(writer);
    fl_json_key(writer, "ask");
    fl_json_text(writer, fl_buf_view(&report->scout->what));
    fl_json_key(writer, "loop");
    fl_json_string(writer, plan->rate > 0 ? "open" : "closed");
    if (plan->rate > 0) {
        put_number(writer, "rate", plan->rate);
        fl_json_key(writer, "arrivals");
        fl_json_string(writer, plan->scatter ? "random" : "even");
    }
    put_number(writer, "connections", plan->connections);
    put_number(writer, "depth", plan->depth);
    put_number(writer, "threads", plan->threads);
    put_number(writer, "size", (double)report->line->size);
    put_number(writer, "warmup_s", (double)plan->warmup_ms / 1e3);
    put_number(writer, "duration_s", (double)plan->duration_ms / 1e3);
    fl_json_object_end(writer);
}

static void put_faults(fl_json_writer *writer, const fl_load_outcome *outcome)
{
    static const char *const names[FL_LOAD_FAULTS] = {
        [FL_LOAD_ERROR] = "errors",    [FL_LOAD_TOOL] = "tool_errors",
        [FL_LOAD_ASKED] = "questions", [FL_LOAD_TIMEOUT] = "timeouts",
        [FL_LOAD_LOST] = "lost",
    };

    fl_json_key(writer, "faults");
    fl_json_object(writer);
    put_number(writer, "all", (double)fl_bench_faults(outcome));
    for (unsigned i = FL_LOAD_NO_FAULT + 1; i < FL_LOAD_FAULTS; i++)
        put_number(writer, names[i], (double)outcome->faults[i]);
    put_number(writer, "unsent", (double)outcome->unsent);
    if (outcome->fault[0] != '\0') {
        fl_json_key(writer, "first");
        fl_json_string(writer, outcome->fault);
    }
    fl_json_object_end(writer);
}

static void put_series(fl_json_writer *writer, const fl_load_outcome *outcome)
{
    double step = (double)outcome->slice_ns / 1e9;

    fl_json_key(writer, "series");
    fl_json_array(writer);
    for (unsigned i = 0; i < FL_LOAD_SLICES; i++) {
        const fl_load_slice *slice = &outcome->slices[i];
        if (i * step * 1e9 >= (double)outcome->elapsed_ns)
            break;
        fl_json_object(writer);
        put_number(writer, "at_s", i * step);
        put_number(writer, "rate", (double)slice->latency.count / step);
        put_number(writer, "p50",
                   (double)fl_histogram_at(&slice->latency, 0.5) / 1e3);
        put_number(writer, "p99",
                   (double)fl_histogram_at(&slice->latency, 0.99) / 1e3);
        put_number(writer, "faults", (double)slice->faults);
        fl_json_object_end(writer);
    }
    fl_json_array_end(writer);
}

static void put_notes(fl_json_writer *writer, const fl_bench_report *report)
{
    const char *notes[FL_BENCH_NOTES];
    size_t count = fl_bench_notes(report, notes);

    fl_json_key(writer, "notes");
    fl_json_array(writer);
    for (size_t i = 0; i < count; i++)
        fl_json_string(writer, notes[i]);
    fl_json_array_end(writer);
}

static void put_head(fl_json_writer *writer, const fl_bench_report *report)
{
    char text[FL_BENCH_TARGET], stamp[FL_CLOCK_STAMP];

    fl_clock_stamp(stamp);
    fl_bench_target(report->line, text);
    fl_json_key(writer, "fairlead");
    fl_json_string(writer, fl_version());
    fl_json_key(writer, "date");
    fl_json_string(writer, stamp);
    fl_json_key(writer, "target");
    fl_json_string(writer, text);
    fl_json_key(writer, "server");
    fl_json_text(writer, fl_buf_view(&report->scout->server));
    fl_json_key(writer, "revision");
    fl_json_string(writer, report->outcome->revision);
}

fl_status fl_bench_json(const fl_bench_report *report, fl_buf *out)
{
    const fl_load_outcome *outcome = report->outcome;
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    put_head(&writer, report);
    put_plan(&writer, report);
    put_number(&writer, "elapsed_s", (double)outcome->elapsed_ns / 1e9);
    put_number(&writer, "answers", (double)outcome->answers);
    put_number(&writer, "rate", fl_bench_rate(outcome));
    put_faults(&writer, outcome);
    put_times(&writer, "latency_us", &outcome->latency);
    if (report->line->plan.rate > 0)
        put_times(&writer, "service_us", &outcome->service);
    put_number(&writer, "bytes_in", (double)outcome->bytes_in);
    put_number(&writer, "bytes_out", (double)outcome->bytes_out);
    put_number(&writer, "connect_ms", (double)outcome->connect_ns / 1e6);
    put_number(&writer, "outages", (double)outcome->outages);
    put_number(&writer, "late", (double)outcome->late);
    put_number(&writer, "generator_busy", outcome->busy);
    fl_json_key(&writer, "interrupted");
    fl_json_bool(&writer, outcome->interrupted);
    fl_json_key(&writer, "deserted");
    fl_json_bool(&writer, outcome->deserted);
    put_series(&writer, outcome);
    put_notes(&writer, report);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}
