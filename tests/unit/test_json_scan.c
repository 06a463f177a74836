/*
 * test_json_scan.c - every kernel must say the same, and say it rightly.
 *
 * Each text is scanned by all kernels this machine can run, from a heap block
 * of exactly its size, and their answers compared in full: status, offset,
 * members. What a sanitizer sees of overruns it sees here. Then the answer is
 * held against JSONTestSuite, the UTF-8 vectors, and texts made to put each
 * kind of byte into each lane of a vector.
 */
#include "json/scan.h"

#include "base/span.h"
#include "base/utf8.h"
#include "support/data.h"
#include "json/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct verdict {
    fl_status status;
    size_t at;
    fl_json_type type;
    size_t count;
    fl_span value; /* its pointer is an offset from the start of the text */
    fl_json_member members[FL_JSON_MEMBERS]; /* likewise */
} verdict;

static fl_span relative(fl_span part, fl_span text)
{
    return (fl_span){(const char *)(uintptr_t)(part.ptr - text.ptr), part.len};
}

static verdict judge_by(const fl_json_kernel *kernel, fl_span text,
                        unsigned depth)
{
    verdict v = {0};
    fl_json_top top;

    memset(&top, 0x5a, sizeof top);
    v.status = fl_json_scan_with(kernel, text, depth, &top, &v.at);
    if (v.status != FL_OK) {
        fl_json_top zeroed = {0};
        assert_memory_equal(&top, &zeroed, sizeof top);
        return v;
    }
    v.type = top.type;
    v.count = top.count;
    v.value = relative(top.value, text);
    for (size_t i = 0;
         i < top.count && i < FL_JSON_MEMBERS && top.type == FL_JSON_OBJECT;
         i++) {
        v.members[i].key = relative(top.members[i].key, text);
        v.members[i].value = relative(top.members[i].value, text);
    }
    return v;
}

/* Only a bare scalar may be left to the plain kernel. */
static void require_no_retreat(const fl_json_kernel *kernel, fl_span text)
{
    fl_json_marks marks;

    if (strchr("}]\" \t\r\n", text.ptr[text.len - 1]) != NULL)
        assert_true(kernel->check(text, FL_JSON_MAX_DEPTH, &marks));
}

static verdict judge_depth(fl_span text, unsigned depth)
{
    char *copy = malloc(text.len > 0 ? text.len : 1);
    fl_span exact = {copy, text.len};

    assert_non_null(copy);
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    verdict first = judge_by(&fl_json_kernel_plain, exact, depth);
    for (size_t i = 0; i < FL_JSON_KERNELS; i++) {
        const fl_json_kernel *kernel = fl_json_kernel_at(i);
        if (kernel == NULL)
            continue;
        verdict other = judge_by(kernel, exact, depth);
        if (memcmp(&first, &other, sizeof first) != 0)
            fail_msg("%s says %s at %zu, plain %s at %zu: %.*s", kernel->name,
                     fl_status_name(other.status), other.at,
                     fl_status_name(first.status), first.at,
                     (int)(text.len < 200 ? text.len : 200), text.ptr);
        if (first.status == FL_OK && depth == 0)
            require_no_retreat(kernel, exact);
    }
    free(copy);
    return first;
}

static verdict judge(fl_span text)
{
    return judge_depth(text, 0);
}

static void require(const char *text, fl_status status, size_t at)
{
    verdict v = judge(fl_span_of(text));

    if (v.status != status || v.at != at)
        fail_msg("%s: %s at %zu, want %s at %zu", text,
                 fl_status_name(v.status), v.at, fl_status_name(status), at);
}

