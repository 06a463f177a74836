#!/usr/bin/env python3
"""test_bad_input.py - `fairlead demo` and everything a peer should not send.

A bad line costs that line and no more: each fact ends by seeing that the same
connection still answers, over TCP, over a Unix socket and over stdio. Prints
TAP. FAIRLEAD names the program.
"""
import contextlib
import functools
import json
import random
import select
import socket
import ssl
import struct
import sys
import time

from flow import (SLOW, WAIT, Mismatch, call, contains, equal, main, require,
                  until)
from web import room
from wire import (HELLO, KIB, MIB, PING, PONG, Wire, dial, end_output,
                  everywhere, files, identity, logged, over, pings_over_tls,
                  secured, served, server_options, settled, status, tool)

PARSE, INVALID, NOT_READY = -32700, -32600, -32602
BUSY, TOO_LARGE = -32010, -32012
DEEPEST = 512
SEND_TIMEOUT = 5


def padded(size):
    """A request of exactly so many bytes."""
    start = PING[:-1] + b',"params":{"x":"'
    return start + b'x' * (size - len(start) - 3) + b'"}}'


def check_limit(wire, limit):
    for end in (b'\n', b'\r\n'):
        wire.send(padded(limit) + end)
        equal(wire.line(), PONG, 'at the limit:')
        error = wire.refused(padded(limit + 1) + end, TOO_LARGE)
        equal(error['data']['limit'], limit)
    wire.send(padded(limit + 1) + b'\n' + PING + b'\n' + padded(limit) + b'\n')
    equal(wire.receive()['error']['code'], TOO_LARGE)
    equal([wire.line(), wire.line()], [PONG, PONG], 'in the same write:')


@over('tcp', 'unix', 'stdio', options=('--max-message', '64K'))
def test_a_line_at_the_limit_is_taken_and_one_past_is_refused(wire):
    check_limit(wire, 64 * KIB)
    until(lambda: logged(wire.serving, '"warn"', 'longer than the limit'),
          'a warning')


@everywhere
def test_the_limit_is_16_mib_unless_told(wire):
    check_limit(wire, 16 * MIB)


@everywhere
def test_a_line_without_end_costs_no_memory(wire):
    wire.lives()
    before = status(wire.serving, 'VmHWM')
    piece = b'x' * MIB
    for _ in range(100):
        equal(wire.send(piece), MIB, 'it stopped reading:')
    error = wire.receive()['error']  # told before the line has an end
    equal((error['code'], error['data']['limit']), (TOO_LARGE, 16 * MIB))
    grown = status(wire.serving, 'VmHWM') - before
    require(grown < 40 * MIB, 'memory grew by', grown)
    wire.send(b'\n')
    wire.lives()


@everywhere
def test_invalid_utf_8_is_a_parse_error(wire):
    wire.hello()
    for bad in (b'\xff', b'\x80', b'\xc0\x80', b'\xe2\x82', b'\xed\xa0\x80',
                b'\xf4\x90\x80\x80', b'\xf8\x88\x80\x80\x80'):
        for at in (0, 1, 7, 15, 16, 31, 63, 64, 1000):
            wire.refused(tool(1, 'echo', text='@').replace(
                b'@', b'a' * at + bad + b'"'), PARSE)
        wire.refused(bad + b'\n', PARSE)
        wire.refused(PING + bad + b'\n', PARSE)
    until(lambda: logged(wire.serving, '"warn"', 'not valid UTF-8'),
          'a warning')


@everywhere
def test_nul_and_control_characters_are_parse_errors(wire):
    wire.hello()
    for code in range(32):
        bad = bytes([code])
        if bad in (b'\n', b'\r'):
            continue
        wire.refused(tool(1, 'echo', text='@').replace(b'@', b'a' + bad),
                     PARSE)
        if bad != b'\t':
            wire.refused(bad + PING + b'\n', PARSE)
            wire.refused(PING + bad + b'\n', PARSE)
    wire.refused(b'\0' * 5000 + b'\n', PARSE)


@everywhere
def test_what_is_not_json_is_a_parse_error(wire):
    for bad in (b'{', b'}', b'{"jsonrpc"', b'nul', b'truefalse', b'01', b'1.',
                b'"', b"{'a':1}", b'{"a":1,}', b'[1,]', b'{1:2}', b'NaN',
                b'GET / HTTP/1.1', PING + PING, PING + b' x', b'\\', b'//',
                b'{"a":"\\x"}', b'{"a":"\\u12"}', PING + b'\xef\xbb\xbf'):
        wire.refused(bad + b'\n', PARSE)


