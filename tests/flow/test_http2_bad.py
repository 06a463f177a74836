#!/usr/bin/env python3
"""test_http2_bad.py - `fairlead demo` over HTTP/2, and clients that abuse it.

Whoever floods is dismissed. Meanwhile others are served without a wait, and
afterwards memory and files are what they were. Prints TAP. FAIRLEAD names the
program; HTTP/1.1, and what both have in common, is in test_http_bad.py.
"""
import contextlib
import random
import struct
import sys
import threading
import time

from flow import SLOW, WAIT, contains, equal, main, require, until
from frames import (ACK, CALM, CANCEL, CLOSED, CONTINUATION, DATA,
                    END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, PREFACE,
                    PRIORITY, PROTOCOL_ERROR, PUSH, RESET, SETTINGS, WINDOW,
                    Frames, block, frame, literal, request)
from web import (INITIALIZE, Standing, Web, check_memory, lives, message,
                 modern, modern_fields, post, room)
from wire import KIB, MIB, served, status

SECONDS = 0.5  # a flood lasts so long, unless it is stopped
NO_SESSION = message(1, 'tools/list')
A_PING = frame(PING, 0, 0, b'12345678')
standing = Standing()
http = standing.http


def fields(name):
    return [(key.lower().encode(), value.encode())
            for key, value in modern_fields(name).items()]


def call(stream, name, **arguments):
    return request(stream, modern(stream, name, **arguments), fields(name))


def answers(client, stream=1001):
    """It answers on this connection."""
    client.send(call(stream, 'echo', text='here'))
    contains(client.body(stream), b'here')


class Watch(threading.Thread):
    """Sees, all the time, that somebody else is served, and how soon."""

    def __init__(self, serving):
        super().__init__(daemon=True)
        self.serving, self.over, self.trouble = serving, False, None
        self.slowest, self.most = 0, 0

    def run(self):
        try:
            while not self.over:
                started = time.monotonic()
                lives(self.serving)
                self.slowest = max(self.slowest, time.monotonic() - started)
                self.most = max(self.most, status(self.serving, 'VmRSS'))
                time.sleep(0.02)
        except Exception as why:
            self.trouble = why

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.join(WAIT)


def overhear(client):
    """Takes what has come, if anything has."""
    client.socket.setblocking(False)
    with contextlib.suppress(BlockingIOError, ConnectionError):
        client.seen += client.socket.recv(MIB)
    client.socket.settimeout(WAIT)


def send_all(client, pieces, listen):
    """Sends, for a while at most, and says whether it was stopped."""
    end = time.monotonic() + SECONDS
    for piece in pieces:
        if not client.send(piece):
            return True
        if listen:
            overhear(client)
        if time.monotonic() > end:
            return False
    return False


def flood(serving, pieces, codes=(CALM,), listen=False):
    """It sends and sends, and is dismissed; the others notice nothing.

    What it sends after it was told so is read, and dropped, for some time: or
    it might not get to hear why.
    """
    before = status(serving, 'VmRSS')
    with Watch(serving) as watch, Frames(serving.urls[0]) as client:
        stopped = send_all(client, pieces, listen)
        told = client.dismissed(*codes)
        require(not codes or told or stopped, 'nobody stopped it')
    require(not watch.trouble, 'others were not served:', watch.trouble)
    require(watch.slowest < 2 * SLOW, 'others waited', watch.slowest, 's')
    grown = watch.most - before
    require(grown < room(serving), 'memory grew by', grown)


def for_ever(piece):
    while True:
        yield piece


def streams(first=1):
    return range(first, 1 << 31, 2)


def test_what_is_well_made_is_served():
    with http() as serving, Frames(serving.urls[0]) as client:
        answers(client, 1)
        for stream in range(3, 203, 2):
            client.send(call(stream, 'echo', text=str(stream)))
        contains(client.body(201), b'201')
        client.send(request(203, b'{}', method=b'PUT'))
        contains(client.body(203), b'error')
        answers(client, 205)


def test_rapid_reset_is_dismissed():
    with http() as serving:
        for listen in (False, True):
            flood(serving, (call(stream, 'slow')
                            + frame(RESET, 0, stream, b'\0\0\0\x08')
                            for stream in streams()), listen=listen)


