/*
 * serve_file.c - answering a resources/read with a file.
 *
 * The call waits while the file is read on another thread. Whoever cancels,
 * or goes, is not waited for: the call ends, and the reading is forgotten.
 */
#include "server/serve_file.h"

#include "base/mem.h"
#include "base/span.h"
#include "rpc/error.h"
#include "server/call.h"
#include "server/mime.h"

#include <stdio.h>

typedef struct serving {
    fl_call *call;
    fl_file_read *read;
    const fl_mime *mime; /* NULL: not known */
    size_t max;
} serving;

/* Text is what is said to be text and is; of what is not known, what looks
 * like it. */
static void add_contents(const serving *s, const fl_file_result *result)
{
    bool known = s->mime != NULL;

    if (result->is_text && (!known || s->mime->is_text))
        fl_call_add_document(
            s->call, NULL, known ? s->mime->type : "text/plain", result->bytes);
    else
        fl_call_add_blob(s->call, NULL,
                         known ? s->mime->type : "application/octet-stream",
                         result->bytes);
}

static void refuse_size(const serving *s)
{
    char data[48];
    int n = snprintf(data, sizeof data, "{\"limit\":%zu}", s->max);

    fl_call_end_error(s->call, FL_RPC_INTERNAL_ERROR,
                      FL_SPAN("the file is larger than those that are served"),
                      (fl_span){data, (size_t)n});
}

static void on_read(void *user, const fl_file_result *result)
{
    serving s = *(serving *)user;

    fl_mem_free(user);
    fl_call_on_cancel(s.call, NULL, NULL);
    switch ((int)result->status) {
    case FL_OK:
        add_contents(&s, result);
        fl_call_finish(s.call);
        break;
    case FL_E_NOT_FOUND:
    case FL_E_DENIED:
        fl_call_not_found(s.call);
        break;
    case FL_E_TOO_BIG:
        refuse_size(&s);
        break;
    default:
        fl_call_fail(s.call, "the file cannot be read now");
        break;
    }
}

static void on_cancel(fl_call *call, void *user)
{
    serving *s = user;

    fl_file_read_cancel(s->read);
    fl_mem_free(s);
    fl_call_fail(call, "cancelled");
}

void fl_serve_file(fl_call *call, const fl_file_place *place)
{
    serving *s = fl_mem_zalloc(sizeof *s);
    fl_call *kept = fl_call_defer(call);
    fl_status rc = s != NULL ? FL_OK : FL_E_NOMEM;

    if (kept == NULL) {
        fl_mem_free(s);
        return;
    }
    if (rc == FL_OK)
        rc =
            fl_file_read_start(fl_call_loop(kept), place, on_read, s, &s->read);
    if (rc != FL_OK) {
        fl_mem_free(s);
        fl_call_fail(kept, "the file cannot be read now");
        return;
    }
    s->call = kept;
    s->mime = fl_mime_of(fl_span_of(place->path));
    s->max = place->max;
    fl_call_on_cancel(kept, on_cancel, s);
}
