"""web.py - the scenarios of bench/run that speak HTTP.

The references answer with what fairlead answered to the same request: it is
recorded first, and handed to them in a file. "raw" has its body with the two
header fields nobody can do without, "raw, same fields" the whole of it byte
for byte.
"""
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

from harness import (Failed, LOAD_CPU, free_port, live_bytes, show_rate,
                     show_us)

SESSIONS, MODERN = 'sessions', 'modern'
STREAMS = 10000
PER_ADDRESS = 200
MESSAGES_PER_SECOND = 1000
H2_STREAMS = 100

STAND_IN_BODY = (b'{"jsonrpc":"2.0","id":10000000,"result":{"content":'
                 b'[{"type":"text","text":"xxxxxxxxxxxxxxxxx"}]}}')


class Side:
    """An HTTP server under test, and what the load must know of it."""

    def __init__(self, name, command, flags):
        self.name, self.command, self.flags = name, command, flags


def our_side(bench, era, answers):
    if not bench.ours.greeted:  # the stand-in
        return raw_side(bench, bench.ours.name, era, answers[0])
    return Side(bench.ours.name, lambda port: our_command(bench, port),
                ['--modern'] if era == MODERN else ['--init'])


def our_command(bench, port, *options):
    return [str(bench.build / 'src/cmd/fairlead'), 'demo', '--listen',
            f'http://127.0.0.1:{port}/mcp', *options]


def raw_side(bench, name, era, answer):
    return Side(name, lambda port: [bench.tool('raw_http'), str(port),
                                    str(answer)], fixed(era))


def fixed(era):
    return ['--fixed'] + (['--modern'] if era == MODERN else [])


def load(bench, side, connections, *more):
    port = free_port()
    with bench.serving(side.command(port), port) as process:
        return bench.load('--http', f'127.0.0.1:{port}', '--connections',
                          str(connections), '--server-pid', str(process.pid),
                          *bench.duration(), *side.flags, *more)


def record_answer(bench, era, *more):
    """Files with (the body and little else, the whole) of an answer."""
    whole = Path(bench.tool(f'answer-{era}.txt'))
    if bench.ours.greeted:
        port = free_port()
        with bench.serving(our_command(bench, port), port):
            bench.load('--http', f'127.0.0.1:{port}', '--messages', '1',
                       '--warmup', '0', '--save', str(whole), *more,
                       *our_side(bench, era, ()).flags)
        body = whole.read_bytes().split(b'\r\n\r\n', 1)[1]
    else:
        body = STAND_IN_BODY
    little = Path(bench.tool(f'answer-{era}-little.txt'))
    little.write_bytes(b'HTTP/1.1 200 OK\r\ncontent-type: application/json'
                       b'\r\ncontent-length: %d\r\n\r\n%s' % (len(body), body))
    if not bench.ours.greeted:
        whole.write_bytes(little.read_bytes())
    return little, whole, body


def rows_beside(bench, name, results, reference):
    for field, show, what in (('rate', show_rate, 'rate'),
                              ('capacity', show_rate, 'capacity'),
                              ('server_cpu_us', show_us, 'cpu per message')):
        if field in results[reference][0]:
            bench.ratio_row(f'{name} beside {reference}, {what}', results,
                            field, show, reference=reference)


def http_single(bench):
    """64 connections kept alive, one request under way on each."""
    for era, name in (SESSIONS, 'http 64x1'), (MODERN, 'http 64x1 2026-07-28'):
        little, whole, _ = record_answer(bench, era)
        sides = [our_side(bench, era, (little, whole)),
                 raw_side(bench, 'raw', era, little)]
        if era == SESSIONS:
            sides.append(raw_side(bench, 'raw, same fields', era, whole))
        results = bench.compare(name, lambda s: load(bench, s, 64),
                                bench.more_rounds, sides)
        bench.traffic_rows(name, results, 0.85)
        for side in sides[2:]:
            rows_beside(bench, name, results, side.name)


