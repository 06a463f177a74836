"""cases.py - what the tests of the gateway share: the programs at work, and
TAP that shows the whole exchange of a case that failed.

A case is a function with a number and words. The server behind is scripted.py,
in its own process; what it saw is read from its record.
"""
import contextlib
import json
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

sys.dont_write_bytecode = True  # the source folder stays as it is
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'flow'))
from flow import (  # noqa: E402
    FAIRLEAD, Demo, Skip, equal, folder, require, started)
from clients import (  # noqa: E402
    PATIENCE, TRACE, Http, Pipe, Sse, Ws, lines, stdio, trace)

LISTEN = {'stdio': 'stdio:', 'tcp': 'tcp://127.0.0.1:0',
          'http': 'http://127.0.0.1:0/mcp',
          'sse': 'sse+http://127.0.0.1:0/sse', 'ws': 'ws://127.0.0.1:0/mcp'}
CASES = []


def case(number, words):
    """Registers a case of the table."""
    def register(function):
        CASES.append((f'case {number}: {words}', function))
        return function
    return register


def fact(words, function):
    CASES.append((words, function))


class Scripted:
    """A scripted server: how to reach it, and what it saw."""

    def __init__(self, target, path):
        self.target, self.path = target, Path(path)

    def seen(self, what=None):
        # what comes after the last line end is not whole yet
        entries = [json.loads(line)
                   for line in self.path.read_text().split('\n')[:-1]]
        return [one for one in entries if what in (None, one['what'])]

    def heard(self, method=None):
        """The messages with that method, with their heads."""
        return [one for one in self.seen('heard') if method is None or
                isinstance(one['message'], dict) and
                one['message'].get('method') == method]

    def answers(self):
        """What it was answered."""
        return [one['message'] for one in self.seen('heard')
                if 'method' not in one['message']]

    def await_(self, fits, what, patience=PATIENCE):
        """Waits until its record fits."""
        end = time.monotonic() + patience
        while not (found := fits()):
            require(time.monotonic() < end, 'the server did not see', what)
            time.sleep(0.01)
        return found

    def await_heard(self, method, count=1, patience=PATIENCE):
        return self.await_(
            lambda: (found := self.heard(method))[count - 1:] and found,
            f'{count} {method}', patience)

    def await_cancelled(self):
        """Its only call is cancelled, and it has heeded that."""
        seen, = self.await_heard('notifications/cancelled')
        call, = self.heard('tools/call')
        equal(seen['message']['params']['requestId'], call['message']['id'])
        self.await_(lambda: self.seen('gone'), 'the end of the call')

    def methods(self):
        return [one['message'].get('method') for one in self.heard()]


@contextlib.contextmanager
def scripted(way, revision, *manners):
    """A server of that revision, on that transport. Over stdio whoever wants
    it starts it."""
    with folder() as place:
        path = Path(place) / 'record'
        path.touch()
        words = [sys.executable, '-S', '-E', HERE / 'scripted.py', '--revision',
                 revision, '--record', path, '--listen', LISTEN[way]]
        words += [word for manner in manners for word in ('--manner', manner)]
        server = Scripted(['--', *words], path)
        try:
            if way == 'stdio':
                yield server
                return
            with started(*words, stderr=None) as process:
                line = process.stdout.readline()
                require(line, 'the scripted server did not start')
                server.target = [json.loads(line)['url']]
                server.process = process
                yield server
        finally:
            with contextlib.suppress(OSError):
                keep(path)


def keep(path):
    """The record outlives its folder, for whoever failed."""
    for line in path.read_text().splitlines():
        one = json.loads(line)
        what = json.dumps(one['message']) if 'message' in one else ''
        head = {name: value for name, value in one.get('headers', {}).items()
                if name.startswith(('mcp-', 'auth'))}
        TRACE.append(f"{one['at']:.6f} server {one['what']} "
                     f"{one.get('verb', '')} {head or ''} {what}")


class Gateway:
    """`fairlead serve`, where it listens, and how to get there."""

    def __init__(self, demo, urls, server, options):
        self.demo, self.urls = demo, urls
        self.server, self.options = server, options

    def client(self, way, *words, source=None, **more):
        if way == 'stdio':
            return Pipe(stdio(connect(self.server, *self.options)),
                        *words, **more)
        if way in ('tcp', 'unix'):
            return Pipe(lines(self.urls[way], source), *words, **more)
        url = self.urls['http']
        if way == 'ws':
            return Ws(url.replace('http', 'ws', 1), *words, **more)
        make = {'http': Http, 'sse': Sse}[way]
        if way == 'sse':
            url = url.removesuffix('/mcp') + '/sse'
        return make(url, *words, source=source, **more)


