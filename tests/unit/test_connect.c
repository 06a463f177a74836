/*
 * test_connect.c - getting to somewhere, and the ways it fails.
 */
#include "io/acceptor.h"
#include "io/connect.h"
#include "io_probe.h"
#include "support/ration.h"

#include <netinet/in.h>
#include <stdio.h>
#include <sys/un.h>

static probe guest;

static void on_accept(void *user, fl_stream *stream, const char *address)
{
    (void)user;
    (void)address;
    guest = (probe){.stream = stream, .is_echo = true};
    assert_int_equal(probe_start(&guest), FL_OK);
}

static const fl_acceptor_events events = {.on_accept = on_accept};

static fl_acceptor *listen_on(fl_loop *loop, const fl_acceptor_options *options)
{
    fl_acceptor *acceptor;
    fl_error error;

    guest = (probe){0};
    if (fl_acceptor_open(loop, options, &events, NULL, &acceptor, &error) !=
        FL_OK)
        fail_msg("%s", error.text);
    return acceptor;
}

static void start(fl_loop *loop, probe *a, const fl_connect_options *options)
{
    assert_int_equal(fl_connect(loop, options, &a->stream), FL_OK);
    assert_int_equal(probe_start(a), FL_AGAIN);
}

/* A port nobody listens on. */
static uint16_t closed_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
    getsockname(fd, (struct sockaddr *)&at, &len);
    close(fd);
    return ntohs(at.sin_port);
}

static void talk(const fl_acceptor_options *where, const char *host,
                 const char *path)
{
    fl_loop *loop = io_loop();
    probe a = {0};
    fl_acceptor *acceptor = listen_on(loop, where);

    start(loop, &a,
          &(fl_connect_options){
              .host = host, .path = path, .port = fl_acceptor_port(acceptor)});
    assert_int_equal(probe_say(&a, "early"), FL_OK); /* before it is open */
    assert_int_equal(a.opens, 0);
    io_until(loop, a.received == 5);
    assert_int_equal(a.opens, 1);
    assert_int_equal(a.ends, 0);
    assert_true(fl_stream_memory(a.stream) <= 480);
    fl_acceptor_close(acceptor);
    io_end(loop, (probe *[]){&a, &guest}, 2);
}

static void test_connect_reaches_an_address(void **state)
{
    (void)state;
    talk(&(fl_acceptor_options){.host = "127.0.0.1"}, "127.0.0.1", NULL);
}

static void test_connect_reaches_a_name(void **state)
{
    (void)state;
    talk(&(fl_acceptor_options){.host = "127.0.0.1"}, "localhost", NULL);
}

static void test_connect_reaches_a_unix_socket(void **state)
{
    char dir[] = "/tmp/fairlead-test-XXXXXX", path[64];

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/socket", dir);
    talk(&(fl_acceptor_options){.path = path}, NULL, path);
    assert_int_equal(rmdir(dir), 0);
    snprintf(path, sizeof path, "@fairlead-test-%d", (int)getpid());
    talk(&(fl_acceptor_options){.path = path}, NULL, path);
}

/* Connects to where nobody is, and checks what it is told. */
static void fail_with(const fl_connect_options *options, fl_status status,
                      const char *text)
{
    fl_loop *loop = io_loop();
    probe a = {0};

    start(loop, &a, options);
    assert_int_equal(a.ends, 0); /* later */
    io_until(loop, a.ends == 1);
    assert_int_equal(a.error.status, status);
    assert_string_equal(a.error.text, text);
    assert_int_equal(a.opens, 0);
    assert_int_equal(probe_say(&a, "x"), FL_E_STATE);
    io_end(loop, (probe *[]){&a}, 1);
}

static void test_connect_says_who_refused(void **state)
{
    uint16_t port = closed_port();
    char text[128];

    (void)state;
    snprintf(text, sizeof text,
             "cannot connect to 127.0.0.1:%u: connection refused", port);
    fail_with(&(fl_connect_options){.host = "127.0.0.1", .port = port},
              FL_E_REFUSED, text);
    /* every address of the name is tried before that is said */
    snprintf(text, sizeof text,
             "cannot connect to localhost:%u: connection refused", port);
    fail_with(&(fl_connect_options){.host = "localhost", .port = port},
              FL_E_REFUSED, text);
    fail_with(&(fl_connect_options){.path = "/nonexistent/socket"},
              FL_E_NOT_FOUND,
              "cannot connect to /nonexistent/socket: no such file or "
              "directory");
}

static void test_connect_refuses_a_path_that_is_too_long(void **state)
{
    char path[128], text[256];

    (void)state;
    memset(path, 'p', sizeof path);
    path[108] = '\0';
    snprintf(text, sizeof text,
             "Unix socket path has 108 bytes, more than the 107 an address "
             "can hold: %s",
             path);
    fail_with(&(fl_connect_options){.path = path}, FL_E_INVALID, text);
}

static void test_connect_tells_of_a_name_nobody_has(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0};

    (void)state;
    start(loop, &a,
          &(fl_connect_options){.host = "name.invalid",
                                .port = 80,
                                .limits.open_timeout_ms = 30000});
    io_until(loop, a.ends == 1);
    assert_int_equal(a.error.status, FL_E_UNREACHABLE);
    assert_non_null(strstr(a.error.text, "cannot find host name.invalid: "));
    io_end(loop, (probe *[]){&a}, 1);
}

/* A Unix listener whose queue is full: connecting to it waits. */
static int full_listener(const char *name, int *client)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    socklen_t len =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    memcpy(at.sun_path + 1, name + 1, strlen(name) - 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(fd, 0), 0);
    *client = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(*client, (struct sockaddr *)&at, len), 0);
    return fd;
}