def test_making_the_server_reset_is_no_way_around_it():
    # each breaks a rule of its own stream: a window of nothing, a field that
    # may not be, a body longer than it says, a stream that waits for itself
    bad = (lambda stream: request(stream) + frame(WINDOW, 0, stream,
                                                  b'\0\0\0\0'),
           lambda stream: frame(HEADERS, END_HEADERS | END_STREAM, stream,
                                block(more=[(b'Upper', b'x')])),
           lambda stream: request(stream, b'{}', [(b'content-length', b'1')]),
           lambda stream: request(stream) + frame(
               PRIORITY, 0, stream, struct.pack('>IB', stream, 1)))
    with http() as serving:
        for one in bad:
            flood(serving, (one(stream) for stream in streams()),
                  (CALM, PROTOCOL_ERROR, CLOSED), listen=True)


def test_floods_of_frames_that_carry_nothing_are_dismissed():
    with http() as serving:
        for piece in (A_PING, frame(SETTINGS), frame(PRIORITY, 0, 1, b'\0' * 5),
                      frame(SETTINGS, 0, 0, struct.pack('>HI', 4, 65535) * 99),
                      frame(99, 0, 0, b'x'), frame(99, 255, 7, b'x' * 16384),
                      frame(WINDOW, 0, 0, b'\0\0\0\1')):
            for listen in (False, True):
                flood(serving, for_ever(piece * 50), listen=listen)


def test_windows_may_be_opened_for_what_was_sent():
    # as some clients do: two for each frame, however small
    update = struct.pack('>I', 1000)
    with http() as serving, Frames(serving.urls[0]) as client:
        client.send(call(1, 'large', bytes=4 * MIB))
        size = 0
        for one in iter(client.next, None):
            if one.kind == DATA:
                size += len(one.body)
                for _ in range(0, len(one.body), 1000):
                    client.send(frame(WINDOW, 0, 0, update)
                                + frame(WINDOW, 0, 1, update))
            require(one.kind not in (GOAWAY, RESET), one)
            if one.flags & END_STREAM and one.kind == DATA:
                break
        require(size > 4 * MIB, 'it ended after', size)
        answers(client)


def test_empty_data_without_end_is_dismissed():
    def pieces():
        yield request(1)
        yield from for_ever(frame(DATA, 0, 1) * 100)
    with http() as serving:
        flood(serving, pieces())


def test_a_head_without_end_is_dismissed():
    def pieces(piece):
        yield frame(HEADERS, 0, 1, block())
        yield from for_ever(frame(CONTINUATION, 0, 1, piece))
    with http() as serving:
        for piece in (b'', literal(b'x', b'y'), literal(b'x', b'y' * 16000)):
            flood(serving, pieces(piece), (CALM, PROTOCOL_ERROR))


def test_a_head_that_unpacks_to_much_is_refused():
    large = block() + literal(b'x', b'y' * 3900, kept=True)
    small = b'\xbe' * 16000  # 62: the newest of the table, over and over
    with http() as serving:
        before = status(serving, 'VmRSS')
        for _ in range(10):
            with Frames(serving.urls[0]) as client:
                client.send(b''.join(
                    frame(HEADERS, 0, stream, large)
                    + frame(CONTINUATION, END_HEADERS, stream, small)
                    for stream in range(1, 41, 2)))
                for one in iter(client.next, None):
                    if one.kind in (GOAWAY, RESET) or one.flags & END_STREAM:
                        break
                check_memory(serving, before, 24 * MIB)


def test_a_table_can_be_no_larger_than_we_said():
    with http() as serving:
        for bad in (b'\x3f\xe1\xff\xff\x07', b'\xff\xff\xff\xff\xff\xff\xff',
                    b'\xc0', b'\x80', b'\x40\xff\xff\xff\xff\x0f', b'\0\1'):
            with Frames(serving.urls[0]) as client:
                client.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, bad))
                client.dismissed(PROTOCOL_ERROR, 9)


