/*
 * ws_shake.h - what both sides of a WebSocket handshake compute.
 */
#ifndef FL_TRANSPORT_WS_SHAKE_H
#define FL_TRANSPORT_WS_SHAKE_H

#include "wire/ws_handshake.h"

/* The Sec-WebSocket-Accept that answers `key`, 24 characters long, and a NUL.
 * FL_E_UNSUPPORTED: this system has no SHA-1. */
FL_MUST_USE fl_status fl_ws_shake_accept(fl_span key, char out[FL_WS_ACCEPT]);

#endif
