/*
 * ws_wire.h - frames as a peer would send them, right or wrong, for the tests
 * of WebSocket.
 *
 * Written apart from the library, byte by byte, so that the two can be held
 * against each other.
 */
#ifndef TESTS_UNIT_WS_WIRE_H
#define TESTS_UNIT_WS_WIRE_H

#include "base/span.h"
#include "support/chop.h"
#include "support/ration.h"
#include "wire/ws.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { WIRE_ROOM = 300 * 1024, FIN = 0x80, RSV1 = 0x40 };

typedef struct wire {
    char bytes[WIRE_ROOM];
    size_t len;
} wire;

static inline void wire_put(wire *w, fl_span bytes)
{
    assert_in_range(bytes.len, 0, WIRE_ROOM - w->len);
    if (bytes.len > 0)
        memcpy(w->bytes + w->len, bytes.ptr, bytes.len);
    w->len += bytes.len;
}

static inline void wire_byte(wire *w, unsigned byte)
{
    char c = (char)byte;

    wire_put(w, (fl_span){&c, 1});
}

/* `form`: how many bytes the length takes after the second, 0, 2 or 8. */
static inline void wire_head(wire *w, unsigned first, uint64_t len, int form,
                             bool masked)
{
    unsigned mask = masked ? 0x80 : 0;

    wire_byte(w, first);
    wire_byte(w, mask | (form == 0 ? (unsigned)len : form == 2 ? 126 : 127));
    for (int i = form; i > 0; i--)
        wire_byte(w, (unsigned)(len >> (8 * (i - 1)) & 0xff));
    if (masked)
        wire_put(w, FL_SPAN("\x37\xfa\x21\x3d"));
}

/* The RFC's own key: 37 fa 21 3d. */
static inline void wire_payload(wire *w, fl_span payload, bool masked)
{
    static const unsigned char key[4] = {0x37, 0xfa, 0x21, 0x3d};

    for (size_t i = 0; i < payload.len; i++)
        wire_byte(w,
                  (unsigned char)payload.ptr[i] ^ (masked ? key[i % 4] : 0u));
}

static inline void wire_frame(wire *w, unsigned first, fl_span payload,
                              bool masked)
{
    int form = payload.len < 126 ? 0 : payload.len < 65536 ? 2 : 8;

    wire_head(w, first, payload.len, form, masked);
    wire_payload(w, payload, masked);
}

static inline fl_span wire_view(const wire *w)
{
    return (fl_span){w->bytes, w->len};
}

/* A socket under test, made anew for each run. */
typedef struct socket_end {
    fl_ws ws;
    fl_ws_settings settings;
    const fl_ws_agreed *agreed;
    fl_pool pool;
    fl_status last;
    size_t fed; /* bytes before the piece in which it failed, and its length */
} socket_end;

static inline void socket_start(void *user)
{
    socket_end *s = user;

    fl_pool_init(&s->pool);
    s->last = fl_ws_init(&s->ws, &s->settings, s->agreed, &s->pool);
    s->fed = 0;
    assert_int_equal(s->last, FL_OK);
}

static inline void socket_note(const fl_ws *ws, const fl_ws_message *m,
                               chop_notes *notes)
{
    static const char letters[] = "?tb?????cpo";

    chop_note(notes, "%c", letters[m->kind]);
    if (m->kind == FL_WS_CLOSE)
        chop_note(notes, "%u", m->code);
    else
        assert_int_equal(m->code, 0);
    if (m->kind == FL_WS_TEXT && !ws->settings->text_unchecked)
        assert_true(m->checked);
    chop_note(notes, "[");
    chop_note_bytes(notes, m->bytes);
    chop_note(notes, "]");
}

static inline void socket_feed(void *user, fl_span piece, chop_notes *notes)
{
    socket_end *s = user;
    fl_span in = piece;
    fl_ws_message m;
    fl_status rc;

    if (s->last < 0 || s->last == FL_END) {
        assert_int_equal(fl_ws_next(&s->ws, &in, &m), s->last);
        return;
    }
    s->fed += piece.len;
    while ((rc = fl_ws_next(&s->ws, &in, &m)) == FL_OK)
        socket_note(&s->ws, &m, notes);
    if (rc == FL_AGAIN)
        assert_int_equal(in.len, 0);
    if (rc < 0)
        chop_note(notes, "!%u %s", s->ws.fault.code, s->ws.fault.what);
    s->last = rc;
    fl_ws_rest(&s->ws);
}

static inline void socket_end_run(void *user, chop_notes *notes)
{
    socket_end *s = user;

    if (fl_ws_in_message(&s->ws))
        chop_note(notes, "...");
    fl_ws_deinit(&s->ws);
    fl_pool_deinit(&s->pool);
}

static const chop_reader socket_reader = {socket_start, socket_feed,
                                          socket_end_run};

#endif
