/*
 * kernel.c - which engine this machine runs.
 *
 * The processor is asked each time: the answer is one load and one test of a
 * word the C runtime filled in before main(), cheaper than any cache of ours
 * could be, and no global of ours is needed.
 */
#include "json/kernel.h"

const fl_json_kernel *fl_json_kernel_at(size_t index)
{
    static const fl_json_kernel *const kernels[FL_JSON_KERNELS] = {
        &fl_json_kernel_plain,
#ifdef __SSE2__
        &fl_json_kernel_sse2,
        &fl_json_kernel_avx2,
#endif
    };
    const fl_json_kernel *kernel =
        index < FL_JSON_KERNELS ? kernels[index] : NULL;

    return kernel != NULL && kernel->usable() ? kernel : NULL;
}

const fl_json_kernel *fl_json_kernel_best(void)
{
#ifdef __SSE2__
    return fl_json_kernel_avx2.usable() ? &fl_json_kernel_avx2
                                        : &fl_json_kernel_sse2;
#else
    return &fl_json_kernel_plain;
#endif
}
