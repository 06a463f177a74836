"""flow.py - what the flow tests share: TAP, and whole programs at work.

A test is a function whose name says a fact. It fails by raising; what it
started is ended by the context managers here, whatever happens.
"""
import contextlib
import fcntl
import json
import os
import pty
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / 'support'))
from ports import free_port  # noqa: E402,F401

FAIRLEAD = os.environ.get('FAIRLEAD', 'fairlead')
SLOW = float(os.environ.get('FL_SLOW', '1'))  # how slow programs are here
WAIT = 30 * SLOW
LOG_ROOM = 1 << 20


class Mismatch(Exception):
    pass


class Skip(Exception):
    """What a test needs is not on this machine."""


def require(fact, *why):
    if not fact:
        raise Mismatch(' '.join(str(word) for word in why))


def equal(got, want, what=''):
    require(got == want, what, 'want', repr(want), 'got', repr(got)[:800])


def contains(text, part):
    require(part in text, repr(part), 'is not in', repr(text)[:800])


def stretched(seconds):
    """A timeout for a program, and the milliseconds it will speak of.

    For one that must run out, but not before the other side has come up.
    """
    return f'{seconds * SLOW:g}', f'{seconds * SLOW * 1000:.0f} ms'


def until(fact, what, seconds=WAIT):
    """Waits for something another process does; there is no event for it."""
    end = time.monotonic() + seconds
    while not fact():
        require(time.monotonic() < end, 'did not happen:', what)
        time.sleep(0.01)


def at_once(*cases, do):
    """The same with each of them, side by side: most of it is waiting."""
    with ThreadPoolExecutor(len(cases)) as pool:
        for _ in pool.map(do, cases):  # which raises what a case has raised
            pass


def alive(pid):
    try:
        state = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state.split()[0] not in 'ZX'


class Done:
    """How a program that ran to its end did."""

    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout.decode()
        self.err = done.stderr.decode()

    def expect(self, code, out=None):
        equal(self.code, code, f'exit, having said {self.err!r}:')
        if out is not None:
            equal(self.out, out, 'stdout:')
        return self

    def json(self):
        return json.loads(self.out)


def run(*words, stdin=b'', env=None):
    return Done(subprocess.run(
        [str(word) for word in words], input=stdin, timeout=WAIT, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=None if env is None else {**os.environ, **env}))


def call(*words, **more):
    return run(FAIRLEAD, 'call', *words, **more)


@contextlib.contextmanager
def started(*words, **options):
    """A program that runs until it is told to end."""
    options = {'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE,
               'stderr': subprocess.PIPE, **options}
    process = subprocess.Popen([str(word) for word in words], **options)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(WAIT)
        for end in (process.stdin, process.stdout, process.stderr):
            if end:
                with contextlib.suppress(OSError):
                    end.close()


class Demo:
    """`fairlead demo`, its log read as it is written."""

    def __init__(self, process):
        self.process, self.lines, self.urls = process, [], []
        # a log never waits: what does not fit is lost
        fcntl.fcntl(process.stderr, fcntl.F_SETPIPE_SZ, LOG_ROOM)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            self.lines.append(line.decode())
            with contextlib.suppress(ValueError):
                said = json.loads(line)
                if said.get('message') == 'listening':
                    self.urls.append(said['url'])

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(WAIT)


@contextlib.contextmanager
def demo(*options, listen=('tcp://127.0.0.1:0',)):
    words = [word for url in listen for word in ('--listen', url)]
    with started(FAIRLEAD, 'demo', *words, *options) as process:
        serving = Demo(process)
        until(lambda: len(serving.urls) == len(listen) or
              process.poll() is not None, 'all listeners are up')
        require(process.poll() is None, 'the demo ended:', serving.lines)
        try:
            yield serving
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(WAIT)
            serving.reader.join(WAIT)


