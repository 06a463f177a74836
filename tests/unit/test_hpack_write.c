/*
 * test_hpack_write.c - header blocks put together, and read by a peer.
 *
 * The peer is our own reader, which other tests hold against the RFC and
 * against nghttp2. After every block both tables must be the same.
 */
#include "unit/hpack_wire.h"

enum { FIELDS_MAX = 40, BLOCK_ROOM = 64 * 1024 };

typedef struct field {
    fl_span name;
    fl_span value;
    fl_hpack_how how;
} field;

typedef struct pair {
    fl_hpack_writer writer;
    fl_hpack_reader reader;
    char block[BLOCK_ROOM];
    size_t len;
} pair;

static void pair_init(pair *p)
{
    fl_hpack_writer_init(&p->writer);
    fl_hpack_reader_init(&p->reader);
}

static void pair_deinit(pair *p)
{
    fl_hpack_writer_deinit(&p->writer);
    fl_hpack_reader_deinit(&p->reader);
}

/* A setting of the peer's. */
static void pair_limit(pair *p, uint32_t limit)
{
    fl_hpack_writer_limit(&p->writer, limit);
    fl_hpack_reader_limit(&p->reader, limit);
}

static uint8_t kind_of(fl_span name)
{
    uint8_t kind;

    fl_http2_name_ok(name, &kind);
    return kind;
}

static void write_block(pair *p, const field *fields, size_t count)
{
    char *to = fl_hpack_begin(&p->writer, p->block);

    assert_in_range(to - p->block, 0, FL_HPACK_BEGIN);
    assert_int_equal(p->writer.nth, 0);
    for (size_t i = 0; i < count; i++) {
        const field *f = &fields[i];
        char *end = fl_hpack_write(&p->writer, to, kind_of(f->name), f->name,
                                   f->value, f->how);
        assert_in_range(end - to, 1,
                        FL_HPACK_FIELD + f->name.len + f->value.len);
        to = end;
    }
    p->len = (size_t)(to - p->block);
}

static void check_tables(const pair *p)
{
    const fl_hpack_table *ours = &p->writer.table, *theirs = &p->reader.table;

    assert_int_equal(ours->count, theirs->count);
    assert_int_equal(ours->size, theirs->size);
    assert_int_equal(ours->max, theirs->max);
    for (uint32_t age = 0; age < ours->count; age++) {
        const fl_hpack_entry *a = fl_hpack_table_at(ours, age);
        const fl_hpack_entry *b = fl_hpack_table_at(theirs, age);
        assert_true(fl_span_equal(a->name, b->name));
        assert_true(fl_span_equal(a->value, b->value));
        assert_int_equal(a->kind, b->kind);
    }
}

static void read_block(pair *p, const field *fields, size_t count)
{
    char *copy = hpack_copy((fl_span){p->block, p->len});
    fl_hpack_block block = {.rest = {copy, p->len}};
    const fl_hpack_entry *entry;

    for (size_t i = 0; i < count; i++) {
        assert_int_equal(fl_hpack_read(&p->reader, &block, &entry), FL_OK);
        assert_true(fl_span_equal(entry->name, fields[i].name));
        assert_true(fl_span_equal(entry->value, fields[i].value));
        assert_int_equal(entry->kind, kind_of(fields[i].name));
        fl_hpack_drop(&p->reader, entry);
    }
    assert_int_equal(fl_hpack_read(&p->reader, &block, &entry), FL_END);
    ration_raw_free(copy);
    check_tables(p);
}

/* How many bytes they took. */
static size_t say(pair *p, const field *fields, size_t count)
{
    write_block(p, fields, count);
    read_block(p, fields, count);
    return p->len;
}

static size_t say_one(pair *p, const char *name, const char *value,
                      fl_hpack_how how)
{
    return say(p, &(field){fl_span_of(name), fl_span_of(value), how}, 1);
}

static void block_is(const pair *p, const char *hex)
{
    char want[256];

    assert_true(fl_span_equal((fl_span){p->block, p->len},
                              hpack_unhex(hex, want, sizeof want)));
}

