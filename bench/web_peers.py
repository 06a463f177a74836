"""web_peers.py - fairlead beside the HTTP servers of the TypeScript SDK.

The SDK is installed once, into the build folder, at the versions pinned in
bench/peers/package.json; without npm or a registry the rows are left out. Its
servers are given six seconds of processor time before anything is measured,
since the compiler they run on needs them.
"""
import shutil
import sys

import web
from harness import ROOT, show_rate, show_us

sys.path.insert(0, str(ROOT / 'tests' / 'interop'))
from toolchains import Skip, copy_sources, install, need_program, once  # noqa

PEERS = ROOT / 'bench' / 'peers'
CACHE = ROOT / 'build' / 'bench-peers'
WARMUP = ['--warmup-cpu', '6000', '--milliseconds', '1000']


def install_sdk():
    """The folder the servers run in."""
    need_program('node', (20, 0))
    npm = need_program('npm')
    with once(CACHE, 'typescript', PEERS / 'package.json') as folder:
        if folder:
            shutil.copy(PEERS / 'package.json', folder)
            install('npm install', [npm, 'install', '--no-audit', '--no-fund',
                                    '--no-package-lock', '--ignore-scripts',
                                    '--fetch-retries=1',
                                    '--fetch-timeout=30000'], folder)
    copy_sources(PEERS, CACHE / 'typescript')
    return CACHE / 'typescript'


def sdk_side(folder, name, script, flags, *options):
    return web.Side(name, lambda port: ['node', str(folder / script),
                                        str(port), *options], flags)


def typescript(bench):
    if not bench.ours.greeted:
        bench.notes.append('peers: there is no stand-in')
        return
    try:
        folder = install_sdk()
    except Skip as reason:
        bench.notes.append(f'http beside the TypeScript SDK: skipped, {reason}')
        return
    v1 = [sdk_side(folder, 'sdk v1', 'sdk_v1.mjs', ['--init']),
          sdk_side(folder, 'sdk v1 json', 'sdk_v1.mjs', ['--init'], '--json')]
    v2 = [sdk_side(folder, 'sdk v2', 'sdk_v2.mjs', ['--modern'])]
    for era, peers in (web.SESSIONS, v1), (web.MODERN, v2):
        sides = [web.our_side(bench, era, ()), *peers]
        results = bench.compare(
            f'typescript {era}',
            lambda side: web.load(bench, side, 64,
                                  *(WARMUP if side in peers else ())),
            1 if bench.quick else 2, sides)
        for peer in peers:
            rows(bench, results, peer.name)
        bench.warn_if_starved(f'http 64x1 beside {peers[0].name}', results)


def rows(bench, results, peer):
    web.rows_beside(bench, 'http 64x1', results, peer)
    bench.ratio_row(f'http 64x1 beside {peer}, capacity', results, 'capacity',
                    show_rate, reference=peer)
    bench.ratio_row(f'http 64x1 beside {peer}, p50', results, 'p50_us',
                    show_us, reference=peer)
