#!/usr/bin/env python3
"""test_http_unix.py - HTTP through a Unix socket: unix:/PATH#/TARGET.

As servers and clients both, with curl and Python's sockets as the other side.
Prints TAP. FAIRLEAD names the program.
"""
import contextlib
import json
import os
import shutil
import socket
import stat
import sys
from pathlib import Path

from flow import (FAIRLEAD, WAIT, Demo, Skip, call, contains, demo, equal,
                  folder, main, require, run, started, until)

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


@contextlib.contextmanager
def door(target='/mcp', scheme='unix', *options):
    """(its address, the path of its socket)"""
    with folder() as place:
        path = Path(place) / 's'
        with demo(*options, listen=[f'{scheme}:{path}#{target}']) as serving:
            yield serving.urls[0], path


@contextlib.contextmanager
def gateway(*words, log=False):
    with folder() as place:
        url = f'unix:{place}/g#/mcp'
        with started(FAIRLEAD, 'serve', '--control', 'none', '--listen', url,
                     *words) as process:
            serving = Demo(process)
            until(lambda: serving.urls or process.poll() is not None,
                  'it listens')
            require(process.poll() is None, serving.lines)
            try:
                yield (url, serving) if log else url
            finally:
                serving.end()
                serving.reader.join(WAIT)


