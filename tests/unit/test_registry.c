/*
 * test_registry.c - every link by name, and which one gets the message.
 *
 * The links are fakes that answer a send as they were told and count.
 */
#include "transport/registry.h"

#include "base/span.h"
#include "io/loop.h"
#include "support/ration.h"
#include "transport/transport.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct fake {
    fl_link link;
    fl_status answer;
    int sends, closes, frees;
} fake;

static fl_status fake_send(fl_link *link, void *stream, const fl_span *parts,
                           size_t count)
{
    fake *self = (fake *)link;

    (void)stream, (void)parts, (void)count;
    self->sends++;
    return self->answer;
}

static void fake_close(fl_link *link)
{
    ((fake *)link)->closes++;
}

static void fake_free(fl_link *link)
{
    ((fake *)link)->frees++;
}

static const fl_transport transport = {
    .name = "fake",
    .send = fake_send,
    .close = fake_close,
    .free = fake_free,
};

enum { FAKES = 4, MAX = 8 };

typedef struct bench {
    fl_loop *loop;
    fl_registry *registry;
    fake fakes[FAKES];
} bench;

static int set_up(void **state)
{
    bench *b = calloc(1, sizeof *b);

    b->loop = fl_loop_new();
    b->registry = fl_registry_new(MAX);
    for (int i = 0; i < FAKES; i++) {
        fl_link_init(&b->fakes[i].link, &transport, b->loop, false);
        b->fakes[i].link.state = FL_LINK_ACTIVE;
    }
    *state = b;
    return b->loop == NULL || b->registry == NULL;
}

static int tear_down(void **state)
{
    bench *b = *state;

    fl_registry_free(b->registry);
    for (int i = 0; i < FAKES; i++) {
        assert_int_equal(b->fakes[i].closes, 0);
        assert_int_equal(b->fakes[i].link.refs, 1);
    }
    fl_loop_free(b->loop);
    free(b);
    return 0;
}

static fl_status add(bench *b, const char *id, const char *kind, int number)
{
    return fl_registry_add(
        b->registry, &(fl_registry_entry){
                         .id = id,
                         .kind = kind,
                         .link = number >= 0 ? &b->fakes[number].link : NULL,
                     });
}

/* a, b, c, d: the first two "tcp", the others "stdio". */
static void add_four(bench *b)
{
    assert_int_equal(add(b, "a", "tcp", 0), FL_OK);
    assert_int_equal(add(b, "b", "tcp", 1), FL_OK);
    assert_int_equal(add(b, "c", "stdio", 2), FL_OK);
    assert_int_equal(add(b, "d", "stdio", 3), FL_OK);
}

static void set_health(bench *b, const char *id, fl_health health)
{
    assert_int_equal(fl_registry_set_health(b->registry, id, health), FL_OK);
}

/* The ids that `times` selections give, or '-'. */
static void assert_selects(bench *b, const char *kind, const char *want)
{
    for (size_t i = 0; want[i] != '\0'; i++) {
        const fl_registry_entry *got = fl_registry_select(b->registry, kind);
        assert_int_equal(got != NULL ? got->id[0] : '-', want[i]);
    }
}

static fl_status send(bench *b, const char *kind, const char **id)
{
    fl_span part = FL_SPAN("{}");

    return fl_registry_send(b->registry, kind, &part, 1, id);
}

static int count_sends(const bench *b)
{
    int n = 0;

    for (int i = 0; i < FAKES; i++)
        n += b->fakes[i].sends;
    return n;
}

static void test_registry_copies_what_it_is_told(void **state)
{
    bench *b = *state;
    char id[] = "files", kind[] = "stdio", capabilities[] = "{\"tools\":{}}";
    fl_registry_entry entry = {.id = id,
                               .kind = kind,
                               .capabilities = capabilities,
                               .link = &b->fakes[0].link,
                               .health = FL_HEALTH_OK};

    assert_int_equal(fl_registry_add(b->registry, &entry), FL_OK);
    id[0] = kind[0] = capabilities[0] = '?';

    const fl_registry_entry *found = fl_registry_find(b->registry, "files");
    assert_non_null(found);
    assert_string_equal(found->id, "files");
    assert_string_equal(found->kind, "stdio");
    assert_string_equal(found->capabilities, "{\"tools\":{}}");
    assert_ptr_equal(found->link, &b->fakes[0].link);
    assert_int_equal(found->health, FL_HEALTH_OK);
    assert_null(fl_registry_find(b->registry, "file"));
    assert_null(fl_registry_find(b->registry, NULL));
}