@everywhere
def test_a_byte_order_mark_is_passed_over(wire):
    wire.send(b'\xef\xbb\xbf' + PING + b'\n')
    equal(wire.line(), PONG)
    wire.refused(b'\xef\xbb\xbf\xef\xbb\xbf' + PING + b'\n', PARSE)


@everywhere
def test_nesting_has_a_limit_and_is_refused_quickly(wire):
    def nested(depth):  # the envelope is one of them
        return PING[:-1] + b',"params":' + b'[' * (depth - 1) + \
            b']' * (depth - 1) + b'}\n'

    wire.send(nested(DEEPEST))
    equal(wire.line(), PONG, 'at the limit:')
    start = time.monotonic()
    for depth in (DEEPEST + 1, 10000, 1000000):
        wire.refused(nested(depth), PARSE)
        wire.refused(b'[' * depth + b'\n', PARSE)
        wire.refused(b'{"a":' * depth + b'\n', PARSE)
    require(time.monotonic() - start < 5 * SLOW, 'not quickly')


@everywhere
def test_lone_surrogates_pass_as_they_are(wire):
    wire.hello()
    for odd in (rb'\ud800', rb'\uDC00x', rb'a\ud83d', rb'\ude00\ud83d',
                rb'\ud83d\ud83d\ude00'):
        wire.send(b'{"jsonrpc":"2.0","id":"' + odd + b'","method":"ping"}\n')
        contains(wire.line(), b'"id":"' + odd + b'"')
        wire.send(tool(1, 'echo', text='@').replace(b'@', odd))
        contains(wire.line(), b'"text":"' + odd + b'"')
    wire.lives()


@everywhere
def test_members_given_twice_are_refused(wire):
    whole = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{},@}\n'
    for twice, number in ((b'"jsonrpc":"2.0"', 1), (b'"id":1', None),
                          (b'"id":2', None), (rb'"\u0069d":1', None),
                          (b'"method":"tools/list"', 1),
                          (rb'"m\u0065thod":"ping"', 1), (b'"params":{}', 1)):
        wire.refused(whole.replace(b'@', twice), INVALID, number)


@everywhere
def test_what_is_no_message_is_refused(wire):
    for bad in (b'1', b'"x"', b'null', b'true', b'{}', b'[]', b'[1]', b'[[]]',
                b'[' + PING + b']'):
        wire.refused(bad + b'\n', INVALID)
    for version in (b'"1.0"', b'2.0', b'null', b'"2.00"', b'""', b'["2.0"]'):
        wire.refused(PING.replace(b'"2.0"', version) + b'\n', INVALID, 'ping')
    wire.refused(b'{"id":1,"method":"ping"}\n', INVALID, 1)
    for number in (b'null', b'{}', b'[1]', b'true', b'false'):
        wire.refused(PING.replace(b'"ping"', number, 1) + b'\n', INVALID)
    for method in (b'1', b'null', b'["ping"]'):
        wire.refused(b'{"jsonrpc":"2.0","id":1,"method":' + method + b'}\n',
                     INVALID, 1)
    for params in (b'1', b'"x"', b'null'):
        wire.refused(PING[:-1] + b',"params":' + params + b'}\n', INVALID,
                     'ping')


@everywhere
def test_responses_to_nothing_are_not_answered(wire):
    # for two that answer each other's errors with errors would never stop
    for odd in (b'"id":1,"result":{}', b'"id":1,"error":{"code":1,'
                b'"message":"x"}', b'"id":null,"error":{"code":1}',
                b'"id":1,"error":7', b'"result":{}', b'"id":null,"result":{}',
                b'"id":1,"result":{},"error":{"code":1,"message":"x"}'):
        wire.send(b'{"jsonrpc":"2.0",' + odd + b'}\n')
        wire.lives()


@everywhere
def test_any_line_end_will_do_and_blank_lines_are_nothing(wire):
    for end in (b'\n', b'\r\n', b'\r', b' \t\r\n', b'\n\n\n', b'\r\r\n\n'):
        wire.send(PING + end)
        equal(wire.line(), PONG, repr(end))
    wire.send(b'\n\r\n \n\t\t\r\r\n  \r' + b' ' + PING + b'\n')
    equal(wire.line(), PONG)
    wire.send(b'\n' * 100000)
    wire.lives()


@everywhere
def test_half_a_message_and_then_the_end(wire):
    wire.hello()
    wire.send(PING + b'\n' + PING[:20])
    wire.finish()
    equal(wire.line(), PONG)
    equal(wire.receive()['error']['code'], PARSE)
    equal(wire.line(), b'', 'then it ends:')
    if not wire.socket:
        equal(wire.serving.process.wait(WAIT), 0, 'exit')


