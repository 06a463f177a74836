#!/usr/bin/env python3
"""run.py SCENARIO [OPTION]... - one interop proof, TAP.

A scenario pairs our command or our library with a foreign SDK, or with a
foreign library of the transport. What it needs is installed into the cache
folder once, at the versions pinned beside this file. If that cannot be had (no
toolchain, no registry) the scenario is skipped, by name and with the reason;
once everything is installed, whatever goes wrong is a failure.

  FAIRLEAD_INTEROP_CACHE     another cache folder
  FAIRLEAD_INTEROP_REQUIRED  set: a scenario that cannot run has failed
  FAIRLEAD_AUTOBAHN          "all", or the cases to run: "5.*,9.1.*"
  FAIRLEAD_PYTHON2           a Python 2.7, which the Autobahn suite runs on

`run.py --list` names the scenarios; `run.py --install` installs for all of
them, which may be done while there is something else to do: a scenario that
comes early waits.
"""
import argparse
import base64
import json
import os
import shutil
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True  # the source folder stays as it is
from autobahn import prove_autobahn  # noqa: E402
from h2spec import prove_h2spec  # noqa: E402
from serving import free_port, serving  # noqa: E402
from toolchains import (  # noqa: E402
    Autobahn, Go, H2spec, NodeWebSocket, Python, PythonWebSocket, Rust, Skip,
    TypeScript, last_line, run_to_end)

CLIENT_SECONDS = 150
CALL_SECONDS = 60

LEGACY, MODERN = '2025-11-25', '2026-07-28'

# Whether our own client finds out that a server speaks 2026-07-28.
MODERN_CLIENT = True


class Way(NamedTuple):
    """One way to talk: what clients are told to do, what must come of it."""
    name: str
    mode: str
    revision: str
    url: str


WAYS = {way.name: way for way in (
    Way('legacy', 'legacy', LEGACY, 'http://{}/mcp'),
    Way('auto', 'auto', MODERN, 'http://{}/mcp'),
    Way('HTTP+SSE', 'legacy', LEGACY, 'sse+http://{}/sse'),
)}
OLD, BOTH = ('legacy',), ('legacy', 'auto')
OLD_SSE, BOTH_SSE = (*OLD, 'HTTP+SSE'), (*BOTH, 'HTTP+SSE')

# What a client must have reported, in this order.
FACTS = {
    'revision': 'the revision agreed on is the newest both know',
    'list': 'all tools are listed',
    'echo': 'echo returns awkward text untouched',
    'add': 'add gives 5',
    'progress': 'slow reports each of its steps',
    'fail': 'a failing tool is a result that says so',
    'large': 'a million bytes arrive',
    'unknown': 'an unknown tool is refused with -32602',
    'together': 'calls made at once get their own answers',
    'cancel': 'a cancelled call stops, and the session goes on',
    'changed': 'a change of the list of tools is told',
    'invalid': 'arguments that do not fit are a result that says so',
    'resources': 'resources and templates are listed',
    'read-text': 'a resource of text is read',
    'read-bytes': 'a resource of bytes is read',
    'read-template': 'a resource of a template is read',
    'read-missing': 'a resource that is not there is refused',
    'subscribe': 'who has subscribed is told that a resource has changed',
    'prompts': 'prompts are listed, with their arguments',
    'prompt': 'the messages of a prompt are had',
    'complete': 'arguments of a prompt and of a template are completed',
    'log': 'the log comes from the level on that was asked for',
    'accept': 'a form that was filled in gets there',
    'decline': 'that a form was declined gets there',
    'sample': "the client's model is asked",
    'roots': "the client's roots are asked for",
    'task': 'a call is made a task, and its result is had',
    'ping': 'ping is answered',
    'leave': 'the server leaves when its input ends',
}


# The same of one that knows WebSocket, but not MCP.
SOCKET_FACTS = {
    'subprotocol': 'mcp.v1 is agreed on',
    'list': 'all tools are listed',
    'strings': 'an id that is a string comes back byte for byte',
    'numbers': 'an integer id comes back byte for byte, however big',
    'equal': 'two clients with equal ids each get their own answers',
    'progress': 'slow reports each of its steps',
    'cancel': 'a cancelled call stops, and the session goes on',
    'fragments': 'a message in many fragments is one',
    'packed': 'messages go packed',
    'plain': 'messages go as they are',
    'large': 'five million bytes arrive',
    'ping': 'a ping is answered',
    'pinged': 'the pings of the server are good ones',
    'binary': 'a binary message is closed with 1003',
    'close': 'a close is answered',
}


