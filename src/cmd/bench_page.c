/*
 * bench_page.c - what came of a load, as a page with plots.
 *
 * One file, without scripts, fonts or anything fetched: it can be mailed, kept
 * and opened in ten years. Plots are SVG, drawn in a box of 720 by 240; colours
 * are named in the style, so that a dark desktop gets a dark page.
 *
 * The first plot is the one that HDR histograms are known for: how long a
 * request took against the share that took no longer, with as much room for
 * each nine as for the one before.
 */
#include "base/span.h"
#include "cmd/bench_show.h"

#include <math.h>

enum {
    WIDTH = 720,
    HEIGHT = 240,
    LEFT = 70,
    RIGHT = 30,
    TOP = 12,
    BOTTOM = 30,
    NINES = 5,
    STEPS = 200,
};

typedef struct page {
    fl_buf *out;
    fl_status status; /* the first failure */
} page;

/* The values at the ends of an axis that runs in powers of ten. */
typedef struct axis {
    double low, high;
} axis;

#define SAY(p, ...)                                                            \
    do {                                                                       \
        if ((p)->status == FL_OK)                                              \
            (p)->status = fl_buf_printf((p)->out, __VA_ARGS__);                \
    } while (0)

/* Text from somebody else. */
static void escape(page *p, fl_span text)
{
    for (size_t i = 0; i < text.len && p->status == FL_OK; i++) {
        char byte = text.ptr[i];
        if (byte == '<')
            SAY(p, "&lt;");
        else if (byte == '&')
            SAY(p, "&amp;");
        else if (byte == '"')
            SAY(p, "&quot;");
        else
            p->status = fl_buf_append(p->out, (fl_span){&byte, 1});
    }
}

static void begin(page *p, const fl_bench_report *report)
{
    char target[FL_BENCH_TARGET];

    fl_bench_target(report->line, target);
    SAY(p, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
           "<meta name=\"viewport\" content=\"width=device-width\">"
           "<title>fairlead bench: ");
    escape(p, fl_span_of(target));
    SAY(p,
        "</title>\n<style>\n"
        ":root{--ink:#1b1f24;--dim:#68707a;--line:#d8dde3;--paper:#fff;"
        "--a:#0b62c4;--b:#c2410c}\n"
        "@media(prefers-color-scheme:dark){:root{--ink:#e6e9ed;--dim:#98a1ab;"
        "--line:#333a42;--paper:#14171a;--a:#6cb0ff;--b:#ff9a5c}}\n"
        "body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);"
        "background:var(--paper);max-width:760px;margin:2em auto;"
        "padding:0 16px}\n"
        "h1{font-size:1.4em;margin-bottom:0}h2{font-size:1.05em;"
        "margin:1.8em 0 .3em}p{margin:.3em 0}.dim{color:var(--dim)}\n"
        "table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
        "td,th{padding:.25em .9em .25em 0;text-align:right;"
        "border-bottom:1px solid var(--line)}"
        "td:first-child,th:first-child{text-align:left}"
        "th{color:var(--dim);font-weight:normal}\n"
        ".rate{font-size:2.2em;font-weight:600}\n"
        "svg{width:100%%;height:auto}svg text{font:11px system-ui,sans-serif;"
        "fill:var(--dim)}.grid{stroke:var(--line)}"
        ".a,.b{fill:none;stroke-width:2;stroke-linejoin:round}"
        ".a{stroke:var(--a)}.b{stroke:var(--b)}"
        ".ka{color:var(--a)}.kb{color:var(--b)}\n"
        "</style></head><body>\n<h1>");
    escape(p, fl_buf_len(&report->scout->server) > 0
                  ? fl_buf_view(&report->scout->server)
                  : FL_SPAN("A server without a name"));
    SAY(p, "</h1>\n<p class=\"dim\">");
    escape(p, fl_span_of(target));
    SAY(p, " &middot; revision %s</p>\n", report->outcome->revision);
}

static void put_times(page *p, const char *name, const fl_histogram *times)
{
    static const double shares[] = {0.5, 0.9, 0.95, 0.99, 0.999};
    char text[FL_BENCH_AMOUNT];

    SAY(p, "<tr><td>%s</td>", name);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        SAY(p, "<td>%s</td>",
            fl_bench_time(fl_histogram_at(times, shares[i]), text));
    SAY(p, "<td>%s</td></tr>\n", fl_bench_time(times->max, text));
}

