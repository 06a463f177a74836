/*
 * test_catalog.c - a list told in pages: every entry that was there all the
 * time is told once, whatever comes and goes meanwhile; and cursors that are
 * none.
 */
#include "lists.h"

#include "base/base64.h"
#include "server/catalog.h"
#include "support/ration.h"
#include "json/nav.h"

static server_host host;

/* A catalog without a server: its entries are numbers. */
typedef struct number {
    fl_entry entry;
    char name[16];
} number;

static int freed;

static void free_number(fl_entry *entry)
{
    freed++;
    test_free(entry);
}

static void write_number(fl_json_writer *writer, const fl_entry *entry,
                         const fl_revision *revision)
{
    (void)revision;
    fl_json_string(writer, entry->key);
}

static const fl_catalog_kind numbers = {.member = "numbers",
                                        .write = write_number};
static const fl_catalog_kind others = {.member = "number",
                                       .write = write_number};

static void add_named(fl_catalog *catalog, const char *name)
{
    number *made = test_calloc(1, sizeof *made);

    snprintf(made->name, sizeof made->name, "%s", name);
    made->entry = (fl_entry){.key = made->name, .refs = 1, .free = free_number};
    assert_int_equal(fl_catalog_add(catalog, &made->entry), FL_OK);
}

static void add(fl_catalog *catalog, int value)
{
    char name[16];

    snprintf(name, sizeof name, "%d", value);
    add_named(catalog, name);
}

static void drop(fl_catalog *catalog, int value)
{
    char name[16];

    snprintf(name, sizeof name, "%d", value);
    assert_int_equal(fl_catalog_remove(catalog, fl_span_of(name)), FL_OK);
}

/* One page as text; `cursor` is a token, and becomes that of the next page, or
 * "". */
static const char *turn(fl_catalog *catalog, size_t size, char *cursor)
{
    static char page[4096];
    fl_catalog_page asked = {
        .revision = fl_revision_get(FL_REVISION_2025_11_25),
        .cursor = fl_span_of(cursor),
        .size = size,
    };
    fl_span result;
    fl_buf scratch;

    fl_buf_init(&scratch, 1 << 20);
    assert_int_equal(fl_catalog_list(catalog, &asked, &scratch, &result),
                     FL_OK);
    fl_span list = fl_json_get(result, fl_span_of(catalog->kind->member));
    fl_span next = fl_json_get(result, FL_SPAN("nextCursor"));
    snprintf(page, sizeof page, "%.*s", (int)list.len, list.ptr);
    snprintf(cursor, 128, "%.*s", (int)next.len, next.len > 0 ? next.ptr : "");
    fl_buf_reset(&scratch);
    return page;
}

static void fill(fl_catalog *catalog, int from, int to)
{
    for (int i = from; i <= to; i++)
        add(catalog, i);
}

static void test_catalog_is_told_whole_if_it_fits(void **state)
{
    fl_catalog catalog;
    char cursor[128] = "";

    (void)state;
    freed = 0;
    fl_catalog_init(&catalog, &numbers);
    assert_string_equal(turn(&catalog, 3, cursor), "[]");
    assert_string_equal(cursor, "");
    fill(&catalog, 1, 3);
    assert_string_equal(turn(&catalog, 3, cursor), "[\"1\",\"2\",\"3\"]");
    assert_string_equal(cursor, "");
    add(&catalog, 4); /* one past the page */
    assert_string_equal(turn(&catalog, 3, cursor), "[\"1\",\"2\",\"3\"]");
    assert_string_not_equal(cursor, "");
    assert_string_equal(turn(&catalog, 3, cursor), "[\"4\"]");
    assert_string_equal(cursor, "");
    fl_catalog_deinit(&catalog);
    assert_int_equal(freed, 4);
}

static void test_catalog_is_told_one_by_one(void **state)
{
    fl_catalog catalog;
    char cursor[128] = "", want[16];

    (void)state;
    fl_catalog_init(&catalog, &numbers);
    fill(&catalog, 1, 20);
    for (int i = 1; i <= 20; i++) {
        snprintf(want, sizeof want, "[\"%d\"]", i);
        assert_string_equal(turn(&catalog, 1, cursor), want);
        assert_int_equal(cursor[0] == '\0', i == 20);
    }
    fl_catalog_deinit(&catalog);
}

static void test_catalog_pages_hold_while_entries_come_and_go(void **state)
{
    fl_catalog catalog;
    char cursor[128] = "";

    (void)state;
    fl_catalog_init(&catalog, &numbers);
    fill(&catalog, 1, 6);
    assert_string_equal(turn(&catalog, 2, cursor), "[\"1\",\"2\"]");
    drop(&catalog, 1); /* told */
    drop(&catalog, 2); /* told, and what the cursor stands on */
    drop(&catalog, 4); /* not told */
    add(&catalog, 7);
    add(&catalog, 1); /* again, and so it is another */
    assert_string_equal(turn(&catalog, 2, cursor), "[\"3\",\"5\"]");
    drop(&catalog, 6);
    assert_string_equal(turn(&catalog, 2, cursor), "[\"7\",\"1\"]");
    assert_string_equal(cursor, "");
    /* a cursor whose rest has gone is an empty page, not an error */
    assert_string_equal(turn(&catalog, 3, cursor), "[\"3\",\"5\",\"7\"]");
    drop(&catalog, 1);
    assert_string_equal(turn(&catalog, 3, cursor), "[]");
    fl_catalog_deinit(&catalog);
}