static void judge_suite_file(void *user, const char *name, fl_span file)
{
    static const char *const refused[] = {
        "i_string_UTF-16LE_with_BOM.json",
        "i_string_UTF-8_invalid_sequence.json",
        "i_string_UTF8_surrogate_U+D800.json",
        "i_string_invalid_utf-8.json",
        "i_string_iso_latin_1.json",
        "i_string_lone_utf8_continuation_byte.json",
        "i_string_not_in_unicode_range.json",
        "i_string_overlong_sequence_2_bytes.json",
        "i_string_overlong_sequence_6_bytes.json",
        "i_string_overlong_sequence_6_bytes_null.json",
        "i_string_truncated-utf-8.json",
        "i_string_utf16BE_no_BOM.json",
        "i_string_utf16LE_no_BOM.json",
        "i_structure_UTF-8_BOM_empty_object.json",
    };
    size_t *kinds = user;
    bool accept = name[0] != 'n';

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        accept = accept && strcmp(name, refused[i]) != 0;
    verdict v = judge(file);
    if ((v.status == FL_OK) != accept)
        fail_msg("%s: %s at %zu", name, fl_status_name(v.status), v.at);
    kinds[name[0] == 'y' ? 0 : name[0] == 'n' ? 1 : 2]++;
}

static void test_json_scan_agrees_with_jsontestsuite(void **state)
{
    size_t kinds[3] = {0};

    (void)state;
    data_each("json/JSONTestSuite/test_parsing", judge_suite_file, kinds);
    assert_int_equal(kinds[0], 95);
    assert_int_equal(kinds[1], 188);
    assert_int_equal(kinds[2], 35);
}

static void accept_suite_file(void *user, const char *name, fl_span file)
{
    fl_json_top top;
    size_t *count = user;
    bool raw = strstr(name, "invalid_codepoint") != NULL &&
               strstr(name, "escaped") == NULL;

    assert_int_equal(judge(file).status == FL_OK, !raw);
    if (!raw)
        assert_int_equal(fl_json_scan(file, 0, &top, NULL), FL_OK);
    ++*count;
}

static void test_json_scan_takes_the_transform_files(void **state)
{
    size_t count = 0;

    (void)state;
    data_each("json/JSONTestSuite/test_transform", accept_suite_file, &count);
    assert_int_equal(count, 22);
}

/* A vector in a string, behind `lead` bytes, or nothing if JSON would have it
 * escaped. */
static void judge_vector(fl_span bytes, size_t lead, size_t fail_at)
{
    char text[4096];
    size_t len = lead + bytes.len + 4;

    memset(text, 'x', sizeof text);
    memcpy(text, "[\"", 2);
    memcpy(text + 2 + lead, bytes.ptr, bytes.len);
    memcpy(text + 2 + lead + bytes.len, "\"]", 2);
    verdict v = judge((fl_span){text, len});
    bool valid = fail_at > bytes.len;
    assert_int_equal(v.status, valid ? FL_OK : FL_E_BAD_TEXT);
    assert_int_equal(v.at, valid ? len : 2 + lead + fail_at);
}

static bool needs_escape(fl_span bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        if ((unsigned char)bytes.ptr[i] < ' ' || bytes.ptr[i] == '"' ||
            bytes.ptr[i] == '\\')
            return true;
    return false;
}

static void test_json_scan_agrees_with_the_utf8_vectors(void **state)
{
    static const size_t leads[] = {0,  1,  12, 13, 14, 15, 28, 29, 30,
                                   31, 58, 59, 60, 61, 62, 63, 64, 90};
    fl_span file = data_load("json/utf8_vectors.json"), rest = file, vector;
    size_t count = 0;
    char bytes[1024];

    (void)state;
    while (data_next_object(&rest, &vector)) {
        fl_span text = {
            bytes, data_unhex(data_member(vector, "hex"), bytes, sizeof bytes)};
        bool valid =
            fl_span_equal(data_member(vector, "valid"), FL_SPAN("true"));
        size_t fail_at = text.len + 1;
        if (!valid)
            fail_at =
                strtoul(data_member(vector, "fail_fast_at").ptr, NULL, 10);
        assert_int_equal(fl_utf8_valid(text), valid);
        if (needs_escape(text))
            continue;
        for (size_t i = 0; i < sizeof leads / sizeof *leads; i++)
            judge_vector(text, leads[i], fail_at);
        count++;
    }
    data_free(file);
    assert_in_range(count, 1300, 100000);
}

