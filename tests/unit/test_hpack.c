/*
 * test_hpack.c - header blocks taken apart, right ones and wrong ones, and the
 * tables that they fill.
 */
#include "unit/hpack_wire.h"

/* One that holds "a: 1", "b: 2" and "c: 3", the last of them the newest. */
static void three_init(fl_hpack_reader *reader)
{
    fl_hpack_reader_init(reader);
    hpack_takes(reader,
                "4001610131"
                "4001620132"
                "4001630133",
                "a: 1\nb: 2\nc: 3\n");
    hpack_table_is(&reader->table, "34 c: 3\n34 b: 2\n34 a: 1\n= 102");
}

/* What is known of an entry is what the rules say of its texts. */
static void check_judgement(const fl_hpack_entry *entry)
{
    uint8_t kind;
    bool name_ok = fl_http2_name_ok(entry->name, &kind);

    if (entry->kind != kind || entry->bad_name == name_ok ||
        entry->bad_value == fl_http2_value_ok(kind, entry->value))
        fail_msg("%.*s: %.*s", (int)entry->name.len, entry->name.ptr,
                 (int)entry->value.len, entry->value.ptr);
}

static void test_hpack_static_table_is_judged_as_the_rules_do(void **state)
{
    fl_hpack_table table;

    (void)state;
    fl_hpack_table_init(&table);
    for (uint32_t i = 1; i <= FL_HPACK_STATIC; i++) {
        const fl_hpack_entry *entry = fl_hpack_lookup(&table, i);
        assert_non_null(entry);
        assert_null(entry->self);
        check_judgement(entry);
    }
    assert_null(fl_hpack_lookup(&table, 0));
    assert_null(fl_hpack_lookup(&table, FL_HPACK_STATIC + 1));
    assert_null(fl_hpack_lookup(&table, UINT32_MAX));
}

static char *put_text(char *to, const char *text)
{
    size_t len = strlen(text);

    assert_in_range(len, 0, 126);
    *to++ = (char)len;
    memcpy(to, text, len);
    return to + len;
}

/* A field that is spelled out, one that has its name from the table, and one
 * that is referred to. */
static void judge_field(const char *name, const char *value)
{
    char bytes[400], *to = bytes;
    const fl_hpack_entry *entry;
    fl_hpack_reader reader;

    *to++ = 0x40;
    to = put_text(put_text(to, name), "x");
    *to++ = 0x7e;
    to = put_text(to, value);
    *to++ = (char)0xbe;
    fl_hpack_reader_init(&reader);
    fl_hpack_block block = {.rest = {bytes, (size_t)(to - bytes)}};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fl_hpack_read(&reader, &block, &entry), FL_OK);
        assert_true(fl_span_equal(entry->name, fl_span_of(name)));
        assert_true(fl_span_equal(entry->value, fl_span_of(i ? value : "x")));
        check_judgement(entry);
        fl_hpack_drop(&reader, entry);
    }
    assert_int_equal(fl_hpack_read(&reader, &block, &entry), FL_END);
    fl_hpack_reader_deinit(&reader);
}

