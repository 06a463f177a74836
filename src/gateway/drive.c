/*
 * drive.c - a call that has become a task, seen through to its end.
 *
 *   tasks/get ... tasks/get, until it is over or wants to know something;
 *   then tasks/result, which waits for the end
 *
 * The errand keeps the number of its call: progress of a task comes under the
 * call's token, and the end is told as if it were the call's answer. Questions
 * come as those of any call do.
 */
#include "gateway/drive.h"

#include "base/mem.h"
#include "base/numbers.h"
#include "base/span.h"
#include "base/status.h"
#include "gateway/gateway.h"
#include "gateway/park.h"
#include "gateway/route.h"
#include "json/nav.h"

enum {
    POLL_MS = 1000,
    POLL_MIN_MS = 20,
    POLL_MAX_MS = 10000,
    TASK_MAX = 64 * 1024,
};

struct fl_drive {
    fl_errand *errand;
    fl_errand *asked; /* our request, or NULL */
    fl_timer timer;   /* until the next one */
    uint64_t poll_ms;
    bool over;
    fl_span task; /* behind the struct; a raw token */
};

bool fl_drive_is_over(const fl_drive *drive)
{
    return drive->over;
}

bool fl_drive_is(const fl_drive *drive, fl_span task)
{
    return fl_msg_id_equal(drive->task, task);
}

fl_status fl_drive_write(fl_span task, fl_buf *out)
{
    return fl_buf_printf(out, "{\"taskId\":%.*s}", (int)task.len, task.ptr);
}

static fl_status ask(fl_back *back, fl_method method, fl_span task,
                     fl_own_fn *own, fl_drive *drive)
{
    fl_buf params;

    fl_buf_init(&params, TASK_MAX + 32);
    fl_status rc = fl_drive_write(task, &params);
    if (rc == FL_OK)
        rc = fl_back_ask(back, method, fl_buf_view(&params), own, drive,
                         drive != NULL ? &drive->asked : NULL);
    fl_buf_reset(&params);
    return rc;
}

/* As the answer to the call. The drive is gone with its errand, most likely. */
static void tell_end(fl_drive *drive, const fl_msg *msg)
{
    fl_back *back = drive->errand->back;
    char number[FL_NUMBERS_TEXT];
    fl_span parts[3];
    fl_buf text;

    drive->over = true;
    fl_msg_splice_id(msg, fl_numbers_write(drive->errand->number, number),
                     parts);
    fl_buf_init(&text, FL_PARK_TEXT);
    if (fl_buf_append(&text, parts[0]) == FL_OK &&
        fl_buf_append(&text, parts[1]) == FL_OK &&
        fl_buf_append(&text, parts[2]) == FL_OK) {
        fl_back_hear_again(back, fl_buf_view(&text));
    } else {
        fl_error why;
        fl_error_set(&why, FL_E_NOMEM, "out of memory");
        fl_back_lose(drive->errand, &why);
    }
    fl_buf_reset(&text);
}

static void look_again(fl_drive *drive)
{
    fl_timer_start(&drive->timer, drive->poll_ms);
}

static void on_result(void *user, const fl_msg *msg, const fl_error *why)
{
    fl_drive *drive = user;

    drive->asked = NULL;
    if (why != NULL)
        look_again(drive); /* unless the errand goes as well */
    else
        tell_end(drive, msg);
}

static bool is_working(fl_span state)
{
    return fl_json_string_is(fl_json_get(state, FL_SPAN("status")),
                             FL_SPAN("working"));
}

static void on_state(void *user, const fl_msg *msg, const fl_error *why)
{
    fl_drive *drive = user;
    fl_errand *errand = drive->errand;

    drive->asked = NULL;
    if (why != NULL) {
        look_again(drive);
        return;
    }
    if (msg->kind == FL_MSG_ERROR) {
        tell_end(drive, msg);
        return;
    }
    if (errand->state == FL_ERRAND_SENT)
        fl_back_touch(errand);
    if (is_working(msg->result) || ask(errand->back, FL_METHOD_TASKS_RESULT,
                                       drive->task, on_result, drive) != FL_OK)
        look_again(drive);
}

static void on_timer(fl_timer *timer)
{
    fl_drive *drive = FL_LIST_ENTRY(timer, fl_drive, timer);

    if (ask(drive->errand->back, FL_METHOD_TASKS_GET, drive->task, on_state,
            drive) != FL_OK)
        look_again(drive);
}

static uint64_t read_interval(fl_span task)
{
    int64_t ms;

    if (fl_json_int64(fl_json_get(task, FL_SPAN("pollInterval")), &ms) != FL_OK)
        return POLL_MS;
    return ms < POLL_MIN_MS   ? POLL_MIN_MS
           : ms > POLL_MAX_MS ? POLL_MAX_MS
                              : (uint64_t)ms;
}

bool fl_drive_begin(fl_errand *errand, fl_span task)
{
    fl_span id = fl_json_get(task, FL_SPAN("taskId"));
    fl_park *park;

    if (fl_json_type_of(id) != FL_JSON_STRING || id.len > TASK_MAX ||
        fl_park_of(errand, &park) != FL_OK || park->drive != NULL)
        return false;
    fl_drive *drive = fl_mem_zalloc(sizeof *drive + id.len);
    if (drive == NULL)
        return false;
    memcpy(drive + 1, id.ptr, id.len);
    drive->task = (fl_span){(char *)(drive + 1), id.len};
    drive->errand = errand;
    drive->poll_ms = read_interval(task);
    fl_timer_init(&drive->timer, errand->back->route->gateway->loop, on_timer);
    park->drive = drive;
    fl_back_touch(errand);
    look_again(drive);
    return true;
}

static void on_cancelled(void *user, const fl_msg *msg, const fl_error *why)
{
    (void)user; /* whatever it says, nobody waits */
    (void)msg;
    (void)why;
}

void fl_drive_free(fl_drive *drive)
{
    fl_timer_stop(&drive->timer);
    if (drive->asked != NULL)
        fl_back_unask(drive->asked);
    if (!drive->over && ask(drive->errand->back, FL_METHOD_TASKS_CANCEL,
                            drive->task, on_cancelled, NULL) != FL_OK)
        drive->over = true; /* the server has gone, and the task with it */
    fl_mem_free(drive);
}

void fl_drive_disown(fl_back *back, const fl_msg *answer)
{
    fl_span task = fl_json_get(answer->result, FL_SPAN("task"));
    fl_span id = fl_json_get(task, FL_SPAN("taskId"));

    if (fl_json_type_of(id) == FL_JSON_STRING && id.len <= TASK_MAX &&
        fl_back_is_ready(back) && !fl_back_is_modern(back))
        (void)!ask(back, FL_METHOD_TASKS_CANCEL, id, on_cancelled, NULL);
}