/* Sequences of up to four bytes from the edges of table 3-7, across a seam
 * between blocks, against the base room's validator. */
static void test_json_scan_splits_sequences_like_the_validator(void **state)
{
    static const unsigned char edges[] = {
        0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2,
        0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff};
    enum { N = sizeof edges };
    fl_json_marks marks;
    char text[80];

    (void)state;
    memset(text, 'x', sizeof text);
    text[0] = text[sizeof text - 1] = '"';
    for (size_t n = 0; n < (size_t)N * N * N * N; n++) {
        size_t at = 60 + n % 5;
        for (size_t i = 0, rest = n; i < 4; i++, rest /= N)
            text[at + i] = (char)edges[rest % N];
        fl_span whole = {text, sizeof text};
        bool valid = fl_utf8_valid(whole);
        for (size_t i = 0; i < FL_JSON_KERNELS; i++)
            if (fl_json_kernel_at(i) != NULL)
                assert_int_equal(fl_json_kernel_at(i)->check(whole, 1, &marks),
                                 valid);
        memset(text + at, 'x', 4);
    }
}

/* `middle` at every place of a long string, which is in an array. */
static void at_every_place(const char *middle, fl_status status, size_t bad)
{
    char text[128];
    size_t size = strlen(middle);

    for (size_t lead = 0; lead <= 80; lead++) {
        size_t len = 2 + lead + size + 2;
        memset(text, 'x', sizeof text);
        memcpy(text, "[\"", 2);
        memcpy(text + 2 + lead, middle, size);
        memcpy(text + len - 2, "\"]", 2);
        verdict v = judge((fl_span){text, len});
        assert_int_equal(v.status, status);
        assert_int_equal(v.at, status == FL_OK ? len : 2 + lead + bad);
    }
}

static void test_json_scan_sees_every_lane_of_a_string(void **state)
{
    (void)state;
    at_every_place("", FL_OK, 0);
    at_every_place("\",\"", FL_OK, 0);
    at_every_place("\\\"", FL_OK, 0);
    at_every_place("\\\\", FL_OK, 0);
    at_every_place("\\\\\",\"\\\\\\\"", FL_OK, 0);
    at_every_place("\\b\\f\\n\\r\\t\\/", FL_OK, 0);
    at_every_place("\\u00e9\\uD834\\udd1e\\u0000", FL_OK, 0);
    at_every_place("\xc3\xa9", FL_OK, 0);
    at_every_place("\xe4\xb8\xad\xe6\x96\x87", FL_OK, 0);
    at_every_place("\xf0\x9d\x84\x9e\x7f", FL_OK, 0);
    at_every_place("\x01", FL_E_BAD_JSON, 0);
    at_every_place("\x1f", FL_E_BAD_JSON, 0);
    at_every_place("\n", FL_E_BAD_JSON, 0);
    at_every_place("\\x", FL_E_BAD_JSON, 1);
    at_every_place("\\U0041", FL_E_BAD_JSON, 1);
    at_every_place("\\ug234", FL_E_BAD_JSON, 2);
    at_every_place("\\u1g34", FL_E_BAD_JSON, 3);
    at_every_place("\\u12g4", FL_E_BAD_JSON, 4);
    at_every_place("\\u123g", FL_E_BAD_JSON, 5);
    at_every_place("\\u123", FL_E_BAD_JSON, 5);
    at_every_place("\\\xc3\xa9", FL_E_BAD_JSON, 1);
    at_every_place("\"", FL_E_BAD_JSON, 1);
    at_every_place("\xff", FL_E_BAD_TEXT, 0);
    at_every_place("\x80", FL_E_BAD_TEXT, 0);
    at_every_place("\xc3", FL_E_BAD_TEXT, 1);
    at_every_place("\xe4\xb8", FL_E_BAD_TEXT, 2);
    at_every_place("\xed\xa0\x80", FL_E_BAD_TEXT, 1);
}

