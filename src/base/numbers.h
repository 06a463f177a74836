/*
 * numbers.h - what waits under a number: ids of requests on their way.
 *
 * Numbers are given out one after the other and taken back in nearly the same
 * order, some of them much later. Memory is one block, which grows with what
 * waits at one time and is kept for the next.
 */
#ifndef FL_BASE_NUMBERS_H
#define FL_BASE_NUMBERS_H

#include <fairlead/types.h>

typedef struct fl_numbers_slot {
    uint64_t number; /* 0: free */
    void *value;
} fl_numbers_slot;

/* Owned by whoever embeds it; zeroed is empty. Fields are private. */
typedef struct fl_numbers {
    fl_numbers_slot *slots;
    size_t cap; /* a power of two, or 0 */
    size_t count;
} fl_numbers;

void fl_numbers_deinit(fl_numbers *numbers);

/* NULL when there is nothing. */
void *fl_numbers_get(const fl_numbers *numbers, uint64_t number);

/* `number` is not 0 and not there yet. FL_E_NOMEM. */
FL_MUST_USE fl_status fl_numbers_add(fl_numbers *numbers, uint64_t number,
                                     void *value);

/* Takes it out; NULL when it was not there. */
void *fl_numbers_remove(fl_numbers *numbers, uint64_t number);

/* A raw id that is one of our numbers: digits and nothing else. 0: it is not.
 */
uint64_t fl_numbers_read(fl_span token);

enum { FL_NUMBERS_TEXT = 24 };

/* As a raw id. */
fl_span fl_numbers_write(uint64_t number, char text[FL_NUMBERS_TEXT]);

#endif
