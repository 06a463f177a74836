"""stage.py - what the scripted server is made of, whatever the transport: its
sessions, its calls, its record, and the pipe that most transports are.
"""
import contextlib
import itertools
import json
import os
import queue
import threading
import time

import scenes
import scenes_asking
from scenes import KEY, LEVELS, MODERN, Error, Gone, spelled


scenes.WHEN_ASKED['pondered'] = scenes_asking.pondered


class Record:
    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, what, **more):
        line = json.dumps({'what': what, 'at': round(time.monotonic(), 6),
                           'pid': os.getpid(), **more})
        os.write(self.file, line.encode() + b'\n')  # whole lines, always


class Session:
    """One client. `send` says something to it that is about no request."""

    def __init__(self, server, send):
        self.server, self.send = server, send
        self.asked, self.calls, self.subscribed = {}, {}, set()
        self.numbers = itertools.count(1)
        self.level = None

    def say(self, message):
        message = {'jsonrpc': '2.0', **message}
        self.server.record.write('said', message=message)
        self.send(message)

    def want_roots(self):
        self.asked['roots'] = queue.Queue()
        self.say({'id': 'roots', 'method': 'roots/list'})

    def hear(self, message, start):
        """A message of the client; a request is handed to `start`."""
        if 'method' not in message:
            if message.get('id') in self.asked:
                self.asked[message['id']].put(message)
        elif 'id' in message:
            start(message)
        elif message['method'] == 'notifications/initialized':
            if 'roots' in self.server.manners:
                self.want_roots()
        elif message['method'] == 'notifications/cancelled':
            call = self.calls.get(message['params'].get('requestId'))
            if call:
                call.cancelled.set()


class Call:
    """A request being served. `send` reaches whoever sent it."""

    def __init__(self, session, message, send, gone=lambda: False, die=None,
                 headers=None):
        self.headers = headers
        self.session, self.message, self.gone = session, message, gone
        self.server, self.out = session.server, send
        self.params = message.get('params') or {}
        self.meta = self.params.get('_meta') or {}
        self.cancelled, self.stopped = threading.Event(), threading.Event()
        self.die = die or (lambda: os._exit(1))
        session.calls[message['id']] = self

    def send(self, message):
        message = {'jsonrpc': '2.0', **message}
        self.server.record.write('said', message=message)
        self.out(message)

    def tell(self, method, params):
        self.send({'method': method, 'params': params})

    def tagged(self, method, params):
        self.tell(method, {**params, '_meta': {
            KEY + 'subscriptionId': self.message['id']}})

    def progress(self, step, steps, said):
        if 'progressToken' in self.meta:
            more = {'message': said} if self.server.revision > scenes.L1 else {}
            self.tell('notifications/progress', {
                'progressToken': self.meta['progressToken'],
                'progress': step, 'total': steps, **more})

    def log(self, level, said):
        """A modern client has said with the request what it wants; a legacy
        one gets it all, for somebody else to sift."""
        if self.server.modern:
            wanted = self.meta.get(KEY + 'logLevel')
            if not wanted or LEVELS.index(level) < LEVELS.index(wanted):
                return
        self.tell('notifications/message', {
            'level': level, 'logger': 'scripted', 'data': said})

    def ask(self, method, params, seconds=None):
        """The answer of the client, a result or an error; or None, if it did
        not come in time, and the question is taken back."""
        number = f's{next(self.session.numbers)}'
        self.session.asked[number] = queue.Queue()
        question = {'id': number, 'method': method, 'params': params}
        if 'ask-on-get' in self.server.manners:
            self.session.say(question)
        else:
            self.send(question)
        try:
            return self.session.asked[number].get(timeout=seconds)
        except queue.Empty:
            self.tell('notifications/cancelled', {'requestId': number})
            return None

    def ended(self):
        return self.stopped.is_set()

    def pause(self, seconds, until=lambda: False):
        scenes.paused(seconds, lambda: until() or self.over())
        if self.over():
            raise Gone

    def over(self):
        return self.cancelled.is_set() or self.server.modern and self.gone()

    def run(self):
        """Serves it, and answers."""
        try:
            said = {'result': scenes.perform(self)}
        except Error as error:
            said = {'error': error.said}
        except Gone:
            self.server.record.write('gone', id=self.message['id'],
                                     method=self.message['method'])
            return
        self.session.calls.pop(self.message['id'], None)
        self.send({'id': self.message['id'], **said})


