/*
 * test_ws_pack.c - what two sides agree on, and messages packed by it.
 *
 * The examples of RFC 7692 are bytes here; the rest goes through zlib, used
 * as a peer would use it.
 */
#include "wire/ws_pack.h"

#include "unit/ws_wire.h"

#include <zlib.h>

enum { MIB = 1024 * 1024 };

static const fl_ws_policy by_default = {0}, with_takeover = {.takeover = true},
                          off = {.off = true};

static const fl_ws_agreed plain = {.on = true, .our_bits = 15, .peer_bits = 15};
static const fl_ws_agreed kept = {.on = true,
                                  .our_takeover = true,
                                  .peer_takeover = true,
                                  .our_bits = 15,
                                  .peer_bits = 15};

static fl_ws_packs *packs;

static int make_packs(void **state)
{
    (void)state;
    packs = fl_ws_packs_new();
    return packs != NULL ? 0 : -1;
}

static int free_packs(void **state)
{
    (void)state;
    fl_ws_packs_free(packs);
    return 0;
}

/* Offer, policy and what is answered ("" for nothing); then takeovers and
 * windows, ours first. */
typedef struct deal {
    const fl_ws_policy *policy;
    const char *offer, *answer;
    fl_ws_agreed agreed;
} deal;

#define BOTH "; server_no_context_takeover; client_no_context_takeover"
#define PMD "permessage-deflate"

static const deal deals[] = {
    {&by_default, "", "", {0}},
    {&by_default, PMD, PMD BOTH, {true, false, false, 15, 15}},
    {&off, PMD, "", {0}},
    {&with_takeover, PMD, PMD, {true, true, true, 15, 15}},
    {&with_takeover,
     PMD "; server_no_context_takeover",
     PMD "; server_no_context_takeover",
     {true, false, true, 15, 15}},
    {&with_takeover,
     PMD "; client_no_context_takeover",
     PMD "; client_no_context_takeover",
     {true, true, false, 15, 15}},
    {&by_default,
     "Permessage-Deflate ;\tCLIENT_no_context_takeover",
     PMD BOTH,
     {true, false, false, 15, 15}},
    {&by_default,
     PMD "; client_max_window_bits",
     PMD BOTH,
     {true, false, false, 15, 15}},
    {&by_default,
     PMD "; client_max_window_bits=10",
     PMD BOTH "; client_max_window_bits=10",
     {true, false, false, 15, 10}},
    {&by_default,
     PMD "; client_max_window_bits=8",
     PMD BOTH "; client_max_window_bits=8",
     {true, false, false, 15, 9}},
    {&by_default,
     PMD "; server_max_window_bits=9",
     PMD BOTH "; server_max_window_bits=9",
     {true, false, false, 9, 15}},
    {&by_default,
     PMD "; server_max_window_bits=15",
     PMD BOTH "; server_max_window_bits=15",
     {true, false, false, 15, 15}},
    {&by_default,
     PMD "; server_max_window_bits=\"1\\0\"; client_max_window_bits = \"12\"",
     PMD BOTH "; server_max_window_bits=10; client_max_window_bits=12",
     {true, false, false, 10, 12}},
    /* zlib cannot: the offer is passed over, and the next one looked at */
    {&by_default, PMD "; server_max_window_bits=8", "", {0}},
    {&by_default,
     PMD "; server_max_window_bits=8, " PMD,
     PMD BOTH,
     {true, false, false, 15, 15}},
    {&by_default,
     "x-webkit-deflate-frame, foo; a=\"b,c\", " PMD,
     PMD BOTH,
     {true, false, false, 15, 15}},
    {&with_takeover,
     PMD "; server_max_window_bits=10, " PMD,
     PMD "; server_max_window_bits=10",
     {true, true, true, 10, 15}},
};

