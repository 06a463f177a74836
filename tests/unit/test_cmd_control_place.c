/*
 * test_cmd_control_place.c - where control sockets are, and that only a folder
 * of our own will do.
 */
#include "cmd/control_place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char root[32];

static int make_root(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/fairlead-test-XXXXXX");
    return mkdtemp(root) == NULL;
}

static int remove_root(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command); // NOLINT: a folder of the test's own
}

static const char *in_root(const char *name)
{
    static char path[FL_CONTROL_PATH];

    snprintf(path, sizeof path, "%s/%.60s", root, name);
    return path;
}

static void test_place_is_the_runtime_directory_if_that_is_ours(void **state)
{
    char folder[FL_CONTROL_PATH], plain[FL_CONTROL_PATH];

    (void)state;
    snprintf(plain, sizeof plain, "/tmp/fairlead-%u", (unsigned)geteuid());
    setenv("XDG_RUNTIME_DIR", root, 1);
    assert_true(fl_control_place(0, folder));
    assert_string_equal(folder, in_root("fairlead"));
    assert_true(fl_control_place(1, folder));
    assert_string_equal(folder, plain);
    assert_false(fl_control_place(2, folder));
}

static void is_plain(const char *runtime)
{
    char folder[FL_CONTROL_PATH], plain[FL_CONTROL_PATH];

    snprintf(plain, sizeof plain, "/tmp/fairlead-%u", (unsigned)geteuid());
    if (runtime != NULL)
        setenv("XDG_RUNTIME_DIR", runtime, 1);
    else
        unsetenv("XDG_RUNTIME_DIR");
    assert_true(fl_control_place(0, folder));
    assert_string_equal(folder, plain);
    assert_false(fl_control_place(1, folder));
}

static void test_place_is_in_tmp_without_one(void **state)
{
    char deep[2 * FL_CONTROL_PATH];

    (void)state;
    is_plain(NULL);
    is_plain("");
    is_plain("relative");
    is_plain("/nowhere/at/all");
    is_plain("/dev/null");
    if (geteuid() == 0)
        assert_int_equal(chown(root, 1, 1), 0);
    is_plain(geteuid() == 0 ? root : "/");
    if (geteuid() == 0)
        assert_int_equal(chown(root, 0, 0), 0);
    /* too long for the address of a socket */
    snprintf(deep, sizeof deep, "%s/%0*d", root, 80, 0);
    assert_int_equal(mkdir(deep, 0700), 0);
    is_plain(deep);
}

static void refuses(const char *folder, fl_status status, const char *part)
{
    fl_error error;

    assert_int_equal(fl_control_check(folder, &error), status);
    if (strstr(error.text, part) == NULL)
        fail_msg("no '%s' in '%s'", part, error.text);
    if (status != FL_E_NOT_FOUND)
        assert_int_equal(fl_control_make(folder, &error), status);
}

static void test_folder_must_be_ours_alone(void **state)
{
    char folder[FL_CONTROL_PATH];
    fl_error error;
    struct stat info;

    (void)state;
    snprintf(folder, sizeof folder, "%s", in_root("f"));
    refuses(folder, FL_E_NOT_FOUND, "no such file");
    assert_int_equal(fl_control_make(folder, &error), FL_OK);
    assert_int_equal(fl_control_make(folder, &error), FL_OK);
    assert_int_equal(stat(folder, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0700);
    for (mode_t bit = 1; bit <= 040; bit <<= 1) {
        assert_int_equal(chmod(folder, 0700 | bit), 0);
        refuses(folder, FL_E_DENIED, "chmod 700");
    }
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(symlink(folder, in_root("link")), 0);
    refuses(in_root("link"), FL_E_DENIED, "no directory");
    if (geteuid() != 0)
        return;
    assert_int_equal(chown(folder, 1, 1), 0);
    refuses(folder, FL_E_DENIED, "another user's");
}

static void note_pid(void *user, pid_t pid)
{
    *(int *)user += (int)pid;
}

static void touch(const char *name)
{
    FILE *file = fopen(in_root(name), "w");

    assert_non_null(file);
    fclose(file);
}

static void test_sockets_are_known_by_their_names(void **state)
{
    int sum = 0;

    (void)state;
    touch("7.sock");
    touch("20.sock");
    touch("0.sock");
    touch("-300.sock");
    touch("4000.sock2");
    touch("5000.");
    touch("06000.sock");
    touch("99999999999999999999.sock");
    touch("sock");
    fl_control_each(root, note_pid, &sum);
    assert_int_equal(sum, 27);
    fl_control_each(in_root("nowhere"), note_pid, &sum);
    assert_int_equal(sum, 27);
}

static int bind_at(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

static pid_t dead_pid(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return pid;
}

static void test_sweeping_takes_the_dead_alone(void **state)
{
    char path[FL_CONTROL_PATH];
    pid_t dead = dead_pid();

    (void)state;
    assert_int_equal(fl_control_path(root, dead, path), FL_OK);
    int fd = bind_at(path);
    assert_int_equal(listen(fd, 1), 0);
    fl_control_sweep_all(root); /* somebody listens */
    assert_int_equal(access(path, F_OK), 0);
    close(fd);
    fl_control_sweep_all(root);
    assert_int_not_equal(access(path, F_OK), 0);

    assert_int_equal(fl_control_path(root, getpid(), path), FL_OK);
    close(bind_at(path));
    fl_control_sweep_all(root); /* there is one of that number */
    assert_int_equal(access(path, F_OK), 0);

    assert_int_equal(fl_control_path(root, dead, path), FL_OK);
    snprintf(path, sizeof path, "%d.sock", (int)dead);
    touch(path); /* no socket */
    fl_control_sweep_all(root);
    assert_int_equal(access(in_root(path), F_OK), 0);
}

static void test_path_fits_an_address(void **state)
{
    char path[FL_CONTROL_PATH], folder[FL_CONTROL_PATH];

    (void)state;
    for (int len = 90; len < 105; len++) {
        snprintf(folder, sizeof folder, "/%0*d", len - 1, 0);
        assert_int_equal(fl_control_path(folder, 1, path),
                         len + 7 < FL_CONTROL_PATH ? FL_OK : FL_E_TOO_BIG);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_place_is_the_runtime_directory_if_that_is_ours),
        TEST(test_place_is_in_tmp_without_one),
        TEST(test_folder_must_be_ours_alone),
        TEST(test_sockets_are_known_by_their_names),
        TEST(test_sweeping_takes_the_dead_alone),
        TEST(test_path_fits_an_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