@everywhere
def test_a_last_line_without_its_end_is_answered(wire):
    wire.send(PING)
    wire.finish()
    equal([wire.line(), wire.line()], [PONG, b''])


@everywhere
def test_nothing_is_served_before_initialize(wire):
    for method in ('tools/list', 'tools/call', 'nonsense'):
        wire.refused(tool(1, 'echo', text='x').replace(
            b'tools/call', method.encode()), NOT_READY, 1)
    wire.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    wire.refused(tool(1, 'echo', text='x'), NOT_READY, 1)
    wire.refused(HELLO.replace(b'"2025-11-25"', b'7'), -32602, 'hello')
    wire.hello()
    equal(wire.ask(tool(1, 'echo', text='x'))['id'], 1)


@everywhere
def test_a_second_initialize_is_refused_and_changes_nothing(wire):
    wire.hello()
    wire.refused(HELLO.replace(b'2025-11-25', b'2025-03-26'), INVALID, 'hello')
    wire.refused(b'[' + PING + b']\n', INVALID)  # no batches in 2025-11-25
    equal(wire.ask(tool(1, 'echo', text='x'))['id'], 1)


@everywhere
def test_a_message_may_come_byte_by_byte(wire):
    wire.hello()
    for byte in tool('é', 'echo', text='é€😀'):
        wire.send(bytes([byte]))
        time.sleep(0.001)
    answer = wire.receive()
    equal((answer['id'], answer['result']['content'][0]['text']),
          ('é', 'é€😀'))


@everywhere
def test_a_thousand_requests_may_come_at_once(wire):
    wire.hello()
    wire.send(b''.join(tool(n, 'echo', text=f'text {n}')
                       for n in range(1000)))
    for n in range(1000):
        answer = wire.receive()
        equal((answer['id'], answer['result']['content'][0]['text']),
              (n, f'text {n}'))
    wire.lives()


def test_clients_with_the_same_ids_get_their_own_answers():
    with served('tcp', 'unix') as serving, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Wire(serving, url))
                   for url in serving.urls * 2]
        for who, wire in enumerate(clients):
            wire.hello()
            slow = json.loads(tool(0, 'slow', steps=who + 2, delay_ms=20))
            slow['params']['_meta'] = {'progressToken': 'same'}
            wire.send(json.dumps(slow).encode() + b'\n')
        for n in range(1, 30):
            for who, wire in enumerate(clients):
                wire.send(tool(n, 'echo', text=f'client {who} text {n}'))
        for who, wire in enumerate(clients):
            check_own(who, [wire.receive() for _ in range(30 + who + 2)])
            wire.lives()


def check_own(who, got):
    told = [one['params'] for one in got if 'method' in one]
    equal([(one['progress'], one['total']) for one in told],
          [(step, who + 2) for step in range(1, who + 3)])
    texts = {one['id']: one['result']['content'][0]['text']
             for one in got if 'id' in one}
    equal(texts, {0: f'done, in {who + 2} steps',
                  **{n: f'client {who} text {n}' for n in range(1, 30)}})


def check_memory(before, serving):
    grown = status(serving, 'VmHWM') - before[serving]
    require(grown < room(serving, 40 * MIB), 'memory grew by', grown)