class Tap:
    """Prints results as they come; the plan is the last line."""

    def __init__(self):
        self.count = self.failures = 0

    def result(self, good, name, why=''):
        self.count += 1
        self.failures += not good
        print(f'{"ok" if good else "not ok"} {self.count} - {name}')
        if not good and why:
            print(f'# {name}: {why}')
        sys.stdout.flush()

    def skip(self, name, why):
        self.count += 1
        print(f'ok {self.count} - {name} # SKIP {why}')
        sys.stdout.flush()

    def finish(self):
        print(f'1..{self.count}')
        return 1 if self.failures or not self.count else 0


class Lacking(str):
    """Why an SDK cannot do something."""


def read_report(output, facts):
    """{check: why it failed, or is Lacking, or None} from a client's "pass",
    "fail" and "skip"."""
    report = {}
    for line in output.splitlines():
        verdict, _, rest = line.partition(' ')
        name, _, why = rest.partition(' ')
        if verdict in ('pass', 'fail') and name in facts:
            report[name] = None if verdict == 'pass' else why or 'no reason'
        elif verdict == 'skip' and name in facts:
            report[name] = Lacking(why)
    return report


def check_client(tap, client, way, server):
    """Runs a foreign client; every fact it does not confirm has failed."""
    code, out, err = run_to_end([*client, way.mode, way.revision, *server],
                                CLIENT_SECONDS)
    report = read_report(out, FACTS)
    failures = tap.failures
    for name, fact in FACTS.items():
        if name == 'ping' and way.revision == MODERN:
            continue
        if name == 'leave' and len(server) == 1:  # an address
            continue
        why = report.get(name, f'not reported; the client left with {code}: '
                               + last_line(err))
        if isinstance(why, Lacking):
            tap.skip(f'{way.name}: {fact}', why)
        else:
            tap.result(why is None, f'{way.name}: {fact}', why)
    if tap.failures > failures:
        sys.stderr.write(out + err)


def stdio_client(tap, tools, sdk, ways):
    """Their client starts our demo."""
    for way in ways:
        check_client(tap, sdk.script('client'), way,
                     [tools.fairlead, 'demo', '--listen', 'stdio:'])


@contextmanager
def demo(fairlead, url, *options):
    """Yields the address of our demo."""
    port = free_port()
    address = f'127.0.0.1:{port}'
    with serving([fairlead, 'demo', '--listen', url.format(address), *options],
                 port):
        yield address


def tcp_client(tap, tools, sdk, ways):
    """Their client connects to our demo."""
    client = sdk.script('client')
    for way in ways:
        with demo(tools.fairlead, 'tcp://{}') as address:
            check_client(tap, client, way, [address])


def http_client(tap, tools, sdk, ways):
    """The same, over HTTP: one address serves them all, and /sse besides."""
    client = sdk.script('client')
    for way in ways:
        with demo(tools.fairlead, 'http://{}/mcp') as address:
            check_client(tap, client, way, [way.url.format(address)])


def socket_client(tap, tools, sdk, _ways):
    """A client of the transport alone connects to our demo."""
    with demo(tools.fairlead, 'ws://{}/mcp', '--ping-interval', '1') as address:
        code, out, err = run_to_end(
            [*sdk.script('client'), f'ws://{address}/mcp'], CLIENT_SECONDS)
    report = read_report(out, SOCKET_FACTS)
    for name, fact in SOCKET_FACTS.items():
        why = report.get(name, f'not reported; the client left with {code}: '
                               + last_line(err))
        tap.result(why is None, fact, why)
    if tap.failures:
        sys.stderr.write(out + err)


