/*
 * test_files.c - a directory whose files are resources, and a client that
 * would like to read others.
 */
#include "files_host.h"
#include "server/mime.h"
#include "server/paths.h"
#include "support/ration.h"

static void add(files_host *f, fl_files *files)
{
    files->root = f->tree.root;
    if (files->uri_prefix == NULL)
        files->uri_prefix = "docs:///";
    assert_int_equal(fl_server_add_files(f->host.server, files), FL_OK);
}

static void test_paths_are_encoded_and_decoded(void **state)
{
    static const char *const pairs[][2] = {
        {"a/b.txt", "a/b.txt"},   {"a b#c?d%e\nf", "a%20b%23c%3Fd%25e%0Af"},
        {"h\xC3\xA9", "h%C3%A9"}, {"a\\b:c", "a%5Cb%3Ac"},
        {"%2e%2e", "%252e%252e"},
    };
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 1000);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        fl_span path = fl_span_of(pairs[i][0]), uri = fl_span_of(pairs[i][1]);
        fl_buf_clear(&out);
        assert_int_equal(fl_paths_encode(path, &out), FL_OK);
        assert_true(fl_span_equal(fl_buf_view(&out), uri));
        fl_buf_clear(&out);
        assert_int_equal(fl_paths_decode(uri, &out), FL_OK);
        assert_true(fl_span_equal(fl_buf_view(&out), path));
    }
    fl_buf_reset(&out);
}

static void test_paths_refuse_what_no_path_is(void **state)
{
    static const char *const bad[] = {"a?b", "a#b",    "%",     "%2",
                                      "%zz", "%00",    "a%2Fb", "a%2fb",
                                      "%ff", "%c0%ae", "a\nb",  "a%2"};
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 3);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fl_buf_clear(&out);
        assert_int_equal(fl_paths_decode(fl_span_of(bad[i]), &out),
                         FL_E_INVALID);
    }
    fl_buf_clear(&out);
    assert_int_equal(fl_paths_decode(FL_SPAN("abc"), &out), FL_OK);
    fl_buf_clear(&out);
    assert_int_equal(fl_paths_decode(FL_SPAN("abcd"), &out), FL_E_INVALID);
    fl_buf_reset(&out);
}

static void test_mime_goes_by_the_name(void **state)
{
    (void)state;
    assert_string_equal(fl_mime_of(FL_SPAN("a/b.MD"))->type, "text/markdown");
    assert_string_equal(fl_mime_of(FL_SPAN("a.b/c.tar.gz"))->type,
                        "application/gzip");
    assert_string_equal(fl_mime_of(FL_SPAN("x/README"))->type, "text/plain");
    assert_false(fl_mime_of(FL_SPAN("a.png"))->is_text);
    assert_null(fl_mime_of(FL_SPAN("a.unheard-of")));
    assert_null(fl_mime_of(FL_SPAN("a.md/b")));
    assert_null(fl_mime_of(FL_SPAN("txt")));
}

static void test_files_are_read_as_what_they_are(void **state)
{
    static files_host f;
    fl_files files = {0};

    (void)state;
    files_begin(&f);
    tree_folder(&f.tree, "d");
    tree_file(&f.tree, "d/a.md", "# \"hi\"\n");
    tree_file(&f.tree, "plain", "text");
    tree_file(&f.tree, "empty.txt", "");
    tree_bytes(&f.tree, "bytes", "\xff\0", 2);
    tree_file(&f.tree, "a.png", "ascii");
    tree_bytes(&f.tree, "latin.txt", "\xe9", 1);
    add(&f, &files);
    files_open(&f, "2025-06-18");
    files_finds(&f, "docs:///d/a.md", "text/markdown",
                "\"text\":\"# \\\"hi\\\"\\n\"");
    files_finds(&f, "docs:///plain", "text/plain", "\"text\":\"text\"");
    files_finds(&f, "docs:///empty.txt", "text/plain", "\"text\":\"\"");
    files_finds(&f, "docs:///bytes", "application/octet-stream",
                "\"blob\":\"/wA=\"");
    files_finds(&f, "docs:///a.png", "image/png", "\"blob\":\"YXNjaWk=\"");
    files_finds(&f, "docs:///latin.txt", "text/plain", "\"blob\":\"6Q==\"");
    files_end(&f);
}

