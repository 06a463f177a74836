/*
 * histogram.c - how often each duration was seen.
 *
 *   value      0 ... 127   128 ... 255   256 ... 511   512 ... 1023   ...
 *   bucket     one each    one each      two each      four each
 *
 * The number of a bucket is the leading bits of its values: how far they are
 * shifted, and what is left of them after it.
 */
#include "load/histogram.h"

#define FINE ((uint64_t)1 << FL_HISTOGRAM_FINE)

static size_t bucket_of(uint64_t value)
{
    if (value < FINE)
        return (size_t)value;
    unsigned shift = 63 - (unsigned)__builtin_clzll(value) - FL_HISTOGRAM_FINE;
    if (shift >= FL_HISTOGRAM_DOUBLES)
        return FL_HISTOGRAM_BUCKETS - 1;
    return (size_t)(((uint64_t)shift << FL_HISTOGRAM_FINE) + (value >> shift));
}

/* The highest value in it. */
static uint64_t top_of(size_t bucket)
{
    if (bucket < 2 * FINE)
        return bucket;
    unsigned shift = (unsigned)(bucket >> FL_HISTOGRAM_FINE) - 1;
    uint64_t leading = (bucket & (FINE - 1)) | FINE;
    return ((leading + 1) << shift) - 1;
}

void fl_histogram_add(fl_histogram *histogram, uint64_t value)
{
    if (histogram->count == 0 || value < histogram->min)
        histogram->min = value;
    if (value > histogram->max)
        histogram->max = value;
    histogram->count++;
    histogram->sum += (double)value;
    histogram->buckets[bucket_of(value)]++;
}

void fl_histogram_merge(fl_histogram *into, const fl_histogram *from)
{
    if (from->count == 0)
        return;
    if (into->count == 0 || from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
    into->count += from->count;
    into->sum += from->sum;
    for (size_t i = 0; i < FL_HISTOGRAM_BUCKETS; i++)
        into->buckets[i] += from->buckets[i];
}

/* How many of `count` are not above: all of them is never one too few. */
static uint64_t rank_of(uint64_t count, double share)
{
    double exact = share * (double)count;
    uint64_t rank = exact < (double)count ? (uint64_t)exact : count;

    return (double)rank < exact && rank < count ? rank + 1 : rank;
}

uint64_t fl_histogram_at(const fl_histogram *histogram, double share)
{
    uint64_t rank = rank_of(histogram->count, share), seen = 0;

    if (rank == 0)
        return histogram->min;
    for (size_t i = 0; i + 1 < FL_HISTOGRAM_BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen >= rank)
            return top_of(i) < histogram->max ? top_of(i) : histogram->max;
    }
    return histogram->max;
}

double fl_histogram_mean(const fl_histogram *histogram)
{
    return histogram->count > 0 ? histogram->sum / (double)histogram->count : 0;
}
