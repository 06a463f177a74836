"""web.py - HTTP/1.1 to `fairlead demo`, byte by byte.

A client that says exactly what it is told to, and is strict about what comes
back: an answer that is not well-formed fails the test that got it. Nothing
here waits for ever.
"""
import atexit
import contextlib
import json
import re
import socket
import struct
from collections import namedtuple

from flow import Mismatch, contains, equal, require, until
from wire import MIB, dial, files, served, settled, status

BOTH = 'application/json, text/event-stream'
JSON = 'application/json'
EVENTS = 'text/event-stream'
LEGACY, MODERN = '2025-11-25', '2026-07-28'
PARSE, INVALID, BUSY, TOO_LARGE = -32700, -32600, -32010, -32012
NO_SESSION = -32001

# Whatever else comes in a head was put there by somebody else.
OURS = {'date', 'content-type', 'content-length', 'transfer-encoding',
        'connection', 'allow', 'retry-after', 'vary', 'cache-control',
        'content-encoding', 'accept-encoding', 'x-request-id',
        'x-accel-buffering', 'x-content-type-options', 'mcp-session-id',
        'strict-transport-security', 'x-frame-options', 'referrer-policy',
        'content-security-policy', 'access-control-allow-origin',
        'access-control-expose-headers', 'access-control-allow-methods',
        'access-control-allow-headers', 'access-control-max-age',
        'access-control-allow-private-network', 'upgrade',
        'sec-websocket-version'}


def message(number, method, **params):
    said = {'jsonrpc': '2.0', 'id': number, 'method': method}
    return json.dumps({**said, 'params': params} if params else said).encode()


def tool(number, name, **arguments):
    return message(number, 'tools/call', name=name, arguments=arguments)


def modern(number, name, token=None, **arguments):
    """A call of 2026-07-28, which needs no session."""
    meta = {'io.modelcontextprotocol/protocolVersion': MODERN,
            'io.modelcontextprotocol/clientCapabilities': {}}
    if token is not None:
        meta['progressToken'] = token
    return message(number, 'tools/call', name=name, arguments=arguments,
                   _meta=meta)


def modern_fields(name):
    return {'MCP-Protocol-Version': MODERN, 'Mcp-Method': 'tools/call',
            'Mcp-Name': name}


INITIALIZE = message(0, 'initialize', protocolVersion=LEGACY, capabilities={},
                     clientInfo={'name': 't', 'version': '1'})
PING = message('ping', 'ping')
POST = {'Content-Type': JSON, 'Accept': BOTH}


def head(method='POST', target='/mcp', **fields):
    """The bytes of a head; an underscore in a name stands for a hyphen."""
    fields = {'Host': '127.0.0.1', **{
        name.replace('_', '-'): value for name, value in fields.items()}}
    lines = [f'{method} {target} HTTP/1.1'.encode()]
    lines += [name.encode() + b': ' + (
        value if isinstance(value, bytes) else str(value).encode())
        for name, value in fields.items() if value is not None]
    return b'\r\n'.join(lines) + b'\r\n\r\n'


def post(body, **fields):
    """The bytes of a whole request; a field of None is left out."""
    return head(**{**POST, 'Content-Length': len(body), **fields}) + body


def chunk(data):
    return b'%x\r\n%s\r\n' % (len(data), data)


class Answer(namedtuple('Answer', 'status fields body')):
    def field(self, name):
        found = [value for key, value in self.fields if key == name]
        require(len(found) < 2, name, 'came twice')
        return found[0] if found else None

    def json(self):
        return json.loads(self.body)

    def expect(self, wanted, code=None):
        equal(self.status, wanted, f'{self.body[:300]}: status')
        if code is not None:
            error = self.json()['error']
            equal(error['code'], code, 'code')
            require(isinstance(error['message'], str), error)
        return self