static void test_files_outside_are_not_found(void **state)
{
    static const char *const bad[] = {
        "docs:///../secret",
        "docs:///%2e%2e/secret",
        "docs:///%2E%2E%2Fsecret",
        "docs:///..%2fsecret",
        "docs:///..%5csecret",
        "docs:///..\\\\secret",
        "docs:///dir/../../secret",
        "docs:///dir/%2e%2e/%2e%2e/secret",
        "docs:///./dir/deep/in.txt",
        "docs:////etc/passwd",
        "docs:///%2fetc%2fpasswd",
        "docs:///%00",
        "docs:///dir/deep/in.txt%00",
        "docs:///dir/deep/in.txt/",
        "docs:///dir//deep/in.txt",
        "docs:///dir/deep/in.txt?x",
        "docs:///dir/deep/in.txt#x",
        "docs:///%c0%ae%c0%ae/secret",
        "docs:///%252e%252e/secret",
        "docs:///out",
        "docs:///up/secret",
        "docs:///absolute/secret",
        "docs:///magic/etc/passwd",
        "docs:///dir/out",
        "docs:///dir/fine.txt",
        "docs:///dangling",
        "docs:///ring",
        "docs:///fifo",
        "docs:///dir",
        "docs:///",
        "docs:///.hidden",
        "docs:///.git/config",
        "docs:///%2ehidden",
        "docs:///nothing",
        "file:///etc/passwd",
        "/etc/passwd",
        "../secret",
        "",
    };
    static files_host f;
    fl_files files = {0};
    char long_uri[5000];

    (void)state;
    files_begin(&f);
    tree_make_hostile(&f.tree);
    add(&f, &files);
    files_open(&f, "2025-11-25");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        files_misses(&f, bad[i]);
    memset(long_uri, 'a', sizeof long_uri);
    memcpy(long_uri, "docs:///", 8);
    long_uri[4999] = '\0';
    files_misses(&f, long_uri);
    files_finds(&f, "docs:///dir/deep/in.txt", "text/plain",
                "\"text\":\"inside\"");
    files_end(&f);
}

static void
test_files_follow_links_inside_and_show_hidden_if_asked(void **state)
{
    static files_host f;
    fl_files files = {.follow_links = true, .hidden = true};

    (void)state;
    files_begin(&f);
    tree_make_hostile(&f.tree);
    add(&f, &files);
    files_open(&f, "2025-11-25");
    if (tree_can_follow(&f.tree))
        files_finds(&f, "docs:///dir/fine.txt", "text/plain",
                    "\"text\":\"inside\"");
    files_finds(&f, "docs:///.git/config", "text/plain",
                "\"text\":\"hidden, too\"");
    files_misses(&f, "docs:///out");
    files_misses(&f, "docs:///up/secret");
    files_misses(&f, "docs:///absolute/secret");
    files_misses(&f, "docs:///magic/etc/passwd");
    files_misses(&f, "docs:///ring");
    files_end(&f);
}

static void test_files_not_found_is_said_in_modern_words(void **state)
{
    static files_host f;
    fl_files files = {0};

    (void)state;
    files_begin(&f);
    tree_file(&f.tree, "a.txt", "a");
    add(&f, &files);
    host_listen(&f.host, NULL);
    raw_asks(&f.host.peer,
             MODERN("7", "resources/read", ",\"uri\":\"docs:///../x\""),
             "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32602,"
             "\"message\":\"resource not found\",\"data\":{\"uri\":"
             "\"docs:///../x\"}}}");
    raw_asks(&f.host.peer,
             MODERN("8", "resources/read", ",\"uri\":\"docs:///a.txt\""),
             "{\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{\"_meta\":{" TAG
             "},\"resultType\":\"complete\",\"contents\":[{\"uri\":"
             "\"docs:///a.txt\",\"mimeType\":\"text/plain\",\"text\":\"a\"}],"
             "\"ttlMs\":0,\"cacheScope\":\"private\"}}");
    files_end(&f);
}

static void test_files_have_a_limit_that_is_told(void **state)
{
    static files_host f;
    fl_files files = {.max_bytes = 4};

    (void)state;
    files_begin(&f);
    tree_file(&f.tree, "four", "1234");
    tree_file(&f.tree, "five", "12345");
    tree_sparse(&f.tree, "huge", (off_t)1 << 42);
    add(&f, &files);
    files_open(&f, "2025-11-25");
    files_finds(&f, "docs:///four", "text/plain", "\"text\":\"1234\"");
    for (int i = 0; i < 2; i++)
        assert_string_equal(
            files_ask(&f, i == 0 ? "docs:///five" : "docs:///huge"),
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,"
            "\"message\":\"the file is larger than those that are served\","
            "\"data\":{\"limit\":4}}}");
    files_end(&f);
}

