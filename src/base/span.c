/*
 * span.c - the public way to make one.
 */
#include "base/span.h"

fl_span fl_text(const char *text)
{
    return fl_span_of(text);
}