static void put_figures(page *p, const fl_bench_report *report)
{
    const fl_load_outcome *outcome = report->outcome;
    char text[FL_BENCH_TARGET];

    fl_bench_describe(report->line, text);
    SAY(p, "<p>");
    escape(p, fl_buf_view(&report->scout->what));
    SAY(p, ": %s; %.1f s</p>\n", text, (double)outcome->elapsed_ns / 1e9);
    SAY(p,
        "<p><span class=\"rate\">%.0f</span> answers a second, %llu in all, "
        "%llu faults</p>\n",
        fl_bench_rate(outcome), (unsigned long long)outcome->answers,
        (unsigned long long)fl_bench_faults(outcome));
    if (outcome->fault[0] != '\0') {
        SAY(p, "<p>The first fault: ");
        escape(p, fl_span_of(outcome->fault));
        SAY(p, "</p>\n");
    }
    SAY(p, "<table><tr><th></th><th>p50</th><th>p90</th><th>p95</th>"
           "<th>p99</th><th>p99.9</th><th>max</th></tr>\n");
    put_times(p, "latency", &outcome->latency);
    if (report->line->plan.rate > 0)
        put_times(p, "service", &outcome->service);
    SAY(p, "</table>\n");
}

/* From and to powers of ten around what is to be shown. */
static axis axis_around(uint64_t low, uint64_t high)
{
    double from = pow(10, floor(log10((double)(low > 0 ? low : 1))));
    double to = pow(10, ceil(log10((double)(high > 1 ? high : 2))));

    return (axis){from, to > from ? to : from * 10};
}

static double place_x(double share)
{
    return LEFT + share * (WIDTH - LEFT - RIGHT);
}

static double place_y(const axis *a, double value)
{
    double share =
        value <= a->low ? 0 : log10(value / a->low) / log10(a->high / a->low);

    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
}

static void open_plot(page *p, const char *label)
{
    SAY(p, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n",
        WIDTH, HEIGHT, label);
}

static void put_decades(page *p, const axis *a)
{
    char text[FL_BENCH_AMOUNT];

    int decades = (int)lround(log10(a->high / a->low));

    for (int i = 0; i <= decades; i++) {
        double value = a->low * pow(10, i);
        double y = place_y(a, value);
        SAY(p,
            "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" "
            "y2=\"%.1f\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s"
            "</text>\n",
            LEFT, WIDTH - RIGHT, y, y, LEFT - 8, y + 4,
            fl_bench_time(value < 1e19 ? (uint64_t)(value + 0.5) : UINT64_MAX,
                          text));
    }
}

static void put_tick(page *p, double share, const char *text)
{
    SAY(p, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
        place_x(share), HEIGHT - BOTTOM + 18, text);
}

static void put_curve(page *p, const axis *a, const fl_histogram *times,
                      const char *class)
{
    /* No point says more than one request did. */
    double most = times->count > 1 ? log10((double)times->count) : 0;
    double last = most < NINES ? most : NINES;

    SAY(p, "<polyline class=\"%s\" points=\"", class);
    for (int i = 0; i <= STEPS; i++) {
        double nines = last * i / STEPS;
        uint64_t value = fl_histogram_at(times, 1 - pow(10, -nines));
        SAY(p, "%.1f,%.1f ", place_x(nines / NINES), place_y(a, (double)value));
    }
    SAY(p, "\"/>\n");
}

static void put_percentiles(page *p, const fl_bench_report *report)
{
    static const char *const ticks[NINES + 1] = {
        "0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %"};
    const fl_load_outcome *outcome = report->outcome;
    axis a = axis_around(outcome->latency.min, outcome->latency.max);
    bool open = report->line->plan.rate > 0;

    if (open && outcome->service.min < outcome->latency.min)
        a = axis_around(outcome->service.min, outcome->latency.max);
    SAY(p, "<h2>How long requests took: <span class=\"ka\">%s</span>%s</h2>\n",
        open ? "from when they were due" : "latency",
        open ? ", <span class=\"kb\">from when they were sent</span>" : "");
    SAY(p, "<p class=\"dim\">Of all requests, so many took no longer.</p>\n");
    open_plot(p, "latency by percentile");
    put_decades(p, &a);
    for (int i = 0; i <= NINES; i++)
        put_tick(p, (double)i / NINES, ticks[i]);
    if (open)
        put_curve(p, &a, &outcome->service, "b");
    put_curve(p, &a, &outcome->latency, "a");
    SAY(p, "</svg>\n");
}

