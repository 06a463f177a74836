"""peers.py - a client of either era on any transport, in plain Python.

Whatever a server says, on whichever stream, ends up in one queue; so the
facts in every_transport.py are written once. What the server asks is answered
from a table: as requests of its own in the legacy era, in rounds in the
modern one.
"""
import contextlib
import http.client
import json
import queue
import subprocess
import threading
from urllib.parse import urlsplit

from flow import WAIT, Lines, Mismatch, equal, require
from sockets import Client, text

LEGACY, MODERN = '2025-11-25', '2026-07-28'
KEY = 'io.modelcontextprotocol/'
TASKS = KEY + 'tasks'

ALL = {'sampling': {}, 'elicitation': {}, 'roots': {'listChanged': True}}

ANSWERS = {
    'sampling/createMessage': {
        'role': 'assistant', 'model': 'none', 'stopReason': 'endTurn',
        'content': {'type': 'text', 'text': 'Paris'}},
    'roots/list': {'roots': [{'uri': 'file:///home', 'name': 'home'}]},
    'elicitation/create': {'action': 'accept', 'content': {
        'username': 'ada', 'email': 'ada@example.org', 'name': 'Alice',
        'color': 'blue', 'ok': True, 'confirm': True, 'context': 'tests'}},
}


def fitting(params, answer):
    """Of an answer to a form, what the form has."""
    if answer.get('action') != 'accept':
        return answer
    fields = params['requestedSchema']['properties']
    return {'action': 'accept', 'content': {
        name: value for name, value in answer['content'].items()
        if name in fields}}


class Peer:
    """What all transports have in common. `capabilities` are the client's."""

    def __init__(self, era, capabilities=None, answers=None):
        self.era = era
        self.capabilities = ALL if capabilities is None else capabilities
        self.answers = {**ANSWERS, **(answers or {})}
        self.inbox, self.heard, self.last = queue.Queue(), [], 0
        self.asked = []  # what the server wanted to know

    def __enter__(self):
        self.open()
        if self.era == LEGACY:
            self.ask('initialize', protocolVersion=LEGACY,
                     capabilities=self.capabilities,
                     clientInfo={'name': 'peer', 'version': '1'})
            self.post({'method': 'notifications/initialized'})
        return self

    def __exit__(self, *_):
        self.close()

    def meta(self, more):
        if self.era == LEGACY:
            return more
        return {KEY + 'protocolVersion': MODERN,
                KEY + 'clientCapabilities': self.capabilities,
                KEY + 'clientInfo': {'name': 'peer', 'version': '1'}, **more}

    def begin(self, method, **params):
        """Asks, and does not wait; the id."""
        self.last += 1
        meta = self.meta(params.pop('_meta', {}))
        if meta:
            params['_meta'] = meta
        self.post({'id': self.last, 'method': method, 'params': params})
        return self.last

    def next(self):
        try:
            return self.inbox.get(timeout=WAIT)
        except queue.Empty:
            raise Mismatch('nothing came')

    def react(self, message):
        """To anything but an answer."""
        if 'id' not in message:
            self.heard.append(message)
            return
        equal(self.era, LEGACY, f'{message}: a request, in the era')
        self.post({'id': message['id'], 'result': self.tell(message)})

    def tell(self, question):
        self.asked.append(question)
        answer = self.answers[question['method']]
        if question['method'] == 'elicitation/create':
            return fitting(question['params'], answer)
        return answer

    def wait(self, number):
        """The answer to a request."""
        while True:
            message = self.next()
            if 'method' in message:
                self.react(message)
            elif message.get('id') == number:
                return message

    def once(self, method, **params):
        """The whole answer, be it one or not."""
        return self.wait(self.begin(method, **params))

    def ask(self, method, **params):
        """The result, after as many rounds as it takes."""
        answer = self.once(method, **params)
        for _ in range(9):
            result = answer.get('result', {})
            if result.get('resultType') != 'input_required':
                break
            more = {'inputResponses': {
                key: self.tell(question)
                for key, question in result['inputRequests'].items()}}
            if 'requestState' in result:
                more['requestState'] = result['requestState']
            answer = self.once(method, **{**params, **more})
        require('result' in answer, answer)
        return answer['result']

    def error(self, method, **params):
        answer = self.once(method, **params)
        require('error' in answer, 'want an error, got', answer)
        return answer['error']

    def call(self, tool, _meta=None, **arguments):
        more = {'_meta': _meta} if _meta else {}
        return self.ask('tools/call', name=tool, arguments=arguments, **more)

    def text(self, tool, **arguments):
        content = self.call(tool, **arguments)['content']
        equal(len(content), 1, content)
        return content[0]['text']

    def notified(self, method):
        """Waits until it has been heard; its params, and it is forgotten."""
        while True:
            for message in self.heard:
                if message['method'] == method:
                    self.heard.remove(message)
                    return message.get('params', {})
            self.react(self.next())

    def cancel(self, number):
        self.post({'method': 'notifications/cancelled',
                   'params': {'requestId': number}})

    def listen(self):
        """To what is about no request. Only HTTP has to do something."""