/* Any other escape letter is wrong, and \u wants what it wants. */
static void test_json_scan_knows_each_escape(void **state)
{
    (void)state;
    for (int byte = 1; byte < 128; byte++) {
        char text[] = "[\"..................\\?0000\"]";
        text[21] = (char)byte;
        bool good = strchr("\\/bfnrtu\"", byte) != NULL;
        assert_int_equal(judge(fl_span_of(text)).status,
                         good ? FL_OK : FL_E_BAD_JSON);
        memcpy(text + 20, "\\u", 2);
        text[24] = (char)byte;
        good = strchr("0123456789abcdefABCDEF", byte) != NULL;
        assert_int_equal(judge(fl_span_of(text)).status,
                         good ? FL_OK : FL_E_BAD_JSON);
    }
}

/* Behind 0 to 80 spaces, so that every token meets every seam. */
static void behind_spaces(const char *text, fl_status status, size_t bad)
{
    char spaced[256];
    size_t size = strlen(text);

    for (size_t lead = 0; lead <= 80; lead++) {
        memset(spaced, lead % 2 == 0 ? ' ' : '\n', lead);
        memcpy(spaced + lead, text, size);
        verdict v = judge((fl_span){spaced, lead + size});
        if (v.status != status || v.at != lead + (status == FL_OK ? size : bad))
            fail_msg("%s behind %zu: %s at %zu", text, lead,
                     fl_status_name(v.status), v.at);
    }
}

static void test_json_scan_holds_to_the_grammar_at_every_seam(void **state)
{
    (void)state;
    behind_spaces("{\"a\":[1,-2.5e+3,true,false,null,\"s\",{},[]],\"b\":{}}",
                  FL_OK, 0);
    behind_spaces("{ \"a\" : [ 1 , 2 ] , \"b\" : \"c\" }  ", FL_OK, 0);
    behind_spaces("[ [ ] , { } , \"\" ]\t\r\n", FL_OK, 0);
    behind_spaces("\"\"", FL_OK, 0);
    behind_spaces("12345678901234567890", FL_OK, 0);
    behind_spaces("null", FL_OK, 0);
    behind_spaces("", FL_E_BAD_JSON, 0);
    behind_spaces("{", FL_E_BAD_JSON, 1);
    behind_spaces("[1,]", FL_E_BAD_JSON, 3);
    behind_spaces("[,1]", FL_E_BAD_JSON, 1);
    behind_spaces("[1 2]", FL_E_BAD_JSON, 3);
    behind_spaces("[1,,2]", FL_E_BAD_JSON, 3);
    behind_spaces("[\"a\" \"b\"]", FL_E_BAD_JSON, 5);
    behind_spaces("[\"a\"1]", FL_E_BAD_JSON, 4);
    behind_spaces("[1\"a\"]", FL_E_BAD_JSON, 2);
    behind_spaces("[1{}]", FL_E_BAD_JSON, 2);
    behind_spaces("[{}1]", FL_E_BAD_JSON, 3);
    behind_spaces("[\"a\":1]", FL_E_BAD_JSON, 4);
    behind_spaces("[1:2]", FL_E_BAD_JSON, 2);
    behind_spaces("{\"a\"}", FL_E_BAD_JSON, 4);
    behind_spaces("{\"a\",\"b\":1}", FL_E_BAD_JSON, 4);
    behind_spaces("{\"a\":1,}", FL_E_BAD_JSON, 7);
    behind_spaces("{\"a\":1,2}", FL_E_BAD_JSON, 7);
    behind_spaces("{\"a\":1,\"b\"}", FL_E_BAD_JSON, 10);
    behind_spaces("{\"a\":\"b\":1}", FL_E_BAD_JSON, 8);
    behind_spaces("{\"a\"::1}", FL_E_BAD_JSON, 5);
    behind_spaces("{\"a\":}", FL_E_BAD_JSON, 5);
    behind_spaces("{:1}", FL_E_BAD_JSON, 1);
    behind_spaces("{1:1}", FL_E_BAD_JSON, 1);
    behind_spaces("{[]:1}", FL_E_BAD_JSON, 1);
    behind_spaces("{{}:1}", FL_E_BAD_JSON, 1);
    behind_spaces("[1}", FL_E_BAD_JSON, 2);
    behind_spaces("{\"a\":1]", FL_E_BAD_JSON, 6);
    behind_spaces("[]]", FL_E_BAD_JSON, 2);
    behind_spaces("{}{}", FL_E_BAD_JSON, 2);
    behind_spaces("{},{}", FL_E_BAD_JSON, 2);
    behind_spaces("\"a\":1", FL_E_BAD_JSON, 3);
    behind_spaces("\"a\" ", FL_OK, 0);
    behind_spaces("\"a", FL_E_BAD_JSON, 2);
    behind_spaces("]", FL_E_BAD_JSON, 0);
    behind_spaces(",", FL_E_BAD_JSON, 0);
    behind_spaces("[\\\"a\"]", FL_E_BAD_JSON, 1);
    behind_spaces("[\f1]", FL_E_BAD_JSON, 1);
    behind_spaces("[\xc2\xa0]", FL_E_BAD_JSON, 1);
    behind_spaces("[\xc2]", FL_E_BAD_TEXT, 1);
}

