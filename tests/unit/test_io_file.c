/*
 * test_io_file.c - files below a directory, and none that are not.
 */
#include "base/span.h"
#include "io/file.h"
#include "io/tree.h"
#include "io_probe.h"
#include "support/ration.h"
#include "tree_host.h"

#include <dirent.h>

static int open_root(const tree *t)
{
    int root;

    assert_int_equal(fl_below_root(t->root, &root), FL_OK);
    return root;
}

/* What reading `path` says, and the text if there is one. */
static fl_status slurp(const tree *t, const char *path, unsigned how,
                       const char *text)
{
    fl_file_place place = {
        .root = open_root(t), .path = path, .max = 100, .how = how};
    fl_buf bytes;
    fl_status rc = fl_file_slurp(&place, &bytes);

    if (rc == FL_OK)
        assert_true(fl_span_equal(fl_buf_view(&bytes), fl_span_of(text)));
    fl_buf_reset(&bytes);
    fl_below_close(&place.root);
    return rc;
}

static void test_below_knows_what_a_path_is(void **state)
{
    static const char *const good[] = {"a",      "a/b", "a b/%2e%2e", "a\\b",
                                       "..\\..", "...", "a/..b"};
    static const char *const bad[] = {"",     "/",     "/a",  "a/",
                                      "a//b", ".",     "..",  "../a",
                                      "a/..", "a/./b", "./a", "a/../b"};
    char longest[FL_BELOW_PATH_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(fl_below_is_path(fl_span_of(good[i]), FL_BELOW_HIDDEN));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(fl_below_is_path(fl_span_of(bad[i]), FL_BELOW_HIDDEN));
    assert_false(fl_below_is_path((fl_span){"a\0b", 3}, FL_BELOW_HIDDEN));
    assert_false(fl_below_is_path(FL_SPAN(".a"), 0));
    assert_false(fl_below_is_path(FL_SPAN("a/.b/c"), 0));
    memset(longest, 'a', sizeof longest);
    assert_true(fl_below_is_path((fl_span){longest, sizeof longest - 1}, 0));
    assert_false(fl_below_is_path((fl_span){longest, sizeof longest}, 0));
}

/* Every way out, and everything that is no file; by either way of opening. */
static void check_nothing_leads_out(const tree *t, unsigned how)
{
    static const char *const bad[] = {
        "../secret",
        "/etc/passwd",
        "up/secret",
        "out",
        "absolute",
        "dir/out",
        "dir/../..",
        "dangling",
        "ring",
        "ring/x",
        "magic/etc",
        "magic",
        "absolute/secret",
        "fifo",
        "dir",
        "dir/deep",
        "nothing",
        "dir/in.txt/",
        "dir/deep/in.txt/x",
        ".hidden",
        ".git/config",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(slurp(t, bad[i], how, ""), FL_E_NOT_FOUND);
    assert_int_equal(slurp(t, "dir/deep/in.txt", how, "inside"), FL_OK);
    assert_int_equal(slurp(t, ".hidden", how | FL_BELOW_HIDDEN, "hidden"),
                     FL_OK);
    assert_int_equal(
        slurp(t, ".git/config", how | FL_BELOW_HIDDEN, "hidden, too"), FL_OK);
}

static void test_below_lets_nothing_lead_out(void **state)
{
    tree t;

    (void)state;
    tree_begin(&t);
    tree_make_hostile(&t);
    check_nothing_leads_out(&t, 0);
    check_nothing_leads_out(&t, FL_BELOW_STEPWISE);
    check_nothing_leads_out(&t, FL_BELOW_FOLLOW);
    check_nothing_leads_out(&t, FL_BELOW_FOLLOW | FL_BELOW_STEPWISE);
    tree_end(&t);
}

static void test_below_follows_links_that_stay_inside_if_asked(void **state)
{
    tree t;

    (void)state;
    tree_begin(&t);
    tree_make_hostile(&t);
    assert_int_equal(slurp(&t, "dir/fine.txt", 0, ""), FL_E_NOT_FOUND);
    assert_int_equal(slurp(&t, "dir/here/in.txt", 0, ""), FL_E_NOT_FOUND);
    if (tree_can_follow(&t)) {
        assert_int_equal(slurp(&t, "dir/fine.txt", FL_BELOW_FOLLOW, "inside"),
                         FL_OK);
        assert_int_equal(
            slurp(&t, "dir/here/in.txt", FL_BELOW_FOLLOW, "inside"), FL_OK);
        assert_int_equal(
            slurp(&t, "loop/loop/dir/here/in.txt", FL_BELOW_FOLLOW, "inside"),
            FL_OK);
    }
    /* without the kernel's promise, none */
    assert_int_equal(
        slurp(&t, "dir/fine.txt", FL_BELOW_FOLLOW | FL_BELOW_STEPWISE, ""),
        FL_E_NOT_FOUND);
    tree_end(&t);
}

static void test_below_root_is_a_directory(void **state)
{
    tree t;
    int root;

    (void)state;
    tree_begin(&t);
    tree_file(&t, "file", "");
    assert_int_equal(fl_below_root(tree_at(&t, "file"), &root), FL_E_NOT_FOUND);
    assert_int_equal(root, -1);
    assert_int_equal(fl_below_root(tree_at(&t, "none"), &root), FL_E_NOT_FOUND);
    fl_below_close(&root); /* harmless */
    tree_end(&t);
}

static void test_file_is_read_up_to_its_limit(void **state)
{
    char text[102];
    tree t;

    (void)state;
    memset(text, 'x', sizeof text);
    text[100] = '\0';
    tree_begin(&t);
    tree_file(&t, "empty", "");
    tree_file(&t, "full", text);
    text[100] = 'x';
    tree_bytes(&t, "over", text, 101);
    tree_sparse(&t, "huge", (off_t)1 << 40);
    text[100] = '\0';
    assert_int_equal(slurp(&t, "empty", 0, ""), FL_OK);
    assert_int_equal(slurp(&t, "full", 0, text), FL_OK);
    assert_int_equal(slurp(&t, "over", 0, ""), FL_E_TOO_BIG);
    assert_int_equal(slurp(&t, "huge", 0, ""), FL_E_TOO_BIG);
    tree_end(&t);
}

/* Their size is said to be 0: the limit holds for what is read. */
static void test_file_that_grows_is_held_to_its_limit(void **state)
{
    char path[32];
    fl_file_place place = {.path = path, .max = 100};
    fl_buf bytes;

    (void)state;
    assert_int_equal(fl_below_root("/proc", &place.root), FL_OK);
    snprintf(path, sizeof path, "%d/maps", (int)getpid());
    assert_int_equal(fl_file_slurp(&place, &bytes), FL_E_TOO_BIG);
    fl_buf_reset(&bytes);
    place.max = 1 << 20;
    assert_int_equal(fl_file_slurp(&place, &bytes), FL_OK);
    assert_true(fl_buf_len(&bytes) > 100);
    fl_buf_reset(&bytes);
    fl_below_close(&place.root);
}

static void test_file_that_may_not_be_read_is_denied(void **state)
{
    tree t;

    (void)state;
    tree_begin(&t);
    tree_file(&t, "locked", "x");
    assert_int_equal(chmod(tree_at(&t, "locked"), 0), 0);
    /* root may read anything */
    assert_int_equal(slurp(&t, "locked", 0, "x"),
                     geteuid() == 0 ? FL_OK : FL_E_DENIED);
    tree_end(&t);
}

static void test_file_device_is_no_file(void **state)
{
    tree t;

    (void)state;
    tree_begin(&t);
    if (mknod(tree_at(&t, "null"), S_IFCHR | 0666, 0x103) == 0)
        assert_true(slurp(&t, "null", 0, "") < 0);
    else
        print_message("SKIPPED: only root can make a device\n");
    tree_end(&t);
}

typedef struct reader {
    int done;
    fl_status status;
    bool is_text;
    size_t len;
    char text[128];
} reader;

static void on_done(void *user, const fl_file_result *result)
{
    reader *r = user;

    r->done++;
    r->status = result->status;
    r->is_text = result->is_text;
    r->len = result->bytes.len;
    if (r->len > 0 && r->len < sizeof r->text)
        memcpy(r->text, result->bytes.ptr, r->len);
}

static void read_async(const tree *t, const char *path, reader *r)
{
    fl_file_place place = {.root = open_root(t), .path = path, .max = 100};
    fl_loop *loop = io_loop();
    fl_file_read *read;

    *r = (reader){0};
    assert_int_equal(fl_file_read_start(loop, &place, on_done, r, &read),
                     FL_OK);
    fl_below_close(&place.root); /* it has its own */
    assert_int_equal(r->done, 0);
    io_until(loop, r->done > 0);
    io_some_turns(loop);
    assert_int_equal(r->done, 1);
    fl_loop_free(loop);
}

static void test_file_is_read_elsewhere(void **state)
{
    tree t;
    reader r;

    (void)state;
    tree_begin(&t);
    tree_file(&t, "text", "h\xC3\xA9");
    tree_bytes(&t, "nul", "a\0b", 3);
    tree_bytes(&t, "bytes", "\xff\xfe", 2);
    read_async(&t, "text", &r);
    assert_int_equal(r.status, FL_OK);
    assert_true(r.is_text);
    assert_string_equal(r.text, "h\xC3\xA9");
    read_async(&t, "nul", &r);
    assert_false(r.is_text);
    assert_int_equal(r.len, 3);
    read_async(&t, "bytes", &r);
    assert_false(r.is_text);
    read_async(&t, "none", &r);
    assert_int_equal(r.status, FL_E_NOT_FOUND);
    tree_end(&t);
}

/* Nobody has it open for writing: a blocking open would wait for ever. */
static void test_file_fifo_keeps_nobody_waiting(void **state)
{
    tree t;
    reader r;

    (void)state;
    tree_begin(&t);
    assert_int_equal(mkfifo(tree_at(&t, "fifo"), 0644), 0);
    read_async(&t, "fifo", &r);
    assert_int_equal(r.status, FL_E_NOT_FOUND);
    tree_end(&t);
}

static int count_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    assert_non_null(dir);
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count;
}

/* However many are asked for, and from however many directories of one name:
 * each is read below the one that was there when it was asked for. */
static void test_file_reads_share_what_is_scarce(void **state)
{
    enum { READS = 200, AT_ONCE = 8 };
    static reader readers[READS];
    fl_loop *loop = io_loop();
    tree t;

    (void)state;
    tree_begin(&t);
    tree_file(&t, "text", "text");
    int before = count_descriptors();
    for (int i = 0; i < READS; i++) {
        fl_file_place place = {
            .root = open_root(&t), .path = "text", .max = 100};
        fl_file_read *read;
        readers[i] = (reader){0};
        assert_int_equal(
            fl_file_read_start(loop, &place, on_done, &readers[i], &read),
            FL_OK);
        fl_below_close(&place.root);
    }
    /* one for the root, one for each that is being read */
    assert_true(count_descriptors() <= before + 1 + AT_ONCE + 4);
    for (int i = 0; i < READS; i++) {
        io_until(loop, readers[i].done > 0);
        assert_string_equal(readers[i].text, "text");
    }
    io_some_turns(loop);
    assert_int_equal(count_descriptors(), before);
    fl_loop_free(loop);
    tree_end(&t);
}

static void test_file_read_that_is_cancelled_says_nothing(void **state)
{
    enum { READS = 64 };
    fl_file_read *reads[READS];
    fl_loop *loop = io_loop();
    reader r = {0};
    tree t;

    (void)state;
    tree_begin(&t);
    tree_file(&t, "text", "text");
    fl_file_place place = {.root = open_root(&t), .path = "text", .max = 100};
    for (int i = 0; i < READS; i++)
        assert_int_equal(
            fl_file_read_start(loop, &place, on_done, &r, &reads[i]), FL_OK);
    for (int i = 0; i < READS; i++)
        fl_file_read_cancel(reads[i]);
    fl_below_close(&place.root);
    io_some_turns(loop);
    fl_loop_free(loop); /* waits for those that have begun */
    assert_int_equal(r.done, 0);
    tree_end(&t);
}

/* As long as any text is whole when it is read, whoever writes it. */
static void
test_file_replaced_while_it_is_read_is_one_or_the_other(void **state)
{
    fl_loop *loop = io_loop();
    tree t;

    (void)state;
    tree_begin(&t);
    for (int i = 0; i < 100; i++) {
        fl_file_place place = {.path = "file", .max = 100};
        fl_file_read *read;
        reader r = {0};
        tree_file(&t, "file", "old");
        tree_link(&t, "link", "../secret");
        place.root = open_root(&t);
        assert_int_equal(fl_file_read_start(loop, &place, on_done, &r, &read),
                         FL_OK);
        tree_move(&t, "link", "file");
        io_until(loop, r.done > 0);
        if (r.status == FL_OK)
            assert_string_equal(r.text, "old");
        else
            assert_int_equal(r.status, FL_E_NOT_FOUND);
        assert_int_equal(unlink(tree_at(&t, "file")), 0);
        fl_below_close(&place.root);
    }
    fl_loop_free(loop);
    tree_end(&t);
}

typedef struct listing {
    int files, folders;
    char paths[4096];
    int limit; /* refuses after these many; 0: never */
} listing;

static fl_status note(void *user, const fl_tree_entry *entry)
{
    listing *l = user;

    if (entry->is_directory)
        l->folders++;
    else
        l->files++;
    strncat(l->paths, entry->path, sizeof l->paths - strlen(l->paths) - 1);
    strncat(l->paths, "\n", sizeof l->paths - strlen(l->paths) - 1);
    return l->limit > 0 && l->files + l->folders >= l->limit ? FL_E_LIMIT
                                                             : FL_OK;
}

static fl_status list(const tree *t, unsigned how, listing *l,
                      fl_tree_skips *skips)
{
    int root = open_root(t);
    fl_status rc = fl_tree_walk(root, how, note, l, skips);

    fl_below_close(&root);
    return rc;
}

static void test_tree_finds_files_and_no_ways_out(void **state)
{
    listing plain = {0}, more = {0};
    fl_tree_skips skips;
    tree t;

    (void)state;
    tree_begin(&t);
    tree_make_hostile(&t);
    assert_int_equal(list(&t, 0, &plain, &skips), FL_OK);
    assert_int_equal(plain.files, 1);
    assert_int_equal(plain.folders, 2);
    assert_non_null(strstr(plain.paths, "dir/deep/in.txt\n"));
    assert_int_equal(skips.unlisted, 11); /* ten links and a fifo */
    assert_int_equal(list(&t, FL_BELOW_FOLLOW | FL_BELOW_HIDDEN, &more, &skips),
                     FL_OK);
    assert_int_equal(more.folders, 3);
    if (tree_can_follow(&t)) {
        assert_int_equal(more.files, 4);
        assert_non_null(strstr(more.paths, "dir/fine.txt\n"));
    }
    assert_null(strstr(more.paths, "secret"));
    tree_end(&t);
}

static void test_tree_counts_names_that_are_not_text(void **state)
{
    listing l = {0};
    fl_tree_skips skips;
    tree t;

    (void)state;
    tree_begin(&t);
    tree_file(&t, "bad\xff", "");
    tree_file(&t, "a b#c?d%e\nf", "");
    assert_int_equal(list(&t, 0, &l, &skips), FL_OK);
    assert_int_equal(skips.unnamed, 1);
    assert_string_equal(l.paths, "a b#c?d%e\nf\n");
    tree_end(&t);
}

static void test_tree_is_walked_to_its_depth_and_no_further(void **state)
{
    char path[256] = "d";
    listing l = {0};
    fl_tree_skips skips;
    tree t;

    (void)state;
    tree_begin(&t);
    for (int i = 0; i < FL_TREE_DEPTH + 2; i++) {
        tree_folder(&t, path);
        strncat(path, "/d", sizeof path - strlen(path) - 1);
    }
    assert_int_equal(list(&t, 0, &l, &skips), FL_OK);
    assert_int_equal(l.folders, FL_TREE_DEPTH);
    assert_int_equal(skips.unlisted, 1);
    assert_false(skips.cut);
    tree_end(&t);
}

static void test_tree_stops_when_it_is_told_to(void **state)
{
    listing l = {.limit = 2};
    fl_tree_skips skips;
    tree t;

    (void)state;
    tree_begin(&t);
    tree_folder(&t, "d");
    tree_folder(&t, "d/d");
    tree_file(&t, "d/d/f", "");
    assert_int_equal(list(&t, 0, &l, &skips), FL_E_LIMIT);
    assert_int_equal(l.files + l.folders, 2);
    tree_end(&t);
}

static void read_once(void *user)
{
    const tree *t = user;
    fl_file_place place = {.root = open_root(t), .path = "text", .max = 100};
    fl_loop *loop = fl_loop_new();
    fl_file_read *read;
    reader r = {0};

    if (loop != NULL &&
        fl_file_read_start(loop, &place, on_done, &r, &read) == FL_OK) {
        io_until(loop, r.done > 0);
        assert_true(r.status == FL_OK || r.status == FL_E_NOMEM);
    }
    fl_below_close(&place.root);
    fl_loop_free(loop);
}

static void test_file_read_survives_any_failing_allocation(void **state)
{
    tree t;

    (void)state;
    tree_begin(&t);
    tree_file(&t, "text", "text");
    assert_true(ration_each(read_once, &t) > 3);
    tree_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_below_knows_what_a_path_is),
        cmocka_unit_test(test_below_lets_nothing_lead_out),
        cmocka_unit_test(test_below_follows_links_that_stay_inside_if_asked),
        cmocka_unit_test(test_below_root_is_a_directory),
        cmocka_unit_test(test_file_is_read_up_to_its_limit),
        cmocka_unit_test(test_file_that_grows_is_held_to_its_limit),
        cmocka_unit_test(test_file_that_may_not_be_read_is_denied),
        cmocka_unit_test(test_file_device_is_no_file),
        cmocka_unit_test(test_file_is_read_elsewhere),
        cmocka_unit_test(test_file_fifo_keeps_nobody_waiting),
        cmocka_unit_test(test_file_reads_share_what_is_scarce),
        cmocka_unit_test(test_file_read_that_is_cancelled_says_nothing),
        cmocka_unit_test(
            test_file_replaced_while_it_is_read_is_one_or_the_other),
        cmocka_unit_test(test_tree_finds_files_and_no_ways_out),
        cmocka_unit_test(test_tree_counts_names_that_are_not_text),
        cmocka_unit_test(test_tree_is_walked_to_its_depth_and_no_further),
        cmocka_unit_test(test_tree_stops_when_it_is_told_to),
        cmocka_unit_test(test_file_read_survives_any_failing_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
