/*
 * test_skills.c - skills: read, listed, told, and refused.
 */
#include "files_host.h"
#include "server/skill.h"
#include "support/ration.h"

#define HEAD(name, text)                                                       \
    "---\nname: " name "\ndescription: " text "\n---\n# Body\n"

static const char *const hello = HEAD("hello", "Says it");

static void add_hello(const tree *t)
{
    tree_folder(t, "hello");
    tree_file(t, "hello/SKILL.md", hello);
    tree_folder(t, "hello/refs");
    tree_file(t, "hello/refs/a b.md", "a");
    tree_folder(t, "hello/empty");
    tree_file(t, "hello/.hidden", "no");
    tree_link(t, "hello/out", "../../secret");
}

/* sha256sum of the text above, and of "a". */
#define MAIN_HEX                                                               \
    "3a9c398a2f5b3f2abeb94f318124af77ab5976d350d8b0374b2ad80e3626132b"
#define A_HEX "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"

#define HELLO                                                                  \
    "{\"uri\":\"skill://hello/SKILL.md\",\"frontmatter\":{\"name\":\"hello\"," \
    "\"description\":\"Says it\"},\"resources\":["                             \
    "{\"uri\":\"skill://hello/SKILL.md\",\"digest\":\"sha256:" MAIN_HEX        \
    "\",\"size\":48},"                                                         \
    "{\"uri\":\"skill://hello/refs/a%20b.md\",\"digest\":\"sha256:" A_HEX      \
    "\",\"size\":1}]}"

#define HINTS "\"ttlMs\":60000,\"cacheScope\":\"private\""
#define OUTCOME(id, rest)                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{" STAMP "," rest "}}"
#define REFUSED(id, text, uri)                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":-32602,"           \
    "\"message\":\"" text "\",\"data\":{\"uri\":\"" uri "\"}}}"

static void begin(files_host *f)
{
    files_begin(f);
    add_hello(&f->tree);
    tree_folder(&f->tree, "no-skill");
    tree_file(&f->tree, "no-skill/README", "none");
    tree_file(&f->tree, "loose.md", "none");
    assert_int_equal(fl_server_add_skills(f->host.server, f->tree.root), FL_OK);
}

static void test_skill_names_are_held_to_their_rules(void **state)
{
    char longest[66];

    (void)state;
    assert_true(fl_skill_is_name(FL_SPAN("a")));
    assert_true(fl_skill_is_name(FL_SPAN("a-1-b")));
    assert_false(fl_skill_is_name(FL_SPAN("")));
    assert_false(fl_skill_is_name(FL_SPAN("-a")));
    assert_false(fl_skill_is_name(FL_SPAN("a-")));
    assert_false(fl_skill_is_name(FL_SPAN("a--b")));
    assert_false(fl_skill_is_name(FL_SPAN("A")));
    assert_false(fl_skill_is_name(FL_SPAN("a_b")));
    assert_false(fl_skill_is_name(FL_SPAN("a.b")));
    memset(longest, 'a', sizeof longest);
    assert_true(fl_skill_is_name((fl_span){longest, 64}));
    assert_false(fl_skill_is_name((fl_span){longest, 65}));
}

static bool front_is(const char *text, const char *yaml)
{
    fl_span found;

    return fl_skill_front(fl_span_of(text), &found) &&
           fl_span_equal(found, fl_span_of(yaml));
}

static void test_skill_head_is_between_two_lines(void **state)
{
    fl_span found;

    (void)state;
    assert_true(front_is("---\na: 1\n---\n", "a: 1\n"));
    assert_true(front_is("---\r\na: 1\r\n--- \r\nx", "a: 1\r\n"));
    assert_true(front_is("\xEF\xBB\xBF---\na\n---", "a\n"));
    assert_true(front_is("---\n---\n", ""));
    assert_false(fl_skill_front(FL_SPAN(""), &found));
    assert_false(fl_skill_front(FL_SPAN("# x\n---\n---\n"), &found));
    assert_false(fl_skill_front(FL_SPAN("---\na: 1\n"), &found));
    assert_false(fl_skill_front(FL_SPAN("----\na: 1\n---\n"), &found));
    assert_false(fl_skill_front(FL_SPAN("\n---\na: 1\n---\n"), &found));
}