static void set_time(const tree *t, const char *path, time_t seconds)
{
    struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};

    assert_int_equal(utimensat(AT_FDCWD, tree_at(t, path), times, 0), 0);
}

#define LIST "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/list\"}"
#define LISTED(items)                                                          \
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"resources\":[" items "]}}"

static void test_files_are_listed_under_uris_that_lead_to_them(void **state)
{
    static files_host f;
    fl_files files = {.annotations = " { \"priority\" : 1 } "};
    fl_files_count count;

    (void)state;
    files_begin(&f);
    tree_make_hostile(&f.tree);
    tree_file(&f.tree, "a b#c?d%e\n\"f", "odd");
    tree_file(&f.tree, "bad\xff", "");
    set_time(&f.tree, "a b#c?d%e\n\"f", 86400);
    set_time(&f.tree, "dir/deep/in.txt", 0);
    add(&f, &files);
    files_open(&f, "2025-11-25");
    raw_asks(&f.host.peer, LIST,
             LISTED("{\"uri\":\"docs:///a%20b%23c%3Fd%25e%0A%22f\","
                    "\"name\":\"a b#c?d%e\\n\\\"f\",\"size\":3,"
                    "\"annotations\":{\"lastModified\":"
                    "\"1970-01-02T00:00:00Z\", \"priority\" : 1 } },"
                    "{\"uri\":\"docs:///dir/deep/in.txt\","
                    "\"name\":\"dir/deep/in.txt\","
                    "\"mimeType\":\"text/plain\",\"size\":6,"
                    "\"annotations\":{\"lastModified\":"
                    "\"1970-01-01T00:00:00Z\", \"priority\" : 1 } }"));
    files_finds(&f, "docs:///a%20b%23c%3Fd%25e%0A%22f", "text/plain",
                "\"text\":\"odd\"");
    assert_int_equal(fl_server_files_count(f.host.server, "docs:///", &count),
                     FL_OK);
    assert_int_equal(count.listed, 2);
    assert_int_equal(count.unnamed, 1);
    assert_false(count.more);
    assert_int_equal(fl_server_files_count(f.host.server, "x:", &count),
                     FL_E_NOT_FOUND);
    files_end(&f);
}

static void test_files_past_the_limit_are_readable_but_not_listed(void **state)
{
    static files_host f;
    fl_files files = {.max_listed = 2};
    fl_files_count count;

    (void)state;
    files_begin(&f);
    tree_file(&f.tree, "a", "a");
    tree_file(&f.tree, "b", "b");
    add(&f, &files);
    assert_int_equal(fl_server_files_count(f.host.server, "docs:///", &count),
                     FL_OK);
    assert_false(count.more);
    tree_file(&f.tree, "c", "c");
    assert_int_equal(fl_server_files_rescan(f.host.server), FL_OK);
    assert_int_equal(fl_server_files_count(f.host.server, "docs:///", &count),
                     FL_OK);
    assert_true(count.more);
    assert_int_equal(count.listed, 2);
    files_open(&f, "2025-11-25");
    files_finds(&f, "docs:///a", "text/plain", "\"text\":\"a\"");
    files_finds(&f, "docs:///b", "text/plain", "\"text\":\"b\"");
    files_finds(&f, "docs:///c", "text/plain", "\"text\":\"c\"");
    files_end(&f);
}

static void test_files_can_be_a_template_alone(void **state)
{
    static files_host f;
    fl_files files = {.template_only = true,
                      .name = "docs",
                      .title = "Docs",
                      .description = "All of them"};

    (void)state;
    files_begin(&f);
    tree_file(&f.tree, "a", "a");
    add(&f, &files);
    files_open(&f, "2025-11-25");
    raw_asks(&f.host.peer, LIST, LISTED(""));
    raw_asks(&f.host.peer,
             "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":"
             "\"resources/templates/list\"}",
             "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"resourceTemplates\":"
             "[{\"uriTemplate\":\"docs:///{+path}\",\"name\":\"docs\","
             "\"title\":\"Docs\",\"description\":\"All of them\"}]}}");
    files_finds(&f, "docs:///a", "text/plain", "\"text\":\"a\"");
    files_end(&f);
}

