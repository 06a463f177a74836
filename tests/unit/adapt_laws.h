/*
 * adapt_laws.h - what holds of whatever is adapted, however odd.
 *
 * What comes out is JSON; what was in the buffer before is still there; who
 * says it twice says it once. For the unit test of random texts, and for the
 * fuzzer.
 */
#ifndef TESTS_UNIT_ADAPT_LAWS_H
#define TESTS_UNIT_ADAPT_LAWS_H

#include "adapt/adapt.h"
#include "base/span.h"
#include "json/nav.h"

enum {
    LAWS_VERBS = 8,
    LAWS_MAX = 1 << 24,
    LAWS_DEPTH = FL_JSON_MAX_DEPTH - 16, /* what is wrapped is deeper */
};

/* A case is a verb, two revisions, a method, and what else there may be. */
typedef struct laws_case {
    unsigned verb;
    fl_adapt adapt;
    bool rounds; /* a request gets a claim, a token and more */
} laws_case;

static inline void laws_choose(laws_case *chosen, const uint8_t dice[4])
{
    *chosen = (laws_case){
        .verb = dice[0] % LAWS_VERBS,
        .adapt.from = fl_revision_get((fl_revision_id)(1 + dice[1] % 5)),
        .adapt.to = fl_revision_get((fl_revision_id)(1 + dice[1] / 5 % 5)),
        .adapt.method = (fl_method)(dice[2] % FL_METHOD_COUNT),
        .adapt.tasks = (dice[3] & 1) != 0,
        .rounds = (dice[3] & 8) != 0,
    };
    if ((dice[3] & 2) != 0)
        chosen->adapt.object = FL_SPAN("\"u\"");
    if ((dice[3] & 4) != 0)
        chosen->adapt.server_info = FL_SPAN("{\"name\":\"s\"}");
}

static inline fl_status laws_ask(const laws_case *chosen, fl_span text,
                                 fl_buf *out)
{
    fl_adapt_params request = {.params = text};

    if (chosen->rounds) {
        request.token = FL_SPAN("7");
        request.claim =
            FL_SPAN("\"io.modelcontextprotocol/protocolVersion\":\"v\"");
        request.members = FL_SPAN("\"requestState\":\"s\",\"task\":{}");
    }
    return fl_adapt_request(&chosen->adapt, &request, out);
}

static inline fl_status laws_say(const laws_case *chosen, fl_span text,
                                 fl_buf *out)
{
    const fl_adapt *adapt = &chosen->adapt;
    int code;

    switch (chosen->verb) {
    case 0:
        return fl_adapt_result(adapt, text, out);
    case 1:
        return fl_adapt_error(adapt, text, out, &code);
    case 2:
        return laws_ask(chosen, text, out);
    case 3:
        return fl_adapt_question(adapt, text, out);
    case 4:
        return fl_adapt_answer(adapt, text, out);
    case 5:
        return fl_adapt_notice(adapt, text, out);
    case 6:
        return fl_adapt_server_hello(adapt, text, FL_SPAN("\x01\xff"), out);
    default:
        return fl_adapt_client_capabilities(adapt, text, out);
    }
}

static inline bool laws_is_json(fl_span text)
{
    fl_json_top top;

    return fl_json_scan(text, 0, &top, NULL) == FL_OK;
}

/* A hello is the answer to another method afterwards, and not said again. */
static inline const char *laws_check_again(const laws_case *chosen,
                                           fl_span first)
{
    const char *fault = NULL;
    fl_buf out;

    if (chosen->verb == 6)
        return NULL;
    fl_buf_init(&out, LAWS_MAX);
    fl_status rc = laws_say(chosen, first, &out);
    if (rc != FL_END &&
        (rc != FL_OK || !fl_span_equal(fl_buf_view(&out), first)))
        fault = "said twice it is not the same";
    fl_buf_reset(&out);
    return fault;
}

/* NULL, or which law was broken. `text` is JSON of LAWS_DEPTH at most. */
static inline const char *laws_check(const laws_case *chosen, fl_span text)
{
    const char *fault = NULL;
    fl_buf out;

    fl_buf_init(&out, LAWS_MAX);
    fl_status rc = laws_say(chosen, text, &out);
    if (rc == FL_OK && !laws_is_json(fl_buf_view(&out)))
        fault = "not JSON";
    else if (rc != FL_OK && fl_buf_len(&out) > 0)
        fault = "something was said";
    else if (rc != FL_OK && rc != FL_END && rc != FL_E_UNSUPPORTED)
        fault = "it failed";
    else if (rc == FL_OK)
        fault = laws_check_again(chosen, fl_buf_view(&out));
    fl_buf_reset(&out);
    return fault;
}

#endif
