/*
 * test_http_memory.c - whole conversations of an HTTP client in which each
 * allocation is refused in turn: it may fail, but it may not leak, hang or
 * touch what is gone.
 *
 * The server is a robot on plain sockets: it allocates nothing itself, and
 * answers by what it is asked.
 */
#include "http_rig.h"

enum { BOTS = 16, TURNS = 80 };

static struct bot {
    int fd;
    size_t len;
    char text[8192];
} bots[BOTS];

static bool is_old; /* it speaks HTTP+SSE alone */
static int stream;  /* where it says what was not asked for; -1: nowhere */

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL),
                     (ssize_t)strlen(text));
}

static void hang_up(struct bot *bot)
{
    if (stream == bot->fd)
        stream = -1;
    close(bot->fd);
    bot->fd = -1;
}

#define OK_JSON(more, body)                                                    \
    "HTTP/1.1 200 OK\r\n" JSON more "Connection: close\r\n\r\n" body
#define OK_EVENTS "HTTP/1.1 200 OK\r\n" EVENTS "Connection: close\r\n\r\n"
#define TAKEN "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"

/* True: the response ends with the connection. */
static bool answer_old(int fd, const char *text)
{
    if (strncmp(text, "GET", 3) == 0) {
        stream = fd;
        say(fd, OK_EVENTS "event: endpoint\ndata: /m\n\n");
        return false;
    }
    if (strncmp(text, "POST /m ", 8) != 0) {
        say(fd, "HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n");
        return false;
    }
    say(fd, TAKEN);
    if (stream >= 0 && strstr(text, "\"initialize\"") != NULL)
        say(stream, "data: " WELCOME("2024-11-05") "\n\n");
    else if (stream >= 0 && strstr(text, "\"id\":1") != NULL)
        say(stream, "data: " ANSWER("1") "\n\n");
    return false;
}

static bool answer_new(int fd, const char *text)
{
    if (strstr(text, "\"initialize\"") != NULL) {
        say(fd, OK_JSON("Mcp-Session-Id: s\r\n", WELCOME("2025-11-25")));
        return true;
    }
    if (strstr(text, "\"id\":1") != NULL) { /* and breaks off */
        say(fd, OK_EVENTS "retry: 1\nid: a\ndata: " NOTE("n") "\n\n");
        return true;
    }
    if (strcasestr(text, "\nlast-event-id: a\r") != NULL) {
        say(fd, OK_EVENTS "event: result\ndata: \"x\"\n\n"
                          "event: complete\ndata: {}\n\n");
        return true;
    }
    if (strncmp(text, "GET", 3) == 0)
        say(fd, OK_EVENTS "id: g\ndata: " NOTE("g") "\n\n");
    else
        say(fd, TAKEN);
    return false;
}

static bool is_whole(const struct bot *bot)
{
    const char *body = strstr(bot->text, "\r\n\r\n");
    const char *length = strcasestr(bot->text, "content-length: ");

    return body != NULL &&
           (length == NULL || strncmp(bot->text, "POST", 4) != 0 ||
            strlen(body + 4) >= strtoul(length + 16, NULL, 10));
}

static void serve_bot(struct bot *bot)
{
    ssize_t n = recv(bot->fd, bot->text + bot->len,
                     sizeof bot->text - 1 - bot->len, MSG_DONTWAIT);

    if (n == 0 || (n < 0 && errno != EAGAIN)) {
        hang_up(bot);
        return;
    }
    if (n > 0)
        bot->len += (size_t)n;
    bot->text[bot->len] = '\0';
    if (bot->len == 0 || !is_whole(bot))
        return;
    bot->len = 0;
    if (is_old ? answer_old(bot->fd, bot->text)
               : answer_new(bot->fd, bot->text))
        hang_up(bot);
}

static void turn(void)
{
    struct pollfd watch = {.fd = fl_loop_fd(at.loop), .events = POLLIN};
    int wait = fl_loop_timeout(at.loop);
    int fd = accept(at.listener, NULL, NULL);

    for (struct bot *bot = bots; bot < bots + BOTS; bot++) {
        if (bot->fd < 0 && fd >= 0) {
            *bot = (struct bot){.fd = fd};
            fd = -1;
        }
        if (bot->fd >= 0)
            serve_bot(bot);
    }
    assert_int_equal(fd, -1);
    poll(&watch, 1, wait < 0 || wait > 2 ? 2 : wait);
    fl_loop_step(at.loop);
}

static void until_heard(int count)
{
    for (int i = 0; i < TURNS && at.messages < count && at.closed == 0; i++)
        turn();
}

static void talk(void)
{
    static const char *const said[] = {INITIALIZE, INITIALIZED, ASK("1", "m")};
    const int heard[] = {1, 1, is_old ? 2 : 4}; /* by then */

    for (int i = 0; i < 3 && at.closed == 0; i++)
        if (rig_send(said[i]) == FL_OK)
            until_heard(heard[i]);
}

static void converse(void *user)
{
    const char *scheme = user;
    fl_error error;
    char url[64];

    at = (rig){.loop = fl_loop_new()};
    if (at.loop == NULL)
        return;
    stream = -1;
    for (int i = 0; i < BOTS; i++)
        bots[i].fd = -1;
    at.listener = raw_listen(&at.port);
    snprintf(url, sizeof url, "%s://127.0.0.1:%u/mcp", scheme, at.port);
    if (fl_link_connect(
            at.loop, url,
            &(fl_options){.no_reconnect = true, .reconnect_first_ms = 1},
            &rig_events, NULL, &at.link, &error) == FL_OK) {
        fl_link_ref(at.link);
        for (int i = 0; i < TURNS && at.opened == 0 && at.closed == 0; i++)
            turn();
        talk();
        fl_link_close(at.link);
        for (time_t begun = io_seconds(); at.closed == 0; turn())
            assert_true(io_seconds() - begun < stretched(10));
        fl_link_unref(at.link);
    }
    for (int i = 0; i < BOTS; i++)
        if (bots[i].fd >= 0)
            close(bots[i].fd);
    close(at.listener);
    for (int i = 0; i < 20; i++)
        fl_loop_step(at.loop);
    fl_loop_free(at.loop);
}

static char http[] = "http", sse[] = "sse+http";

/* That the robot does what it should, before anything is refused. */
static void check_whole(bool old, char *scheme, int messages, const char *last)
{
    is_old = old;
    converse(scheme);
    assert_int_equal(at.messages, messages);
    assert_string_equal(at.heard[messages - 1], last);
}

static void test_http_memory_sessions_survive(void **state)
{
    (void)state;
    is_old = false;
    converse(http);
    assert_int_equal(at.messages, 4); /* the standing stream's among them */
    assert_true(ration_each(converse, http) > 40);
}

static void test_http_memory_channels_survive(void **state)
{
    (void)state;
    check_whole(true, sse, 2, ANSWER("1"));
    assert_true(ration_each(converse, sse) > 30);
}

static void test_http_memory_falling_back_survives(void **state)
{
    (void)state;
    check_whole(true, http, 2, ANSWER("1"));
    assert_true(ration_each(converse, http) > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http_memory_sessions_survive),
        cmocka_unit_test(test_http_memory_channels_survive),
        cmocka_unit_test(test_http_memory_falling_back_survives),
    };

    return cmocka_run_group_tests_name("http_memory", tests, NULL, NULL);
}
