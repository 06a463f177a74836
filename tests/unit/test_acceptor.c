/*
 * test_acceptor.c - listening: addresses, modes, floods, and what accepted
 * streams are like.
 *
 * Clients are bare sockets, so that nothing but the acceptor is under test.
 */
#include "io/acceptor.h"
#include "io_probe.h"
#include "support/process.h"
#include "support/ration.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { MOST = 128 };

/* Owns everything accepted. */
typedef struct host {
    fl_loop *loop;
    fl_acceptor *acceptor;
    probe guests[MOST];
    size_t count;
    char address[64];
    bool is_echo;
    bool closes_in_accept;
    int closes;
} host;

static void on_accept(void *user, fl_stream *stream, const char *address)
{
    host *h = user;
    probe *guest = &h->guests[h->count++];

    assert_true(h->count <= MOST);
    snprintf(h->address, sizeof h->address, "%s", address);
    *guest = (probe){.stream = stream, .is_echo = h->is_echo};
    assert_int_equal(probe_start(guest), FL_OK);
    if (h->closes_in_accept)
        fl_acceptor_close(h->acceptor);
}

static void on_closed(void *user)
{
    host *h = user;

    h->closes++;
    h->acceptor = NULL;
}

static const fl_acceptor_events events = {on_accept, on_closed};

static void host_open(host *h, const fl_acceptor_options *options)
{
    fl_error error = {0};

    *h = (host){.loop = io_loop()};
    fl_status rc =
        fl_acceptor_open(h->loop, options, &events, h, &h->acceptor, &error);
    if (rc != FL_OK)
        fail_msg("%s", error.text);
}

static void host_close(host *h)
{
    probe *guests[MOST];

    for (size_t i = 0; i < h->count; i++)
        guests[i] = &h->guests[i];
    if (h->acceptor != NULL)
        fl_acceptor_close(h->acceptor);
    io_until(h->loop, h->acceptor == NULL);
    assert_int_equal(h->closes, 1);
    io_end(h->loop, guests, h->count);
}