static void test_files_complete_their_paths(void **state)
{
    static files_host f;
    fl_files files = {0};

    (void)state;
    files_begin(&f);
    tree_folder(&f.tree, "d");
    tree_file(&f.tree, "d/one", "");
    tree_file(&f.tree, "d/two", "");
    tree_file(&f.tree, "e", "");
    add(&f, &files);
    files_open(&f, "2025-11-25");
    raw_say(&f.host.peer,
            "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"completion/complete\","
            "\"params\":{\"ref\":{\"type\":\"ref/resource\",\"uri\":"
            "\"docs:///{+path}\"},\"argument\":{\"name\":\"path\","
            "\"value\":\"d/\"}}}");
    raw_hears_part(&f.host.peer, "\"values\":[\"d/one\",\"d/two\"]");
    files_end(&f);
}

#define CHANGED_LIST                                                           \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/"               \
    "list_changed\"}"

static void test_files_rescan_tells_what_has_changed(void **state)
{
    static files_host f;
    fl_files files = {0};

    (void)state;
    files_begin(&f);
    tree_file(&f.tree, "gone", "x");
    tree_file(&f.tree, "other", "x");
    tree_file(&f.tree, "same", "x");
    add(&f, &files);
    files_open(&f, "2025-11-25");
    raw_asks(&f.host.peer,
             "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"resources/subscribe\","
             "\"params\":{\"uri\":\"docs:///other\"}}",
             "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}");
    assert_int_equal(fl_server_files_rescan(f.host.server), FL_OK);
    raw_asks(&f.host.peer, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\"}",
             "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}");
    assert_int_equal(unlink(tree_at(&f.tree, "gone")), 0);
    tree_file(&f.tree, "new", "x");
    tree_file(&f.tree, "other", "longer");
    assert_int_equal(fl_server_files_rescan(f.host.server), FL_OK);
    raw_hears(&f.host.peer,
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/"
              "updated\",\"params\":{\"uri\":\"docs:///other\"}}");
    raw_hears(&f.host.peer, CHANGED_LIST);
    raw_say(&f.host.peer, LIST);
    const char *list = raw_hear(&f.host.peer);
    assert_null(strstr(list, "docs:///gone"));
    assert_non_null(strstr(list, "docs:///new"));
    assert_non_null(strstr(list, "docs:///same"));
    assert_non_null(strstr(list, "\"name\":\"other\",\"size\":6"));
    files_misses(&f, "docs:///gone");
    files_end(&f);
}

/* Listed as one thing, it is another when it is read. */
static void
test_files_replaced_after_they_were_listed_are_what_they_are(void **state)
{
    static files_host f;
    fl_files files = {0};

    (void)state;
    files_begin(&f);
    tree_file(&f.tree, "a", "a");
    tree_file(&f.tree, "b", "b");
    tree_file(&f.tree, "c", "c");
    add(&f, &files);
    files_open(&f, "2025-11-25");
    assert_int_equal(unlink(tree_at(&f.tree, "a")), 0);
    tree_link(&f.tree, "a", "../secret");
    assert_int_equal(unlink(tree_at(&f.tree, "b")), 0);
    assert_int_equal(mkfifo(tree_at(&f.tree, "b"), 0644), 0);
    tree_file(&f.tree, "c", "new");
    files_misses(&f, "docs:///a");
    files_misses(&f, "docs:///b");
    files_finds(&f, "docs:///c", "text/plain", "\"text\":\"new\"");
    files_end(&f);
}

static void test_files_say_what_is_wrong_with_them(void **state)
{
    static files_host f;
    static const char *const bad[] = {
        "", "nocolon", ":x", "a b:", "x:{y}", "x:?", "x:%20", "x:\xC3\xA9"};
    fl_files files = {0};

    (void)state;
    files_begin(&f);
    assert_int_equal(fl_server_add_files(f.host.server, &files), FL_E_INVALID);
    files.root = f.tree.root;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        files.uri_prefix = bad[i];
        assert_int_equal(fl_server_add_files(f.host.server, &files),
                         FL_E_INVALID);
    }
    files.uri_prefix = NULL;
    files.annotations = "[]";
    assert_int_equal(fl_server_add_files(f.host.server, &files), FL_E_INVALID);
    files.annotations = NULL;
    files.root = "/nowhere/at/all";
    assert_int_equal(fl_server_add_files(f.host.server, &files),
                     FL_E_NOT_FOUND);
    assert_string_equal(fl_server_error(f.host.server)->text,
                        "files below '/nowhere/at/all': not found");
    files.root = f.tree.root;
    assert_int_equal(fl_server_add_files(f.host.server, &files), FL_OK);
    assert_int_equal(fl_server_add_files(f.host.server, &files), FL_E_IN_USE);
    host_listen(&f.host, NULL);
    files_end(&f);
}