static void test_json_scan_takes_numbers_and_words_exactly(void **state)
{
    static const char *const good[] = {"0",
                                       "-0",
                                       "1",
                                       "10",
                                       "1234567",
                                       "12345678",
                                       "123456789",
                                       "0.5",
                                       "1.0",
                                       "1e5",
                                       "1E-5",
                                       "1e+5",
                                       "0e0",
                                       "-1.25e-10",
                                       "true",
                                       "false",
                                       "null",
                                       "0.1234567890123456789",
                                       "123456789012345678901234567890"};
    static const char *const bad[] = {
        "00",       "01",    "-",    "+1",    "1.",    ".5",        "1.e5",
        "1e",       "1e+",   "0x10", "1_000", "--1",   "-01",       "tru",
        "trux",     "truex", "True", "nul",   "nulll", "fals",      "falsey",
        "NaN",      "inf",   "1a",   "1.5.5", "1e5.5", "12345678a", "0123456",
        "a1234567", "1-1",   "'a'"};
    char text[128];

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(text, sizeof text, "[\"padding in front\",%s]", good[i]);
        assert_int_equal(judge(fl_span_of(text)).status, FL_OK);
        snprintf(text, sizeof text, "{\"a\":%s ,\"b\":\"padding\"}", good[i]);
        assert_int_equal(judge(fl_span_of(text)).status, FL_OK);
        assert_int_equal(judge(fl_span_of(good[i])).status, FL_OK);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "[%s,\"padding behind\"]", bad[i]);
        assert_int_equal(judge(fl_span_of(text)).status, FL_E_BAD_JSON);
        snprintf(text, sizeof text, "{\"a\":%s}", bad[i]);
        assert_int_equal(judge(fl_span_of(text)).status, FL_E_BAD_JSON);
        assert_int_equal(judge(fl_span_of(bad[i])).status, FL_E_BAD_JSON);
    }
}