static void test_skills_are_declared_and_listed(void **state)
{
    static files_host f;

    (void)state;
    begin(&f);
    host_listen(&f.host, NULL);
    raw_say(&f.host.peer, MODERN("1", "server/discover", ""));
    raw_hears_part(&f.host.peer,
                   "\"extensions\":{\"io.modelcontextprotocol/skills\":{"
                   "\"directoryRead\":true}}");
    raw_asks(&f.host.peer, MODERN("2", "skills/list", ""),
             OUTCOME("2", "\"skills\":[" HELLO "]," HINTS));
    raw_asks(&f.host.peer,
             MODERN("3", "skills/get", ",\"uri\":\"skill://hello/SKILL.md\""),
             OUTCOME("3", "\"skill\":" HELLO "," HINTS));
    raw_asks(&f.host.peer, MODERN("4", "resources/list", ""),
             OUTCOME("4",
                     "\"resources\":[{\"uri\":\"skill://hello/SKILL.md\","
                     "\"name\":\"hello\",\"description\":\"Says it\","
                     "\"mimeType\":\"text/markdown\",\"size\":48}]," HINTS));
    files_end(&f);
}

static void test_skills_unknown_are_refused(void **state)
{
    static files_host f;

    (void)state;
    begin(&f);
    host_listen(&f.host, NULL);
    raw_asks(&f.host.peer,
             MODERN("1", "skills/get", ",\"uri\":\"skill://none/SKILL.md\""),
             REFUSED("1", "no skill is served there", "skill://none/SKILL.md"));
    raw_asks(&f.host.peer,
             MODERN("2", "skills/get", ",\"uri\":\"skill://hello\""),
             REFUSED("2", "no skill is served there", "skill://hello"));
    raw_say(&f.host.peer, MODERN("3", "skills/get", ""));
    raw_hears_part(&f.host.peer, "-32602");
    raw_say(&f.host.peer, MODERN("4", "skills/list", ",\"cursor\":\"x\""));
    raw_hears_part(&f.host.peer, "-32602");
    files_end(&f);
}

static void test_skills_directories_are_told_one_level_at_a_time(void **state)
{
    static files_host f;

    (void)state;
    begin(&f);
    host_listen(&f.host, NULL);
    raw_asks(
        &f.host.peer,
        MODERN("1", "resources/directory/read", ",\"uri\":\"skill://hello\""),
        OUTCOME("1", "\"resources\":[{\"uri\":\"skill://hello/SKILL.md\","
                     "\"name\":\"hello\",\"description\":\"Says it\","
                     "\"mimeType\":\"text/markdown\",\"size\":48},"
                     "{\"uri\":\"skill://hello/empty\",\"name\":\"empty\","
                     "\"mimeType\":\"inode/directory\"},"
                     "{\"uri\":\"skill://hello/refs\",\"name\":\"refs\","
                     "\"mimeType\":\"inode/directory\"}]"));
    raw_asks(&f.host.peer,
             MODERN("2", "resources/directory/read",
                    ",\"uri\":\"skill://hello/refs\""),
             OUTCOME("2", "\"resources\":[{\"uri\":\"skill://hello/refs/"
                          "a%20b.md\",\"name\":\"a b.md\",\"mimeType\":"
                          "\"text/markdown\",\"size\":1}]"));
    raw_asks(&f.host.peer,
             MODERN("3", "resources/directory/read",
                    ",\"uri\":\"skill://hello/empty\""),
             OUTCOME("3", "\"resources\":[]"));
    raw_asks(&f.host.peer,
             MODERN("4", "resources/directory/read",
                    ",\"uri\":\"skill://hello/SKILL.md\""),
             REFUSED("4", "it is not a directory", "skill://hello/SKILL.md"));
    raw_asks(&f.host.peer,
             MODERN("5", "resources/directory/read",
                    ",\"uri\":\"skill://no-skill\""),
             REFUSED("5", "there is no such directory", "skill://no-skill"));
    raw_asks(&f.host.peer,
             MODERN("6", "resources/directory/read",
                    ",\"uri\":\"skill://hello/..\""),
             REFUSED("6", "there is no such directory", "skill://hello/.."));
    raw_say(&f.host.peer, MODERN("7", "resources/directory/read",
                                 ",\"uri\":\"skill://hello\",\"cursor\":1"));
    raw_hears_part(&f.host.peer, "-32602");
    files_end(&f);
}

