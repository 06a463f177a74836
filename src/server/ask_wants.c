/*
 * ask_wants.c - what a handler wants to know, in the words of the protocol.
 *
 * Only what the client has said it can do is asked for (K6). Everything is
 * checked when it is said, and what is wrong is noted for fl_call_ask().
 */
#include "server/asking.h"

#include "base/random.h"
#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "schema/schema.h"
#include "json/nav.h"
#include "json/write.h"

#include <stdio.h>

const char *fl_want_method(fl_want_kind kind)
{
    switch (kind) {
    case FL_WANT_SAMPLE:
        return "sampling/createMessage";
    case FL_WANT_ROOTS:
        return "roots/list";
    case FL_WANT_FORM:
    case FL_WANT_URL:
        break;
    }
    return "elicitation/create";
}

static bool lacks(const fl_call *call, fl_ability what)
{
    return (call->asking->missing & 1U << what) != 0;
}

static void write_mode(fl_json_writer *writer, bool wanted, const char *mode)
{
    if (!wanted)
        return;
    fl_json_key(writer, mode);
    fl_json_object(writer);
    fl_json_object_end(writer);
}

/* Elicitation without more is forms; a client that has named its modes is told
 * which one it lacks. */
fl_status fl_asking_write_missing(const fl_call *call, fl_buf *out)
{
    bool modes =
        fl_json_get(fl_call_capabilities(call), FL_SPAN("elicitation")).len > 0;
    bool form = lacks(call, FL_CAN_ELICIT_FORM);
    bool url = lacks(call, FL_CAN_ELICIT_URL);
    bool tools = lacks(call, FL_CAN_SAMPLE_WITH_TOOLS);
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "requiredCapabilities");
    fl_json_object(&writer);
    if (form || url) {
        fl_json_key(&writer, "elicitation");
        fl_json_object(&writer);
        write_mode(&writer, form && (modes || url), "form");
        write_mode(&writer, url, "url");
        fl_json_object_end(&writer);
    }
    if (tools || lacks(call, FL_CAN_SAMPLE)) {
        fl_json_key(&writer, "sampling");
        fl_json_object(&writer);
        write_mode(&writer, tools, "tools");
        fl_json_object_end(&writer);
    }
    write_mode(&writer, lacks(call, FL_CAN_LIST_ROOTS), "roots");
    fl_json_object_end(&writer);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

static void note(fl_asking *asking, int code, const char *fault)
{
    if (asking->fault != NULL)
        return;
    asking->fault = fault;
    asking->code = code;
}

/* Why nothing can be asked for under this key; NULL: something can. */
static const char *find_obstacle(const fl_call *call, const char *key)
{
    const fl_asking *asking = call->asking;

    if (key == NULL || key[0] == '\0')
        return "the handler asks under no key";
    if (fl_asking_find(asking, fl_span_of(key)) != NULL)
        return "the handler asks twice under one key";
    if (asking->count >= FL_ASKING_WANTS)
        return "the handler asks for too much at once";
    return NULL;
}

static const char *find_hindrance(const fl_call *call)
{
    if (call->kind == FL_CALL_COMPLETION)
        return "a completion cannot ask the client";
    if (call->to.batch != NULL)
        return "a request in a batch cannot ask the client back: send it "
               "alone";
    if (call->to.revision->legacy && call->job == NULL &&
        (call->to.session->traits & FL_LINK_STATELESS) != 0)
        return "a request without a session cannot ask the client back: send "
               "initialize first";
    return NULL;
}

/* Whether this can be asked for under this key; if not, it is noted why. */
static bool may_want(fl_call *call, const char *key, fl_ability needs)
{
    fl_asking *asking = fl_asking_of(call);

    if (asking == NULL)
        return false; /* and so fl_call_ask() will find */
    const char *hindrance = find_hindrance(call);
    const char *obstacle = find_obstacle(call, key);
    if (hindrance != NULL)
        note(asking, FL_RPC_INVALID_REQUEST, hindrance);
    else if (obstacle != NULL)
        note(asking, FL_RPC_INTERNAL_ERROR, obstacle);
    else if (!fl_call_client_can(call, needs))
        asking->missing |= 1U << needs;
    else
        return true;
    return false;
}

static void want(fl_call *call, fl_want_kind kind, const char *key,
                 fl_span params, fl_span schema)
{
    if (fl_asking_want(call->asking, kind, fl_span_of(key), params, schema) !=
        FL_OK)
        note(call->asking, FL_RPC_INTERNAL_ERROR, "out of memory");
}

