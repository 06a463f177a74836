/*
 * fake_door.h - a link that is no channel, made of nothing but memory.
 *
 * Each request has a stream, which writes down what is sent to it; the test
 * says which header fields the request has. The session under test is the
 * real one.
 */
#ifndef TESTS_UNIT_FAKE_DOOR_H
#define TESTS_UNIT_FAKE_DOOR_H

#include "server_host.h"

#include "server/server.h"
#include "server/session.h"
#include "transport/transport.h"

enum { FAKE_FIELDS = 8, FAKE_ROOM = 8192 };

typedef struct fake_stream {
    char text[FAKE_ROOM]; /* one message per line */
    int code;             /* of the error that ended it */
    int ended;            /* how often; once is right */
} fake_stream;

typedef struct fake_door {
    fl_link link; /* first */
    unsigned traits;
    struct {
        const char *name; /* in lower case */
        const char *value;
    } fields[FAKE_FIELDS];
    bool busy; /* whether it takes anything but answers */
    int closes;
} fake_door;

static inline void fake_write(fake_stream *stream, const fl_span *parts,
                              size_t count)
{
    size_t at = strlen(stream->text);

    assert_true(at + fl_span_total(parts, count) + 2 < FAKE_ROOM);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len == 0)
            continue;
        memcpy(stream->text + at, parts[i].ptr, parts[i].len);
        at += parts[i].len;
    }
    memcpy(stream->text + at, "\n", 2);
}

static inline fl_status fake_send(fl_link *link, void *stream,
                                  const fl_span *parts, size_t count)
{
    assert_non_null(stream); /* nothing can be sent to the link itself */
    assert_int_equal(((fake_stream *)stream)->ended, 0);
    if (fl_span_total(parts, count) > FAKE_ROOM)
        return FL_E_TOO_BIG;
    if (((fake_door *)link)->busy)
        return FL_BUSY;
    fake_write(stream, parts, count);
    return FL_OK;
}

static inline fl_status fake_answer(fl_link *link, void *stream, int code,
                                    const fl_span *parts, size_t count)
{
    fake_stream *to = stream;

    (void)link;
    to->ended++;
    to->code = code;
    if (count > 0)
        fake_write(to, parts, count);
    return FL_OK;
}

static inline fl_span fake_field(fl_link *link, void *stream, fl_span name)
{
    fake_door *door = (fake_door *)link;

    assert_non_null(stream);
    for (size_t i = 0; i < FAKE_FIELDS; i++)
        if (door->fields[i].name != NULL &&
            fl_span_equal(fl_span_of(door->fields[i].name), name))
            return fl_span_of(door->fields[i].value);
    return (fl_span){0};
}

static inline void fake_close(fl_link *link)
{
    ((fake_door *)link)->closes++;
}

static inline void fake_free(fl_link *link)
{
    (void)link;
}

static inline void fake_info(const fl_link *link, fl_link_info *info)
{
    info->traits = ((const fake_door *)link)->traits;
    info->max_message = FAKE_ROOM;
}

static const fl_transport fake_transport = {
    .name = "fake",
    .send = fake_send,
    .answer = fake_answer,
    .field = fake_field,
    .close = fake_close,
    .free = fake_free,
    .info = fake_info,
};

/* A server with tools, and one link of these traits to it. */
static inline void fake_begin(fake_door *door, server_host *host,
                              unsigned traits, unsigned max_in_flight)
{
    host_begin_bare(host);
    host->peer.fd = -1;
    *door = (fake_door){.traits = traits};
    assert_int_equal(host_add_tools(host), FL_OK);
    fl_link_init(&door->link, &fake_transport, host->loop, true);
    assert_int_equal(fl_link_move(&door->link, FL_LINK_ACTIVE), FL_OK);
    assert_int_equal(fl_session_open(host->server, &door->link, max_in_flight),
                     FL_OK);
    host->server->links++;
}

static inline void fake_end(fake_door *door, server_host *host)
{
    fl_error why = {.status = FL_OK};

    door->link.events->on_closed(&door->link, &why);
    host_end(host);
}

/* Sets a field of the requests to come; NULL takes it away. */
static inline void fake_set(fake_door *door, const char *name,
                            const char *value)
{
    size_t at = 0;

    while (at < FAKE_FIELDS && door->fields[at].name != NULL &&
           strcmp(door->fields[at].name, name) != 0)
        at++;
    assert_true(at < FAKE_FIELDS);
    door->fields[at].name = value != NULL ? name : "";
    door->fields[at].value = value;
}

static inline void fake_ask(fake_door *door, fake_stream *stream,
                            const char *text)
{
    fl_msg msg;
    fl_msg_fault fault;

    *stream = (fake_stream){0};
    assert_int_equal(fl_msg_read(fl_span_of(text), &msg, &fault), FL_OK);
    door->link.events->on_message(
        &door->link, &msg, (fl_reply){.link = &door->link, .stream = stream});
}

/* Asks, and the answer is this line, with this code for the transport. */
static inline void fake_asks(fake_door *door, const char *text, int code,
                             const char *answer)
{
    fake_stream stream;
    char want[FAKE_ROOM];

    fake_ask(door, &stream, text);
    snprintf(want, sizeof want, "%s\n", answer);
    assert_string_equal(stream.text, want);
    assert_int_equal(stream.ended, 1);
    assert_int_equal(stream.code, code);
}

/* Asks, and the answer has this in it. */
static inline void fake_asks_part(fake_door *door, const char *text, int code,
                                  const char *part)
{
    fake_stream stream;

    fake_ask(door, &stream, text);
    if (strstr(stream.text, part) == NULL)
        fail_msg("no '%s' in '%s'", part, stream.text);
    assert_int_equal(stream.ended, 1);
    assert_int_equal(stream.code, code);
}

static inline void fake_hang_up(fake_door *door, fake_stream *stream)
{
    door->link.events->on_abandoned(
        &door->link, (fl_reply){.link = &door->link, .stream = stream});
}

#endif
