"""growth.py - the scenarios of bench/run that ask how things grow.

What a message costs with 1 to 10,000 connections and with 104 bytes (there is
no shorter call) to 8 MiB, beside the raw references, which tell how much of it
is the kernel's; and what 100 to 50,000 idle connections take in memory. A
process may not be allowed as many descriptors as that, so several servers share
the last of these, each with a client of its own, which connects from 50
addresses of the loopback network.
"""
import contextlib
import json
import resource
import subprocess
import time

import lines
import sockets
import web
from harness import Failed, free_port, live_bytes, median, show_us

CONNECTIONS = 1, 10, 100, 1000, 10000
SIZES = 104, 1024, 8192, 65536, 524288, 8388608
CROWDS = 100, 1000, 10000
MANY = 50000
ROOM = ['--max-connections', '12000']
ADDRESSES = '50'
SPARE_DESCRIPTORS = 1000
FIELDS = ('rate', 'capacity', 'server_cpu_us', 'p50_us', 'p95_us', 'p99_us',
          'p999_us')


class Way:
    """A transport: how it is loaded, and its two servers by their port."""

    def __init__(self, name, ours, raw, flags):
        self.name, self.sides, self.flags = name, {'fairlead': ours,
                                                   'raw': raw}, flags


def demo(bench, url, *more):
    return lambda port: [str(bench.build / 'src/cmd/fairlead'), 'demo',
                         '--listen', url % port, '--log-level', 'error',
                         *ROOM, *more]


def ways(bench, size=120):
    little, _, _ = web.record_answer(bench, web.SESSIONS, '--size', str(size))
    return [
        Way('tcp', demo(bench, 'tcp://127.0.0.1:%d'), bench.raw.tcp,
            {'fairlead': ['--init'], 'raw': []}),
        Way('http', demo(bench, 'http://127.0.0.1:%d/mcp', '--max-sessions',
                         ROOM[1]),
            web.raw_side(bench, 'raw', web.SESSIONS, little).command,
            {'fairlead': ['--init'], 'raw': ['--fixed']}),
        Way('ws', demo(bench, 'ws://127.0.0.1:%d/mcp'),
            sockets.raw_side(bench).command,
            {'fairlead': ['--init'], 'raw': []})]


def load(bench, way, side, *shape):
    port = free_port()
    with bench.serving(way.sides[side](port), port) as process:
        return bench.load(f'--{way.name}', f'127.0.0.1:{port}',
                          '--server-pid', str(process.pid), *shape,
                          *way.flags[side])


def point(bench, way, x, rounds, *shape):
    """The medians of both sides at one place of a curve."""
    runs = {side: [] for side in way.sides}
    for turn in range(rounds):
        for side in list(runs)[::-1 if turn % 2 else 1]:
            runs[side].append(load(bench, way, side, *shape))
    return {side: {'x': x, **{field: median([run[field] for run in of])
                              for field in FIELDS}}
            for side, of in runs.items()}


def curve(bench, name, way, points):
    """Kept, and told of in a row for its ends."""
    found = [made for made in points if made]
    bench.record.setdefault('growth', {}).setdefault(name, {})[way.name] = {
        side: [one[side] for one in found] for side in way.sides}
    return found


def by_connections(bench):
    for way in ways(bench):
        points = []
        for number in CONNECTIONS:
            rounds = 1 if bench.quick else 2
            time_of = (['--warmup', '300', '--milliseconds', '600']
                       if number >= 1000 else bench.duration())
            points.append(point(bench, way, number, rounds, '--connections',
                                str(number), '--addresses', ADDRESSES,
                                *time_of))
        found = curve(bench, 'connections', way, points)
        flat_row(bench, way, found)


def flat_row(bench, way, found):
    """From 100 on: with fewer, a message pays for waking the server alone."""
    by_number = {one['fairlead']['x']: one for one in found}
    for number in 1000, 10000:
        ours, raw = (by_number[number][side]['server_cpu_us'] /
                     by_number[100][side]['server_cpu_us']
                     for side in ('fairlead', 'raw'))
        bench.plain_row(f'{way.name} {number}x1, cpu per message, times that '
                        'at 100x1', ours, f'{ours:.2f}', None, f'{raw:.2f}')


def by_size(bench):
    curves = {}
    for size in SIZES:
        for way in ways(bench, size):
            curves.setdefault(way.name, (way, []))[1].append(point(
                bench, way, size, 1 if bench.quick else 2, '--connections',
                '2', '--size', str(size), *bench.duration()))
    for way, points in curves.values():
        found = curve(bench, 'size', way, points)
        last = found[-1]
        ours, raw = (SIZES[-1] / last[side]['server_cpu_us'] / 1e3
                     for side in ('fairlead', 'raw'))
        bench.plain_row(f'{way.name} 2x1 of 8 MiB, input per cpu second',
                        ours, f'{ours:.2f} GB/s', None, f'{raw:.2f} GB/s')