static void test_hpack_writes_what_lasts_once(void **state)
{
    static pair p;

    (void)state;
    pair_init(&p);
    say_one(&p, "x-a", "1", FL_HPACK_LASTING);
    block_is(&p, "4003782d610131");
    say_one(&p, "x-a", "1", FL_HPACK_LASTING);
    block_is(&p, "be");
    say_one(&p, "x-a", "2", FL_HPACK_LASTING);
    block_is(&p, "7e0132");
    say_one(&p, ":method", "GET", FL_HPACK_LASTING);
    block_is(&p, "82");
    say_one(&p, "content-type", "b", FL_HPACK_LASTING);
    block_is(&p, "5f0162");
    say_one(&p, "content-type", "b", FL_HPACK_LASTING);
    block_is(&p, "be");
    hpack_table_is(&p.reader.table, "45 content-type: b\n36 x-a: 2\n"
                                    "36 x-a: 1\n= 117");
    /* the name of the static table, for that stays */
    say_one(&p, "content-type", "c", FL_HPACK_LASTING);
    block_is(&p, "5f0163");
    pair_deinit(&p);
}

static void test_hpack_writes_what_lasts_as_two_bytes_at_most(void **state)
{
    static pair p;
    char name[16];

    (void)state;
    pair_init(&p);
    for (int i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof name, "x%d", i);
        say_one(&p, name, "", FL_HPACK_LASTING);
    }
    assert_int_equal(p.reader.table.count, 100);
    for (int i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof name, "x%d", i);
        assert_int_equal(say_one(&p, name, "", FL_HPACK_LASTING),
                         99 - i + 62 < 127 ? 1 : 2);
    }
    pair_deinit(&p);
}

static void test_hpack_writes_what_is_fleeting_for_its_name(void **state)
{
    static pair p;
    char value[16];

    (void)state;
    pair_init(&p);
    for (int i = 0; i < 300; i++) {
        (void)snprintf(value, sizeof value, "%d", i);
        say_one(&p, "content-length", value, FL_HPACK_FLEETING);
        assert_int_equal((unsigned char)p.block[0], 0x0f);
        say_one(&p, "x-id", value, FL_HPACK_FLEETING);
        assert_int_equal(p.block[0], i == 0 ? 0x40 : 0x0f);
        say_one(&p, "mcp-session-id", value, FL_HPACK_FLEETING);
    }
    hpack_table_is(&p.reader.table, "47 mcp-session-id: 0\n37 x-id: 0\n= 84");
    pair_deinit(&p);
}

static void test_hpack_writes_secrets_into_no_table(void **state)
{
    static pair p;

    (void)state;
    pair_init(&p);
    for (int i = 0; i < 3; i++) {
        say_one(&p, "authorization", "Bearer s", FL_HPACK_SECRET);
        block_is(&p, "1f08084265617265722073");
        say_one(&p, "x-s", "t", FL_HPACK_SECRET);
        block_is(&p, "1003782d730174");
    }
    hpack_table_is(&p.reader.table, "= 0");
    /* not even as an index of what somebody else has said */
    say_one(&p, "x-s", "t", FL_HPACK_LASTING);
    say_one(&p, "x-s", "t", FL_HPACK_SECRET);
    block_is(&p, "1f2f0174");
    say_one(&p, ":method", "GET", FL_HPACK_SECRET);
    block_is(&p, "1203474554");
    hpack_table_is(&p.reader.table, "36 x-s: t\n= 36");
    pair_deinit(&p);
}

static void test_hpack_writes_what_is_too_large_into_no_table(void **state)
{
    static char long_value[FL_HPACK_TABLE];
    static pair p;
    const size_t fits = FL_HPACK_TABLE - 32 - 3;
    field f = {FL_SPAN("x-a"), {long_value, fits}, FL_HPACK_LASTING};

    (void)state;
    memset(long_value, 'v', sizeof long_value);
    pair_init(&p);
    say_one(&p, "x-b", "1", FL_HPACK_LASTING);
    f.value.len = fits + 1;
    say(&p, &f, 1);
    hpack_table_is(&p.reader.table, "36 x-b: 1\n= 36"); /* nobody had to go */
    f.value.len = fits;
    say(&p, &f, 1);
    assert_int_equal(p.reader.table.count, 1);
    assert_int_equal(p.reader.table.size, FL_HPACK_TABLE);
    assert_int_equal(say(&p, &f, 1), 1);
    pair_deinit(&p);
}