class Call:
    """`fairlead call --json`, and what came of it."""

    def __init__(self, command):
        self.code, out, self.err = run_to_end(command, CALL_SECONDS)
        try:
            self.result = json.loads(out)
        except ValueError:
            self.result = None
        self.why = f'exit code {self.code}; {out[:200]!r}; ' \
                   + last_line(self.err)

    def text(self):
        try:
            return self.result['content'][0]['text']
        except (KeyError, IndexError, TypeError):
            return None

    def tools(self):
        tools = (self.result or {}).get('tools', [])
        return {tool.get('name') for tool in tools}

    def is_error(self):
        return bool(self.result) and self.result.get('isError') is True


def call_child(fairlead, server, *words):
    return Call([fairlead, 'call', '--json', *words, '--', *server])


def check_tools(tap, call, names):
    listed = call('tools')
    tap.result(listed.code == 0 and names <= listed.tools(),
               'call lists the tools', listed.why)


def check_text(tap, call, fact, wanted, *words):
    called = call('call', *words)
    tap.result(called.code == 0 and called.text() == wanted, fact, called.why)


def get(result, *path):
    """What is there, or None."""
    for step in path:
        try:
            result = result[step]
        except (KeyError, IndexError, TypeError):
            return None
    return result


def check_result(tap, call, fact, path, wanted, *words):
    """A part of what an action prints; `wanted` may be a function of it."""
    done = call(*words)
    found = get(done.result, *path)
    good = wanted(found) if callable(wanted) else found == wanted
    tap.result(done.code == 0 and good, fact, done.why)


def check_refused(tap, call, fact, *words):
    """An error, theirs or ours, or a result that is one."""
    done = call(*words)
    told = done.is_error() or 'error' in (done.result or {})
    tap.result(done.code in (1, 3, 4) and told, fact, done.why)


def check_form(tap, call):
    check_result(tap, call, 'a form is filled in with its defaults',
                 ('content', 0, 'text'), 'Hello, nobody, 36!',
                 'call', 'ask', '--accept-defaults')


def check_questions(tap, call):
    """What a server may ask of a client."""
    text = ('content', 0, 'text')
    check_form(tap, call)
    check_result(tap, call, 'a form is declined', text, 'decline',
                 'call', 'ask', '--decline')
    check_result(tap, call, 'roots are told', text, 'file:///srv/a file:///b',
                 'call', 'roots', '--root', 'file:///srv/a',
                 '--root', 'file:///b')
    check_refused(tap, call, 'a model that is not there is not asked',
                  'call', 'consult', 'question=why')


def check_resources(tap, call):
    def has(*uris):
        return lambda found: set(uris) <= {one.get('uri') for one in found}

    check_result(tap, call, 'resources are listed', ('resources',),
                 has('demo://hello', 'demo://pixel', 'demo://time'),
                 'resources')
    check_result(tap, call, 'templates are listed',
                 ('resourceTemplates', 0, 'uriTemplate'),
                 'demo://greeting/{name}', 'templates')
    check_result(tap, call, 'a resource of text is read',
                 ('contents', 0, 'text'), 'Hello there.\n',
                 'read', 'demo://hello')
    check_result(tap, call, 'a resource of bytes is read',
                 ('contents', 0, 'blob'),
                 lambda blob: base64.b64decode(blob)[1:4] == b'PNG',
                 'read', 'demo://pixel')
    check_result(tap, call, 'a resource of a template is read',
                 ('contents', 0, 'text'), 'Hello, Ada!',
                 'read', 'demo://greeting/Ada')
    check_refused(tap, call, 'a resource that is not there is told',
                  'read', 'demo://nothing')


def check_prompts(tap, call):
    check_result(tap, call, 'prompts are listed', ('prompts', 0, 'name'),
                 'greeting', 'prompts')
    check_result(tap, call, 'the messages of a prompt are had',
                 ('messages', 0, 'content', 'text'), 'Greet Ada.',
                 'prompt', 'greeting', 'name=Ada')
    for what, name in (('prompt', 'greeting'),
                       ('resource', 'demo://greeting/{name}')):
        check_result(tap, call, f'an argument of a {what} is completed',
                     ('completion', 'values'), ['Ada', 'Alan'],
                     'complete', what, name, 'name=A')


