/*
 * demo_resources.c - what the demo has to read: a text, a picture, one that
 * changes when it is told to, and a template; and prompts.
 */
#include "cmd/demo.h"

#include "base/clock.h"
#include "base/span.h"

static void read_hello(fl_call *call, void *user)
{
    (void)user;
    fl_call_reply_text(call, FL_SPAN("Hello from fairlead.\n"));
}

/* One pixel, and that transparent. */
static const unsigned char pixel[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d,
    0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01,
    0x08, 0x06, 0x00, 0x00, 0x00, 0x1f, 0x15, 0xc4, 0x89, 0x00, 0x00, 0x00,
    0x0b, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x60, 0x00, 0x02, 0x00,
    0x00, 0x05, 0x00, 0x01, 0xe9, 0xfa, 0xdc, 0xd8, 0x00, 0x00, 0x00, 0x00,
    0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};

static void read_pixel(fl_call *call, void *user)
{
    (void)user;
    fl_call_add_blob(call, NULL, NULL,
                     (fl_span){(const char *)pixel, sizeof pixel});
    fl_call_set_cache(call, 3600000, true);
    fl_call_finish(call);
}

static void read_time(fl_call *call, void *user)
{
    char stamp[FL_CLOCK_STAMP];

    (void)user;
    fl_clock_stamp(stamp);
    fl_call_reply_text(call, fl_span_of(stamp));
}

static void read_greeting(fl_call *call, void *user)
{
    fl_span name = fl_call_text(call, "name");

    (void)user;
    fl_call_replyf(call, "Hello, %.*s!", (int)name.len, name.ptr);
}

/* Names that begin as asked; the same for the template and the prompt. */
static void complete_name(fl_call *call, void *user)
{
    static const char *const names[] = {"Ada",    "Alan",  "Barbara",
                                        "Dennis", "Grace", "Ken"};
    fl_span prefix = fl_call_prefix(call);

    (void)user;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (fl_span_starts(fl_span_of(names[i]), prefix))
            fl_call_suggest(call, fl_span_of(names[i]));
    fl_call_finish(call);
}

static void complete_style(fl_call *call, void *user)
{
    if (fl_span_equal(fl_call_completing(call), FL_SPAN("name"))) {
        complete_name(call, user);
        return;
    }
    fl_call_suggest(call, FL_SPAN("plain"));
    fl_call_suggest(call, FL_SPAN("formal"));
    fl_call_finish(call);
}

static void get_greeting(fl_call *call, void *user)
{
    fl_span name = fl_call_text(call, "name");
    bool formal = fl_call_has(call, "style") &&
                  fl_span_equal(fl_call_text(call, "style"), FL_SPAN("formal"));

    (void)user;
    fl_call_addf(call, "Greet %.*s%s.", (int)name.len, name.ptr,
                 formal ? ", and mind your manners" : "");
    fl_call_add_document(call, "demo://hello", "text/plain",
                         FL_SPAN("Hello from fairlead.\n"));
    fl_call_role(call, FL_ROLE_ASSISTANT);
    fl_call_add_text(call, FL_SPAN("With pleasure."));
    fl_call_finish(call);
}

/* Tells those who have subscribed that the time is another one. */
void fl_demo_tick(fl_call *call, void *user)
{
    fl_server_resource_updated(user, "demo://time");
    fl_call_reply_text(call, FL_SPAN("tock"));
}

static const fl_resource resources[] = {
    {.uri = "demo://hello",
     .name = "hello",
     .title = "Hello",
     .description = "A short text",
     .mime_type = "text/plain",
     .size = 21,
     .read = read_hello},
    {.uri = "demo://pixel",
     .name = "pixel",
     .title = "Pixel",
     .description = "A very small picture",
     .mime_type = "image/png",
     .size = sizeof pixel,
     .read = read_pixel},
    {.uri = "demo://time",
     .name = "time",
     .title = "Time",
     .description = "The time, in UTC; the tool tick tells that it has changed",
     .mime_type = "text/plain",
     .read = read_time},
};

static const fl_resource greeting = {
    .uri = "demo://greeting/{name}",
    .name = "greeting",
    .title = "Greeting",
    .description = "Hello to somebody",
    .mime_type = "text/plain",
    .read = read_greeting,
    .complete = complete_name,
};

static const fl_prompt_argument greeting_arguments[] = {
    {.name = "name", .description = "Whom to greet", .required = true},
    {.name = "style", .description = "plain or formal"},
};

static const fl_prompt prompt = {
    .name = "greeting",
    .title = "Greeting",
    .description = "Has the model greet somebody",
    .arguments = greeting_arguments,
    .argument_count = 2,
    .get = get_greeting,
    .complete = complete_style,
};

fl_status fl_demo_add_resources(fl_server *server)
{
    fl_status rc = FL_OK;

    for (size_t i = 0; i < sizeof resources / sizeof *resources && rc == FL_OK;
         i++)
        rc = fl_server_add_resource(server, &resources[i]);
    if (rc == FL_OK)
        rc = fl_server_add_template(server, &greeting);
    return rc == FL_OK ? fl_server_add_prompt(server, &prompt) : rc;
}
