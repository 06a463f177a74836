#!/usr/bin/env python3
"""test_ws_bad.py - `fairlead demo` over WebSocket, and everything a peer
should not do: break the framing, ask and not listen, vanish.

It costs that peer its socket, at worst, and is told with the close code there
is for it. Each fact ends by seeing that others are served, that no file is
left open and that memory is what it was. Prints TAP. FAIRLEAD names the
program; our own client is in test_call_ws.py.
"""
import atexit
import contextlib
import json
import os
import random
import select
import signal
import socket
import struct
import sys
import threading
import time
from pathlib import Path

import frames
from flow import (SLOW, WAIT, Mismatch, call, contains, equal, main, require,
                  started, until)
from sockets import (BINARY, CLOSE, DEFLATE, FIN, MASK, MORE, PACKED, PING,
                     PONG, TEXT, Client, closing, fragments, frame,
                     handshake, pack, text)
from web import (INITIALIZE, INVALID, LEGACY, PARSE, Standing, Web,
                 check_memory, head, message, modern, post, tool, unharmed)
from web import PING as ASK
from wire import KIB, MIB, files, served, settled, status

HERE = Path(__file__).resolve().parent
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
PONGED = b'{"jsonrpc":"2.0","id":"ping","result":{}}'
LIMIT = 64 * KIB
SMALL = ('--max-message', str(LIMIT))
BEAT = 0.5 * SLOW
BEATS = ('--ping-interval', f'{BEAT:g}')
standing = Standing()
http = standing.http


def place(serving):
    return serving.urls[0].replace('http', 'ws', 1)


def opened(serving, **more):
    """A socket with a session on it."""
    client = Client(place(serving), **more)
    contains(client.ask(INITIALIZE)['result'], 'serverInfo')
    client.send(text(INITIALIZED))
    return client


def answers(client):
    """It answers, and with nothing else before."""
    client.send(text(ASK))
    equal(client.hear(), PONGED)


def served_anew(serving):
    with Client(place(serving)) as client:
        answers(client)


class Late:
    """What takes 30 seconds that no option of the command makes shorter goes
    on beside the other tests."""

    def __init__(self):
        self.stack = contextlib.ExitStack()
        atexit.register(self.stack.close)

    def start(self):
        serving = self.stack.enter_context(served('ws'))
        begin = self.stack.enter_context
        self.silent = begin(Client(serving.urls[0]))
        self.pinging = begin(Client(serving.urls[0]))
        self.pinging.send(frame(FIN | PING))  # which is no message
        equal(self.pinging.next(), (FIN | PONG, b''))
        self.half = begin(Client(serving.urls[0]))
        answers(self.half)
        self.half.send(frame(TEXT, ASK[:9]) + frame(MORE, ASK[9:10]))
        self.cut = begin(Client(serving.urls[0]))
        answers(self.cut)
        self.cut.send(text(ASK)[:-1])
        for client in (self.silent, self.pinging, self.half, self.cut):
            client.socket.settimeout(30 + WAIT)


late = Late()


IDS = [b'1', b'"1"', b'9007199254740993123', b'9007199254740993124',
       b'"9007199254740993123"', b'-9223372036854775809', b'-0', b'0', b'1e2',
       b'100', b'1.0', b'""', b'"\\u0031"', b'"a\\/\\"b\\\\"',
       '"é😀"'.encode(), b'"\\u00e9\\ud83d\\ude00"',
       b'"' + b'x' * 300 + b'"', b'7' * 100]


def echo(number, said):
    return (b'{"jsonrpc":"2.0","id":' + number + b',"method":"tools/call",'
            b'"params":{"name":"echo","arguments":{"text":"' + said + b'"}}}')


def echoed(number, said):
    return (b'{"jsonrpc":"2.0","id":' + number + b',"result":{"content":['
            b'{"type":"text","text":"' + said + b'"}]}}')


def slow(number, steps, delay=50, token=None):
    meta = {} if token is None else {'_meta': {'progressToken': token}}
    return message(number, 'tools/call', name='slow',
                   arguments={'steps': steps, 'delay_ms': delay}, **meta)


def done(number, steps):
    return echoed(json.dumps(number).encode(), b'done, in %d steps' % steps)


def hear_all(client, count):
    """So many answers, sorted, and what was said of progress."""
    heard, progress = [], []
    while len(heard) < count:
        said = client.hear()
        (progress if b'"method"' in said else heard).append(said)
    return sorted(heard), [json.loads(one)['params'] for one in progress]


def test_every_id_comes_back_byte_by_byte_to_who_sent_it():
    with http() as serving, contextlib.ExitStack() as stack:
        many = [stack.enter_context(opened(serving)) for _ in range(20)]
        for steps, client in enumerate(many, 10):
            client.send(text(slow('slow', steps, token='t')))
        totals = [client.receive()['params']['total'] for client in many]
        equal(totals, list(range(10, 30)), 'slow is under way:')
        for turn, number in enumerate(IDS):
            for at, client in enumerate(many):
                own = IDS[(turn + at) % len(IDS)] if at % 2 else number
                client.send(text(echo(own, b'%d %d' % (at, turn))))
        for at, (steps, client) in enumerate(enumerate(many, 10)):
            want = [echoed(IDS[(turn + at) % len(IDS)] if at % 2 else number,
                           b'%d %d' % (at, turn))
                    for turn, number in enumerate(IDS)]
            heard, progress = hear_all(client, len(IDS) + 1)
            equal(heard, sorted([*want, done('slow', steps)]), at)
            require(all(one['progressToken'] == 't' and one['total'] == steps
                        for one in progress), at, progress)


