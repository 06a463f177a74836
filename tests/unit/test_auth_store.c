/*
 * test_auth_store.c - a record that is kept, and files that are not trusted.
 */
#include "auth/store.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], path[80];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/fl-store-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/tokens", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void fill(fl_record *record)
{
    *record = (fl_record){.expires = 1234567890, .renew = 1234567000};
    for (int i = 0; i < FL_RECORD_COUNT; i++) {
        char text[32];
        snprintf(text, sizeof text, "v\"%d\n", i);
        assert_int_equal(
            fl_record_set(record, (fl_record_slot)i, fl_span_of(text)), FL_OK);
    }
}

static void test_store_gives_back_what_it_got(void **state)
{
    fl_record in, out = {0};
    struct stat info;
    fl_error error;

    (void)state;
    fill(&in);
    mode_t before = umask(0);
    assert_int_equal(fl_store_save(path, &in, &error), FL_OK);
    umask(before);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(fl_store_load(path, &out, &error), FL_OK);
    for (int i = 0; i < FL_RECORD_COUNT; i++)
        assert_string_equal(in.text[i], out.text[i]);
    assert_int_equal(out.expires, in.expires);
    assert_int_equal(out.renew, in.renew);
    fl_record_clear(&in);
    fl_record_clear(&out);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left there */
    assert_int_equal(mkdir(folder, 0700), 0);
}

static void test_store_that_others_can_read_is_refused(void **state)
{
    static const mode_t modes[] = {0640, 0604, 0620, 0602, 0610, 0601, 0666};
    fl_record record;
    fl_error error;

    (void)state;
    fill(&record);
    assert_int_equal(fl_store_save(path, &record, &error), FL_OK);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_int_equal(fl_store_load(path, &record, &error), FL_E_DENIED);
        assert_non_null(strstr(error.text, "chmod 600"));
    }
    assert_int_equal(chmod(path, 0400), 0);
    assert_int_equal(fl_store_load(path, &record, &error), FL_OK);
    fl_record_clear(&record);
}

static void test_store_of_somebody_else_is_refused(void **state)
{
    fl_record record;
    fl_error error;

    (void)state;
    if (geteuid() != 0)
        skip();
    fill(&record);
    assert_int_equal(fl_store_save(path, &record, &error), FL_OK);
    assert_int_equal(chown(path, 12345, 12345), 0);
    assert_int_equal(fl_store_load(path, &record, &error), FL_E_DENIED);
    assert_non_null(strstr(error.text, "somebody else"));
    fl_record_clear(&record);
    assert_int_equal(unlink(path), 0);
}

static void test_store_follows_no_link_and_opens_no_directory(void **state)
{
    fl_record record = {0};
    fl_error error;
    char link[100];

    (void)state;
    fill(&record);
    assert_int_equal(fl_store_save(path, &record, &error), FL_OK);
    snprintf(link, sizeof link, "%s/link", folder);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(fl_store_load(link, &record, &error), FL_E_DENIED);
    /* but it is replaced, and what it pointed to stays */
    assert_int_equal(fl_store_save(link, &record, &error), FL_OK);
    assert_int_equal(fl_store_load(link, &record, &error), FL_OK);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(fl_store_load(folder, &record, &error), FL_E_DENIED);
    fl_record_clear(&record);
}

static void test_store_says_what_is_wrong(void **state)
{
    fl_record record = {0};
    fl_error error;
    FILE *file;

    (void)state;
    unlink(path);
    assert_int_equal(fl_store_load(path, &record, &error), FL_E_NOT_FOUND);
    assert_int_equal(fl_store_save("/no/such/place", &record, &error),
                     FL_E_NOT_FOUND);
    mode_t before = umask(077);
    file = fopen(path, "w");
    umask(before);
    assert_non_null(file);
    fputs("not json", file);
    fclose(file);
    assert_int_equal(fl_store_load(path, &record, &error), FL_E_BAD_JSON);
    assert_int_equal(truncate(path, FL_RECORD_MAX + 1), 0);
    assert_int_equal(fl_store_load(path, &record, &error), FL_E_TOO_BIG);
    assert_int_equal(truncate(path, FL_RECORD_MAX), 0);
    assert_int_equal(fl_store_load(path, &record, &error), FL_E_BAD_JSON);
    fl_record_clear(&record);
}

static void test_record_of_another_issuer_is_emptied(void **state)
{
    fl_record record;

    (void)state;
    fill(&record);
    assert_int_equal(
        fl_record_set(&record, FL_RECORD_ISSUER, FL_SPAN("https://a")), FL_OK);
    assert_int_equal(fl_record_bind(&record, FL_SPAN("https://a")), FL_OK);
    assert_non_null(record.text[FL_RECORD_CLIENT_ID]);
    assert_int_equal(fl_record_bind(&record, FL_SPAN("https://a/")), FL_OK);
    assert_string_equal(record.text[FL_RECORD_ISSUER], "https://a/");
    for (int i = 0; i < FL_RECORD_COUNT; i++)
        assert_true((record.text[i] != NULL) ==
                    (i == FL_RECORD_ISSUER || i == FL_RECORD_SERVER ||
                     i == FL_RECORD_KEY));
    assert_int_equal(record.expires, 0);
    fl_record_clear(&record);
}

static void test_record_that_is_no_record_changes_nothing(void **state)
{
    fl_record record;

    (void)state;
    fill(&record);
    assert_int_equal(fl_record_read(&record, FL_SPAN("[1]")), FL_E_BAD_JSON);
    assert_string_equal(record.text[0], "v\"0\n");
    assert_int_equal(fl_record_read(&record, FL_SPAN("{\"issuer\":\"x\"}")),
                     FL_OK);
    assert_null(record.text[FL_RECORD_ACCESS]);
    fl_record_clear(&record);
}

static void work(void *user)
{
    fl_record record = {0};
    fl_error error;

    (void)user;
    fl_status rc = fl_record_read(&record, FL_SPAN("{\"issuer\":\"x\"}"));
    if (rc == FL_OK)
        rc = fl_store_save(path, &record, &error);
    if (rc == FL_OK)
        rc = fl_store_load(path, &record, &error);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    fl_record_clear(&record);
}

static void test_store_without_memory_leaks_nothing(void **state)
{
    (void)state;
    unlink(path);
    assert_true(ration_each(work, NULL) > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_store_gives_back_what_it_got),
        cmocka_unit_test(test_store_that_others_can_read_is_refused),
        cmocka_unit_test(test_store_of_somebody_else_is_refused),
        cmocka_unit_test(test_store_follows_no_link_and_opens_no_directory),
        cmocka_unit_test(test_store_says_what_is_wrong),
        cmocka_unit_test(test_record_of_another_issuer_is_emptied),
        cmocka_unit_test(test_record_that_is_no_record_changes_nothing),
        cmocka_unit_test(test_store_without_memory_leaks_nothing),
    };

    return cmocka_run_group_tests_name("auth store", tests, make_folder,
                                       remove_folder);
}
