/*
 * ask_judge.c - whether what a client answers is as it has to be.
 *
 * A handler is told what was answered only if it can rely on the shape of it:
 * a form it gets is an object that its schema allows. Anything else is no
 * answer.
 */
#include "server/asking.h"

#include "base/span.h"
#include "rpc/error.h"
#include "schema/schema.h"
#include "json/nav.h"

static bool is_type(fl_span value, fl_json_type type)
{
    return fl_json_type_of(value) == type;
}

static bool has(fl_span object, fl_span key, fl_json_type type)
{
    return is_type(fl_json_get(object, key), type);
}

/* Whether a form's content is what was asked for. The schema was compiled
 * before it was asked with (ask_wants.c), and comes back as it left. */
static fl_status check_form(fl_span text, fl_span content)
{
    fl_schema *schema;
    fl_status rc = fl_schema_compile(
        text, &(fl_schema_options){.formats = true}, &schema, NULL);

    if (rc != FL_OK)
        return rc;
    rc = fl_schema_check(schema, content, NULL);
    fl_schema_free(schema);
    return rc;
}

/* That we could not judge it is not the client's fault: it is noted. */
static bool fits_schema(const fl_want *want, fl_span content)
{
    fl_status rc = check_form(want->schema, content);

    if (rc == FL_E_NOMEM && want->asking->fault == NULL) {
        want->asking->fault = "out of memory";
        want->asking->code = FL_RPC_INTERNAL_ERROR;
    }
    return rc == FL_OK;
}

static fl_input judge_form(const fl_want *want, fl_span result,
                           fl_span *content)
{
    fl_span form = fl_json_get(result, FL_SPAN("content"));

    if (form.len == 0)
        form = FL_SPAN("{}"); /* all of it was optional, perhaps */
    if (!is_type(form, FL_JSON_OBJECT) || !fits_schema(want, form))
        return FL_INPUT_NONE;
    *content = form;
    return FL_INPUT_ACCEPTED;
}

static fl_input judge_elicitation(const fl_want *want, fl_span result,
                                  fl_span *content)
{
    fl_span action = fl_json_get(result, FL_SPAN("action"));

    if (fl_json_string_is(action, FL_SPAN("decline")))
        return FL_INPUT_DECLINED;
    if (fl_json_string_is(action, FL_SPAN("cancel")))
        return FL_INPUT_CANCELLED;
    if (!fl_json_string_is(action, FL_SPAN("accept")))
        return FL_INPUT_NONE;
    return want->kind == FL_WANT_FORM
               ? judge_form(want, result, content)
               : FL_INPUT_ACCEPTED; /* what the user did there is not told */
}

/* Of a sample the content is one block, or from 2025-11-25 on several. */
static bool is_sample(fl_span result)
{
    return has(result, FL_SPAN("role"), FL_JSON_STRING) &&
           (has(result, FL_SPAN("content"), FL_JSON_OBJECT) ||
            has(result, FL_SPAN("content"), FL_JSON_ARRAY));
}

fl_input fl_asking_judge(const fl_want *want, fl_span result, fl_span *content)
{
    bool whole = false;

    *content = (fl_span){"", 0};
    if (!is_type(result, FL_JSON_OBJECT))
        return FL_INPUT_NONE;
    switch (want->kind) {
    case FL_WANT_FORM:
    case FL_WANT_URL:
        return judge_elicitation(want, result, content);
    case FL_WANT_SAMPLE:
        whole = is_sample(result);
        break;
    case FL_WANT_ROOTS:
        whole = has(result, FL_SPAN("roots"), FL_JSON_ARRAY);
        break;
    }
    if (whole)
        *content = result;
    return whole ? FL_INPUT_ACCEPTED : FL_INPUT_NONE;
}