class Server:
    """What all its clients have in common."""

    def __init__(self, revision, record, manners):
        self.revision, self.record, self.manners = revision, record, manners
        self.modern = revision == MODERN
        self.unlocked, self.tasks, self.once = False, {}, True
        self.states = {}  # of tasks, if they are not as usual
        self.forget = lambda: None
        self.sessions, self.listens, self.lock = [], [], threading.Lock()

    def broadcast(self, method, params, wanted, granted):
        for session in list(self.sessions):
            if not self.modern and wanted(session):
                with contextlib.suppress(OSError):
                    session.say({'method': method, 'params': params})
        with self.lock:
            listens = [call for call in self.listens if granted(call.granted)]
        for call in listens:
            with contextlib.suppress(OSError, Gone):  # it is being closed
                call.tagged(method, params)

    def changed(self):
        self.broadcast('notifications/tools/list_changed', {},
                       lambda session: True,
                       lambda filter_: filter_.get('toolsListChanged'))

    def updated(self, uri):
        self.broadcast('notifications/resources/updated', {'uri': uri},
                       lambda session: uri in session.subscribed,
                       lambda filter_: uri in filter_.get(
                           'resourceSubscriptions', []))

    @contextlib.contextmanager
    def listening(self, call):
        with self.lock:  # whoever has the acknowledgement is told all
            call.tagged('notifications/subscriptions/acknowledged',
                        {'notifications': call.granted})
            self.listens.append(call)
        try:
            yield
        finally:
            with self.lock:
                self.listens.remove(call)

    def end_listens(self):
        with self.lock:
            for call in self.listens:
                call.stopped.set()

    def probed(self, message):
        """Whether a manner has dealt with it: a bool, or an error."""
        if message.get('method') != 'server/discover' or self.modern:
            return False
        if 'exit-on-probe' in self.manners:
            os._exit(1)
        if '32022' in self.manners:
            return {'code': -32022, 'message': 'Unsupported protocol version',
                    'data': {'supported': [self.revision],
                             'requested': MODERN}}
        return 'silent-on-probe' in self.manners


class Channel:
    """One pipe both ways: `write` puts a message on it."""

    def __init__(self, server, write, die=None):
        self.server, self.write, self.die = server, write, die
        self.lock = threading.Lock()
        self.session = Session(server, self.send)
        server.sessions.append(self.session)

    def send(self, message):
        with self.lock:
            self.write(spelled(message))

    def hear(self, raw):
        try:
            message = json.loads(raw)
        except ValueError:
            self.server.record.write('broken', message=repr(raw))
            return
        self.server.record.write('heard', message=message, raw=raw.decode())
        for one in message if isinstance(message, list) else [message]:
            probed = self.server.probed(one)
            if isinstance(probed, dict):
                self.send({'jsonrpc': '2.0', 'id': one['id'], 'error': probed})
            elif not probed:
                self.session.hear(one, self.start)

    def start(self, message):
        call = Call(self.session, message, self.send, die=self.die,
                    gone=lambda: self.session not in self.server.sessions)

        def run():
            with contextlib.suppress(OSError):
                call.run()
        threading.Thread(target=run, daemon=True).start()

    def close(self):
        self.server.sessions.remove(self.session)
        self.server.record.write('closed')


def announce(url):
    print(json.dumps({'url': url}), flush=True)