static int dial4(uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

static int dial_unix(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t len = strlen(path);

    memcpy(at.sun_path, path, len);
    if (path[0] == '@')
        at.sun_path[0] = '\0';
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    if (connect(fd, (struct sockaddr *)&at, size) == 0)
        return fd;
    close(fd);
    return -1;
}

static void test_acceptor_serves_ipv4_on_a_free_port(void **state)
{
    host h;
    char got[8] = "", name[FL_STREAM_NAME], want[FL_STREAM_NAME];
    struct sockaddr_in self;
    socklen_t len = sizeof self;

    (void)state;
    host_open(&h, &(fl_acceptor_options){.host = "127.0.0.1"});
    h.is_echo = true;
    assert_int_not_equal(fl_acceptor_port(h.acceptor), 0);
    int fd = dial4(fl_acceptor_port(h.acceptor));
    assert_int_equal(write(fd, "ping", 4), 4);
    io_until(h.loop, h.count == 1 && h.guests[0].received == 4);
    io_some_turns(h.loop);
    assert_int_equal(read(fd, got, sizeof got), 4);
    assert_string_equal(h.address, "127.0.0.1");
    getsockname(fd, (struct sockaddr *)&self, &len);
    snprintf(want, sizeof want, "127.0.0.1:%u", ntohs(self.sin_port));
    fl_stream_peer_name(h.guests[0].stream, name);
    assert_string_equal(name, want);
    assert_true(fl_stream_memory(h.guests[0].stream) <= 480);
    host_close(&h);
    close(fd);
}

static void test_acceptor_serves_ipv6_and_with_any_both(void **state)
{
    struct sockaddr_in6 at = {.sin6_family = AF_INET6,
                              .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    host h;
    char name[FL_STREAM_NAME];
    int fd = socket(AF_INET6, SOCK_STREAM, 0);

    (void)state;
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0) {
        skip_because("no IPv6 here");
    }
    host_open(&h, &(fl_acceptor_options){.host = "::"});
    at.sin6_port = htons(fl_acceptor_port(h.acceptor));
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    io_until(h.loop, h.count == 1);
    assert_string_equal(h.address, "::1");
    fl_stream_peer_name(h.guests[0].stream, name);
    assert_memory_equal(name, "[::1]:", 6);
    int fd4 = dial4(fl_acceptor_port(h.acceptor));
    io_until(h.loop, h.count == 2);
    assert_string_equal(h.address, "127.0.0.1"); /* not ::ffff:127.0.0.1 */
    host_close(&h);
    close(fd);
    close(fd4);
}

/* The descriptor behind the newest accepted stream: the highest one open. */
static int option_of_newest(int level, int name)
{
    int value = -1;
    socklen_t len = sizeof value;

    for (int fd = 255; fd > 2; fd--) {
        struct sockaddr_storage peer;
        socklen_t size = sizeof peer;
        if (getpeername(fd, (struct sockaddr *)&peer, &size) == 0) {
            getsockopt(fd, level, name, &value, &len);
            return value;
        }
    }
    return -1;
}

static void test_acceptor_hands_socket_options_down(void **state)
{
    host h;

    (void)state;
    host_open(&h, &(fl_acceptor_options){.host = "localhost",
                                         .limits.keepalive_s = 77});
    int fd = dial4(fl_acceptor_port(h.acceptor));
    io_until(h.loop, h.count == 1);
    assert_true(option_of_newest(IPPROTO_TCP, TCP_NODELAY) > 0);
    assert_true(option_of_newest(SOL_SOCKET, SO_KEEPALIVE) > 0);
    assert_int_equal(option_of_newest(IPPROTO_TCP, TCP_KEEPIDLE), 77);
    host_close(&h);
    close(fd);

    fl_stream_limits off = {.no_delay_off = true, .keepalive_off = true};
    host_open(&h, &(fl_acceptor_options){.host = "localhost", .limits = off});
    fd = dial4(fl_acceptor_port(h.acceptor));
    io_until(h.loop, h.count == 1);
    assert_int_equal(option_of_newest(IPPROTO_TCP, TCP_NODELAY), 0);
    assert_int_equal(option_of_newest(SOL_SOCKET, SO_KEEPALIVE), 0);
    host_close(&h);
    close(fd);
}

static void test_acceptor_takes_a_burst(void **state)
{
    host h;
    int fds[100];

    (void)state;
    host_open(&h, &(fl_acceptor_options){.host = "127.0.0.1"});
    for (int i = 0; i < 100; i++)
        fds[i] = dial4(fl_acceptor_port(h.acceptor));
    fl_loop_step(h.loop);
    assert_in_range(h.count, 2, 99); /* many, but not all: others wait too */
    io_until(h.loop, h.count == 100);
    host_close(&h);
    for (int i = 0; i < 100; i++)
        close(fds[i]);
}

static void test_acceptor_says_what_is_wrong(void **state)
{
    host h;
    fl_acceptor *none;
    fl_error error;

    (void)state;
    host_open(&h, &(fl_acceptor_options){.host = "127.0.0.1"});
    fl_acceptor_options taken = {.host = "127.0.0.1",
                                 .port = fl_acceptor_port(h.acceptor)};
    char want[128];
    snprintf(want, sizeof want,
             "cannot listen on 127.0.0.1:%u: address already in use",
             taken.port);
    assert_int_equal(
        fl_acceptor_open(h.loop, &taken, &events, &h, &none, &error),
        FL_E_IN_USE);
    assert_string_equal(error.text, want);
    assert_null(none);

    fl_acceptor_options unknown = {.host = "name.invalid"};
    assert_int_equal(
        fl_acceptor_open(h.loop, &unknown, &events, &h, &none, &error),
        FL_E_UNREACHABLE);
    assert_non_null(strstr(error.text, "cannot listen on name.invalid:0: "));

    fl_acceptor_options neither = {0};
    assert_int_equal(
        fl_acceptor_open(h.loop, &neither, &events, &h, &none, &error),
        FL_E_INVALID);
    assert_int_equal(
        fl_acceptor_open(h.loop, &neither, &events, &h, &none, NULL),
        FL_E_INVALID);
    host_close(&h);
}

static void test_acceptor_may_be_closed_in_on_accept(void **state)
{
    host h;

    (void)state;
    host_open(&h, &(fl_acceptor_options){.host = "127.0.0.1"});
    h.closes_in_accept = true;
    uint16_t port = fl_acceptor_port(h.acceptor);
    int fds[2] = {dial4(port), dial4(port)};
    io_until(h.loop, h.closes == 1);
    assert_int_equal(h.count, 1);
    assert_int_equal(probe_say(&h.guests[0], "lives on"), FL_OK);
    io_until(h.loop, fl_stream_pending(h.guests[0].stream) == 0);
    host_close(&h);
    close(fds[0]);
    close(fds[1]);
}

static void temporary_path(char path[64])
{
    char dir[] = "/tmp/fairlead-test-XXXXXX";

    assert_non_null(mkdtemp(dir));
    snprintf(path, 64, "%s/socket", dir);
}

static void remove_directory_of(char *path)
{
    *strrchr(path, '/') = '\0';
    assert_int_equal(rmdir(path), 0); /* so nothing was left in it */
}

static mode_t mode_of(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 0777;
}

static void test_acceptor_guards_its_unix_socket(void **state)
{
    host h;
    char path[64], name[FL_STREAM_NAME];

    (void)state;
    temporary_path(path);
    host_open(&h, &(fl_acceptor_options){.path = path});
    assert_int_equal(mode_of(path), 0600);
    int fd = dial_unix(path);
    io_until(h.loop, h.count == 1);
    assert_string_equal(h.address, "");
    fl_stream_peer_name(h.guests[0].stream, name);
    assert_string_equal(name, "unix");
    host_close(&h);
    close(fd);

    /* the mode asked for, whatever the umask takes away */
    host_open(&h, &(fl_acceptor_options){.path = path, .mode = 0666});
    assert_int_equal(mode_of(path), 0666);
    host_close(&h);
    remove_directory_of(path);
}

static void
test_acceptor_replaces_a_stale_socket_but_not_a_live_one(void **state)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    host h;
    fl_acceptor *none;
    fl_error error;
    char path[64];

    (void)state;
    temporary_path(path);
    memcpy(at.sun_path, path, strlen(path));
    int dead = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(dead, (struct sockaddr *)&at, sizeof at), 0);
    close(dead);

    fl_acceptor_options options = {.path = path};
    host_open(&h, &options);
    int fd = dial_unix(path);
    assert_true(fd >= 0);
    assert_int_equal(
        fl_acceptor_open(h.loop, &options, &events, &h, &none, &error),
        FL_E_IN_USE);
    close(fd);
    fd = dial_unix(path); /* and the live one is still there */
    assert_true(fd >= 0);
    host_close(&h);
    close(fd);
    remove_directory_of(path);
}

