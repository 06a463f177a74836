#!/usr/bin/env python3
"""test_call_ws.py - `fairlead call` over WebSocket: its server is killed, or it
is, or the server does what no server should.

It says what happened and exits with the status for that; and what it leaves at
a server that lives is nothing. Prints TAP. FAIRLEAD names the program.
"""
import base64
import contextlib
import hashlib
import json
import os
import select
import signal
import socket
import struct
import sys
import threading

from flow import (FAIRLEAD, SLOW, WAIT, Terminal, call, contains, demo, equal,
                  main, require, started, until)
from sockets import (BINARY, CLOSE, FIN, MORE, PING, TEXT, Socket, frame)
from web import LEGACY, Standing
from web import PING as ASK
from wire import files, served, settled

BEATS = ('--ping-interval', f'{0.5 * SLOW:g}')
standing = Standing()
http = standing.http


def place(serving):
    return serving.urls[0].replace('http', 'ws', 1)


@contextlib.contextmanager
def calling(url, *more):
    """`fairlead call` in the middle of a call, and what it says on stderr."""
    with Terminal() as terminal, started(
            FAIRLEAD, 'call', url, 'call', 'slow', 'steps=10000',
            'delay_ms=20', *more, stderr=terminal.slave) as process:
        while b'10000' not in terminal.seen:  # it shows progress
            require(select.select([terminal.master], [], [], WAIT)[0],
                    'no progress, after', terminal.seen)
            terminal.seen += os.read(terminal.master, 4096)
        yield process, terminal


def test_clients_that_count_alike_get_their_own_answers():
    with http() as serving, contextlib.ExitStack() as stack:
        running = [stack.enter_context(started(
            FAIRLEAD, 'call', place(serving), 'call', 'slow', f'steps={steps}',
            'delay_ms=20', '--timeout', 60)) for steps in range(1, 9)]
        for steps, process in enumerate(running, 1):
            out, err = process.communicate(timeout=WAIT)
            equal((process.returncode, out.decode()),
                  (0, f'done, in {steps} steps\n'), err)


def test_our_client_killed_in_a_call_leaves_nothing_behind():
    with http() as serving:
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            with calling(place(serving)) as (process, _):
                process.send_signal(number)
                equal(process.wait(WAIT), -9 if number == signal.SIGKILL
                      else 130, 'exit')


def test_a_server_killed_in_a_call_is_told_by_its_client():
    with served('ws') as serving, contextlib.ExitStack() as stack:
        url = serving.urls[0]
        running = [stack.enter_context(calling(url)) for _ in range(4)]
        serving.end(signal.SIGKILL)
        for process, terminal in running:
            said = terminal.read()  # or it would wait for a reader
            equal(process.wait(WAIT), 2, 'exit')
            contains(said, 'fairlead call:')
            require('the peer ended the connection' in said
                    or 'connection reset' in said, said)
        call(url, 'ping').expect(2)
        with demo(listen=[url]):  # at once, in the same place
            call(url, 'call', 'add', 'a=2', 'b=3').expect(0, '5\n')


def test_a_server_told_to_end_in_a_call_is_told_by_its_client():
    with served('ws') as serving, calling(serving.urls[0]) as (process, said):
        equal(serving.end(), 0, 'exit of the server:')
        contains(said.read(), 'the server is shutting down')
        equal(process.wait(WAIT), 3, 'exit')


def test_a_client_that_is_stopped_is_dropped():
    with http(*BEATS) as serving:
        before = settled(serving)
        with calling(place(serving)) as (process, terminal):
            process.send_signal(signal.SIGSTOP)
            until(lambda: files(serving) == before, 'it is dropped')
            process.send_signal(signal.SIGCONT)
            terminal.read()  # or it might wait for room there
            equal(process.wait(WAIT), 2, 'exit')


class Fake:
    """A server that does the handshake, says this, and shows what it hears
    until the other one has gone."""

    def __init__(self, said=b'', answer=None, wait=True, **fields):
        self.said, self.answer, self.wait = said, answer, wait
        self.fields, self.heard = fields, []
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.url = 'ws://127.0.0.1:%d/mcp' % self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(WAIT)

    def serve(self):
        with contextlib.suppress(OSError):
            while True:  # a client may come back
                end, _ = self.listener.accept()
                with Socket(end) as peer, contextlib.suppress(OSError):
                    self.talk(peer)

    def talk(self, peer):
        key = next(line for line in iter(peer.file.readline, b'')
                   if line.lower().startswith(b'sec-websocket-key:'))
        while peer.file.readline().strip():
            pass
        peer.send(self.answer or self.agree(key.split()[1]))
        peer.send(self.said)
        while self.wait and (one := peer.frame()):
            self.heard.append(one)

    def agree(self, key):
        guid = b'258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
        proof = base64.b64encode(hashlib.sha1(key + guid).digest()).decode()
        fields = {'Upgrade': 'websocket', 'Connection': 'Upgrade',
                  'Sec-WebSocket-Accept': proof, **self.fields}
        return '\r\n'.join(['HTTP/1.1 101 Yes', *(
            f'{name}: {value}' for name, value in fields.items()
            if value is not None), '', '']).encode()


