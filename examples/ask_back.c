/*
 * ask_back.c - a tool that asks the user before it does anything.
 *
 *     ask_back [URL]...
 *
 *     fairlead call call book_berth ship=Gannet -- ./ask_back
 *     fairlead call call book_berth ship=Gannet --accept-defaults -- ./ask_back
 *
 * The handler is run from its beginning each time it gets an answer: it looks
 * whether what it wants to know is there, asks if it is not, and acts only
 * when it is. So nothing has to be remembered between the runs, and the same
 * ten lines serve clients that are sent a question and clients that come back
 * with the answer in a new request. A client that cannot ask its user at all
 * is told what to do instead.
 */
#include <fairlead/fairlead.h>

#include <stdio.h>

#define FORM                                                                   \
    "{\"type\":\"object\",\"properties\":{"                                    \
    "\"nights\":{\"type\":\"integer\",\"title\":\"Nights\",\"minimum\":1,"     \
    "\"maximum\":30,\"default\":1},"                                           \
    "\"side\":{\"type\":\"string\",\"title\":\"Side\",\"enum\":[\"port\","     \
    "\"starboard\"],\"default\":\"port\"}},\"required\":[\"nights\"]}"

/* The form fits its schema: what it requires is there, and as it has to be. */
static void book(fl_call *call, fl_span form)
{
    fl_span ship = fl_call_text(call, "ship");
    int nights = (int)fl_raw_integer(fl_raw_get(form, "nights"), 1);
    char side[16];

    if (fl_raw_text(fl_raw_get(form, "side"), side, sizeof side) == 0)
        snprintf(side, sizeof side, "any");
    fl_call_replyf(call, "%.*s: %d night%s, %s side", (int)ship.len, ship.ptr,
                   nights, nights == 1 ? "" : "s", side);
}

static void book_berth(fl_call *call, void *user)
{
    fl_span form;

    (void)user;
    if (!fl_call_client_can(call, FL_CAN_ELICIT_FORM)) {
        fl_call_fail(call, "your client cannot ask you; call the harbour");
        return;
    }
    switch (fl_call_input(call, "details", &form)) {
    case FL_INPUT_NONE:
        fl_call_want_form(call, "details", "How long will she stay?", FORM);
        fl_call_ask(call);
        break;
    case FL_INPUT_ACCEPTED:
        book(call, form);
        break;
    case FL_INPUT_DECLINED:
        fl_call_replyf(call, "nothing was booked");
        break;
    case FL_INPUT_CANCELLED:
    case FL_INPUT_FAILED:
        fl_call_fail(call, "nobody answered, so nothing was booked");
        break;
    }
}

int main(int argc, char **argv)
{
    static const char *const only_stdio[] = {"stdio:", NULL};
    fl_server *server = fl_server_new("harbour", "1.0");
    fl_tool tool = {
        .name = "book_berth",
        .description = "Books a berth for a ship; asks the user for details",
        .input_schema = "{\"type\":\"object\",\"properties\":{\"ship\":{"
                        "\"type\":\"string\"}},\"required\":[\"ship\"]}",
        .call = book_berth,
    };

    if (server == NULL || fl_server_add_tool(server, &tool) != FL_OK)
        return fl_server_fail(server);
    return fl_server_run(server, argc > 1 ? (const char *const *)(argv + 1)
                                          : only_stdio);
}
