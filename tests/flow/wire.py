"""wire.py - bytes to `fairlead demo` and lines back, good or bad, over TCP,
Unix sockets, TLS and stdio. (HTTP has web.py on top of this.)

Nothing here waits for ever: a server that hangs is a test that fails.
"""
import contextlib
import functools
import json
import os
import select
import shutil
import socket
import ssl
import time
from urllib.parse import urlsplit

from flow import (Mismatch, Skip, WAIT, contains, demo, equal, folder, require,
                  run)

KIB, MIB = 1 << 10, 1 << 20

HELLO = (b'{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{'
         b'"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{'
         b'"name":"t","version":"1"}}}\n'
         b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
PING = b'{"jsonrpc":"2.0","id":"ping","method":"ping"}'
PONG = b'{"jsonrpc":"2.0","id":"ping","result":{}}\n'


def tool(number, name, **arguments):
    return json.dumps({'jsonrpc': '2.0', 'id': number, 'method': 'tools/call',
                       'params': {'name': name, 'arguments': arguments}},
                      ensure_ascii=False).encode() + b'\n'


class Wire:
    """One connection, of whatever kind."""

    def __init__(self, serving, url=None):
        self.serving, self.socket, self.seen = serving, None, b''
        url = url or serving.urls[0]
        if url == 'stdio:':
            self.source = serving.process.stdout.fileno()
            self.sink = serving.process.stdin.fileno()
        else:
            self.socket = dial(url)
            self.source = self.sink = self.socket.fileno()
        os.set_blocking(self.source, False)
        os.set_blocking(self.sink, False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.socket:
            self.socket.close()

    def send(self, data, patience=WAIT):
        """Returns how much was taken before patience ended."""
        rest = memoryview(data)
        while rest and select.select([], [self.sink], [], patience)[1]:
            with contextlib.suppress(BlockingIOError):
                rest = rest[os.write(self.sink, rest[:MIB]):]
        return len(data) - len(rest)

    def line(self, patience=WAIT):
        """The next line, or nothing at the end."""
        while b'\n' not in self.seen:
            if not select.select([self.source], [], [], patience)[0]:
                raise Mismatch(f'nothing came, after {self.seen!r}')
            try:
                piece = os.read(self.source, MIB)
            except ConnectionResetError:
                piece = b''
            if not piece:
                require(not self.seen, 'it ended in a line:', self.seen)
                return b''
            self.seen += piece
        line, _, self.seen = self.seen.partition(b'\n')
        return line + b'\n'

    def receive(self):
        line = self.line()
        require(line, 'the connection ended')
        return json.loads(line)

    def ask(self, data):
        self.send(data)
        return self.receive()

    def hello(self):
        contains(self.ask(HELLO)['result'], 'serverInfo')

    def lives(self):
        """It answers, and with nothing else before."""
        self.send(PING + b'\n')
        equal(self.line(), PONG)

    def refused(self, data, code, number=None):
        """The bytes get this error, and do no more harm."""
        answer = self.ask(data)
        equal(sorted(answer), ['error', 'id', 'jsonrpc'], data[:200])
        equal((answer['error']['code'], answer['id']), (code, number),
              f'{data[:200]}: {answer}')
        require(isinstance(answer['error']['message'], str), answer)
        self.lives()
        return answer['error']

    def finish(self):
        """We say no more, but listen on."""
        if self.socket:
            end_output(self.socket)
        else:
            self.serving.process.stdin.close()
            self.serving.process.stdin = None


def dial(url):
    if url.startswith('unix:'):
        one = socket.socket(socket.AF_UNIX)
        one.settimeout(WAIT)
        one.connect(url[5:])
        return one
    where = urlsplit(url)
    return socket.create_connection((where.hostname, where.port), WAIT)


@contextlib.contextmanager
def served(*ways, options=()):
    with folder() as place:
        urls = {'tcp': 'tcp://127.0.0.1:0', 'unix': f'unix:{place}/s',
                'stdio': 'stdio:', 'tls': 'tls://127.0.0.1:0',
                'http': 'http://127.0.0.1:0/mcp',
                'https': 'https://127.0.0.1:0/mcp',
                'ws': 'ws://127.0.0.1:0/mcp', 'wss': 'wss://127.0.0.1:0/mcp'}
        with demo(*options, listen=[urls[way] for way in ways]) as serving:
            yield serving


def over(*ways, options=()):
    """The fact holds over each of these, each time with a new server."""
    def make(check):
        @functools.wraps(check)
        def test():
            for way in ways:
                try:
                    with served(way, options=options) as serving:
                        with Wire(serving) as wire:
                            check(wire)
                except Exception as why:
                    why.args = (f'over {way}: {why}',)
                    raise
        return test
    return make


everywhere = over('tcp', 'unix', 'stdio')


def end_output(one):
    with contextlib.suppress(OSError):  # it may have been reset already
        one.shutdown(socket.SHUT_WR)


def status(serving, name):
    """In bytes, or plainly, what /proc says of the server."""
    with open(f'/proc/{serving.process.pid}/status', encoding='ascii') as file:
        value = next(line for line in file if line.startswith(name)).split()
    return int(value[1]) * (KIB if value[2:] == ['kB'] else 1)


def files(serving):
    return len(os.listdir(f'/proc/{serving.process.pid}/fd'))


def settled(serving):
    """How many files it has open when nobody is there, having been there.

    The log cannot tell when the last one has gone: it drops lines rather than
    wait for whoever reads it. So this waits for the count to come to rest.
    """
    seen = []
    for url in serving.urls:
        dial(url).close()
    while len(seen) < 10 or len(set(seen[-10:])) > 1:
        require(len(seen) < 1000, 'files come and go:', seen)
        seen.append(files(serving))
        time.sleep(0.02)
    return seen[-1]


def logged(serving, *parts):
    return [line for line in list(serving.lines)
            if all(part in line for part in parts)]


@contextlib.contextmanager
def identity():
    """A certificate that is its own authority, and one nobody knows."""
    if not shutil.which('openssl'):
        raise Skip('there is no openssl to make certificates with')
    with folder() as place:
        for name in ('known', 'unknown'):
            run('openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
                '-subj', f'/CN={name}', '-addext',
                'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout',
                f'{place}/{name}.key', '-out',
                f'{place}/{name}.pem').expect(0)
        yield place


def server_options(place):
    return ('--tls-cert', f'{place}/known.pem', '--tls-key',
            f'{place}/known.key')


def secured(place, url, name=None):
    """A connection over TLS, with that certificate of ours or none."""
    context = ssl.create_default_context(cafile=f'{place}/known.pem')
    if name:
        context.load_cert_chain(f'{place}/{name}.pem', f'{place}/{name}.key')
    return context.wrap_socket(dial(url), server_hostname='127.0.0.1')


def pings_over_tls(place, url, name=None):
    """What comes back; nothing, if we are turned away."""
    try:
        with secured(place, url, name) as one:
            one.sendall(PING + b'\n')
            return one.makefile('rb').readline()
    except (ssl.SSLError, ConnectionError):
        return b''