def check_log(tap, call, sdk, way):
    fact = 'the log comes from the level on that was asked for'
    if way.mode == 'legacy' and sdk.logs_apart:
        tap.skip(fact, 'this SDK logs on the stream of the session, where it '
                       'may come after the result')
        return
    done = call('call', 'note', 'text=careful', '--server-log', 'warning')
    tap.result(done.text() == 'noted' and 'careful' in done.err and
               'a note' not in done.err, fact,
               f'{done.why}; {done.err[:200]!r}')


def check_task(tap, call, sdk):
    fact = 'a call is made a task, and its result is had'
    if sdk.has_tasks:
        check_result(tap, call, fact, ('content', 0, 'text'),
                     'been to town', 'call', 'errand', 'where=town', '--task')
    else:
        tap.skip(fact, 'the server made with this SDK has no tasks')


def check_offers(tap, call, sdk, way):
    """All that a server has besides tools."""
    check_resources(tap, call)
    check_prompts(tap, call)
    check_log(tap, call, sdk, way)
    check_questions(tap, call)
    check_task(tap, call, sdk)


def check_refusals(tap, call, failing):
    failed = call('call', *failing)
    tap.result(failed.code != 0 and failed.is_error(),
               'a tool that fails is told, and shows in the exit code',
               failed.why)
    unknown = call('call', 'no-such-tool')
    told = unknown.is_error() or 'error' in (unknown.result or {})
    tap.result(unknown.code not in (0, None) and told,
               'an unknown tool is told, and shows in the exit code',
               unknown.why)


def check_server(tap, call):
    awkward = 'Grüße, 你好, \U0001F600, "quoted"\n\\ \u2028 end'
    check_tools(tap, call, {'echo', 'add', 'slow', 'fail', 'large'})
    check_text(tap, call, 'arguments as JSON arrive untouched', awkward,
               'echo', json.dumps({'text': awkward}))
    check_text(tap, call, 'an argument as key=value arrives', 'one two',
               'echo', 'text=one two')
    added = call('call', 'add', 'a=2', 'b=3')
    tap.result(added.code == 0 and added.text() in ('5', '5.0'),
               'numbers as key=value arrive as numbers', added.why)
    check_text(tap, call, 'progress does not disturb a call', '5 steps',
               'slow', 'steps=5', 'delay_ms=10')
    check_text(tap, call, 'a million bytes arrive', 'x' * 1_000_000,
               'large', 'bytes=1000000')
    check_refusals(tap, call, ['fail', 'message=on purpose'])


def stdio_server(tap, tools, sdk, _ways):
    """Our command starts their server."""
    server = sdk.script('server')

    def call(*words):
        return call_child(tools.fairlead, server, *words)

    check_server(tap, call)
    check_form(tap, call)  # each call starts a server, so this will do


class Watch:
    """What watch.c printed: {first word: [rest of the line]}."""

    def __init__(self, command):
        self.code, self.out, self.err = run_to_end(command, CALL_SECONDS)
        self.lines = {}
        for line in self.out.splitlines():
            word, _, rest = line.partition(' ')
            self.lines.setdefault(word, []).append(rest)

    def says(self, word, *wanted):
        """Each of these is a part of the line with that word, in order."""
        lines = self.lines.get(word, [])
        return (len(lines) == len(wanted) and
                all(part in line for part, line in zip(wanted, lines)))

    def why(self):
        return f'exit code {self.code}; ' + \
               last_line(self.out[-2000:] + self.err)


def check_watch(tap, watch, revision):
    facts = {
        'the revision agreed on is the newest both know':
            watch.says('revision', revision),
        'each step is told':
            watch.says('progress', *(f'{n} of 5' for n in range(1, 6))),
        'a cancelled call stops, and the session goes on':
            watch.says('ended', 'E_CANCELLED') and
            watch.says('result', '5 steps', '1 stopped', 'unlocked',
                       *(['tock'] if 'updated' in watch.lines else [])),
        'a change of the list of tools is told':
            watch.code == 0 and
            watch.says('notification', 'notifications/tools/list_changed') and
            watch.says('tools', 'unlock', 'vault'),
    }
    for fact, good in facts.items():
        tap.result(good, fact, watch.why())


