/*
 * task_words.c - what is said of tasks, in the words of 2025-11-25.
 */
#include "base/clock.h"
#include "base/span.h"
#include "gateway/tasks.h"
#include "json/nav.h"
#include "json/write.h"

#define RELATED "io.modelcontextprotocol/related-task"

fl_status fl_tasks_relate(fl_span object, fl_span task, fl_buf *out)
{
    fl_span meta = fl_json_get(object, FL_SPAN("_meta"));
    fl_json_walk walk;
    fl_json_member member;
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_walk_init(&walk, object);
    while (fl_json_walk_next(&walk, &member))
        if (member.value.ptr != meta.ptr) {
            fl_json_raw_key(&writer, member.key);
            fl_json_raw(&writer, member.value);
        }
    fl_json_key(&writer, "_meta");
    fl_json_object(&writer);
    fl_json_walk_init(&walk, meta);
    while (fl_json_walk_next(&walk, &member)) {
        fl_json_raw_key(&writer, member.key);
        fl_json_raw(&writer, member.value);
    }
    fl_json_key(&writer, RELATED);
    fl_json_object(&writer);
    fl_json_key(&writer, "taskId");
    fl_json_raw(&writer, task);
    fl_json_object_end(&writer);
    fl_json_object_end(&writer);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

fl_status fl_tasks_state(fl_span id, const char *status, fl_span ttl,
                         fl_buf *out)
{
    char stamp[FL_CLOCK_STAMP];
    fl_json_writer writer;

    fl_clock_stamp(stamp);
    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "taskId");
    fl_json_raw(&writer, id);
    fl_json_key(&writer, "status");
    fl_json_string(&writer, status);
    fl_json_key(&writer, "createdAt");
    fl_json_string(&writer, stamp);
    fl_json_key(&writer, "lastUpdatedAt");
    fl_json_string(&writer, stamp);
    fl_json_key(&writer, "ttl");
    fl_json_raw(&writer,
                fl_json_type_of(ttl) == FL_JSON_NUMBER ? ttl : FL_SPAN("null"));
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}
