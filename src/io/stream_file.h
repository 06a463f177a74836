/*
 * stream_file.h - stream ends that cannot be polled: regular files, /dev/null.
 */
#ifndef FL_IO_STREAM_FILE_H
#define FL_IO_STREAM_FILE_H

#include "base/buf.h"
#include "io/stream.h"

/* Makes `fd` one end of the stream, which owns it from here on if this says
 * FL_OK. */
FL_MUST_USE fl_status fl_stream_add_file(fl_stream *stream, int fd, bool is_in);

bool fl_stream_file_in(const fl_stream *stream);
bool fl_stream_file_out(const fl_stream *stream);

/* Reads until the stream no longer wants to. */
void fl_stream_file_read(fl_stream *stream);

/* Hands out what was read while the stream was paused. */
void fl_stream_file_turn(fl_stream *stream);

/* Takes the piece, writes it, then calls fl_stream_sent(). Below zero: libuv's
 * code. */
FL_MUST_USE int fl_stream_file_write(fl_stream *stream, fl_buf *piece);
/* How much of that is left; 0: nothing is being written. */
size_t fl_stream_file_unwritten(const fl_stream *stream);
void fl_stream_file_end_output(fl_stream *stream);

/* Closes what no thread works on now; _free closes the rest. */
void fl_stream_file_close(fl_stream *stream);
void fl_stream_file_free(fl_stream *stream);
size_t fl_stream_file_memory(const fl_stream *stream);

#endif