def test_frames_that_break_the_rules_end_the_connection():
    cases = [
        frame(DATA, 0, 0, b'x'), frame(HEADERS, 4, 0, block()),
        frame(HEADERS, 4, 2, block()), frame(DATA, 0, 1, b'x'),
        frame(PING, 0, 0, b'short'), frame(PING, 0, 1, b'12345678'),
        frame(SETTINGS, 0, 1), frame(SETTINGS, 0, 0, b'12345'),
        frame(SETTINGS, ACK, 0, b'123456'),
        frame(SETTINGS, 0, 0, struct.pack('>HI', 4, 1 << 31)),
        frame(SETTINGS, 0, 0, struct.pack('>HI', 5, 1)),
        frame(WINDOW, 0, 0, b'\0\0\0\0'), frame(WINDOW, 0, 0, b'123'),
        frame(WINDOW, 0, 0, b'\x7f\xff\xff\xff') * 2,
        frame(RESET, 0, 1, b'\0\0\0\x08'), frame(RESET, 0, 0, b'\0\0\0\x08'),
        frame(PUSH, 4, 1, b'\0\0\0\2' + block()), frame(CONTINUATION, 4, 1),
        frame(HEADERS, 0, 1, block()) + A_PING,
        frame(HEADERS, 4 | 8, 1, b'\xff' + block()),
        frame(DATA, 0, 0, b'x' * 20000), b'\xff' * 100,
        request(3, NO_SESSION) + request(1, NO_SESSION),
        frame(PRIORITY, 0, 0, b'\0' * 5)]
    with http() as serving:
        for bad in cases:
            with Frames(serving.urls[0]) as client:
                client.send(bad)
                got = client.dismissed(*range(1, 14))
                require(got, bad[:40], 'was let pass')


def test_what_is_not_the_preface_is_not_served():
    with http() as serving:
        for start in (PREFACE[:-1] + b'x', PREFACE[:18] + b'x' * 6,
                      PREFACE.replace(b'2.0', b'2.1'), PREFACE + A_PING,
                      PREFACE + b'GET / HTTP/1.1\r\n\r\n', PREFACE * 2):
            with Frames(serving.urls[0], greet=False) as client:
                client.send(start)
                client.dismissed(*range(1, 14))


def test_values_cannot_break_the_head_of_an_answer():
    odd = [b'a\r\ninjected: yes', b'a\ninjected: yes', b'a\rb', b'a\0b', b' a',
           b'a ', b'\x7f', b'a\tb', b'\xff', b'']
    with http() as serving:
        for value in odd:
            for name in (b'x-request-id', b'origin', b'mcp-session-id',
                         b'access-control-request-headers'):
                with Frames(serving.urls[0]) as client:
                    method = b'OPTIONS' if name.startswith(b'acc') else b'POST'
                    more = [(name, value)] + ([(b'origin', b'http://localhost')]
                                              if method == b'OPTIONS' else [])
                    client.send(request(1, INITIALIZE, more, method=method))
                    for one in iter(client.next, None):
                        require(b'injected' not in one.body, name, value, one)
                        if one.stream == 1 and (one.kind == RESET or
                                                one.flags & END_STREAM):
                            break
                    answers(client)
        for good, bad in ((b'/mcp', b'/m\rp'), (b'127.0.', b'127\n0.'),
                          (b'POST', b'PO\nT'), (b':sch', b':s\0h')):
            with Frames(serving.urls[0]) as client:
                client.send(frame(HEADERS, END_HEADERS | END_STREAM, 1,
                                  block().replace(good, bad)))
                equal(client.until(RESET, 1).stream, 1)


def test_a_modern_call_is_cancelled_when_its_stream_is_reset():
    with served('http') as serving, Frames(serving.urls[0]) as client:
        body = modern(1, 'slow', 'p', steps=1000, delay_ms=20)
        client.send(request(1, body, fields('slow')))
        client.until(DATA, 1)
        client.send(frame(RESET, 0, 1, struct.pack('>I', CANCEL)))
        answers(client)
        if SLOW > 1:
            return  # the rest is told by the time it takes
        time.sleep(0.1)
        started = time.monotonic()
        equal(serving.end(), 0, 'exit')
        require(time.monotonic() - started < 0.7, 'the call went on')


def may_begin(serving):
    with Web(serving.urls[0]) as web:
        return web.ask(post(INITIALIZE)).status == 200


