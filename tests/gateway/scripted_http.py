"""scripted_http.py - the scripted server over HTTP: Streamable HTTP of every
revision, HTTP+SSE, and WebSockets, on any URL.
"""
import base64
import contextlib
import hashlib
import http.server
import itertools
import json
import socket
import threading
import time
from urllib.parse import urlsplit

from scenes import spelled
from sockets import CLOSE, FIN, PING, PONG, TEXT, Socket, frame
from stage import Call, Channel, Session, announce


class Stream:
    """The answer to a POST: JSON if there is only one thing to say."""

    def __init__(self, handler, message, session=None):
        self.handler, self.message, self.session = handler, message, session
        self.open, self.lock = False, threading.Lock()

    def send(self, message):
        with self.lock:
            final = message.get('id') == self.message['id'] and \
                'method' not in message
            if final and not self.open:
                self.handler.reply(self.status(message), message, self.session)
                return
            if not self.open:
                self.handler.begin_events()
                self.open = True
            self.handler.event(message)
            if final:
                self.handler.chunk(b'')

    def status(self, message):
        code = message.get('error', {}).get('code')
        if not self.handler.core.modern or code is None:
            return 200
        return {-32601: 404}.get(code, 400 if -32023 < code < -32019 else 200)


class Handler(http.server.BaseHTTPRequestHandler):
    """Streamable HTTP; HTTP+SSE if the path is /sse or /messages."""
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def setup(self):
        super().setup()
        self.core, self.web = self.server.core, self.server

    def note(self, what, **more):
        self.core.record.write(
            what, verb=self.command, path=self.path, **more,
            headers={name.lower(): value for name, value in
                     self.headers.items()})

    def reply(self, status, message=None, session=None, **fields):
        body = b'' if message is None else spelled(message)
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace('_', '-'), value)
        if session:
            self.send_header('Mcp-Session-Id', session)
        if body:
            self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin_events(self):
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.send_header('Transfer-Encoding', 'chunked')
        self.end_headers()

    def chunk(self, data):
        self.wfile.write(b'%x\r\n%s\r\n' % (len(data), data))
        self.wfile.flush()

    def event(self, message, name=None):
        said = message if isinstance(message, bytes) else spelled(message)
        self.chunk((f'event: {name}\n' if name else '').encode() +
                   b'data: ' + said + b'\n\n')

    def gone(self):
        """Whether the peer has hung up."""
        try:
            return self.connection.recv(
                1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b''
        except BlockingIOError:
            return False
        except OSError:
            return True

    def hang_up(self):
        self.close_connection = True
        self.connection.shutdown(2)

    def do_POST(self):
        raw = self.rfile.read(int(self.headers['Content-Length']))
        try:
            message = json.loads(raw)
        except ValueError:
            self.note('broken', message=repr(raw))
            self.reply(400)
            return
        self.note('heard', message=message, raw=raw.decode())
        if self.mannered(message):
            return
        if urlsplit(self.path).path == '/messages':
            self.post_sse(message)
        elif self.core.modern:
            self.post_modern(message)
        else:
            self.post_legacy(message)

    def mannered(self, message):
        if '503' in self.core.manners:
            self.reply(503)
        elif '401-once' in self.core.manners and self.core.once:
            self.core.once = False
            self.reply(401, WWW_Authenticate='Bearer')
        else:
            probed = self.core.probed(message)
            if isinstance(probed, dict):
                self.reply(400, {'jsonrpc': '2.0', 'id': message['id'],
                                 'error': probed})
                return True
            return probed
        return True

    def post_modern(self, message):
        session = Session(self.core, lambda message: None)
        self.serve(session, message)

    def post_legacy(self, message):
        name = self.headers['Mcp-Session-Id']
        if message.get('method') == 'initialize':
            name = f'session-{next(self.web.numbers)}'
            session = Session(self.core, self.web.undelivered)
            self.core.sessions.append(session)
            self.web.known[name] = session
            self.serve(session, message, name)
        elif name is None:
            self.reply(400, {'jsonrpc': '2.0', 'id': message.get('id'),
                             'error': {'code': -32000, 'message':
                                       'Bad Request: no session'}})
        elif name not in self.web.known:
            self.reply(404)
        else:
            self.serve(self.web.known[name], message)

    def serve(self, session, message, name=None):
        """A request; anything else is only taken."""
        started = []
        session.hear(message, started.append)
        if not started:
            self.reply(202)
            return
        stream = Stream(self, message, name)
        call = Call(session, message, stream.send, self.gone, self.hang_up,
                    self.headers)
        try:
            call.run()
        except OSError:
            self.core.record.write('gone', id=message['id'],
                                   method=message['method'])
        if call.over() or call.gone():
            self.close_connection = True

    def post_sse(self, message):
        channel = self.web.known.get(urlsplit(self.path).query)
        if not channel:
            self.reply(404)
            return
        self.reply(202)
        probed = self.core.probed(message)
        if isinstance(probed, dict):
            channel.send({'jsonrpc': '2.0', 'id': message['id'],
                          'error': probed})
        elif not probed:
            channel.session.hear(message, channel.start)

    def do_GET(self):
        self.note('get')
        if self.headers.get('Upgrade', '').lower() == 'websocket':
            self.serve_socket()
        elif self.path == '/sse':
            self.serve_sse()
        elif self.core.modern or 'no-get' in self.core.manners or \
                self.headers['Mcp-Session-Id'] not in self.web.known:
            self.reply(405)
        else:
            session = self.web.known[self.headers['Mcp-Session-Id']]
            lock = threading.Lock()

            def send(message):
                with lock:
                    self.event(message)
            with lock:  # who has the head misses nothing
                session.send = send
                self.begin_events()
            self.stand()
            session.send = self.web.undelivered

    def stand(self):
        while not self.gone():
            time.sleep(0.02)
        self.core.record.write('closed', verb='GET')
        self.close_connection = True

    def serve_sse(self):
        name = str(next(self.web.numbers))
        channel = Channel(self.core, lambda data: self.event(
            data, 'message'), self.hang_up)
        self.web.known[name] = channel
        self.begin_events()
        self.event(f'/messages?{name}'.encode(), 'endpoint')
        with contextlib.suppress(OSError):
            self.stand()
        channel.close()

    def serve_socket(self):
        self.wfile.write(server_handshake(self.headers))
        self.wfile.flush()
        self.close_connection = True
        with Socket(self.connection) as end:
            end.socket.settimeout(None)
            channel = Channel(self.core, lambda data: end.send(
                frame(FIN | TEXT, data, b'')),
                lambda: self.connection.shutdown(2))
            with contextlib.suppress(OSError, ValueError):
                self.hear_frames(end, channel)
            channel.close()

    def hear_frames(self, end, channel):
        while (one := end.frame()):
            first, payload = one
            if first == FIN | PING:
                end.send(frame(FIN | PONG, payload, b''))
            elif first == FIN | CLOSE:
                end.send(frame(FIN | CLOSE, payload[:2], b''))
                return
            elif first == FIN | TEXT:
                channel.hear(payload)

    def do_DELETE(self):
        self.note('delete')
        session = self.web.known.pop(self.headers['Mcp-Session-Id'], None)
        if session:
            self.core.sessions.remove(session)
        self.reply(200 if session else 405)


def server_handshake(headers):
    key = headers['Sec-WebSocket-Key'].strip() + \
        '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
    accept = base64.b64encode(hashlib.sha1(key.encode()).digest())
    lines = [b'HTTP/1.1 101 Switching Protocols', b'Upgrade: websocket',
             b'Connection: Upgrade', b'Sec-WebSocket-Accept: ' + accept]
    if 'mcp' in headers.get('Sec-WebSocket-Protocol', ''):
        lines.append(b'Sec-WebSocket-Protocol: mcp')
    return b'\r\n'.join(lines) + b'\r\n\r\n'


class Quiet(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Peers leave as they like."""


def serve_http(server, url):
    with Quiet((url.hostname, url.port), Handler) as web:
        web.core, web.known = server, {}
        server.forget = web.known.clear
        web.numbers = itertools.count(1)
        web.undelivered = lambda message: server.record.write(
            'undelivered', message=message)
        announce(f'{url.scheme}://127.0.0.1:{web.server_port}{url.path}')
        web.serve_forever()
