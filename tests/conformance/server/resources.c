/*
 * resources.c - resources: text, bytes, one to be watched, and a template.
 */
#include "fixture.h"

static void static_text(fl_call *call, void *user)
{
    (void)user;
    fl_call_reply_text(
        call, TEXT("This is the content of the static text resource."));
}

static void static_binary(fl_call *call, void *user)
{
    (void)user;
    fl_call_add_blob(call, NULL, NULL, red_pixel_png);
    fl_call_finish(call);
}

static void watched(fl_call *call, void *user)
{
    (void)user;
    fl_call_reply_text(call, TEXT("Watched resource content"));
}

/* The raw argument is a JSON string already, quotes and escapes and all. */
static void template_data(fl_call *call, void *user)
{
    fl_span raw = fl_call_raw(call, "id");
    fl_span inside = {raw.ptr + 1, raw.len - 2};

    (void)user;
    fl_call_replyf(call,
                   "{\"id\":%.*s,\"templateTest\":true,"
                   "\"data\":\"Data for ID: %.*s\"}",
                   SHOW(raw), SHOW(inside));
}

static void complete_id(fl_call *call, void *user)
{
    static const char *const ids[] = {"1", "12", "123", "2", NULL};

    (void)user;
    complete_from(call, ids);
}

static const fl_resource resources[] = {
    {
        .uri = "test://static-text",
        .name = "Static text",
        .description = "A text that is always the same",
        .mime_type = "text/plain",
        .read = static_text,
    },
    {
        .uri = "test://static-binary",
        .name = "Static binary",
        .description = "An image that is always the same",
        .mime_type = "image/png",
        .read = static_binary,
    },
    {
        .uri = "test://watched-resource",
        .name = "Watched resource",
        .description = "A text to subscribe to",
        .mime_type = "text/plain",
        .read = watched,
    },
};

static const fl_resource data_template = {
    .uri = "test://template/{id}/data",
    .name = "Data by id",
    .description = "What there is about an id",
    .mime_type = "application/json",
    .read = template_data,
    .complete = complete_id,
};

fl_status add_resources(fl_server *server)
{
    fl_status rc = fl_server_add_template(server, &data_template);

    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
        if (rc == FL_OK)
            rc = fl_server_add_resource(server, &resources[i]);
    return rc;
}
