"""clients.py - clients of every revision on every transport, that send exactly
what they are told to and keep every byte that comes back.

What comes, on whichever stream, is kept in one list in the order it came; a
test takes out of it what it waits for, and may look at what is left. Nothing
here answers by itself, and nothing waits for ever.
"""
import contextlib
import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urljoin, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'flow'))
from flow import SLOW, Mismatch, equal, require  # noqa: E402
from scenes import KEY, LEGACY, MODERN, spelled  # noqa: E402
from sockets import Client as Frames, text  # noqa: E402

PATIENCE = 10 * SLOW
ALL = {'sampling': {}, 'elicitation': {'form': {}, 'url': {}}, 'roots': {}}
ADA = {'action': 'accept', 'content': {'name': 'Ada'}}
TRACE = []  # what all clients of this test said and heard
NAMED = {'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri',
         'tasks/get': 'taskId', 'tasks/update': 'taskId',
         'tasks/cancel': 'taskId'}


def trace(who, arrow, what):
    if isinstance(what, bytes):
        what = what.decode(errors='backslashreplace')
    TRACE.append(f'{time.monotonic():.6f} {who} {arrow} {what}')


class Heard:
    """A message, as it came, and where."""

    def __init__(self, raw, flight=None, event=None):
        self.raw, self.flight, self.event = raw, flight, event
        self.message = json.loads(raw)


class Client:
    """What all transports have in common."""

    def __init__(self, revision=MODERN, name='one', capabilities=None):
        self.revision, self.name = revision, name
        self.modern = revision == MODERN
        self.capabilities = ALL if capabilities is None else capabilities
        self.kept, self.all, self.last = [], [], 0
        self.broken, self.fresh = None, threading.Condition()
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        try:
            self.open()
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *_):
        self.stack.close()

    # To the server.

    def send(self, message):
        """A message without its version, or the bytes of one."""
        if not isinstance(message, bytes):
            if isinstance(message, dict):
                message = {'jsonrpc': '2.0', **message}
            message = spelled(message)
        trace(self.name, '->', message)
        return self.transmit(message)

    def meta(self, more):
        if not self.modern:
            return more
        return {KEY + 'protocolVersion': MODERN,
                KEY + 'clientCapabilities': self.capabilities,
                KEY + 'clientInfo': {'name': self.name, 'version': '1'},
                **more}

    def compose(self, method, params=None, number=None, meta=None):
        """A request, with the claims of the revision."""
        if number is None:
            self.last += 1
            number = self.last
        params, meta = dict(params or {}), self.meta(meta or {})
        if meta:
            params['_meta'] = meta
        return {'jsonrpc': '2.0', 'id': number, 'method': method,
                'params': params}

    def request(self, method, params=None, number=None, meta=None):
        message = self.compose(method, params, number, meta)
        self.send(message)
        return message['id']

    def notify(self, method, params=None):
        self.send({'method': method, 'params': params or {}})

    def respond(self, number, **said):
        return self.send({'id': number, **said})

    # From it.

    def hear(self, raw, flight=None, event=None):
        trace(self.name, '<-', raw)
        try:
            one = Heard(raw, flight, event)
        except ValueError:
            with self.fresh:
                self.broken = raw
                self.fresh.notify_all()
            return
        with self.fresh:
            self.kept.append(one)
            self.all.append(one)
            self.fresh.notify_all()

    def take(self, fits, what, patience=PATIENCE):
        """The first thing heard that fits, and it is taken out."""
        end = time.monotonic() + patience
        with self.fresh:
            while True:
                for one in self.kept:
                    if fits(one.message):
                        self.kept.remove(one)
                        return one
                require(self.broken is None, self.name,
                        'got what is no JSON:', self.broken)
                left = end - time.monotonic()
                require(left > 0, self.name, 'did not get', what)
                self.fresh.wait(left)

    def answer(self, number, patience=PATIENCE):
        """The whole response, be it a result or an error."""
        return self.take(lambda said: isinstance(said, dict) and
                         'method' not in said and
                         said.get('id') == number and
                         type(said.get('id')) is type(number),
                         f'an answer to {number!r}', patience).message

    def notification(self, method, patience=PATIENCE):
        """The params of one."""
        return self.take(lambda said: said.get('method') == method and
                         'id' not in said, method,
                         patience).message.get('params', {})

    def question(self, method):
        """A request of the server, as heard."""
        return self.take(lambda said: said.get('method') == method and
                         'id' in said, method)

    def never(self, fits, what, seconds=0.3):
        try:
            self.take(fits, what, seconds * SLOW)
        except Mismatch:
            return
        raise Mismatch(f'{self.name} got {what}')

    def ask(self, method, params=None, number=None, meta=None):
        """The result."""
        said = self.answer(self.request(method, params, number, meta))
        require('result' in said, method, 'got no result:', said)
        return said['result']

    def error(self, method, params=None, number=None, meta=None):
        said = self.answer(self.request(method, params, number, meta))
        require('error' in said, method, 'got no error:', said)
        return said['error']

    def call(self, tool, arguments=None, **more):
        """The result of a tool."""
        meta = more.pop('meta', None)
        return self.ask('tools/call', {
            'name': tool, 'arguments': arguments or {}, **more}, meta=meta)

    def text(self, tool, arguments=None, **more):
        return text_of(self.call(tool, arguments, **more))

    def initialize(self, revision=None):
        result = self.ask('initialize', {
            'protocolVersion': revision or self.revision,
            'capabilities': self.capabilities,
            'clientInfo': {'name': self.name, 'version': '1'}})
        self.notify('notifications/initialized')
        return result

    def begin(self):
        """As a client of its revision does."""
        if not self.modern:
            self.initialize()
        return self


