/*
 * mem.h - the only door to the heap.
 *
 * No other file calls malloc (tools/checksrc sees to it). So a test or a
 * bench wraps four functions at link time and can count, ration or refuse
 * every allocation fairlead makes, without a global in the library.
 */
#ifndef FL_BASE_MEM_H
#define FL_BASE_MEM_H

#include <fairlead/types.h>

/* NULL when there is no memory; that is an ordinary error to return. */
FL_MUST_USE void *fl_mem_alloc(size_t size);

/* Zeroed. */
FL_MUST_USE void *fl_mem_zalloc(size_t size);

/* As realloc, except that on failure the old block stays and NULL returns. */
FL_MUST_USE void *fl_mem_realloc(void *block, size_t size);

void fl_mem_free(void *block);

/* A NUL-terminated copy, for the few borders that need one. */
FL_MUST_USE char *fl_mem_string(fl_span text);

/* Overwrites secrets in a way the compiler may not leave out. */
void fl_mem_wipe(void *block, size_t size);

#endif