def test_who_opens_no_window_is_not_waited_for_for_long():
    settings = struct.pack('>HI', 4, 0)
    with served('http') as serving:
        before = status(serving, 'VmRSS')
        clients = [Frames(serving.urls[0], settings) for _ in range(3)]
        for client in clients:
            client.send(b''.join(call(stream, 'large', bytes=6 * MIB)
                                 for stream in range(1, 81, 2)))
        time.sleep(0.5)
        check_memory(serving, before, 300 * MIB)
        until(lambda: may_begin(serving), 'others are served', 15 * SLOW)
        check_memory(serving, before, 300 * MIB)
        for client in clients:
            client.socket.close()
        lives(serving)


def test_one_stream_more_than_we_allow_is_refused():
    opened = b''.join(request(stream) for stream in range(1, 2 * 101, 2))
    with http() as serving:
        with Frames(serving.urls[0], ack=False) as client:  # it may not know
            client.send(opened)
            refused = client.until(RESET)
            equal((refused.stream, refused.body), (201, b'\0\0\0\7'))
        with Frames(serving.urls[0]) as client:  # it has been told
            client.send(opened)
            equal(client.dismissed(PROTOCOL_ERROR), PROTOCOL_ERROR)


def test_a_slow_body_runs_out_of_time():
    short = f'{0.6 * SLOW:g}'
    with http('--head-timeout', short, '--body-timeout', short) as serving:
        with Frames(serving.urls[0]) as client:
            client.send(request(1) + frame(DATA, 0, 1, b'{'))
            started = time.monotonic()
            contains(client.body(1), b'not whole in time')
            require(time.monotonic() - started < 4 * SLOW, 'a slow body')
        with Frames(serving.urls[0], greet=False) as client:
            client.send(PREFACE[:10])
            equal([one.kind for one in client.frames()
                   if one.kind != GOAWAY], [])


def test_a_slow_head_runs_out_of_time():
    short = f'{0.6 * SLOW:g}'
    greeted, first = PREFACE + frame(SETTINGS), frame(HEADERS, 0, 1, block())
    with http('--head-timeout', short) as serving:
        for start in (
                PREFACE, PREFACE + frame(SETTINGS)[:8], greeted + first,
                greeted + first[:-1], greeted + first[:9],
                greeted + first + frame(CONTINUATION, 0, 1),
                greeted + call(1, 'echo', text='x')
                + frame(HEADERS, 0, 3, block())):
            with Frames(serving.urls[0], greet=False) as client:
                client.send(start)
                started = time.monotonic()
                equal(client.until(GOAWAY).body[7], CALM, start)
                took = time.monotonic() - started
                require(0.3 * SLOW < took < 4 * SLOW, start, took)
                equal(client.next(), None, 'it should end:')
        with Frames(serving.urls[0]) as client:
            client.send(call(1, 'echo', text='x'))
            contains(client.body(1), b'x')
            time.sleep(1.2 * SLOW)  # silence between requests is no crime
            answers(client)


def test_bodies_have_the_same_limit():
    with http('--max-message', '64K') as serving, \
            Frames(serving.urls[0]) as client:
        client.send(request(1, more=[(b'content-length', b'65537')]))
        contains(client.body(1), b'-32012')
        client.send(request(3))
        for _ in range(5):
            client.send(frame(DATA, 0, 3, b' ' * 16 * KIB))
        contains(client.body(3), b'-32012')
        answers(client)


def test_nonsense_does_not_bring_it_down():
    seeds = [call(1, 'echo', text='x'), call(3, 'slow', steps=1, delay_ms=1),
             A_PING, frame(SETTINGS, 0, 0, struct.pack('>HI', 3, 100)),
             frame(WINDOW, 0, 0, b'\0\0\1\0'), frame(RESET, 0, 1, b'\0\0\0\1'),
             frame(GOAWAY, 0, 0, b'\0' * 8), request(5), request(7, INITIALIZE)]
    with http() as serving:
        for seed in range(300):
            dice = random.Random(seed)
            data = bytearray(b''.join(dice.choice(seeds)
                                      for _ in range(dice.randrange(1, 20))))
            for _ in range(dice.randrange(0, 8)):
                data[dice.randrange(len(data))] = dice.randrange(256)
            with Frames(serving.urls[0]) as client:
                client.send(bytes(data))
                if dice.random() < 0.5:
                    client.dismissed(*range(0, 14))


def test_after_all_of_that_it_is_as_it_was():
    standing.end()


if __name__ == '__main__':
    sys.exit(main(__name__))
