/*
 * kernel.c - which engine this machine runs.
 *
 * Asked anew each time: the answer is a load and a test, cheaper than any
 * cache of ours could be, and no global of ours is needed.
 */
#include "json/kernel.h"

const fl_json_kernel *fl_json_kernel_at(size_t index)
{
    switch (index) {
    case 0:
        return &fl_json_kernel_plain;
#ifdef __SSE2__
    case 1:
        return &fl_json_kernel_sse2;
    case 2:
        return fl_json_kernel_avx2_usable() ? &fl_json_kernel_avx2 : NULL;
#endif
    default:
        return NULL;
    }
}

const fl_json_kernel *fl_json_kernel_best(void)
{
#ifdef __SSE2__
    return fl_json_kernel_avx2_usable() ? &fl_json_kernel_avx2
                                        : &fl_json_kernel_sse2;
#else
    return &fl_json_kernel_plain;
#endif
}
