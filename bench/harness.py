"""harness.py - the sides of the comparison, and the table that comes of it.

What bench/run says in its story is done here: servers started on one
processor and loaded from another, the sides taking turns, medians. Which
figures are taken, and what they should be, is bench/run's business.
"""
import contextlib
import json
import os
import platform
import socket
import statistics
import struct
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SERVER_CPU, LOAD_CPU = '0', '1'
MORE_IS_BETTER = 'rate', 'capacity', 'cpu_gb'
SATURATED = 0.8  # one side this busy, or somebody else had the processors


class Failed(Exception):
    """A scenario could not be measured; the others still can."""


class Side:
    """A server under test: how it is started, and whether it is greeted."""

    def __init__(self, name, tcp, stdio, greeted, warmup=()):
        self.name, self.stdio, self.greeted = name, stdio, greeted
        self.tcp, self.warmup = tcp, warmup

    def greeting(self):
        return ['--init', *self.warmup] if self.greeted else []


def fairlead_side(build):
    binary = str(build / 'src/cmd/fairlead')
    return Side('fairlead',
                lambda port: [binary, 'demo', '--listen',
                              f'tcp://127.0.0.1:{port}'],
                [binary, 'demo', '--listen', 'stdio:'], True)


def raw_side(build, name='raw'):
    binary = str(build / 'bench/raw_echo')
    return Side(name, lambda port: [binary, '--tcp', str(port)],
                [binary, '--stdio'], False)


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def answers(port):
    with contextlib.suppress(OSError):
        socket.create_connection(('127.0.0.1', port), 1).close()
        return True
    return False


def await_port(process, port):
    deadline = time.monotonic() + 30
    while not answers(port):
        if process.poll() is not None:
            raise Failed(f'the server exited with {process.returncode}')
        if time.monotonic() > deadline:
            raise Failed(f'nobody listens on port {port}')
        time.sleep(0.01)


def stop(process):
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def end_traced(strace):
    """Its child is told to end; then it writes its summary."""
    children = Path(f'/proc/{strace.pid}/task/{strace.pid}/children')
    for child in children.read_text().split():
        os.kill(int(child), 15)
    with contextlib.suppress(subprocess.TimeoutExpired):
        strace.wait(10)


def traced_calls(summary):
    """All system calls of `strace -c`: the number of its last line."""
    return int(Path(summary).read_text().strip().splitlines()[-1].split()[3])


def live_bytes(file):
    """What alloc_count.so says is on the heap (alloc_count.h)."""
    return struct.unpack('=4Q', file.read_bytes()[:32])[2]


def median(values):
    return statistics.median(values)


