/*
 * report_child.c - the children of a server, one by one: a process, or a
 * conversation with a server that is somewhere else and then has no pid.
 *
 * Whose one is, is told by how it came to be (route.c): nobody's, everybody's,
 * one conversation's, or of those of one user that look the same. What is
 * told of a client is what it says of itself and where it comes from; never
 * the id of a session, which is a key.
 */
#include "base/span.h"
#include "gateway/report.h"
#include "gateway/route.h"
#include "io/proc.h"
#include "json/nav.h"

enum {
    NAME_MAX_BYTES = 64,
    LINE_MAX_BYTES = 560, /* as fl_last_words keeps them */
    SAID_MAX = 8 * 1024,
    KEY_MAX = 4 * 1024 * 1024,
};

static const char *state_of(const fl_back *back)
{
    if (back->closing)
        return "ending";
    if (back->lane == NULL)
        return "restarting";
    if (fl_back_is_ready(back))
        return "ready";
    return back->revision == NULL ? "starting" : "reconnecting";
}

static size_t count(const fl_list *errands)
{
    size_t n = 0;

    for (fl_list *node = errands->next; node != errands; node = node->next) {
        const fl_errand *errand = FL_LIST_ENTRY(node, fl_errand, by_back);
        n += errand->own == NULL && errand->method != FL_METHOD_LISTEN;
    }
    return n;
}

size_t fl_report_count_waiting(const fl_back *back)
{
    return count(&back->waiting) + count(&back->sent) + count(&back->parked);
}

/* The oldest request of somebody's that it works on, or NULL. */
static const fl_errand *errand_of(const fl_back *back)
{
    for (fl_list *node = back->sent.next; node != &back->sent;
         node = node->next) {
        const fl_errand *errand = FL_LIST_ENTRY(node, fl_errand, by_back);
        if (errand->asker.front != NULL)
            return errand;
    }
    return NULL;
}

/* A client whose conversation it has, or whose request. */
static const fl_front *front_of(const fl_back *back)
{
    const fl_errand *errand = errand_of(back);

    if (!fl_list_empty(&back->fronts))
        return FL_LIST_ENTRY(back->fronts.next, fl_front, by_back);
    return errand != NULL ? errand->asker.front : NULL;
}

/* What its client says of itself: it was opened with that, or was a spare and
 * has a client who said it at initialize, or with the request. */
static fl_span info_of(const fl_back *back, const fl_front *front)
{
    fl_span info =
        fl_json_get(fl_buf_view(&back->params), FL_SPAN("clientInfo"));
    const fl_errand *errand = errand_of(back);

    if (info.len == 0 && front != NULL)
        info = fl_json_get(fl_introduction_text(front->params),
                           FL_SPAN("clientInfo"));
    if (info.len == 0 && errand != NULL && errand->msg != NULL)
        info = errand->msg->inner.claim.client_info;
    return info;
}

static size_t count_sessions(const fl_back *back)
{
    size_t n = 0;

    for (fl_list *node = back->fronts.next; node != &back->fronts;
         node = node->next)
        n++;
    return n;
}

static void write_name(fl_report *report, fl_span info)
{
    fl_buf name;

    fl_buf_init(&name, KEY_MAX);
    fl_status rc =
        fl_json_string_copy(fl_json_get(info, FL_SPAN("name")), &name);
    fl_report_text(report, "client",
                   rc == FL_OK ? fl_buf_view(&name) : (fl_span){0},
                   NAME_MAX_BYTES);
    fl_buf_reset(&name);
}

static void write_peer(fl_report *report, const fl_front *front)
{
    fl_link_info info = {.peer = ""};

    if (front != NULL && front->link != NULL)
        fl_link_get_info(front->link, &info);
    fl_report_text(report, "peer", fl_span_of(info.peer), NAME_MAX_BYTES);
}

/* The key of one that is shared by the like begins with their user (route.c);
 * on a channel that is the number of the one there is. */
static void write_user(fl_report *report, const fl_back *back)
{
    fl_span key = fl_buf_view(&back->key);

    key.len = fl_span_find(key, '\n');
    fl_report_text(report, "user", key, NAME_MAX_BYTES);
}

static const char *kind_of(const fl_back *back)
{
    if (back->spare)
        return "spare";
    if (back->own)
        return back->route->upstream.child == FL_CHILD_REQUEST &&
                       fl_list_empty(&back->fronts)
                   ? "request"
                   : "session";
    return fl_buf_len(&back->key) == 0 ? "shared" : "user";
}