def exchange(path, head, body=b''):
    """All that comes back for one request."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(WAIT)
        client.connect(str(path))
        client.sendall(head.encode() + b'\r\n' + body)
        pieces = []
        while piece := client.recv(65536):
            pieces.append(piece)
    return b''.join(pieces).decode()


def post(path, *fields, target='/mcp', host='localhost'):
    return exchange(path, '\r\n'.join([
        f'POST {target} HTTP/1.1', f'Host: {host}', 'Connection: close',
        'Content-Type: application/json', f'Content-Length: {len(PING)}',
        'Accept: application/json, text/event-stream', *fields, '']), PING)


def test_both_eras_go_through_it():
    with door() as (url, _):
        for era in 'legacy', 'modern', 'auto':
            done = call(url, '--era', era, 'call', 'add', 'a=2', 'b=3')
            equal(done.expect(0).out.strip(), '5', era)


def test_http_sse_goes_through_it():
    with door('/sse', 'sse+unix') as (url, _):
        done = call(url, 'call', 'add', 'a=2', 'b=3').expect(0)
        equal(done.out.strip(), '5')


def test_streams_and_questions_go_through_it():
    with door() as (url, _):
        for era in 'legacy', 'modern':
            done = call(url, '--era', era, '--root', '/tmp', 'call',
                        'roots').expect(0)
            equal(done.out.strip(), '1 roots', era)


def test_the_socket_is_its_users_and_goes_with_the_server():
    with door() as (_, path):
        mode = os.stat(path).st_mode
        require(stat.S_ISSOCK(mode), 'no socket')
        equal(oct(mode & 0o777), '0o600')
    require(not path.exists(), 'the socket is left')


def test_curl_is_served():
    if not shutil.which('curl'):
        raise Skip('curl is not there')
    with door() as (_, path):
        done = run('curl', '-s', '--unix-socket', path, '-d', PING.decode(),
                   '-H', 'Content-Type: application/json', '-H',
                   'Accept: application/json, text/event-stream',
                   'http://localhost/mcp').expect(0)
        equal(json.loads(done.out), {'jsonrpc': '2.0', 'id': 1, 'result': {}})


def test_foreign_hosts_and_pages_are_refused():
    with door() as (_, path):
        contains(post(path), '200 OK')
        contains(post(path, host='evil.example'), ' 421 ')
        contains(post(path, 'Origin: http://evil.example'), ' 403 ')
        contains(post(path, target='/other'), ' 404 ')


def test_keys_are_asked_for():
    with folder() as place:
        key, file = 'k' * 32, Path(place) / 'key'
        file.write_text(key)
        file.chmod(0o600)
        with gateway('--api-key-file', file, '--', FAIRLEAD, 'demo',
                     '--listen', 'stdio:') as url:
            path = url[len('unix:'):-len('#/mcp')]
            contains(post(path), ' 401 ')
            contains(post(path, f'X-API-Key: {key}'), '200 OK')
            header = Path(place) / 'header'
            header.write_text(f'X-API-Key: {key}\n')
            for more in [], ['--http2']:
                done = call(url, 'call', 'add', 'a=2', 'b=3', '--header-file',
                            header, *more).expect(0)
                equal(done.out.strip(), '5', more)
        with started(FAIRLEAD, 'serve', '--control', 'none', '--listen',
                     f'unix:@{os.path.basename(place)}#/mcp',
                     '--api-key-file', file, '--', 'cat') as process:
            serving = Demo(process)
            until(lambda: serving.urls, 'it listens, as it asks who comes')
            serving.end()
            serving.reader.join(WAIT)


def test_the_peer_has_a_name():
    with gateway('--', FAIRLEAD, 'demo', '--listen', 'stdio:',
                 log=True) as (url, serving):
        call(url, 'ping').expect(0)
        until(lambda: any('"peer":"unix"' in line for line in serving.lines),
              'it is named')


def test_the_gateway_reaches_servers_through_it():
    with door() as (url, path):
        for behind in ([url], ['--era', 'legacy', url]):
            with gateway(*behind) as front:
                done = call(front, 'call', 'add', 'a=2', 'b=3').expect(0)
                equal(done.out.strip(), '5', behind)


def test_the_gateway_reads_it_in_a_file_as_vs_code_has_it():
    with door() as (_, path):
        file = path.parent / 'mcp.json'
        file.write_text(json.dumps({'servers': {'sums': {
            'type': 'http', 'url': f'unix://{path}#/mcp'}}}))
        with gateway('--config', file) as front:
            done = call(front, 'call', 'add', 'a=2', 'b=3').expect(0)
            equal(done.out.strip(), '5')


def test_connect_stands_before_it():
    with door() as (url, _):
        done = call('call', 'add', 'a=2', 'b=3', '--', FAIRLEAD, 'connect',
                    url).expect(0)
        equal(done.out.strip(), '5')


def test_no_proxy_is_asked():
    with door() as (url, _):
        env = {**os.environ, 'http_proxy': 'http://127.0.0.1:9',
               'ALL_PROXY': 'http://127.0.0.1:9'}
        done = run(FAIRLEAD, 'call', url, 'ping', env=env)
        done.expect(0)
        run(FAIRLEAD, 'doctor', url, env=env).expect(0)


def test_the_doctor_looks_through_it():
    with door() as (url, path):
        contains(run(FAIRLEAD, 'doctor', url).expect(0).out, 'Healthy')
        wrong = run(FAIRLEAD, 'doctor', f'unix:{path}#/wrong')
        contains(wrong.out, f'use {url}.')
        lines = run(FAIRLEAD, 'doctor', f'unix:{path}')
        contains(lines.out, f"try 'fairlead doctor {url}'")
        sse = run(FAIRLEAD, 'doctor', f'sse+unix:{path}#/sse')
        contains(sse.out, 'names where to post to')
        gone = run(FAIRLEAD, 'doctor', f'unix:{path}.none#/mcp')
        contains(gone.out, 'is its socket there?')


def test_slashes_are_as_many_as_it_takes():
    with door() as (_, path):
        file = path.parent / 'mcp.json'
        for front in 'unix:', 'unix://', 'unix:///', 'sse+unix://':
            target = 'sse' if front.startswith('sse') else 'mcp'
            url = f'{front}{path}#/{target}'
            equal(call(url, 'call', 'add', 'a=2', 'b=3').expect(0).out, '5\n',
                  url)
            file.write_text(json.dumps({'mcpServers': {'a': {'url': url}}}))
            with gateway('--config', file) as front_url:
                done = call(front_url, 'call', 'add', 'a=2', 'b=3').expect(0)
                equal(done.out, '5\n', url)


def test_the_bench_measures_through_it():
    with door() as (url, _):
        done = run(FAIRLEAD, 'bench', url, '--json', '--duration', '0.2',
                   '--warmup', '0.1', '--connections', '4').expect(0)
        equal(json.loads(done.out)['faults']['all'], 0)


def test_what_is_wrong_is_said():
    with folder() as place:
        missing = f'{place}/none'
        contains(call(f'unix:{missing}#/mcp', 'ping').expect(2).err,
                 f'cannot connect to {missing}')
        contains(call(f'unix:{missing}#mcp', 'ping').expect(1).err,
                 'unix:/PATH#/TARGET')
        contains(call(f'unix:{missing}#/mcp', '--auth', 'code',
                      'ping').expect(1).err, '--auth')


if __name__ == '__main__':
    sys.exit(main(__name__))