static void
test_registry_entry_may_have_no_link_and_no_capabilities(void **state)
{
    bench *b = *state;

    assert_int_equal(add(b, "listener", "tcp", -1), FL_OK);
    const fl_registry_entry *found = fl_registry_find(b->registry, "listener");
    assert_null(found->link);
    assert_null(found->capabilities);
    assert_int_equal(found->health, FL_HEALTH_UNKNOWN);
    assert_selects(b, NULL, "-");
}

static void test_registry_refuses_ids_that_are_not_visible_ascii(void **state)
{
    static const char *const bad[] = {"",      "a b",  " a",      "a ",
                                      "a\tb",  "a\n",  "\x7f",    "caf\xc3\xa9",
                                      "a\x01", "\xff", "\x1f\x1f"};
    bench *b = *state;

    assert_int_equal(add(b, NULL, "tcp", 0), FL_E_INVALID);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(add(b, bad[i], "tcp", 0), FL_E_INVALID);
    assert_int_equal(add(b, "!~", "tcp", 0), FL_OK); /* the first, the last */
}

static void test_registry_id_has_1_to_128_bytes(void **state)
{
    bench *b = *state;
    char id[130];

    snprintf(id, sizeof id, "%0129d", 0);
    assert_int_equal(add(b, id, "tcp", 0), FL_E_INVALID);
    id[128] = '\0';
    assert_int_equal(add(b, id, "tcp", 0), FL_OK);
    assert_string_equal(fl_registry_find(b->registry, id)->id, id);
    assert_int_equal(add(b, "1", "tcp", 0), FL_OK);
}

static void test_registry_refuses_no_kind_and_no_such_health(void **state)
{
    bench *b = *state;
    fl_registry_entry entry = {.id = "a", .kind = "x"};

    assert_int_equal(add(b, "a", NULL, 0), FL_E_INVALID);
    assert_int_equal(add(b, "a", "", 0), FL_E_INVALID);
    entry.health = (fl_health)(FL_HEALTH_DOWN + 1);
    assert_int_equal(fl_registry_add(b->registry, &entry), FL_E_INVALID);
    assert_int_equal(b->fakes[0].link.refs, 1);
    entry.health = FL_HEALTH_DOWN;
    assert_int_equal(fl_registry_add(b->registry, &entry), FL_OK);
    assert_int_equal(fl_registry_set_health(b->registry, "a",
                                            (fl_health)(FL_HEALTH_DOWN + 1)),
                     FL_E_INVALID);
    assert_int_equal(fl_registry_find(b->registry, "a")->health,
                     FL_HEALTH_DOWN);
}

static void test_registry_id_is_unique(void **state)
{
    bench *b = *state;

    assert_int_equal(add(b, "a", "tcp", 0), FL_OK);
    assert_int_equal(add(b, "a", "stdio", 1), FL_E_IN_USE);
    assert_string_equal(fl_registry_find(b->registry, "a")->kind, "tcp");
    assert_int_equal(b->fakes[1].link.refs, 1);
}

static void test_registry_holds_its_maximum_and_not_one_more(void **state)
{
    bench *b = *state;
    char id[16];

    for (int i = 0; i < MAX; i++) {
        snprintf(id, sizeof id, "%d", i);
        assert_int_equal(add(b, id, "tcp", 0), FL_OK);
    }
    assert_int_equal(b->fakes[0].link.refs, 1 + MAX);
    assert_int_equal(add(b, "more", "tcp", 0), FL_E_LIMIT);
    assert_int_equal(b->fakes[0].link.refs, 1 + MAX);
    assert_int_equal(fl_registry_remove(b->registry, "3"), FL_OK);
    assert_int_equal(b->fakes[0].link.refs, MAX);
    assert_int_equal(add(b, "more", "tcp", 0), FL_OK);
}

static void test_registry_unknown_id_is_not_found(void **state)
{
    bench *b = *state;

    assert_int_equal(fl_registry_remove(b->registry, "a"), FL_E_NOT_FOUND);
    assert_int_equal(fl_registry_remove(b->registry, NULL), FL_E_NOT_FOUND);
    assert_int_equal(fl_registry_set_health(b->registry, "a", FL_HEALTH_OK),
                     FL_E_NOT_FOUND);
    assert_int_equal(add(b, "a", "tcp", 0), FL_OK);
    assert_int_equal(fl_registry_remove(b->registry, "a"), FL_OK);
    assert_int_equal(fl_registry_remove(b->registry, "a"), FL_E_NOT_FOUND);
}