static void test_catalog_cursor_survives_another_page_size(void **state)
{
    fl_catalog catalog;
    char cursor[128] = "";

    (void)state;
    fl_catalog_init(&catalog, &numbers);
    fill(&catalog, 1, 5);
    assert_string_equal(turn(&catalog, 1, cursor), "[\"1\"]");
    assert_string_equal(turn(&catalog, 9, cursor), "[\"2\",\"3\",\"4\",\"5\"]");
    fl_catalog_deinit(&catalog);
}

static fl_status list(fl_catalog *catalog, const char *cursor)
{
    fl_catalog_page asked = {
        .revision = fl_revision_get(FL_REVISION_2025_11_25),
        .cursor = fl_span_of(cursor),
        .size = 2,
    };
    fl_span result;
    fl_buf scratch;

    fl_buf_init(&scratch, 1 << 20);
    fl_status rc = fl_catalog_list(catalog, &asked, &scratch, &result);
    fl_buf_reset(&scratch);
    return rc;
}

/* The cursor that this text would be. */
static const char *code(const char *plain)
{
    static char token[256];
    size_t len = strlen(plain);

    token[0] = '"';
    fl_base64_put(fl_span_of(plain), token + 1);
    snprintf(token + 1 + (len + 2) / 3 * 4, 2, "\"");
    return token;
}

static void test_catalog_refuses_cursors_that_are_none(void **state)
{
    static const char *const wrong[] = {
        "1",
        "null",
        "[]",
        "{}",
        "\"\"",
        "\"!\"",
        "\"bnVtYmVyczox\\n\"",
        "\"bnVtYmVyczo\"",
    };
    static const char *const coded[] = {
        "numbers",    "numbers:", "numbers:x",  "numbers:-1",
        "numbers:1 ", "number:1", "Numbers:1",  "numbersx1",
        "prompts:1",  ":1",       "numbers:1:", "numbers:12345678901234567890",
    };
    fl_catalog catalog, other;
    char cursor[128] = "";

    (void)state;
    fl_catalog_init(&catalog, &numbers);
    fl_catalog_init(&other, &others);
    fill(&catalog, 1, 5);
    fill(&other, 1, 5);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (list(&catalog, wrong[i]) != FL_E_INVALID)
            fail_msg("%s was taken", wrong[i]);
    for (size_t i = 0; i < sizeof coded / sizeof *coded; i++)
        if (list(&catalog, code(coded[i])) != FL_E_INVALID)
            fail_msg("%s was taken", coded[i]);
    /* those that could be ours are, wherever they point */
    assert_int_equal(list(&catalog, code("numbers:0")), FL_OK);
    assert_int_equal(list(&catalog, code("numbers:9999999999999999999")),
                     FL_OK);
    /* another list's is not */
    (void)turn(&other, 2, cursor);
    assert_int_equal(list(&other, cursor), FL_OK);
    assert_int_equal(list(&catalog, cursor), FL_E_INVALID);
    /* nor is one that somebody tampered with, at any byte */
    (void)turn(&catalog, 2, (cursor[0] = '\0', cursor));
    for (size_t i = 1; i + 1 < strlen(cursor); i++) {
        char bent[128];
        snprintf(bent, sizeof bent, "%s", cursor);
        bent[i] = '*';
        assert_int_equal(list(&catalog, bent), FL_E_INVALID);
    }
    fl_catalog_deinit(&catalog);
    fl_catalog_deinit(&other);
}

static void test_catalog_finds_by_key(void **state)
{
    fl_catalog catalog;

    (void)state;
    fl_catalog_init(&catalog, &numbers);
    fill(&catalog, 1, 3);
    fl_entry *two = fl_catalog_find(&catalog, FL_SPAN("2"));
    assert_non_null(two);
    assert_ptr_equal(fl_catalog_at(&catalog, 1), two);
    assert_ptr_equal(fl_catalog_find_token(&catalog, FL_SPAN("\"\\u0032\"")),
                     two);
    assert_null(fl_catalog_find(&catalog, FL_SPAN("4")));
    assert_int_equal(fl_catalog_remove(&catalog, FL_SPAN("4")), FL_E_NOT_FOUND);
    /* it lives as long as somebody holds it */
    freed = 0;
    fl_entry_ref(two);
    drop(&catalog, 2);
    assert_null(fl_catalog_find(&catalog, FL_SPAN("2")));
    assert_int_equal(freed, 0);
    fl_entry_unref(two);
    assert_int_equal(freed, 1);
    fl_catalog_deinit(&catalog);
}