class Web:
    """One connection."""

    def __init__(self, url):
        self.socket = url if isinstance(url, socket.socket) else dial(url)
        self.seen = b''

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        """True if it all went; a server that had enough may hang up."""
        try:
            self.socket.sendall(data)
            return True
        except OSError:
            return False

    def more(self):
        try:
            piece = self.socket.recv(MIB)
        except ConnectionError:
            piece = b''
        except TimeoutError:
            raise Mismatch(f'nothing came, after {self.seen[-200:]!r}')
        self.seen += piece
        return piece

    def take(self, size):
        while len(self.seen) < size:
            require(self.more(), 'it ended in a body')
        piece, self.seen = self.seen[:size], self.seen[size:]
        return piece

    def line(self):
        while b'\r\n' not in self.seen:
            require(self.more(), 'it ended in a line:', self.seen)
        line, _, self.seen = self.seen.partition(b'\r\n')
        return line

    def head(self):
        """(status, fields) of the next answer, or nothing at the end."""
        while not self.seen:
            if not self.more():
                return None
        found = re.fullmatch(rb'HTTP/1\.1 ([2-5]\d\d) [ -~]+', self.line())
        require(found, 'no status line')
        fields = []
        while line := self.line():
            name, value = re.fullmatch(
                rb'([a-z][a-z0-9-]*): ?([\t -~\x80-\xff]*)', line).groups()
            fields.append((name.decode(), value.decode('latin-1')))
        strange = {name for name, _ in fields} - OURS
        require(not strange, 'fields nobody knows:', strange)
        return int(found[1]), fields

    def pieces(self, answer):
        """The body, as it comes."""
        known = dict(answer.fields)
        if known.get('transfer-encoding') == 'chunked':
            while size := int(self.line(), 16):
                yield self.take(size)
                equal(self.line(), b'', 'after a chunk')
            equal(self.line(), b'', 'trailers')
        elif answer.status != 204:
            yield self.take(int(known['content-length']))

    def answer(self):
        """The next whole answer, or nothing at the end."""
        start = self.head()
        if start is None:
            return None
        start = Answer(*start, b'')
        return start._replace(body=b''.join(self.pieces(start)))

    def ask(self, data):
        self.send(data)
        answer = self.answer()
        require(answer, 'the connection ended, after', data[:300])
        return answer

    def answers(self):
        """All there are, up to the end."""
        return list(iter(self.answer, None))

    def stream(self):
        """The events of the next answer, as (id, data)."""
        start = self.head()
        require(start, 'the connection ended')
        start = Answer(*start, b'')
        equal((start.status, start.field('content-type')), (200, EVENTS))
        text = b''
        for piece in self.pieces(start):
            text += piece
            while b'\n\n' in text:
                event, _, text = text.partition(b'\n\n')
                fields = dict(line.partition(b': ')[::2]
                              for line in event.split(b'\n'))
                if b'data' in fields or b'data:' in fields:
                    yield (fields.get(b'id', b'').decode(),
                           fields.get(b'data', b''))
        equal(text, b'', 'half an event')

    def ends(self):
        """It hangs up, and says no more before."""
        equal(self.head(), None, 'it should end:')

    def finish(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def vanish(self):
        """As a machine does whose plug is pulled: a reset, no goodbye."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                               struct.pack('ii', 1, 0))
        self.socket.close()


class Session(Web):
    """A connection and a session of 2025-11-25, which it is the first in."""

    def __init__(self, url, session=None):
        super().__init__(url)
        self.id = session or self.open()

    def open(self):
        answer = self.ask(post(INITIALIZE)).expect(200)
        contains(answer.json()['result'], 'serverInfo')
        return answer.field('mcp-session-id')

    def post(self, body, **fields):
        return post(body, **{'Mcp-Session-Id': self.id,
                             'MCP-Protocol-Version': LEGACY, **fields})

    def get(self, last=None, **fields):
        return head('GET', **{'Mcp-Session-Id': self.id, 'Accept': EVENTS,
                              'Last-Event-ID': last, **fields})

    def lives(self):
        """It answers on this connection, and with nothing else before."""
        answer = self.ask(self.post(PING)).expect(200)
        equal(answer.json(), {'jsonrpc': '2.0', 'id': 'ping', 'result': {}})

    def refused(self, data, wanted, code=INVALID):
        """The bytes are refused, and do no more harm."""
        answer = self.ask(data).expect(wanted, code)
        self.lives()
        return answer


def lives(serving):
    """Somebody new is served."""
    with Session(serving.urls[0]) as session:
        session.lives()
        session.ask(head('DELETE', Mcp_Session_Id=session.id)).expect(204)


def room(serving, least=48 * MIB):
    """How much memory may seem to grow: a sanitizer frees nothing at once."""
    sanitized = status(serving, 'VmSize') > 1 << 40
    return max(least, 1024 * MIB) if sanitized else least


def check_memory(serving, before, least=48 * MIB):
    grown = status(serving, 'VmRSS') - before
    require(grown < room(serving, least), 'memory grew by', grown)


@contextlib.contextmanager
def unharmed(serving, least=48 * MIB):
    """Whatever is done to it here: it lives, and holds on to nothing."""
    lives(serving)
    before, memory = settled(serving), status(serving, 'VmRSS')
    yield
    require(serving.process.poll() is None, 'it died:', serving.lines[-5:])
    lives(serving)
    until(lambda: files(serving) <= before, 'no file is left open')
    check_memory(serving, memory, least)


class Standing:
    """One server that all tests have a go at, so that what each leaves behind
    adds up. Those that want options have a server of their own."""

    def __init__(self):
        self.stack, self.serving = contextlib.ExitStack(), None
        atexit.register(self.stack.close)

    def start(self):
        self.stack.close()
        self.serving = self.stack.enter_context(served('http'))
        lives(self.serving)
        self.files = settled(self.serving)
        self.memory = status(self.serving, 'VmRSS')

    @contextlib.contextmanager
    def http(self, *options):
        if options:
            with served('http', options=options) as serving, \
                    unharmed(serving):
                yield serving
            return
        if not self.serving or self.serving.process.poll() is not None:
            self.start()  # after a fall the others shall have their chance
        with unharmed(self.serving):
            yield self.serving

    def end(self):
        """After all of it, it is as it was."""
        require(self.serving, 'nothing was done to it')
        with self.stack:
            lives(self.serving)
            until(lambda: files(self.serving) <= self.files,
                  'no file is left open')
            check_memory(self.serving, self.memory)
            equal(self.serving.end(), 0, 'exit')
