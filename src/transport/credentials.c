/*
 * credentials.c - what a request shows of who asks.
 */
#include "transport/credentials.h"

#include "base/mem.h"
#include "base/span.h"

enum { TEXT_MAX = 64 * 1024, CHALLENGE_MAX = 16 * 1024 };

void fl_auth_fields_init(fl_auth_fields *fields)
{
    *fields = (fl_auth_fields){0};
    fl_buf_init(&fields->text, TEXT_MAX);
}

void fl_auth_fields_deinit(fl_auth_fields *fields)
{
    if (fields->text.ptr != NULL)
        fl_mem_wipe(fields->text.ptr, fields->text.cap);
    fl_buf_reset(&fields->text);
    fields->count = 0;
}

void fl_badge_init(fl_badge *badge, fl_auth *auth,
                   void (*fn)(void *user, const fl_error *why), void *user)
{
    *badge = (fl_badge){.auth = auth, .wait = {.fn = fn, .user = user}};
    fl_list_init(&badge->wait.node);
    fl_buf_init(&badge->challenge, CHALLENGE_MAX);
}

void fl_badge_deinit(fl_badge *badge)
{
    fl_badge_rest(badge);
    fl_buf_reset(&badge->challenge);
}

void fl_badge_rest(fl_badge *badge)
{
    fl_list_remove(&badge->wait.node);
}

fl_status fl_badge_ready(fl_badge *badge)
{
    fl_auth *auth = badge->auth;

    return auth != NULL ? auth->ops->ready(auth, &badge->wait) : FL_OK;
}

fl_status fl_badge_sign(fl_badge *badge, fl_span method, fl_span target,
                        fl_auth_fields *out)
{
    fl_auth *auth = badge->auth;

    fl_auth_fields_init(out);
    if (auth == NULL)
        return FL_OK;
    badge->tries++;
    fl_status rc = auth->ops->sign(auth, method, target, out);
    badge->serial = out->serial;
    return rc;
}

/* Several fields are one with commas between; what is too long is cut where a
 * field begins. */
static void gather(fl_badge *badge, const fl_head *head)
{
    fl_buf *text = &badge->challenge;

    fl_buf_clear(text);
    for (size_t i = 0; i < head->count; i++) {
        size_t before = fl_buf_len(text);
        fl_status rc = FL_OK;
        if (head->fields[i].id != FL_FIELD_WWW_AUTHENTICATE)
            continue;
        if (before > 0)
            rc = fl_buf_append(text, FL_SPAN(", "));
        if (rc == FL_OK)
            rc = fl_buf_append(text, head->fields[i].value);
        if (rc != FL_OK)
            fl_buf_truncate(text, before);
    }
}

void fl_badge_heard(fl_badge *badge, const fl_head *head)
{
    fl_auth *auth = badge->auth;

    if (auth == NULL)
        return;
    if (head->status / 100 == 2)
        badge->tries = 0;
    gather(badge, head);
    auth->ops->heard(auth, head);
}

fl_status fl_badge_refused(fl_badge *badge, unsigned status,
                           const char *revision, fl_error *why)
{
    fl_auth *auth = badge->auth;

    if (auth == NULL || (status != 401 && status != 403))
        return FL_E_UNSUPPORTED;
    return auth->ops->refused(auth,
                              &(fl_auth_refusal){
                                  .status = status,
                                  .challenge = fl_buf_view(&badge->challenge),
                                  .serial = badge->serial,
                                  .tries = badge->tries,
                                  .revision = revision,
                              },
                              &badge->wait, why);
}