/* A NUL is a byte like any other, and never white space. */
static void test_json_scan_is_not_ended_by_a_nul(void **state)
{
    (void)state;
    assert_int_equal(judge(FL_SPAN("[true\0, 1, 2, 3]")).at, 5);
    assert_int_equal(judge(FL_SPAN("[null\0\0\0\0, 1]")).at, 5);
    assert_int_equal(judge(FL_SPAN("[false\0, 1, 2, 3]")).at, 6);
    assert_int_equal(judge(FL_SPAN("[12\0, 1, 2, 3]")).at, 3);
    assert_int_equal(judge(FL_SPAN("{}\0")).at, 2);
    assert_int_equal(judge(FL_SPAN("[\"\0\"]")).at, 2);
    assert_int_equal(judge(FL_SPAN("[\"\\\0\"]")).at, 3);
    assert_int_equal(judge(FL_SPAN("\0")).at, 0);
}

/* Every text cut short at every place must end too early, at its very end. */
static void test_json_scan_refuses_every_prefix(void **state)
{
    static const char text[] =
        "{\"jsonrpc\":\"2.0\",\"id\":\"\\u00e9\\n\",\"params\":{\"list\":[true,"
        "false, null ,1],\"text\":\"\xe4\xb8\xad\xe6\x96\x87 and so on\"}}";
    size_t len = sizeof text - 1;

    (void)state;
    assert_int_equal(judge((fl_span){text, len}).status, FL_OK);
    for (size_t cut = 0; cut < len; cut++) {
        verdict v = judge((fl_span){text, cut});
        assert_true(v.status == FL_E_BAD_JSON || v.status == FL_E_BAD_TEXT);
        assert_int_equal(v.at, cut);
    }
}

/* Deterministic noise: flip one byte of a good text, compare the kernels. */
static void test_json_scan_kernels_agree_on_damaged_texts(void **state)
{
    static const char text[] =
        "{\"jsonrpc\":\"2.0\",\"id\":17,\"method\":\"tools/call\",\"params\":{"
        "\"name\":\"s\\\"x\",\"arguments\":{\"q\":[1, 2.5,\"\xc3\xa9\"],\"n\":"
        "null,\"deep\":[[{}],[[]]]}}}";
    static const char bytes[] = "\"\\{}[]:, \n0-9etu\x01\x80\xe4\xff";
    char damaged[sizeof text];
    size_t accepted = 0;

    (void)state;
    for (size_t at = 0; at < sizeof text - 1; at++)
        for (size_t i = 0; i < sizeof bytes - 1; i++) {
            memcpy(damaged, text, sizeof text);
            damaged[at] = bytes[i];
            accepted +=
                judge((fl_span){damaged, sizeof text - 1}).status == FL_OK;
        }
    assert_in_range(accepted, 100, 2000); /* damage inside strings is none */
}

static fl_span nested(char *text, size_t depth, const char *open,
                      const char *shut)
{
    size_t size = strlen(open), len = 0;

    for (size_t i = 0; i < depth; i++, len += size)
        memcpy(text + len, open, size);
    if (size > 1)
        text[len++] = '1';
    for (size_t i = 0; shut != NULL && i < depth; i++)
        text[len++] = shut[0];
    return (fl_span){text, len};
}

static void require_depth(char *text, size_t depth, unsigned limit,
                          fl_status status)
{
    unsigned most =
        limit == 0 || limit > FL_JSON_MAX_DEPTH ? FL_JSON_MAX_DEPTH : limit;
    verdict v = judge_depth(nested(text, depth, "[", "]"), limit);

    assert_int_equal(v.status, status);
    assert_int_equal(v.at, status == FL_OK ? 2 * depth : most);
    v = judge_depth(nested(text, depth, "{\"a\":", "}"), limit);
    assert_int_equal(v.status, status);
    if (status != FL_OK)
        assert_int_equal(v.at, 5 * most);
}

