#!/usr/bin/env python3
"""test_ws_echo.py - the WebSocket drivers, by hand.

What the Autobahn suite does not look at: limits at the limit, peers that do
not read, frames that come with the handshake. Prints TAP. DRIVERS is the
directory the drivers are in.
"""
import base64
import contextlib
import hashlib
import os
import re
import socket
import struct
import sys
import threading
from pathlib import Path

from flow import WAIT, Skip, contains, equal, main, require, run, started
from sockets import (ACCEPT, BINARY, CLOSE, DEFLATE, FIN, MORE, PACKED, PING,
                     PONG, TEXT, Socket, frame, handshake, pack)

DRIVERS = Path(os.environ.get('DRIVERS', '.'))
KIBI, MEBI = 1 << 10, 1 << 20

ASK = handshake('/chat')


def driver(name):
    path = DRIVERS / name
    if not path.is_file():
        print(f'SKIPPED: {path} is not there', file=sys.stderr)
        raise Skip(f'the driver {name} is not there')
    return path


@contextlib.contextmanager
def serving(*words):
    with started(driver('ws-echo'), '0', *words) as process:
        process.port = int(process.stdout.readline())
        yield process
        require(process.poll() is None, 'ws-echo ended')


@contextlib.contextmanager
def talking(server, more=b'', **fields):
    """A WebSocket, the handshake done and `more` sent with it."""
    end = socket.create_connection(('127.0.0.1', server.port), WAIT)
    with Socket(end) as client:
        client.send(handshake('/chat', **fields) + more)
        lines = client.head()
        equal(lines[0], 'http/1.1 101 switching protocols')
        contains(lines, ACCEPT)
        client.agreed = [line for line in lines if 'permessage' in line]
        yield client


def is_modest(process, most):
    """Whether it never had more memory than that. AddressSanitizer keeps what
    is freed, and Valgrind has much of its own, so with them nobody can tell."""
    if b'__asan_' in driver('ws-echo').read_bytes() or \
            'FL_VALGRIND' in os.environ:
        return True
    status = Path(f'/proc/{process.pid}/status').read_text()
    return int(re.search(r'VmHWM:\s+(\d+) kB', status)[1]) * KIBI < most


def test_ws_echo_says_back_what_it_hears():
    with serving() as server, talking(server) as client:
        client.send(frame(FIN | TEXT, b'text') + frame(FIN | BINARY, b'\xff\0')
                    + frame(FIN | PING, b'still there?') + frame(FIN | TEXT)
                    + frame(TEXT, b'one, ') + frame(FIN | PING)
                    + frame(FIN | MORE, b'two') + frame(FIN | PONG, b'unasked'))
        for want in ((FIN | TEXT, b'text'), (FIN | BINARY, b'\xff\0'),
                     (FIN | PONG, b'still there?'), (FIN | TEXT, b''),
                     (FIN | PONG, b''), (FIN | TEXT, b'one, two')):
            equal(client.frame(), want)
        client.send(frame(FIN | CLOSE, struct.pack('!H', 4000) + b'enough'))
        equal(client.frame(), (FIN | CLOSE, struct.pack('!H', 4000)))
        equal(client.frame(), None)


def test_ws_echo_takes_what_came_with_the_handshake():
    with serving() as server:
        hello = frame(FIN | TEXT, b'hello')
        for cut in range(len(hello) + 1):
            with talking(server, hello[:cut]) as client:
                client.send(hello[cut:])
                equal(client.frame(), (FIN | TEXT, b'hello'), cut)


def test_ws_echo_takes_messages_up_to_its_maximum():
    with serving('--max', '1000') as server:
        for parts in ([1000], [500, 500], [999, 1], [0, 1000]):
            with talking(server) as client:
                for at, size in enumerate(parts):
                    last = FIN if at == len(parts) - 1 else 0
                    kind = MORE if at else TEXT
                    client.send(frame(last | kind, b'a' * size))
                equal(client.frame(), (FIN | TEXT, b'a' * 1000), parts)
        for parts in ([1001], [500, 501]):
            with talking(server) as client:
                for at, size in enumerate(parts):
                    client.send(frame(MORE if at else TEXT, b'a' * size))
                first, payload = client.frame()
                equal((first, payload[:2]),
                      (FIN | CLOSE, struct.pack('!H', 1009)), parts)
                equal(client.frame(), None)


def test_ws_echo_refuses_a_length_before_its_payload_comes():
    with serving('--max', '1000') as server, talking(server) as client:
        client.send(frame(FIN | TEXT, b'a' * 1001)[:8])
        equal(client.frame()[1][:2], struct.pack('!H', 1009))


