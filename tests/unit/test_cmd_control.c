/*
 * test_cmd_control.c - the control socket of a gateway, and peers of the worst
 * manners.
 */
#include "gateway_host.h"

#include "base/log.h"
#include "cmd/control.h"
#include "cmd/control_place.h"
#include "cmd/ps_ask.h"
#include "support/ration.h"

#include <pthread.h>
#include <sys/stat.h>

static char root[32], path[FL_CONTROL_PATH];
static fl_control *control;

static int make_root(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/fairlead-test-XXXXXX");
    if (mkdtemp(root) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/socket", root);
    host_open(NULL);
    host.server.fd = -1;
    return 0;
}

static int remove_root(void **state)
{
    char command[128];

    (void)state;
    fl_control_close(control);
    control = NULL;
    host_end();
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command); // NOLINT: a folder of the test's own
}

static void open_control(void)
{
    control = fl_control_open(host.gateway, host.loop, path);
    assert_non_null(control);
}

/* One who never says anything, and reads to the end. */
static void hears_report(int fd)
{
    static raw_peer peer;

    raw_take(&peer, host.loop, fd);
    raw_hears_part(&peer, "\"servers\":[{\"name\":\"server\"");
    raw_hears_end(&peer);
    raw_close(&peer);
}

static void test_control_says_one_report_and_hangs_up(void **state)
{
    struct stat info;

    (void)state;
    open_control();
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    hears_report(raw_dial_unix(path));
    hears_report(raw_dial_unix(path));
    fl_control_close(control);
    control = NULL;
    assert_int_not_equal(access(path, F_OK), 0);
}

static void test_control_can_be_done_without(void **state)
{
    (void)state;
    assert_null(fl_control_open(host.gateway, host.loop, "none"));
    assert_null(fl_control_open(host.gateway, host.loop, "/nowhere/at/all"));
    assert_null(fl_control_open(host.gateway, host.loop, ""));
    open_control();
    assert_null(fl_control_open(host.gateway, host.loop, path));
    hears_report(raw_dial_unix(path)); /* it is still the first one's */
}

/* More than a socket takes at once. */
static void add_many(void)
{
    static char text[3000];
    const char *words[] = {text, NULL};
    char name[16];
    fl_error error;

    memset(text, 'x', sizeof text - 1);
    for (int i = 0; i < 1200; i++) {
        snprintf(name, sizeof name, "s%d", i);
        assert_int_equal(
            fl_gateway_add(host.gateway,
                           &(fl_upstream){
                               .name = name,
                               .client.connection.child.argv = words,
                           },
                           &error),
            FL_OK);
    }
}

static bool has_ended(int fd)
{
    char byte;

    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static void test_control_bounds_those_who_never_read(void **state)
{
    enum { MORE = FL_CONTROL_PEERS + 8 };
    int fds[MORE];

    (void)state;
    add_many();
    open_control();
    for (int i = 0; i < MORE; i++) {
        fds[i] = raw_dial_unix(path);
        io_turn(host.loop);
    }
    for (int i = 0; i < MORE; i++) /* the last are hung up on at once */
        io_until(host.loop, i < FL_CONTROL_PEERS || has_ended(fds[i]));
    int late = raw_dial_unix(path);
    io_until(host.loop, has_ended(late));
    close(late);
    host_wait(FL_CONTROL_FLUSH_MS); /* and the first after a while */
    hears_report(raw_dial_unix(path));
    for (int i = 0; i < MORE; i++)
        close(fds[i]);
}

static void test_control_closes_on_those_who_never_read(void **state)
{
    (void)state;
    add_many();
    open_control();
    int fd = raw_dial_unix(path);
    io_turn(host.loop);
    io_turn(host.loop);
    fl_control_close(control); /* what is left is freed, or ASan tells */
    control = NULL;
    io_some_turns(host.loop);
    close(fd);
}

static void test_control_heeds_nobody(void **state)
{
    static raw_peer peer;

    (void)state;
    open_control();
    raw_take(&peer, host.loop, raw_dial_unix(path));
    raw_say(&peer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"shutdown\"}");
    raw_hears_part(&peer, "\"servers\"");
    raw_close(&peer);
    for (int i = 0; i < 100; i++) /* who leaves at once */
        close(raw_dial_unix(path));
    io_some_turns(host.loop);
    host_wait(FL_CONTROL_FLUSH_MS);
    hears_report(raw_dial_unix(path));
}

/* Each allocation on the way fails once; who asked is told, or hung up on. */
static void test_control_survives_every_failed_allocation(void **state)
{
    static raw_peer peer;
    size_t refusals = 0;

    (void)state;
    open_control();
    for (bool refused = true; refused; refusals++) {
        raw_take(&peer, host.loop, raw_dial_unix(path));
        ration_reset();
        ration_fail_at(refusals + 1);
        for (time_t begun = io_seconds(); !peer.ended; raw_read(&peer)) {
            assert_true(io_seconds() - begun < stretched(30));
            host_wait(FL_CONTROL_REUSED_MS);
        }
        refused = ration_refused();
        ration_reset();
        raw_close(&peer);
        host_wait(FL_CONTROL_REUSED_MS);
        assert_true(refusals < 1000);
    }
    assert_true(refusals > 3);
    hears_report(raw_dial_unix(path));
}

static void *ask_elsewhere(void *user)
{
    return (void *)(uintptr_t)(fl_ps_ask(user, 20000) == FL_OK);
}

/* The loop of the gateway turns meanwhile. */
static void ask(fl_ps_list *list)
{
    pthread_t thread;
    void *ok = NULL;

    assert_int_equal(pthread_create(&thread, NULL, ask_elsewhere, list), 0);
    for (struct timespec none = {0};
         pthread_timedjoin_np(thread, &ok, &none) != 0;)
        io_turn(host.loop);
    assert_non_null(ok);
}

static void add_path(fl_ps_list *list, const char *to)
{
    fl_ps_gateway one = {.pid = (pid_t)list->count + 1};

    snprintf(one.path, sizeof one.path, "%s", to);
    assert_int_equal(fl_ps_list_add(list, &one), FL_OK);
}

static void test_asking_tells_who_answers_from_who_does_not(void **state)
{
    fl_ps_list list = {0};
    char other[128];

    (void)state;
    open_control();
    snprintf(other, sizeof other, "%s/nobody", root);
    for (int i = 0; i < 10; i++)
        add_path(&list, path);
    add_path(&list, other);
    add_path(&list, root);
    ask(&list);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(list.items[i].why.status, FL_OK);
        assert_true(fl_buf_len(&list.items[i].said) > 100);
    }
    assert_int_equal(list.items[10].why.status, FL_E_NOT_FOUND);
    assert_int_equal(list.items[11].why.status, FL_E_REFUSED);
    fl_ps_list_deinit(&list);
}

