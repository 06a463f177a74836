/*
 * tools_asking.c - tools that ask the client one thing: its model, its user.
 *
 * Each is one function that is run twice: once to ask, once with the answer.
 */
#include "fixture.h"

#include <stdio.h>

/* What to do without an answer of substance, the same everywhere. */
static void tell_refusal(fl_call *call, fl_input input, fl_span content)
{
    switch (input) {
    case FL_INPUT_DECLINED:
        fl_call_replyf(call, "User response: action=decline, content={}");
        return;
    case FL_INPUT_CANCELLED:
        fl_call_replyf(call, "User response: action=cancel, content={}");
        return;
    case FL_INPUT_FAILED:
        fl_call_fail(call, "The client could not answer: %.*s", SHOW(content));
        return;
    case FL_INPUT_NONE:
    case FL_INPUT_ACCEPTED:
        fl_call_fail(call, "The client did not answer");
        return;
    }
}

/* The prompt goes from our arguments into our question as it is, a JSON
 * string. */
static void ask_model(fl_call *call)
{
    fl_span prompt = fl_call_raw(call, "prompt");
    char params[4096];
    int len = snprintf(params, sizeof params,
                       "{\"messages\":[{\"role\":\"user\",\"content\":"
                       "{\"type\":\"text\",\"text\":%.*s}}],"
                       "\"maxTokens\":100}",
                       SHOW(prompt));

    if (len >= (int)sizeof params) {
        fl_call_fail(call, "The prompt is too long");
        return;
    }
    fl_call_want_sample(call, "sample", (fl_span){params, (size_t)len});
    fl_call_ask(call);
}

static void sampling(fl_call *call, void *user)
{
    fl_span sample;
    fl_input input = fl_call_input(call, "sample", &sample);

    (void)user;
    if (input == FL_INPUT_NONE)
        ask_model(call);
    else if (input == FL_INPUT_ACCEPTED)
        fl_call_replyf(call, "LLM response: %s",
                       text_of(fl_raw_get(sample, "content"), "text").text);
    else
        tell_refusal(call, input, sample);
}

/* One form, and its answer as it came. */
static void ask_user(fl_call *call, const char *message, const char *schema)
{
    fl_span form;
    fl_input input = fl_call_input(call, "form", &form);

    if (input == FL_INPUT_NONE) {
        fl_call_want_form(call, "form", message, schema);
        fl_call_ask(call);
    } else if (input == FL_INPUT_ACCEPTED) {
        fl_call_replyf(call, "User response: action=accept, content=%.*s",
                       SHOW(form));
    } else {
        tell_refusal(call, input, form);
    }
}

static void elicitation(fl_call *call, void *user)
{
    fl_span message = fl_call_text(call, "message");
    char text[1024];

    (void)user;
    if (snprintf(text, sizeof text, "%.*s", SHOW(message)) >= (int)sizeof text)
        fl_call_fail(call, "The message is too long");
    else
        ask_user(call, text,
                 JSON({
                     "type": "object",
                     "properties": {
                         "username": {
                             "type": "string",
                             "description": "Your name"
                         },
                         "email": {
                             "type": "string",
                             "description": "Your email address"
                         }
                     },
                     "required": ["username", "email"]
                 }));
}

static const char default_fields[] = JSON({
    "type": "object",
    "properties": {
        "name": {
            "type": "string",
            "description": "User name",
            "default": "John Doe"
        },
        "age": {
            "type": "integer",
            "description": "User age",
            "default": 30
        },
        "score": {
            "type": "number",
            "description": "User score",
            "default": 95.5
        },
        "status": {
            "type": "string",
            "description": "User status",
            "enum": ["active", "inactive", "pending"],
            "default": "active"
        },
        "verified": {
            "type": "boolean",
            "description": "Verification status",
            "default": true
        }
    },
    "required": []
});

static void defaults(fl_call *call, void *user)
{
    (void)user;
    ask_user(call, "Please review and update the form fields with defaults",
             default_fields);
}

static const char enum_fields[] = JSON({
    "type": "object",
    "properties": {
        "untitledSingle": {
            "type": "string",
            "description": "One of these",
            "enum": ["option1", "option2", "option3"]
        },
        "titledSingle": {
            "type": "string",
            "description": "One of these, by title",
            "oneOf": [
                {"const": "value1", "title": "First Option"},
                {"const": "value2", "title": "Second Option"},
                {"const": "value3", "title": "Third Option"}
            ]
        },
        "legacyEnum": {
            "type": "string",
            "description": "One of these, by name",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": [
                "Option One", "Option Two", "Option Three"
            ]
        },
        "untitledMulti": {
            "type": "array",
            "description": "Some of these",
            "minItems": 1,
            "maxItems": 3,
            "items": {
                "type": "string",
                "enum": ["option1", "option2", "option3"]
            }
        },
        "titledMulti": {
            "type": "array",
            "description": "Some of these, by title",
            "minItems": 1,
            "maxItems": 3,
            "items": {
                "anyOf": [
                    {"const": "value1", "title": "First Choice"},
                    {"const": "value2", "title": "Second Choice"},
                    {"const": "value3", "title": "Third Choice"}
                ]
            }
        }
    },
    "required": []
});

static void enums(fl_call *call, void *user)
{
    (void)user;
    ask_user(call, "Please select options from the enum fields", enum_fields);
}

static void streaming_elicitation(fl_call *call, void *user)
{
    (void)user;
    ask_user(
        call, "Shall we go on?",
        JSON({
                 "type": "object",
                 "properties": {"ok": {"type": "boolean"}}
             }));
}

/* A client that cannot do what is wanted is told so by the library. */
static void missing_capability(fl_call *call, void *user)
{
    fl_span sample;

    (void)user;
    if (fl_call_input(call, "sample", &sample) == FL_INPUT_ACCEPTED) {
        fl_call_replyf(call, "The client can sample");
        return;
    }
    fl_call_want_sample(
        call, "sample",
        TEXT(JSON({
                            "messages": [{
                                "role": "user",
                                "content": {"type": "text", "text": "Hello"}
                            }],
                            "maxTokens": 10
                        })));
    fl_call_ask(call);
}

static const fl_tool tools[] = {
    {
        .name = "test_sampling",
        .description = "Asks the client's model",
        .input_schema = JSON({
            "type": "object",
            "properties": {
                "prompt": {
                    "type": "string",
                    "description": "What to ask the model"
                }
            },
            "required": ["prompt"]
        }),
              .call = sampling,
            },
            {
                .name = "test_elicitation",
                .description = "Asks the user for name and address",
                .input_schema = JSON({
            "type": "object",
            "properties": {
                "message": {
                    "type": "string",
                    "description": "What to tell the user"
                }
            },
            "required": ["message"]
        }),
                      .call = elicitation,
                    },
                    {
                        .name = "test_elicitation_sep1034_defaults",
                        .description =
                            "Asks with a form whose fields have defaults",
                        .call = defaults,
                    },
                    {
                        .name = "test_elicitation_sep1330_enums",
                        .description =
                            "Asks with a form that has choices of all kinds",
                        .call = enums,
                    },
                    {
                        .name = "test_streaming_elicitation",
                        .description =
                            "Asks the user, but sends no request of its own to "
                            "clients that do not expect one",
                        .call = streaming_elicitation,
                    },
                    {
                        .name = "test_missing_capability",
                        .description = "Needs a client that can sample",
                        .call = missing_capability,
                    },
};

fl_status add_asking_tools(fl_server *server)
{
    return ADD_TOOLS(server, tools);
}
