/*
 * tools_content.c - tools that answer at once, with content of every kind.
 */
#include "fixture.h"

static void simple_text(fl_call *call, void *user)
{
    (void)user;
    fl_call_reply_text(call,
                       TEXT("This is a simple text response for testing."));
}

static void image(fl_call *call, void *user)
{
    (void)user;
    fl_call_add_image(call, red_pixel_png, "image/png");
    fl_call_finish(call);
}

static void audio(fl_call *call, void *user)
{
    (void)user;
    fl_call_add_audio(call, silence_wav, "audio/wav");
    fl_call_finish(call);
}

static void embedded_resource(fl_call *call, void *user)
{
    (void)user;
    fl_call_add_document(call, "test://embedded-resource", "text/plain",
                         TEXT("This is an embedded resource content."));
    fl_call_finish(call);
}

static void mixed_content(fl_call *call, void *user)
{
    (void)user;
    fl_call_add_text(call, TEXT("Multiple content types test:"));
    fl_call_add_image(call, red_pixel_png, "image/png");
    fl_call_add_document(call, "test://mixed-content-resource",
                         "application/json",
                         TEXT(JSON({"test":"data","value":123})));
    fl_call_finish(call);
}

static void error_handling(fl_call *call, void *user)
{
    (void)user;
    fl_call_fail(call, "This tool intentionally returns an error for testing");
}

static const fl_tool tools[] = {
    {
        .name = "test_simple_text",
        .description = "Answers with a text",
        .call = simple_text,
    },
    {
        .name = "test_image_content",
        .description = "Answers with an image",
        .call = image,
    },
    {
        .name = "test_audio_content",
        .description = "Answers with a sound",
        .call = audio,
    },
    {
        .name = "test_embedded_resource",
        .description = "Answers with a resource",
        .call = embedded_resource,
    },
    {
        .name = "test_multiple_content_types",
        .description = "Answers with a text, an image and a resource",
        .call = mixed_content,
    },
    {
        .name = "test_error_handling",
        .description = "Fails, and says so",
        .call = error_handling,
    },
};

fl_status add_content_tools(fl_server *server)
{
    return ADD_TOOLS(server, tools);
}
