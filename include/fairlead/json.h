/*
 * json.h - looking into the JSON that comes with calls and answers.
 *
 * Values are raw slices of the text they came in. Nothing is copied or parsed
 * ahead, and what is not there is an empty span, which may be looked into
 * like any other: so a path is a chain of calls with one check at its end.
 *
 *     fl_span text = fl_raw_get(fl_raw_at(content, 0), "text");
 *
 * What came over a link has been checked before anyone sees it. Of text from
 * elsewhere that is not JSON these make nothing sensible, and no harm.
 */
#ifndef FAIRLEAD_JSON_H
#define FAIRLEAD_JSON_H

#include <fairlead/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A member of an object (the last, if there are several of this name), or an
 * element of an array. */
FL_API fl_span fl_raw_get(fl_span object, const char *key);
FL_API fl_span fl_raw_at(fl_span array, size_t index);

/* Is it a string that means this? */
FL_API bool fl_raw_is(fl_span value, const char *text);

/*
 * What a number or a boolean means; `otherwise` for what is none, or is not
 * there. 2.0 and 2e3 are integers, 2.5 is not, nor is what does not fit.
 */
FL_API int64_t fl_raw_integer(fl_span value, int64_t otherwise);
FL_API double fl_raw_number(fl_span value, double otherwise);
FL_API bool fl_raw_bool(fl_span value, bool otherwise);

/*
 * What a string means, escapes undone, NUL-terminated, and as much of it as
 * fits into `size` bytes. Returns the length of all of it, as snprintf() does;
 * 0, and "", for what is no string.
 */
FL_API size_t fl_raw_text(fl_span value, char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
