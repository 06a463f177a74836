"""sockets.py - the scenarios of bench/run that speak WebSocket.

The reference, raw_ws, unmasks what comes and gives it back. The load is the
same tools/call as over TCP, less the newline, in a masked frame.
"""
import json
import subprocess
import time
from pathlib import Path

from harness import (Failed, SERVER_CPU, free_port, live_bytes, show_rate,
                     show_us)
from web import Side

SOCKETS = 10000
ADDRESSES = 50
PING_MS = 1000
LONG = 65536
COUNTED = {'16x16': 200000, '64 KiB': 5000}


def our_side(bench):
    if not bench.ours.greeted:  # the stand-in
        return raw_side(bench, bench.ours.name)
    binary = str(bench.build / 'src/cmd/fairlead')
    return Side(bench.ours.name,
                lambda port: [binary, 'demo', '--listen',
                              f'ws://127.0.0.1:{port}/mcp'], ['--init'])


def raw_side(bench, name='raw'):
    return Side(name, lambda port: [bench.tool('raw_ws'), str(port)], [])


def load(bench, side, connections, inflight, *more):
    port = free_port()
    with bench.serving(side.command(port), port) as process:
        return bench.load('--ws', f'127.0.0.1:{port}', '--connections',
                          str(connections), '--inflight', str(inflight),
                          '--server-pid', str(process.pid),
                          *bench.duration(), *side.flags, *more)


def single(bench):
    """64 sockets, one request under way on each."""
    results = bench.compare('ws 64x1', lambda s: load(bench, s, 64, 1),
                            bench.more_rounds,
                            sides=[our_side(bench), raw_side(bench)])
    bench.traffic_rows('ws 64x1', results, 0.90)


def deep(bench):
    """16 sockets with 16 requests under way."""
    results = bench.compare('ws 16x16', lambda s: load(bench, s, 16, 16),
                            sides=[our_side(bench), raw_side(bench)])
    bench.traffic_rows('ws 16x16', results, 0.50)


def show_gb(value):
    return f'{value:.2f} GB/s'


def large(bench):
    """Messages of 64 KiB over a socket, there and back."""
    results = bench.compare(
        'ws 4x2 of 64 KiB',
        lambda s: load(bench, s, 4, 2, '--size', str(LONG)),
        bench.rounds // 2 + 1, [our_side(bench), raw_side(bench)])
    for runs in results.values():
        for run in runs:
            run['cpu_gb'] = LONG / run['server_cpu_us'] / 1e3
    name = 'ws 4x2 of 64 KiB'
    bench.ratio_row(f'{name}, rate', results, 'rate', show_rate)
    bench.ratio_row(f'{name}, cpu per message', results, 'server_cpu_us',
                    show_us)
    bench.ratio_row(f'{name}, bytes of input per cpu second', results,
                    'cpu_gb', show_gb)
    bench.warn_if_starved(name, results)


def in_process(bench):
    """From masked bytes to a checked message, without a system call."""
    if not Path(bench.tool('frames')).exists():
        bench.notes.append('ws in process: not built')
        return
    done = subprocess.run(['taskset', '-c', SERVER_CPU, bench.tool('frames'),
                           '11' if bench.quick else '41'], check=True,
                          stdout=subprocess.PIPE, text=True)
    figures = [json.loads(line) for line in done.stdout.splitlines()]
    bench.record['ws in process'] = figures
    for one in figures:
        judged = one['layer'] == 'message' and one['text'] != 'call'
        bench.plain_row(f'ws in process, {one["text"]}, {one["layer"]}',
                        one['gb_per_s'],
                        f'{show_gb(one["gb_per_s"])}, {one["ns"]:.0f} ns',
                        ('>=', 1) if judged else None)


def allocations(bench):
    """malloc, calloc and realloc while messages flow and nothing else."""
    for name, shape in (('16x16', ['16', '--inflight', '16']),
                        ('64 KiB', ['4', '--inflight', '2', '--size',
                                    str(LONG)])):
        side, port = our_side(bench), free_port()
        with bench.counting() as (prefix, file):
            with bench.serving(prefix + side.command(port), port) as process:
                result = bench.load(
                    '--ws', f'127.0.0.1:{port}', '--connections', *shape,
                    '--messages', str(COUNTED[name]), '--alloc-file',
                    str(file), '--server-pid', str(process.pid), *side.flags)
        bench.record[f'ws {name} allocations'] = result
        bench.plain_row(f'ws {name}, allocations', result['allocations'],
                        f'{result["allocations"]} in {result["messages"]}',
                        ('<=', 0) if name == '16x16' else None)


class Crowd:
    """bench/ws_idle: sockets that answer pings, and lines on stdin."""

    def __init__(self, bench, port, greeting):
        self.process = subprocess.Popen(
            [bench.tool('ws_idle'), '--ws', f'127.0.0.1:{port}', '--sockets',
             str(SOCKETS), '--addresses', str(ADDRESSES), *greeting],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def hear(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failed('the sockets could not be opened')
        return json.loads(line)

    def ask(self):
        self.process.stdin.write('\n')
        self.process.stdin.flush()
        return self.hear()


def idle_cost(bench, greeting):
    """The server that pings each second has been at it for three of them."""
    port = free_port()
    with bench.counting() as (prefix, file):
        command = prefix + [bench.tool('ws_host'), str(port), str(SOCKETS),
                            str(PING_MS)]
        with bench.serving(command, port):
            before = live_bytes(file)
            with Crowd(bench, port, greeting) as crowd:
                first = crowd.hear()
                time.sleep(3 * PING_MS / 1000)
                last, after = crowd.ask(), live_bytes(file)
    if last['open'] == 0:
        raise Failed('the server keeps no socket open')
    return {'open': last['open'], 'heap': (after - before) / last['open'],
            'pings': last['pings'] - first['pings']}


def idle(bench):
    """What a socket costs that says nothing and answers pings."""
    if not bench.ours.greeted or not Path(bench.tool('ws_host')).exists():
        bench.notes.append('ws idle: skipped, ' + (
            'ws_host is not built' if bench.ours.greeted
            else 'there is no stand-in'))
        return
    for name, greeting in ('silent', []), ('greeted', ['--init']):
        cost = idle_cost(bench, greeting)
        bench.record[f'ws idle, {name}'] = cost
        what = f'idle socket ({cost["open"]} {name})'
        bench.plain_row(f'{what}, heap bytes', cost['heap'],
                        f'{cost["heap"]:.0f}', ('<=', 2048))
        bench.plain_row(f'{what}, pings answered in 3 s', cost['pings'],
                        f'{cost["pings"]}', ('>=', 2 * SOCKETS))


def sockets(bench):
    """One part that fails does not take the others with it."""
    for part in single, deep, large, in_process, allocations, idle:
        try:
            part(bench)
        except Failed as failure:
            bench.notes.append(f'ws, {part.__name__}: FAILED: {failure}')