static void check_limits(const uint32_t *limits, size_t count, const char *hex)
{
    static pair p;

    pair_init(&p);
    say_one(&p, "x-a", "1", FL_HPACK_LASTING);
    for (size_t i = 0; i < count; i++)
        pair_limit(&p, limits[i]);
    say(&p, NULL, 0);
    block_is(&p, hex);
    say(&p, NULL, 0); /* once */
    block_is(&p, "");
    pair_deinit(&p);
}

#define LIMITS(hex, ...)                                                       \
    check_limits((const uint32_t[]){__VA_ARGS__},                              \
                 COUNT(((const uint32_t[]){__VA_ARGS__})), hex)

/* RFC 7541 4.2: the lowest of them and the last. */
static void test_hpack_writes_how_large_the_table_is_now(void **state)
{
    (void)state;
    LIMITS("", 4096);
    LIMITS("", 4097, UINT32_MAX);
    LIMITS("20", 0);
    LIMITS("3f45", 100);
    LIMITS("3f45", 200, 100);
    LIMITS("3f453fa901", 100, 200);
    LIMITS("203f45", 4096, 300, 0, 50, 100);
    LIMITS("203fe11f", 0, UINT32_MAX);
    LIMITS("3fe01f3fe11f", 4095, 4096);
}

static void test_hpack_writes_what_it_evicted_anew(void **state)
{
    static pair p;

    (void)state;
    pair_init(&p);
    say_one(&p, "x-a", "1", FL_HPACK_LASTING);
    pair_limit(&p, 0);
    pair_limit(&p, 4096);
    say_one(&p, "x-a", "1", FL_HPACK_LASTING);
    block_is(&p, "203fe11f4003782d610131");
    pair_limit(&p, 35);
    say_one(&p, "x-a", "1", FL_HPACK_LASTING);
    block_is(&p, "3f040003782d610131");
    pair_limit(&p, 36);
    say_one(&p, "x-a", "1", FL_HPACK_LASTING);
    block_is(&p, "3f043f054003782d610131");
    pair_deinit(&p);
}

/* Fields x0 to x39, more than there are guesses. */
static void name_many(field *fields, fl_hpack_how how)
{
    static char names[FIELDS_MAX][8];

    for (size_t i = 0; i < FIELDS_MAX; i++) {
        (void)snprintf(names[i], sizeof names[i], "x%zu", i);
        fields[i] = (field){fl_span_of(names[i]), FL_SPAN("1"), how};
    }
}

static void test_hpack_writes_more_fields_than_it_guesses(void **state)
{
    field fields[FIELDS_MAX];
    static pair p;

    (void)state;
    assert_true((int)FIELDS_MAX > (int)FL_HPACK_GUESSES);
    name_many(fields, FL_HPACK_LASTING);
    pair_init(&p);
    say(&p, fields, FIELDS_MAX);
    assert_int_equal(p.reader.table.count, FIELDS_MAX);
    for (int i = 0; i < 3; i++)
        assert_int_equal(say(&p, fields, FIELDS_MAX), FIELDS_MAX);
    pair_deinit(&p);
}

static void test_hpack_writes_fields_that_it_did_not_guess(void **state)
{
    field fields[FIELDS_MAX];
    static pair p;

    (void)state;
    name_many(fields, FL_HPACK_LASTING);
    pair_init(&p);
    say(&p, fields, FIELDS_MAX);
    for (size_t i = 0; i < FIELDS_MAX / 2; i++) { /* the other way round */
        field other = fields[i];
        fields[i] = fields[FIELDS_MAX - 1 - i];
        fields[FIELDS_MAX - 1 - i] = other;
    }
    assert_int_equal(say(&p, fields, FIELDS_MAX), FIELDS_MAX);
    for (size_t i = 1; i < FIELDS_MAX; i++) /* the first ones missing */
        assert_int_equal(say(&p, fields + i, FIELDS_MAX - i), FIELDS_MAX - i);
    for (size_t i = 0; i < FIELDS_MAX; i++) /* and with another value */
        fields[i].value = FL_SPAN("2");
    say(&p, fields, FIELDS_MAX);
    assert_int_equal(say(&p, fields, FIELDS_MAX), FIELDS_MAX);
    pair_deinit(&p);
}