/* Each of these is no offer, and the one after it is. */
static const char *const no_offers[] = {
    "permessage-deflat",
    "permessage-deflate2",
    "permessage-deflate x",
    "\"permessage-deflate\"",
    PMD "=1",
    PMD ";",
    PMD "; ;client_no_context_takeover",
    PMD "; unknown",
    PMD "; unknown=1",
    PMD "; server_no_context_takeover; server_no_context_takeover",
    PMD "; client_no_context_takeover; client_no_context_takeover",
    PMD "; server_no_context_takeover=1",
    PMD "; client_no_context_takeover=\"\"",
    PMD "; server_max_window_bits",
    PMD "; server_max_window_bits=",
    PMD "; server_max_window_bits=7",
    PMD "; server_max_window_bits=16",
    PMD "; server_max_window_bits=09",
    PMD "; server_max_window_bits=010",
    PMD "; server_max_window_bits=+9",
    PMD "; server_max_window_bits=9x",
    PMD "; server_max_window_bits=100",
    PMD "; server_max_window_bits=\"\"",
    PMD "; server_max_window_bits=\"100\"",
    PMD "; server_max_window_bits=\"9\"\"9\"",
    PMD "; server_max_window_bits=10; server_max_window_bits=10",
    PMD "; client_max_window_bits; client_max_window_bits",
    PMD "; client_max_window_bits=0",
    PMD "; client_max_window_bits=7",
    PMD "; client_max_window_bits=16",
    PMD "; client_max_window_bits=\"1 0\"",
    PMD "; client_max_window_bits 10",
    PMD "; client_max_window_bits==10",
};

static void same_deal(const char *offer, const fl_ws_agreed *got,
                      const fl_ws_agreed *want)
{
    if (got->on != want->on || got->our_takeover != want->our_takeover ||
        got->peer_takeover != want->peer_takeover ||
        got->our_bits != want->our_bits || got->peer_bits != want->peer_bits)
        fail_msg("%s: %d, %d %d, %d %d", offer, got->on, got->our_takeover,
                 got->peer_takeover, got->our_bits, got->peer_bits);
}

static void agree(const deal *d)
{
    fl_ws_agreed got;
    fl_buf answer;

    fl_buf_init(&answer, 1000);
    assert_int_equal(
        fl_ws_agree(fl_span_of(d->offer), d->policy, &got, &answer), FL_OK);
    if (!fl_span_equal(fl_buf_view(&answer), fl_span_of(d->answer)))
        fail_msg("%s: answered %.*s", d->offer, (int)fl_buf_len(&answer),
                 fl_buf_view(&answer).ptr);
    same_deal(d->offer, &got, &d->agreed);
    fl_buf_reset(&answer);
}

static void test_ws_server_takes_the_first_offer_that_can_be_had(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(deals); i++)
        agree(&deals[i]);
}

static void test_ws_server_passes_over_what_is_no_offer(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(no_offers); i++) {
        char offer[300];
        agree(&(deal){&by_default, no_offers[i], "", {0}});
        snprintf(offer, sizeof offer,
                 "%s, " PMD "; server_max_window_bits=11, " PMD, no_offers[i]);
        agree(&(deal){&by_default,
                      offer,
                      PMD BOTH "; server_max_window_bits=11",
                      {true, false, false, 11, 15}});
    }
    agree(&(deal){&by_default, PMD "; server_max_window_bits=\"10", "", {0}});
    agree(&(deal){&by_default, PMD "; server_max_window_bits=\"10\\", "", {0}});
}

static void agree_starved(void *user)
{
    fl_ws_agreed got;
    fl_buf answer;

    (void)user;
    fl_buf_init(&answer, 1000);
    fl_status rc = fl_ws_agree(FL_SPAN(PMD), &by_default, &got, &answer);
    assert_int_equal(rc, ration_refused() ? FL_E_NOMEM : FL_OK);
    assert_int_equal(got.on, rc == FL_OK);
    assert_int_equal(fl_buf_len(&answer) > 0, rc == FL_OK);
    fl_buf_reset(&answer);
}

static void test_ws_server_agrees_on_nothing_without_memory(void **state)
{
    fl_ws_agreed got;
    fl_buf small;

    (void)state;
    assert_int_equal(ration_each(agree_starved, NULL), 2);
    fl_buf_init(&small, 80); /* enough for the start of the answer */
    assert_int_equal(fl_ws_agree(FL_SPAN(PMD "; server_max_window_bits=9"),
                                 &by_default, &got, &small),
                     FL_E_TOO_BIG);
    assert_false(got.on);
    assert_int_equal(fl_buf_len(&small), 0);
    fl_buf_reset(&small);
}

static void test_ws_client_offers_what_its_policy_says(void **state)
{
    (void)state;
    assert_true(fl_span_equal(fl_ws_offer(&off), FL_SPAN("")));
    assert_true(fl_span_equal(fl_ws_offer(&with_takeover),
                              FL_SPAN(PMD "; client_max_window_bits")));
    assert_true(fl_span_equal(fl_ws_offer(&by_default),
                              FL_SPAN(PMD "; client_no_context_takeover"
                                          "; server_no_context_takeover"
                                          "; client_max_window_bits")));
}