def test_one_and_the_text_one_are_two_calls_and_of_two_sockets_four():
    with http() as serving, opened(serving) as one, opened(serving) as other:
        for client, steps in ((one, 20), (other, 22)):
            client.send(text(slow(1, steps)) + text(slow('1', steps + 1)))
        one.send(text(b'{"jsonrpc":"2.0","method":"notifications/cancelled",'
                      b'"params":{"requestId":"1"}}'))
        equal(one.hear(), done(1, 20))
        equal(hear_all(other, 2)[0], sorted([done(1, 22), done('1', 23)]))
        answers(one)  # and nothing came for what was cancelled


PUPPET = '''
import sys
from sockets import Client
client = Client(sys.argv[1])
client.send(bytes.fromhex(sys.stdin.readline()))
print(client.frame() if len(sys.argv) > 2 else "sent", flush=True)
sys.stdin.read()
'''


@contextlib.contextmanager
def puppet(serving, data, *listen):
    """Another process that says this, and nothing after it."""
    words = [sys.executable, '-c', PUPPET, place(serving), *listen]
    with started(*words, env={**os.environ, 'PYTHONPATH': str(HERE)},
                 stderr=None) as process:
        process.stdin.write(data.hex().encode() + b'\n')
        process.stdin.flush()
        require(process.stdout.readline(), 'it could not say it')
        yield process


def test_who_is_killed_leaves_nothing_behind():
    begun = text(modern(1, 'slow', 'token', steps=10000, delay_ms=20))
    whole = text(ASK)
    with http() as serving:
        for data, listen in ((begun, ['listen']), (b'', []), (whole[:1], []),
                             (whole[:5], []), (whole[:-1], []),
                             (frame(TEXT, ASK[:9]), []),
                             (frame(TEXT, ASK[:9]) + whole[:4], []),
                             (b''.join(fragments(ASK, 3, 9)[:2]), []),
                             (frame(TEXT, b'[' * MIB), [])):
            with puppet(serving, data, *listen) as process:
                process.kill()
                process.wait(WAIT)
        served_anew(serving)


def test_who_answers_no_ping_is_gone_after_two():
    with http(*BEATS) as serving:
        before = settled(serving)
        alert = opened(serving)
        many = [opened(serving) for _ in range(10)]
        for client in many[:5]:
            client.send(text(slow(1, 10000)))
        many[5].send(text(ASK)[:7])
        many[6].send(frame(TEXT, b'{'))
        with alert:
            for _ in range(6):  # who does answer stays
                while (one := alert.frame())[0] != FIN | PING:
                    pass
                alert.send(frame(FIN | PONG, one[1]))
            answers(alert)
            until(lambda: files(serving) == before + 1, 'they are dropped')
            answers(alert)
        for client in many:
            client.__exit__()


def test_a_reset_at_any_moment_leaves_nothing_behind():
    begun = text(slow(1, 10000, 1))
    large = text(tool(2, 'large', bytes=8 * MIB))
    with http() as serving:
        for data in (b'', begun, begun[:3], begun[:-1], large, large * 9,
                     frame(TEXT, b'{') + frame(FIN | PING), closing(1000),
                     closing(1000)[:3], frame(FIN | TEXT, b'', b'')):
            for leave in (Client.vanish, Client.__exit__, Client.finish):
                with opened(serving) as client:
                    client.say(data)
                    leave(client)
        served_anew(serving)


def test_half_a_socket_is_none():
    with http() as serving:
        for data in (b'', text(ASK)[:3], frame(TEXT, b'{')):
            with opened(serving) as client:
                client.send(data)
                client.finish()  # but would listen on
                equal(client.frames(), [], data)


def fill(client, data, patience=min(1 * SLOW, 3)):
    """Says it over and over, until the server takes no more. (For five seconds:
    then it closes, and to see that closed it takes whatever comes.)"""
    client.socket.setblocking(False)
    sent = 0
    while select.select([], [client.socket], [], patience)[1]:
        require(sent < 512 * MIB, 'it takes for ever')
        with contextlib.suppress(BlockingIOError):
            sent += client.socket.send(data[sent % len(data):])
    client.socket.settimeout(WAIT)
    return sent


def test_who_asks_and_never_reads_is_closed_with_1011():
    ask = text(tool(1, 'large', bytes=4 * MIB))
    with http() as serving, opened(serving) as other:
        memory = status(serving, 'VmRSS')
        with opened(serving, buffer=4096) as deaf:
            fill(deaf, ask)
            answers(other)
            # it takes no more; when it has had enough, it reads and drops
            end = time.monotonic() + WAIT
            while not select.select([], [deaf.socket], [], 0.05)[1]:
                require(time.monotonic() < end, 'it is waited for')
                answers(other)
                check_memory(serving, memory)
            # it has close_ms for what is left: on a busy machine, in gulps
            deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * MIB)
            heard = deaf.frames()
        equal(heard[-1][0], FIN | CLOSE, 'the last frame:')
        equal(struct.unpack('!H', heard[-1][1][:2])[0], 1011, heard[-1])
        contains(heard[-1][1], b'send_timeout_ms')
        answers(other)


