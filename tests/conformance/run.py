#!/usr/bin/env python3
"""run.py RUN [OPTION]... - the MCP conformance suite, TAP.

Two releases of the suite are run on the programs beside this file: the one
that knows 2026-07-28, and the one before it, which is stricter here and there.
Each scenario is a line, and so is the number of checks that passed in all:
a scenario that silently has less to check is as much of a failure as a check
that fails. Warnings are failures, too.

What this needs (the suite, and a Node it runs on) is installed into the cache
folder once. If it cannot be had the run is skipped, with the reason; see
tests/interop/run.py, which has the environment variables for it.

`run.py --list` names the runs; `run.py --install` installs for all of them.
"""
import argparse
import contextlib
import json
import os
import re
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True  # the source folder stays as it is
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'interop'))
from run import Tap, end_by_exception, program, stay_home  # noqa: E402
from serving import free_port, serving  # noqa: E402
from toolchains import (  # noqa: E402
    Skip, install_npm, last_line, need_program, run_to_end)

SUITE_SECONDS = 240
NODE = (22, 0)
OLD, NEW = 'conformance-0.1', 'conformance-0.2'


class Run(NamedTuple):
    """One run of the suite, and what must come of it."""
    suite: str
    role: str
    words: tuple
    scenarios: int
    checks: int  # None: depends on how often a client asks
    behind: str = None  # how the gateway in front reaches it; None: there is none
    era: str = 'both'


def server(suite, scenarios, checks, version=None):
    only = ('--spec-version', version) if version else ()
    return Run(suite, 'server', ('--suite', 'all', *only), scenarios, checks)


def client(suite, scenarios):
    return Run(suite, 'client', ('--suite', 'all'), scenarios, None)


RUNS = {
    'server-2025-03-26': server(NEW, 1, 3, '2025-03-26'),
    'server-2025-06-18': server(NEW, 27, 56, '2025-06-18'),
    'server-2025-11-25': server(NEW, 33, 84, '2025-11-25'),
    'server-2026-07-28': server(NEW, 40, 153, '2026-07-28'),
    'server-all': server(NEW, 65, 276),
    'server-0.1': server(OLD, 32, 47),
    'client-all': client(NEW, 48),
    'client-0.1': client(OLD, 26),
}

# The same through the gateway: nothing may be lost on the way, whatever is
# between it and the server; not even between a server of the older revisions
# and clients of the newest.
for backend in ('stdio', 'tcp', 'ws', 'http'):
    for version in ('2025-11-25', '2026-07-28'):
        RUNS[f'gateway-{backend}-{version}'] = \
            RUNS[f'server-{version}']._replace(behind=backend)
RUNS['gateway-legacy-2026-07-28'] = \
    RUNS['server-2026-07-28']._replace(behind='stdio', era='legacy')
RUNS['gateway-modern-2025-11-25'] = \
    RUNS['server-2025-11-25']._replace(behind='stdio', era='modern')

# Extensions, which no revision selects: a part of "server-all".
EXTENSIONS = {'tasks-': (10, 44), 'sep-2640-skills-': (3, 45)}

# What has nothing to pass yet.
STUBS = {'tasks-status-notifications': 'nothing is checked by the suite yet'}

# What a release of the suite has wrong, and so cannot pass.
KNOWN = {
    ('client-0.1', 'auth/2025-03-26-oauth-metadata-backcompat'):
        'its metadata name another issuer than the one they were fetched for, '
        'which a client must refuse (RFC 8414, 3.3); mended in 0.2',
}


class Suite:
    """Both releases, and a Node that is new enough."""

    def __init__(self, cache):
        self.folder = install_npm(cache, 'conformance', HERE / 'suite')
        try:
            self.node = need_program('node', NODE)
        except Skip:
            found = install_npm(cache, 'node', HERE / 'node') \
                .glob('node_modules/node-*/bin/node')
            self.node = next(map(str, found), None)
            if not self.node:
                raise Skip('no Node 22 for this machine')

    def run(self, run, target, results):
        """{scenario: [check]}, and what the suite said."""
        main = self.folder / 'node_modules' / run.suite / 'dist' / 'index.js'
        code, out, err = run_to_end(
            [self.node, str(main), run.role, *target, *run.words, '-o',
             str(results)], SUITE_SECONDS)
        return read_results(results, run.role), code, out + err


def read_results(folder, role):
    """A folder is named after its scenario and the time it was run at; a
    slash in the name has made folders of it."""
    found = {}
    for path in sorted(folder.rglob('checks.json')):
        name = str(path.parent.relative_to(folder))
        name = re.sub(r'-\d{4}-\d\d-\d\dT[\d-]+Z$', '', name)
        name = name.removeprefix('server-') if role == 'server' else name
        found[name] = json.loads(path.read_text())
    return found


