/*
 * test_cmd_memory.c - memory of large messages is kept for the next.
 */
#include "cmd/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

enum { BLOCKS = 4, SIZE = 1 << 20 };

/* A sanitizer's and Valgrind's are not tuned. */
static bool has_other_allocator(void)
{
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
    return true;
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
    return true;
#endif
    return getenv("FL_VALGRIND") != NULL;
}

static long faults(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt;
}

/* Two messages and their answers, say. */
static void use_and_free(void)
{
    char *blocks[BLOCKS];

    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(SIZE);
        assert_non_null(blocks[i]);
        memset(blocks[i], 'x', SIZE);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}

static void test_memory_of_large_blocks_is_not_asked_for_again(void **state)
{
    enum { ROUNDS = 100 };

    (void)state;
    if (has_other_allocator())
        skip();
    fl_memory_tune();
    use_and_free();
    long before = faults();
    for (int i = 0; i < ROUNDS; i++)
        use_and_free();
    assert_in_range(faults() - before, 0, ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_of_large_blocks_is_not_asked_for_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
