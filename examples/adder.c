/*
 * adder.c - the smallest server: one tool, any address.
 *
 *     adder                          speaks over stdin and stdout
 *     adder tcp://127.0.0.1:7332     serves many clients at once
 *     adder stdio: unix:/tmp/adder   or all of that
 *
 * An argument that is missing or of the wrong type need not be checked for:
 * asking for it marks the call, and the answer names it.
 */
#include <fairlead/fairlead.h>

static void add(fl_call *call, void *user)
{
    (void)user;
    fl_call_replyf(call, "%g",
                   fl_call_number(call, "a") + fl_call_number(call, "b"));
}

int main(int argc, char **argv)
{
    static const char *const only_stdio[] = {"stdio:", NULL};
    fl_server *server = fl_server_new("adder", "1.0");
    fl_tool tool = {
        .name = "add",
        .description = "Adds two numbers",
        .input_schema = "{\"type\":\"object\",\"properties\":{"
                        "\"a\":{\"type\":\"number\"},"
                        "\"b\":{\"type\":\"number\"}},"
                        "\"required\":[\"a\",\"b\"]}",
        .call = add,
    };

    if (server == NULL || fl_server_add_tool(server, &tool) != FL_OK)
        return 1;
    return fl_server_run(server, argc > 1 ? (const char *const *)(argv + 1)
                                          : only_stdio);
}