class Bench:
    """The tools of one build, and the results they have given so far."""

    def __init__(self, options):
        self.build = options.build
        self.quick = options.quick
        self.rounds = 3 if options.quick else 7
        # of what is closest to its target, and would else be left to chance
        self.more_rounds = 3 if options.quick else 13
        self.ours, self.raw = fairlead_side(self.build), raw_side(self.build)
        if options.stand_in:
            self.ours = raw_side(self.build, 'stand-in')
        self.sides = [self.ours, self.raw]
        self.log = open(self.build / 'bench/servers.log', 'wb')
        self.rows, self.notes, self.record = [], [], {}
        self.versions = {}

    def tool(self, name):
        return str(self.build / 'bench' / name)

    @contextlib.contextmanager
    def serving(self, command, port, before=(), stdout=None, cpu=SERVER_CPU):
        """A server on its processor, and gone again."""
        process = subprocess.Popen(
            [*before, 'taskset', '-c', cpu, *command],
            stdin=subprocess.DEVNULL, stdout=stdout or self.log,
            stderr=self.log, text=True)
        try:
            await_port(process, port)
            yield process
        finally:
            stop(process)

    @contextlib.contextmanager
    def counting(self, which=0):
        """(command prefix, file) of the allocation counter."""
        file = Path('/dev/shm') / f'fairlead-bench-{os.getpid()}-{which}'
        file.unlink(missing_ok=True)
        try:
            yield ['env', f'LD_PRELOAD={self.tool("alloc_count.so")}',
                   f'FAIRLEAD_ALLOC_FILE={file}'], file
        finally:
            file.unlink(missing_ok=True)

    def load(self, *arguments):
        done = subprocess.run([self.tool('load'), '--cpu', LOAD_CPU,
                               *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed((done.stderr or done.stdout).strip())
        return json.loads(done.stdout)

    @staticmethod
    def duration():
        """Short, so that a noisy moment strikes more than one side."""
        return ['--warmup', '100', '--milliseconds', '300']

    def load_tcp(self, side, connections, inflight):
        port = free_port()
        with self.serving(side.tcp(port), port) as process:
            return self.load('--tcp', f'127.0.0.1:{port}',
                             '--connections', str(connections),
                             '--inflight', str(inflight),
                             '--server-pid', str(process.pid),
                             *self.duration(), *side.greeting())

    def load_stdio(self, side, inflight):
        return self.load('--inflight', str(inflight), *self.duration(),
                         *side.greeting(), '--server-cpu', SERVER_CPU,
                         '--spawn', '--', *side.stdio)

    def compare(self, name, measure, rounds=None, sides=None):
        """Every side in turn, the order reversed every other round."""
        sides = sides or self.sides
        results = {side.name: [] for side in sides}
        for turn in range(rounds or self.rounds):
            for side in sides[::-1 if turn % 2 else 1]:
                results[side.name].append(measure(side))
        self.record[name] = results
        return results

    def ratio_row(self, what, results, field, show, target=None,
                  reference='raw'):
        """Ours beside it: medians, and the median of the rounds' ratios."""
        of = {name: [r[field] for r in runs] for name, runs in results.items()}
        ratios = [a / b for a, b in zip(of[self.ours.name], of[reference])
                  if b]
        if not ratios:
            raise Failed(f'{what}: there is no {field}')
        self.rows.append({
            'what': what, 'ours': show(median(of[self.ours.name])),
            'beside': show(median(of[reference])), 'reference': reference,
            'ratio': median(ratios), 'low': min(ratios), 'high': max(ratios),
            'more_is_better': field in MORE_IS_BETTER,
            **verdict(median(ratios), target)})

    def plain_row(self, what, value, shown, target=None, beside='',
                  reference='raw'):
        self.rows.append({'what': what, 'ours': shown, 'value': value,
                          'beside': beside, 'reference': reference,
                          **verdict(value, target)})

    def traffic_rows(self, name, results, least=None, most_cpu=None):
        """What every load has: a rate with its target, and what it costs."""
        self.ratio_row(f'{name}, rate', results, 'rate', show_rate,
                       ('>=', least) if least else None)
        self.ratio_row(f'{name}, capacity', results, 'capacity', show_rate)
        self.ratio_row(f'{name}, cpu per message', results, 'server_cpu_us',
                       show_us, most_cpu)
        self.latency_rows(name, results)
        self.warn_if_starved(name, results)

    def latency_rows(self, name, results):
        for what in 'p50', 'p95', 'p99', 'p99.9':
            self.ratio_row(f'{name}, {what}', results,
                           f'{what.replace(".", "")}_us', show_us)

    def warn_if_starved(self, name, results):
        busy = [max(r['server_busy'], r['load_busy'])
                for runs in results.values() for r in runs]
        if median(busy) < SATURATED:
            self.notes.append(
                f'{name}: neither side got more than {median(busy):.0%} of a '
                'processor; somebody else has the machine, so trust the '
                'capacity and cpu rows')


def verdict(value, target):
    if target is None:
        return {'target': '', 'verdict': ''}
    sign, limit = target
    met = value >= limit if sign == '>=' else value <= limit
    return {'target': f'{sign} {quantity(limit)}', 'limit': limit,
            'verdict': 'ok' if met else 'MISSED'}


def quantity(value):
    return f'{value / 1e6:g} M/s' if value >= 1e5 else f'{value:g}'


def show_rate(value):
    if value >= 1e6:
        return f'{value / 1e6:.2f} M/s'
    return f'{value / 1e3:.1f} k/s' if value >= 1e4 else f'{value:.0f}/s'


def show_us(value):
    return f'{value:.3g} us' if value < 1000 else f'{value / 1000:.2f} ms'


def kernel():
    """Without what a distributor adds."""
    number = '.'.join(platform.release().split('.')[:2])
    return f'{platform.system()} {number}'


def machine():
    model = 'unknown processor'
    for line in Path('/proc/cpuinfo').read_text().splitlines():
        if line.startswith('model name'):
            model = line.split(':', 1)[1].strip()
            break
    return (f'{model}, {os.cpu_count()} processors, '
            f'{kernel()}, '
            f'load average {os.getloadavg()[0]:.2f}')


def cells(row):
    """A row as it is shown."""
    ratio = (f'{row["ratio"]:.3g} ({row["low"]:.3g}..{row["high"]:.3g})'
             if 'ratio' in row else '')
    return [row['what'], row['ours'], row['beside'], ratio, row['target'],
            row['verdict']]


def print_rows(rows):
    print_table(['scenario', 'fairlead', 'beside', 'ratio (range)', 'target',
                 ''], [cells(row) for row in rows])


def print_table(head, rows):
    widths = [max(len(row[i]) for row in [head, *rows])
              for i in range(len(head))]
    for row in [head, ['-' * width for width in widths], *rows]:
        print(' | '.join(cell.ljust(width)
                         for cell, width in zip(row, widths)).rstrip())
