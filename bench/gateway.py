"""gateway.py - the scenario of bench/run that measures `fairlead serve`.

Behind every gateway stands the same server of bench/reference, raw_mcp, which
costs next to nothing; it shares the gateway's processor, and its time is not
counted as the gateway's. The reference is raw_bridge, which swaps ids and
parses next to nothing. Rows with "demo" have `fairlead demo` behind both
instead.

For HTTP to HTTP the server behind has the load's processor, for there it is
somewhere else. There are two references: raw_mcp, asked directly, and
raw_relay, which passes on bytes. Over HTTP/2 the server behind is `fairlead
demo`, since raw_mcp does not speak it.
"""
import shutil
import time

import web
from harness import (Failed, LOAD_CPU, end_traced, free_port, live_bytes,
                     median, show_rate, show_us, traced_calls)
from web import MODERN, SESSIONS, Side

CONNECTIONS = 64
COUNTED = 100000
TRACED = 20000
HELD_SESSIONS = 1000
# The counter is to count the gateway, not its child.
UNCOUNTED = ['--env', 'LD_PRELOAD=', '--env', 'FAIRLEAD_ALLOC_FILE=']
ERAS = ((SESSIONS, 'gateway 64x1'), (MODERN, 'gateway 64x1 2026-07-28'))


def flags(era):
    return ['--modern'] if era == MODERN else ['--init']


def raw_server(bench, era):
    return [bench.tool('raw_mcp'), '--stdio',
            *(['--modern'] if era == MODERN else [])]


def demo_server(bench, _era=None):
    return [str(bench.build / 'src/cmd/fairlead'), 'demo', '--listen',
            'stdio:', '--log-level', 'error']


def serve(bench, port, era, *more):
    """`era` is the server's."""
    return [str(bench.build / 'src/cmd/fairlead'), 'serve', '--listen',
            f'http://127.0.0.1:{port}/mcp', '--log-level', 'error',
            '--era', 'modern' if era == MODERN else 'legacy', '--child',
            'shared', *more]


def our_side(bench, front, back, server):
    return Side('fairlead', lambda port: serve(
        bench, port, back, *UNCOUNTED, '--', *server(bench, back)),
        flags(front))


def bridge_side(bench, front, back, server):
    """It is not greeted: it has one session, which it has begun itself."""
    greet = [] if back == MODERN else ['--greet']
    return Side('raw', lambda port: [bench.tool('raw_bridge'), *greet,
                                     str(port), *server(bench, back)],
                flags(front) if front == MODERN else [])


def load(bench, side):
    return web.load(bench, side, CONNECTIONS)


def beside_bridge(bench, name, front, back, server, target):
    sides = [make(bench, front, back, server)
             for make in (our_side, bridge_side)]
    results = bench.compare(name, lambda side: load(bench, side), sides=sides)
    for what, field, show, goal in (
            ('rate', 'rate', show_rate, target),
            ('capacity', 'capacity', show_rate, None),
            ('cpu per message', 'server_cpu_us', show_us, None),
            ('p50', 'p50_us', show_us, None),
            ('p99', 'p99_us', show_us, None)):
        bench.ratio_row(f'{name}, {what}', results, field, show, goal)