def complaint(check):
    what = check.get('errorMessage') or check.get('description') or ''
    return f'{check["id"]}: {check["status"]}: {what}'


def check_scenario(tap, name, checks, known):
    counts = Counter(check['status'] for check in checks)
    bad = [check for check in checks
           if check['status'] in ('FAILURE', 'WARNING')]
    if name in STUBS and not bad and not counts['SUCCESS']:
        tap.result(True, f'{name} # SKIP {STUBS[name]}')
    elif known and bad:
        tap.count += 1
        print(f'not ok {tap.count} - {name} # TODO {known}')
    else:
        tap.result(not bad and counts['SUCCESS'] > 0,
                   f'{name}: {counts["SUCCESS"]} passed',
                   '; '.join(map(complaint, bad)) or 'nothing was checked')


def check_total(tap, what, results, scenarios, checks):
    passed = sum(check['status'] == 'SUCCESS'
                 for each in results.values() for check in each)
    tap.result(len(results) == scenarios, f'{what}: {scenarios} scenarios',
               f'there were {len(results)}')
    if checks is not None:
        tap.result(passed == checks, f'{what}: {checks} checks passed',
                   f'there were {passed}')


def check_run(tap, name, results):
    run = RUNS[name]
    for scenario, checks in sorted(results.items()):
        check_scenario(tap, scenario, checks, KNOWN.get((name, scenario)))
    check_total(tap, 'in all', results, run.scenarios, run.checks)
    for prefix, expected in EXTENSIONS.items() if name == 'server-all' else ():
        part = {key: value for key, value in results.items()
                if key.startswith(prefix)}
        check_total(tap, f'{prefix}*', part, *expected)


BACKENDS = {
    'tcp': 'tcp://127.0.0.1:{}',
    'ws': 'ws://127.0.0.1:{}/mcp',
    'http': 'http://127.0.0.1:{}/mcp',
}


@contextlib.contextmanager
def served(run, tools, url, port):
    """The server at `url`, by itself or behind the gateway."""
    def server(where):
        return [tools.server, '--listen', where, '--era', run.era, '--skills',
                str(HERE / 'skills')]

    gateway = [tools.fairlead, 'serve', '--quiet', '--listen', url]
    if run.behind is None:
        with serving(server(url), port):
            yield
    elif run.behind == 'stdio':
        with serving([*gateway, '--', *server('stdio:')], port):
            yield
    else:
        other = free_port()
        where = BACKENDS[run.behind].format(other)
        with serving(server(where), other), serving([*gateway, where], port):
            yield


def prove(tap, name, suite, tools):
    run, port = RUNS[name], free_port()
    with tempfile.TemporaryDirectory() as folder:
        if run.role == 'client':
            outcome = suite.run(run, ['--command', tools.client], Path(folder))
        else:
            url = f'http://localhost:{port}/mcp'
            with served(run, tools, url, port):
                outcome = suite.run(run, ['--url', url], Path(folder))
    results, code, said = outcome
    tap.result(bool(results), f'{name} ran',
               f'exit code {code}; {last_line(said)}')
    check_run(tap, name, results)


def install(cache):
    """Trouble is for the runs to tell, which meet it again."""
    try:
        Suite(cache)
    except (Skip, OSError) as trouble:
        print(trouble)
    return 0


class Tools(NamedTuple):
    """Our programs."""
    server: str
    client: str
    fairlead: str


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('run', nargs='?', choices=RUNS)
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--install', action='store_true')
    parser.add_argument('--server', default='conformance-server')
    parser.add_argument('--client', default='conformance-client')
    parser.add_argument('--fairlead', default='fairlead')
    parser.add_argument('--cache', type=Path,
                        default=Path.cwd() / 'interop-cache')
    given = parser.parse_args()
    if given.list or not (given.run or given.install):
        print('\n'.join(RUNS))
        return 0
    signal.signal(signal.SIGTERM, end_by_exception)
    stay_home()
    cache = Path(os.environ.get('FAIRLEAD_INTEROP_CACHE') or given.cache)
    if given.install:
        return install(cache.resolve())
    tools, tap = Tools(program(given.server), program(given.client),
                       program(given.fairlead)), Tap()
    try:
        suite = Suite(cache.resolve())
        prove(tap, given.run, suite, tools)
    except Skip as reason:
        if not os.environ.get('FAIRLEAD_INTEROP_REQUIRED'):
            print(f'1..0 # SKIP {given.run}: {reason}')
            return 0
        tap.result(False, f'{given.run} can run', str(reason))
    except (OSError, RuntimeError, ValueError) as trouble:
        tap.result(False, f'{given.run} ran to its end', str(trouble))
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