def by_crowd(bench):
    """Memory: idle links over TCP, and sessions with their stream."""
    links, sessions = [], []
    for number in CROWDS:
        cost = lines.our_idle_cost(bench, bench.ours.greeting(), number)
        links.append({'x': number, 'heap': cost['heap'] * cost['links'],
                      'rss': cost['rss'] * cost['links']})
        cost = web.session_cost(bench, number)
        sessions.append({'x': number, 'heap': cost['heap'] * number})
    growth = bench.record.setdefault('growth', {})
    growth['links'], growth['sessions'] = links, sessions
    for what, found in ('idle link', links), ('idle session', sessions):
        each = [one['heap'] / one['x'] for one in found]
        bench.plain_row(f'{what}, heap bytes at {CROWDS[-1]} of them, times '
                        f'that at {CROWDS[0]}', each[-1] / each[0],
                        f'{each[-1] / each[0]:.2f}')


class Station:
    """One server of several, with its client."""

    def __init__(self, bench, stack, which, links):
        self.port, self.links = free_port(), links
        prefix, self.file = stack.enter_context(bench.counting(which))
        command = prefix + bench.ours.tcp(self.port) + [
            '--max-connections', str(links + 200), '--log-level', 'error']
        self.server = stack.enter_context(bench.serving(command, self.port))
        self.before = live_bytes(self.file), lines.resident(self.server.pid)

    def fill(self, bench, stack):
        self.client = stack.enter_context(subprocess.Popen(
            [bench.tool('idle'), '--tcp', f'127.0.0.1:{self.port}',
             '--connections', str(self.links), '--addresses', ADDRESSES,
             '--init'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True))

    def hear(self):
        line = self.client.stdout.readline()
        if not line:
            raise Failed('the connections could not be opened')
        return json.loads(line)['open']

    def ask(self):
        self.client.stdin.write('\n')
        self.client.stdin.flush()
        return self.hear()

    def grown(self):
        return (live_bytes(self.file) - self.before[0],
                lines.resident(self.server.pid) - self.before[1])


def shares(whole):
    """How many connections each server gets, as the descriptors allow."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    each = min(most if most > 0 else whole, whole) - SPARE_DESCRIPTORS
    if each < 1000:
        raise Failed(f'{most} descriptors are too few')
    count = -(-whole // each)
    return [whole // count + (i < whole % count) for i in range(count)]


def many_idle(bench):
    """50,000 at once. The clients end with their stdin."""
    with contextlib.ExitStack() as stack:
        stations = [Station(bench, stack, i, links)
                    for i, links in enumerate(shares(MANY))]
        begin = time.monotonic()
        for station in stations:
            station.fill(bench, stack)
        for station in stations:
            station.hear()
        opened_in = time.monotonic() - begin
        used = [web.cpu_ns(station.server.pid) for station in stations]
        time.sleep(3)
        idle_ns = sum(web.cpu_ns(station.server.pid) - before
                      for station, before in zip(stations, used))
        found = sum(station.ask() for station in stations)
        grown = [sum(kind) for kind in zip(*(station.grown()
                                             for station in stations))]
        busy = bench.load('--tcp', f'127.0.0.1:{stations[0].port}',
                          '--connections', '64', '--server-pid',
                          str(stations[0].server.pid), '--init',
                          *bench.duration())
        for station in stations:
            station.client.stdin.close()
    cost = {'wanted': MANY, 'open': found, 'servers': len(stations),
            'seconds': opened_in, 'heap': grown[0], 'rss': grown[1],
            'idle_cpu': idle_ns / 3e9, 'busy': busy}
    bench.record.setdefault('growth', {})['many'] = cost
    tell_many(bench, cost)


def tell_many(bench, cost):
    name = f'{MANY} idle links in {cost["servers"]} processes'
    bench.plain_row(f'{name}, still open', cost['open'], str(cost['open']),
                    ('>=', MANY))
    for kind in 'heap', 'rss':
        each = cost[kind] / max(cost['open'], 1)
        bench.plain_row(f'{name}, {kind} bytes each', each, f'{each:.0f}',
                        ('<=', 1024) if kind == 'heap' else None)
    bench.plain_row(f'{name}, opened and greeted in', cost['seconds'],
                    f'{cost["seconds"]:.1f} s')
    bench.plain_row(f'{name}, processors used by all of them',
                    cost['idle_cpu'], f'{cost["idle_cpu"]:.2%}')
    bench.plain_row(f'{name}, cpu per message of 64 busy ones beside them',
                    cost['busy']['server_cpu_us'],
                    show_us(cost['busy']['server_cpu_us']))


def growth(bench):
    if not bench.ours.greeted:
        bench.notes.append('growth: there is no stand-in')
        return
    for part in by_connections, by_size, by_crowd, many_idle:
        try:
            part(bench)
        except Failed as failure:
            bench.notes.append(f'growth, {part.__name__}: FAILED: {failure}')