static void test_skills_files_are_read_and_no_others(void **state)
{
    static files_host f;

    (void)state;
    begin(&f);
    files_open(&f, "2025-11-25");
    files_finds(&f, "skill://hello/SKILL.md", "text/markdown",
                "\"text\":\"---\\nname: hello\\ndescription: Says it\\n---\\n"
                "# Body\\n\"");
    files_finds(&f, "skill://hello/refs/a%20b.md", "text/markdown",
                "\"text\":\"a\"");
    tree_file(&f.tree, "hello/new.md", "not in the manifest");
    files_misses(&f, "skill://hello/new.md");
    files_misses(&f, "skill://hello/.hidden");
    files_misses(&f, "skill://hello/out");
    files_misses(&f, "skill://hello/refs");
    files_misses(&f, "skill://hello");
    files_misses(&f, "skill://hello/../../secret");
    files_misses(&f, "skill://hello/%2e%2e/%2e%2e/secret");
    files_misses(&f, "skill://no-skill/README");
    files_misses(&f, "skill://loose.md");
    files_end(&f);
}

static void test_skills_are_told_to_legacy_clients_in_their_words(void **state)
{
    static files_host f;

    (void)state;
    begin(&f);
    host_listen(&f.host, NULL);
    raw_say(&f.host.peer, INITIALIZE("0", "2025-11-25"));
    raw_hears_part(&f.host.peer, "\"io.modelcontextprotocol/skills\":{");
    raw_asks(&f.host.peer,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"skills/list\"}",
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"skills\":[" HELLO
             "]}}");
    files_end(&f);
}

static void test_skills_are_not_there_when_there_are_none(void **state)
{
    static files_host f;

    (void)state;
    files_begin(&f);
    assert_int_equal(host_add_tools(&f.host), FL_OK);
    host_listen(&f.host, NULL);
    raw_say(&f.host.peer, MODERN("1", "server/discover", ""));
    assert_null(strstr(raw_hear(&f.host.peer), "extensions"));
    raw_say(&f.host.peer, MODERN("2", "skills/list", ""));
    raw_hears_part(&f.host.peer, "-32601");
    files_end(&f);
}

static void test_skills_are_told_in_pages(void **state)
{
    static files_host f;

    (void)state;
    begin(&f);
    tree_folder(&f.tree, "second");
    tree_file(&f.tree, "second/SKILL.md", HEAD("second", "\"\\u00e9\""));
    assert_int_equal(fl_server_add_skills(f.host.server, f.tree.root), FL_OK);
    fl_server_set_page_size(f.host.server, 1);
    host_listen(&f.host, NULL);
    raw_say(&f.host.peer, MODERN("1", "skills/list", ""));
    char *cursor = strstr(raw_hear(&f.host.peer), "\"nextCursor\":\"");
    char line[512];
    assert_non_null(cursor);
    snprintf(line, sizeof line,
             MODERN("2", "skills/list", ",\"cursor\":\"%.*s\""),
             (int)strcspn(cursor + 14, "\""), cursor + 14);
    raw_say(&f.host.peer, line);
    const char *page = raw_hear(&f.host.peer);
    assert_non_null(strstr(page, "\"name\":\"second\""));
    assert_non_null(strstr(page, "\"description\":\"\xC3\xA9\""));
    assert_null(strstr(page, "nextCursor"));
    files_end(&f);
}

