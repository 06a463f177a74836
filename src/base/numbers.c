/*
 * numbers.c - what waits under a number.
 *
 * Open addressing, and no tombstones: whoever is taken out has its followers
 * moved up. Consecutive numbers must not lie side by side, or taking one out
 * would mean to look at all that follow; multiplied by the golden ratio they
 * lie as far from each other as can be, and most have no neighbour at all.
 */
#include "base/numbers.h"

#include "base/mem.h"

enum { FIRST_CAP = 16 };

void fl_numbers_deinit(fl_numbers *numbers)
{
    fl_mem_free(numbers->slots);
    *numbers = (fl_numbers){0};
}

static size_t home_of(const fl_numbers *numbers, uint64_t number)
{
    return (size_t)(number * 0x9e3779b97f4a7c15U >> 32) & (numbers->cap - 1);
}

/* Where it is, or would be. There is always a free slot. */
static size_t find(const fl_numbers *numbers, uint64_t number)
{
    size_t mask = numbers->cap - 1;
    size_t at = home_of(numbers, number);

    while (numbers->slots[at].number != 0 &&
           numbers->slots[at].number != number)
        at = (at + 1) & mask;
    return at;
}

void *fl_numbers_get(const fl_numbers *numbers, uint64_t number)
{
    if (numbers->cap == 0 || number == 0)
        return NULL;
    return numbers->slots[find(numbers, number)].value;
}

static fl_status grow(fl_numbers *numbers)
{
    fl_numbers old = *numbers;
    size_t cap = old.cap > 0 ? old.cap * 2 : FIRST_CAP;
    fl_numbers_slot *slots = fl_mem_zalloc(cap * sizeof *slots);

    if (slots == NULL)
        return FL_E_NOMEM;
    numbers->slots = slots;
    numbers->cap = cap;
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].number != 0)
            slots[find(numbers, old.slots[i].number)] = old.slots[i];
    fl_mem_free(old.slots);
    return FL_OK;
}

fl_status fl_numbers_add(fl_numbers *numbers, uint64_t number, void *value)
{
    if (numbers->count * 2 >= numbers->cap) {
        fl_status rc = grow(numbers);
        if (rc != FL_OK)
            return rc;
    }
    numbers->slots[find(numbers, number)] = (fl_numbers_slot){number, value};
    numbers->count++;
    return FL_OK;
}

/* Closes the gap at `at`: each that follows may stand there if it is not
 * before the place it belongs. */
static void close_gap(fl_numbers *numbers, size_t at)
{
    size_t mask = numbers->cap - 1;

    for (size_t next = (at + 1) & mask; numbers->slots[next].number != 0;
         next = (next + 1) & mask) {
        size_t home = home_of(numbers, numbers->slots[next].number);
        if (((next - home) & mask) >= ((next - at) & mask)) {
            numbers->slots[at] = numbers->slots[next];
            at = next;
        }
    }
    numbers->slots[at] = (fl_numbers_slot){0};
}

void *fl_numbers_remove(fl_numbers *numbers, uint64_t number)
{
    if (numbers->cap == 0 || number == 0)
        return NULL;
    size_t at = find(numbers, number);
    void *value = numbers->slots[at].value;
    if (value != NULL) {
        close_gap(numbers, at);
        numbers->count--;
    }
    return value;
}

uint64_t fl_numbers_read(fl_span token)
{
    uint64_t number = 0;

    if (token.len == 0 || token.len > 19 || token.ptr[0] == '0')
        return 0;
    for (size_t i = 0; i < token.len; i++) {
        unsigned digit = (unsigned)token.ptr[i] - '0';
        if (digit > 9)
            return 0;
        number = number * 10 + digit;
    }
    return number;
}

fl_span fl_numbers_write(uint64_t number, char text[FL_NUMBERS_TEXT])
{
    size_t at = FL_NUMBERS_TEXT;

    do {
        text[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return (fl_span){text + at, FL_NUMBERS_TEXT - at};
}