static void test_hpack_guesses_survive_that_the_count_wraps(void **state)
{
    static pair p;
    char value[16];

    (void)state;
    pair_init(&p);
    p.writer.table.made = UINT32_MAX - 150;
    for (int i = 0; i < 300; i++) {
        (void)snprintf(value, sizeof value, "%d", i);
        const field fields[] = {
            {FL_SPAN("x-a"), fl_span_of(value), FL_HPACK_LASTING},
            {FL_SPAN("x-b"), fl_span_of(value), FL_HPACK_FLEETING},
            {FL_SPAN("x-c"), FL_SPAN("1"), FL_HPACK_LASTING},
        };
        say(&p, fields, COUNT(fields));
        say(&p, fields, COUNT(fields));
    }
    pair_deinit(&p);
}

static void test_hpack_writes_without_memory(void **state)
{
    field fields[FIELDS_MAX];
    static pair p;

    (void)state;
    name_many(fields, FL_HPACK_LASTING);
    pair_init(&p);
    ration_allow(0);
    write_block(&p, fields, FIELDS_MAX);
    assert_true(ration_refused());
    ration_reset();
    read_block(&p, fields, FIELDS_MAX);
    hpack_table_is(&p.reader.table, "= 0");
    say(&p, fields, FIELDS_MAX);
    assert_int_equal(say(&p, fields, FIELDS_MAX), FIELDS_MAX);
    pair_deinit(&p);
}

/* Refuses the n-th allocation of the writer; false: there are fewer. */
static bool write_rationed(size_t n)
{
    field fields[FIELDS_MAX];
    static pair p;
    bool refused = false;

    name_many(fields, FL_HPACK_LASTING);
    fields[3].how = FL_HPACK_FLEETING;
    fields[4].how = FL_HPACK_SECRET;
    pair_init(&p);
    ration_fail_at(n);
    write_block(&p, fields, FIELDS_MAX);
    refused = ration_refused();
    ration_reset();
    read_block(&p, fields, FIELDS_MAX);
    assert_int_equal(p.reader.table.count, FIELDS_MAX - (refused ? 2 : 1));
    say(&p, fields, FIELDS_MAX);
    assert_int_equal(p.reader.table.count, FIELDS_MAX - 1);
    pair_deinit(&p);
    return refused;
}

static void test_hpack_writer_survives_every_refused_allocation(void **state)
{
    ptrdiff_t before = ration_live_blocks();
    size_t n = 1;

    (void)state;
    while (write_rationed(n)) {
        assert_int_equal(ration_live_blocks(), before);
        n++;
    }
    assert_int_equal(ration_live_blocks(), before);
    /* entries of all but the secret, three rings, and the last run */
    assert_int_equal(n, FIELDS_MAX - 1 + 3 + 1);
}

/* Few enough names and values that some come again, and a value now and then
 * that is as large as a table, or no text at all. */
static field draw_field(uint64_t *seed)
{
    static const char *const names[] = {
        ":method",
        ":path",
        ":status",
        ":nobody",
        "",
        "x",
        "accept",
        "age",
        "vary",
        "x-one",
        "x-two",
        "x-request-id",
        "mcp-name",
        "te",
        "via",
        "set-cookie",
        "content-length",
        "abc",
        "abcdefg",
        "abcdefgh",
        "connection",
        "cookie",
        "x-sixteen-bytes1",
        "x-seventeen-bytes",
    };
    static char text[5000];
    static const unsigned lengths[] = {0, 1, 3, 10, 30, 127, 128, 300, 4100};
    static const unsigned odds[] = {1, 4, 4, 4, 4, 1, 1, 1, 1};
    unsigned pick = hpack_draw(seed) % 21, nth = 0;

    for (size_t i = 0; i < sizeof text && text[i] == '\0'; i++)
        text[i] = (char)(i % 251 + 1);
    while (pick >= odds[nth])
        pick -= odds[nth++];
    return (field){
        .name = fl_span_of(names[hpack_draw(seed) % COUNT(names)]),
        .value = {text + hpack_draw(seed) % 8, lengths[nth]},
        .how = (fl_hpack_how)(hpack_draw(seed) % 3),
    };
}

