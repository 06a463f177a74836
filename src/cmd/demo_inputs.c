/*
 * demo_inputs.c - tools that ask back: the user, the client's model, and the
 * client itself; and one that writes to its log.
 *
 * The pattern for any tool that needs to know more: look whether the answer is
 * there, and if it is not, say what is wanted and ask. The handler is run
 * again, from its beginning, when the client has answered.
 */
#include "cmd/demo.h"

#include "base/buf.h"
#include "base/span.h"
#include "json/nav.h"
#include "json/write.h"

enum { PROMPT_MAX = 1024 * 1024 };

#define FORM                                                                   \
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\","      \
    "\"title\":\"Name\",\"minLength\":1},\"age\":{\"type\":\"integer\","       \
    "\"title\":\"Age\",\"minimum\":0,\"maximum\":150}},\"required\":["         \
    "\"name\"]}"

static void greet(fl_call *call, fl_span form)
{
    fl_span name = fl_json_get(form, FL_SPAN("name"));
    fl_buf text;

    fl_buf_init(&text, PROMPT_MAX);
    if (fl_buf_append(&text, FL_SPAN("Hello, ")) == FL_OK &&
        fl_json_string_copy(name, &text) == FL_OK &&
        fl_buf_append(&text, FL_SPAN("!")) == FL_OK)
        fl_call_reply_text(call, fl_buf_view(&text));
    else
        fl_call_fail(call, "out of memory");
    fl_buf_reset(&text);
}

void fl_demo_ask(fl_call *call, void *user)
{
    fl_span form;

    (void)user;
    switch (fl_call_input(call, "who", &form)) {
    case FL_INPUT_NONE:
        fl_call_want_form(call, "who", "Who are you?", FORM);
        fl_call_ask(call);
        break;
    case FL_INPUT_ACCEPTED:
        greet(call, form);
        break;
    case FL_INPUT_DECLINED:
        fl_call_reply_text(call, FL_SPAN("As you like."));
        break;
    case FL_INPUT_CANCELLED:
    case FL_INPUT_FAILED:
        fl_call_fail(call, "nobody answered");
        break;
    }
}

/* {"messages":[{"role":"user","content":{"type":"text","text":...}}],...} */
static fl_status write_sample(fl_buf *out, fl_span question)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "messages");
    fl_json_array(&writer);
    fl_json_object(&writer);
    fl_json_key(&writer, "role");
    fl_json_string(&writer, "user");
    fl_json_key(&writer, "content");
    fl_json_object(&writer);
    fl_json_key(&writer, "type");
    fl_json_string(&writer, "text");
    fl_json_key(&writer, "text");
    fl_json_text(&writer, question);
    fl_json_object_end(&writer);
    fl_json_object_end(&writer);
    fl_json_array_end(&writer);
    fl_json_key(&writer, "maxTokens");
    fl_json_integer(&writer, 100);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

/* The content of an answer is a block, or a list of them. */
static void pass_on(fl_call *call, fl_span answer)
{
    fl_span content = fl_json_get(answer, FL_SPAN("content"));
    fl_json_walk walk;
    fl_json_member block;

    if (fl_json_type_of(content) == FL_JSON_OBJECT)
        fl_call_add_json(call, content);
    if (fl_json_type_of(content) == FL_JSON_ARRAY) {
        fl_json_walk_init(&walk, content);
        while (fl_json_walk_next(&walk, &block))
            fl_call_add_json(call, block.value);
    }
    fl_call_finish(call);
}

void fl_demo_consult(fl_call *call, void *user)
{
    fl_span answer;
    fl_buf params;

    (void)user;
    switch (fl_call_input(call, "model", &answer)) {
    case FL_INPUT_NONE:
        fl_buf_init(&params, PROMPT_MAX);
        if (write_sample(&params, fl_call_text(call, "question")) == FL_OK) {
            fl_call_want_sample(call, "model", fl_buf_view(&params));
            fl_call_ask(call);
        } else {
            fl_call_fail(call, "the question is too long");
        }
        fl_buf_reset(&params);
        break;
    case FL_INPUT_ACCEPTED:
        pass_on(call, answer);
        break;
    case FL_INPUT_DECLINED:
    case FL_INPUT_CANCELLED:
    case FL_INPUT_FAILED:
        fl_call_fail(call, "the model was not asked");
        break;
    }
}

void fl_demo_roots(fl_call *call, void *user)
{
    fl_span answer;
    fl_json_walk walk;
    fl_json_member root;
    unsigned count = 0;

    (void)user;
    switch (fl_call_input(call, "roots", &answer)) {
    case FL_INPUT_NONE:
        fl_call_want_roots(call, "roots");
        fl_call_ask(call);
        return;
    case FL_INPUT_ACCEPTED:
        fl_json_walk_init(&walk, fl_json_get(answer, FL_SPAN("roots")));
        while (fl_json_walk_next(&walk, &root))
            count++;
        fl_call_addf(call, "%u roots", count);
        fl_call_set_structured(call, answer);
        fl_call_finish(call);
        return;
    case FL_INPUT_DECLINED:
    case FL_INPUT_CANCELLED:
    case FL_INPUT_FAILED:
        break;
    }
    fl_call_fail(call, "the client did not tell its roots");
}

void fl_demo_note(fl_call *call, void *user)
{
    fl_span text = fl_call_text(call, "text");

    (void)user;
    fl_call_logf(call, FL_LEVEL_DEBUG, "demo", "a note of %zu bytes", text.len);
    fl_call_logf(call, FL_LEVEL_WARNING, "demo", "%.*s", (int)text.len,
                 text.ptr);
    fl_call_reply_text(call, FL_SPAN("noted"));
}