static void test_ws_client_settles_what_it_offered(void **state)
{
    static const deal good[] = {
        {&by_default, "", NULL, {0}},
        {&off, "", NULL, {0}},
        {&by_default,
         PMD "; server_no_context_takeover",
         NULL,
         {true, false, false, 15, 15}},
        {&by_default, PMD BOTH, NULL, {true, false, false, 15, 15}},
        {&by_default,
         PMD BOTH "; server_max_window_bits=\"10\"",
         NULL,
         {true, false, false, 15, 10}},
        {&by_default,
         PMD BOTH "; server_max_window_bits=8",
         NULL,
         {true, false, false, 15, 9}},
        {&with_takeover, PMD, NULL, {true, true, true, 15, 15}},
        {&with_takeover, PMD BOTH, NULL, {true, false, false, 15, 15}},
        {&with_takeover,
         PMD "; client_no_context_takeover",
         NULL,
         {true, false, true, 15, 15}},
        {&with_takeover,
         PMD "; client_max_window_bits=9",
         NULL,
         {true, true, true, 9, 15}},
        {&by_default,
         PMD BOTH "; client_max_window_bits=15",
         NULL,
         {true, false, false, 15, 15}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        fl_ws_agreed got;
        const char *what;
        assert_int_equal(fl_ws_settle(fl_span_of(good[i].offer), good[i].policy,
                                      &got, &what),
                         FL_OK);
        assert_null(what);
        same_deal(good[i].offer, &got, &good[i].agreed);
    }
}

static void refuse_answer(const fl_ws_policy *policy, const char *answer,
                          const char *why)
{
    fl_ws_agreed got;
    const char *what;

    assert_int_equal(fl_ws_settle(fl_span_of(answer), policy, &got, &what),
                     FL_E_BAD_MESSAGE);
    if (what == NULL || strstr(what, why) == NULL)
        fail_msg("%s: %s", answer, what);
    assert_false(got.on);
}

static void test_ws_client_refuses_what_it_did_not_offer(void **state)
{
    (void)state;
    refuse_answer(&off, PMD BOTH, "not offered");
    refuse_answer(&by_default, "foo", "not offered");
    refuse_answer(&by_default, "foo, " PMD BOTH, "not offered");
    refuse_answer(&by_default, PMD BOTH ", foo", "more than one");
    refuse_answer(&by_default, PMD BOTH ", " PMD BOTH, "more than one");
    refuse_answer(&by_default, PMD, "forget its context");
    refuse_answer(&by_default, PMD "; client_no_context_takeover",
                  "forget its context");
    refuse_answer(&by_default, PMD BOTH "; client_max_window_bits=8", "8 bits");
    refuse_answer(&with_takeover, PMD "; client_max_window_bits",
                  "wrong value");
    for (size_t i = 4; i < COUNT(no_offers); i++) {
        const char *what;
        fl_ws_agreed got;
        assert_int_equal(
            fl_ws_settle(fl_span_of(no_offers[i]), &with_takeover, &got, &what),
            FL_E_BAD_MESSAGE);
    }
}

static void unpacks_to(fl_ws_unpack *own, fl_span packed, fl_span want)
{
    fl_buf out;

    fl_buf_init(&out, MIB);
    assert_int_equal(fl_ws_unpack_message(packs, own, packed, MIB, &out),
                     FL_OK);
    assert_int_equal(fl_buf_len(&out), want.len);
    assert_memory_equal(fl_buf_view(&out).ptr, want.ptr, want.len);
    fl_buf_reset(&out);
}

/* RFC 7692 7.2.3.1 to 7.2.3.6, in this order. */
static void test_ws_unpacks_the_examples_of_the_rfc(void **state)
{
    static const fl_span hello[] = {
        {"\xf2\x48\xcd\xc9\xc9\x07\x00", 7},
        {"\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00", 11},
        {"\xf3\x48\xcd\xc9\xc9\x07\x00\x00", 8},
        {"\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00", 13},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(hello); i++)
        unpacks_to(NULL, hello[i], FL_SPAN("Hello"));
    unpacks_to(NULL, FL_SPAN("\x00"), FL_SPAN(""));
    unpacks_to(NULL, FL_SPAN(""), FL_SPAN(""));
}

static void test_ws_a_kept_context_is_referred_to(void **state)
{
    /* 7.2.3.2: the second Hello is a reference to the first */
    fl_ws_unpack *own;
    fl_buf out;

    (void)state;
    assert_int_equal(fl_ws_unpack_new(&kept, &own), FL_OK);
    assert_non_null(own);
    unpacks_to(own, FL_SPAN("\xf2\x48\xcd\xc9\xc9\x07\x00"), FL_SPAN("Hello"));
    unpacks_to(own, FL_SPAN("\xf2\x00\x11\x00\x00"), FL_SPAN("Hello"));
    unpacks_to(own, FL_SPAN("\x00"), FL_SPAN(""));
    unpacks_to(own, FL_SPAN(""), FL_SPAN(""));
    unpacks_to(own, FL_SPAN("\xf2\x00\x11\x00\x00"), FL_SPAN("Hello"));
    assert_in_range(fl_ws_unpack_memory(own), 32 * 1024, 64 * 1024);
    fl_ws_unpack_free(own);

    /* without a context the reference is to nothing */
    unpacks_to(NULL, FL_SPAN("\xf2\x48\xcd\xc9\xc9\x07\x00"), FL_SPAN("Hello"));
    fl_buf_init(&out, MIB);
    assert_int_equal(fl_ws_unpack_message(packs, NULL,
                                          FL_SPAN("\xf2\x00\x11\x00\x00"), MIB,
                                          &out),
                     FL_E_BAD_MESSAGE);
    unpacks_to(NULL, FL_SPAN("\xf2\x48\xcd\xc9\xc9\x07\x00"), FL_SPAN("Hello"));
    fl_buf_reset(&out);
}

static void test_ws_contexts_are_made_where_they_are_kept(void **state)
{
    fl_ws_pack *pack;
    fl_ws_unpack *unpack;

    (void)state;
    assert_int_equal(fl_ws_pack_new(&plain, &pack), FL_OK);
    assert_null(pack);
    assert_int_equal(fl_ws_unpack_new(&plain, &unpack), FL_OK);
    assert_null(unpack);
    assert_int_equal(fl_ws_pack_memory(NULL), 0);
    assert_int_equal(fl_ws_unpack_memory(NULL), 0);
    fl_ws_pack_free(NULL);
    fl_ws_unpack_free(NULL);
    fl_ws_packs_free(NULL);
    assert_int_equal(fl_ws_pack_new(&kept, &pack), FL_OK);
    assert_in_range(fl_ws_pack_memory(pack), 200 * 1024, 300 * 1024);
    fl_ws_pack_free(pack);
    fl_ws_agreed small = kept;
    small.our_bits = 9;
    assert_int_equal(fl_ws_pack_new(&small, &pack), FL_OK);
    assert_in_range(fl_ws_pack_memory(pack), 1, 16 * 1024);
    fl_ws_pack_free(pack);
}

static void refuse_packed(fl_span packed)
{
    fl_buf out;

    fl_buf_init(&out, MIB);
    assert_int_equal(fl_buf_append(&out, FL_SPAN("before")), FL_OK);
    assert_int_equal(fl_ws_unpack_message(packs, NULL, packed, MIB, &out),
                     FL_E_BAD_MESSAGE);
    assert_true(fl_span_equal(fl_buf_view(&out), FL_SPAN("before")));
    fl_buf_reset(&out);
}

static void test_ws_what_is_cut_or_broken_is_refused(void **state)
{
    fl_span hello = FL_SPAN("\xf2\x48\xcd\xc9\xc9\x07\x00");

    (void)state;
    for (size_t len = 1; len < hello.len; len++)
        refuse_packed((fl_span){hello.ptr, len});
    refuse_packed(FL_SPAN("\x07")); /* a block of type 3 */
    refuse_packed(FL_SPAN("\xff\xff\xff\xff"));
    refuse_packed(FL_SPAN("\x00\x00\x00\x00\x00")); /* length and complement */
    /* the end left in place, which is 00 00 FF FF twice */
    refuse_packed(FL_SPAN("\xf2\x48\xcd\xc9\xc9\x07\x00\x00\x00\xff\xff"));
    /* a last block, and no empty one behind it */
    refuse_packed(FL_SPAN("\xf3\x48\xcd\xc9\xc9\x07\x00"));
}

static void test_ws_a_last_block_may_be_in_a_message(void **state)
{
    (void)state;
    /* the empty block at the end is the last one itself */
    unpacks_to(NULL,
               FL_SPAN("\xf2\x48\xcd\xc9\xc9\x07\x00\x00\x00\xff\xff"
                       "\x01"),
               FL_SPAN("Hello"));
    /* two streams in one message */
    unpacks_to(NULL,
               FL_SPAN("\xf3\x48\xcd\xc9\xc9\x07\x00"
                       "\xf3\x48\xcd\xc9\xc9\x07\x00\x00"),
               FL_SPAN("HelloHello"));
}

/* What was said before a last block may be referred to after it. */
static void test_ws_a_last_block_leaves_the_context(void **state)
{
    fl_ws_unpack *own;

    (void)state;
    assert_int_equal(fl_ws_unpack_new(&kept, &own), FL_OK);
    unpacks_to(own, FL_SPAN("\xf3\x48\xcd\xc9\xc9\x07\x00\x00"),
               FL_SPAN("Hello"));
    unpacks_to(own, FL_SPAN("\xf2\x00\x11\x00\x00"), FL_SPAN("Hello"));
    fl_ws_unpack_free(own);
}

/* Text that packs, but not to nothing. */
static char *make_text(size_t size, unsigned seed)
{
    char *text = malloc(size > 0 ? size : 1);

    assert_non_null(text);
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1103515245u + 12345u;
        text[i] = (char)('a' + (seed >> 16) % (i % 64 < 32 ? 26 : 2));
    }
    return text;
}

