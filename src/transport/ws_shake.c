/*
 * ws_shake.c - the proof that a handshake was read (RFC 6455 4.2.2): what is
 * digested is wire/'s affair, the digest io/'s, and this brings them together.
 */
#include "transport/ws_shake.h"

#include "io/sha1.h"

#include <assert.h>

static_assert((int)FL_SHA1 == (int)FL_WS_SHA1, "one digest");

fl_status fl_ws_shake_accept(fl_span key, char out[FL_WS_ACCEPT])
{
    char input[FL_WS_ACCEPT_INPUT];
    unsigned char digest[FL_SHA1];

    fl_ws_accept_input(key, input);
    fl_status rc = fl_sha1((fl_span){input, sizeof input}, digest);
    if (rc == FL_OK)
        fl_ws_accept_text(digest, out);
    return rc;
}
