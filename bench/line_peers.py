"""line_peers.py - fairlead beside lines on Node, without any SDK.

bench/peers/node_echo.mjs has `JSON.parse`, the call's text, `JSON.stringify`
and nothing else: what a server on Node cannot do without.
"""
import lines
from harness import ROOT, Side, show_rate, show_us
from web_peers import Skip, need_program, version_of


def node_side():
    program = ['node', str(ROOT / 'bench/peers/node_echo.mjs')]
    return Side('node', lambda port: program + ['--tcp', str(port)],
                program + ['--stdio'], True, ['--warmup', '400'])


def node(bench):
    """64 connections, 64 requests in a pipe, a start, an idle connection."""
    try:
        need_program('node', (20, 0))
    except Skip as reason:
        bench.notes.append(f'lines beside node: skipped, {reason}')
        return
    bench.versions['node'] = version_of('node', '--version')
    peer = node_side()
    sides, rounds = [bench.ours, peer], 1 if bench.quick else 3
    for name, measure in (
            ('tcp 64x1', lambda side: bench.load_tcp(side, 64, 1)),
            ('stdio 64', lambda side: bench.load_stdio(side, 64))):
        results = bench.compare(f'{name} beside node', measure, rounds, sides)
        for what, field, show in (('rate', 'rate', show_rate),
                                  ('cpu per message', 'server_cpu_us',
                                   show_us), ('p99', 'p99_us', show_us)):
            bench.ratio_row(f'{name} beside node, {what}', results, field,
                            show, reference='node')
    results = bench.compare('start beside node',
                            lambda side: lines.load_start(bench, side), 10,
                            sides)
    bench.ratio_row('start to first answer beside node', results, 'start_us',
                    show_us, reference='node')
    memory(bench, peer)


def memory(bench, peer):
    ours = lines.our_idle_cost(bench, ['--init'])
    theirs = lines.idle_cost(bench, peer.tcp, ['--init'])
    bench.record['idle links beside node'] = [ours, theirs]
    bench.plain_row(f'idle link ({ours["links"]} greeted) beside node, rss '
                    'bytes', ours['rss'], f'{ours["rss"]:.0f}', None,
                    f'{theirs["rss"]:.0f}', 'node')
