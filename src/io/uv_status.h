/*
 * uv_status.h - libuv's error codes in our words.
 */
#ifndef FL_IO_UV_STATUS_H
#define FL_IO_UV_STATUS_H

#include <fairlead/types.h>

/* `code` is what a libuv call returned: below zero an error, else FL_OK. A
 * negated errno is the same number on every Unix. */
FL_MUST_USE fl_status fl_status_from_uv(int code);

/* "connection refused": what libuv says, for the end of an error text. */
const char *fl_uv_text(int code);

#endif