def over_stdio(bench):
    """Both eras, and a modern front on a legacy server. A raw bridge does not
    know that eras differ, so of that there is no comparison."""
    for era, name in ERAS:
        beside_bridge(bench, name, era, era, raw_server, ('>=', 0.50))
    for era, name in ERAS:
        beside_bridge(bench, f'{name}, demo', era, era, demo_server, None)
    name = 'gateway 64x1 2026-07-28 to 2025-11-25'
    side = our_side(bench, MODERN, SESSIONS, raw_server)
    runs = bench.compare(name, lambda s: load(bench, s),
                         bench.rounds // 2 + 1, [side])['fairlead']
    for what, field, show in (('rate', 'rate', show_rate),
                              ('cpu per message', 'server_cpu_us', show_us)):
        value = median([run[field] for run in runs])
        bench.plain_row(f'{name}, {what}', value, show(value))


def raw_http(bench, era, port):
    return [bench.tool('raw_mcp'), '--http', str(port),
            *(['--modern'] if era == MODERN else [])]


def demo_http(bench, _era, port):
    return [str(bench.build / 'src/cmd/fairlead'), 'demo', '--listen',
            f'http://127.0.0.1:{port}/mcp', '--log-level', 'error']


def http_sides(bench, era, *more):
    """What is loaded, by its own port and that of the server behind it: the
    gateway; a server alone; what relays each byte."""
    return [
        Side('fairlead', lambda own, port: serve(
            bench, own, era, '--allow-http', *more,
            f'http://127.0.0.1:{port}/mcp'), flags(era)),
        Side('raw', lambda own, _port: raw_http(bench, era, own), flags(era)),
        Side('raw relay', lambda own, port: [
            bench.tool('raw_relay'), str(own), str(port)], flags(era))]


def load_before(bench, side, behind):
    """`behind` makes the command of the server behind, by its port."""
    port = free_port()
    with bench.serving(behind(port), port, cpu=LOAD_CPU):
        return load(bench, Side(side.name, lambda own: side.command(own, port),
                                side.flags))


def http_rows(bench, name, results, target):
    for what, field, show, goal in (
            ('rate', 'rate', show_rate, target),
            ('capacity', 'capacity', show_rate, None),
            ('cpu per message', 'server_cpu_us', show_us, None)):
        for beside in 'raw', 'raw relay':
            if beside not in results:
                continue
            where = '' if beside == 'raw' else f' beside {beside}'
            bench.ratio_row(f'{name}{where}, {what}', results, field, show,
                            goal if beside == 'raw' else None, beside)


WAYS = (('gateway to http/1.1', raw_http, []),
        ('gateway to http/2', demo_http, ['--http2']))


def over_http(bench):
    for era, name in ERAS:
        for way, server, more in WAYS:
            row = name.replace('gateway', way)
            sides = http_sides(bench, era, *more)
            results = bench.compare(
                row, lambda side, era=era, server=server: load_before(
                    bench, side, lambda port: server(bench, era, port)),
                bench.rounds // 2 + 1, sides[:2] if more else sides)
            http_rows(bench, row, results, ('>=', 0.6) if more else None)


def added_latency(bench):
    """One request at a time: what the way through the gateway adds to that
    of a child that is asked directly."""
    direct = Side('direct', None, None)
    sides = [our_side(bench, SESSIONS, SESSIONS, raw_server),
             bridge_side(bench, SESSIONS, SESSIONS, raw_server), direct]

    def measure(side):
        if side is direct:
            return bench.load('--inflight', '1', *bench.duration(), '--init',
                              '--server-cpu', '0', '--spawn', '--',
                              *raw_server(bench, SESSIONS))
        return web.load(bench, side, 1)

    runs = bench.compare('gateway 1x1', measure, bench.more_rounds, sides)
    added = {}
    for name in 'fairlead', 'raw':
        added[name] = median([way['p50_us'] - straight['p50_us'] for
                              way, straight in zip(runs[name],
                                                   runs['direct'])])
    p50 = median([run['p50_us'] for run in runs['direct']])
    bench.plain_row(f'gateway 1x1, added p50 (child alone {p50:.3g} us)',
                    added['fairlead'], show_us(added['fairlead']),
                    ('<=', 60), show_us(added['raw']))


def held_sessions(bench):
    """Heap of the gateway for each legacy session, its stream open."""
    port, room = free_port(), str(HELD_SESSIONS + 100)
    with bench.counting() as (prefix, file):
        command = prefix + serve(
            bench, port, SESSIONS, '--max-connections', room,
            '--max-sessions', room, *UNCOUNTED, '--',
            *raw_server(bench, SESSIONS))
        with bench.serving(command, port):
            bench.load('--http', f'127.0.0.1:{port}', '--messages', '100',
                       '--init')  # the child is there
            before = live_bytes(file)
            with web.Crowd(bench, port, HELD_SESSIONS) as crowd:
                crowd.hear()
                time.sleep(1)
                opened, after = crowd.ask()['open'], live_bytes(file)
    if opened == 0:
        raise Failed('the gateway keeps no session open')
    heap = (after - before) / opened
    bench.record['gateway sessions'] = {'sessions': opened, 'heap': heap}
    bench.plain_row(f'gateway session ({opened} on one child), heap bytes',
                    heap, f'{heap:.0f}', ('<=', 8192))


def count_allocations(bench, name, side, target=None):
    port = free_port()
    with bench.counting() as (prefix, file):
        with bench.serving(prefix + side.command(port), port) as process:
            done = bench.load(
                '--http', f'127.0.0.1:{port}', '--connections',
                str(CONNECTIONS), '--messages', str(COUNTED),
                '--warmup', '2000', '--alloc-file', str(file),
                '--server-pid', str(process.pid), *side.flags)
    bench.record[f'{name} allocations'] = done
    bench.plain_row(f'{name}, allocations', done['allocations'],
                    f'{done["allocations"]} in {done["messages"]}', target)


def allocations(bench):
    for era, name in ERAS:
        count_allocations(bench, name, our_side(bench, era, era, raw_server),
                          ('<=', 0))
        for way, server, more in WAYS:
            port, ours = free_port(), http_sides(bench, era, *more)[0]
            with bench.serving(server(bench, era, port), port, cpu=LOAD_CPU):
                count_allocations(
                    bench, name.replace('gateway', way),
                    Side(ours.name, lambda own, ours=ours, port=port:
                         ours.command(own, port), ours.flags))


def traced(bench, side, messages):
    """(system calls, messages) of a gateway, its child left aside."""
    port, summary = free_port(), bench.tool('strace.txt')
    with bench.serving(side.command(port), port,
                       ['strace', '-c', '-o', summary]) as strace:
        try:
            done = bench.load('--http', f'127.0.0.1:{port}', '--connections',
                              str(CONNECTIONS), '--messages', str(messages),
                              '--warmup', '0', *side.flags)
        finally:
            end_traced(strace)
    return traced_calls(summary), done['total']


def system_calls(bench):
    if not shutil.which('strace'):
        bench.notes.append('gateway, system calls: strace is not there')
        return
    for era, name in ERAS:
        each = {}
        for make in our_side, bridge_side:
            side = make(bench, era, era, raw_server)
            calls, messages = traced(bench, side, TRACED)
            each[side.name] = (calls - traced(bench, side, 0)[0]) / messages
        bench.record[f'{name} system calls'] = each
        bench.plain_row(f'{name}, system calls per message', each['fairlead'],
                        f'{each["fairlead"]:.2f}', None, f'{each["raw"]:.2f}')


def gateway(bench):
    if not bench.ours.greeted:
        bench.notes.append('gateway: there is no stand-in')
        return
    for part in (over_stdio, over_http, added_latency, held_sessions,
                 allocations, system_calls):
        try:
            part(bench)
        except Failed as failure:
            bench.notes.append(f'gateway, {part.__name__}: FAILED: {failure}')