@over('tcp', 'unix', 'stdio', options=('--max-message', '1M'))
def test_an_answer_over_the_limit_is_an_error_that_says_so(wire):
    wire.hello()
    error = wire.refused(tool(7, 'large', bytes=2 * MIB), -32603, 7)
    equal(error['data'], {'limit': MIB})
    equal(wire.ask(tool(8, 'large', bytes=MIB // 2))['id'], 8)


@over('tcp')
def test_calls_that_wait_are_bounded_in_bytes(wire):
    wire.hello()
    padding = b' ' * (10 * MIB)
    for n in range(4):
        slow = tool(n, 'slow', steps=1, delay_ms=60000)
        wire.send(slow.replace(b'{', b'{' + padding, 1))
    answer = wire.receive()
    equal((answer['id'], answer['error']['code']), (3, -32010), answer)
    equal(answer['error']['data'], {'limit': 32 * MIB})
    wire.lives()


def test_a_flood_of_questions_over_tls_is_answered_to_the_last():
    count = 20000
    ask = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'
    with identity() as place, served('tls', options=server_options(place)) \
            as serving, secured(place, serving.urls[0]) as one:
        one.sendall(HELLO)
        one.setblocking(False)
        rest, lines = memoryview(ask * count), 0
        while lines < count + 1:
            with contextlib.suppress(ssl.SSLWantReadError,
                                     ssl.SSLWantWriteError):
                rest = rest[one.send(rest[:16 * KIB]):] if rest else rest
            try:
                piece = one.recv(MIB)
                require(piece, 'it ended after', lines)
                lines += piece.count(b'\n')
            except ssl.SSLWantReadError:
                ready = select.select([one], [one] if rest else [], [], WAIT)
                require(any(ready), 'nothing more came after', lines)
        equal(lines, count + 1)


def test_a_peer_that_never_reads_is_left_in_the_end():
    with served('tcp', 'unix') as sockets, served('stdio') as pipes, \
            contextlib.ExitStack() as stack:
        before = settled(sockets)
        stuck = [stack.enter_context(Wire(sockets, url))
                 for url in sockets.urls]
        stuck.append(Wire(pipes))
        memory = {one: status(one, 'VmHWM') for one in (sockets, pipes)}
        start = time.monotonic()
        for wire in stuck:
            wire.hello()
            wire.send(b''.join(tool(n, 'large', bytes=MIB)
                               for n in range(1000)), patience=0.5)
        check_memory(memory, sockets)
        check_memory(memory, pipes)
        gone = functools.partial(logged, sockets, 'took nothing for 5000 ms')
        answered = 0
        with Wire(sockets) as other:
            other.hello()
            while len(gone()) < 2:
                require(time.monotonic() - start < SEND_TIMEOUT + WAIT,
                        'still there:', sockets.lines)
                answer = other.ask(tool(1, 'echo', text='x' * 1000))
                contains(answer, 'result')
                answered += 1
                time.sleep(0.02)
        require(answered >= 10, 'others have to wait:', answered, 'answers')
        require(time.monotonic() - start >= SEND_TIMEOUT, 'too early')
        check_memory(memory, sockets)
        equal(pipes.process.wait(WAIT), 0, 'exit of the one on stdio:')
        until(lambda: logged(pipes, 'took nothing for 5000 ms'), 'it is told')
        until(lambda: files(sockets) == before, 'no file is left open')


@over('tcp', 'unix', options=('--max-connections', '50'))
def test_one_connection_too_many_is_told_so(wire):
    serving = wire.serving
    wire.hello()
    with contextlib.ExitStack() as stack:
        others = [stack.enter_context(Wire(serving)) for _ in range(49)]
        for other in others:
            other.hello()
        for _ in range(3):
            with Wire(serving) as late:
                error = late.receive()
                equal((error['id'], error['error']['code'],
                       error['error']['data']), (None, BUSY, {'limit': 50}))
                equal(late.line(), b'', 'then it is closed:')
        others[0].socket.close()
        until(lambda: logged(serving, 'link closed'), 'one has left')
        with Wire(serving) as late:
            late.lives()
        for other in others[1:]:
            other.lives()
    wire.lives()


@over('tcp', 'unix', options=('--max-connections', '50'))
def test_a_flood_of_connections_leaves_nothing_behind(wire):
    serving = wire.serving
    wire.lives()
    before = files(serving)
    flood = []
    try:
        for _ in range(500):
            flood.append(dial(serving.urls[0]))
        wire.lives()
        require(files(serving) <= before + 50 + 64 + 10,
                files(serving), 'files are open')
    finally:
        for one in flood:
            one.close()
    until(lambda: files(serving) == before, 'no file is left open')
    wire.lives()
    # some of the flood may still wait to be accepted, only to be found gone
    until(lambda: is_served(serving), 'a newcomer is served')


def is_served(serving):
    with Wire(serving) as other:
        try:
            other.lives()
        except (Mismatch, OSError):  # refused, or gone before we asked
            return False
    return True


def test_plain_text_on_a_tls_port_is_refused_without_harm():
    with identity() as place, served('tls', 'tcp',
                                     options=server_options(place)) as serving:
        url = serving.urls[0]
        before = settled(serving)
        with secured(place, url) as served_before:
            for data in (PING + b'\n', HELLO, b'GET / HTTP/1.1\r\n\r\n',
                         b'\0' * 1000, b'\x16\x03\x01', b'\x16\x03\x01\xff\xff'
                         + b'x' * 70000, b''):
                with dial(url) as one:
                    with contextlib.suppress(ConnectionError):
                        one.sendall(data)
                        end_output(one)
                        answer = b''.join(iter(lambda: one.recv(65536), b''))
                        require(b'jsonrpc' not in answer, answer)
            equal(pings_over_tls(place, url), PONG)
            served_before.sendall(PING + b'\n')
            equal(served_before.makefile('rb').readline(), PONG)
        until(lambda: files(serving) == before, 'no file is left open')


def test_a_client_without_a_known_certificate_is_refused():
    with identity() as place:
        ca = ('--tls-ca', f'{place}/known.pem')
        with served('tls', options=(*server_options(place), *ca,
                                    '--require-client-cert')) as serving:
            url, = serving.urls
            equal(pings_over_tls(place, url), b'')
            before = settled(serving)
            for _ in range(5):
                equal(pings_over_tls(place, url), b'')
                equal(pings_over_tls(place, url, 'unknown'), b'')
            call(url, 'ping', *ca).expect(2)
            equal(pings_over_tls(place, url, 'known'), PONG)
            until(lambda: logged(serving, 'link opened'), 'it is told')
            equal(len(logged(serving, 'link opened')), 1)
            until(lambda: files(serving) == before, 'no file is left open')


SEEDS = [HELLO, PING + b'\n', tool(1, 'echo', text='é\n"\\😀'),
         tool('x', 'slow', steps=1, delay_ms=1), tool(2, 'add', a=1, b=2.5e3),
         tool(3, 'fail', message='%s'),
         b'{"jsonrpc":"2.0","id":4,"method":"tools/list"}\n',
         b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":'
         b'{"requestId":"x"}}\n', b'[' + PING + b',' + PING + b']\r\n']
ODD = [b'"', b'\\', b'{', b'}', b'[', b']', b',', b':', b'\0', b'\n', b'\r',
       b'\xff', b'\\u', b'\xed\xa0', b'-', b'1e999', b'null', b'"id":', b' ']


def mutate(dice, data):
    for _ in range(dice.randrange(1, 6)):
        at = dice.randrange(len(data) + 1)
        to = min(len(data), at + dice.randrange(1, 20))
        data = dice.choice((
            data[:at] + dice.choice(ODD) + data[at:], data[:at] + data[to:],
            data[:at] + data[at:to] * 3 + data[to:], data[:at],
            data[:at] + dice.randbytes(to - at) + data[to:])) or b'\n'
    return data


def nonsense(dice):
    """What one connection says: noise, or good messages gone bad."""
    if dice.random() < 0.3:
        return dice.randbytes(dice.randrange(1, 5000))
    start = HELLO if dice.random() < 0.7 else b''
    return start + b''.join(mutate(dice, dice.choice(SEEDS))
                            for _ in range(dice.randrange(1, 30)))


def say_nonsense(one, dice):
    """Says it, in pieces, and leaves in one of the ways there are."""
    data = nonsense(dice)
    with one, contextlib.suppress(ConnectionError, ssl.SSLError):
        cut = dice.randrange(len(data))
        one.sendall(data[:cut])
        one.sendall(data[cut:])
        leave = dice.randrange(3)
        if leave == 0 and not isinstance(one, ssl.SSLSocket):
            end_output(one)
            said = b''.join(iter(lambda: one.recv(65536), b''))
            for line in said.splitlines():
                json.loads(line)
        elif leave == 1:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                           struct.pack('ii', 1, 0))


def test_nonsense_does_not_bring_it_down():
    with identity() as place, served('tcp', 'unix', 'tls',
                                     options=server_options(place)) as serving:
        before = settled(serving)
        for number in range(200):
            dice = random.Random(number)
            url = serving.urls[number % 3]
            say_nonsense(secured(place, url) if url.startswith('tls')
                         else dial(url), dice)
            require(serving.process.poll() is None, 'nonsense', number,
                    'ended it:', serving.lines[-5:])
        until(lambda: files(serving) == before, 'no file is left open')
        for url in serving.urls[:2]:
            with Wire(serving, url) as wire:
                wire.lives()
        equal(pings_over_tls(place, serving.urls[2]), PONG)
        equal(serving.end(), 0, 'exit')


def test_nonsense_on_stdin_is_survived_to_its_end():
    for number in range(1000, 1020):
        with served('stdio') as serving, Wire(serving) as wire:
            wire.send(nonsense(random.Random(number)) + b'\n' + PING + b'\n')
            wire.finish()
            lines = list(iter(wire.line, b''))
            require(PONG in lines, 'nonsense', number, 'silenced it')
            for line in lines:
                json.loads(line)
            equal(serving.process.wait(WAIT), 0, f'exit, nonsense {number}:')


if __name__ == '__main__':
    sys.exit(main(__name__))
