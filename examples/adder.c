/*
 * adder.c - a whole server in ten lines: one tool, any address.
 *
 *     adder                            speaks over stdin and stdout
 *     adder http://127.0.0.1:8080/mcp  serves many clients at once
 *
 *     fairlead call call add a=2 b=3 -- ./adder
 *     fairlead call http://127.0.0.1:8080/mcp call add a=2 b=3
 *
 * The schema is what clients are told, and what arguments are checked against
 * before the handler runs: add() is called with two numbers, or not at all.
 */
#include <fairlead/fairlead.h>

#define TWO_NUMBERS                                                            \
    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\"},"        \
    "\"b\":{\"type\":\"number\"}},\"required\":[\"a\",\"b\"]}"

static void add(fl_call *call, void *user)
{
    (void)user;
    fl_call_replyf(call, "%g",
                   fl_call_number(call, "a") + fl_call_number(call, "b"));
}

int main(int argc, char **argv)
{
    const char *urls[] = {argc > 1 ? argv[1] : "stdio:", NULL};
    fl_server *server = fl_server_new("adder", "1.0");
    fl_tool tool = {.name = "add", .input_schema = TWO_NUMBERS, .call = add};

    if (server == NULL || fl_server_add_tool(server, &tool) != FL_OK)
        return fl_server_fail(server);
    return fl_server_run(server, urls);
}
