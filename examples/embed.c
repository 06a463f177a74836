/*
 * embed.c - fairlead inside a loop that is not its own.
 *
 *     embed [URL]        tcp://127.0.0.1:0 by default; says on which port
 *
 *     fairlead call tcp://127.0.0.1:PORT call last_line
 *
 * The program has a poll() loop of its own, which reads lines from the
 * terminal. It adds one descriptor to the set, and serves MCP beside that:
 * the tool last_line returns what was typed last. No thread, no lock. The
 * word "quit", or the end of stdin, ends it in order.
 */
#include <fairlead/fairlead.h>

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct program {
    fl_server *server;
    char line[256];
    bool stdin_ended;
};

static void last_line(fl_call *call, void *user)
{
    const struct program *program = user;

    fl_call_replyf(call, "%s", program->line);
}

static void close_server(struct program *program)
{
    program->stdin_ended = true;
    fl_server_close(program->server, 1000, NULL, NULL);
}

/* What the program is really about. */
static void read_terminal(struct program *program)
{
    char line[sizeof program->line];
    ssize_t n = read(STDIN_FILENO, line, sizeof line - 1);

    line[n > 0 ? n : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (n <= 0 || strcmp(line, "quit") == 0) {
        close_server(program);
        return;
    }
    memcpy(program->line, line, sizeof line);
    printf("heard %s\n", line);
}

static void run(struct program *program, fl_loop *loop)
{
    struct pollfd set[] = {
        {.fd = fl_loop_fd(loop), .events = POLLIN},
        {.fd = STDIN_FILENO, .events = POLLIN},
    };

    do {
        poll(set, program->stdin_ended ? 1 : 2, fl_loop_timeout(loop));
        if (!program->stdin_ended && set[1].revents != 0)
            read_terminal(program);
    } while (fl_loop_step(loop)); /* until all that was closed has gone */
}

int main(int argc, char **argv)
{
    const char *url = argc > 1 ? argv[1] : "tcp://127.0.0.1:0";
    struct program program = {.server = fl_server_new("embed", "1.0")};
    fl_loop *loop = fl_loop_new();
    fl_tool tool = {
        .name = "last_line",
        .description = "What was typed last",
        .call = last_line,
        .user = &program,
    };
    fl_error error = {.text = "out of memory"};

    setvbuf(stdout, NULL, _IOLBF, 0);
    bool up =
        loop != NULL && program.server != NULL &&
        fl_server_add_tool(program.server, &tool) == FL_OK &&
        fl_server_listen(program.server, loop, url, NULL, &error) == FL_OK;
    if (up) {
        printf("port %u\n", fl_server_port(program.server));
        run(&program, loop);
    } else {
        fprintf(stderr, "%s\n", error.text);
    }
    fl_server_free(program.server);
    fl_loop_free(loop);
    return up ? 0 : 1;
}
