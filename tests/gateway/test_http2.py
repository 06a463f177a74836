#!/usr/bin/env python3
"""test_http2.py - a server that is known to speak HTTP/2 is spoken to so,
without TLS: by `fairlead serve`, by a file, and by `fairlead call`.

The server is `fairlead demo`, behind something that passes on bytes and looks
at the first ones. Prints TAP. FAIRLEAD names the program.
"""
import contextlib
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from cases import Scripted, fact, gateway, main, scripted
from clients import Http
from doors import door
from flow import FAIRLEAD, call, contains, demo, equal, require, run
from scenes import L4, MODERN

PREFACE = b'PRI * HTTP/2.0\r\n'
MANY = 20


class Relay(threading.Thread):
    """Passes on bytes; `first` has what each connection began with."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.first, self.open = port, [], []
        self.door = socket.create_server(('127.0.0.1', 0))
        self.url = f'http://127.0.0.1:{self.door.getsockname()[1]}/mcp'

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.door.accept()
                far = socket.create_connection(('127.0.0.1', self.port))
                self.open += [near, far]
                self.first.append(b'')
                which = len(self.first) - 1
                for pair in (near, far, which), (far, near, None):
                    threading.Thread(target=self.pump, args=pair,
                                     daemon=True).start()

    def pump(self, source, target, which):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if which is not None:
                    self.first[which] = (self.first[which] + data)[:16]
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def close(self):
        for one in (self.door, *self.open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@contextlib.contextmanager
def watched():
    """A demo, and the relay before it."""
    with demo(listen=('http://127.0.0.1:0/mcp',)) as server:
        relay = Relay(int(server.urls[0].split(':')[2].split('/')[0]))
        relay.start()
        try:
            yield relay
        finally:
            relay.close()


def echo(url, revision, text):
    with Http(url, revision) as client:
        client.begin()
        equal(client.text('echo', {'text': text}), text)


def many_calls_share_one(revision):
    with watched() as relay, \
            gateway(Scripted([relay.url], '/dev/null'), '--http2', '--child',
                    'shared') as gate, ThreadPoolExecutor(MANY) as pool:
        for done in [pool.submit(echo, gate.urls['http'], revision, str(n))
                     for n in range(MANY)]:
            done.result()
        equal(relay.first, [PREFACE])


for one_revision in MODERN, L4:
    fact(f'many calls share one connection of HTTP/2, {one_revision}',
         lambda revision=one_revision: many_calls_share_one(revision))


def without_it_http1_is_spoken():
    with watched() as relay, \
            gateway(Scripted([relay.url], '/dev/null')) as gate:
        echo(gate.urls['http'], MODERN, 'x')
        require(all(one.startswith(b'POST ') for one in relay.first),
                relay.first)


fact('without being told, HTTP/1.1 is spoken', without_it_http1_is_spoken)


def a_file_says_it_of_one_server():
    with watched() as one, watched() as two, \
            door(one=Scripted([one.url], '/dev/null'),
                 two=Scripted([two.url], '/dev/null'),
                 more={'one': {'fairlead': {'http2': True}}}) as gate:
        for name in 'one', 'two':
            echo(gate.urls['http'].removesuffix('/mcp') +
                 f'/servers/{name}/mcp', MODERN, name)
        equal(set(one.first), {PREFACE})
        require(two.first and PREFACE not in two.first, two.first)


fact('a file says it of one server', a_file_says_it_of_one_server)


def call_speaks_it():
    with watched() as relay:
        done = call(relay.url, '--http2', 'call', 'echo', 'text=hi').expect(0)
        equal(done.out.strip(), 'hi')
        equal(set(relay.first), {PREFACE})


fact('fairlead call speaks it', call_speaks_it)


def who_does_not_speak_it_is_told_of():
    with scripted('http', L4) as server:
        done = call(*server.target, '--http2', 'tools').expect(1)
        contains(done.err, 'does not speak HTTP/2')
        with gateway(server, '--http2') as gate, \
                Http(gate.urls['http'], MODERN) as client:
            contains(client.error('tools/list')['message'], 'HTTP/2')


fact('a server that does not speak it is an error that says so',
     who_does_not_speak_it_is_told_of)


def it_is_for_http_alone():
    for words, what in ((('ws://127.0.0.1:1/mcp',), 'not for ws://127.0.0.1:1'),
                        (('tcp://127.0.0.1:1',), 'not for tcp:'),
                        (('--', 'true'), 'not for a command')):
        for verb in 'serve', 'connect':
            done = run(FAIRLEAD, verb, '--http2', *words).expect(1)
            contains(done.err, 'option --http2: it is for a server at http://')
            contains(done.err, what)


fact('it is refused for what is not HTTP', it_is_for_http_alone)


if __name__ == '__main__':
    sys.exit(main())
