/*
 * test_auth_callback.c - the door a user's browser comes back to: who is
 * believed, and that it leaves nobody behind who would outlive the client.
 */
#include "auth/callback.h"
#include "base/span.h"
#include "io_probe.h"
#include "raw_peer.h"

#include <stdio.h>
#include <string.h>

typedef struct door {
    uint64_t now;
    fl_loop *loop;
    fl_callback *callback;
    uint16_t port;
    int visits;
    char target[128];
} door;

static door at;

static bool on_visit(void *user, fl_span target)
{
    assert_ptr_equal(user, &at);
    at.visits++;
    snprintf(at.target, sizeof at.target, "%.*s", (int)target.len, target.ptr);
    return fl_span_equal(target, FL_SPAN("/callback?right"));
}

static void open_door(void)
{
    fl_error error;

    at = (door){.now = 1000};
    at.loop = io_driven_loop(&at.now);
    assert_int_equal(fl_callback_open(at.loop, "http://127.0.0.1/callback",
                                      on_visit, &at, &at.callback, &error),
                     FL_OK);
    assert_int_equal(sscanf(fl_callback_uri(at.callback),
                            "http://127.0.0.1:%hu/callback", &at.port),
                     1);
}

static int come(const char *words)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(at.port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(send(fd, words, strlen(words), MSG_NOSIGNAL),
                     strlen(words));
    io_some_turns(at.loop);
    return fd;
}

static void hears(int fd, const char *part)
{
    char room[1024] = "";
    ssize_t n = recv(fd, room, sizeof room - 1, MSG_DONTWAIT);

    assert_true(n > 0);
    if (strstr(room, part) == NULL)
        fail_msg("no '%s' in '%s'", part, room);
    close(fd);
}

#define GET(target) "GET " target " HTTP/1.1\r\nHost: x\r\n\r\n"

static void test_callback_shows_who_came_and_stays_open(void **state)
{
    (void)state;
    open_door();
    hears(come(GET("/favicon.ico")), " 404 ");
    assert_int_equal(at.visits, 0);
    hears(come(GET("/callback?wrong")), " 400 ");
    hears(come(GET("/callback?right")), " 200 ");
    assert_int_equal(at.visits, 2);
    assert_string_equal(at.target, "/callback?right");
    fl_callback_close(at.callback);
    io_some_turns(at.loop);
    fl_loop_free(at.loop);
}

/* A browser opens connections before it knows what for, and keeps them. */
static void test_callback_leaves_no_visitor_behind(void **state)
{
    (void)state;
    open_door();
    int silent = come(""), half = come("GET /callback?");
    fl_callback_close(at.callback);
    io_some_turns(at.loop); /* and no time passes */
    fl_loop_free(at.loop);
    close(silent);
    close(half);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callback_shows_who_came_and_stays_open),
        cmocka_unit_test(test_callback_leaves_no_visitor_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