static void test_acceptor_does_not_replace_a_file(void **state)
{
    fl_loop *loop = io_loop();
    fl_acceptor *none;
    fl_error error;
    char path[64];

    (void)state;
    temporary_path(path);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    fl_acceptor_options options = {.path = path};
    assert_int_equal(
        fl_acceptor_open(loop, &options, &events, NULL, &none, &error),
        FL_E_IN_USE);
    assert_int_equal(unlink(path), 0);
    fl_loop_free(loop);
    remove_directory_of(path);
}

static void test_acceptor_takes_a_path_of_107_bytes_and_no_more(void **state)
{
    fl_loop *loop = io_loop();
    fl_acceptor *acceptor;
    fl_error error;
    char dir[] = "/tmp/fairlead-test-XXXXXX", path[128];
    host h = {.loop = loop};

    (void)state;
    assert_non_null(mkdtemp(dir));
    memset(path, 'x', sizeof path);
    size_t len = (size_t)snprintf(path, sizeof path, "%s", dir);
    path[len] = '/';
    path[108] = '\0';
    fl_acceptor_options options = {.path = path};
    assert_int_equal(
        fl_acceptor_open(loop, &options, &events, &h, &acceptor, &error),
        FL_E_INVALID);
    assert_non_null(strstr(error.text, "108 bytes, more than the 107"));
    path[107] = '\0';
    assert_int_equal(
        fl_acceptor_open(loop, &options, &events, &h, &acceptor, &error),
        FL_OK);
    fl_acceptor_close(acceptor);
    fl_loop_run(loop);
    assert_int_equal(h.closes, 1);
    fl_loop_free(loop);
    assert_int_equal(rmdir(dir), 0);
}

static void test_acceptor_serves_an_abstract_name(void **state)
{
    char name[64];
    host h;

    (void)state;
    snprintf(name, sizeof name, "@fairlead-test-%d", (int)getpid());
    host_open(&h, &(fl_acceptor_options){.path = name});
    int fd = dial_unix(name);
    assert_true(fd >= 0);
    io_until(h.loop, h.count == 1);
    host_close(&h);
    close(fd);
}

static void test_acceptor_sheds_when_descriptors_run_out(void **state)
{
    struct rlimit old, tight;
    host h;
    char got, line[512] = "";
    int log_fds[2];

    (void)state;
    host_open(&h, &(fl_acceptor_options){.host = "127.0.0.1"});
    assert_int_equal(pipe(log_fds), 0);
    fl_log *log = fl_log_new(&(fl_log_options){.fd = log_fds[1]});
    assert_non_null(log);
    fl_loop_set_log(h.loop, log);
    int shed = dial4(fl_acceptor_port(h.acceptor));
    int probe_fd = dup(shed);
    close(probe_fd);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    tight = old;
    tight.rlim_cur = (rlim_t)probe_fd; /* not one more than are open */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    for (int i = 0; i < 10; i++)
        fl_loop_step(h.loop);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(h.count, 0);
    ssize_t n = recv(shed, &got, 1, MSG_DONTWAIT);
    assert_true(n == 0 || (n < 0 && errno != EAGAIN)); /* hung up on */
    assert_true(read(log_fds[0], line, sizeof line - 1) > 0);
    assert_non_null(strstr(line, "connection not accepted"));
    assert_non_null(strstr(line, "too many open files"));
    int fd = dial4(fl_acceptor_port(h.acceptor)); /* it is open again */
    io_until(h.loop, h.count == 1);
    host_close(&h);
    fl_log_free(log);
    close(log_fds[0]);
    close(log_fds[1]);
    close(fd);
    close(shed);
}