static void test_registry_lists_in_the_order_they_came(void **state)
{
    bench *b = *state;
    char seen[8] = "";
    size_t n = 0;

    assert_null(fl_registry_next(b->registry, NULL));
    add_four(b);
    assert_int_equal(fl_registry_remove(b->registry, "b"), FL_OK);
    assert_int_equal(add(b, "b", "tcp", 1), FL_OK);
    assert_selects(b, NULL, "acdb"); /* choosing does not reorder */
    assert_selects(b, "tcp", "a");
    for (const fl_registry_entry *at = NULL;
         (at = fl_registry_next(b->registry, at)) != NULL;)
        seen[n++] = at->id[0];
    assert_string_equal(seen, "acdb");
}

static void test_registry_links_take_turns(void **state)
{
    bench *b = *state;

    add_four(b);
    assert_selects(b, NULL, "abcdabcd");
    assert_selects(b, "tcp", "ababa");
    assert_selects(b, "stdio", "cdcd");
    assert_selects(b, "unix", "--");
}

static void test_registry_turns_survive_coming_and_going(void **state)
{
    bench *b = *state;

    add_four(b);
    assert_selects(b, NULL, "ab");
    assert_int_equal(fl_registry_remove(b->registry, "c"), FL_OK);
    assert_selects(b, NULL, "dabd");
    assert_int_equal(add(b, "c", "stdio", 2), FL_OK);
    assert_selects(b, NULL, "cabdc");
}

static void test_registry_selects_only_what_is_active_and_not_down(void **state)
{
    bench *b = *state;

    add_four(b);
    set_health(b, "a", FL_HEALTH_DOWN);
    set_health(b, "d", FL_HEALTH_OK);
    assert_selects(b, NULL, "bcdbcd");
    for (int s = FL_LINK_CREATED; s <= FL_LINK_CLOSED; s++) {
        b->fakes[1].link.state = (fl_link_state)s;
        assert_selects(b, "tcp", s == FL_LINK_ACTIVE ? "bb" : "--");
    }
    set_health(b, "a", FL_HEALTH_OK);
    assert_selects(b, "tcp", "aa");
}

static void test_registry_degraded_is_the_last_resort(void **state)
{
    bench *b = *state;

    add_four(b);
    set_health(b, "a", FL_HEALTH_DEGRADED);
    set_health(b, "b", FL_HEALTH_DEGRADED);
    assert_selects(b, NULL, "cdcd");
    assert_selects(b, "tcp", "abab");
    set_health(b, "b", FL_HEALTH_UNKNOWN);
    assert_selects(b, "tcp", "bb");
}

static void test_registry_send_spreads_the_load(void **state)
{
    bench *b = *state;
    const char *id;

    add_four(b);
    for (int i = 0; i < 40; i++)
        assert_int_equal(send(b, NULL, &id), FL_OK);
    assert_string_equal(id, "d");
    for (int i = 0; i < FAKES; i++)
        assert_int_equal(b->fakes[i].sends, 10);
    assert_int_equal(send(b, "stdio", NULL), FL_OK);
    assert_int_equal(b->fakes[2].sends, 11);
}

static void test_registry_send_fails_over_and_marks_down(void **state)
{
    bench *b = *state;
    const char *id;

    add_four(b);
    b->fakes[0].answer = FL_E_STATE;
    b->fakes[1].answer = FL_E_IO;
    assert_int_equal(send(b, NULL, &id), FL_OK);
    assert_string_equal(id, "c");
    assert_int_equal(count_sends(b), 3); /* nobody twice, d not at all */
    assert_int_equal(fl_registry_find(b->registry, "a")->health,
                     FL_HEALTH_DOWN);
    assert_int_equal(fl_registry_find(b->registry, "b")->health,
                     FL_HEALTH_DOWN);
    assert_selects(b, NULL, "dcd");
    assert_int_equal(send(b, "tcp", &id), FL_E_NOT_FOUND);
    assert_null(id);
}

static void test_registry_send_passes_the_busy_over(void **state)
{
    bench *b = *state;
    const char *id;

    add_four(b);
    set_health(b, "b", FL_HEALTH_DEGRADED);
    b->fakes[0].answer = FL_BUSY;
    assert_int_equal(send(b, "tcp", &id), FL_OK); /* sooner than nobody */
    assert_string_equal(id, "b");
    assert_int_equal(fl_registry_find(b->registry, "a")->health,
                     FL_HEALTH_UNKNOWN);
    b->fakes[1].answer = FL_BUSY;
    assert_int_equal(send(b, "tcp", &id), FL_BUSY);
    assert_null(id);
    b->fakes[0].answer = FL_OK;
    assert_int_equal(send(b, "tcp", &id), FL_OK);
    assert_string_equal(id, "a");
}

