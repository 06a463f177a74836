/*
 * ration.h - memory that runs out when the test says so.
 *
 * The program is linked with --wrap, so each of its calls of malloc, calloc,
 * realloc and free comes through here: counted, and refused when asked. Blocks
 * that a shared library allocates for itself are not seen.
 *
 * One ration at a time: begin with ration_reset().
 */
#ifndef TESTS_SUPPORT_RATION_H
#define TESTS_SUPPORT_RATION_H

#include <stdbool.h>
#include <stddef.h>

/* No more refusals, and count, largest and peak start anew. */
void ration_reset(void);

/* Refuses the n-th allocation from now, the first being 1, and only that. */
void ration_fail_at(size_t n);

/* Grants `n` more allocations and refuses all that follow. */
void ration_allow(size_t n);

/* Whether anything was refused since the last of the three calls above. */
bool ration_refused(void);

/* Since ration_reset(): allocations granted (a realloc that asks for more or
 * less is one), the largest size asked for, and the most bytes live at once. */
size_t ration_count(void);
size_t ration_largest(void);
size_t ration_peak_bytes(void);

/* Now. Bytes are as the allocator rounds them. */
ptrdiff_t ration_live_blocks(void);
ptrdiff_t ration_live_bytes(void);

/*
 * Runs `scenario` with its first allocation refused, then its second, and so
 * on, until a run in which nothing was refused. Fails the test when a run
 * leaves blocks behind. Returns how many runs there were: one more than the
 * scenario has allocations.
 */
size_t ration_each(void (*scenario)(void *user), void *user);

/* Past the ration, neither counted nor refused: for the test's own needs. */
void *ration_raw_realloc(void *block, size_t size);
void ration_raw_free(void *block);

#endif
