"""lines.py - the scenarios of bench/run that speak in lines: over TCP, over
pipes, and with no transport at all.

The reference is raw_echo, which gives back what it reads.
"""
import json
import shutil
import subprocess
import time
from pathlib import Path

import web
from harness import (Failed, SERVER_CPU, end_traced, free_port, live_bytes,
                     show_rate, show_us, traced_calls)

IDLE_LINKS = 10000
COUNTED_MESSAGES = 200000


def tcp_single(bench):
    """64 connections, one request under way on each: latency bound."""
    results = bench.compare('tcp 64x1', lambda s: bench.load_tcp(s, 64, 1),
                            bench.more_rounds)
    bench.traffic_rows('tcp 64x1', results, 0.90, ('<=', 1.15))


def tcp_deep(bench):
    """16 connections with 16 requests under way: throughput bound."""
    results = bench.compare('tcp 16x16', lambda s: bench.load_tcp(s, 16, 16))
    bench.traffic_rows('tcp 16x16', results, 0.50)


def stdio_deep(bench):
    results = bench.compare('stdio 64', lambda s: bench.load_stdio(s, 64))
    bench.traffic_rows('stdio 64', results, 0.70)


def trace(bench, side, messages):
    """(system calls, messages) of one server from its start to its end."""
    port, summary = free_port(), bench.tool('strace.txt')
    before = ['strace', '-f', '-c', '-o', summary]
    with bench.serving(side.tcp(port), port, before) as strace:
        try:
            done = bench.load('--tcp', f'127.0.0.1:{port}',
                              '--connections', '16', '--inflight', '16',
                              '--messages', str(messages), '--warmup', '0',
                              *side.greeting())
        finally:
            end_traced(strace)
    return traced_calls(summary), done['total']


def calls_per_message(bench, side):
    """What the messages cost, without what starting and greeting costs."""
    calls, messages = trace(bench, side, COUNTED_MESSAGES)
    return (calls - trace(bench, side, 0)[0]) / messages


def system_calls(bench):
    """All system calls, counted by strace, which slows the server down."""
    if not shutil.which('strace'):
        bench.notes.append('system calls: strace is not there')
        return
    calls = {side.name: calls_per_message(bench, side)
             for side in bench.sides}
    bench.record['system calls'] = calls
    ours = calls[bench.ours.name]
    bench.plain_row('tcp 16x16, system calls per message', ours, f'{ours:.3f}',
                    ('<=', 0.2), f'{calls["raw"]:.3f}')


def in_process(bench):
    """No system calls at all: the layers of the stack, one by one."""
    if not Path(bench.tool('inprocess')).exists():
        bench.notes.append('in process: not built')
        return
    done = subprocess.run(['taskset', '-c', SERVER_CPU,
                           bench.tool('inprocess'), '21'], check=True,
                          stdout=subprocess.PIPE, text=True)
    layers = [json.loads(line) for line in done.stdout.splitlines()]
    bench.record['in process'] = layers
    for layer in layers:
        bench.plain_row(f'in process, {layer["name"]}', layer['rate'],
                        show_rate(layer['rate']),
                        ('>=', 2.69e6) if layer['name'] == 'serve' else None)


def json_scan(bench):
    """bench/json has a table of its own."""
    if not Path(bench.tool('json')).exists():
        bench.notes.append('json: not built')
        return
    done = subprocess.run(['taskset', '-c', SERVER_CPU, bench.tool('json')],
                          stdout=subprocess.PIPE, text=True)
    bench.record['json'] = done.stdout
    print(done.stdout)


def allocations(bench):
    """malloc, calloc and realloc while messages flow and nothing else."""
    port = free_port()
    with bench.counting() as (prefix, file):
        with bench.serving(prefix + bench.ours.tcp(port), port) as process:
            tcp = bench.load('--tcp', f'127.0.0.1:{port}', '--alloc-file',
                             str(file), '--server-pid', str(process.pid),
                             '--connections', '16', '--inflight',
                             '16', '--messages', str(COUNTED_MESSAGES),
                             *bench.ours.greeting())
    allocation_row(bench, 'tcp 16x16', tcp)
    for name, result in web.allocations(bench, COUNTED_MESSAGES):
        allocation_row(bench, name, result)
    if not bench.ours.greeted:  # the file is there once it has answered
        return
    with bench.counting() as (prefix, file):
        stdio = bench.load('--alloc-file', str(file), '--inflight', '64',
                           '--messages', str(COUNTED_MESSAGES), '--init',
                           '--spawn', '--', *prefix, *bench.ours.stdio)
    allocation_row(bench, 'stdio 64', stdio)


def allocation_row(bench, name, result):
    bench.record[f'{name} allocations'] = result
    bench.plain_row(f'{name}, allocations', result['allocations'],
                    f'{result["allocations"]} in {result["messages"]}',
                    ('<=', 0))


def resident(pid):
    for line in Path(f'/proc/{pid}/status').read_text().splitlines():
        if line.startswith('RssAnon:'):
            return int(line.split()[1]) * 1024
    raise Failed('the kernel does not tell RssAnon')


def hold_open(bench, port, wanted, greeting, look):
    """Opens the links; (how many stay, what `look` saw before and after)."""
    before = look()
    with subprocess.Popen([bench.tool('idle'), '--tcp', f'127.0.0.1:{port}',
                           '--connections', str(wanted), *greeting],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as idle:
        if not idle.stdout.readline():
            raise Failed('the links could not be opened')
        time.sleep(1)
        idle.stdin.write('\n')
        idle.stdin.flush()
        links, after = json.loads(idle.stdout.readline())['open'], look()
        idle.stdin.close()
    if links == 0:
        raise Failed('the server keeps no link open')
    return links, before, after


def idle_cost(bench, command, greeting, wanted=IDLE_LINKS):
    """Bytes per idle link in one server: heap, and anonymous memory."""
    port = free_port()
    with bench.counting() as (prefix, file):
        with bench.serving(prefix + command(port), port) as process:
            links, before, after = hold_open(
                bench, port, wanted, greeting,
                lambda: (live_bytes(file), resident(process.pid)))
    heap, rss = [(b - a) / links for a, b in zip(before, after)]
    return {'links': links, 'heap': heap, 'rss': rss}


def our_idle_cost(bench, greeting, wanted=IDLE_LINKS):
    """With room for all links."""
    room = (['--max-connections', str(wanted + 100)]
            if bench.ours.greeted else [])
    return idle_cost(bench, lambda port: bench.ours.tcp(port) + room,
                     greeting, wanted)


def idle_links(bench):
    """What a connection costs that has been greeted and then says nothing."""
    raw = idle_cost(bench, bench.raw.tcp, [])
    silent = our_idle_cost(bench, [])
    greeted = our_idle_cost(bench, bench.ours.greeting())
    bench.record['idle links'] = {'raw': raw, 'silent': silent,
                                  'greeted': greeted}
    for name, cost in ('silent', silent), ('greeted', greeted):
        for kind, target in ('heap', ('<=', 1024)), ('rss', None):
            bench.plain_row(
                f'idle link ({cost["links"]} {name}), {kind} bytes',
                cost[kind], f'{cost[kind]:.0f}', target, f'{raw[kind]:.0f}')


def load_start(bench, side):
    return bench.load('--messages', '0', '--init', '--server-cpu', SERVER_CPU,
                      '--spawn', '--', *side.stdio)


def start(bench):
    """From fork to the answer to initialize."""
    results = bench.compare('start', lambda side: load_start(bench, side), 20)
    bench.ratio_row('start to first answer', results, 'start_us', show_us)
