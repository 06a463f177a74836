/*
 * histogram.h - how often each duration was seen, to better than one percent.
 *
 * A run has millions of durations, from microseconds to minutes. They are
 * counted in buckets whose width grows with the value, 128 for each doubling,
 * so that every percentile is right to 0.8 % and the whole takes 37 KiB. The
 * smallest and the largest are kept as they were.
 */
#ifndef FL_LOAD_HISTOGRAM_H
#define FL_LOAD_HISTOGRAM_H

#include <fairlead/types.h>

enum {
    FL_HISTOGRAM_FINE = 7,     /* bits that are told apart... */
    FL_HISTOGRAM_DOUBLES = 36, /* ...and how often they are shifted: values of
                                  2^43 nanoseconds, two hours, and more are in
                                  the last bucket */
    FL_HISTOGRAM_BUCKETS = (FL_HISTOGRAM_DOUBLES + 1) << FL_HISTOGRAM_FINE,
};

/* All zero is an empty one. Owned by whoever embeds it; best on the heap. */
typedef struct fl_histogram {
    uint64_t count;
    uint64_t min, max; /* of an empty one: 0 */
    double sum;
    uint64_t buckets[FL_HISTOGRAM_BUCKETS];
} fl_histogram;

void fl_histogram_add(fl_histogram *histogram, uint64_t value);
void fl_histogram_merge(fl_histogram *into, const fl_histogram *from);

/*
 * The value that `share` of all (0 to 1) are not above: the highest one of its
 * bucket, but never more than the largest seen. 0 if there are none.
 */
uint64_t fl_histogram_at(const fl_histogram *histogram, double share);

double fl_histogram_mean(const fl_histogram *histogram);

#endif
