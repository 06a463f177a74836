#!/usr/bin/env python3
"""behind.py - other people's servers, behind the gateway.

    behind.py NAME [--fairlead PROGRAM] [--cache DIR]
    behind.py --list

The conformance suite is run on a server twice: as it is, and through `fairlead
serve`. These servers are no fixtures of the suite, so that many scenarios fail
either way; what must not be is that one passes directly and is lost on the way.
Prints TAP. Skipped where a toolchain is not to be had.
"""
import argparse
import contextlib
import importlib.util
import os
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'interop'))
from run import Tap, end_by_exception, program, stay_home  # noqa: E402
from serving import free_port, serving  # noqa: E402
from toolchains import Go, Python, Rust, Skip, TypeScript  # noqa: E402

# Two folders have a run.py: this one's goes by another name here.
spec = importlib.util.spec_from_file_location('conformance', HERE / 'run.py')
conformance = importlib.util.module_from_spec(spec)
sys.modules['conformance'] = conformance
spec.loader.exec_module(conformance)
RUNS, Suite = conformance.RUNS, conformance.Suite

LEGACY, MODERN = 'server-2025-11-25', 'server-2026-07-28'


def everything(cache):
    """Over HTTP as it is, as a child behind the gateway."""
    words = TypeScript(cache, 'v1').everything()
    return lambda port: (['env', f'PORT={port}', *words[:-1], 'streamableHttp'],
                         words)


def sdk(kind, version):
    def found(cache):
        words = kind(cache, version).script('server')
        return lambda port: ([*words, str(port)], None)
    return found


SERVERS = {
    'everything': (everything, LEGACY),
    'python-v2': (sdk(Python, 'v2'), MODERN),
    'go': (sdk(Go, 'v1'), LEGACY),
    'rust': (sdk(Rust, 'v2'), MODERN),
}


@contextlib.contextmanager
def direct(make):
    port = free_port()
    with serving(make(port)[0], port):
        yield f'http://127.0.0.1:{port}/mcp'


@contextlib.contextmanager
def through(make, fairlead):
    port, front = free_port(), free_port()
    command, child = make(port)
    url = f'http://127.0.0.1:{front}/mcp'
    gateway = [fairlead, 'serve', '--quiet', '--listen', url]
    if child:
        with serving([*gateway, '--', *child], front):
            yield url
    else:
        with serving(command, port), \
                serving([*gateway, f'http://127.0.0.1:{port}/mcp'], front):
            yield url


def passed(suite, run, url):
    """How often each check of each scenario has passed."""
    with tempfile.TemporaryDirectory() as folder:
        results, _, _ = suite.run(run, ['--url', url], Path(folder))
    return Counter((scenario, check['id'])
                   for scenario, checks in results.items() for check in checks
                   if check['status'] == 'SUCCESS')


def prove(tap, name, suite, cache, fairlead):
    found, run = SERVERS[name]
    make, run = found(cache), RUNS[run]
    with direct(make) as url:
        there = passed(suite, run, url)
    with through(make, fairlead) as url:
        here = passed(suite, run, url)
    tap.result(sum(there.values()) > 0, f'{name}: the suite has something to '
               f'pass ({sum(there.values())} checks)', 'nothing passed')
    lost = there - here
    for scenario in sorted({scenario for scenario, _ in there}):
        gone = sorted(check for at, check in lost if at == scenario)
        tap.result(not gone, f'{name}: {scenario}', f'lost: {", ".join(gone)}')
    print(f'# {name}: {sum(there.values())} checks pass directly, '
          f'{sum(here.values())} through the gateway')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('name', nargs='?', choices=SERVERS)
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--fairlead', default='fairlead')
    parser.add_argument('--cache', type=Path,
                        default=Path.cwd() / 'interop-cache')
    given = parser.parse_args()
    if given.list or not given.name:
        print('\n'.join(SERVERS))
        return 0
    signal.signal(signal.SIGTERM, end_by_exception)
    stay_home()
    cache = Path(os.environ.get('FAIRLEAD_INTEROP_CACHE') or given.cache)
    tap = Tap()
    try:
        suite = Suite(cache.resolve())
        prove(tap, given.name, suite, cache.resolve(), program(given.fairlead))
    except Skip as reason:
        if not os.environ.get('FAIRLEAD_INTEROP_REQUIRED'):
            print(f'1..0 # SKIP {given.name}: {reason}')
            return 0
        tap.result(False, f'{given.name} can run', str(reason))
    except (OSError, RuntimeError, ValueError) as trouble:
        tap.result(False, f'{given.name} ran to its end', str(trouble))
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
