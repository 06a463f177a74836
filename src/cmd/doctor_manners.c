/*
 * doctor_manners.c - how a server answers, whatever it is asked.
 *
 * An id is the client's, and comes back as it went out: "1" is not 1, and a
 * number past 2^53 is not the one next to it. What is not known is answered
 * with the error for that, and so is everything else with something.
 */
#include "cmd/doctor_protocol.h"

#include "base/span.h"
#include "json/nav.h"

#include <stdio.h>

/* What every server of the era answers. */
static fl_status ask_plainly(fl_talk *talk, const char *id, bool modern)
{
    return modern
               ? fl_talk_ask(talk, id, "server/discover", "{" FL_EXAM_CLAIM "}")
               : fl_talk_ask(talk, id, "ping", NULL);
}

static void look_at_ping(fl_exam *exam, fl_talk *talk)
{
    fl_status rc = ask_plainly(talk, "2", false);

    if (rc == FL_OK)
        fl_chart_ok(exam->chart, "protocol.ping", "answers ping, after %u ms",
                    (unsigned)talk->took_ms);
    else
        fl_chart_find(exam->chart, FL_CHART_FAULT, "protocol.ping",
                      "Answer ping with an empty result, {}: who looks after "
                      "connections by it will end this one.",
                      "does not answer ping: %s", talk->why.text);
}

/* The answer was to the id that it was asked with. An error will do: that is
 * found elsewhere. */
static bool echoes(fl_talk *talk, const char *id, bool modern)
{
    fl_status rc = ask_plainly(talk, id, modern);

    return rc == FL_OK || (rc == FL_E_REMOTE && fl_talk_code(talk) != 0);
}

static void look_at_ids(fl_exam *exam, fl_talk *talk, bool modern)
{
    static const struct id {
        const char *token;
        const char *kind;
        fl_chart_level level;
    } ids[] = {
        {"\"1\"", "text that looks like a number", FL_CHART_FAULT},
        {"\"a-b/c:d \\u00e9\"", "text", FL_CHART_FAULT},
        {"9007199254740993", "numbers past 2^53", FL_CHART_NOTE},
    };
    bool fine = true;

    for (size_t i = 0; i < sizeof ids / sizeof *ids && talk->link != NULL; i++)
        if (!echoes(talk, ids[i].token, modern)) {
            fine = false;
            fl_chart_find(exam->chart, ids[i].level, "protocol.ids",
                          "Send an id back as it came, letter by letter: it "
                          "is text or a number, and never changes its kind.",
                          "does not keep ids that are %s: %s", ids[i].kind,
                          talk->why.text);
        }
    if (fine)
        fl_chart_ok(exam->chart, "protocol.ids",
                    "keeps ids: text as text, large numbers to the digit");
}

static void look_at_unknown(fl_exam *exam, fl_talk *talk, bool modern)
{
    fl_status rc = fl_talk_ask(talk, "3", "fairlead/no-such-method",
                               modern ? "{" FL_EXAM_CLAIM "}" : NULL);
    int64_t code = fl_talk_code(talk);

    if (rc == FL_E_REMOTE && code == -32601)
        fl_chart_ok(exam->chart, "protocol.unknown-method",
                    "answers an unknown method with -32601");
    else if (rc == FL_E_REMOTE)
        fl_chart_find(exam->chart, FL_CHART_WARNING, "protocol.unknown-method",
                      "Use -32601 (Method not found): clients go by it to "
                      "find out what a server has.",
                      "answers an unknown method with %lld", (long long)code);
    else if (rc == FL_OK)
        fl_chart_find(exam->chart, FL_CHART_WARNING, "protocol.unknown-method",
                      "Answer what is not known with the error -32601 (Method "
                      "not found), not with a result.",
                      "takes any method for one of its own");
    else
        fl_chart_find(exam->chart, FL_CHART_FAULT, "protocol.unknown-method",
                      "Answer what is not known with the error -32601 (Method "
                      "not found): a client waits for it.",
                      "an unknown method is not answered: %s", talk->why.text);
}

void fl_exam_manners(fl_exam *exam, fl_talk *talk, bool modern)
{
    if (!modern && fl_exam_goes_on(exam))
        look_at_ping(exam, talk);
    if (fl_exam_goes_on(exam))
        look_at_ids(exam, talk, modern);
    if (talk->link != NULL && fl_exam_goes_on(exam))
        look_at_unknown(exam, talk, modern);
}
