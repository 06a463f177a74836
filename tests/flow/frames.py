"""frames.py - HTTP/2 to `fairlead demo`, frame by frame, well or badly made.

Heads are packed with literals alone, which any decoder takes; of what comes
back only the frames are read, and of heads only whether there are any. Enough
to misbehave with, and to see what becomes of it.
"""
import contextlib
import socket
import struct
from collections import namedtuple

from flow import require
from web import BOTH, JSON
from wire import MIB, dial

PREFACE = b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
(DATA, HEADERS, PRIORITY, RESET, SETTINGS, PUSH, PING, GOAWAY, WINDOW,
 CONTINUATION) = range(10)
END_STREAM, ACK, END_HEADERS = 1, 1, 4
PROTOCOL_ERROR, CLOSED, CANCEL, CALM = 1, 5, 8, 11

Frame = namedtuple('Frame', 'kind flags stream body')


def frame(kind, flags=0, stream=0, body=b''):
    return struct.pack('>I', len(body))[1:] + struct.pack(
        '>BBI', kind, flags, stream) + body


def number(value, bits):
    """An integer of HPACK, the bits before it being 0 (RFC 7541 5.1)."""
    full = (1 << bits) - 1
    if value < full:
        return bytes([value])
    data, value = bytes([full]), value - full
    while value >= 128:
        data, value = data + bytes([value % 128 + 128]), value // 128
    return data + bytes([value])


def literal(name, value, kept=False):
    """A field, which the peer is to put into its table if `kept`."""
    return (b'\x40' if kept else b'\0') + number(len(name), 7) + name + \
        number(len(value), 7) + value


def block(method=b'POST', path=b'/mcp', more=()):
    fields = [(b':method', method), (b':scheme', b'http'), (b':path', path),
              (b':authority', b'127.0.0.1'),
              (b'content-type', JSON.encode()), (b'accept', BOTH.encode())]
    return b''.join(literal(*field) for field in [*fields, *more])


def request(stream, body=None, more=(), **head):
    """A whole request, or a head that leaves its stream open."""
    start = frame(HEADERS, END_HEADERS, stream, block(more=more, **head))
    return start if body is None else start + frame(DATA, END_STREAM, stream,
                                                    body)


class Frames:
    """One connection, on which the client has said its greeting."""

    def __init__(self, url, settings=b'', greet=True, ack=True):
        self.socket, self.seen = dial(url), b''
        if greet:
            self.send(PREFACE + frame(SETTINGS, 0, 0, settings))
        if greet and ack:
            self.send(frame(SETTINGS, ACK))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        """True if it all went; a server that had enough hangs up."""
        try:
            self.socket.sendall(data)
            return True
        except OSError:
            return False

    def next(self):
        """The next frame, or nothing at the end."""
        while len(self.seen) < 9 or len(self.seen) < 9 + self.length():
            try:
                piece = self.socket.recv(MIB)
            except ConnectionError:
                return None
            if not piece:
                return None
            self.seen += piece
        end = 9 + self.length()
        kind, flags, stream = struct.unpack('>BBI', self.seen[3:9])
        body, self.seen = self.seen[9:end], self.seen[end:]
        return Frame(kind, flags, stream, body)

    def length(self):
        return int.from_bytes(self.seen[:3], 'big')

    def frames(self):
        """All there are, up to the end."""
        return list(iter(self.next, None))

    def until(self, kind, stream=None):
        """The next one of that kind."""
        for one in iter(self.next, None):
            if one.kind == kind and stream in (None, one.stream):
                return one
        require(False, 'it ended without a frame of kind', kind)

    def body(self, stream):
        """What is answered there; nothing if it is reset."""
        data = b''
        for one in iter(self.next, None):
            if one.stream != stream:
                continue
            if one.kind == RESET:
                return b''
            if one.kind == DATA:
                data += one.body
            if one.flags & END_STREAM:
                return data
        require(False, 'it ended before the answer')

    def dismissed(self, *codes):
        """It is hung up on; the code is one of these, if it gets to hear."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)
        for one in self.frames():
            if one.kind == GOAWAY:
                code = int.from_bytes(one.body[4:8], 'big')
                require(code in codes, 'it was dismissed with', code)
                return code
        return None