def test_who_never_reads_not_even_the_close_is_dropped():
    ask = text(tool(1, 'large', bytes=4 * MIB)) + frame(FIN | PING, b'x' * 125)
    with http() as serving, opened(serving) as other:
        before, memory = files(serving), status(serving, 'VmRSS')
        deaf = [opened(serving, buffer=4096) for _ in range(5)]
        for client in deaf:
            client.socket.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                client.socket.send(ask * 100)
        end = time.monotonic() + WAIT
        while files(serving) > before:
            require(time.monotonic() < end, 'they are not dropped')
            answers(other)
            check_memory(serving, memory)
            time.sleep(0.02)
        for client in deaf:
            client.__exit__()


def test_who_reads_late_gets_every_answer():
    with http() as serving, opened(serving, buffer=4096) as client:
        asks = b''.join(text(tool(number, 'large', bytes=64 * KIB))
                        for number in range(200))
        sender = threading.Thread(target=client.say, args=(asks,), daemon=True)
        sender.start()
        time.sleep(1)  # not as long as it may take
        for number in range(200):
            answer = client.receive()
            equal(answer['id'], number)
            equal(len(answer['result']['content'][0]['text']), 64 * KIB)
        sender.join(WAIT)
        answers(client)


def test_1000_is_answered_with_1000_and_any_code_with_itself():
    with http() as serving:
        for code in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011,
                     1012, 1013, 1014, 3000, 3999, 4000, 4999):
            with opened(serving) as client:
                client.send(closing(code, b'because') + text(ASK))
                equal(client.frames(),
                      [(FIN | CLOSE, struct.pack('!H', code))])
        with opened(serving) as client:
            client.send(frame(FIN | CLOSE))
            equal(client.frames(), [(FIN | CLOSE, b'')])


def test_1001_is_said_to_all_when_the_server_is_told_to_end():
    with served('http') as serving, contextlib.ExitStack() as stack:
        many = [stack.enter_context(opened(serving)) for _ in range(20)]
        many[1].send(text(slow('in time', 3)))
        many[2].send(text(slow('late', 10000)))
        many[3].send(frame(TEXT, b'{'))
        many[4].send(text(ASK)[:5])
        for client in many[1:3]:
            client.send(text(ASK))
            equal(hear_all(client, 1)[0], [PONGED])
        serving.process.send_signal(signal.SIGTERM)
        equal(many[1].hear(), done('in time', 3))
        for client in [*many[:2], *many[3:]]:
            client.closed(1001)
        answer = many[2].receive()
        equal((answer['id'], answer['error']['code']), ('late', -32603))
        many[2].closed(1001)
        equal(serving.process.wait(WAIT), 0, 'exit')


def test_a_server_that_ends_does_not_wait_for_ever_for_a_close():
    with served('http') as serving, contextlib.ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(opened(serving))
        equal(serving.end(), 0, 'exit')


def test_1001_is_said_to_who_says_nothing_for_too_long():
    idle = ('--idle-timeout', f'{0.5 * SLOW:g}')
    with http(*idle) as serving, opened(serving) as client:
        contains(client.closed(1001), 'idle_timeout_ms')


def raw(first, second, rest=b''):
    return bytes([first, second]) + rest


FAULTS = {
    'no mask': frame(FIN | TEXT, ASK, b''),
    'no mask, empty': frame(FIN | TEXT, b'', b''),
    'RSV1, not agreed on': frame(FIN | 0x40 | TEXT, ASK),
    'RSV2': frame(FIN | 0x20 | TEXT, ASK),
    'RSV3': frame(FIN | 0x10 | TEXT, ASK),
    'RSV1 on a ping': frame(FIN | 0x40 | PING),
    **{f'opcode {kind}': frame(FIN | kind, b'x')
       for kind in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)},
    'a ping in fragments': frame(PING),
    'a close in fragments': frame(CLOSE),
    'a ping of 126 bytes': frame(FIN | PING, b'x' * 126),
    'a pong of 126 bytes': frame(FIN | PONG, b'x' * 126),
    'a close of 126 bytes': closing(1000, b'x' * 124),
    'a continuation of nothing': frame(FIN | MORE, ASK),
    'a continuation after the end':
        b''.join(fragments(b'\n\n', 1)) + frame(MORE, b'x'),
    'text within text': frame(TEXT, b'{') + frame(TEXT, b'}'),
    'whole text within text': frame(TEXT, b'{') + text(ASK),
    '16 bits for 125': raw(FIN | TEXT, 0x80 | 126, b'\0\x7d' + MASK),
    '64 bits for 65535': raw(FIN | TEXT, 0x80 | 127,
                             struct.pack('!Q', 65535) + MASK),
    'a length of 2^63': raw(FIN | TEXT, 0x80 | 127, b'\x80' + b'\0' * 7
                            + MASK),
    'half a code': frame(FIN | CLOSE, b'\x03'),
    **{f'a close with {code}': closing(code) for code in (
        0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535)},
}


def test_1002_is_said_to_who_breaks_the_framing():
    with http() as serving:
        for name, data in FAULTS.items():
            with opened(serving) as client:
                answers(client)
                client.say(data)
                require(client.closed(1002, name), name, 'has no reason')
        for name, data in (
                ('RSV2', frame(FIN | PACKED | 0x20 | TEXT, pack(ASK))),
                ('packed ping', frame(FIN | PACKED | PING)),
                ('packed close', frame(FIN | PACKED | CLOSE)),
                ('packed continuation', frame(TEXT | PACKED, pack(ASK)[:3])
                 + frame(MORE | PACKED, pack(ASK)[3:]))):
            with opened(serving, **DEFLATE) as client:
                require(client.packs, 'it does not pack')
                client.say(data)
                client.closed(1002, name)


