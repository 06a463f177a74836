/*
 * call_a_tool.c - a client: connect, list the tools, call one.
 *
 *     call_a_tool tcp://127.0.0.1:7332 add '{"a":2,"b":3}'
 *     call_a_tool -- add '{"a":2,"b":3}' ./adder stdio:
 *
 * The second form runs the server as a child process. Requests may be made
 * at once: they wait until client and server have agreed on a revision, and
 * leave in order. Results are printed as the JSON they are. What the server
 * asks the user is answered with the defaults it has given, and said; see
 * ask_back.c for a server that does.
 */
#include <fairlead/fairlead.h>

#include <stdio.h>
#include <string.h>

struct talk {
    int open;   /* answers still to come */
    int failed; /* what main returns */
};

static void print(const char *what, fl_span text)
{
    printf("%s: %.*s\n", what, (int)text.len, text.ptr);
}

static void finish_one(fl_client *client, struct talk *talk,
                       const fl_answer *answer, const char *what)
{
    if (answer->status == FL_OK) {
        print(what, answer->result);
    } else {
        print("failed", answer->text);
        talk->failed = 1;
    }
    if (--talk->open == 0)
        fl_client_close(client);
}

static void on_tools(fl_client *client, const fl_answer *answer, void *user)
{
    finish_one(client, user, answer, "tools");
}

static void on_result(fl_client *client, const fl_answer *answer, void *user)
{
    finish_one(client, user, answer, "result");
}

static void on_progress(fl_client *client, double progress, double total,
                        fl_span message, void *user)
{
    (void)client, (void)user;
    printf("progress: %g of %g, %.*s\n", progress, total, (int)message.len,
           message.ptr);
}

/* A program with a user would show him the message and the form. */
static void elicit(fl_client *client, fl_ask *ask, void *user)
{
    (void)client, (void)user;
    print("asked", fl_ask_message(ask));
    if (fl_ask_accept_defaults(ask) != FL_OK)
        fl_ask_error(ask, -32603, "out of memory");
}

/* Comes once, whatever happened; then the loop has nothing left to do. */
static void on_closed(fl_client *client, const fl_error *why, void *user)
{
    struct talk *talk = user;

    (void)client;
    if (why->status != FL_OK) {
        fprintf(stderr, "closed: %s\n", why->text);
        talk->failed = 1;
    }
}

static const fl_client_events events = {.on_closed = on_closed};
static const fl_client_handlers handlers = {.elicit = elicit};

static bool ask(fl_client *client, struct talk *talk, char **words)
{
    fl_request_options options = {.on_progress = on_progress};

    talk->open = 2;
    return fl_client_list(client, FL_LIST_TOOLS, NULL, on_tools, talk, NULL) ==
               FL_OK &&
           fl_client_call_tool(client, fl_text(words[0]), fl_text(words[1]),
                               &options, on_result, talk, NULL) == FL_OK;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: call_a_tool URL TOOL JSON\n"
                        "       call_a_tool -- TOOL JSON COMMAND...\n");
        return 1;
    }
    bool spawn = strcmp(argv[1], "--") == 0;
    fl_client_options options = {
        .name = "call_a_tool",
        .handlers = &handlers,
        .connection.no_reconnect = true,
        .connection.child.argv = (const char *const *)(argv + 4),
    };
    struct talk talk = {0};
    fl_client *client;
    fl_error error;
    fl_loop *loop = fl_loop_new();

    if (loop == NULL)
        return 1;
    if (fl_client_open(loop, spawn ? NULL : argv[1], &options, &events, &talk,
                       &client, &error) != FL_OK) {
        fprintf(stderr, "%s\n", error.text);
        talk.failed = 1;
    } else if (!ask(client, &talk, argv + 2)) {
        fprintf(stderr, "the request was refused: is that JSON an object?\n");
        talk.failed = 1;
        fl_client_close(client);
    }
    fl_loop_run(loop);
    fl_loop_free(loop);
    return talk.failed;
}
