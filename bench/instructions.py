#!/usr/bin/env python3
"""instructions.py [--record] [--build DIR] [--only NAME...] - what a message
costs, counted in instructions.

A clock tells more about the machine than about a change; instructions do not
care who else is at work. Valgrind's callgrind counts those of one process
outside the kernel. Each way is taken twice, with few messages and with many,
and the difference is what the messages cost: starting, greeting and ending
are in both. One request is under way at a time, so that no chance decides how
many of them share a read.

What was counted is compared with bench/instructions.json. A way that costs
over 10 % more than recorded fails; one that has become 10 % cheaper is told
of, so that the record can follow. `bench/instructions.py --record` brings
build/plain up to date and writes the record anew. It is the record of one
compiler on one kind of processor: elsewhere, and without Valgrind, all of it
is skipped.
"""
import argparse
import contextlib
import json
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / 'tests' / 'support'))
from ports import free_port  # noqa: E402

RECORD = ROOT / 'bench' / 'instructions.json'
PROGRAMS = ['src/cmd/fairlead', 'bench/load', 'bench/inprocess',
            'bench/raw_mcp']
MOST, LEAST = 1.10, 0.90
FEW, MANY = 200, 1200
FEW_PASSES, MANY_PASSES = 2, 6
START_SECONDS = 60
ATTEMPTS = 2
HINT = ('if it has to be so: bench/instructions.py --record, and say why in '
        'the commit')


class Failed(Exception):
    """There is no count."""


class Counter:
    """One run of one program under callgrind, whose file is its own."""

    def __init__(self, build):
        self.build = build
        self.folder = Path(tempfile.mkdtemp(prefix='fairlead-count-'))
        self.counts = self.folder / 'counts'

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def program(self, name):
        return str(self.build / name)

    def prefix(self):
        return ['valgrind', '--tool=callgrind', '--quiet',
                f'--callgrind-out-file={self.counts}',
                f'--log-file={self.folder / "log"}']

    def load(self, *arguments):
        """How many messages were answered in all."""
        return total(run([self.program('bench/load'), '--warmup', '0',
                          *arguments]))

    def instructions(self):
        if not self.counts.exists():
            raise Failed('callgrind has written nothing')
        found = re.search(r'^(?:totals|summary): (\d+)',
                          self.counts.read_text(), re.M)
        if not found:
            raise Failed('callgrind has not come to a sum')
        return int(found.group(1))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed((done.stderr or done.stdout).strip()[-300:])
    return done.stdout


def total(output):
    return json.loads(output.strip().splitlines()[-1])['total']


@contextlib.contextmanager
def serving(command, log):
    """A server with one door, by its port, once that is open."""
    port = free_port()
    with open(log, 'wb') as kept:
        process = subprocess.Popen(command(port), stdin=subprocess.DEVNULL,
                                   stdout=kept, stderr=kept)
    try:
        await_port(process, port, log)
        yield port
        process.send_signal(signal.SIGTERM)
        process.wait(START_SECONDS)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def await_port(process, port, log):
    """By what is listening, since a visit would be counted."""
    deadline, wanted = time.monotonic() + START_SECONDS, f':{port:04X} '
    while time.monotonic() < deadline and process.poll() is None:
        for line in Path('/proc/net/tcp').read_text().splitlines():
            if wanted in line and ' 0A ' in line:
                return
        time.sleep(0.02)
    raise Failed(f'no server: {Path(log).read_text()[-300:]}')


def in_process(layer):
    """No system call, no other process."""
    def count(counter, many):
        passes = MANY_PASSES if many else FEW_PASSES
        return total(run([*counter.prefix(),
                          counter.program('bench/inprocess'), layer,
                          str(passes)]))
    return count


def stdio(counter, many):
    return counter.load('--messages', str(MANY if many else FEW), '--init',
                        '--spawn', '--', *counter.prefix(),
                        counter.program('src/cmd/fairlead'), 'demo',
                        '--listen', 'stdio:', '--log-level', 'error')


def over(scheme, flags, *behind):
    """`fairlead demo`, or `serve` with a server behind it."""
    path = '' if scheme == 'tcp' else '/mcp'

    def command(counter, port):
        return [*counter.prefix(), counter.program('src/cmd/fairlead'),
                'serve' if behind else 'demo', '--listen',
                f'{scheme}://127.0.0.1:{port}{path}', '--log-level', 'error',
                *(counter.program(word) if word in PROGRAMS else word
                  for word in behind)]

    def count(counter, many):
        with serving(lambda port: command(counter, port),
                     counter.folder / 'server') as port:
            return counter.load(f'--{scheme}', f'127.0.0.1:{port}',
                                '--messages', str(MANY if many else FEW),
                                *flags)
    return count


def behind_stdio(era):
    return ['--era', era, '--child', 'shared', '--', 'bench/raw_mcp',
            '--stdio', *(['--modern'] if era == 'modern' else [])]


def over_http2(counted):
    """A gateway with a server behind it that it speaks HTTP/2 with: one of the
    two is counted. Nothing else at hand speaks MCP over HTTP/2."""
    def command(counter, who, *arguments):
        return [*(counter.prefix() if who == counted else []),
                counter.program('src/cmd/fairlead'), who, '--log-level',
                'error', *arguments]

    def count(counter, many):
        with serving(lambda port: command(
                counter, 'demo', '--listen', f'http://127.0.0.1:{port}/mcp'),
                counter.folder / 'behind') as behind, serving(
                lambda port: command(
                    counter, 'serve', '--listen',
                    f'http://127.0.0.1:{port}/mcp', '--era', 'legacy',
                    '--allow-http', '--http2',
                    f'http://127.0.0.1:{behind}/mcp'),
                counter.folder / 'server') as port:
            return counter.load('--http', f'127.0.0.1:{port}', '--messages',
                                str(MANY if many else FEW), '--init')
    return count