static void draw_limits(pair *p, uint64_t *seed)
{
    static const uint32_t limits[] = {0,   31,   32,   33,   64,        100,
                                      500, 4095, 4096, 4097, UINT32_MAX};

    while (hpack_draw(seed) % 8 == 0)
        pair_limit(p, limits[hpack_draw(seed) % COUNT(limits)]);
}

/* No value in the table is one that has only been said as a secret. */
static void check_secrets(const pair *p, fl_span secret)
{
    const fl_hpack_table *table = &p->reader.table;

    for (uint32_t age = 0; age < table->count; age++)
        assert_false(
            fl_span_equal(fl_hpack_table_at(table, age)->value, secret));
}

static void test_hpack_is_read_as_it_was_written(void **state)
{
    field fields[FIELDS_MAX];
    uint64_t seed = 7541;
    static pair p;

    (void)state;
    pair_init(&p);
    for (int run = 0; run < 20000; run++) {
        size_t count = hpack_draw(&seed) % (run % 10 == 0 ? FIELDS_MAX : 8);
        draw_limits(&p, &seed);
        for (size_t i = 0; i < count; i++) {
            fields[i] = draw_field(&seed);
            if (fields[i].how == FL_HPACK_SECRET)
                fields[i].value = FL_SPAN("hush");
        }
        say(&p, fields, count);
        check_secrets(&p, FL_SPAN("hush"));
    }
    pair_deinit(&p);
}

/* Heads are much alike: fields go missing, change places and values. */
static void test_hpack_is_read_as_it_was_written_again(void **state)
{
    field fields[FIELDS_MAX];
    uint64_t seed = 9113;
    static pair p;

    (void)state;
    pair_init(&p);
    for (size_t i = 0; i < FIELDS_MAX; i++)
        fields[i] = draw_field(&seed);
    for (int run = 0; run < 5000; run++) {
        size_t from = hpack_draw(&seed) % 4, to = 5 + hpack_draw(&seed) % 20;
        size_t a = hpack_draw(&seed) % 20, b = hpack_draw(&seed) % 20;
        field other = fields[a];
        fields[a] = fields[b];
        fields[b] = other;
        if (run % 3 == 0)
            fields[hpack_draw(&seed) % 20] = draw_field(&seed);
        if (run % 50 == 0)
            draw_limits(&p, &seed);
        say(&p, fields + from, to - from);
    }
    pair_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hpack_writes_what_lasts_once),
        cmocka_unit_test(test_hpack_writes_what_lasts_as_two_bytes_at_most),
        cmocka_unit_test(test_hpack_writes_what_is_fleeting_for_its_name),
        cmocka_unit_test(test_hpack_writes_secrets_into_no_table),
        cmocka_unit_test(test_hpack_writes_what_is_too_large_into_no_table),
        cmocka_unit_test(test_hpack_writes_how_large_the_table_is_now),
        cmocka_unit_test(test_hpack_writes_what_it_evicted_anew),
        cmocka_unit_test(test_hpack_writes_more_fields_than_it_guesses),
        cmocka_unit_test(test_hpack_writes_fields_that_it_did_not_guess),
        cmocka_unit_test(test_hpack_guesses_survive_that_the_count_wraps),
        cmocka_unit_test(test_hpack_writes_without_memory),
        cmocka_unit_test(test_hpack_writer_survives_every_refused_allocation),
        cmocka_unit_test(test_hpack_is_read_as_it_was_written),
        cmocka_unit_test(test_hpack_is_read_as_it_was_written_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
