/*
 * test_hpack_vectors.c - the examples of RFC 7541 appendix C, with the tables
 * that they leave.
 */
#include "unit/hpack_wire.h"

typedef struct example {
    const char *hex;
    const char *fields;
    const char *table;
} example;

static void check(fl_hpack_reader *reader, const example *examples,
                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hpack_takes(reader, examples[i].hex, examples[i].fields);
        hpack_table_is(&reader->table, examples[i].table);
    }
}

static void check_alone(const example *examples, size_t count)
{
    fl_hpack_reader reader;

    fl_hpack_reader_init(&reader);
    check(&reader, examples, count);
    fl_hpack_reader_deinit(&reader);
}

/* Numbers are seen as sizes of a table, which have the five bits of the
 * examples, and as the length of a string, for that has seven and no number
 * has eight. */
static void test_hpack_reads_the_integers_of_c_1(void **state)
{
    fl_hpack_reader reader;

    (void)state;
    fl_hpack_reader_init(&reader);
    hpack_takes(&reader, "2a", "");
    assert_int_equal(reader.table.max, 10);
    hpack_takes(&reader, "3f9a0a", "");
    assert_int_equal(reader.table.max, 1337);
    hpack_takes(&reader,
                "0001612a"
                "303132333435363738393031323334353637383930"
                "313233343536373839303132333435363738393031",
                "a: 012345678901234567890123456789012345678901\n");
    fl_hpack_reader_deinit(&reader);
}

static void test_hpack_reads_the_fields_of_c_2(void **state)
{
    static const example examples[] = {
        {"400a637573746f6d2d6b65790d637573746f6d2d686561646572",
         "custom-key: custom-header\n",
         "55 custom-key: custom-header\n"
         "= 55"},
        {"040c2f73616d706c652f70617468", ":path: /sample/path\n", "= 0"},
        {"100870617373776f726406736563726574", "password: secret\n", "= 0"},
        {"82", ":method: GET\n", "= 0"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(examples); i++)
        check_alone(&examples[i], 1);
}

#define REQUEST_1                                                              \
    ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\n"
#define REQUEST_2 REQUEST_1 "cache-control: no-cache\n"
#define REQUEST_3                                                              \
    ":method: GET\n:scheme: https\n:path: /index.html\n"                       \
    ":authority: www.example.com\ncustom-key: custom-value\n"
#define REQUESTS_1 "57 :authority: www.example.com\n"
#define REQUESTS_2 "53 cache-control: no-cache\n" REQUESTS_1
#define REQUESTS_3 "54 custom-key: custom-value\n" REQUESTS_2

static void test_hpack_reads_the_requests_of_c_3(void **state)
{
    static const example examples[] = {
        {"828684410f7777772e6578616d706c652e636f6d", REQUEST_1,
         REQUESTS_1 "= 57"},
        {"828684be58086e6f2d6361636865", REQUEST_2, REQUESTS_2 "= 110"},
        {"828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
         REQUEST_3, REQUESTS_3 "= 164"},
    };

    (void)state;
    check_alone(examples, COUNT(examples));
}

static void test_hpack_reads_the_packed_requests_of_c_4(void **state)
{
    static const example examples[] = {
        {"828684418cf1e3c2e5f23a6ba0ab90f4ff", REQUEST_1, REQUESTS_1 "= 57"},
        {"828684be5886a8eb10649cbf", REQUEST_2, REQUESTS_2 "= 110"},
        {"828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf", REQUEST_3,
         REQUESTS_3 "= 164"},
    };

    (void)state;
    check_alone(examples, COUNT(examples));
}

#define DATE "date: Mon, 21 Oct 2013 20:13:21 GMT\n"
#define LATER "date: Mon, 21 Oct 2013 20:13:22 GMT\n"
#define PLACE "location: https://www.example.com\n"
#define COOKIE                                                                 \
    "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1\n"
#define RESPONSE_1 ":status: 302\ncache-control: private\n" DATE PLACE
#define RESPONSE_2 ":status: 307\ncache-control: private\n" DATE PLACE
#define RESPONSE_3                                                             \
    ":status: 200\ncache-control: private\n" LATER PLACE                       \
    "content-encoding: gzip\n" COOKIE
#define RESPONSES_1                                                            \
    "63 " PLACE "65 " DATE "52 cache-control: private\n"                       \
    "42 :status: 302\n= 222"
#define RESPONSES_2                                                            \
    "42 :status: 307\n63 " PLACE "65 " DATE "52 cache-control: private\n= 222"
#define RESPONSES_3 "98 " COOKIE "52 content-encoding: gzip\n65 " LATER "= 215"

/* The table of these has 256 bytes, so entries are evicted. */
static void check_small(const example *examples, size_t count)
{
    fl_hpack_reader reader;

    fl_hpack_reader_init(&reader);
    fl_hpack_reader_limit(&reader, 256);
    hpack_takes(&reader, "3fe101", "");
    check(&reader, examples, count);
    fl_hpack_reader_deinit(&reader);
}

static void test_hpack_reads_the_responses_of_c_5(void **state)
{
    static const example examples[] = {
        {"4803333032580770726976617465611d4d6f6e2c203231204f63742032303133"
         "2032303a31333a323120474d546e1768747470733a2f2f7777772e6578616d70"
         "6c652e636f6d",
         RESPONSE_1, RESPONSES_1},
        {"4803333037c1c0bf", RESPONSE_2, RESPONSES_2},
        {"88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d"
         "54c05a04677a69707738666f6f3d4153444a4b48514b425a584f5157454f5049"
         "5541585157454f49553b206d61782d6167653d333630303b2076657273696f6e"
         "3d31",
         RESPONSE_3, RESPONSES_3},
    };

    (void)state;
    check_small(examples, COUNT(examples));
}

static void test_hpack_reads_the_packed_responses_of_c_6(void **state)
{
    static const example examples[] = {
        {"488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a6"
         "2d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
         RESPONSE_1, RESPONSES_1},
        {"4883640effc1c0bf", RESPONSE_2, RESPONSES_2},
        {"88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab"
         "77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f"
         "9587316065c003ed4ee5b1063d5007",
         RESPONSE_3, RESPONSES_3},
    };

    (void)state;
    check_small(examples, COUNT(examples));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hpack_reads_the_integers_of_c_1),
        cmocka_unit_test(test_hpack_reads_the_fields_of_c_2),
        cmocka_unit_test(test_hpack_reads_the_requests_of_c_3),
        cmocka_unit_test(test_hpack_reads_the_packed_requests_of_c_4),
        cmocka_unit_test(test_hpack_reads_the_responses_of_c_5),
        cmocka_unit_test(test_hpack_reads_the_packed_responses_of_c_6),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