static void test_json_scan_holds_to_the_depth_limit(void **state)
{
    char text[8192];

    (void)state;
    for (unsigned limit = 1; limit <= 130; limit += 3) {
        require_depth(text, limit, limit, FL_OK);
        require_depth(text, limit + 1, limit, FL_E_TOO_DEEP);
    }
    require_depth(text, FL_JSON_MAX_DEPTH, 0, FL_OK);
    require_depth(text, FL_JSON_MAX_DEPTH + 1, 0, FL_E_TOO_DEEP);
    require_depth(text, FL_JSON_MAX_DEPTH, 100000, FL_OK);
    require_depth(text, FL_JSON_MAX_DEPTH + 1, 100000, FL_E_TOO_DEEP);
}

/* Quickly: where the limit is, not where the text ends. */
static void test_json_scan_refuses_a_million_brackets_at_the_limit(void **state)
{
    enum { DEEP = 1000000 };
    char *text = malloc(DEEP);

    (void)state;
    assert_non_null(text);
    for (size_t depth = 10000; depth <= DEEP; depth *= 100) {
        verdict v = judge(nested(text, depth, "[", NULL));
        assert_int_equal(v.status, FL_E_TOO_DEEP);
        assert_int_equal(v.at, FL_JSON_MAX_DEPTH);
    }
    free(text);
}

static void require_span(fl_span span, const char *want)
{
    assert_int_equal(span.len, strlen(want));
    assert_memory_equal(span.ptr, want, span.len);
}

static void test_json_scan_notes_the_outermost_members(void **state)
{
    fl_json_top top;
    size_t at = 99;
    fl_span text = FL_SPAN(" {\"id\" : 1, \"a,b\":\"x:}\\\"\" ,\"\":{\"in\":[1,"
                           "{\"deep\":2}]} ,\n\"last\":[ 1, 2 ]}\n");

    (void)state;
    assert_int_equal(fl_json_scan(text, 0, &top, &at), FL_OK);
    assert_int_equal(at, text.len);
    assert_int_equal(top.type, FL_JSON_OBJECT);
    assert_int_equal(top.count, 4);
    require_span(top.value, "{\"id\" : 1, \"a,b\":\"x:}\\\"\" ,\"\":{\"in\":[1,"
                            "{\"deep\":2}]} ,\n\"last\":[ 1, 2 ]}");
    require_span(top.members[0].key, "id");
    require_span(top.members[0].value, "1");
    require_span(top.members[1].key, "a,b");
    require_span(top.members[1].value, "\"x:}\\\"\"");
    require_span(top.members[2].key, "");
    require_span(top.members[2].value, "{\"in\":[1,{\"deep\":2}]}");
    require_span(top.members[3].key, "last");
    require_span(top.members[3].value, "[ 1, 2 ]");
}

/* {"k0":0,"k1":1...} or ["k0","k1"...] */
static fl_span many(char *text, size_t n, bool object)
{
    size_t len = 0;

    text[len++] = object ? '{' : '[';
    for (size_t i = 0; i < n; i++) {
        len +=
            (size_t)snprintf(text + len, 32, "%s\"k%zu\"", i > 0 ? "," : "", i);
        if (object)
            len += (size_t)snprintf(text + len, 32, ":%zu", i);
    }
    text[len++] = object ? '}' : ']';
    return (fl_span){text, len};
}

static void test_json_scan_counts_on_past_what_it_notes(void **state)
{
    char text[4096];

    (void)state;
    for (size_t n = 0; n <= 4 * FL_JSON_MEMBERS; n++) {
        verdict v = judge(many(text, n, true));
        assert_int_equal(v.status, FL_OK);
        assert_int_equal(v.count, n);
        size_t noted = n < FL_JSON_MEMBERS ? n : FL_JSON_MEMBERS;
        for (size_t i = 0; i < noted; i++) {
            char key[32];
            snprintf(key, sizeof key, "k%zu", i);
            size_t at = (size_t)(uintptr_t)v.members[i].key.ptr;
            require_span((fl_span){text + at, v.members[i].key.len}, key);
            at = (size_t)(uintptr_t)v.members[i].value.ptr;
            require_span((fl_span){text + at, v.members[i].value.len}, key + 1);
        }
        v = judge(many(text, n, false));
        assert_int_equal(v.count, n);
        assert_int_equal(v.type, FL_JSON_ARRAY);
    }
}

