/*
 * prompts.c - prompts: with arguments, with a resource, with an image, and one
 * that asks the user before it can be given.
 */
#include "fixture.h"

#include <stdio.h>

static void simple(fl_call *call, void *user)
{
    (void)user;
    fl_call_reply_text(call, TEXT("This is a simple prompt for testing."));
}

static void with_arguments(fl_call *call, void *user)
{
    fl_span first = fl_call_text(call, "arg1");
    fl_span second = fl_call_text(call, "arg2");

    (void)user;
    fl_call_replyf(call, "Prompt with arguments: arg1='%.*s', arg2='%.*s'",
                   SHOW(first), SHOW(second));
}

static void complete_argument(fl_call *call, void *user)
{
    static const char *const words[] = {"paris", "park", "party", "test", NULL};

    (void)user;
    complete_from(call, words);
}

static void with_resource(fl_call *call, void *user)
{
    fl_span uri = fl_call_text(call, "resourceUri");
    char text[1024];

    (void)user;
    if (snprintf(text, sizeof text, "%.*s", SHOW(uri)) >= (int)sizeof text) {
        fl_call_fail(call, "resourceUri is too long");
        return;
    }
    fl_call_add_document(call, text, "text/plain",
                         TEXT("Embedded resource content for testing."));
    fl_call_add_text(call, TEXT("Please process the embedded resource above."));
    fl_call_finish(call);
}

static void with_image(fl_call *call, void *user)
{
    (void)user;
    fl_call_add_image(call, red_pixel_png, "image/png");
    fl_call_add_text(call, TEXT("Please analyze the image above."));
    fl_call_finish(call);
}

static void with_input(fl_call *call, void *user)
{
    fl_span form;

    (void)user;
    switch (fl_call_input(call, "user_context", &form)) {
    case FL_INPUT_NONE:
        fl_call_want_form(call, "user_context",
                          "What context should the prompt have?",
                          JSON({
                              "type": "object",
                              "properties": {"context": {"type": "string"}},
                              "required": ["context"]
                          }));
        fl_call_ask(call);
        return;
    case FL_INPUT_ACCEPTED:
        fl_call_replyf(call, "Prompt with context: %s",
                       text_of(form, "context").text);
        return;
    case FL_INPUT_DECLINED:
    case FL_INPUT_CANCELLED:
    case FL_INPUT_FAILED:
        fl_call_replyf(call, "Prompt without context");
        return;
    }
}

static const fl_prompt_argument two_arguments[] = {
    {.name = "arg1", .description = "First test argument", .required = true},
    {.name = "arg2", .description = "Second test argument", .required = true},
};

static const fl_prompt_argument resource_argument[] = {
    {
        .name = "resourceUri",
        .description = "URI of the resource to embed",
        .required = true,
    },
};

static const fl_prompt prompts[] = {
    {
        .name = "test_simple_prompt",
        .description = "A prompt without arguments",
        .get = simple,
    },
    {
        .name = "test_prompt_with_arguments",
        .description = "A prompt with two arguments",
        .arguments = two_arguments,
        .argument_count = 2,
        .get = with_arguments,
        .complete = complete_argument,
    },
    {
        .name = "test_prompt_with_embedded_resource",
        .description = "A prompt with a resource in it",
        .arguments = resource_argument,
        .argument_count = 1,
        .get = with_resource,
    },
    {
        .name = "test_prompt_with_image",
        .description = "A prompt with an image in it",
        .get = with_image,
    },
    {
        .name = "test_input_required_result_prompt",
        .description = "A prompt that asks the user first",
        .get = with_input,
    },
};

fl_status add_prompts(fl_server *server)
{
    fl_status rc = FL_OK;

    for (size_t i = 0; i < sizeof prompts / sizeof *prompts; i++)
        if (rc == FL_OK)
            rc = fl_server_add_prompt(server, &prompts[i]);
    return rc;
}