static void there_and_back(fl_ws_pack *pack, fl_ws_unpack *unpack,
                           const fl_ws_agreed *agreed, fl_span text, size_t cut)
{
    fl_span parts[3] = {{text.ptr, cut}, {0}, {text.ptr + cut, text.len - cut}};
    fl_buf packed;

    fl_buf_init(&packed, 2 * MIB);
    assert_int_equal(fl_buf_append(&packed, FL_SPAN("head")), FL_OK);
    assert_int_equal(fl_ws_pack_message(packs, pack, agreed, parts, 3, &packed),
                     FL_OK);
    fl_span view = fl_buf_view(&packed);
    assert_true(fl_span_starts(view, FL_SPAN("head")));
    unpacks_to(unpack, fl_span_from(view, 4), text);
    fl_buf_reset(&packed);
}

static void test_ws_what_is_packed_comes_back(void **state)
{
    static const size_t sizes[] = {0,    1,    2,     100,    8191, 8192,
                                   8193, 9000, 16384, 100000, MIB};

    (void)state;
    for (unsigned bits = 9; bits <= 15; bits++) {
        fl_ws_agreed shared = plain, own = kept;
        fl_ws_pack *pack;
        fl_ws_unpack *unpack;
        shared.our_bits = own.our_bits = own.peer_bits = (uint8_t)bits;
        assert_int_equal(fl_ws_pack_new(&own, &pack), FL_OK);
        assert_int_equal(fl_ws_unpack_new(&own, &unpack), FL_OK);
        for (size_t i = 0; i < COUNT(sizes); i++) {
            char *text = make_text(sizes[i], 7);
            fl_span span = {text, sizes[i]};
            there_and_back(NULL, NULL, &shared, span, sizes[i] / 3);
            there_and_back(pack, unpack, &own, span, sizes[i] / 2);
            there_and_back(pack, unpack, &own, (fl_span){text, 0}, 0);
            there_and_back(pack, unpack, &own, (fl_span){text, 0}, 0);
            there_and_back(pack, unpack, &own, span, sizes[i]);
            free(text);
        }
        fl_ws_pack_free(pack);
        fl_ws_unpack_free(unpack);
    }
}