def text_of(result):
    require('content' in result, 'no content:', result)
    said = [one['text'] for one in result['content'] if one['type'] == 'text']
    require(said, 'no text in', result)
    return said[0]


def asked(result, count=1):
    """The questions of a round."""
    equal(result.get('resultType'), 'input_required', result)
    equal(len(result['inputRequests']), count, result)
    require(isinstance(result['requestState'], str), result)
    return result['inputRequests']


def retry(client, tool, result, answers, arguments=None):
    return client.call(tool, arguments, inputResponses=answers,
                       requestState=result['requestState'])


def wake(one):
    """Whoever reads from the socket."""
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)


class Pipe(Client):
    """Lines over whatever `connect` opens: (sink, source)."""

    def __init__(self, connect, *words, **more):
        super().__init__(*words, **more)
        self.connect = connect

    def open(self):
        self.sink, source = self.connect(self.stack)
        threading.Thread(target=self.read, args=(source,),
                         daemon=True).start()

    def read(self, source):
        with contextlib.suppress(OSError, ValueError):
            for line in source:
                self.hear(line.rstrip(b'\n'))
        trace(self.name, '--', 'the end')

    def transmit(self, data):
        self.sink.write(data + b'\n')
        self.sink.flush()


def stdio(words):
    """A program, spoken to by its stdin and stdout."""
    def connect(stack):
        process = subprocess.Popen(
            [str(word) for word in words], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said = []
        reader = threading.Thread(target=lambda: said.extend(process.stderr),
                                  daemon=True)
        reader.start()

        def end():
            with contextlib.suppress(OSError):
                process.stdin.close()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                trace('gateway', '--', 'did not end with its stdin')
                process.kill()
                process.wait()
            reader.join(PATIENCE)
            for line in said:
                trace('gateway', '##', line.rstrip(b'\n'))
        stack.callback(end)
        return process.stdin, process.stdout
    return connect


def lines(url, source=None):
    """A TCP or Unix socket."""
    def connect(stack):
        where = urlsplit(url)
        if where.scheme == 'unix':
            one = socket.socket(socket.AF_UNIX)
            one.connect(where.path)
        else:
            one = socket.create_connection(
                (where.hostname, where.port), PATIENCE,
                (source, 0) if source else None)
        one.settimeout(None)
        stack.callback(one.close)
        files = one.makefile('wb'), one.makefile('rb')
        stack.callback(wake, one)
        return files
    return connect


class Ws(Client):
    def __init__(self, url, *words, fields=None, **more):
        super().__init__(*words, **more)
        self.url, self.more = url, fields or {}
        self.over = threading.Event()

    def open(self):
        self.frames = self.stack.enter_context(
            Frames(self.url, Sec_WebSocket_Protocol='mcp', **self.more))
        self.frames.socket.settimeout(None)
        self.stack.callback(wake, self.frames.socket)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        with contextlib.suppress(OSError, ValueError, Mismatch):
            while True:
                self.hear(self.frames.hear())
        trace(self.name, '--', 'the end')
        self.over.set()

    def transmit(self, data):
        self.frames.send(text(data))


class Flight:
    """An HTTP request, and what comes back."""

    def __init__(self, client, verb, path, body, fields):
        self.client, self.events, self.body = client, [], b''
        self.arrived, self.done = threading.Event(), threading.Event()
        self.status = self.fields = None
        self.connection = http.client.HTTPConnection(
            client.where.hostname, client.where.port, timeout=None,
            source_address=(client.source, 0) if client.source else None)
        self.connection.request(verb, path, body, fields)
        self.socket = self.connection.sock
        self.socket.settimeout(None)
        client.stack.callback(self.hang_up)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        with contextlib.suppress(OSError, ValueError, AttributeError,
                                 http.client.HTTPException):
            answer = self.connection.getresponse()
            self.status, self.fields = answer.status, answer.headers
            trace(self.client.name, '<-', f'HTTP {answer.status}')
            self.arrived.set()
            if answer.getheader('content-type', '').startswith(
                    'text/event-stream'):
                self.read_events(answer)
            else:
                self.body = answer.read()
                if self.body.startswith((b'{', b'[')):
                    self.client.hear(self.body, self)
        self.arrived.set()
        self.done.set()

    def read_events(self, answer):
        event = {}
        for line in answer:
            line = line.rstrip(b'\r\n')
            if line:
                name, _, value = line.partition(b':')
                event[name] = value.removeprefix(b' ')
            elif event:
                self.events.append(event)
                self.client.on_event(event, self)
                event = {}

    def expect(self, status):
        """Waits for the head."""
        require(self.arrived.wait(PATIENCE), 'no answer over HTTP')
        equal(self.status, status, f'HTTP, with {self.body[:300]}: status')
        return self

    def hang_up(self):
        wake(self.socket)
        with contextlib.suppress(OSError):
            self.socket.close()


class Http(Client):
    """Streamable HTTP, legacy or modern; `fields` go with every request, and
    one of None is left out."""

    def __init__(self, url, *words, source=None, fields=None, **more):
        super().__init__(*words, **more)
        self.where, self.source = urlsplit(url), source
        self.more, self.session, self.agreed = fields or {}, None, None
        self.flights = {}

    def open(self):
        pass

    def fields_of(self, message):
        fields = {'Content-Type': 'application/json',
                  'Accept': 'application/json, text/event-stream'}
        if not self.modern:
            if self.session:
                fields['Mcp-Session-Id'] = self.session
            if self.agreed and self.agreed >= LEGACY[2]:
                fields['MCP-Protocol-Version'] = self.agreed
            return fields
        fields['MCP-Protocol-Version'] = MODERN
        if isinstance(message, dict) and 'method' in message:
            method = message['method']
            fields['Mcp-Method'] = method
            if method in NAMED:
                fields['Mcp-Name'] = message['params'][NAMED[method]]
        return fields

    def fly(self, verb, body, fields):
        fields = {name: value for name, value in {
            **fields, **self.more}.items() if value is not None}
        target = self.where._replace(scheme='', netloc='').geturl()
        return Flight(self, verb, target, body, fields)

    def transmit(self, data, **fields):
        message = json.loads(data)
        flight = self.fly('POST', data, {**self.fields_of(message), **fields})
        if isinstance(message, dict) and 'id' in message:
            self.flights[message['id']] = flight
        return flight

    def post(self, message, **fields):
        """Once, with these fields; an underscore stands for a hyphen."""
        data = spelled(message)
        trace(self.name, '->', data + f' with {fields}'.encode())
        return self.transmit(data, **{
            name.replace('_', '-'): value for name, value in fields.items()})

    def get(self, last=None):
        """The stream that is about no request, or the rest of another."""
        fields = {**self.fields_of(None), 'Accept': 'text/event-stream'}
        if last is not None:
            fields['Last-Event-ID'] = last
        trace(self.name, '->', f'GET {fields}')
        return self.fly('GET', None, fields)

    def delete(self):
        return self.fly('DELETE', None, self.fields_of(None))

    def on_event(self, event, flight):
        if event.get(b'data'):
            self.hear(event[b'data'], flight, event.get(b'id'))

    def initialize(self, revision=None):
        number = self.request('initialize', {
            'protocolVersion': revision or self.revision,
            'capabilities': self.capabilities,
            'clientInfo': {'name': self.name, 'version': '1'}})
        flight = self.flights[number].expect(200)
        self.session = flight.fields.get('mcp-session-id')
        result = self.answer(number)['result']
        self.agreed = result['protocolVersion']
        self.send({'method': 'notifications/initialized'}).expect(202)
        return result


class Sse(Http):
    """HTTP+SSE of 2024."""

    def open(self):
        self.endpoint, self.known = None, threading.Event()
        self.stream = self.fly('GET', None, {'Accept': 'text/event-stream'})
        require(self.known.wait(PATIENCE), 'no endpoint was told; HTTP',
                self.stream.status, self.stream.body[:200])

    def on_event(self, event, flight):
        if event.get(b'event') == b'endpoint':
            self.endpoint = event[b'data'].decode()
            trace(self.name, '<-', f'endpoint {self.endpoint}')
            self.known.set()
        else:
            super().on_event(event, flight)

    def transmit(self, data, **fields):
        path = urlsplit(urljoin(self.where.geturl(), self.endpoint))
        path = path.path + (f'?{path.query}' if path.query else '')
        return Flight(self, 'POST', path, data,
                      {'Content-Type': 'application/json', **self.more,
                       **fields})

    initialize = Client.initialize
