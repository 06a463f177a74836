/*
 * random.h - bytes from the operating system's random source.
 */
#ifndef FL_BASE_RANDOM_H
#define FL_BASE_RANDOM_H

#include <fairlead/types.h>

/* Fills `out` whole. FL_E_IO when the system has none to give. */
FL_MUST_USE fl_status fl_random_bytes(void *out, size_t size);

/* Uniform in [0, below); 0 when `below` is 0. For jitter, not for secrets:
 * without a random source it falls back to the clock. */
uint64_t fl_random_below(uint64_t below);

#endif