def http_latency(bench):
    little, whole, _ = record_answer(bench, SESSIONS)
    sides = [our_side(bench, SESSIONS, (little, whole)),
             raw_side(bench, 'raw', SESSIONS, little)]
    for connections in 1, 16:
        name = f'http {connections}x1'
        results = bench.compare(name, lambda s: load(bench, s, connections),
                                bench.rounds // 2 + 1, sides)
        bench.latency_rows(name, results)
        if connections > 1:  # a single one leaves both sides waiting
            bench.warn_if_starved(name, results)


def allocations(bench, messages):
    """(name, result) of each revision while requests flow."""
    if not bench.ours.greeted:
        return
    for era, name in (SESSIONS, 'http 64x1'), (MODERN, 'http 64x1 2026-07-28'):
        side, port = our_side(bench, era, ()), free_port()
        with bench.counting() as (prefix, file):
            with bench.serving(prefix + side.command(port), port) as process:
                yield name, bench.load(
                    '--http', f'127.0.0.1:{port}', '--connections', '64',
                    '--messages', str(messages // 2), '--alloc-file',
                    str(file), '--server-pid', str(process.pid), *side.flags)


class Crowd:
    """bench/crowd: sessions with an open stream each, that answer a line."""

    def __init__(self, bench, port, sessions=STREAMS):
        addresses = -(-sessions // PER_ADDRESS)
        self.process = subprocess.Popen(
            [bench.tool('crowd'), '--http', f'127.0.0.1:{port}', '--sessions',
             str(sessions), '--addresses', str(addresses)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def hear(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failed('the event streams could not be opened')
        return json.loads(line)

    def ask(self):
        self.process.stdin.write('\n')
        self.process.stdin.flush()
        return self.hear()


def session_cost(bench, sessions):
    """Heap per session of the demo, each with its standing stream open."""
    port, room = free_port(), str(sessions + 100)
    with bench.counting() as (prefix, file):
        command = prefix + our_command(bench, port, '--max-connections', room,
                                       '--max-sessions', room)
        with bench.serving(command, port):
            before = live_bytes(file)
            with Crowd(bench, port, sessions) as crowd:
                crowd.hear()
                time.sleep(1)
                opened, after = crowd.ask()['open'], live_bytes(file)
    if opened == 0:
        raise Failed('the server keeps no event stream open')
    return {'sessions': opened, 'heap': (after - before) / opened}


def idle_streams(bench):
    cost = session_cost(bench, STREAMS)
    heap, opened = cost['heap'], cost['sessions']
    bench.record['idle sessions'] = cost
    bench.plain_row(f'idle session ({opened} with a stream), heap bytes',
                    heap, f'{heap:.0f}', ('<=', 4096))


def spoken_to(bench):
    """Messages spread over the streams, each numbered for its session."""
    port, seconds = free_port(), 3 if bench.quick else 8
    command = [bench.tool('broadcast'), str(port), str(STREAMS),
               str(MESSAGES_PER_SECOND), str(MESSAGES_PER_SECOND * seconds)]
    with bench.serving(command, port, stdout=subprocess.PIPE) as server:
        with Crowd(bench, port) as crowd:
            opened = crowd.hear()['open']
            if opened < STREAMS:
                raise Failed(f'only {opened} event streams could be opened')
            sent = json.loads(server.stdout.readline())
            time.sleep(1)
            heard = crowd.ask()
    missing = MESSAGES_PER_SECOND * seconds - heard['events']
    bench.record['spoken to'] = {'sent': sent, 'heard': heard}
    name = f'{STREAMS} streams, {sent["sent"] / sent["seconds"]:.0f} messages/s'
    bench.plain_row(f'{name}, lost or twice',
                    missing + heard['lost'] + heard['twice'],
                    f'{missing} of {MESSAGES_PER_SECOND * seconds}',
                    ('<=', 0))
    bench.plain_row(f'{name}, cpu per message', 0, show_us(sent['cpu_us']))
    for field in 'p50', 'p99':
        bench.plain_row(f'{name}, {field}', 0, show_us(heard[f'{field}_us']))


def event_streams(bench):
    if not bench.ours.greeted:
        bench.notes.append('sse: there is no stand-in')
        return
    idle_streams(bench)
    spoken_to(bench)


def cpu_ns(pid):
    """The clock of another process (clock_getcpuclockid)."""
    return time.clock_gettime_ns((~pid << 3) | 2)


def load_h2(bench, command, body):
    port, requests = free_port(), 20000 if bench.quick else 60000
    with bench.serving(command(port), port) as server:
        before = cpu_ns(server.pid)
        done = subprocess.run(
            ['taskset', '-c', LOAD_CPU, 'h2load', '-t', '1', '-c', '1', '-m',
             str(H2_STREAMS), '-n', str(requests), '-d', str(body),
             '-H', 'content-type: application/json',
             '-H', 'accept: application/json, text/event-stream',
             '-H', 'mcp-protocol-version: 2026-07-28',
             '-H', 'mcp-method: tools/call', '-H', 'mcp-name: echo',
             f'http://127.0.0.1:{port}/mcp'], capture_output=True, text=True)
        used = cpu_ns(server.pid) - before
    rate = re.search(r'([\d.]+) req/s', done.stdout)
    good = re.search(r'status codes: (\d+) 2xx', done.stdout)
    if not rate or not good or int(good.group(1)) != requests:
        raise Failed(f'h2load: {(done.stderr or done.stdout).strip()[-300:]}')
    return {'rate': float(rate.group(1)),
            'server_cpu_us': used / requests / 1e3}


def http2(bench):
    """One connection, 100 streams under way, cleartext."""
    missing = [name for name in ('h2load', 'nghttpd')
               if not shutil.which(name, path=os.environ['PATH'] +
                                   ':/usr/sbin')]
    if missing or not bench.ours.greeted:
        bench.notes.append('http/2: skipped, ' + (
            f'{" and ".join(missing)} not there' if missing
            else 'there is no stand-in'))
        return
    _, _, answer = record_answer(bench, MODERN)
    root = Path(bench.tool('nghttpd')).resolve()
    root.mkdir(exist_ok=True)
    (root / 'mcp').write_bytes(answer)
    body = root / 'request.json'
    body.write_text(MODERN_REQUEST)
    nghttpd = shutil.which('nghttpd', path=os.environ['PATH'] + ':/usr/sbin')
    sides = [our_side(bench, MODERN, ()),
             Side('nghttpd', lambda port: [nghttpd, '--no-tls', '-d',
                                           str(root), str(port)], ())]
    name = f'http/2 1x{H2_STREAMS}'
    results = bench.compare(name, lambda s: load_h2(bench, s.command, body),
                            bench.rounds // 2 + 1, sides)
    rows_beside(bench, name, results, 'nghttpd')


MODERN_REQUEST = json.dumps({
    'jsonrpc': '2.0', 'id': 10000000, 'method': 'tools/call', 'params': {
        'name': 'echo', 'arguments': {'text': 'x' * 17}, '_meta': {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo':
                {'name': 'bench', 'version': '1'},
            'io.modelcontextprotocol/clientCapabilities': {}}}},
    separators=(',', ':'))