def complains(fake):
    """What our client says of it, exiting as it should."""
    with fake:
        done = call(fake.url, 'ping').expect(2, '')
    contains(done.err, 'fairlead call: ')
    return done.err


def test_our_client_takes_no_handshake_that_is_none():
    for fields, why in (
            ({'Sec-WebSocket-Accept': 'x'}, 'Sec-WebSocket-Accept'),
            ({'Sec-WebSocket-Accept': None}, 'Sec-WebSocket-Accept'),
            ({'Upgrade': None}, 'else than WebSocket'),
            ({'Upgrade': 'h2c'}, 'else than WebSocket'),
            ({'Connection': 'close'}, 'Connection'),
            ({'Sec-WebSocket-Protocol': 'soap'}, 'subprotocol'),
            ({'Sec-WebSocket-Extensions': 'x-other'}, 'xtension')):
        contains(complains(Fake(**fields)), why)
    for answer, why in (
            (b'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n', '403'),
            (b'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', '200'),
            (b'HTTP/1.1 101 Yes\r\n', ''), (b'', ''), (b'nonsense\r\n', ''),
            (b'HTTP/1.1 101 Yes\r\nX: ' + b'x' * 100000, '')):
        contains(complains(Fake(answer=answer or b'\0', wait=False)), why)


def test_our_client_tells_a_server_what_it_did_wrong():
    for said, code in (
            (frame(FIN | TEXT, ASK), 1002),  # masked
            (frame(FIN | 0x20 | TEXT, ASK, b''), 1002),
            (frame(FIN | 3, b'', b''), 1002), (frame(PING, b'', b''), 1002),
            (frame(FIN | MORE, b'', b''), 1002),
            (frame(FIN | BINARY, ASK, b''), 1003),
            (frame(FIN | TEXT, b'"\xff"', b''), 1007),
            (b'\x81\x7f' + struct.pack('!Q', 1 << 40), 1009)):
        fake = Fake(said)
        complains(fake)
        equal(fake.heard[-1][0], FIN | CLOSE, said[:20])
        equal(fake.heard[-1][1][:2], struct.pack('!H', code), said[:20])


def test_our_client_tells_how_it_was_closed():
    for code in (1000, 1001, 1002, 1008, 1011, 1013, 4000):
        body = struct.pack('!H', code) + b'for a reason'
        fake = Fake(frame(FIN | CLOSE, body, b''))
        said = complains(fake)
        contains(said, f'{code}: for a reason')
        equal(fake.heard[-1], (FIN | CLOSE, struct.pack('!H', code)))
    for said in (frame(FIN | TEXT, ASK, b'')[:9], frame(TEXT, b'{', b''), b''):
        why = complains(Fake(said, wait=False))
        require('without a WebSocket Close' in why
                or 'connection reset' in why, said, why)


class Older(Fake):
    """One that ends the socket at the first method it does not know."""

    def talk(self, peer):
        super().talk(peer)
        while one := peer.frame():
            self.heard.append(one)
            if one[0] == FIN | CLOSE:
                peer.send(frame(*one, b''))
            asked = json.loads(one[1]) if one[0] == FIN | TEXT else {}
            if 'id' in asked and not self.reply(peer, **asked):
                return

    def reply(self, peer, id, method, params=None, jsonrpc=None):
        answers = {'ping': {}, 'initialize': {
            'protocolVersion': LEGACY, 'capabilities': {},
            'serverInfo': {'name': 'fake', 'version': '0'}}}
        if method in answers:
            peer.send(frame(FIN | TEXT, json.dumps({
                'jsonrpc': '2.0', 'id': id, 'result': answers[method]}
            ).encode(), b''))
        return method in answers


def test_our_client_comes_back_to_a_server_that_did_not_bear_discover():
    with Older(wait=False) as fake:
        call(fake.url, 'ping').expect(0)
    asked = [json.loads(said).get('method') for first, said in fake.heard
             if first == FIN | TEXT]
    equal(asked, ['server/discover', 'initialize',
                  'notifications/initialized', 'ping'])
    equal(fake.heard[-1], (FIN | CLOSE, b'\x03\xe8'), 'the last of it:')


def test_after_all_of_it_the_server_is_as_it_was():
    standing.end()


if __name__ == '__main__':
    sys.exit(main(__name__))