/* Cancelled, closed on, and closed down while files are being read. */
static void test_files_being_read_are_forgotten_when_nobody_waits(void **state)
{
    static files_host f;
    fl_files files = {0};
    char line[256];

    (void)state;
    files_begin(&f);
    tree_sparse(&f.tree, "big", 4 << 20);
    add(&f, &files);
    files_open(&f, "2025-11-25");
    for (int i = 10; i < 40; i++) {
        snprintf(line, sizeof line, READ("%d", "docs:///big"), i);
        raw_say(&f.host.peer, line);
        if (i % 3 == 0) {
            snprintf(line, sizeof line, CANCELLED("%d"), i);
            raw_say(&f.host.peer, line);
        }
    }
    io_some_turns(f.host.loop);
    raw_close(&f.host.peer);
    files_end(&f);
}

static void test_files_do_not_keep_others_waiting(void **state)
{
    static files_host f;
    fl_files files = {0};

    (void)state;
    files_begin(&f);
    assert_int_equal(mkfifo(tree_at(&f.tree, "fifo"), 0644), 0);
    add(&f, &files);
    files_open(&f, "2025-11-25");
    raw_say(&f.host.peer, READ("1", "docs:///fifo"));
    raw_say(&f.host.peer, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
    const char *first = raw_hear(&f.host.peer);
    bool pong = strstr(first, "\"id\":2") != NULL;
    const char *second = raw_hear(&f.host.peer);
    assert_non_null(strstr(second, pong ? "-32002" : "\"id\":2"));
    files_end(&f);
}

static void add_once(void *user)
{
    const files_host *f = user;
    fl_server *server = fl_server_new("x", "1");
    fl_files files = {.root = f->tree.root, .annotations = "{}"};

    if (server != NULL) {
        fl_status rc = fl_server_add_files(server, &files);
        assert_true(rc == FL_OK || rc == FL_E_NOMEM);
        rc = fl_server_files_rescan(server);
        assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    }
    fl_server_free(server);
}

static void test_files_survive_any_failing_allocation(void **state)
{
    static files_host f;

    (void)state;
    files_begin(&f);
    tree_file(&f.tree, "a", "a");
    tree_file(&f.tree, "b", "b");
    assert_true(ration_each(add_once, &f) > 10);
    host_listen(&f.host, NULL);
    files_end(&f);
}

/* Whatever is refused while it is read, there is one answer, or none and the
 * connection's end. */
static void test_files_reading_survives_failing_allocations(void **state)
{
    static files_host f;
    fl_files files = {0};

    (void)state;
    files_begin(&f);
    tree_file(&f.tree, "a", "a");
    add(&f, &files);
    files_open(&f, "2025-11-25");
    for (size_t n = 1; n < 12; n++) {
        raw_say(&f.host.peer, READ("1", "docs:///a"));
        ration_reset();
        ration_fail_at(n);
        const char *answer = raw_hear(&f.host.peer);
        ration_reset();
        assert_true(strstr(answer, "\"text\":\"a\"") != NULL ||
                    strstr(answer, "-32603") != NULL);
    }
    files_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths_are_encoded_and_decoded),
        cmocka_unit_test(test_paths_refuse_what_no_path_is),
        cmocka_unit_test(test_mime_goes_by_the_name),
        cmocka_unit_test(test_files_are_read_as_what_they_are),
        cmocka_unit_test(test_files_outside_are_not_found),
        cmocka_unit_test(
            test_files_follow_links_inside_and_show_hidden_if_asked),
        cmocka_unit_test(test_files_not_found_is_said_in_modern_words),
        cmocka_unit_test(test_files_have_a_limit_that_is_told),
        cmocka_unit_test(test_files_are_listed_under_uris_that_lead_to_them),
        cmocka_unit_test(test_files_past_the_limit_are_readable_but_not_listed),
        cmocka_unit_test(test_files_can_be_a_template_alone),
        cmocka_unit_test(test_files_complete_their_paths),
        cmocka_unit_test(test_files_rescan_tells_what_has_changed),
        cmocka_unit_test(
            test_files_replaced_after_they_were_listed_are_what_they_are),
        cmocka_unit_test(test_files_say_what_is_wrong_with_them),
        cmocka_unit_test(test_files_being_read_are_forgotten_when_nobody_waits),
        cmocka_unit_test(test_files_do_not_keep_others_waiting),
        cmocka_unit_test(test_files_survive_any_failing_allocation),
        cmocka_unit_test(test_files_reading_survives_failing_allocations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
