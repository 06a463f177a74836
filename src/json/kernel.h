/*
 * kernel.h - the engines behind scan and nav, one per instruction set.
 *
 * Every kernel answers the same two questions and must give the same answers;
 * the tests put each of them through every text. A kernel that says no does
 * not say why: the plain kernel, which looks at one byte at a time, is then
 * asked where the text went wrong. So the fast kernels carry no positions of
 * errors around, and a refusal costs one more pass over a message that is
 * thrown away anyhow.
 */
#ifndef FL_JSON_KERNEL_H
#define FL_JSON_KERNEL_H

#include "json/scan.h"

typedef struct fl_json_kernel {
    const char *name;

    /* True only if `text` is right; false lets the plain kernel decide.
     * `max_depth` is 1 to FL_JSON_MAX_DEPTH. */
    bool (*check)(fl_span text, unsigned max_depth, fl_json_marks *marks);

    /*
     * Finds delimiters from `from` on, a place in validated `text` outside of
     * strings, at its own level of nesting: at most `want` of them, and none
     * after the bracket that closes the level. Returns how many it found. On
     * text that is not valid it stays inside and promises nothing else.
     */
    size_t (*mark)(fl_span text, size_t from, size_t want, size_t *at);
} fl_json_kernel;

/* Slowest first; the plain one, which runs anywhere, is always there. */
enum { FL_JSON_KERNELS = 3 };
extern const fl_json_kernel fl_json_kernel_plain;
extern const fl_json_kernel fl_json_kernel_sse2;
extern const fl_json_kernel fl_json_kernel_avx2;

/* The processor was asked before main(); this is a load and a test. */
static inline bool fl_json_kernel_avx2_usable(void)
{
#ifdef __SSE2__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("pclmul");
#else
    return false;
#endif
}

/* The kernel at this place, or NULL if this machine cannot run it. */
const fl_json_kernel *fl_json_kernel_at(size_t index);

/* The fastest this machine can run. */
const fl_json_kernel *fl_json_kernel_best(void);

/* The byte-wise scan with its reasons: statuses and `at` as fl_json_scan(). */
FL_MUST_USE fl_status fl_json_plain_scan(fl_span text, unsigned max_depth,
                                         fl_json_marks *marks, size_t *at);

/* fl_json_scan() on a kernel of the caller's choice. */
FL_MUST_USE fl_status fl_json_scan_with(const fl_json_kernel *kernel,
                                        fl_span text, unsigned max_depth,
                                        fl_json_top *top, size_t *at);

#endif