static void test_acceptor_stream_reports_a_reset(void **state)
{
    struct linger hard = {.l_onoff = 1};
    host h;

    (void)state;
    host_open(&h, &(fl_acceptor_options){.host = "127.0.0.1"});
    int fd = dial4(fl_acceptor_port(h.acceptor));
    io_until(h.loop, h.count == 1);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close(fd);
    io_until(h.loop, h.guests[0].ends == 1);
    assert_int_equal(h.guests[0].error.status, FL_E_RESET);
    assert_string_equal(h.guests[0].error.text,
                        "read: connection reset by peer");
    host_close(&h);
}

static void test_acceptor_stream_last_answer_survives_unread_input(void **state)
{
    static char answer[300000], upload[200000];
    fl_stream_limits limits = {.high_water = sizeof answer + 1};
    host h;
    size_t sum = 0;
    ssize_t n = 0;

    (void)state;
    host_open(&h,
              &(fl_acceptor_options){.host = "127.0.0.1", .limits = limits});
    int fd = dial4(fl_acceptor_port(h.acceptor));
    io_until(h.loop, h.count == 1);
    fl_stream_pause(h.guests[0].stream, true); /* it has read enough */
    fcntl(fd, F_SETFL, O_NONBLOCK);
    assert_true(write(fd, upload, sizeof upload) > 0);
    fl_span bytes = {answer, sizeof answer};
    assert_int_equal(fl_stream_write(h.guests[0].stream, &bytes, 1), FL_OK);
    fl_stream_close_after_flush(h.guests[0].stream, 5000);
    io_until(h.loop,
             ((n = read(fd, upload, sizeof upload)) >= 0 || errno != EAGAIN) &&
                 (sum += n > 0 ? (size_t)n : 0, n <= 0));
    assert_int_equal(n, 0); /* an end, not a reset */
    assert_int_equal(sum, sizeof answer);
    close(fd);
    io_until(h.loop, h.guests[0].closes == 1);
    host_close(&h);
}

static void open_once(void *user)
{
    fl_loop *loop = fl_loop_new();
    fl_acceptor *acceptor = NULL;
    host h = {.loop = loop};

    (void)user;
    if (loop == NULL)
        return;
    if (fl_acceptor_open(loop, &(fl_acceptor_options){.host = "127.0.0.1"},
                         &events, &h, &acceptor, NULL) == FL_OK) {
        int fd = dial4(fl_acceptor_port(acceptor));
        io_some_turns(loop); /* perhaps there is no memory for it */
        close(fd);
        if (h.count == 1)
            fl_stream_close(h.guests[0].stream);
        fl_acceptor_close(acceptor);
    }
    fl_loop_run(loop);
    fl_loop_free(loop);
}

static void test_acceptor_without_memory_leaks_nothing(void **state)
{
    (void)state;
    assert_true(ration_each(open_once, NULL) >= 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_acceptor_serves_ipv4_on_a_free_port),
        cmocka_unit_test(test_acceptor_serves_ipv6_and_with_any_both),
        cmocka_unit_test(test_acceptor_hands_socket_options_down),
        cmocka_unit_test(test_acceptor_takes_a_burst),
        cmocka_unit_test(test_acceptor_says_what_is_wrong),
        cmocka_unit_test(test_acceptor_may_be_closed_in_on_accept),
        cmocka_unit_test(test_acceptor_guards_its_unix_socket),
        cmocka_unit_test(
            test_acceptor_replaces_a_stale_socket_but_not_a_live_one),
        cmocka_unit_test(test_acceptor_does_not_replace_a_file),
        cmocka_unit_test(test_acceptor_takes_a_path_of_107_bytes_and_no_more),
        cmocka_unit_test(test_acceptor_serves_an_abstract_name),
        cmocka_unit_test(test_acceptor_sheds_when_descriptors_run_out),
        cmocka_unit_test(test_acceptor_stream_reports_a_reset),
        cmocka_unit_test(
            test_acceptor_stream_last_answer_survives_unread_input),
        cmocka_unit_test(test_acceptor_without_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