def connect(server, *options):
    """The command line of a front on stdio:."""
    if server.target[0] == '--':
        return [FAIRLEAD, 'serve', '--listen', 'stdio:', *options,
                *server.target]
    return [FAIRLEAD, 'connect', *options, *server.target]


@contextlib.contextmanager
def gateway(server, *options, fronts=('http',), verb='serve'):
    """In front of that server, on these transports."""
    with folder() as place:
        listen = {'tcp': 'tcp://127.0.0.1:0', 'unix': f'unix:{place}/s',
                  'http': 'http://127.0.0.1:0/mcp'}
        words = [word for way in fronts for word in ('--listen', listen[way])]
        with started(FAIRLEAD, verb, *words, *options, *server.target,
                     stdin=subprocess.DEVNULL) as process:
            demo = Demo(process)
            try:
                wait_for(demo, len(fronts))
                yield Gateway(demo, dict(zip(fronts, demo.urls)), server,
                              options)
            finally:
                fine = end(process)
                demo.reader.join(PATIENCE)
                for line in demo.lines:
                    trace('gateway', '##', line.rstrip('\n'))
            require(fine, 'the gateway did not exit with 0 when told to end:',
                    process.returncode)


def wait_for(demo, count):
    limit = time.monotonic() + PATIENCE
    while len(demo.urls) < count:
        code = demo.process.poll()
        require(code is None, 'the gateway ended with', code, demo.lines)
        require(time.monotonic() < limit, 'the gateway does not listen:',
                demo.lines)
        time.sleep(0.01)


def end(process):
    """Whether it ended as it should."""
    if process.poll() is not None:
        return False
    process.terminate()
    try:
        return process.wait(PATIENCE) == 0
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False


@contextlib.contextmanager
def between(front, revision, back, other, *options, manners=(), **more):
    """(client, server): a client of `revision` on the transport `front`, a
    server of `other` on `back`, and the gateway. The client has not begun."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(scripted(back, other, *manners))
        if front == 'stdio':
            gate = Gateway(None, {}, server, options)
        else:
            via = front if front in ('tcp', 'unix') else 'http'
            gate = stack.enter_context(
                gateway(server, *options, fronts=(via,)))
        client = stack.enter_context(gate.client(front, revision, **more))
        client.gate = gate
        yield client, server
        equal(server.seen('broken'), [], 'what the server got is no JSON')


def complain(why):
    where = [one for one in traceback.extract_tb(why.__traceback__)
             if Path(one.filename).resolve().parent == HERE]
    for line in f'{type(why).__name__}: {why}'.splitlines()[:20]:
        print(f'# {line[:900]}')
    for one in where[-3:]:
        print(f'# at {Path(one.filename).name}:{one.lineno}: {one.line}')
    print('# The exchange:')
    for line in sorted(TRACE)[-200:]:
        print(f'#   {line[:600]}')


def note(name, verdict):
    """What came of a case, for test_matrix.py, if there is a place for it."""
    place = os.environ.get('FL_FACTS')
    if place:
        Path(place).mkdir(parents=True, exist_ok=True)
        program = Path(sys.argv[0]).stem
        with open(Path(place) / program, 'a', encoding='utf-8') as facts:
            facts.write(json.dumps([name, verdict, time.time()]) + '\n')


def main():
    """Runs all cases, or those whose name has a word of the command line.
    With --list their names are told, and none is run."""
    if sys.argv[1:] == ['--list']:
        print('\n'.join(name for name, _ in CASES))
        return 0
    chosen = [(name, function) for name, function in CASES
              if not sys.argv[1:] or any(word in name for word in sys.argv[1:])]
    failures = 0
    print(f'1..{len(chosen)}', flush=True)
    for number, (name, function) in enumerate(chosen, 1):
        TRACE.clear()
        begun = time.monotonic()
        try:
            function()
            took = time.monotonic() - begun
            print(f'ok {number} - {name}\n# {took:.2f} s', flush=True)
            note(name, 'ok')
        except Skip as why:
            note(name, 'skipped')
            print(f'ok {number} - {name} # SKIP {why}', flush=True)
        except Exception as why:  # a case may fail in any way
            failures += 1
            note(name, 'failed')
            print(f'not ok {number} - {name}')
            complain(why)
            sys.stdout.flush()
    return 1 if failures else 0