class Channel(Peer):
    """Everything that has one stream, both ways."""

    def __init__(self, connect, era, **more):
        super().__init__(era, **more)
        self.connect = connect

    def open(self):
        self.stack = contextlib.ExitStack()
        self.send, self.receive = self.connect(self.stack)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        with contextlib.suppress(OSError, ValueError, Mismatch):
            while (message := self.receive()) is not None:
                self.inbox.put(message)

    def post(self, message):
        self.send({'jsonrpc': '2.0', **message})

    def close(self):
        self.stack.close()


def stdio(command):
    def connect(stack):
        process = stack.enter_context(subprocess.Popen(
            [*command, '--listen', 'stdio:'], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE))
        stack.callback(process.stdin.close)

        def send(message):
            process.stdin.write(json.dumps(message).encode() + b'\n')
            process.stdin.flush()

        def receive():
            line = process.stdout.readline()
            return json.loads(line) if line else None
        return send, receive
    return connect


def end(one):
    """Wakes who is reading from it."""
    with contextlib.suppress(OSError):
        one.shutdown(2)


def lines(url):
    def connect(stack):
        one = stack.enter_context(Lines(url))
        stack.callback(end, one.socket)
        return one.send, one.receive
    return connect


def socket(url):
    def connect(stack):
        one = stack.enter_context(Client(url))
        stack.callback(end, one.socket)
        return (lambda message: one.send(text(json.dumps(message).encode())),
                one.receive)
    return connect


class Http(Peer):
    """A connection for each message, and a thread that reads what comes."""

    def __init__(self, url, era, **more):
        super().__init__(era, **more)
        self.url, self.session = urlsplit(url), None
        self.flights = {}  # of requests that are not answered

    def open(self):
        pass

    def fields(self, message):
        fields = {'Content-Type': 'application/json',
                  'Accept': 'application/json, text/event-stream'}
        if self.era == LEGACY:
            if self.session:
                fields.update({'Mcp-Session-Id': self.session,
                               'MCP-Protocol-Version': LEGACY})
            return fields
        params = message.get('params', {})
        name = params.get('name') or params.get('uri') or params.get('taskId')
        fields.update({'MCP-Protocol-Version': MODERN,
                       'Mcp-Method': message['method']})
        if name and message['method'] in (
                'tools/call', 'prompts/get', 'resources/read', 'tasks/get',
                'tasks/update', 'tasks/cancel'):
            fields['Mcp-Name'] = name
        return fields

    def fly(self, method, body, fields):
        one = http.client.HTTPConnection(self.url.hostname, self.url.port,
                                         timeout=WAIT)
        one.request(method, self.url.path, body, fields)
        return one

    def post(self, message):
        one = self.fly('POST', json.dumps({'jsonrpc': '2.0', **message}),
                       self.fields(message))
        if message.get('method') == 'initialize':
            answer = one.getresponse()
            self.session = answer.getheader('mcp-session-id')
            self.read(one, answer)
        elif 'method' not in message or 'id' not in message:
            equal(one.getresponse().status, 202)
            one.close()
        else:
            self.flights[message['id']] = one
            threading.Thread(target=self.read, args=(one,),
                             daemon=True).start()

    def read(self, one, answer=None):
        with contextlib.suppress(OSError, ValueError, AttributeError,
                                 http.client.HTTPException):
            answer = answer or one.getresponse()
            if answer.getheader('content-type') == 'application/json':
                self.inbox.put(json.loads(answer.read()))
            else:
                for line in answer:
                    if line.startswith(b'data: {'):
                        self.inbox.put(json.loads(line[6:]))
        one.close()

    def listen(self):
        if self.era == LEGACY:
            one = self.fly('GET', None, {'Accept': 'text/event-stream',
                                         'Mcp-Session-Id': self.session,
                                         'MCP-Protocol-Version': LEGACY})
            self.flights['standing'] = one
            answer = one.getresponse()
            equal(answer.status, 200)
            threading.Thread(target=self.read, args=(one, answer),
                             daemon=True).start()

    def cancel(self, number):
        if self.era == LEGACY:
            super().cancel(number)
        else:  # hanging up is how it is done
            self.hang_up(self.flights[number])

    @staticmethod
    def hang_up(one):
        if one.sock:
            end(one.sock)

    def close(self):
        for one in self.flights.values():
            self.hang_up(one)
        if self.session:
            one = self.fly('DELETE', None, {'Mcp-Session-Id': self.session})
            equal(one.getresponse().status, 204)
            one.close()