def test_ws_echo_refuses_what_unpacks_past_its_maximum():
    with serving('--max', '1000') as server:
        for size in (1000, 1001, 10 * MEBI):
            with talking(server, **DEFLATE) as client:
                equal(len(client.agreed), 1)
                client.send(frame(FIN | PACKED | TEXT, pack(b'a' * size)))
                first, payload = client.frame()
                if size == 1000:
                    equal(first, FIN | PACKED | TEXT)
                else:
                    equal((first, payload[:2]),
                          (FIN | CLOSE, struct.pack('!H', 1009)))
        require(is_modest(server, 32 * MEBI), 'too much memory')


def test_ws_echo_does_not_read_what_it_cannot_say_back():
    message = frame(FIN | BINARY, bytes(range(256)) * 256)
    with serving() as server, talking(server) as client:
        client.socket.settimeout(1)
        sent, whole = 0, message * 16
        with contextlib.suppress(TimeoutError):
            while sent < 1000 * MEBI:
                rest = sent % len(whole)
                sent += client.socket.send(whole[rest:])
        require(sent < 100 * MEBI, 'it took', sent, 'bytes')
        require(is_modest(server, 32 * MEBI), 'too much memory')
        client.socket.settimeout(WAIT)
        count = -(-sent // len(message))
        rest = whole[sent % len(message):len(message)] \
            if sent % len(message) else b''
        other = threading.Thread(target=client.send, args=(rest,))
        other.start()
        for _ in range(count):
            equal(client.frame(), (FIN | BINARY, bytes(range(256)) * 256))
        other.join(WAIT)


def test_ws_echo_unpacks_no_more_than_it_can_say_back():
    bomb = frame(FIN | PACKED | BINARY, pack(bytes(4 * MEBI)))
    plain = frame(FIN | BINARY, b'.' * 100 * KIBI)
    with serving() as server, talking(server, **DEFLATE) as client:
        # each of these unpacks to a thousand times its size
        client.socket.settimeout(1)
        with contextlib.suppress(TimeoutError):
            for turn in range(2000):
                client.send(plain if turn % 2 else bomb)
        require(is_modest(server, 64 * MEBI), 'too much memory')


def test_ws_echo_wants_a_handshake():
    with serving() as server:
        for ask, status in (
                (b'GET / HTTP/1.1\r\nHost: h\r\n\r\n', '426'),
                (ASK.replace(b': 13', b': 8'), '426'),
                (ASK.replace(b'GET', b'POST'), '405'),
                (ASK.replace(b'dGhl', b''), '400'),
                (b'nonsense\r\n\r\n', '400')):
            end = socket.create_connection(('127.0.0.1', server.port), WAIT)
            with Socket(end) as client:
                client.send(ask)
                equal(client.head()[0].split()[1], status, ask)


def play_suite(listener, seen):
    """What the Autobahn suite does, with one case."""
    for said in (b'1', b'say this', None):
        end, _ = listener.accept()
        with Socket(end) as peer:
            lines = [peer.file.readline()]
            while lines[-1].strip():
                lines.append(peer.file.readline())
            fields = dict(line.split(b': ', 1) for line in lines[1:-1])
            guid = b'258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
            key = fields[b'sec-websocket-key'].strip()
            proof = base64.b64encode(hashlib.sha1(key + guid).digest())
            seen.append(lines[0].split()[1].decode())
            peer.send(b'HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\n'
                      b'Connection: Upgrade\r\nSec-WebSocket-Accept: '
                      + proof + b'\r\n\r\n')
            if said:
                peer.send(frame(FIN | TEXT, said, b''))
            if said and len(said) > 1:
                seen.append(peer.frame())
            peer.send(frame(FIN | CLOSE, b'\x03\xe8', b''))
            seen.append(peer.frame())


def test_ws_echo_client_runs_each_case():
    seen = []
    with socket.create_server(('127.0.0.1', 0)) as listener:
        suite = threading.Thread(target=play_suite, args=(listener, seen))
        suite.start()
        run(driver('ws-echo-client'), listener.getsockname()[1]).expect(0)
        suite.join(WAIT)
    bye = (FIN | CLOSE, b'\x03\xe8')
    equal(seen, ['/getCaseCount', bye,
                 '/runCase?case=1&agent=fairlead', (FIN | TEXT, b'say this'),
                 bye, '/updateReports?agent=fairlead', bye])


def test_ws_echo_client_says_when_nobody_is_there():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        port = probe.getsockname()[1]
    done = run(driver('ws-echo-client'), port)
    equal(done.code, 1)
    contains(done.err, 'getCaseCount')


if __name__ == '__main__':
    sys.exit(main(__name__))
