"""gateway_peers.py - fairlead beside other gateways, before the same server.

supergateway (stateful: a child for each session) and mcp-proxy (sessions share
one), both on Node, installed once into the build folder at the versions pinned
in bench/peers/gateway. What cannot be had is named in a note and left out.

Memory is that of the gateway and of all it has started, so that a child for
each session counts: anonymous memory, after 100 sessions less before.
"""
import sys
import time
from pathlib import Path

import gateway
import web
from harness import ROOT, Failed, free_port, show_rate, show_us
from web_peers import LONG, pinned

sys.path.insert(0, str(ROOT / 'tests' / 'interop'))
from toolchains import Skip, install_npm, need_program  # noqa

PEERS = ROOT / 'bench' / 'peers' / 'gateway'
CACHE = ROOT / 'build' / 'bench-peers'
WARMUP = ['--warmup-cpu', '3000', '--milliseconds', '1000']
SESSIONS = 100


def server(bench):
    return gateway.raw_server(bench, web.SESSIONS)


def supergateway(bench, modules):
    main = modules / 'supergateway/dist/index.js'
    return web.Side('supergateway', lambda port: [
        'node', str(main), '--stdio', ' '.join(server(bench)),
        '--outputTransport', 'streamableHttp', '--stateful',
        '--streamableHttpPath', '/mcp', '--logLevel', 'none', '--port',
        str(port)], ['--init'])


def mcp_proxy(bench, modules):
    main = modules / 'mcp-proxy/dist/bin/mcp-proxy.mjs'
    return web.Side('mcp-proxy', lambda port: [
        'node', str(main), '--host', '127.0.0.1', '--port', str(port),
        '--server', 'stream', '--', *server(bench)], ['--init'])


def family(pid):
    """A process and all that came of it."""
    children = Path(f'/proc/{pid}/task/{pid}/children').read_text().split()
    return [pid] + [one for child in children for one in family(int(child))]


def anonymous(pid):
    total = 0
    for one in family(pid):
        for line in Path(f'/proc/{one}/status').read_text().splitlines():
            if line.startswith('RssAnon:'):
                total += int(line.split()[1]) * 1024
    return total


def memory(bench, side):
    """Bytes for 100 sessions, and bytes in all."""
    port = free_port()
    with bench.serving(side.command(port), port) as process:
        bench.load('--http', f'127.0.0.1:{port}', '--connections', '1',
                   '--messages', '10', *side.flags)
        time.sleep(0.5)
        before = anonymous(process.pid)
        with web.Crowd(bench, port, SESSIONS) as crowd:
            crowd.hear()
            time.sleep(1)
            opened, after = crowd.ask()['open'], anonymous(process.pid)
    if opened < SESSIONS:
        raise Failed(f'{side.name} keeps {opened} of {SESSIONS} sessions open')
    return {'grown': after - before, 'whole': after}


def show_bytes(value):
    return (f'{value / 1048576:.3g} MiB' if value >= 1048576 else
            f'{value / 1024:.3g} KiB')


def ratio(ours, theirs):
    return f'{ours / theirs:.3g}' if theirs > 0 else '-'


def compare(bench, ours, peer):
    name = f'gateway 64x1 beside {peer.name}'
    results = bench.compare(
        name, lambda side: web.load(bench, side, gateway.CONNECTIONS,
                                    *(WARMUP if side is peer else LONG)),
        1 if bench.quick else 2, [ours, peer])
    bench.ratio_row(f'{name}, rate', results, 'rate', show_rate, ('>=', 50),
                    reference=peer.name)
    bench.ratio_row(f'{name}, cpu per message', results, 'server_cpu_us',
                    show_us, reference=peer.name)
    bench.ratio_row(f'{name}, p50', results, 'p50_us', show_us,
                    reference=peer.name)


def compare_memory(bench, ours, peer):
    costs = [memory(bench, side) for side in (ours, peer)]
    bench.record[f'gateway memory beside {peer.name}'] = costs
    for what, field, target in (('grown by', 'grown', ('<=', 0.01)),
                                ('in all', 'whole', None)):
        a, b = (cost[field] for cost in costs)
        name = f'gateway, {SESSIONS} sessions beside {peer.name}, {what}'
        bench.plain_row(name, a / b if b > 0 else 0, show_bytes(a), target,
                        f'{show_bytes(b)} ({ratio(a, b)})', peer.name)


def peers(bench):
    if not bench.ours.greeted:
        bench.notes.append('gateway peers: there is no stand-in')
        return
    try:
        need_program('node', (20, 0))
        modules = install_npm(CACHE, 'gateway', PEERS) / 'node_modules'
    except Skip as reason:
        bench.notes.append('gateway beside supergateway and mcp-proxy: '
                           f'skipped, {reason}')
        return
    ours = gateway.our_side(bench, web.SESSIONS, web.SESSIONS,
                            gateway.raw_server)
    for make in supergateway, mcp_proxy:
        peer = make(bench, modules)
        bench.versions[peer.name] = pinned(PEERS / 'package.json',
                                           f'"{peer.name}')
        for part in compare, compare_memory:
            try:
                part(bench, ours, peer)
            except Failed as failure:
                bench.notes.append(f'gateway beside {peer.name}: FAILED: '
                                   f'{failure}')
