"""sockets.py - WebSocket in plain Python, frame by frame, well or badly made.

Either end of a socket: one that sends exactly what it is told to, and shows
what comes back. Nothing here waits for ever.
"""
import contextlib
import json
import socket
import struct
import zlib
from urllib.parse import urlsplit

from flow import WAIT, Mismatch, contains, equal, require

MORE, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
FIN, PACKED = 0x80, 0x40
MASK = b'\x11\x22\x33\x44'

HANDSHAKE = {'Host': '127.0.0.1', 'Upgrade': 'websocket',
             'Connection': 'Upgrade', 'Sec-WebSocket-Version': '13',
             'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ=='}
ACCEPT = 'sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo='
DEFLATE = {'Sec-WebSocket-Extensions': 'permessage-deflate'}


def handshake(target, method='GET', version='1.1', **fields):
    """The bytes of a request for a socket; a field of None is left out, an
    underscore in a name stands for a hyphen."""
    fields = {**HANDSHAKE, **{name.replace('_', '-'): value
                              for name, value in fields.items()}}
    lines = [f'{method} {target} HTTP/{version}']
    lines += [f'{name}: {value}' for name, value in fields.items()
              if value is not None]
    return '\r\n'.join(lines).encode() + b'\r\n\r\n'


def masked(payload, mask):
    """And, once more, unmasked."""
    size = len(payload)
    pad = (mask * (size // 4 + 1))[:size]
    return (int.from_bytes(pad, 'big') ^
            int.from_bytes(payload, 'big')).to_bytes(size, 'big')


def frame(first, payload=b'', mask=MASK):
    """A frame; an empty mask: a server's."""
    size = len(payload)
    short = size if size < 126 else 126 if size < 1 << 16 else 127
    head = struct.pack('!BB', first, short | (0x80 if mask else 0))
    if short > 125:
        head += struct.pack('!H' if short == 126 else '!Q', size)
    return head + mask + (masked(payload, mask) if mask else payload)


def text(payload):
    return frame(FIN | TEXT, payload)


def closing(code, reason=b''):
    return frame(FIN | CLOSE, struct.pack('!H', code) + reason)


def fragments(payload, *cuts):
    """The same message in pieces, cut at these places."""
    ends = [0, *cuts, len(payload)]
    pieces = [payload[start:end] for start, end in zip(ends, ends[1:])]
    return [frame((MORE if at else TEXT) |
                  (FIN if at == len(pieces) - 1 else 0), piece)
            for at, piece in enumerate(pieces)]


def pack(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return (packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4]


class Socket:
    """One end of a WebSocket."""

    def __init__(self, end):
        self.socket = end
        self.socket.settimeout(WAIT)
        self.file = self.socket.makefile('rb')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def head(self):
        lines = []
        while line := self.file.readline().strip():
            lines.append(line.decode().lower())
        return lines

    def frame(self):
        """(first byte, payload), or None at the end."""
        head = self.file.read(2)
        if not head:
            return None
        size = head[1] & 0x7f
        if size > 125:
            wide = '!H' if size == 126 else '!Q'
            size, = struct.unpack(wide, self.file.read(struct.calcsize(wide)))
        mask = self.file.read(4) if head[1] & 0x80 else b''
        payload = self.file.read(size)
        return head[0], masked(payload, mask) if mask else payload


class Client(Socket):
    """A client's end, the handshake done. What is behind it in the same
    write is `more`."""

    def __init__(self, url, more=b'', target=None, buffer=None, **fields):
        where = urlsplit(url)
        end = socket.socket()
        if buffer:  # before connecting, or the window is another one
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        end.settimeout(WAIT)
        end.connect((where.hostname, where.port))
        super().__init__(end)
        try:
            self.begin(handshake(target or where.path, **fields) + more)
        except BaseException:
            self.__exit__()
            raise

    def begin(self, data):
        self.send(data)
        lines = self.head()
        require(lines, 'it ended before the handshake')
        equal(lines[0], 'http/1.1 101 switching protocols')
        contains(lines, ACCEPT)
        self.packs = any('permessage-deflate' in line for line in lines)

    def say(self, payload):
        """True if it all went; a server that had enough hangs up."""
        try:
            self.send(payload)
            return True
        except (ConnectionError, TimeoutError):
            return False

    def next(self):
        """The next frame that is no ping; pings are answered. None at the
        end, however it comes."""
        try:
            while (one := self.frame()) and one[0] == FIN | PING:
                self.say(frame(FIN | PONG, one[1]))
        except ConnectionError:
            return None
        except TimeoutError:
            raise Mismatch('nothing came')
        return one

    def hear(self):
        """The next message, as it is."""
        one = self.next()
        require(one, 'the socket ended')
        first, payload = one
        if first == FIN | PACKED | TEXT:
            return zlib.decompressobj(-15).decompress(
                payload + b'\0\0\xff\xff')
        equal(first, FIN | TEXT, f'{payload[:200]}: frame')
        return payload

    def receive(self):
        return json.loads(self.hear())

    def ask(self, message):
        self.send(text(message))
        return self.receive()

    def frames(self):
        """All there are, up to the end."""
        return list(iter(self.next, None))

    def closed(self, code, what=''):
        """A close with this code comes next, and then the end. Returns the
        reason."""
        one = self.next()
        require(one, 'it ended without a close', what)
        first, payload = one
        equal(first, FIN | CLOSE, f'{what} {payload[:200]}: frame')
        equal(struct.unpack('!H', payload[:2])[0], code,
              f'{what} {payload[2:]}: code')
        self.say(closing(code))
        equal(self.next(), None, what)
        return payload[2:].decode()

    def vanish(self):
        """As a machine does whose plug is pulled: a reset, no goodbye."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                               struct.pack('ii', 1, 0))
        self.__exit__()

    def finish(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)
