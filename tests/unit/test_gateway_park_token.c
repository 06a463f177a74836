/*
 * test_gateway_park_token.c - a token comes back as it left, or is refused for
 * the right reason.
 */
#include "gateway/park_token.h"

#include "base/base64.h"
#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define PARAMS "{\"name\":\"t\",\"arguments\":{\"a\":1,\"b\":[2]}}"

enum { NOW = 1000000, LIFE = 600000 };

static fl_park_key key;
static fl_park_token made;
static char text[FL_PARK_TOKEN_TEXT + 1];
static fl_span token;

static fl_park_token bound_to(fl_method method, const char *params,
                              const char *principal)
{
    fl_park_token bound = {0};

    assert_int_equal(fl_park_token_bind(&key, method, fl_span_of(params),
                                        fl_span_of(principal), &bound),
                     FL_OK);
    return bound;
}

static void write_token(void)
{
    fl_buf out;

    fl_buf_init(&out, FL_PARK_TOKEN_TEXT);
    assert_int_equal(fl_park_token_write(&key, &made, &out), FL_OK);
    token = fl_buf_view(&out);
    memcpy(text, token.ptr, token.len);
    token.ptr = text;
    text[token.len] = '\0';
    fl_buf_reset(&out);
}

static int make(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof key.secret; i++)
        key.secret[i] = (unsigned char)i;
    memcpy(key.gateway, "gateway1", 8);
    key.number = 1;
    made = bound_to(FL_METHOD_TOOLS_CALL, PARAMS, "alice");
    memcpy(made.park, "0123456789abcdef", FL_PARK_ID);
    made.generation = 7;
    made.kind = FL_PARK_CALL;
    made.issued_ms = NOW;
    made.expires_ms = NOW + LIFE;
    write_token();
    return 0;
}

static fl_park_fault read_at(uint64_t now, fl_park_token *out)
{
    return fl_park_token_read(&key, token, now, out);
}

static void test_token_comes_back_as_it_left(void **state)
{
    fl_park_token read;

    (void)state;
    assert_memory_equal(text, "v1.", 3);
    assert_int_equal(read_at(NOW, &read), FL_PARK_FINE);
    assert_memory_equal(read.park, made.park, FL_PARK_ID);
    assert_int_equal(read.generation, 7);
    assert_int_equal(read.kind, FL_PARK_CALL);
    assert_int_equal(read.method, FL_METHOD_TOOLS_CALL);
    assert_int_equal(read.issued_ms, NOW);
    assert_int_equal(read.expires_ms, NOW + LIFE);
    fl_park_token bound = bound_to(FL_METHOD_TOOLS_CALL, PARAMS, "alice");
    assert_int_equal(fl_park_token_judge(&read, &bound), FL_PARK_FINE);
}

static void test_token_of_every_number_comes_back(void **state)
{
    fl_park_token read;

    (void)state;
    made.generation = UINT32_MAX;
    made.issued_ms = UINT64_MAX - 1;
    made.expires_ms = UINT64_MAX;
    made.kind = FL_PARK_POLL;
    write_token();
    assert_int_equal(read_at(NOW, &read), FL_PARK_FINE);
    assert_int_equal(read.generation, UINT32_MAX);
    assert_true(read.issued_ms == UINT64_MAX - 1);
    assert_true(read.expires_ms == UINT64_MAX);
    assert_int_equal(read.kind, FL_PARK_POLL);
}

/* Whichever field it falls in, the code does not fit any more. */
static void test_token_with_any_bit_changed_is_tampered_with(void **state)
{
    fl_park_token read;
    fl_buf whole, again;
    size_t bytes;

    (void)state;
    fl_buf_init(&whole, 256);
    fl_buf_init(&again, 512);
    assert_int_equal(fl_base64url_decode(fl_span_from(token, 3), &whole),
                     FL_OK);
    bytes = fl_buf_len(&whole);
    for (size_t i = 0; i < bytes * 8; i++) {
        char changed[256];
        memcpy(changed, fl_buf_view(&whole).ptr, bytes);
        changed[i / 8] = (char)(changed[i / 8] ^ (1 << i % 8));
        fl_buf_clear(&again);
        assert_int_equal(fl_buf_append(&again, FL_SPAN("v1.")), FL_OK);
        assert_int_equal(fl_base64url_encode((fl_span){changed, bytes}, &again),
                         FL_OK);
        assert_int_equal(
            fl_park_token_read(&key, fl_buf_view(&again), NOW, &read),
            FL_PARK_TAMPERED);
        assert_int_equal(read.generation, 0);
    }
    fl_buf_reset(&whole);
    fl_buf_reset(&again);
}

static void test_token_cut_or_extended_is_tampered_with(void **state)
{
    fl_park_token read;
    char longer[FL_PARK_TOKEN_TEXT + 8];

    (void)state;
    for (size_t len = 0; len < token.len; len++)
        assert_int_equal(
            fl_park_token_read(&key, (fl_span){text, len}, NOW, &read),
            FL_PARK_TAMPERED);
    memset(longer, 'A', sizeof longer);
    memcpy(longer, text, token.len);
    for (size_t len = token.len + 1; len <= sizeof longer; len++)
        assert_int_equal(
            fl_park_token_read(&key, (fl_span){longer, len}, NOW, &read),
            FL_PARK_TAMPERED);
}

static void test_token_that_is_none_is_tampered_with(void **state)
{
    static const char *const none[] = {"",     "v1.",    "v2.AAAA", "nonsense",
                                       "v1.=", "v1.A B", "v1.\xff"};
    fl_park_token read;

    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(
            fl_park_token_read(&key, fl_span_of(none[i]), NOW, &read),
            FL_PARK_TAMPERED);
    text[1] = '2';
    assert_int_equal(read_at(NOW, &read), FL_PARK_TAMPERED);
}

