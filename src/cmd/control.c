/*
 * control.c - the control socket of a gateway.
 *
 * It says one thing to whoever comes, and listens to nobody: there is no word
 * that could be sent to it, so nothing that could be said wrong. Nobody is
 * waited for either, but for the time a peer needs to read; the few who may
 * take their time are counted, and hold no more than their own copy.
 *
 * The file is its user's alone (0600, in a folder that is so, too). As that
 * does not hold for every place a user may choose, who is at the other end is
 * asked of the system as well: root and the user himself may know.
 */
#include "cmd/control.h"

#include "base/list.h"
#include "base/mem.h"
#include "base/span.h"
#include "cmd/control_place.h"
#include "gateway/report.h"
#include "io/acceptor.h"
#include "io/loop.h"
#include "io/timer.h"

#include <string.h>
#include <unistd.h>

struct fl_control {
    fl_loop *loop;
    const fl_gateway *gateway;
    fl_acceptor *acceptor; /* NULL once it has gone */
    fl_list peers;
    unsigned count;
    fl_buf report;  /* the latest, for a moment */
    fl_timer stale; /* when that is over */
    bool closing;
};

typedef struct peer {
    fl_list node;
    fl_control *control;
    fl_stream *stream;
} peer;

static void settle(fl_control *control)
{
    if (!control->closing || control->acceptor != NULL || control->count > 0)
        return;
    fl_buf_reset(&control->report);
    fl_mem_free(control);
}

static void on_stale(fl_timer *timer)
{
    fl_control *control = FL_LIST_ENTRY(timer, fl_control, stale);

    fl_buf_reset(&control->report);
}

/* FL_E_NOMEM, most likely: then whoever asked is told nothing. */
static fl_status compose(fl_control *control)
{
    fl_status rc = FL_OK;

    if (fl_buf_len(&control->report) > 0)
        return FL_OK;
    rc = fl_gateway_report(control->gateway, &control->report);
    if (rc == FL_OK)
        rc = fl_buf_append(&control->report, FL_SPAN("\n"));
    if (rc == FL_OK)
        fl_timer_start(&control->stale, FL_CONTROL_REUSED_MS);
    else
        fl_buf_reset(&control->report);
    return rc;
}

static void on_data(void *user, fl_span bytes)
{
    (void)user;
    (void)bytes;
}

static void on_end(void *user, const fl_error *error)
{
    (void)error;
    fl_stream_close(((peer *)user)->stream);
}

static void on_closed(void *user)
{
    peer *gone = user;
    fl_control *control = gone->control;

    fl_list_remove(&gone->node);
    fl_mem_free(gone);
    control->count--;
    settle(control);
}

static const fl_stream_events peer_events = {
    .on_data = on_data,
    .on_end = on_end,
    .on_closed = on_closed,
};

static bool may_know(const fl_stream *stream)
{
    uid_t user;

    return fl_stream_peer_user(stream, &user) &&
           (user == geteuid() || user == 0);
}

static void tell(fl_control *control, fl_stream *stream)
{
    fl_status rc = compose(control);
    fl_span report = fl_buf_view(&control->report);

    if (rc == FL_OK)
        rc = fl_stream_write_urgent(stream, &report, 1);
    if (rc == FL_OK)
        fl_stream_close_after_flush(stream, FL_CONTROL_FLUSH_MS);
    else
        fl_stream_close(stream);
}

static void on_accept(void *user, fl_stream *stream, const char *address)
{
    fl_control *control = user;
    peer *made = NULL;

    (void)address;
    if (control->count < FL_CONTROL_PEERS && may_know(stream))
        made = fl_mem_alloc(sizeof *made);
    if (made == NULL) {
        fl_stream_close(stream);
        return;
    }
    *made = (peer){.control = control, .stream = stream};
    fl_list_append(&control->peers, &made->node);
    control->count++;
    if (fl_stream_start(stream, &peer_events, made) == FL_OK)
        tell(control, stream);
    else
        fl_stream_close(stream);
}

static void on_acceptor_closed(void *user)
{
    fl_control *control = user;

    control->acceptor = NULL;
    settle(control);
}

static const fl_acceptor_events acceptor_events = {
    .on_accept = on_accept,
    .on_closed = on_acceptor_closed,
};

/* Where nobody has said where; those who died there are swept out. */
static fl_status prepare(char path[FL_CONTROL_PATH], fl_error *error)
{
    char folder[FL_CONTROL_PATH];

    (void)fl_control_place(0, folder);
    fl_status rc = fl_control_make(folder, error);
    if (rc != FL_OK)
        return rc;
    fl_control_sweep_all(folder);
    return fl_control_path(folder, getpid(), path);
}

static fl_control *make(const fl_gateway *gateway, fl_loop *loop)
{
    fl_control *control = fl_mem_zalloc(sizeof *control);

    if (control == NULL)
        return NULL;
    control->gateway = gateway;
    control->loop = loop;
    fl_list_init(&control->peers);
    fl_buf_init(&control->report, FL_REPORT_MAX + 1);
    fl_timer_init(&control->stale, loop, on_stale);
    return control;
}

static void warn(fl_loop *loop, const char *why)
{
    fl_log_say(fl_loop_log(loop), FL_LOG_WARN,
               "no control socket: 'fairlead ps' will not see this gateway",
               fl_log_text("reason", fl_span_of(why)));
}

fl_control *fl_control_open(const fl_gateway *gateway, fl_loop *loop,
                            const char *where)
{
    char path[FL_CONTROL_PATH];
    fl_error error = {.text = "out of memory"};
    fl_status rc = FL_OK;

    if (where != NULL && strcmp(where, "none") == 0)
        return NULL;
    if (where == NULL)
        rc = prepare(path, &error);
    fl_control *control = rc == FL_OK ? make(gateway, loop) : NULL;
    if (control != NULL)
        rc = fl_acceptor_open(
            loop, &(fl_acceptor_options){.path = where != NULL ? where : path},
            &acceptor_events, control, &control->acceptor, &error);
    if (control != NULL && rc == FL_OK)
        return control;
    warn(loop, error.text);
    fl_mem_free(control);
    return NULL;
}

void fl_control_close(fl_control *control)
{
    fl_list peers, *node;

    if (control == NULL || control->closing)
        return;
    control->closing = true;
    fl_timer_stop(&control->stale);
    fl_list_move(&peers, &control->peers);
    while ((node = fl_list_take(&peers)) != NULL)
        fl_stream_close(FL_LIST_ENTRY(node, peer, node)->stream);
    fl_acceptor_close(control->acceptor);
}