static void check_bad(const char *name, const char *text, fl_status status,
                      const char *why)
{
    static files_host f;
    char path[128];

    files_begin(&f);
    tree_folder(&f.tree, name);
    snprintf(path, sizeof path, "%s/SKILL.md", name);
    tree_file(&f.tree, path, text);
    assert_int_equal(fl_server_add_skills(f.host.server, f.tree.root), status);
    snprintf(path, sizeof path, "skill '%s': %s", name, why);
    assert_string_equal(fl_server_error(f.host.server)->text, path);
    host_listen(&f.host, NULL);
    files_end(&f);
}

static void test_skills_that_are_none_are_refused_by_name(void **state)
{
    (void)state;
    check_bad("Upper", HEAD("Upper", "x"), FL_E_INVALID,
              "a name has 1 to 64 of a-z, 0-9 and single hyphens");
    check_bad("a", HEAD("b", "x"), FL_E_INVALID,
              "its name is not that of its directory");
    check_bad("a", "---\nname: a\n---\n", FL_E_INVALID,
              "it has no description");
    check_bad("a", HEAD("a", "''"), FL_E_INVALID, "it has no description");
    check_bad("a", HEAD("a", "12"), FL_E_INVALID, "it has no description");
    check_bad("a", "---\n- name: a\n---\n", FL_E_INVALID,
              "its head is no mapping");
    check_bad("a", "no head", FL_E_INVALID,
              "SKILL.md does not begin with ---, some YAML, and --- again");
    check_bad("a", "---\nname: a\nname: b\n---\n", FL_E_INVALID,
              "its head, line 2: a key is given twice");
}

static void check_description(size_t length, fl_status status)
{
    static files_host f;
    char text[2 * 1100], word[2 * 1030 + 1];

    for (size_t i = 0; i < length; i++)
        memcpy(word + 2 * i, "\xC3\xA9", 2);
    word[2 * length] = '\0';
    snprintf(text, sizeof text, HEAD("a", "%s"), word);
    files_begin(&f);
    tree_folder(&f.tree, "a");
    tree_file(&f.tree, "a/SKILL.md", text);
    assert_int_equal(fl_server_add_skills(f.host.server, f.tree.root), status);
    host_listen(&f.host, NULL);
    files_end(&f);
}

static void test_skills_descriptions_have_a_limit(void **state)
{
    (void)state;
    check_description(FL_SKILL_DESCRIPTION_MAX, FL_OK);
    check_description(FL_SKILL_DESCRIPTION_MAX + 1, FL_E_INVALID);
}

static void test_skills_have_so_many_files_and_no_more(void **state)
{
    static files_host f;
    char path[64];

    (void)state;
    files_begin(&f);
    tree_folder(&f.tree, "a");
    tree_file(&f.tree, "a/SKILL.md", HEAD("a", "x"));
    for (int i = 1; i < FL_SKILL_FILES; i++) {
        snprintf(path, sizeof path, "a/%d", i);
        tree_file(&f.tree, path, "");
    }
    assert_int_equal(fl_server_add_skills(f.host.server, f.tree.root), FL_OK);
    tree_file(&f.tree, "a/last", "");
    assert_int_equal(fl_server_add_skills(f.host.server, f.tree.root),
                     FL_E_TOO_BIG);
    assert_string_equal(fl_server_error(f.host.server)->text,
                        "skill 'a': it has more than 512 files");
    host_listen(&f.host, NULL);
    files_end(&f);
}

static void test_skills_have_so_many_bytes_and_no_more(void **state)
{
    static files_host f;
    off_t left = FL_SKILL_BYTES - (off_t)strlen(HEAD("a", "x"));

    (void)state;
    files_begin(&f);
    tree_folder(&f.tree, "a");
    tree_file(&f.tree, "a/SKILL.md", HEAD("a", "x"));
    tree_sparse(&f.tree, "a/big", left);
    assert_int_equal(fl_server_add_skills(f.host.server, f.tree.root), FL_OK);
    tree_file(&f.tree, "a/one", "1");
    assert_int_equal(fl_server_add_skills(f.host.server, f.tree.root),
                     FL_E_TOO_BIG);
    assert_string_equal(fl_server_error(f.host.server)->text,
                        "skill 'a': its files have more than 16 MiB together");
    host_listen(&f.host, NULL);
    files_end(&f);
}