def check_updated(tap, watch, sdk):
    fact = 'who has subscribed is told that a resource has changed'
    if sdk.subscribes:
        tap.result(watch.says('updated', 'demo://time'), fact, watch.why())
    else:
        tap.skip(fact, 'servers of this SDK never declare it')


class Named:
    """A Tap that says which way each fact was found."""

    def __init__(self, tap, name):
        self.tap, self.name = tap, name

    def result(self, good, name, why=''):
        self.tap.result(good, f'{self.name}: {name}', why)

    def skip(self, name, why):
        self.tap.skip(f'{self.name}: {name}', why)


def http_server(tap, tools, sdk, ways):
    """Our command and our library connect to their server. One that has been
    watched is another one: each way meets a fresh one."""
    sdk.need_http_server()
    server = sdk.script('server')
    for way in ways:
        port = free_port()
        url = way.url.format(f'127.0.0.1:{port}')
        newest = [LEGACY] if way.mode == 'legacy' else []
        offer = [word for date in newest for word in ('--revision', date)]
        revision = way.revision if MODERN_CLIENT else LEGACY
        with serving([*server, str(port)], port):
            named = Named(tap, way.name)

            def call(*words):
                return Call([tools.fairlead, 'call', url, '--json', *offer,
                             *words])

            check_server(named, call)
            check_offers(named, call, sdk, way)
            watch = Watch([tools.watch, url, *newest])
            check_watch(named, watch, revision)
            check_updated(named, watch, sdk)


def socket_server(tap, tools, sdk, _ways):
    """Our command and our library connect to a server of the transport."""
    for packing in 'packed', 'plain':
        port = free_port()
        url = f'ws://127.0.0.1:{port}/'
        with serving([*sdk.script('server'), str(port), packing], port):
            named = Named(tap, packing)
            check_server(named, lambda *words: Call(
                [tools.fairlead, 'call', url, '--json', *words]))
            check_watch(named, Watch([tools.watch, url, LEGACY]), LEGACY)


def everything_server(tap, tools, sdk, _ways):
    """Our command starts the reference server that has everything."""
    def call(*words):
        return call_child(tools.fairlead, sdk.everything(), *words)

    check_tools(tap, call, {'echo', 'get-sum', 'get-tiny-image'})
    check_text(tap, call, 'echo answers', 'Echo: hello there',
               'echo', 'message=hello there')
    check_text(tap, call, 'get-sum adds numbers', 'The sum of 2 and 3 is 5.',
               'get-sum', 'a=2', 'b=3')
    check_text(tap, call, 'a long-running operation ends',
               'Long running operation completed. '
               'Duration: 1 seconds, Steps: 4.',
               'trigger-long-running-operation', 'duration=1', 'steps=4')
    image = call('call', 'get-tiny-image')
    content = (image.result or {}).get('content', [])
    tap.result(image.code == 0 and
               any(part.get('type') == 'image' for part in content),
               'an image comes through', image.why)
    check_refusals(tap, call, ['get-sum', 'a=two', 'b=3'])


# name: (what runs, the toolchain, its major version, in which ways)
SCENARIOS = {
    'everything-server': (everything_server, TypeScript, 'v1', ()),
    'typescript-sdk-v1-client': (stdio_client, TypeScript, 'v1', OLD),
    'typescript-sdk-v2-client': (stdio_client, TypeScript, 'v2', BOTH),
    'python-sdk-v1-client': (stdio_client, Python, 'v1', OLD),
    'python-sdk-v2-client': (stdio_client, Python, 'v2', BOTH),
    'rust-sdk-tcp-client': (tcp_client, Rust, 'v2', BOTH),
    'typescript-sdk-v1-server': (stdio_server, TypeScript, 'v1', ()),
    'typescript-sdk-v2-server': (stdio_server, TypeScript, 'v2', ()),
    'python-sdk-v1-server': (stdio_server, Python, 'v1', ()),
    'python-sdk-v2-server': (stdio_server, Python, 'v2', ()),

    'typescript-sdk-v1-http-client': (http_client, TypeScript, 'v1', OLD_SSE),
    'typescript-sdk-v2-http-client': (http_client, TypeScript, 'v2', BOTH_SSE),
    'python-sdk-v1-http-client': (http_client, Python, 'v1', OLD_SSE),
    'python-sdk-v2-http-client': (http_client, Python, 'v2', BOTH_SSE),
    'go-sdk-http-client': (http_client, Go, 'v1', BOTH_SSE),
    'rust-sdk-http-client': (http_client, Rust, 'v2', BOTH),
    'typescript-sdk-v1-http-server': (http_server, TypeScript, 'v1', OLD_SSE),
    'typescript-sdk-v2-http-server': (http_server, TypeScript, 'v2', BOTH),
    'python-sdk-v1-http-server': (http_server, Python, 'v1', OLD_SSE),
    'python-sdk-v2-http-server': (http_server, Python, 'v2', BOTH_SSE),
    'go-sdk-http-server': (http_server, Go, 'v1', BOTH_SSE),
    'rust-sdk-http-server': (http_server, Rust, 'v2', BOTH),

    'node-ws-client': (socket_client, NodeWebSocket, None, ()),
    'node-ws-server': (socket_server, NodeWebSocket, None, ()),
    'python-websockets-client': (socket_client, PythonWebSocket, None, ()),
    'python-websockets-server': (socket_server, PythonWebSocket, None, ()),

    'autobahn': (prove_autobahn, Autobahn, '', ()),
    'h2spec': (prove_h2spec, H2spec, '', ()),
}