static void test_registry_busy_outweighs_failed(void **state)
{
    bench *b = *state;

    add_four(b);
    b->fakes[0].answer = FL_BUSY;
    b->fakes[1].answer = FL_E_IO;
    assert_int_equal(send(b, "tcp", NULL), FL_BUSY);
    b->fakes[2].answer = FL_BUSY;
    b->fakes[3].answer = FL_E_TOO_BIG;
    assert_int_equal(send(b, "stdio", NULL), FL_BUSY);
    b->fakes[2].answer = FL_E_TOO_BIG;
    b->fakes[3].answer = FL_BUSY;
    assert_int_equal(send(b, "stdio", NULL), FL_BUSY);
}

static void test_registry_oversized_message_takes_nobody_down(void **state)
{
    bench *b = *state;
    const char *id;

    add_four(b);
    b->fakes[0].answer = FL_E_TOO_BIG;
    b->fakes[1].answer = FL_E_TOO_BIG;
    assert_int_equal(send(b, "tcp", &id), FL_E_TOO_BIG);
    assert_null(id);
    assert_int_equal(count_sends(b), 2);
    b->fakes[0].answer = FL_E_NOMEM;
    b->fakes[1].answer = FL_OK; /* its limit is higher */
    assert_int_equal(send(b, "tcp", &id), FL_OK);
    assert_string_equal(id, "b");
    assert_selects(b, "tcp", "ab");
}

static void test_registry_send_without_entries_is_not_found(void **state)
{
    bench *b = *state;
    const char *id = "old";

    assert_int_equal(send(b, NULL, &id), FL_E_NOT_FOUND);
    assert_null(id);
    add_four(b);
    b->fakes[0].answer = FL_E_CLOSED;
    b->fakes[1].answer = FL_E_CLOSED;
    assert_int_equal(send(b, "tcp", &id), FL_E_NOT_FOUND);
    assert_int_equal(count_sends(b), 2);
}

static void test_registry_keeps_links_alive_and_closes_none(void **state)
{
    bench *b = *state;

    add_four(b);
    fl_link_unref(&b->fakes[0].link); /* the registry's is the last */
    assert_int_equal(b->fakes[0].frees, 0);
    assert_int_equal(fl_registry_remove(b->registry, "a"), FL_OK);
    assert_int_equal(b->fakes[0].frees, 1);
    fl_link_ref(&b->fakes[0].link); /* for the tear-down to count */
    fl_registry_free(NULL);
}

static void fill_with_little_memory(void *user)
{
    bench *b = user;
    fl_registry *registry = fl_registry_new(MAX);
    fl_status rc = FL_E_NOMEM;

    if (registry != NULL)
        rc = fl_registry_add(
            registry,
            &(fl_registry_entry){.id = "an-id-of-more-than-twenty-four-bytes",
                                 .kind = "tcp",
                                 .capabilities = "{}",
                                 .link = &b->fakes[0].link});
    assert_int_equal(rc, ration_refused() ? FL_E_NOMEM : FL_OK);
    if (registry != NULL)
        assert_int_equal(fl_registry_next(registry, NULL) != NULL, rc == FL_OK);
    fl_registry_free(registry);
    assert_int_equal(b->fakes[0].link.refs, 1);
}

static void test_registry_out_of_memory_is_said_and_nothing_leaks(void **state)
{
    assert_int_equal(ration_each(fill_with_little_memory, *state), 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_registry_copies_what_it_is_told),
        TEST(test_registry_entry_may_have_no_link_and_no_capabilities),
        TEST(test_registry_refuses_ids_that_are_not_visible_ascii),
        TEST(test_registry_id_has_1_to_128_bytes),
        TEST(test_registry_refuses_no_kind_and_no_such_health),
        TEST(test_registry_id_is_unique),
        TEST(test_registry_holds_its_maximum_and_not_one_more),
        TEST(test_registry_unknown_id_is_not_found),
        TEST(test_registry_lists_in_the_order_they_came),
        TEST(test_registry_links_take_turns),
        TEST(test_registry_turns_survive_coming_and_going),
        TEST(test_registry_selects_only_what_is_active_and_not_down),
        TEST(test_registry_degraded_is_the_last_resort),
        TEST(test_registry_send_spreads_the_load),
        TEST(test_registry_send_fails_over_and_marks_down),
        TEST(test_registry_send_passes_the_busy_over),
        TEST(test_registry_busy_outweighs_failed),
        TEST(test_registry_oversized_message_takes_nobody_down),
        TEST(test_registry_send_without_entries_is_not_found),
        TEST(test_registry_keeps_links_alive_and_closes_none),
        TEST(test_registry_out_of_memory_is_said_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