/* What there was stays when something is wrong, and goes when it is gone. */
static void test_skills_looked_at_again_are_as_they_are_now(void **state)
{
    static files_host f;

    (void)state;
    begin(&f);
    files_open(&f, "2025-11-25");
    tree_folder(&f.tree, "bad");
    tree_file(&f.tree, "bad/SKILL.md", "bad");
    assert_int_equal(fl_server_add_skills(f.host.server, f.tree.root),
                     FL_E_INVALID);
    files_finds(&f, "skill://hello/refs/a%20b.md", "text/markdown",
                "\"text\":\"a\"");
    assert_int_equal(unlink(tree_at(&f.tree, "bad/SKILL.md")), 0);
    assert_int_equal(unlink(tree_at(&f.tree, "hello/SKILL.md")), 0);
    tree_folder(&f.tree, "other");
    tree_file(&f.tree, "other/SKILL.md", HEAD("other", "x"));
    assert_int_equal(fl_server_add_skills(f.host.server, f.tree.root), FL_OK);
    raw_hears_part(&f.host.peer, "resources/list_changed");
    raw_say(&f.host.peer,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"skills/list\"}");
    const char *list = raw_hear(&f.host.peer);
    assert_null(strstr(list, "hello"));
    assert_non_null(strstr(list, "skill://other/SKILL.md"));
    files_misses(&f, "skill://hello/refs/a%20b.md");
    files_end(&f);
}

static void test_skills_of_one_name_are_refused(void **state)
{
    static files_host f;
    tree second;

    (void)state;
    begin(&f);
    tree_begin(&second);
    add_hello(&second);
    assert_int_equal(fl_server_add_skills(f.host.server, second.root),
                     FL_E_IN_USE);
    assert_string_equal(fl_server_error(f.host.server)->text,
                        "skill 'hello': already in use");
    assert_int_equal(fl_server_add_skills(f.host.server, "/nowhere/at/all"),
                     FL_E_NOT_FOUND);
    tree_end(&second);
    host_listen(&f.host, NULL);
    files_end(&f);
}

static void add_once(void *user)
{
    const tree *t = user;
    fl_server *server = fl_server_new("x", "1");

    for (int i = 0; server != NULL && i < 2; i++) {
        fl_status rc = fl_server_add_skills(server, t->root);
        assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    }
    fl_server_free(server);
}

static void test_skills_survive_any_failing_allocation(void **state)
{
    tree t;

    (void)state;
    tree_begin(&t);
    add_hello(&t);
    assert_true(ration_each(add_once, &t) > 20);
    tree_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_skill_names_are_held_to_their_rules),
        cmocka_unit_test(test_skill_head_is_between_two_lines),
        cmocka_unit_test(test_skills_are_declared_and_listed),
        cmocka_unit_test(test_skills_unknown_are_refused),
        cmocka_unit_test(test_skills_directories_are_told_one_level_at_a_time),
        cmocka_unit_test(test_skills_files_are_read_and_no_others),
        cmocka_unit_test(test_skills_are_told_to_legacy_clients_in_their_words),
        cmocka_unit_test(test_skills_are_not_there_when_there_are_none),
        cmocka_unit_test(test_skills_are_told_in_pages),
        cmocka_unit_test(test_skills_that_are_none_are_refused_by_name),
        cmocka_unit_test(test_skills_descriptions_have_a_limit),
        cmocka_unit_test(test_skills_have_so_many_files_and_no_more),
        cmocka_unit_test(test_skills_have_so_many_bytes_and_no_more),
        cmocka_unit_test(test_skills_looked_at_again_are_as_they_are_now),
        cmocka_unit_test(test_skills_of_one_name_are_refused),
        cmocka_unit_test(test_skills_survive_any_failing_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