static void test_token_expires_when_it_says(void **state)
{
    fl_park_token read;

    (void)state;
    assert_int_equal(read_at(NOW + LIFE - 1, &read), FL_PARK_FINE);
    assert_int_equal(read_at(NOW + LIFE, &read), FL_PARK_EXPIRED);
    assert_int_equal(read.generation, 0);
}

static void test_token_of_another_key_is_tampered_with(void **state)
{
    fl_park_token read;

    (void)state;
    key.secret[31] ^= 1;
    assert_int_equal(read_at(NOW, &read), FL_PARK_TAMPERED);
}

static void test_token_of_another_gateway_with_our_key_is_lost(void **state)
{
    fl_park_token read;

    (void)state;
    key.gateway[7] = '2';
    assert_int_equal(read_at(NOW, &read), FL_PARK_LOST);
    key.gateway[7] = '1';
    key.number = 2;
    assert_int_equal(read_at(NOW, &read), FL_PARK_LOST);
}

static fl_park_fault judged(fl_method method, const char *params,
                            const char *principal)
{
    fl_park_token bound = bound_to(method, params, principal);

    return fl_park_token_judge(&made, &bound);
}

static void test_token_is_for_one_request_of_one_user(void **state)
{
    (void)state;
    assert_int_equal(judged(FL_METHOD_TOOLS_CALL, PARAMS, "alice"),
                     FL_PARK_FINE);
    assert_int_equal(judged(FL_METHOD_PROMPTS_GET, PARAMS, "alice"),
                     FL_PARK_MISMATCH);
    assert_int_equal(judged(FL_METHOD_TOOLS_CALL, PARAMS, "mallory"),
                     FL_PARK_MISMATCH);
    assert_int_equal(judged(FL_METHOD_TOOLS_CALL, PARAMS, ""),
                     FL_PARK_MISMATCH);
    assert_int_equal(
        judged(FL_METHOD_TOOLS_CALL,
               "{\"name\":\"u\",\"arguments\":{\"a\":1,\"b\":[2]}}", "alice"),
        FL_PARK_MISMATCH);
    assert_int_equal(
        judged(FL_METHOD_TOOLS_CALL,
               "{\"name\":\"t\",\"arguments\":{\"a\":1,\"b\":[3]}}", "alice"),
        FL_PARK_MISMATCH);
}

static void test_token_minds_neither_order_nor_what_a_retry_adds(void **state)
{
    (void)state;
    assert_int_equal(
        judged(FL_METHOD_TOOLS_CALL,
               "{\"arguments\" : {\"b\":[ 2 ],\"a\":1}, \"name\":\"t\","
               "\"_meta\":{\"progressToken\":9},\"requestState\":\"v1.x\","
               "\"inputResponses\":{\"k1\":{}}}",
               "alice"),
        FL_PARK_FINE);
}

static void test_token_keys_are_random(void **state)
{
    fl_park_key one, other;

    (void)state;
    assert_int_equal(fl_park_key_make(&one), FL_OK);
    assert_int_equal(fl_park_key_make(&other), FL_OK);
    assert_memory_not_equal(one.secret, other.secret, sizeof one.secret);
    assert_memory_not_equal(one.gateway, other.gateway, sizeof one.gateway);
}

static void test_token_faults_have_the_names_clients_read(void **state)
{
    (void)state;
    assert_string_equal(fl_park_fault_name(FL_PARK_TAMPERED), "tampered");
    assert_string_equal(fl_park_fault_name(FL_PARK_EXPIRED), "expired");
    assert_string_equal(fl_park_fault_name(FL_PARK_REPLAYED), "replayed");
    assert_string_equal(fl_park_fault_name(FL_PARK_MISMATCH), "mismatch");
    assert_string_equal(fl_park_fault_name(FL_PARK_LOST), "lost");
}

static void go_and_come(void *user)
{
    fl_park_token bound = {0}, read;
    fl_buf out;

    (void)user;
    fl_buf_init(&out, FL_PARK_TOKEN_TEXT);
    fl_status rc = fl_park_token_bind(
        &key, FL_METHOD_TOOLS_CALL, FL_SPAN(PARAMS), FL_SPAN("alice"), &bound);
    if (rc == FL_OK)
        rc = fl_park_token_write(&key, &made, &out);
    if (rc == FL_OK) {
        fl_park_fault fault =
            fl_park_token_read(&key, fl_buf_view(&out), NOW, &read);
        assert_int_equal(fault,
                         ration_refused() ? FL_PARK_FAILED : FL_PARK_FINE);
    } else {
        assert_true(ration_refused());
    }
    fl_buf_reset(&out);
}

static void test_token_lives_with_little_memory(void **state)
{
    (void)state;
    assert_true(ration_each(go_and_come, NULL) > 3);
}

#define FACT(name) cmocka_unit_test_setup(test_token_##name, make)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FACT(comes_back_as_it_left),
        FACT(of_every_number_comes_back),
        FACT(with_any_bit_changed_is_tampered_with),
        FACT(cut_or_extended_is_tampered_with),
        FACT(that_is_none_is_tampered_with),
        FACT(expires_when_it_says),
        FACT(of_another_key_is_tampered_with),
        FACT(of_another_gateway_with_our_key_is_lost),
        FACT(is_for_one_request_of_one_user),
        FACT(minds_neither_order_nor_what_a_retry_adds),
        FACT(keys_are_random),
        FACT(faults_have_the_names_clients_read),
        FACT(lives_with_little_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
