/*
 * sha1.h - the one digest a protocol still asks for: WebSocket's handshake
 * proves with it that the other side has read the request, and nothing else.
 */
#ifndef FL_IO_SHA1_H
#define FL_IO_SHA1_H

#include <fairlead/types.h>

enum { FL_SHA1 = 20 };

/* FL_E_UNSUPPORTED when OpenSSL is set up to refuse it. */
FL_MUST_USE fl_status fl_sha1(fl_span bytes, unsigned char digest[FL_SHA1]);

#endif