static void write_head(fl_json_writer *writer, const fl_call *call,
                       const char *mode, const char *message)
{
    fl_json_object(writer);
    if (fl_revision_has(call->to.revision, FL_HAS_URL_ELICITATION)) {
        fl_json_key(writer, "mode");
        fl_json_string(writer, mode);
    }
    fl_json_key(writer, "message");
    fl_json_string(writer, message != NULL ? message : "");
}

static void end_params(fl_call *call, fl_want_kind kind, const char *key,
                       fl_json_writer *writer, fl_span schema)
{
    fl_json_object_end(writer);
    if (fl_json_writer_end(writer) == FL_OK)
        want(call, kind, key, fl_buf_view(writer->out), schema);
    else
        note(call->asking, FL_RPC_INTERNAL_ERROR, "out of memory");
}

/* What is wrong with a form's schema, by which the answer will be judged; or
 * NULL. */
static const char *judge_schema(fl_span text, fl_span *object)
{
    fl_schema *schema;
    fl_json_top top;

    if (fl_json_scan(text, 0, &top, NULL) != FL_OK ||
        top.type != FL_JSON_OBJECT)
        return "the schema of a form is not a JSON object";
    *object = top.value;
    fl_status rc = fl_schema_compile(top.value, NULL, &schema, NULL);
    if (rc != FL_OK)
        return rc == FL_E_NOMEM ? "out of memory"
                                : "the schema of a form is no JSON Schema";
    fl_schema_free(schema);
    return NULL;
}

void fl_call_want_form(fl_call *call, const char *key, const char *message,
                       const char *schema)
{
    fl_span text = schema != NULL
                       ? fl_span_of(schema)
                       : FL_SPAN("{\"type\":\"object\",\"properties\":{}}");
    fl_json_writer writer;

    if (!may_want(call, key, FL_CAN_ELICIT_FORM))
        return;
    const char *wrong = judge_schema(text, &text);
    if (wrong != NULL) {
        note(call->asking, FL_RPC_INTERNAL_ERROR, wrong);
        return;
    }
    fl_json_writer_init(&writer, fl_loop_scratch(fl_call_loop(call)));
    write_head(&writer, call, "form", message);
    fl_json_key(&writer, "requestedSchema");
    fl_json_raw(&writer, text);
    end_params(call, FL_WANT_FORM, key, &writer, text);
}

enum { ID_BYTES = 16 };

/* By which 2025-11-25 can tell later that the matter is settled. */
static bool make_id(char id[2 * ID_BYTES + 1])
{
    unsigned char bytes[ID_BYTES];

    if (fl_random_bytes(bytes, sizeof bytes) != FL_OK)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(id + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

void fl_call_want_url(fl_call *call, const char *key, const char *message,
                      const char *url)
{
    char id[2 * ID_BYTES + 1];
    fl_json_writer writer;

    if (!may_want(call, key, FL_CAN_ELICIT_URL))
        return;
    if (url == NULL || url[0] == '\0' || !make_id(id)) {
        note(call->asking, FL_RPC_INTERNAL_ERROR,
             "the handler sends the user to no URL");
        return;
    }
    fl_json_writer_init(&writer, fl_loop_scratch(fl_call_loop(call)));
    write_head(&writer, call, "url", message);
    fl_json_key(&writer, "url");
    fl_json_string(&writer, url);
    if (call->to.revision->legacy) {
        fl_json_key(&writer, "elicitationId");
        fl_json_string(&writer, id);
    }
    end_params(call, FL_WANT_URL, key, &writer, (fl_span){0});
}

static bool is_sample(fl_span params)
{
    return fl_json_type_of(fl_json_get(params, FL_SPAN("messages"))) ==
               FL_JSON_ARRAY &&
           fl_json_type_of(fl_json_get(params, FL_SPAN("maxTokens"))) ==
               FL_JSON_NUMBER;
}

void fl_call_want_sample(fl_call *call, const char *key, fl_span params)
{
    fl_json_top top;
    bool valid = fl_json_scan(params, 0, &top, NULL) == FL_OK &&
                 top.type == FL_JSON_OBJECT && is_sample(top.value);
    bool tools = valid && fl_json_get(top.value, FL_SPAN("tools")).len > 0;

    if (!may_want(call, key, tools ? FL_CAN_SAMPLE_WITH_TOOLS : FL_CAN_SAMPLE))
        return;
    if (valid)
        want(call, FL_WANT_SAMPLE, key, top.value, (fl_span){0});
    else
        note(call->asking, FL_RPC_INTERNAL_ERROR,
             "what is to be sampled is not a JSON object with messages and "
             "maxTokens");
}

void fl_call_want_roots(fl_call *call, const char *key)
{
    if (may_want(call, key, FL_CAN_LIST_ROOTS))
        want(call, FL_WANT_ROOTS, key, FL_SPAN("{}"), (fl_span){0});
}