/* Output that fills zlib's block to the byte, and one less, and one more. */
static void test_ws_packed_messages_of_every_size_come_back(void **state)
{
    unsigned seed = 3;
    char *text = make_text(40000, 5);

    (void)state;
    for (size_t i = 0; i < 40000; i++) { /* noise does not pack */
        seed = seed * 1103515245u + 12345u;
        text[i] = (char)(seed >> 16);
    }
    for (size_t size = 8150; size < 8210; size++)
        there_and_back(NULL, NULL, &plain, (fl_span){text, size}, 0);
    for (size_t size = 16340; size < 16400; size++)
        there_and_back(NULL, NULL, &plain, (fl_span){text, size}, 100);
    free(text);
}

/* A peer that keeps to the window that was agreed on can read it. */
static void test_ws_the_window_is_kept_to(void **state)
{
    char *text = make_text(5000, 9);
    fl_ws_agreed small = plain;
    fl_span half = {text, 5000};
    fl_span parts[2] = {half, half};
    unsigned char out[10001];
    fl_buf packed;

    (void)state;
    fl_buf_init(&packed, MIB);
    small.our_bits = 9;
    assert_int_equal(fl_ws_pack_message(packs, NULL, &small, parts, 2, &packed),
                     FL_OK);
    z_stream z = {0};
    assert_int_equal(inflateInit2(&z, -9), Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)fl_buf_view(&packed).ptr;
    z.avail_in = (unsigned)fl_buf_len(&packed);
    z.next_out = out;
    z.avail_out = sizeof out;
    assert_int_equal(inflate(&z, Z_SYNC_FLUSH), Z_OK);
    assert_int_equal(z.total_out, 10000);
    assert_memory_equal(out, text, 5000);
    assert_memory_equal(out + 5000, text, 5000);
    inflateEnd(&z);
    fl_buf_reset(&packed);
    free(text);
}

