#!/usr/bin/env python3
"""run.py SCENARIO --fairlead PROGRAM --cache FOLDER - one interop proof, TAP.

A scenario pairs our command with a foreign SDK. What a scenario needs is
installed into the cache folder once, at the versions pinned beside this file.
If that cannot be had (no toolchain, no registry) the scenario is skipped, by
name and with the reason; once everything is installed, whatever goes wrong is
a failure.

  FAIRLEAD_INTEROP_CACHE     another cache folder
  FAIRLEAD_INTEROP_REQUIRED  set: a scenario that cannot run has failed

`run.py --list` names the scenarios.
"""
import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

sys.dont_write_bytecode = True  # the source folder stays as it is
from toolchains import (  # noqa: E402
    Python, Rust, Skip, TypeScript, last_line, run_to_end)

CLIENT_SECONDS = 150
CALL_SECONDS = 60
LISTEN_SECONDS = 10

LEGACY, MODERN = '2025-11-25', '2026-07-28'

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
    'ping': 'ping is answered',
    'leave': 'the server leaves when its input ends',
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

    def finish(self):
        print(f'1..{self.count}')
        return 1 if self.failures or not self.count else 0


def read_report(output):
    """{check: why it failed, or None} from a client's "pass" and "fail"."""
    report = {}
    for line in output.splitlines():
        verdict, _, rest = line.partition(' ')
        name, _, why = rest.partition(' ')
        if verdict in ('pass', 'fail') and name in FACTS:
            report[name] = None if verdict == 'pass' else why or 'no reason'
    return report


def check_client(tap, client, mode, revision, server):
    """Runs a foreign client; every fact it does not confirm has failed."""
    code, out, err = run_to_end([*client, mode, revision, *server],
                                CLIENT_SECONDS)
    report = read_report(out)
    for name, fact in FACTS.items():
        if name == 'ping' and revision == MODERN:
            continue
        if name == 'leave' and len(server) == 1:  # an address
            continue
        why = report.get(name, f'not reported; the client left with {code}: '
                               + last_line(err))
        tap.result(why is None, f'{mode}: {fact}', why)
    if tap.failures:
        sys.stderr.write(out + err)


MODES = {'v1': (('legacy', LEGACY),),
         'v2': (('legacy', LEGACY), ('auto', MODERN))}


def stdio_client(tap, fairlead, sdk):
    """Their client starts our demo."""
    for mode, revision in MODES[sdk.version]:
        check_client(tap, sdk.script('client'), mode, revision,
                     [fairlead, 'demo', '--listen', 'stdio:'])


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def wait_until_open(port, process):
    deadline = time.monotonic() + LISTEN_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(('127.0.0.1', port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f'nothing listens on port {port}')


@contextmanager
def demo_over_tcp(fairlead):
    """Yields the address of our demo, which must be there until the end."""
    address = f'127.0.0.1:{free_port()}'
    with subprocess.Popen([fairlead, 'demo', '--listen', f'tcp://{address}'],
                          stdin=subprocess.DEVNULL,
                          stdout=sys.stderr) as process:
        try:
            wait_until_open(int(address.rsplit(':', 1)[1]), process)
            yield address
            if process.poll() is not None:
                raise RuntimeError(f'the demo left: {process.returncode}')
        finally:
            process.terminate()
            try:
                process.wait(LISTEN_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def tcp_client(tap, fairlead, sdk):
    """Their client connects to our demo."""
    client = sdk.client()
    with demo_over_tcp(fairlead) as address:
        for mode, revision in MODES['v2']:
            check_client(tap, client, mode, revision, [address])


class Call:
    """`fairlead call --json`, and what came of it."""

    def __init__(self, fairlead, server, *words):
        command = [fairlead, 'call', '--json', *words, '--', *server]
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


def check_tools(tap, call, names):
    listed = call('tools')
    tap.result(listed.code == 0 and names <= listed.tools(),
               'call lists the tools', listed.why)


def check_text(tap, call, fact, wanted, *words):
    called = call('call', *words)
    tap.result(called.code == 0 and called.text() == wanted, fact, called.why)


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


def stdio_server(tap, fairlead, sdk):
    """Our command starts their server."""
    def call(*words):
        return Call(fairlead, sdk.script('server'), *words)

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


def everything_server(tap, fairlead, sdk):
    """Our command starts the reference server that has everything."""
    def call(*words):
        return Call(fairlead, sdk.everything(), *words)

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


# name: (what runs, the toolchain, its major version)
SCENARIOS = {
    'everything-server': (everything_server, TypeScript, 'v1'),
    'typescript-sdk-v1-client': (stdio_client, TypeScript, 'v1'),
    'typescript-sdk-v2-client': (stdio_client, TypeScript, 'v2'),
    'python-sdk-v1-client': (stdio_client, Python, 'v1'),
    'python-sdk-v2-client': (stdio_client, Python, 'v2'),
    'rust-sdk-tcp-client': (tcp_client, Rust, 'v2'),
    'typescript-sdk-v1-server': (stdio_server, TypeScript, 'v1'),
    'typescript-sdk-v2-server': (stdio_server, TypeScript, 'v2'),
    'python-sdk-v1-server': (stdio_server, Python, 'v1'),
    'python-sdk-v2-server': (stdio_server, Python, 'v2'),
}


def run_scenario(name, fairlead, cache):
    prove, toolchain, version = SCENARIOS[name]
    tap = Tap()
    try:
        sdk = toolchain(cache, version)
    except Skip as reason:
        if os.environ.get('FAIRLEAD_INTEROP_REQUIRED'):
            tap.result(False, f'{name} can run', str(reason))
            return tap.finish()
        print(f'1..0 # SKIP {name}: {reason}')
        return 0
    try:
        prove(tap, fairlead, sdk)
    except (OSError, RuntimeError) as trouble:
        tap.result(False, f'{name} ran to its end', str(trouble))
    return tap.finish()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('scenario', nargs='?', choices=SCENARIOS)
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--fairlead', default='fairlead')
    parser.add_argument('--cache', type=Path,
                        default=Path.cwd() / 'interop-cache')
    given = parser.parse_args()
    if given.list or not given.scenario:
        print('\n'.join(SCENARIOS))
        return 0
    cache = Path(os.environ.get('FAIRLEAD_INTEROP_CACHE') or given.cache)
    fairlead = shutil.which(given.fairlead) or given.fairlead
    return run_scenario(given.scenario, os.path.abspath(fairlead),
                        cache.resolve())


if __name__ == '__main__':
    sys.exit(main())