WAYS = {
    'in process, read': in_process('read'),
    'in process, relay': in_process('relay'),
    'in process, serve': in_process('serve'),
    'stdio': stdio,
    'tcp': over('tcp', ['--init']),
    'ws': over('ws', ['--init']),
    'http 2025-11-25': over('http', ['--init']),
    'http 2026-07-28': over('http', ['--modern']),
    'http/2': over_http2('demo'),
    'gateway 2025-11-25': over('http', ['--init'], *behind_stdio('legacy')),
    'gateway 2026-07-28': over('http', ['--modern'],
                               *behind_stdio('modern')),
    'gateway to http/2': over_http2('serve'),
}


def once(build, way, many):
    """(instructions, messages)"""
    with Counter(build) as counter:
        messages = WAYS[way](counter, many)
        return counter.instructions(), messages


def measure(build, way):
    """Instructions for one message."""
    (few, a), (many, b) = (once(build, way, size) for size in (False, True))
    return round((many - few) / (b - a), 1)


def attempt(build, way):
    """Once more, if a crowded machine was too slow for somebody."""
    for _ in range(ATTEMPTS):
        try:
            return measure(build, way)
        except (Failed, OSError, subprocess.TimeoutExpired) as failure:
            trouble = failure
    return trouble


def measure_all(build, ways):
    """(way, count or failure) in order; two at a time, as each waits much."""
    with ThreadPoolExecutor(2) as pool:
        yield from zip(ways, pool.map(lambda way: attempt(build, way), ways))


def processor():
    """With what our scanner and the C library choose their loops by."""
    wide = ' avx2 ' in Path('/proc/cpuinfo').read_text()
    return platform.machine() + (' avx2' if wide else '')


def reason_to_skip(options, record):
    if not shutil.which('valgrind'):
        return 'valgrind is not there'
    here = f'{options.compiler or compiler_of(options.build)}, {processor()}'
    if record.get('made_with') not in (None, here):
        return f'recorded with {record["made_with"]}, and this is {here}'
    return None


def judge(way, count, recorded):
    """(whether it is well, what is to be said)"""
    if isinstance(count, Exception):
        return False, f'it could not be counted: {count}'
    if recorded is None:
        return False, f'{count:.0f}, and nothing is recorded; {HINT}'
    change = f'{count:.0f} instructions, {count / recorded - 1:+.1%} of the ' \
             f'recorded {recorded:.0f}'
    if count > recorded * MOST:
        return False, f'{change}; {HINT}'
    if count < recorded * LEAST:
        return True, f'{change}; please tighten the record: ' \
                     'bench/instructions.py --record'
    return True, change


def compare(options, record):
    """TAP; how many failed."""
    print(f'1..{len(options.only)}', flush=True)
    failed = 0
    for number, (way, count) in enumerate(
            measure_all(options.build, options.only), 1):
        well, words = judge(way, count, record.get('instructions',
                                                   {}).get(way))
        print(f'{"" if well else "not "}ok {number} - {way}\n# {words}',
              flush=True)
        failed += not well
    return failed


def compiler_of(build):
    """As the test would be told of it."""
    tests = json.loads((build / 'meson-info/intro-tests.json').read_text())
    command = next((test['cmd'] for test in tests
                    if test['name'] == 'instructions'), None)
    if command is None:
        sys.exit(f'instructions.py: {build} is no build to count in')
    return command[command.index('--compiler') + 1]


def write_record(options, record):
    subprocess.run(['ninja', '-C', str(options.build), *PROGRAMS], check=True,
                   stdout=subprocess.DEVNULL)
    counts = dict(record.get('instructions', {}))
    for way, count in measure_all(options.build, options.only):
        if isinstance(count, Exception):
            sys.exit(f'instructions.py: {way}: {count}')
        before = counts.get(way)
        print(f'{way:24} {count:9.1f}' +
              (f'  {count / before - 1:+.1%}' if before else ''), flush=True)
        counts[way] = count
    RECORD.write_text(json.dumps({
        'made_with': f'{compiler_of(options.build)}, {processor()}',
        'instructions': {way: counts[way] for way in WAYS if way in counts}},
        indent=1) + '\n')


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--record', action='store_true')
    parser.add_argument('--build', type=Path, default=ROOT / 'build/plain')
    parser.add_argument('--compiler', default='')
    parser.add_argument('--only', nargs='+', choices=WAYS, metavar='NAME',
                        default=list(WAYS), help='; '.join(WAYS))
    return parser.parse_args()


def main():
    options = parse()
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    if not (options.build / 'build.ninja').exists():
        sys.exit(f'instructions.py: {options.build} is not there; '
                 'make test ARGS=plain makes it')
    if options.record:
        write_record(options, record)
        return 0
    reason = reason_to_skip(options, record)
    if reason:
        print(f'1..0 # SKIP {reason}')
        return 0
    return 1 if compare(options, record) else 0


if __name__ == '__main__':
    sys.exit(main())