static void test_ws_unpacking_stops_one_past_the_limit(void **state)
{
    static const size_t sizes[] = {1, 5, 8191, 8192, 8193, 100000};
    char *zeroes = calloc(1, 100001);
    fl_buf packed, out;

    (void)state;
    assert_non_null(zeroes);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        fl_span text = {zeroes, sizes[i]};
        fl_buf_init(&packed, MIB);
        fl_buf_init(&out, MIB);
        assert_int_equal(
            fl_ws_pack_message(packs, NULL, &plain, &text, 1, &packed), FL_OK);
        fl_span view = fl_buf_view(&packed);
        assert_int_equal(
            fl_ws_unpack_message(packs, NULL, view, sizes[i], &out), FL_OK);
        assert_int_equal(fl_buf_len(&out), sizes[i]);
        assert_int_equal(
            fl_ws_unpack_message(packs, NULL, view, sizes[i] - 1, &out),
            FL_E_TOO_BIG);
        assert_int_equal(fl_buf_len(&out), sizes[i]);
        fl_buf_reset(&packed);
        fl_buf_reset(&out);
    }
    free(zeroes);
}

static void test_ws_a_message_that_was_not_packed_is_forgotten(void **state)
{
    char *text = make_text(20000, 11);
    fl_span span = {text, 20000};
    fl_ws_pack *pack;
    fl_ws_unpack *unpack;
    fl_buf small;

    (void)state;
    fl_buf_init(&small, 300);
    assert_int_equal(fl_ws_pack_new(&kept, &pack), FL_OK);
    assert_int_equal(fl_ws_unpack_new(&kept, &unpack), FL_OK);
    assert_int_equal(fl_ws_pack_message(packs, pack, &kept, &span, 1, &small),
                     FL_E_TOO_BIG);
    assert_int_equal(fl_buf_len(&small), 0);
    /* the peer, who saw nothing of it, can read the next one */
    there_and_back(pack, unpack, &kept, span, 0);
    fl_ws_pack_free(pack);
    fl_ws_unpack_free(unpack);
    fl_buf_reset(&small);
    free(text);
}

static void starve(void *user)
{
    const fl_ws_agreed *agreed = user;
    fl_ws_packs *shared = fl_ws_packs_new();
    fl_ws_pack *pack = NULL;
    fl_ws_unpack *unpack = NULL;
    fl_span text = FL_SPAN("text, and text, and text"), view;
    fl_buf packed, out;

    fl_buf_init(&packed, MIB);
    fl_buf_init(&out, MIB);
    fl_status rc = shared != NULL ? FL_OK : FL_E_NOMEM;
    if (rc == FL_OK)
        rc = fl_ws_pack_new(agreed, &pack);
    if (rc == FL_OK)
        rc = fl_ws_unpack_new(agreed, &unpack);
    if (rc == FL_OK)
        rc = fl_ws_pack_message(shared, pack, agreed, &text, 1, &packed);
    view = fl_buf_view(&packed);
    if (rc == FL_OK)
        rc = fl_ws_unpack_message(shared, unpack, view, MIB, &out);
    assert_int_equal(rc, ration_refused() ? FL_E_NOMEM : FL_OK);
    fl_buf_reset(&packed);
    fl_buf_reset(&out);
    fl_ws_pack_free(pack);
    fl_ws_unpack_free(unpack);
    fl_ws_packs_free(shared);
}