class Tools(NamedTuple):
    """Our programs."""
    fairlead: str
    watch: str
    ws_echo: str
    ws_echo_client: str
    http2_host: str


def run_scenario(name, tools, cache):
    prove, toolchain, version, ways = SCENARIOS[name]
    tap = Tap()
    try:
        sdk = toolchain(cache, version)
        prove(tap, tools, sdk, [WAYS[way] for way in ways])
    except Skip as reason:
        if not os.environ.get('FAIRLEAD_INTEROP_REQUIRED'):
            print(f'1..0 # SKIP {name}: {reason}')
            return 0
        tap.result(False, f'{name} can run', str(reason))
    except (OSError, RuntimeError) as trouble:
        tap.result(False, f'{name} ran to its end', str(trouble))
    return tap.finish()


def install_all(cache):
    """What takes longest comes first. Trouble is for the scenarios to tell,
    which meet it again."""
    first = [Rust, Autobahn, TypeScript]
    wanted = {(toolchain, version)
              for _, toolchain, version, _ in SCENARIOS.values()}
    for toolchain, version in sorted(wanted, key=lambda each: (
            first.index(each[0]) if each[0] in first else len(first),
            each[0].__name__, each[1] or '')):
        try:
            toolchain(cache, version)
        except (Skip, OSError, RuntimeError) as trouble:
            print(f'{toolchain.__name__}: {trouble}', flush=True)
    return 0


def end_by_exception(_number, _frame):
    """So that what was started ends with us."""
    sys.exit(1)


def program(path):
    return os.path.abspath(shutil.which(path) or path)


def stay_home():
    """No proxy for ourselves, whatever the registries need."""
    for name in 'NO_PROXY', 'no_proxy':
        others = os.environ.get(name)
        os.environ[name] = f'{others},127.0.0.1' if others else '127.0.0.1'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('scenario', nargs='?', choices=SCENARIOS)
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--install', action='store_true')
    parser.add_argument('--fairlead', default='fairlead')
    parser.add_argument('--watch', default='watch')
    parser.add_argument('--ws-echo', default='ws-echo')
    parser.add_argument('--ws-echo-client', default='ws-echo-client')
    parser.add_argument('--http2-host', default='http2-host')
    parser.add_argument('--cache', type=Path,
                        default=Path.cwd() / 'interop-cache')
    given = parser.parse_args()
    if given.list or not (given.scenario or given.install):
        print('\n'.join(SCENARIOS))
        return 0
    signal.signal(signal.SIGTERM, end_by_exception)
    stay_home()
    cache = Path(os.environ.get('FAIRLEAD_INTEROP_CACHE') or given.cache)
    if given.install:
        return install_all(cache.resolve())
    tools = Tools(*map(program, (given.fairlead, given.watch, given.ws_echo,
                                 given.ws_echo_client, given.http2_host)))
    return run_scenario(given.scenario, tools, cache.resolve())


if __name__ == '__main__':
    sys.exit(main())
