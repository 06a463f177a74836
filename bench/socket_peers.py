"""socket_peers.py - fairlead beside other WebSocket servers.

Each is installed once, into the build folder, at the versions pinned in
bench/peers/ws; what cannot be had is named in a note and left out. Servers
that echo do less than fairlead does, which checks, reads and answers a call;
the ones with "json" do about the same. supergateway relays to a child that
echoes lines, since its clients share one; the child's processor time is not in
its row.
"""
import shutil
import sys

import sockets
from harness import Failed, ROOT
from web import Side, rows_beside
from web_peers import LONG, pinned

sys.path.insert(0, str(ROOT / 'tests' / 'interop'))
from toolchains import Skip, copy_sources, install, need_program, once  # noqa

PEERS = ROOT / 'bench' / 'peers' / 'ws'
CACHE = ROOT / 'build' / 'bench-peers'
PINS = {'ws': (PEERS / 'ws.json', '"ws'),
        'uWebSockets.js': (PEERS / 'uws.json', 'uWebSockets.js#'),
        'websockets': (PEERS / 'websockets.txt', 'websockets'),
        'supergateway': (PEERS / 'supergateway.json', '"supergateway')}
WARMUP = ['--warmup-cpu', '3000', '--milliseconds', '1000']


def install_npm(name):
    """The folder the package and our scripts are in."""
    need_program('node', (20, 0))
    npm, pins = need_program('npm'), PEERS / f'{name}.json'
    with once(CACHE, name, pins) as folder:
        if folder:
            shutil.copy(pins, folder / 'package.json')
            install('npm install', [npm, 'install', '--no-audit', '--no-fund',
                                    '--no-package-lock', '--ignore-scripts',
                                    '--fetch-retries=1',
                                    '--fetch-timeout=30000'], folder)
    copy_sources(PEERS, CACHE / name)
    return CACHE / name


def both_forms(name, command):
    return [Side(name, lambda port: [*command, str(port)], []),
            Side(f'{name} json', lambda port: [*command, str(port), '--json'],
                 ['--init'])]


def ws_sides(_bench):
    return both_forms('ws', ['node', str(install_npm('ws') / 'ws_echo.mjs')])


def uws_sides(_bench):
    return both_forms('uws', ['node', str(install_npm('uws') /
                                          'uws_echo.mjs')])


def python_sides(_bench):
    pins = PEERS / 'websockets.txt'
    python = CACHE / 'websockets' / 'venv' / 'bin' / 'python'
    with once(CACHE, 'websockets', pins) as folder:
        if folder:
            install('python3 -m venv', [sys.executable, '-m', 'venv', 'venv'],
                    folder)
            install('pip install', [
                python, '-m', 'pip', 'install', '--quiet',
                '--disable-pip-version-check', '--retries', '1', '--timeout',
                '30', '--requirement', pins], folder)
    return both_forms('websockets', [str(python), '-B',
                                     str(PEERS / 'websockets_echo.py')])


def supergateway_sides(bench):
    main = (install_npm('supergateway') /
            'node_modules/supergateway/dist/index.js')
    child = f'{bench.tool("raw_echo")} --stdio'
    return [Side('supergateway', lambda port: [
        'node', str(main), '--stdio', child, '--outputTransport', 'ws',
        '--messagePath', '/mcp', '--logLevel', 'none', '--port', str(port)],
        [])]


def compare(bench, peer):
    ours = sockets.our_side(bench)
    results = bench.compare(
        f'ws 64x1 beside {peer.name}', lambda side: sockets.load(
            bench, side, 64, 1, *(LONG if side is ours else WARMUP)),
        1 if bench.quick else 2, [ours, peer])
    rows_beside(bench, 'ws 64x1', results, peer.name)


def peers(bench):
    """The same load of 64 sockets on each that can be had."""
    if not bench.ours.greeted:
        bench.notes.append('ws peers: there is no stand-in')
        return
    found = []
    for name, sides in (('ws', ws_sides), ('uWebSockets.js', uws_sides),
                        ('websockets', python_sides),
                        ('supergateway', supergateway_sides)):
        try:
            found += sides(bench)
        except Skip as reason:
            bench.notes.append(f'ws beside {name}: skipped, {reason}')
            continue
        bench.versions[name] = pinned(*PINS[name])
    for peer in found:
        try:
            compare(bench, peer)
        except Failed as failure:
            bench.notes.append(f'ws beside {peer.name}: FAILED: {failure}')
