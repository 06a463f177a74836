"""web_peers.py - fairlead beside the HTTP servers that SDKs are made for.

Each is a server with the tool echo: of the TypeScript SDK in bench/peers, of
the Python, Go and Rust SDKs those that tests/interop has. They are installed
once, into the build folder, at pinned versions; what cannot be had is named in
a note and left out. Servers on Node and Python are given six seconds of
processor time before anything is measured, since the compiler some of them run
on needs that, and all of them have one processor, as fairlead has.

nginx is no MCP server: it says the same to everybody, like the references.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import web
from harness import ROOT, show_us

sys.path.insert(0, str(ROOT / 'tests' / 'interop'))
import toolchains  # noqa: E402
from toolchains import Skip, install_npm, need_program  # noqa: E402,F401

PEERS = ROOT / 'bench' / 'peers'
INTEROP = ROOT / 'tests' / 'interop'
CACHE = ROOT / 'build' / 'bench-peers'
WARMUP = ['--warmup-cpu', '6000', '--milliseconds', '1000']
LONG = ['--milliseconds', '1000']
BRIEF = ['--warmup-cpu', '1000', '--milliseconds', '1000']
FLAGS = {web.SESSIONS: ['--init'], web.MODERN: ['--modern']}

NGINX_CONF = '''daemon off; master_process off; worker_processes 1;
pid nginx.pid; error_log nginx.log crit;
events { worker_connections 4096; }
http {
  access_log off; default_type application/json;
  keepalive_requests 1000000000; keepalive_timeout 600;
  client_body_temp_path nginx-body; proxy_temp_path nginx-proxy;
  fastcgi_temp_path nginx-fastcgi; uwsgi_temp_path nginx-uwsgi;
  scgi_temp_path nginx-scgi;
  server { listen 127.0.0.1:%d backlog=4096; location /mcp {
    return 200 '%s'; } }
}
'''


def nginx_side(bench, era, body):
    """A list of one side, or of none."""
    binary = shutil.which('nginx', path=os.environ['PATH'] + ':/usr/sbin')
    if not binary:
        bench.notes.append('nginx: skipped, it is not there')
        return []
    bench.versions['nginx'] = version_of(binary, '-v')
    home = Path(bench.tool('nginx')).resolve()
    home.mkdir(exist_ok=True)

    def command(port):
        conf = home / 'nginx.conf'
        conf.write_text(NGINX_CONF % (port, body.decode()))
        return [binary, '-p', str(home), '-c', str(conf), '-e', 'nginx.log']

    return [web.Side('nginx', command, web.fixed(era))]


def nginx(bench):
    """The same answer from it, for both revisions."""
    if not bench.ours.greeted:
        return
    for era, name in (web.SESSIONS, 'http 64x1'), \
            (web.MODERN, 'http 64x1 2026-07-28'):
        _, _, body = web.record_answer(bench, era)
        sides = [web.our_side(bench, era, ()), *nginx_side(bench, era, body)]
        if len(sides) == 1:
            return
        results = bench.compare(f'{name} beside nginx',
                                lambda s: web.load(bench, s, 64), None, sides)
        rows(bench, name, results, 'nginx')


def version_of(program, *words):
    """The first number with dots in it that the program says."""
    done = subprocess.run([program, *words], capture_output=True, text=True)
    found = re.search(r'\d+\.\d+[\w.-]*', done.stdout + done.stderr)
    return found.group() if found else 'unknown'


def pinned(path, name):
    """The version that a file of pins has for a package."""
    found = re.search(re.escape(name) + r'\W{1,4}(?:version = "=)?v?'
                      r'([\d.]+\w*)', path.read_text())
    return found.group(1) if found else 'unknown'


class Peer:
    """An SDK: what is installed for it, and which sides come of that. `make`
    is called once and yields (name, era, command by port)."""

    def __init__(self, name, version, make, warmup=WARMUP):
        self.name, self.version, self.make = name, version, make
        self.warmup = warmup


def typescript_v1():
    need_program('node', (20, 0))
    folder = install_npm(CACHE, 'typescript', PEERS)
    script = ['node', str(folder / 'sdk_v1.mjs')]
    yield 'sdk v1', web.SESSIONS, lambda port: [*script, str(port)]
    yield 'sdk v1 json', web.SESSIONS, lambda port: [*script, str(port),
                                                     '--json']


def typescript_v2():
    need_program('node', (20, 0))
    folder = install_npm(CACHE, 'typescript', PEERS)
    yield 'sdk v2', web.MODERN, lambda port: [
        'node', str(folder / 'sdk_v2.mjs'), str(port)]


def python(version, *eras):
    def make():
        script = toolchains.Python(CACHE, version).script('server')
        for era in eras:
            yield f'python {version}', era, lambda port: [*script, str(port)]
    return make


def go():
    script = toolchains.Go(CACHE, '').script('server')
    for era in web.SESSIONS, web.MODERN:
        yield 'go', era, lambda port: ['env', 'GOMAXPROCS=1', *script,
                                       str(port)]


def rust():
    script = toolchains.Rust(CACHE, 'release').script('server')
    for era in web.SESSIONS, web.MODERN:
        yield 'rmcp', era, lambda port: [*script, str(port)]


SDKS = [
    Peer('TypeScript SDK v1', pinned(PEERS / 'package.json',
                                     '@modelcontextprotocol/sdk'),
         typescript_v1),
    Peer('TypeScript SDK v2', pinned(PEERS / 'package.json',
                                     '@modelcontextprotocol/server'),
         typescript_v2),
    Peer('Python SDK v1', pinned(INTEROP / 'python/v1.txt', 'mcp'),
         python('v1', web.SESSIONS)),
    Peer('Python SDK v2', pinned(INTEROP / 'python/v2.txt', 'mcp'),
         python('v2', web.SESSIONS, web.MODERN)),
    Peer('Go SDK', pinned(INTEROP / 'go/go.mod', 'go-sdk'), go, BRIEF),
    Peer('rmcp (Rust SDK)', pinned(INTEROP / 'rust/Cargo.toml',
                                   'dependencies.rmcp'), rust, BRIEF),
]


def find(bench):
    """(peer, its sides by era) of all that can be had."""
    for peer in SDKS:
        print(f'... installing {peer.name}', file=sys.stderr, flush=True)
        try:
            made = [(era, web.Side(name, command, FLAGS[era]))
                    for name, era, command in peer.make()]
        except (Skip, RuntimeError) as reason:
            bench.notes.append(f'{peer.name} {peer.version}: skipped, '
                               f'{reason}')
            continue
        bench.versions[peer.name] = peer.version
        for era, side in made:
            yield peer, era, side


def sdks(bench):
    if not bench.ours.greeted:
        bench.notes.append('peers: there is no stand-in')
        return
    found = list(find(bench))
    for era, name in (web.SESSIONS, 'http 64x1'), \
            (web.MODERN, 'http 64x1 2026-07-28'):
        for peer, _, side in (one for one in found if one[1] == era):
            print(f'... {name} beside {side.name}', file=sys.stderr,
                  flush=True)
            try:
                compare(bench, name, era, peer, side)
            except web.Failed as failure:
                bench.notes.append(f'{name} beside {side.name}: FAILED: '
                                   f'{failure}')


def compare(bench, name, era, peer, theirs):
    ours = web.our_side(bench, era, ())
    results = bench.compare(
        f'{name} beside {theirs.name}',
        lambda side: web.load(bench, side, 64,
                              *(peer.warmup if side is theirs else LONG)),
        1 if bench.quick else 2, [ours, theirs])
    rows(bench, name, results, theirs.name)


def rows(bench, name, results, peer):
    web.rows_beside(bench, name, results, peer)
    for what, field in ('p50', 'p50_us'), ('p99', 'p99_us'):
        bench.ratio_row(f'{name} beside {peer}, {what}', results, field,
                        show_us, reference=peer)