/* A socket at `path` that says this to one who comes, then hangs up. */
typedef struct liar {
    int fd;
    const char *text;
    size_t times;
} liar;

static void *lie(void *user)
{
    const liar *one = user;
    int fd = accept(one->fd, NULL, NULL);

    for (size_t i = 0; i < one->times; i++)
        if (send(fd, one->text, strlen(one->text), MSG_NOSIGNAL) < 0)
            break;
    close(fd);
    return NULL;
}

static void answers(const char *text, size_t times, fl_status status)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    liar one = {.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
                .text = text,
                .times = times};
    fl_ps_list list = {0};
    pthread_t thread;

    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    assert_int_equal(bind(one.fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(one.fd, 1), 0);
    assert_int_equal(pthread_create(&thread, NULL, lie, &one), 0);
    add_path(&list, path);
    assert_int_equal(fl_ps_ask(&list, 20000), FL_OK);
    assert_int_equal(list.items[0].why.status, status);
    assert_int_equal(fl_buf_len(&list.items[0].said) > 0, status == FL_OK);
    fl_ps_list_deinit(&list);
    pthread_join(thread, NULL);
    close(one.fd);
    unlink(path);
}

static void test_asking_believes_nothing_but_json(void **state)
{
    (void)state;
    answers("{}\n", 1, FL_OK);
    answers("", 1, FL_E_CLOSED);
    answers("hello\n", 1, FL_E_BAD_JSON);
    answers("[]", 1, FL_E_BAD_JSON);
    answers("{\"a\":", 1, FL_E_BAD_JSON);
    answers("{\"0123456789\":\"0123456789\"}", 100000, FL_E_TOO_BIG);
}

static void test_asking_gives_up_on_silence(void **state)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    fl_ps_list list = {0};

    (void)state;
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 200), 0);
    for (int i = 0; i < 70; i++) /* more than are asked at once */
        add_path(&list, path);
    assert_int_equal(fl_ps_ask(&list, 30), FL_OK);
    for (size_t i = 0; i < list.count; i++)
        assert_int_equal(list.items[i].why.status, FL_E_TIMEOUT);
    fl_ps_list_deinit(&list);
    close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_control_says_one_report_and_hangs_up),
        TEST(test_control_can_be_done_without),
        TEST(test_control_bounds_those_who_never_read),
        TEST(test_control_closes_on_those_who_never_read),
        TEST(test_control_heeds_nobody),
        TEST(test_control_survives_every_failed_allocation),
        TEST(test_asking_tells_who_answers_from_who_does_not),
        TEST(test_asking_believes_nothing_but_json),
        TEST(test_asking_gives_up_on_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