static void test_ws_packing_without_memory_fails_alone(void **state)
{
    fl_ws_agreed agreed = plain;

    (void)state;
    assert_in_range(ration_each(starve, &agreed), 5, 30);
    agreed = kept;
    assert_in_range(ration_each(starve, &agreed), 5, 30);
}

/* Messages of a socket with compression. */
static socket_end packed_server(const fl_ws_agreed *agreed, size_t max)
{
    return (socket_end){.settings = {.max_message = max, .packs = packs},
                        .agreed = agreed};
}

#define HELLO FL_SPAN("\xf2\x48\xcd\xc9\xc9\x07\x00")

static void test_ws_reads_packed_messages_however_cut(void **state)
{
    static wire w;
    socket_end s = packed_server(&plain, 100);

    (void)state;
    w.len = 0;
    wire_frame(&w, FIN | RSV1 | FL_WS_TEXT, HELLO, true);
    wire_frame(&w, FIN | FL_WS_TEXT, FL_SPAN("plain"), true);
    wire_frame(&w, RSV1 | FL_WS_BINARY, (fl_span){HELLO.ptr, 3}, true);
    wire_frame(&w, FIN | FL_WS_PING, FL_SPAN("?"), true);
    wire_frame(&w, FL_WS_MORE, FL_SPAN(""), true);
    wire_frame(&w, FIN | FL_WS_MORE, (fl_span){HELLO.ptr + 3, 4}, true);
    wire_frame(&w, FIN | RSV1 | FL_WS_TEXT, FL_SPAN(""), true);
    wire_frame(&w, FIN | RSV1 | FL_WS_TEXT, FL_SPAN("\0"), true);
    chop(&socket_reader, &s, wire_view(&w),
         "t[Hello]t[plain]p[?]b[Hello]t[]t[]");
    s.settings.text_unchecked = true;
    chop(&socket_reader, &s, wire_view(&w),
         "t[Hello]t[plain]p[?]b[Hello]t[]t[]");
}

static void test_ws_a_client_unpacks_from_the_input(void **state)
{
    static wire w;
    socket_end s = packed_server(&kept, 100);

    (void)state;
    s.settings.client = true;
    w.len = 0;
    wire_frame(&w, FIN | RSV1 | FL_WS_TEXT, HELLO, false);
    wire_frame(&w, FIN | RSV1 | FL_WS_TEXT, FL_SPAN("\xf2\x00\x11\x00\x00"),
               false);
    chop(&socket_reader, &s, wire_view(&w), "t[Hello]t[Hello]");
}

static void pack_text(fl_span text, wire *w)
{
    fl_buf packed;

    fl_buf_init(&packed, MIB);
    assert_int_equal(fl_ws_pack_message(packs, NULL, &plain, &text, 1, &packed),
                     FL_OK);
    w->len = 0;
    wire_frame(w, FIN | RSV1 | FL_WS_TEXT, fl_buf_view(&packed), true);
    fl_buf_reset(&packed);
}

static void test_ws_unpacked_messages_keep_the_limit(void **state)
{
    static wire w;
    char text[1000], want[1010];
    socket_end s = packed_server(&plain, sizeof text);

    (void)state;
    memset(text, 'x', sizeof text);
    pack_text((fl_span){text, sizeof text}, &w);
    snprintf(want, sizeof want, "t[%.*s]", (int)sizeof text, text);
    chop(&socket_reader, &s, wire_view(&w), want);
    s.settings.max_message--;
    chop(&socket_reader, &s, wire_view(&w),
         "!1009 unpacked, a message passes the limit");
    s.settings.max_message = 5; /* packed it is longer than that */
    chop(&socket_reader, &s, wire_view(&w),
         "!1009 a message is longer than the limit");
}

