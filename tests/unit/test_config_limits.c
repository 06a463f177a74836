/*
 * test_config_limits.c - files at every limit and one past it, and memory that
 * runs out at every point.
 */
#include "config/keep.h"
#include "config_desk.h"
#include "support/ration.h"

/* Text that grows; what it is made of is written again and again. */
typedef struct writer {
    char *text;
    size_t len, size;
} writer;

static void add(writer *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(writer *w, const char *format, ...)
{
    va_list arguments;

    if (w->size - w->len < 256) {
        w->size = w->size * 2 + 1024;
        w->text = realloc(w->text, w->size);
        assert_non_null(w->text);
    }
    va_start(arguments, format);
    w->len += (size_t)vsnprintf(w->text + w->len, w->size - w->len, format,
                                arguments);
    va_end(arguments);
}

static void fill(writer *w, char byte, size_t count)
{
    w->size += count + 1024;
    w->text = realloc(w->text, w->size);
    assert_non_null(w->text);
    memset(w->text + w->len, byte, count);
    w->len += count;
}

/* Reads what was written, and what is the first error, if any. */
static void finish(writer *w, const char *problem)
{
    fl_config *config;
    fl_error error = {.text = ""};
    fl_status rc = fl_config_read((fl_span){w->text, w->len}, "f", &desk_source,
                                  &config, &error);

    assert_string_equal(error.text, problem);
    assert_int_equal(rc, *problem != '\0' ? FL_E_INVALID : FL_OK);
    fl_config_free(config);
    free(w->text);
}

static void write_padded(size_t bytes, const char *problem)
{
    writer w = {0};

    add(&w, "{\"servers\":{\"a\":{\"command\":\"b\"}}}");
    fill(&w, ' ', bytes - w.len);
    finish(&w, problem);
}

static void test_config_file_of_4_mib(void **state)
{
    (void)state;
    write_padded(FL_CONFIG_BYTES, "");
    write_padded(FL_CONFIG_BYTES + 1,
                 "f:1:1: the file is larger than 4194304 bytes");
}

static void write_servers(int count, const char *problem)
{
    writer w = {0};

    add(&w, "{\"servers\":{");
    for (int i = 0; i < count; i++)
        add(&w, "%s\"s%d\":{\"command\":\"b\"}", i > 0 ? "," : "", i);
    add(&w, "}}");
    finish(&w, problem);
}

static void test_config_1024_servers(void **state)
{
    (void)state;
    write_servers(FL_CONFIG_SERVERS, "");
    write_servers(FL_CONFIG_SERVERS + 1,
                  "f:1:12: servers: there are more than 1024 servers");
}

static void write_deep(int depth, const char *problem)
{
    writer w = {0};

    add(&w, "{\"servers\":{\"a\":{\"command\":\"b\"}},\"deep\":");
    for (int i = 1; i < depth; i++)
        add(&w, "[");
    for (int i = 1; i < depth; i++)
        add(&w, "]");
    add(&w, "}");
    finish(&w, problem);
}

static void test_config_64_brackets(void **state)
{
    (void)state;
    write_deep(FL_CONFIG_DEPTH, "");
    write_deep(FL_CONFIG_DEPTH + 1,
               "f:1:104: it is nested deeper than 64 brackets");
}

static void write_list(const char *key, const char *item, int count,
                       const char *problem)
{
    writer w = {0};

    add(&w, "{\"servers\":{\"a\":{\"url\":\"http://b/\",\n\"%s\":[", key);
    for (int i = 0; i < count; i++)
        add(&w, "%s\"%s\"", i > 0 ? "," : "", item);
    add(&w, "]}}}");
    finish(&w, problem);
}

static void test_config_1024_items(void **state)
{
    (void)state;
    write_list("headers", "A: b", FL_CONFIG_LIST, "");
    write_list("headers", "A: b", FL_CONFIG_LIST + 3,
               "f:2:7180: servers.a.headers[1024]: there are more than 1024");
    write_list("tools", "t", FL_CONFIG_LIST, "");
    write_list("tools", "t", FL_CONFIG_LIST + 3,
               "f:2:4106: servers.a.tools[1024]: there are more than 1024");
}

static void write_variables(int count, const char *problem)
{
    writer w = {0};

    add(&w, "{\"servers\":{\"a\":{\"command\":\"b\",\n\"env\":{");
    for (int i = 0; i < count; i++)
        add(&w, "%s\"V%d\":1", i > 0 ? "," : "", i);
    add(&w, "}}}}");
    finish(&w, problem);
}

static void test_config_1024_variables(void **state)
{
    (void)state;
    write_variables(FL_CONFIG_LIST, "");
    write_variables(FL_CONFIG_LIST + 3,
                    "f:2:9146: servers.a.env.V1024: there are more than 1024");
}

static void write_value(size_t bytes, const char *problem)
{
    writer w = {0};

    add(&w, "{\"servers\":{\"a\":{\"command\":\"");
    fill(&w, 'x', bytes);
    add(&w, "\"}}}");
    finish(&w, problem);
}

static void test_config_value_of_1_mib(void **state)
{
    (void)state;
    write_value(FL_CONFIG_VALUE, "");
    write_value(FL_CONFIG_VALUE + 1,
                "f:1:28: servers.a.command: it is longer than 1048576 bytes");
}

/* Variables can make a small file large. */
static const char *large_variable(void *user, const char *name)
{
    (void)name;
    return user;
}

static void expand_large(size_t bytes, int count, const char *problem)
{
    writer w = {0};
    char *large = calloc(bytes + 1, 1);
    fl_config_source source = {.variable = large_variable, .user = large};
    fl_config *config;
    fl_error error = {.text = ""};

    assert_non_null(large);
    memset(large, 'x', bytes);
    add(&w, "{\"servers\":{\"a\":{\"command\":\"b\",\"args\":[");
    for (int i = 0; i < count; i++)
        add(&w, "%s\"${A}\"", i > 0 ? "," : "");
    add(&w, "]}}}");
    fl_status rc =
        fl_config_read((fl_span){w.text, w.len}, "f", &source, &config, &error);
    assert_string_equal(error.text, problem);
    assert_int_equal(rc, *problem != '\0' ? FL_E_INVALID : FL_OK);
    fl_config_free(config);
    free(w.text);
    free(large);
}

static void test_config_expanded_values_are_bounded(void **state)
{
    (void)state;
    expand_large(FL_CONFIG_VALUE, 1, "");
    expand_large(FL_CONFIG_VALUE + 1, 1,
                 "f:1:40: servers.a.args[0]: it is longer than 1048576 bytes");
    expand_large(FL_CONFIG_VALUE - 64, 60, "");
    expand_large(FL_CONFIG_VALUE - 64, 70,
                 "f:1:1: its values are larger than 67108864 bytes together");
}

static void test_keep_has_a_maximum(void **state)
{
    (void)state;
    fl_keep keep;
    void *piece;
    const char *text;

    fl_keep_init(&keep, 8192);
    assert_int_equal(fl_keep_take(&keep, 8192, &piece), FL_OK);
    assert_int_equal(fl_keep_take(&keep, 1, &piece), FL_E_LIMIT);
    assert_null(piece);
    assert_int_equal(fl_keep_take(&keep, SIZE_MAX, &piece), FL_E_LIMIT);
    assert_int_equal(fl_keep_text(&keep, FL_SPAN("x"), &text), FL_E_LIMIT);
    assert_null(text);
    fl_keep_deinit(&keep);
    assert_null(keep.blocks);
}

/* Either all is well, or there is nothing but the news. */
static void read_rationed(void *user)
{
    fl_span text = fl_span_of(user);
    fl_config *config;
    fl_error error;
    fl_status rc = fl_config_read(text, "/etc/mcp/mcp.json", &desk_source,
                                  &config, &error);

    if (ration_refused()) {
        assert_int_equal(rc, FL_E_NOMEM);
        assert_int_equal(error.status, FL_E_NOMEM);
        assert_null(config);
    } else {
        assert_non_null(config);
    }
    fl_config_free(config);
}

static void test_config_without_memory(void **state)
{
    (void)state;
    static const char *const files[] = {
        "claude-code.json", "cursor.json",   "windsurf.json", "gemini.json",
        "vscode.json",      "opencode.json", "tbxark.json",   "mcphost.json",
        "fairlead.jsonc",   "broken.jsonc",  "codex.toml",
    };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[256];
        snprintf(path, sizeof path, "tests/corpus/config/%s", files[i]);
        char *text = desk_load(path);
        assert_true(ration_each(read_rationed, text) > 3);
        free(text);
    }
}