def test_1002_is_said_before_the_frame_is_whole():
    with http() as serving:
        for name, size in (('RSV2', 2), ('no mask', 2), ('opcode 3', 2),
                           ('a ping in fragments', 2),
                           ('a ping of 126 bytes', 2),
                           ('a continuation of nothing', 2),
                           ('16 bits for 125', 8), ('a length of 2^63', 14)):
            with opened(serving) as client:
                client.send(FAULTS[name][:size])
                client.closed(1002, name)


def test_what_follows_a_fault_is_not_served():
    with http() as serving:
        for data in (FAULTS['RSV2'], frame(FIN | BINARY, b'x')):
            with opened(serving) as client:
                client.say(data + text(ASK) * 1000)
                equal([first for first, _ in client.frames()], [FIN | CLOSE])


def test_who_is_still_talking_hears_why_he_is_closed():
    more = frame(FIN | PONG, b'x' * 125) * (8 * MIB // 131)
    with http(*SMALL) as serving:
        for data, code in ((FAULTS['RSV2'] + more, 1002),
                           (frame(FIN | BINARY) + more, 1003),
                           (text(b'\xff') + more, 1007),
                           (text(padded(8 * MIB)), 1009),
                           (closing(1000) + more, 1000)):
            for _ in range(5):
                with opened(serving) as client:
                    client.say(data)
                    client.closed(code)


def test_1003_is_said_to_binary():
    with http() as serving:
        for data in (frame(FIN | BINARY, ASK), frame(BINARY, ASK[:9]),
                     frame(FIN | BINARY), frame(FIN | BINARY, ASK)[:2]):
            with opened(serving) as client:
                client.say(data)
                client.closed(1003, data)


GOOD = ASK[:-1] + ', "x": "aé€😀z"}'.encode()
BAD = [b'\xff', b'\x80', b'\xc0\xaf', b'\xed\xa0\x80', b'\xf4\x90\x80\x80',
       b'\xc3', b'\xe2\x82', b'\xf0\x9f\x98', b'\xfe']


def test_text_may_be_cut_anywhere():
    with http() as serving, opened(serving) as client:
        for cut in range(len(GOOD) + 1):
            client.send(b''.join(fragments(GOOD, cut)))
            equal(client.hear(), PONGED, cut)
            whole = text(GOOD)
            client.send(whole[:cut])
            client.send(whole[cut:])
            equal(client.hear(), PONGED, cut)
        client.send(b''.join(fragments(GOOD, *range(1, len(GOOD)))))
        equal(client.hear(), PONGED)


def test_1007_is_said_to_text_that_is_not_utf_8_wherever_it_is_cut():
    with http() as serving:
        for wrong in BAD:
            bad = GOOD.replace(b'z', wrong)
            for cut in range(GOOD.index(b'"x"'), len(bad) + 1):
                with Client(place(serving)) as client:
                    client.say(b''.join(fragments(bad, cut)))
                    client.closed(1007, (wrong, cut))
        for end in ('é', '€', '😀'):
            for cut in range(1, len(end.encode())):
                with Client(place(serving)) as client:
                    client.say(text(b'"' + end.encode()[:cut]))
                    client.closed(1007, (end, cut))
        whole = text(GOOD.replace(b'z', b'\xff'))
        for cut in range(len(whole)):
            with Client(place(serving)) as client:
                client.send(whole[:cut])
                client.say(whole[cut:])
                client.closed(1007, cut)


def test_1007_is_said_before_the_message_is_whole():
    with http() as serving:
        for bad in BAD[:5]:
            with Client(place(serving)) as client:
                client.send(frame(TEXT, b'"' + bad))
                client.closed(1007, bad)


def test_1007_is_said_to_reasons_and_packed_text_that_cannot_be():
    with http() as serving:
        for bad in BAD:
            with Client(place(serving)) as client:
                client.say(closing(1000, bad))
                client.closed(1007, bad)
            with Client(place(serving), **DEFLATE) as client:
                client.say(frame(FIN | PACKED | TEXT, pack(b'"' + bad)))
                client.closed(1007, bad)
        for bad in (b'\xff\xff\xff\xff', b'\x07',
                    pack(ASK)[:-3] + b'\xff' * 9):
            with Client(place(serving), **DEFLATE) as client:
                client.say(frame(FIN | PACKED | TEXT, bad))
                client.closed(1007, bad)


def padded(size):
    return ASK[:-1] + b' ' * (size - len(ASK)) + b'}'


def test_1009_is_said_one_byte_past_the_limit_and_not_at_it():
    with http(*SMALL) as serving:
        with Client(place(serving), **DEFLATE) as client:
            for parts in ([text(padded(LIMIT))], fragments(padded(LIMIT), 1),
                          fragments(padded(LIMIT), LIMIT - 1),
                          fragments(padded(LIMIT), *range(1, LIMIT, 999)),
                          fragments(padded(LIMIT), LIMIT),
                          [frame(FIN | PACKED | TEXT, pack(padded(LIMIT)))]):
                client.send(b''.join(parts))
                equal(client.hear(), PONGED)
        past = padded(LIMIT + 1)
        for parts in ([text(past)], fragments(past, 1), fragments(past, LIMIT),
                      fragments(past, *range(1, LIMIT, 999)),
                      [frame(FIN | PACKED | TEXT, pack(past))],
                      [frame(FIN | PACKED | TEXT, pack(b' ' * 64 * MIB))],
                      [text(past)[:14]],  # no more than its head
                      [raw(FIN | TEXT, 0x80 | 127,
                           b'\x7f' + b'\xff' * 7 + MASK)]):
            with Client(place(serving), **DEFLATE) as client:
                client.say(b''.join(parts))
                contains(client.closed(1009, parts[0][:20]), str(LIMIT))


def test_an_answer_over_the_limit_is_an_error():
    with http(*SMALL) as serving, opened(serving) as client:
        answer = client.ask(tool(1, 'large', bytes=LIMIT))
        contains(answer, 'error')
        answers(client)


def is_busy(client):
    """Whether a request is turned away for now; the socket stands."""
    client.send(text(ASK))
    said = client.hear()
    if said != PONGED:
        contains(said.decode(), '"code":-32010')
    return said != PONGED


def test_1013_is_said_when_all_the_memory_there_is_is_used_up():
    piece = frame(TEXT, b' ' * (16 * MIB - 1))
    # what is freed may stay with the process, for the next one to have
    with served('http') as serving, unharmed(serving, 320 * MIB), \
            contextlib.ExitStack() as stack:
        old = stack.enter_context(opened(serving))
        many = [stack.enter_context(Client(place(serving)))
                for _ in range(20)]
        busy = False
        for client in many:
            client.say(piece)
            busy = is_busy(old) or busy
        require(busy, 'nothing new is begun meanwhile')
        told = [one for one in many
                if select.select([one.socket], [], [], 0)[0]]
        require(2 < len(told) < 10, len(told), 'were told')
        for client in told:
            contains(client.closed(1013), 'memory_budget')
        for client in many:
            client.__exit__()
        until(lambda: not is_busy(old), 'it is served again')
        until(lambda: is_open(serving), 'others are served again')


def is_open(serving):
    try:
        served_anew(serving)
    except Mismatch:
        return False
    return True


def test_what_is_no_handshake_is_refused_with_its_status():
    with http() as serving, Web(serving.urls[0]) as web:
        def refused(data, wanted):
            answer = web.ask(data).expect(wanted, INVALID)
            require('sec-websocket-accept' not in dict(answer.fields), answer)
            return answer

        for target in ('/mcp', '/mcp/ws'):
            for origin in ('https://evil.example', 'null', 'file://',
                           'http://127.0.0.1@evil.example', 'http://localhost.'
                           'evil.example'):
                refused(handshake(target, Origin=origin), 403)
            for host in ('evil.example', '127.0.0.1.evil.example'):
                refused(handshake(target, Host=host), 421)
            for version in ('12', '14', '8', '0', '013', 'x'):
                answer = refused(handshake(
                    target, Sec_WebSocket_Version=version), 426)
                equal(answer.field('sec-websocket-version'), '13')
            for wrong in (
                    {'Sec-WebSocket-Key': None}, {'Sec-WebSocket-Key': ''},
                    {'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ='},
                    {'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==='},
                    {'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25j****'},
                    {'Sec-WebSocket-Version': None},
                    {'Connection': 'keep-alive'}, {'Connection': None}):
                refused(handshake(target, **wrong), 400)
            refused(handshake(target)[:-2]
                    + b'Sec-WebSocket-Version: 13\r\n\r\n', 400)
            for method in ('POST', 'PUT', 'DELETE'):
                refused(handshake(target, method), 405)
        refused(handshake('/elsewhere'), 404)
        refused(handshake('/mcp/ws/'), 404)
        answer = refused(head('GET', '/mcp/ws'), 426)
        equal(answer.field('upgrade'), 'websocket')
        equal(answer.field('sec-websocket-version'), '13')
        web.ask(post(INITIALIZE)).expect(200)  # it is the same connection


def test_a_second_key_ends_the_connection():
    with http() as serving, Web(serving.urls[0]) as web:
        lines = handshake('/mcp').split(b'\r\n')
        key = next(line for line in lines if b'-Key' in line)
        web.ask(b'\r\n'.join([*lines[:-2], key, b'', b''])
                ).expect(400, INVALID)
        web.ends()


def test_a_handshake_has_no_body():
    with http() as serving:
        for fields, body in (({'Content-Length': 5}, b'12345'),
                             ({'Transfer-Encoding': 'chunked'},
                              b'1\r\nx\r\n0\r\n\r\n')):
            with Web(serving.urls[0]) as web:
                web.ask(handshake('/mcp', **fields) + body).expect(400)
                web.send(post(INITIALIZE))
                after = web.answer()
                require(after is None or after.status == 200, after)
        with Client(place(serving), Content_Length=0) as client:
            answers(client)


def test_http_1_0_has_no_sockets():
    with http() as serving:
        for target in ('/mcp', '/mcp/ws'):
            with Web(serving.urls[0]) as web:
                web.send(handshake(target, version='1.0'))
                got = [answer.status for answer in web.answers()]
                require(len(got) == 1 and got[0] >= 400, target, got)


def test_a_handshake_may_be_written_in_many_ways():
    with http() as serving:
        for fields in ({'Upgrade': 'WebSocket'}, {'Upgrade': 'h2c, websocket'},
                       {'Connection': 'keep-alive, UPGRADE'},
                       {'Origin': 'http://localhost'},
                       {'Origin': 'http://127.0.0.1:8080'},
                       {'Host': 'localhost'},
                       {'Sec-WebSocket-Protocol': 'other'},
                       {'Sec-WebSocket-Extensions': 'x-unheard-of; a="b c"'},
                       {'Sec-WebSocket-Extensions':
                        'permessage-deflate; server_max_window_bits=99'}):
            for target in ('/mcp', '/mcp/ws', '/mcp?a=b'):
                with Client(place(serving), target=target, **fields) as client:
                    require(not client.packs, fields)
                    answers(client)


def test_the_subprotocol_is_one_of_those_offered():
    with http() as serving:
        for offered, chosen in (('mcp.v1', 'mcp.v1'), ('mcp', 'mcp'),
                                ('mcp, mcp.v1', 'mcp.v1'), ('MCP', None),
                                ('soap, mcp', 'mcp'), ('soap', None)):
            with Web(serving.urls[0]) as web:
                web.send(handshake('/mcp', Sec_WebSocket_Protocol=offered))
                equal(web.line(), b'HTTP/1.1 101 Switching Protocols')
                fields = dict(line.split(b': ', 1)
                              for line in iter(web.line, b''))
                equal(fields.get(b'sec-websocket-protocol'),
                      chosen and chosen.encode(), offered)


def test_what_comes_right_behind_a_handshake_is_frames():
    asks = text(ASK) + frame(FIN | PING, b'x') + text(ASK)
    with http() as serving:
        for cut in range(len(asks) + 1):
            with Client(place(serving), asks[:cut]) as client:
                client.send(asks[cut:])
                equal([client.next() for _ in range(3)],
                      [(FIN | TEXT, PONGED), (FIN | PONG, b'x'),
                       (FIN | TEXT, PONGED)], cut)
        with Client(place(serving), FAULTS['RSV2']) as client:
            client.closed(1002)
        with Client(place(serving), post(INITIALIZE)) as client:
            client.closed(1002)  # a P is no frame
        with Client(place(serving), closing(1000)) as client:
            equal(client.frames(), [(FIN | CLOSE, b'\x03\xe8')])


def test_a_handshake_may_come_byte_by_byte_and_after_other_requests():
    with http() as serving, Web(serving.urls[0]) as web:
        web.ask(post(INITIALIZE)).expect(200)
        for byte in handshake('/mcp'):
            web.send(bytes([byte]))
        equal(web.line(), b'HTTP/1.1 101 Switching Protocols')
        while web.line():
            pass
        web.send(text(ASK))
        equal(web.take(len(PONGED) + 2), frame(FIN | TEXT, PONGED, b''))


def test_a_server_that_wants_no_sockets_has_none():
    with http('--no-ws') as serving, Web(serving.urls[0]) as web:
        web.ask(handshake('/mcp')).expect(405)
        web.ask(handshake('/mcp/ws')).expect(404)
        web.ask(head('GET', '/mcp/ws')).expect(404)
        web.ask(post(INITIALIZE)).expect(200)
        call(place(serving), 'ping').expect(2)


def test_a_server_of_sockets_alone_has_nothing_else():
    with served('ws') as serving:
        with Client(serving.urls[0]) as client:
            answers(client)
        with Web(serving.urls[0]) as web:
            web.ask(head('GET')).expect(426)
            web.ask(handshake('/mcp/ws')).expect(404)
            require(web.ask(post(INITIALIZE)).status in (404, 405, 426),
                    'it takes messages over HTTP')
            web.ask(handshake('/mcp', Origin='https://evil.example')
                    ).expect(403)


def test_one_socket_too_many_is_told_so():
    with http('--max-connections', '20') as serving, \
            contextlib.ExitStack() as stack:
        many = [stack.enter_context(Client(place(serving)))
                for _ in range(20)]
        with Web(serving.urls[0]) as web:
            answer = web.ask(handshake('/mcp')).expect(503)
            require(answer.field('retry-after'), answer)
        for client in many:
            answers(client)
        before = files(serving)
        for client in many[:5]:
            client.__exit__()
        until(lambda: files(serving) == before - 5, 'there is room again')
        served_anew(serving)


def test_one_frame_is_one_message_or_several_lines():
    pretty = json.dumps(json.loads(ASK), indent=4).encode()
    with http() as serving, opened(serving) as client:
        for said, count in (
                (pretty, 1), (pretty.replace(b'\n', b'\r\n'), 1),
                (ASK + b'\n', 1), (b'\r\n \t' + ASK + b' \r\n\n', 1),
                (ASK + b'\n' + ASK, 2), (ASK + b'\r\n\r\n' + ASK + b'\n', 2),
                (b'\n'.join([ASK] * 1000), 1000), (b'', 0), (b' \r\n\t\n', 0)):
            client.send(text(said) + frame(FIN | PING, b'behind'))
            heard = list(iter(client.next, (FIN | PONG, b'behind')))
            equal(heard, [(FIN | TEXT, PONGED)] * count, said[:100])
            for cut in range(0, min(len(said), 80), 7):
                client.send(b''.join(fragments(said, cut)))
                equal([client.hear() for _ in range(count)], [PONGED] * count)


def test_pings_between_fragments_are_answered_at_once():
    with http() as serving, opened(serving) as client:
        pieces = fragments(ASK, *range(1, len(ASK)))
        for at, piece in enumerate(pieces[:-1]):
            client.send(piece + frame(FIN | PING, b'%d' % at)
                        + frame(FIN | PONG, b'unasked'))
            equal(client.next(), (FIN | PONG, b'%d' % at))
        client.send(pieces[-1])
        equal(client.hear(), PONGED)


def test_what_is_no_message_is_answered_and_the_socket_goes_on():
    with http() as serving, opened(serving) as client:
        for bad, code in (
                (b'{', PARSE), (b'nul', PARSE), (b'{"a":1,}', PARSE),
                (ASK + ASK, PARSE), (b'\0', PARSE), (b'[' * 1000, PARSE),
                ('\ufeff'.encode() + ASK, PARSE), (b'1', INVALID),
                (b'"x"', INVALID), (b'null', INVALID), (b'{}', INVALID),
                (b'[]', INVALID), (ASK.replace(b'2.0', b'1.0'), INVALID),
                (ASK.replace(b'"ping"', b'null', 1), INVALID),
                (b'[' + ASK + b']', INVALID)):
            error = client.ask(bad)
            number = 'ping' if b'1.0' in bad else None
            equal((error['id'], error['error']['code']), (number, code), bad)
            answers(client)
        client.send(text(b'{\n' + ASK + b'\n}'))
        codes = [client.receive().get('error', {}).get('code')
                 for _ in range(3)]
        equal(codes, [PARSE, None, PARSE], 'each line by itself:')
        client.send(text(b'{"jsonrpc":"2.0","id":1,"result":{}}'))
        answers(client)  # to a response there is no response


def test_a_batch_is_answered_with_a_batch_in_2025_03_26():
    old = INITIALIZE.replace(LEGACY.encode(), b'2025-03-26')
    with http() as serving, Client(place(serving)) as client:
        equal(client.ask(old)['result']['protocolVersion'], '2025-03-26')
        client.send(text(INITIALIZED))
        one, other = echo(b'1', b'a'), echo(b'"1"', b'b')
        for said in (b'[' + one + b',' + other + b']',
                     b'[\n' + one + b',\n' + other + b'\n]\n'):
            client.send(text(said))
            equal(client.hear(), b'[' + echoed(b'1', b'a') + b','
                  + echoed(b'"1"', b'b') + b']')
        answers(client)


def test_both_eras_are_served_on_one_socket():
    with http() as serving:
        for begin in (True, False):
            with opened(serving) if begin else \
                    Client(place(serving)) as client:
                answer = client.ask(modern(1, 'echo', text='new'))
                equal(answer['result']['resultType'], 'complete')
                if not begin:  # a session may begin after it
                    contains(client.ask(INITIALIZE)['result'], 'serverInfo')
                    client.send(text(INITIALIZED))
                client.send(text(modern(2, 'slow', steps=20, delay_ms=20))
                            + text(echo(b'3', b'old')))
                equal(client.hear(), echoed(b'3', b'old'))
                answer = client.receive()
                equal((answer['id'], answer['result']['resultType']),
                      (2, 'complete'))
                answers(client)


def test_nothing_is_served_before_initialize():
    with http() as serving, Client(place(serving)) as client:
        answer = client.ask(echo(b'1', b'x'))
        contains(answer, 'error')
        answers(client)  # but for a ping
        contains(client.ask(INITIALIZE)['result'], 'serverInfo')


@contextlib.contextmanager
def others_served(serving):
    """All the time, and soon; and memory is bounded."""
    over, trouble = threading.Event(), []
    memory = status(serving, 'VmRSS')

    def watch():
        try:
            with opened(serving) as other:
                while not over.wait(0.02):
                    begun = time.monotonic()
                    answers(other)
                    took = time.monotonic() - begun
                    require(took < 5 * SLOW, 'others waited', took, 's')
                    check_memory(serving, memory)
        except Exception as why:
            trouble.append(why)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(WAIT)
    require(not trouble, 'others were not served:', trouble)


def test_a_flood_of_pings_is_answered_to_who_listens():
    count = 50000
    with http() as serving, others_served(serving), \
            opened(serving) as client:
        pings = b''.join(frame(FIN | PING, b'%d' % at) for at in range(count))
        sender = threading.Thread(target=client.say, daemon=True, args=(
            pings + text(ASK),))
        sender.start()
        last = -1
        while (one := client.next()) != (FIN | TEXT, PONGED):
            equal(one[0], FIN | PONG)
            require(int(one[1]) > last, 'pongs are out of order')
            last = int(one[1])
        sender.join(WAIT)
        answers(client)


def test_a_flood_of_pings_to_who_does_not_listen_is_held_back():
    pings = frame(FIN | PING, b'x' * 125) * 1000
    with http() as serving, others_served(serving), \
            opened(serving, buffer=4096) as client:
        fill(client, pings)


def test_floods_of_what_needs_no_answer_cost_nothing():
    pong = frame(FIN | PONG, b'x' * 125) * 1000
    empty, blank = text(b'') * 1000, text(b'\n') * 1000
    note = text(b'{"jsonrpc":"2.0","method":"notifications/x"}') * 1000
    with http() as serving, others_served(serving):
        for piece in (pong, frame(FIN | PONG) * 1000, empty, blank, note):
            with opened(serving) as client:
                for _ in range(50):
                    client.send(piece)
                answers(client)


def test_ten_thousand_empty_fragments_are_one_message():
    with http() as serving, others_served(serving), \
            opened(serving) as client:
        client.send(frame(TEXT, ASK[:9]) + frame(MORE) * 10000
                    + frame(FIN | PING) + frame(FIN | MORE, ASK[9:]))
        equal(client.next(), (FIN | PONG, b''))
        equal(client.hear(), PONGED)
        client.send(frame(TEXT) + frame(MORE) * 10000 + frame(FIN | MORE))
        answers(client)
        client.send(frame(TEXT))
        for _ in range(100):
            client.send(frame(MORE) * 10000)
        client.send(frame(FIN | MORE, ASK))
        equal(client.hear(), PONGED)


def leave(client, way):
    if way == 0:
        client.vanish()
    elif way == 1:
        client.send(closing(1000))
        client.frames()
    elif way == 2:
        client.send(text(ASK)[:4])
    elif way == 3:
        client.send(text(slow(1, 10000)))
    client.__exit__()


def test_a_thousand_sockets_opened_and_dropped_leave_nothing_behind():
    with http() as serving, others_served(serving):
        before = settled(serving)
        for _ in range(10):
            many = [Client(place(serving)) for _ in range(100)]
            for at, client in enumerate(many):
                leave(client, at % 5)
        until(lambda: files(serving) <= before, 'no file is left open')


SEEDS = [text(ASK), text(INITIALIZE), text(INITIALIZED), closing(1000, b'bye'),
         text(tool(1, 'echo', text='é😀')), text(slow(2, 1, 1)),
         frame(FIN | PING, b'x'), frame(FIN | PONG), frame(TEXT, ASK[:9]),
         frame(MORE), frame(FIN | MORE, ASK[9:]), text(modern(3, 'time')),
         frame(FIN | PACKED | TEXT, pack(ASK)), frame(FIN | BINARY, b'x')]


CONNECT = [(b':protocol', b'websocket'), (b'sec-websocket-version', b'13')]


def socket_on(client, stream):
    """A socket that is a stream of HTTP/2 (RFC 8441)."""
    pseudo = [(b':method', b'CONNECT'), (b':scheme', b'http'),
              (b':path', b'/mcp'), (b':authority', b'127.0.0.1'), *CONNECT]
    client.send(frames.frame(
        frames.HEADERS, frames.END_HEADERS, stream,
        b''.join(frames.literal(*field) for field in pseudo)))


def data_on(stream, data):
    return frames.frame(frames.DATA, 0, stream, data)


def test_sockets_within_http_2_end_one_by_one():
    with http() as serving, frames.Frames(serving.urls[0]) as client:
        for stream in range(1, 101, 2):
            socket_on(client, stream)
            client.send(data_on(stream, text(ASK)))
            equal(client.until(frames.DATA, stream).body,
                  frame(FIN | TEXT, PONGED, b''))
        for data, code in ((FAULTS['RSV2'], 1002), (text(b'\xff'), 1007),
                           (frame(FIN | BINARY), 1003),
                           (closing(1000), 1000)):
            stream = {1002: 1, 1007: 3, 1003: 5, 1000: 7}[code]
            client.send(data_on(stream, data))
            said = client.until(frames.DATA, stream)
            equal((said.body[0], said.body[2:4]),
                  (FIN | CLOSE, struct.pack('!H', code)))
        for stream in range(9, 41, 2):
            client.send(data_on(stream, text(slow(1, 10000)))
                        + frames.frame(frames.RESET, 0, stream,
                                       b'\0\0\0\x08'))
        for stream in range(41, 101, 2):  # the others go on
            client.send(data_on(stream, text(ASK)))
            equal(client.until(frames.DATA, stream).body,
                  frame(FIN | TEXT, PONGED, b''))


def test_nonsense_does_not_bring_it_down():
    with http() as serving:
        for seed in range(400):
            dice = random.Random(seed)
            data = bytearray(b''.join(dice.choice(SEEDS)
                                      for _ in range(dice.randrange(1, 20))))
            for _ in range(dice.randrange(0, 8)):
                data[dice.randrange(len(data))] = dice.randrange(256)
            with Client(place(serving),
                        **(DEFLATE if seed % 2 else {})) as client:
                cut = dice.randrange(len(data))
                client.say(bytes(data[:cut]))
                client.say(bytes(data[cut:]))
                client.finish()
                heard = client.frames()
            require(serving.process.poll() is None, 'nonsense', seed)
            kinds = [first & ~PACKED for first, _ in heard]
            require(set(kinds) <= {FIN | TEXT, FIN | PONG, FIN | CLOSE}
                    and FIN | CLOSE not in kinds[:-1], seed, kinds)
        served_anew(serving)


def test_1008_is_said_to_who_says_nothing_within_the_lease():
    for client in (late.silent, late.pinging):
        contains(client.closed(1008), 'lease_ms')


def test_1008_is_said_to_who_never_ends_a_message():
    for client in (late.half, late.cut):
        contains(client.closed(1008), 'fragment_ms')


def test_after_all_of_it_it_is_as_it_was():
    standing.end()


if __name__ == '__main__':
    late.start()
    sys.exit(main(__name__))