class Lines:
    """A plain client: one JSON message per line over a socket."""

    def __init__(self, url):
        if url.startswith('unix:'):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(WAIT)
            self.socket.connect(url[5:])
        else:
            host, _, port = url.partition('://')[2].rpartition(':')
            self.socket = socket.create_connection((host, int(port)), WAIT)
        self.file = self.socket.makefile('rb')
        self.id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def send(self, message):
        message = {'jsonrpc': '2.0', **message}
        self.socket.sendall(json.dumps(message).encode() + b'\n')

    def request(self, method, **params):
        self.id += 1
        self.send({'id': self.id, 'method': method, 'params': params})
        return self.id

    def receive(self):
        line = self.file.readline()
        return json.loads(line) if line else None

    def initialize(self, revision='2025-11-25'):
        self.request('initialize', protocolVersion=revision,
                     capabilities={}, clientInfo={'name': 't', 'version': '1'})
        answer = self.receive()
        self.send({'method': 'notifications/initialized'})
        return answer['result']


class Terminal:
    """A pseudo-terminal for a program to write to, and what it wrote."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        self.seen = b''

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.master)
        if self.slave is not None:
            os.close(self.slave)

    def read(self):
        """Everything up to the end of the last program that has it open."""
        os.close(self.slave)
        self.slave = None
        with contextlib.suppress(OSError):  # EIO is how a terminal ends
            while True:
                piece = os.read(self.master, 65536)
                if not piece:
                    break
                self.seen += piece
        return self.seen.decode()


class Fake:
    """A server that answers as the test says: one thread, one client.

    It is of the legacy era, and says so when it is asked to discover itself.
    `answer` is called with each request but initialize, and yields what to
    send: a dict is completed to a response, bytes are sent as they are.
    """

    def __init__(self, answer, capabilities=None):
        self.answer, self.heard = answer, []
        self.capabilities = {'tools': {}} if capabilities is None \
            else capabilities
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.url = 'tcp://127.0.0.1:%d' % self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(WAIT)

    def serve(self):
        with contextlib.suppress(OSError, ValueError):
            while True:
                client, _ = self.listener.accept()
                with client, client.makefile('rwb') as lines:
                    for line in lines:
                        self.hear(json.loads(line), lines)

    def hear(self, message, lines):
        self.heard.append(message)
        if 'id' not in message:
            return
        if message['method'] == 'initialize':
            replies = [{'result': {
                'protocolVersion': message['params']['protocolVersion'],
                'capabilities': self.capabilities,
                'serverInfo': {'name': 'fake', 'version': '0'}}}]
        elif message['method'] == 'server/discover':
            replies = [{'error': {'code': -32601, 'message': 'not known'}}]
        else:
            replies = self.answer(message)
        for reply in replies:
            if isinstance(reply, dict):
                if 'method' not in reply:
                    reply = {'id': message['id'], **reply}
                reply = json.dumps({'jsonrpc': '2.0', **reply},
                                   ensure_ascii=False).encode() + b'\n'
            lines.write(reply)
            lines.flush()

    def methods(self):
        return [message['method'] for message in list(self.heard)]


def folder():
    return tempfile.TemporaryDirectory(prefix='fairlead-')


def main(module):
    """Runs every function of `module` whose name begins with test_."""
    tests = [(name[5:].replace('_', ' '), test)
             for name, test in vars(sys.modules[module]).items()
             if name.startswith('test_')]
    failures = 0
    print(f'1..{len(tests)}', flush=True)
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
            print(f'ok {number} - {name}', flush=True)
        except Skip as why:
            print(f'ok {number} - {name} # SKIP {why}', flush=True)
        except Exception as why:  # a test may fail in any way
            failures += 1
            print(f'not ok {number} - {name}')
            where = traceback.extract_tb(why.__traceback__)[-1]
            for line in f'{type(why).__name__}: {why}'.splitlines()[:20]:
                print(f'# {line[:900]}')
            print(f'# at {where.filename}:{where.lineno}', flush=True)
    return 1 if failures else 0