static void test_connect_gives_up_when_its_time_is_over(void **state)
{
    uint64_t now = 1000;
    fl_loop *loop = io_driven_loop(&now);
    probe a = {0};
    char name[64], text[128];
    int client;

    (void)state;
    snprintf(name, sizeof name, "@fairlead-full-%d", (int)getpid());
    int listener = full_listener(name, &client);
    start(loop, &a,
          &(fl_connect_options){.path = name, .limits.open_timeout_ms = 700});
    for (; now < 1700; now++)
        fl_loop_step(loop);
    assert_int_equal(a.ends, 0);
    fl_loop_step(loop);
    assert_int_equal(a.ends, 1);
    assert_int_equal(a.error.status, FL_E_TIMEOUT);
    snprintf(text, sizeof text, "cannot connect to %s: timed out after 700 ms",
             name);
    assert_string_equal(a.error.text, text);
    io_end(loop, (probe *[]){&a}, 1);
    close(client);
    close(listener);
}

static void test_connect_waits_for_room_in_a_full_queue(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0};
    char name[64];
    int client;

    (void)state;
    snprintf(name, sizeof name, "@fairlead-full-%d", (int)getpid());
    int listener = full_listener(name, &client);
    start(loop, &a, &(fl_connect_options){.path = name});
    io_some_turns(loop);
    assert_int_equal(a.opens, 0);
    close(accept(listener, NULL, NULL));
    io_until(loop, a.opens == 1);
    io_end(loop, (probe *[]){&a}, 1);
    close(client);
    close(listener);
}

static void test_connect_can_be_closed_at_any_time(void **state)
{
    static const char *const hosts[] = {"127.0.0.1", "localhost",
                                        "name.invalid"};
    uint16_t port = closed_port();

    (void)state;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        for (int turns = 0; turns < 4; turns++) {
            fl_loop *loop = io_loop();
            probe a = {0};
            start(loop, &a,
                  &(fl_connect_options){.host = hosts[i], .port = port});
            for (int turn = 0; turn < turns; turn++)
                fl_loop_step(loop);
            io_end(loop, (probe *[]){&a}, 1);
        }
}

static void test_connect_never_started_just_goes(void **state)
{
    fl_loop *loop = io_loop();
    fl_stream *stream;

    (void)state;
    assert_int_equal(
        fl_connect(loop, &(fl_connect_options){.host = "127.0.0.1"}, &stream),
        FL_OK);
    fl_stream_close(stream);
    fl_loop_run(loop);
    fl_loop_free(loop);
}

static void test_connect_may_be_closed_in_on_open_and_on_end(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {.close_in = PROBE_ON_OPEN}, b = {.close_in = PROBE_ON_END};

    (void)state;
    fl_acceptor *acceptor =
        listen_on(loop, &(fl_acceptor_options){.host = "127.0.0.1"});
    start(loop, &a,
          &(fl_connect_options){.host = "127.0.0.1",
                                .port = fl_acceptor_port(acceptor)});
    start(loop, &b,
          &(fl_connect_options){.host = "127.0.0.1", .port = closed_port()});
    io_until(loop, a.closes == 1 && b.closes == 1 && guest.stream != NULL);
    assert_int_equal(a.opens, 1);
    assert_int_equal(b.ends, 1);
    fl_acceptor_close(acceptor);
    io_end(loop, (probe *[]){&a, &b, &guest}, 3);
}

static void test_connect_closes_after_flush_before_it_is_open(void **state)
{
    fl_loop *loop = io_loop();
    probe a = {0};

    (void)state;
    fl_acceptor *acceptor =
        listen_on(loop, &(fl_acceptor_options){.host = "127.0.0.1"});
    start(loop, &a,
          &(fl_connect_options){.host = "127.0.0.1",
                                .port = fl_acceptor_port(acceptor)});
    assert_int_equal(probe_say(&a, "and goodbye"), FL_OK);
    fl_stream_close_after_flush(a.stream, 5000);
    io_until(loop, a.closes == 1 && guest.ends == 1);
    assert_string_equal(guest.head, "and goodbye");
    assert_int_equal(a.opens, 0);
    fl_acceptor_close(acceptor);
    io_end(loop, (probe *[]){&a, &guest}, 2);
}

static void connect_once(void *user)
{
    fl_loop *loop = fl_loop_new();
    probe a = {0};

    if (loop == NULL)
        return;
    if (fl_connect(loop, user, &a.stream) == FL_OK) {
        assert_int_equal(probe_start(&a), FL_AGAIN);
        io_until(loop, a.ends == 1);
        fl_stream_close(a.stream);
    }
    fl_loop_run(loop);
    fl_loop_free(loop);
}

static void test_connect_without_memory_leaks_nothing(void **state)
{
    fl_connect_options options = {.host = "127.0.0.1", .port = closed_port()};

    (void)state;
    assert_true(ration_each(connect_once, &options) >= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connect_reaches_an_address),
        cmocka_unit_test(test_connect_reaches_a_name),
        cmocka_unit_test(test_connect_reaches_a_unix_socket),
        cmocka_unit_test(test_connect_says_who_refused),
        cmocka_unit_test(test_connect_refuses_a_path_that_is_too_long),
        cmocka_unit_test(test_connect_tells_of_a_name_nobody_has),
        cmocka_unit_test(test_connect_gives_up_when_its_time_is_over),
        cmocka_unit_test(test_connect_waits_for_room_in_a_full_queue),
        cmocka_unit_test(test_connect_can_be_closed_at_any_time),
        cmocka_unit_test(test_connect_never_started_just_goes),
        cmocka_unit_test(test_connect_may_be_closed_in_on_open_and_on_end),
        cmocka_unit_test(test_connect_closes_after_flush_before_it_is_open),
        cmocka_unit_test(test_connect_without_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