/* How many parts there are of the time that was measured. */
static unsigned count_slices(const fl_load_outcome *outcome)
{
    if (outcome->slice_ns == 0) /* nothing was */
        return 0;
    uint64_t count =
        (outcome->elapsed_ns + outcome->slice_ns / 2) / outcome->slice_ns;

    return count < FL_LOAD_SLICES ? (unsigned)count : FL_LOAD_SLICES;
}

static void put_seconds(page *p, const fl_load_outcome *outcome, unsigned count)
{
    double all = (double)count * (double)outcome->slice_ns / 1e9;
    char text[FL_BENCH_AMOUNT];

    for (int i = 0; i <= 5; i++) {
        snprintf(text, sizeof text, "%.3g s", all * i / 5);
        put_tick(p, i / 5.0, text);
    }
}

static void put_slices(page *p, const axis *a, const fl_load_outcome *outcome,
                       unsigned count, double share, const char *class)
{
    SAY(p, "<polyline class=\"%s\" points=\"", class);
    for (unsigned i = 0; i < count; i++) {
        const fl_histogram *times = &outcome->slices[i].latency;
        if (times->count > 0)
            SAY(p, "%.1f,%.1f ", place_x((i + 0.5) / count),
                place_y(a, (double)fl_histogram_at(times, share)));
    }
    SAY(p, "\"/>\n");
}

static void put_latency_in_time(page *p, const fl_load_outcome *outcome)
{
    axis a = axis_around(outcome->latency.min, outcome->latency.max);
    unsigned count = count_slices(outcome);

    SAY(p, "<h2>As time went by: <span class=\"ka\">p50</span> and "
           "<span class=\"kb\">p99</span></h2>\n");
    open_plot(p, "latency over time");
    put_decades(p, &a);
    put_seconds(p, outcome, count);
    put_slices(p, &a, outcome, count, 0.99, "b");
    put_slices(p, &a, outcome, count, 0.5, "a");
    SAY(p, "</svg>\n");
}

static double top_rate(const fl_load_outcome *outcome, unsigned count)
{
    uint64_t most = 1;

    if (count == 0)
        return 1;
    for (unsigned i = 0; i < count; i++)
        if (outcome->slices[i].latency.count > most)
            most = outcome->slices[i].latency.count;
    double rate = (double)most * 1e9 / (double)outcome->slice_ns;
    double step = pow(10, floor(log10(rate))) / 2;
    return ceil(rate / step) * step;
}

static void put_rate_in_time(page *p, const fl_load_outcome *outcome)
{
    unsigned count = count_slices(outcome);
    double top = top_rate(outcome, count);
    double room = HEIGHT - TOP - BOTTOM;

    SAY(p, "<h2>Answers a second</h2>\n");
    open_plot(p, "answers a second over time");
    for (int i = 0; i <= 4; i++) {
        double y = HEIGHT - BOTTOM - room * i / 4;
        SAY(p,
            "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" "
            "y2=\"%.1f\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.6g"
            "</text>\n",
            LEFT, WIDTH - RIGHT, y, y, LEFT - 8, y + 4, top * i / 4);
    }
    put_seconds(p, outcome, count);
    SAY(p, "<polyline class=\"a\" points=\"");
    for (unsigned i = 0; i < count; i++)
        SAY(p, "%.1f,%.1f ", place_x((i + 0.5) / count),
            HEIGHT - BOTTOM -
                room * (double)outcome->slices[i].latency.count * 1e9 /
                    (double)outcome->slice_ns / top);
    SAY(p, "\"/>\n</svg>\n");
}

fl_status fl_bench_page(const fl_bench_report *report, fl_buf *out)
{
    page p = {.out = out};
    const char *notes[FL_BENCH_NOTES];
    size_t count = fl_bench_notes(report, notes);

    begin(&p, report);
    put_figures(&p, report);
    put_percentiles(&p, report);
    put_rate_in_time(&p, report->outcome);
    put_latency_in_time(&p, report->outcome);
    SAY(&p, "<h2>What to keep in mind</h2>\n");
    for (size_t i = 0; i < count; i++)
        SAY(&p, "<p>%s</p>\n", notes[i]);
    SAY(&p, "</body></html>\n");
    return p.status;
}