static void test_ws_unpacked_text_is_checked(void **state)
{
    static wire w;
    socket_end s = packed_server(&plain, 1000);
    fl_ws_message m;

    (void)state;
    pack_text(FL_SPAN("a\xff"), &w);
    chop(&socket_reader, &s, wire_view(&w), "!1007 text is not UTF-8");
    s.settings.text_unchecked = true;
    socket_start(&s);
    fl_span in = wire_view(&w);
    assert_int_equal(fl_ws_next(&s.ws, &in, &m), FL_OK);
    assert_false(m.checked);
    fl_ws_deinit(&s.ws);
    fl_pool_deinit(&s.pool);
}

static void test_ws_packed_rubbish_is_refused(void **state)
{
    static wire w;
    socket_end s = packed_server(&plain, 1000);

    (void)state;
    w.len = 0;
    wire_frame(&w, FIN | RSV1 | FL_WS_TEXT, FL_SPAN("rubbish"), true);
    chop(&socket_reader, &s, wire_view(&w),
         "!1007 a message cannot be unpacked");
}

static void starve_socket(void *user)
{
    const wire *w = user;
    fl_ws_packs *shared = fl_ws_packs_new();
    fl_pool pool;
    fl_ws ws;

    if (shared == NULL)
        return;
    fl_ws_settings settings = {.max_message = 100000, .packs = shared};
    fl_span in = wire_view(w);
    fl_ws_message m;
    fl_pool_init(&pool);
    fl_status rc = fl_ws_init(&ws, &settings, &kept, &pool);
    while (rc == FL_OK)
        rc = fl_ws_next(&ws, &in, &m);
    assert_int_equal(rc, ration_refused() ? FL_E_NOMEM : FL_AGAIN);
    fl_ws_deinit(&ws);
    fl_pool_deinit(&pool);
    fl_ws_packs_free(shared);
}

static void test_ws_a_packing_socket_fails_alone_when_memory_does(void **state)
{
    static wire w;
    char *text = make_text(30000, 1);

    (void)state;
    pack_text((fl_span){text, 30000}, &w);
    assert_in_range(ration_each(starve_socket, &w), 6, 30);
    free(text);
}

static void test_ws_memory_counts_the_context(void **state)
{
    socket_end s = packed_server(&kept, 100);

    (void)state;
    socket_start(&s);
    assert_int_equal(fl_ws_memory(&s.ws), fl_ws_unpack_memory(s.ws.unpack));
    assert_true(fl_ws_memory(&s.ws) > 1000);
    fl_ws_deinit(&s.ws);
    fl_pool_deinit(&s.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ws_server_takes_the_first_offer_that_can_be_had),
        cmocka_unit_test(test_ws_server_passes_over_what_is_no_offer),
        cmocka_unit_test(test_ws_server_agrees_on_nothing_without_memory),
        cmocka_unit_test(test_ws_client_offers_what_its_policy_says),
        cmocka_unit_test(test_ws_client_settles_what_it_offered),
        cmocka_unit_test(test_ws_client_refuses_what_it_did_not_offer),
        cmocka_unit_test(test_ws_unpacks_the_examples_of_the_rfc),
        cmocka_unit_test(test_ws_a_kept_context_is_referred_to),
        cmocka_unit_test(test_ws_contexts_are_made_where_they_are_kept),
        cmocka_unit_test(test_ws_what_is_cut_or_broken_is_refused),
        cmocka_unit_test(test_ws_a_last_block_may_be_in_a_message),
        cmocka_unit_test(test_ws_a_last_block_leaves_the_context),
        cmocka_unit_test(test_ws_what_is_packed_comes_back),
        cmocka_unit_test(test_ws_packed_messages_of_every_size_come_back),
        cmocka_unit_test(test_ws_the_window_is_kept_to),
        cmocka_unit_test(test_ws_unpacking_stops_one_past_the_limit),
        cmocka_unit_test(test_ws_a_message_that_was_not_packed_is_forgotten),
        cmocka_unit_test(test_ws_packing_without_memory_fails_alone),
        cmocka_unit_test(test_ws_reads_packed_messages_however_cut),
        cmocka_unit_test(test_ws_a_client_unpacks_from_the_input),
        cmocka_unit_test(test_ws_unpacked_messages_keep_the_limit),
        cmocka_unit_test(test_ws_unpacked_text_is_checked),
        cmocka_unit_test(test_ws_packed_rubbish_is_refused),
        cmocka_unit_test(test_ws_a_packing_socket_fails_alone_when_memory_does),
        cmocka_unit_test(test_ws_memory_counts_the_context),
    };

    return cmocka_run_group_tests(tests, make_packs, free_packs);
}