static void show_rationed(void *user)
{
    const fl_config *config = user;
    fl_buf out;

    fl_buf_init(&out, 1 << 20);
    fl_status rc = fl_config_show_servers(config, &out);
    if (rc == FL_OK)
        rc = fl_config_show_problems(config, &out);
    assert_int_equal(rc, ration_refused() ? FL_E_NOMEM : FL_OK);
    fl_buf_reset(&out);
}

static void test_config_is_not_shown_without_memory(void **state)
{
    (void)state;
    char *text = desk_load("tests/corpus/config/broken.jsonc");
    fl_config *config = desk_take(fl_span_of(text), FL_E_INVALID);

    assert_true(ration_each(show_rationed, config) > 1);
    fl_config_free(config);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config_file_of_4_mib),
        cmocka_unit_test(test_config_1024_servers),
        cmocka_unit_test(test_config_64_brackets),
        cmocka_unit_test(test_config_1024_items),
        cmocka_unit_test(test_config_1024_variables),
        cmocka_unit_test(test_config_value_of_1_mib),
        cmocka_unit_test(test_config_expanded_values_are_bounded),
        cmocka_unit_test(test_keep_has_a_maximum),
        cmocka_unit_test(test_config_without_memory),
        cmocka_unit_test(test_config_is_not_shown_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