static void test_json_scan_tells_the_types(void **state)
{
    static const struct {
        const char *text;
        fl_json_type type;
    } cases[] = {
        {"{}", FL_JSON_OBJECT},    {" []", FL_JSON_ARRAY},
        {"\"s\"", FL_JSON_STRING}, {"-1", FL_JSON_NUMBER},
        {"0 ", FL_JSON_NUMBER},    {"true", FL_JSON_TRUE},
        {"false", FL_JSON_FALSE},  {"null\n", FL_JSON_NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(judge(fl_span_of(cases[i].text)).type, cases[i].type);
}

static void test_json_scan_passes_duplicate_keys(void **state)
{
    (void)state;
    assert_int_equal(judge(FL_SPAN("{\"a\":1,\"a\":2}")).count, 2);
}

static void test_json_scan_refuses_a_byte_order_mark(void **state)
{
    (void)state;
    require("\xef\xbb\xbf{}", FL_E_BAD_JSON, 0);
    require("\xff\xfe", FL_E_BAD_TEXT, 0);
}

static void test_json_scan_takes_nothing_for_an_answer(void **state)
{
    fl_json_top top;

    (void)state;
    require("", FL_E_BAD_JSON, 0);
    assert_int_equal(fl_json_scan((fl_span){0}, 0, &top, NULL), FL_E_BAD_JSON);
}

static void test_json_scan_kernels_are_where_they_should_be(void **state)
{
    (void)state;
    assert_ptr_equal(fl_json_kernel_at(0), &fl_json_kernel_plain);
    assert_null(fl_json_kernel_at(FL_JSON_KERNELS));
#ifdef __SSE2__
    assert_ptr_equal(fl_json_kernel_at(1), &fl_json_kernel_sse2);
    assert_ptr_not_equal(fl_json_kernel_best(), &fl_json_kernel_plain);
#endif
    if (fl_json_kernel_at(2) == NULL)
        fprintf(stderr, "SKIPPED: this processor cannot run the AVX2 kernel\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_scan_agrees_with_jsontestsuite),
        cmocka_unit_test(test_json_scan_takes_the_transform_files),
        cmocka_unit_test(test_json_scan_agrees_with_the_utf8_vectors),
        cmocka_unit_test(test_json_scan_splits_sequences_like_the_validator),
        cmocka_unit_test(test_json_scan_sees_every_lane_of_a_string),
        cmocka_unit_test(test_json_scan_knows_each_escape),
        cmocka_unit_test(test_json_scan_holds_to_the_grammar_at_every_seam),
        cmocka_unit_test(test_json_scan_takes_numbers_and_words_exactly),
        cmocka_unit_test(test_json_scan_is_not_ended_by_a_nul),
        cmocka_unit_test(test_json_scan_refuses_every_prefix),
        cmocka_unit_test(test_json_scan_kernels_agree_on_damaged_texts),
        cmocka_unit_test(test_json_scan_holds_to_the_depth_limit),
        cmocka_unit_test(
            test_json_scan_refuses_a_million_brackets_at_the_limit),
        cmocka_unit_test(test_json_scan_notes_the_outermost_members),
        cmocka_unit_test(test_json_scan_counts_on_past_what_it_notes),
        cmocka_unit_test(test_json_scan_tells_the_types),
        cmocka_unit_test(test_json_scan_passes_duplicate_keys),
        cmocka_unit_test(test_json_scan_refuses_a_byte_order_mark),
        cmocka_unit_test(test_json_scan_takes_nothing_for_an_answer),
        cmocka_unit_test(test_json_scan_kernels_are_where_they_should_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