static void write_owner(fl_report *report, const fl_back *back)
{
    const fl_front *front = front_of(back);
    bool is_whole = !back->own && fl_buf_len(&back->key) == 0;

    fl_json_key(&report->writer, "owner");
    fl_json_object(&report->writer);
    fl_json_key(&report->writer, "kind");
    fl_json_string(&report->writer, kind_of(back));
    fl_report_number(report, "sessions", count_sessions(back));
    if (!back->spare && !is_whole) {
        if (back->own && front != NULL)
            fl_report_number(report, "session", front->number);
        if (!back->own)
            write_user(report, back);
        write_peer(report, front);
        write_name(report, info_of(back, front));
    }
    fl_json_object_end(&report->writer);
}

/* 0: it has none, or none yet. */
static int64_t pid_of(fl_link *link)
{
    int64_t pid = 0;
    fl_buf text;

    fl_buf_init(&text, NAME_MAX_BYTES);
    if (link == NULL || fl_link_operate(link, "pid", &text) != FL_OK ||
        fl_json_int64(fl_buf_view(&text), &pid) != FL_OK)
        pid = 0;
    fl_buf_reset(&text);
    return pid;
}

static void write_process(fl_report *report, fl_link *link)
{
    fl_json_writer *to = &report->writer;
    int64_t pid = pid_of(link);
    fl_proc_use use;

    fl_json_key(to, "pid");
    if (pid > 0)
        fl_json_integer(to, pid);
    else
        fl_json_null(to);
    fl_json_key(to, "memory");
    if (pid <= 0 || !fl_proc_measure((pid_t)pid, &report->looks, &use)) {
        fl_json_null(to);
        return;
    }
    fl_json_object(to);
    fl_report_number(report, "resident", use.resident);
    fl_report_number(report, "family", use.family);
    fl_report_number(report, "processes", use.processes);
    fl_json_object_end(to);
}

/* Of one that has died, what is kept for those who waited: {"stderr":[...]}. */
static fl_status copy_kept(const fl_back *back, fl_buf *line)
{
    fl_span lines = fl_json_get(fl_buf_view(&back->words), FL_SPAN("stderr"));
    fl_json_member one, last = {0};
    fl_json_walk walk;

    fl_json_walk_init(&walk, lines);
    while (fl_json_walk_next(&walk, &one))
        last = one;
    return last.value.len > 0 ? fl_json_string_copy(last.value, line) : FL_OK;
}

static fl_span last_of(fl_span lines)
{
    if (lines.len > 0 && lines.ptr[lines.len - 1] == '\n')
        lines.len--;
    size_t from = lines.len;
    while (from > 0 && lines.ptr[from - 1] != '\n')
        from--;
    return fl_span_from(lines, from);
}

static void write_stderr(fl_report *report, const fl_back *back, fl_link *link)
{
    fl_buf said;

    fl_buf_init(&said, SAID_MAX);
    fl_status rc = link != NULL ? fl_link_operate(link, "stderr", &said)
                                : copy_kept(back, &said);
    fl_report_text(report, "stderr",
                   rc == FL_OK ? last_of(fl_buf_view(&said)) : (fl_span){0},
                   LINE_MAX_BYTES);
    fl_buf_reset(&said);
}

static void write_age(fl_report *report, const fl_link *link)
{
    if (link != NULL && link->stats.opened_ms != 0) {
        fl_report_number(report, "age_ms",
                         report->now_ms - link->stats.opened_ms);
        return;
    }
    fl_json_key(&report->writer, "age_ms");
    fl_json_null(&report->writer);
}

static void write_child(fl_report *report, const fl_back *back)
{
    fl_json_writer *to = &report->writer;
    fl_link *link = back->lane != NULL ? fl_lane_link(back->lane) : NULL;

    fl_json_object(to);
    write_process(report, link);
    write_owner(report, back);
    if (back->route->replica_count > 1)
        fl_report_place(report, back->replica->label);
    fl_json_key(to, "state");
    fl_json_string(to, state_of(back));
    fl_report_text(
        report, "revision",
        fl_span_of(back->revision != NULL ? back->revision->name : NULL),
        NAME_MAX_BYTES);
    write_age(report, link);
    fl_report_number(report, "in_flight", fl_report_count_waiting(back));
    write_stderr(report, back, link);
    fl_report_text(report, "error",
                   fl_span_of(fl_back_is_ready(back) ? NULL : back->why.text),
                   sizeof back->why.text);
    fl_json_object_end(to);
}

void fl_report_children(fl_report *report, const fl_route *route)
{
    fl_json_key(&report->writer, "children");
    fl_json_array(&report->writer);
    for (fl_list *node = route->backs.next; node != &route->backs;
         node = node->next)
        if (fl_report_fits(report))
            write_child(report, FL_LIST_ENTRY(node, fl_back, node));
    fl_json_array_end(&report->writer);
}