static void test_hpack_entries_are_judged_when_they_are_made(void **state)
{
    static const char *const names[] = {
        "",          ":",          ":path",
        ":nobody",   ":status",    ":scheme",
        ":protocol", ":authority", "content-length",
        "te",        "host",       "Host",
        "x-y",       "x y",        "connection",
        "upgrade",   "x\x80",      "mcp-name",
        "a:b",       ":method"};
    static const char *const values[] = {
        "",    "1",   "200",   "101",      "20",   "trailers", "/a b",
        "/",   "x\n", "a.b:8", "user@a.b", " a",   "a ",       "h\xc3\xa4",
        "GET", "{}",  "http",  "9http",    "\x7f", "a\tb",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        for (size_t j = 0; j < COUNT(values); j++)
            judge_field(names[i], values[j]);
}

static void test_hpack_reads_integers_of_up_to_four_more_bytes(void **state)
{
    fl_hpack_reader reader;

    (void)state;
    fl_hpack_reader_init(&reader);
    hpack_takes(&reader, "3e", "");
    assert_int_equal(reader.table.max, 30);
    hpack_takes(&reader, "3f00", "");
    assert_int_equal(reader.table.max, 31);
    hpack_takes(&reader, "3f81808000", ""); /* more of them than it needs */
    assert_int_equal(reader.table.max, 32);
    fl_hpack_reader_deinit(&reader);
}

static void test_hpack_refuses_integers_of_more(void **state)
{
    (void)state;
    hpack_new_refuses("3f8080808000", "");
    hpack_new_refuses("ff8080808000", "");
    hpack_new_refuses("000161ff8080808000", "");
    /* the largest of four: no size, no index and no length */
    hpack_new_refuses("3fffffff7f", "");
    hpack_new_refuses("ffffffff7f", "");
    hpack_new_refuses("7fffffff7f0161", "");
    hpack_new_refuses("0fffffff7f0161", "");
    hpack_new_refuses("007fffffff7f61", "");
    hpack_new_refuses("0001617fffffff7f61", "");
    hpack_new_refuses("000161ffffffff7f61", "");
    /* and those that would overflow 32 bits */
    hpack_new_refuses("3fe1ffffff0f", "");
    hpack_new_refuses("3fffffffffffffffffffff7f", "");
}

/* A block whose last byte is missing, then one more, and so on. It is good
 * where a field ends, which the bytes of `ends` tell. */
static void chop_block(const char *hex, const char *ends)
{
    static hpack_text text;
    char room[256];
    fl_span bytes = hpack_unhex(hex, room, sizeof room);

    for (size_t len = 0; len <= bytes.len; len++) {
        fl_hpack_reader reader;
        fl_hpack_reader_init(&reader);
        fl_status rc =
            hpack_read_all(&reader, (fl_span){bytes.ptr, len}, &text);
        bool whole = len == 0 || strchr(ends, (char)len) != NULL;
        if (rc != (whole ? FL_END : FL_E_INVALID))
            fail_msg("%s: %d after %zu bytes", hex, rc, len);
        fl_hpack_reader_deinit(&reader);
    }
}

static void test_hpack_refuses_blocks_that_are_cut_short(void **state)
{
    (void)state;
    chop_block("3fe11f", "\x03");
    chop_block("202082", "\x01\x02\x03");
    chop_block("8286", "\x01\x02");
    chop_block("ff8000", "");
    chop_block("400161023132", "\x06");
    chop_block("000161023132", "\x06");
    chop_block("100161023132", "\x06");
    chop_block("41023132", "\x04");
    chop_block("0f1f023132", "\x05");
    chop_block("1f1f023132", "\x05");
    chop_block("408825a849e95ba97d7f8925a849e95bb8e8b4bf", "\x14");
}

static void test_hpack_refuses_indexes_of_nothing(void **state)
{
    fl_hpack_reader reader;

    (void)state;
    hpack_new_refuses("80", "");
    hpack_new_takes("bd", "www-authenticate: \n");
    hpack_new_refuses("be", "");
    hpack_new_refuses("7e0161", "");
    hpack_new_refuses("0f2f0161", "");
    hpack_new_refuses("1f2f0161", "");
    three_init(&reader);
    hpack_takes(&reader, "bebfc0", "c: 3\nb: 2\na: 1\n");
    hpack_takes(&reader, "0f310161", "a: a\n");
    hpack_takes(&reader, "1f310161", "a: a\n");
    hpack_refuses(&reader, "c1", "");
    hpack_refuses(&reader, "bec1", "c: 3\n");
    hpack_refuses(&reader, "41016180", ":authority: a\n");
    hpack_refuses(&reader, "0f330161", "");
    hpack_refuses(&reader, "1f330161", "");
    fl_hpack_reader_deinit(&reader);
}

static void test_hpack_refuses_strings_that_end_beyond_the_block(void **state)
{
    (void)state;
    hpack_new_takes("000000", ": \n");
    hpack_new_refuses("000261", "");
    hpack_new_refuses("0001610261", "");
    hpack_new_refuses("00016182ff", "");
    hpack_new_refuses("0001617f0061", "");
}

static void test_hpack_refuses_packed_strings_that_are_none(void **state)
{
    (void)state;
    hpack_new_takes("000161811f", "a: a\n");
    hpack_new_refuses("000161811e", "");
    hpack_new_refuses("00016181ff", "");
    hpack_new_refuses("400081ff0161", "");
    hpack_new_refuses("40016184ffffffff", "");
    hpack_new_takes("00811f80", "a: \n");
    hpack_new_takes("008080", ": \n");
}

static void test_hpack_size_is_set_at_the_beginning_only(void **state)
{
    fl_hpack_reader reader;

    (void)state;
    three_init(&reader);
    hpack_takes(&reader, "3f25be", "c: 3\n"); /* 68 */
    hpack_table_is(&reader.table, "34 c: 3\n34 b: 2\n= 68");
    hpack_takes(&reader, "3f24", ""); /* 67 */
    hpack_table_is(&reader.table, "34 c: 3\n= 34");
    hpack_takes(&reader, "203fe11f4001640134", "d: 4\n");
    hpack_table_is(&reader.table, "34 d: 4\n= 34");
    hpack_refuses(&reader, "be20", "d: 4\n");
    hpack_refuses(&reader, "823fe11f", ":method: GET\n");
    /* even where it could be taken for a field */
    hpack_refuses(&reader, "822001610162", ":method: GET\n");
    fl_hpack_reader_deinit(&reader);
}

static void test_hpack_size_is_at_most_what_we_set(void **state)
{
    fl_hpack_reader reader;

    (void)state;
    hpack_new_takes("3fe11f", "");
    hpack_new_refuses("3fe21f", "");
    fl_hpack_reader_init(&reader);
    fl_hpack_reader_limit(&reader, 100);
    hpack_takes(&reader, "3f45", "");
    hpack_refuses(&reader, "3f46", "");
    hpack_refuses(&reader, "3f463f45", ""); /* not for a moment, either */
    fl_hpack_reader_deinit(&reader);
    fl_hpack_reader_init(&reader);
    fl_hpack_reader_limit(&reader, FL_HPACK_TABLE + 1);
    hpack_refuses(&reader, "3fe21f", "");
    fl_hpack_reader_deinit(&reader);
}

/* RFC 7541 4.2: when the table must shrink, the next block says so. */
static void test_hpack_size_must_follow_a_lower_limit(void **state)
{
    static const char *const without[] = {"", "82", "3f4682", "4001610131"};
    fl_hpack_reader reader;

    (void)state;
    for (size_t i = 0; i < COUNT(without); i++) {
        three_init(&reader);
        fl_hpack_reader_limit(&reader, 100);
        hpack_refuses(&reader, without[i], "");
        fl_hpack_reader_deinit(&reader);
    }
    three_init(&reader);
    fl_hpack_reader_limit(&reader, 100);
    hpack_takes(&reader, "3f4582", ":method: GET\n");
    hpack_table_is(&reader.table, "34 c: 3\n34 b: 2\n= 68");
    fl_hpack_reader_limit(&reader, 100); /* which changes nothing, */
    hpack_takes(&reader, "82", ":method: GET\n");
    fl_hpack_reader_limit(&reader, 4096); /* or takes nothing away */
    hpack_takes(&reader, "82", ":method: GET\n");
    fl_hpack_reader_limit(&reader, 0);
    hpack_takes(&reader, "204001610131", "a: 1\n");
    hpack_table_is(&reader.table, "= 0");
    fl_hpack_reader_deinit(&reader);
}

static void test_hpack_lets_the_oldest_go_first(void **state)
{
    fl_hpack_reader reader;

    (void)state;
    three_init(&reader);
    hpack_takes(&reader, "3f474001640134", "d: 4\n"); /* 102: as many fit */
    hpack_table_is(&reader.table, "34 d: 4\n34 c: 3\n34 b: 2\n= 102");
    hpack_takes(&reader, "400165023535", "e: 55\n"); /* one byte more */
    hpack_table_is(&reader.table, "35 e: 55\n34 d: 4\n= 69");
    fl_hpack_reader_deinit(&reader);
}

static void test_hpack_entry_of_the_size_of_the_table_fills_it(void **state)
{
    fl_hpack_reader reader;

    (void)state;
    three_init(&reader);
    hpack_takes(&reader, "3f47", "");
    hpack_takes(&reader,
                "40016445"
                "343434343434343434343434343434343434343434343434343434343434"
                "343434343434343434343434343434343434343434343434343434343434"
                "343434343434343434",
                "d: 44444444444444444444444444444444444"
                "4444444444444444444444444444444444\n");
    assert_int_equal(reader.table.count, 1);
    assert_int_equal(reader.table.size, 102);
    fl_hpack_reader_deinit(&reader);
}

static void test_hpack_entry_that_is_larger_empties_the_table(void **state)
{
    fl_hpack_reader reader;

    (void)state;
    three_init(&reader);
    hpack_takes(&reader, "3f04400164023434", "d: 44\n"); /* 35: fits */
    hpack_table_is(&reader.table, "35 d: 44\n= 35");
    hpack_takes(&reader, "40016403343434", "d: 444\n");
    hpack_table_is(&reader.table, "= 0");
    hpack_takes(&reader, "4001640134", "d: 4\n");
    hpack_table_is(&reader.table, "34 d: 4\n= 34");
    fl_hpack_reader_deinit(&reader);
}

/* RFC 7541 4.4: the name is that of an entry which goes to make room. */
static void test_hpack_name_may_be_that_of_an_entry_it_evicts(void **state)
{
    fl_hpack_reader reader;

    (void)state;
    three_init(&reader);
    hpack_takes(&reader, "3f477f010139", "a: 9\n");
    hpack_table_is(&reader.table, "34 a: 9\n34 c: 3\n34 b: 2\n= 102");
    hpack_takes(&reader, "3f037e0138be", "a: 8\na: 8\n");
    hpack_table_is(&reader.table, "34 a: 8\n= 34");
    hpack_takes(&reader, "7e023737", "a: 77\n"); /* too large to enter */
    hpack_table_is(&reader.table, "= 0");
    fl_hpack_reader_deinit(&reader);
}

/* Entries of 32 bytes are the smallest: 128 of them fill the largest table. */
static void test_hpack_table_holds_128_entries_of_nothing(void **state)
{
    fl_hpack_reader reader;

    (void)state;
    fl_hpack_reader_init(&reader);
    for (uint32_t i = 1; i < 300; i++) {
        hpack_takes(&reader, "400000", ": \n");
        assert_int_equal(reader.table.count, i < 128 ? i : 128);
        assert_int_equal(reader.table.size, 32 * reader.table.count);
    }
    assert_int_equal(reader.table.cap, 128);
    hpack_takes(&reader, "ff3e", ": \n"); /* 189, the last of them */
    hpack_refuses(&reader, "ff3f", "");
    fl_hpack_reader_deinit(&reader);
}

static void test_hpack_table_of_nothing_takes_no_memory(void **state)
{
    fl_hpack_reader reader;

    (void)state;
    fl_hpack_reader_init(&reader);
    fl_hpack_reader_limit(&reader, 0);
    hpack_takes(&reader, "204001610131", "a: 1\n");
    assert_int_equal(fl_hpack_reader_memory(&reader), 0);
    fl_hpack_reader_deinit(&reader);
}

static void test_hpack_table_does_not_mind_that_its_count_wraps(void **state)
{
    fl_hpack_reader reader;

    (void)state;
    fl_hpack_reader_init(&reader);
    reader.table.made = UINT32_MAX - 20;
    for (int i = 0; i < 40; i++) {
        hpack_takes(&reader, "40016101314001620132", "a: 1\nb: 2\n");
        hpack_takes(&reader, "bebf", "b: 2\na: 1\n");
    }
    assert_int_equal(reader.table.made, 59);
    fl_hpack_reader_deinit(&reader);
}

static const fl_hpack_entry *read_one(fl_hpack_reader *reader, const char *hex)
{
    const fl_hpack_entry *entry;
    char room[256];
    fl_hpack_block block = {.rest = hpack_unhex(hex, room, sizeof room)};

    assert_int_equal(fl_hpack_read(reader, &block, &entry), FL_OK);
    assert_int_equal(block.rest.len, 0);
    return entry;
}

static void test_hpack_entry_that_is_held_outlives_its_table(void **state)
{
    const fl_hpack_entry *first, *again, *fixed;
    fl_hpack_reader reader;

    (void)state;
    fl_hpack_reader_init(&reader);
    first = read_one(&reader, "400161023132");
    again = read_one(&reader, "be");
    fixed = read_one(&reader, "82");
    assert_ptr_equal(first, again);
    hpack_takes(&reader, "20", "");
    hpack_table_is(&reader.table, "= 0");
    fl_hpack_drop(&reader, first);
    fl_hpack_drop(&reader, fixed);
    hpack_takes(&reader, "3fe11f400161023334", "a: 34\n");
    assert_true(fl_span_equal(again->name, FL_SPAN("a")));
    assert_true(fl_span_equal(again->value, FL_SPAN("12")));
    fl_hpack_drop(&reader, again);
    fl_hpack_reader_deinit(&reader);
}

static void test_hpack_field_of_a_moment_allocates_once(void **state)
{
    fl_hpack_reader reader;

    (void)state;
    fl_hpack_reader_init(&reader);
    ration_reset();
    assert_int_equal(fl_hpack_reader_memory(&reader), 0);
    hpack_takes(&reader, "000161023132", "a: 12\n");
    assert_int_equal(ration_count(), 1);
    size_t memory = fl_hpack_reader_memory(&reader);
    for (int i = 0; i < 100; i++) {
        hpack_takes(&reader, "1001610231320d013982",
                    "a: 12\n:status: 9\n"
                    ":method: GET\n");
        hpack_takes(&reader, "0f0d811f", "content-length: a\n");
    }
    assert_int_equal(ration_count(), 1);
    assert_int_equal(fl_hpack_reader_memory(&reader), memory);
    fl_hpack_reader_deinit(&reader);
    assert_int_equal(fl_hpack_reader_memory(&reader), 0);
}

/* As many as a head has; more than a few are not kept. */
static void hold_many(fl_hpack_reader *reader, size_t count)
{
    const fl_hpack_entry *held[8];

    assert_in_range(count, 0, COUNT(held));
    for (size_t i = 0; i < count; i++)
        held[i] = read_one(reader, "000161023132");
    for (size_t i = 0; i < count; i++) {
        assert_true(fl_span_equal(held[i]->value, FL_SPAN("12")));
        fl_hpack_drop(reader, held[i]);
    }
}

static void test_hpack_keeps_four_spare_fields(void **state)
{
    fl_hpack_reader reader;

    (void)state;
    fl_hpack_reader_init(&reader);
    ration_reset();
    hold_many(&reader, 4);
    assert_int_equal(ration_count(), 4);
    size_t memory = fl_hpack_reader_memory(&reader);
    hold_many(&reader, 4);
    assert_int_equal(ration_count(), 4);
    hold_many(&reader, 8);
    assert_int_equal(ration_count(), 8);
    assert_int_equal(fl_hpack_reader_memory(&reader), memory);
    hold_many(&reader, 3);
    assert_int_equal(ration_count(), 8);
    fl_hpack_reader_deinit(&reader);
}

/* One of 96 bytes is a spare, one of 97 is not; what enters the table never
 * comes out of the spares. */
static void test_hpack_keeps_no_long_field(void **state)
{
    static hpack_text text;
    static const unsigned char head[] = {0x00, 0x01, 'a'};
    char block[200];
    fl_hpack_reader reader;

    (void)state;
    fl_hpack_reader_init(&reader);
    memset(block, 'x', sizeof block);
    memcpy(block, head, sizeof head);
    for (int len = 95; len <= 96; len++) {
        fl_span bytes = {block, sizeof head + 1 + (size_t)len};
        block[sizeof head] = (char)len;
        for (size_t i = 1; i <= 3; i++) {
            ration_reset();
            assert_int_equal(hpack_read_all(&reader, bytes, &text), FL_END);
            assert_int_equal(ration_count(), len == 96 || i == 1);
        }
        assert_int_equal(reader.spare_count, 1);
    }
    hpack_takes(&reader, "4001610131", "a: 1\n");
    assert_int_equal(reader.spare_count, 1);
    fl_hpack_reader_deinit(&reader);
}

/* A field that is wrong gives back what was made for it. */
static void test_hpack_field_that_is_refused_leaves_nothing(void **state)
{
    ptrdiff_t before = ration_live_blocks();

    (void)state;
    hpack_new_refuses("00016181ff", "");
    hpack_new_refuses("40016181ff", "");
    hpack_new_refuses("400081ff0161", "");
    assert_int_equal(ration_live_blocks(), before);
}

/* Enough entries for the ring to grow three times; whoever is out of memory
 * says so and stops. */
static void read_rationed(void *user)
{
    fl_hpack_reader reader;
    hpack_text text;
    fl_status rc = FL_END;

    fl_hpack_reader_init(&reader);
    for (char i = 0; i < 40 && rc == FL_END; i++) {
        /* "0: v" enters, "x: y" does not, ":authority: z" does */
        char block[] = "\x40\1?\1v\0\1x\1y\x41\1z\xbf";
        block[2] = (char)('0' + i);
        rc = hpack_read_all(&reader, (fl_span){block, sizeof block - 1}, &text);
    }
    assert_int_equal(rc, ration_refused() ? FL_E_NOMEM : FL_END);
    if (rc == FL_END)
        ++*(int *)user;
    fl_hpack_reader_deinit(&reader);
}

static void test_hpack_reader_survives_every_refused_allocation(void **state)
{
    int whole = 0;
    size_t runs = ration_each(read_rationed, &whole);

    (void)state;
    assert_int_equal(whole, 1);
    /* two entries for each block, one spare, four rings, and the last run */
    assert_int_equal(runs, 80 + 1 + 4 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hpack_static_table_is_judged_as_the_rules_do),
        cmocka_unit_test(test_hpack_entries_are_judged_when_they_are_made),
        cmocka_unit_test(test_hpack_reads_integers_of_up_to_four_more_bytes),
        cmocka_unit_test(test_hpack_refuses_integers_of_more),
        cmocka_unit_test(test_hpack_refuses_blocks_that_are_cut_short),
        cmocka_unit_test(test_hpack_refuses_indexes_of_nothing),
        cmocka_unit_test(test_hpack_refuses_strings_that_end_beyond_the_block),
        cmocka_unit_test(test_hpack_refuses_packed_strings_that_are_none),
        cmocka_unit_test(test_hpack_size_is_set_at_the_beginning_only),
        cmocka_unit_test(test_hpack_size_is_at_most_what_we_set),
        cmocka_unit_test(test_hpack_size_must_follow_a_lower_limit),
        cmocka_unit_test(test_hpack_lets_the_oldest_go_first),
        cmocka_unit_test(test_hpack_entry_of_the_size_of_the_table_fills_it),
        cmocka_unit_test(test_hpack_entry_that_is_larger_empties_the_table),
        cmocka_unit_test(test_hpack_name_may_be_that_of_an_entry_it_evicts),
        cmocka_unit_test(test_hpack_table_holds_128_entries_of_nothing),
        cmocka_unit_test(test_hpack_table_of_nothing_takes_no_memory),
        cmocka_unit_test(test_hpack_table_does_not_mind_that_its_count_wraps),
        cmocka_unit_test(test_hpack_entry_that_is_held_outlives_its_table),
        cmocka_unit_test(test_hpack_field_of_a_moment_allocates_once),
        cmocka_unit_test(test_hpack_keeps_four_spare_fields),
        cmocka_unit_test(test_hpack_keeps_no_long_field),
        cmocka_unit_test(test_hpack_field_that_is_refused_leaves_nothing),
        cmocka_unit_test(test_hpack_reader_survives_every_refused_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