/* A backslash of a key is a backslash, one of a token begins an escape: also
 * when the key is the one that was found last. */
static void test_catalog_tells_keys_from_tokens(void **state)
{
    fl_catalog catalog;

    (void)state;
    fl_catalog_init(&catalog, &numbers);
    add_named(&catalog, "a\\tb");
    add_named(&catalog, "plain");
    for (int i = 0; i < 2; i++) {
        fl_entry *odd = fl_catalog_find(&catalog, FL_SPAN("a\\tb"));
        assert_non_null(odd);
        assert_null(fl_catalog_find_token(&catalog, FL_SPAN("\"a\\tb\"")));
        assert_ptr_equal(
            fl_catalog_find_token(&catalog, FL_SPAN("\"a\\\\tb\"")), odd);
        assert_null(fl_catalog_find_token(&catalog, FL_SPAN("\"a\\tb\"")));
        assert_ptr_equal(fl_catalog_find_token(&catalog, FL_SPAN("\"plain\"")),
                         fl_catalog_at(&catalog, 1));
    }
    fl_catalog_deinit(&catalog);
}

static void test_catalog_has_a_limit(void **state)
{
    fl_catalog catalog;
    number one_more = {
        .entry = {.key = "more", .refs = 1, .free = free_number}};

    (void)state;
    fl_catalog_init(&catalog, &numbers);
    fill(&catalog, 1, FL_CATALOG_MAX);
    assert_int_equal(fl_catalog_add(&catalog, &one_more.entry), FL_E_LIMIT);
    assert_int_equal(one_more.entry.refs, 1);
    assert_int_equal(catalog.count, FL_CATALOG_MAX);
    fl_catalog_deinit(&catalog);
}

static void add_tools(int count)
{
    char name[16];

    for (int i = 1; i <= count; i++) {
        snprintf(name, sizeof name, "t%d", i);
        const fl_tool tool = {.name = name, .call = tool_echo};
        assert_int_equal(fl_server_add_tool(host.server, &tool), FL_OK);
    }
}

#define TOOL(name)                                                             \
    "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}"

/* "tools:2" in Base64. */
#define AFTER_TWO "\"dG9vbHM6Mg==\""

static void test_catalog_pages_travel(void **state)
{
    (void)state;
    host_begin_bare(&host);
    add_tools(3);
    add_resource(host.server, "doc:1");
    fl_server_set_page_size(host.server, 2);
    lists_begin(&host, "2025-11-25");
    raw_asks(&host.peer, ASK("1", "tools/list", "{}"),
             RESULT("1", "{\"tools\":[" TOOL("t1") "," TOOL(
                             "t2") "],\"nextCursor\":" AFTER_TWO "}"));
    raw_asks(&host.peer, ASK("2", "tools/list", "{\"cursor\":" AFTER_TWO "}"),
             RESULT("2", "{\"tools\":[" TOOL("t3") "]}"));
    raw_asks(&host.peer,
             ASK("3", "resources/list", "{\"cursor\":" AFTER_TWO "}"),
             ERROR_ANSWER("3", "-32602",
                          "\"unknown cursor: begin again without one\","
                          "\"data\":{\"cursor\":" AFTER_TWO "}"));
    raw_say(&host.peer, ASK("4", "tools/list", "{\"cursor\":7}"));
    raw_hears_part(&host.peer, "-32602");
    /* 0 is what it was at first */
    fl_server_set_page_size(host.server, 0);
    raw_asks(&host.peer, ASK("5", "tools/list", "{}"),
             RESULT("5", "{\"tools\":[" TOOL("t1") "," TOOL("t2") "," TOOL(
                             "t3") "]}"));
    host_end(&host);
}

static void test_catalog_pages_travel_in_the_modern_era(void **state)
{
    (void)state;
    host_begin_bare(&host);
    add_tools(3);
    fl_server_set_page_size(host.server, 2);
    lists_begin(&host, NULL);
    raw_asks(&host.peer, MODERN("1", "tools/list", ",\"cursor\":" AFTER_TWO),
             RESULT("1", "{" STAMP ",\"tools\":[" TOOL(
                             "t3") "],\"ttlMs\":60000,\"cacheScope\":"
                                   "\"private\"}"));
    host_end(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_catalog_is_told_whole_if_it_fits),
        cmocka_unit_test(test_catalog_is_told_one_by_one),
        cmocka_unit_test(test_catalog_pages_hold_while_entries_come_and_go),
        cmocka_unit_test(test_catalog_cursor_survives_another_page_size),
        cmocka_unit_test(test_catalog_refuses_cursors_that_are_none),
        cmocka_unit_test(test_catalog_finds_by_key),
        cmocka_unit_test(test_catalog_tells_keys_from_tokens),
        cmocka_unit_test(test_catalog_has_a_limit),
        cmocka_unit_test(test_catalog_pages_travel),
        cmocka_unit_test(test_catalog_pages_travel_in_the_modern_era),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
