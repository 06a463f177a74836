#!/usr/bin/env python3
"""test_faces_run.py - fairlead as the programs it stands in for, at work: with
their flags, a server behind, and clients of the transport they promise.

Prints TAP. FAIRLEAD names the program.
"""
import contextlib
import os
import subprocess
import sys
from pathlib import Path

from cases import end, fact, main, wait_for
from clients import Http, Pipe, Sse, Ws, stdio, trace
from flow import (FAIRLEAD, WAIT, Demo, contains, equal, folder, require,
                  started)
from scenes import L1, L4, MODERN

DEMO = [os.path.abspath(FAIRLEAD), 'demo', '--listen', 'stdio:']
LINE = ' '.join(DEMO)


@contextlib.contextmanager
def running(*words):
    """Where it listens."""
    with started(FAIRLEAD, *words, stdin=subprocess.DEVNULL) as process:
        one = Demo(process)
        try:
            wait_for(one, 1)
            yield one.urls[0]
        finally:
            fine = end(process)
            for line in one.lines:
                trace('gateway', '##', line.rstrip('\n'))
        equal(fine, True, 'it ended with 0 when told to')


def works(client):
    with client:
        client.begin()
        equal(client.text('echo', {'text': 'h\u00e9'}), 'h\u00e9')


def supergateway(way, make):
    with running('supergateway', '--stdio', LINE, '--port', '0',
                 '--outputTransport', way) as url:
        works(make(url))


fact('supergateway: stdio to streamableHttp',
     lambda: supergateway('streamableHttp', lambda url: Http(url, MODERN)))
fact('supergateway: stdio to sse',
     lambda: supergateway('sse', lambda url: Sse(
         url.replace('/mcp', '/sse'), L1)))
fact('supergateway: stdio to ws',
     lambda: supergateway('ws', lambda url: Ws(url, L4)))


def ends_with_its_pipe():
    with started(FAIRLEAD, 'supergateway', '--stdio', LINE, '--port', '0') \
            as process:
        one = Demo(process)
        wait_for(one, 1)
        process.stdin.write(b'x')  # is not read, and ends nothing
        process.stdin.flush()
        works(Sse(one.urls[0].replace('/mcp', '/sse'), L1))
        equal(process.poll(), None)
        process.stdin.close()
        equal(process.wait(WAIT), 0)


fact('supergateway: ends when the pipe on its stdin is closed',
     ends_with_its_pipe)


def stateful():
    with running('supergateway', '--stdio', LINE, '--port', '0',
                 '--outputTransport', 'streamableHttp', '--stateful',
                 '--healthEndpoint', '/healthz', '--healthEndpoint',
                 '/healthz') as url:
        works(Http(url, L4))
        with Http(url.replace('/mcp', '/healthz'), L4) as client:
            client.fly('GET', None, {}).expect(200)


fact('supergateway: --stateful, --healthEndpoint', stateful)


def remote(flag, make):
    with running('demo', '--listen', 'http://127.0.0.1:0/mcp') as url:
        works(Pipe(stdio([FAIRLEAD, 'supergateway', flag, make(url)]), L4))


fact('supergateway: streamableHttp to stdio',
     lambda: remote('--streamableHttp', lambda url: url))
fact('supergateway: sse to stdio',
     lambda: remote('--sse', lambda url: url.replace('/mcp', '/sse')))


def of_npm():
    with running('mcp-proxy', '--port', '0', '--', *DEMO) as url:
        works(Http(url, L4))
        works(Http(url, MODERN))
        works(Sse(url.replace('/mcp', '/sse'), L1))


fact('mcp-proxy of npm: both transports', of_npm)


def with_key(words, key):
    """Of npm: with its key, from the environment as well."""
    origin = {'Origin': 'https://app.example.org'}
    with running('mcp-proxy', '--host', '127.0.0.1', '--port', '0', *words,
                 '--corsAddAllowedHeader', 'X-Team', '--', *DEMO) as url:
        for fields in ({'X-API-Key': key}, {'Authorization': f'Bearer {key}'}):
            works(Http(url, L4, fields=fields))
            works(Http(url, MODERN, fields={**fields, **origin}))
            works(Sse(url.replace('/mcp', '/sse'), L1, fields=fields))
            works(Ws(url.replace('http', 'ws'), L4, fields=fields))
        with Http(url, MODERN) as client:
            client.send(client.compose('tools/list')).expect(401)
            flight = client.fly('OPTIONS', None, {
                **origin, 'Access-Control-Request-Method': 'POST'}).expect(204)
            contains(flight.fields['access-control-allow-headers'], 'X-Team')


def npm_key():
    key = 'npm-0123456789abcdef'
    with_key(['--apiKey', key], key)
    with_key(['--apiKey', 'short'], 'short')
    os.environ['MCP_PROXY_API_KEY'] = key
    try:
        with_key([], key)
    finally:
        del os.environ['MCP_PROXY_API_KEY']


fact('mcp-proxy of npm: --apiKey, --corsAddAllowedHeader', npm_key)


def npm_key_is_not_seen(words, **environment):
    key = 'npm-0123456789abcdef'
    with started(FAIRLEAD, 'mcp-proxy', '--host', '127.0.0.1', '--port', '0',
                 *words, '--', *DEMO, stdin=subprocess.DEVNULL,
                 env={**os.environ, **environment}) as process:
        one = Demo(process)
        wait_for(one, 1)
        works(Http(one.urls[0], MODERN, fields={'X-API-Key': key}))
        children = Path(f'/proc/{process.pid}/task/{process.pid}/children')
        for pid in (process.pid, *children.read_text().split()):
            for name in ('cmdline', 'environ'):
                said = Path(f'/proc/{pid}/{name}').read_bytes()
                require(said, 'there is no', name, 'of', pid)
                require(key.encode() not in said, 'the key is in', name)
        equal(end(process), True, 'it ended with 0 when told to')
        require(key not in ''.join(one.lines), one.lines)


fact('mcp-proxy of npm: the key is in no list of processes',
     lambda: npm_key_is_not_seen(['--apiKey', 'npm-0123456789abcdef']))
fact('mcp-proxy of npm: nor is one from the environment',
     lambda: npm_key_is_not_seen([], MCP_PROXY_API_KEY='npm-0123456789abcdef'))


def base_url():
    with running('supergateway', '--stdio', LINE, '--port', '0', '--baseUrl',
                 'https://example.org/gate') as url:
        with Sse(url.replace('/mcp', '/sse'), L1,
                 fields={'Host': 'example.org'}) as client:
            contains(client.endpoint, 'https://example.org/gate/message?')


fact('supergateway: --baseUrl', base_url)


def of_python():
    with running('mcp-proxy', '--named-server', 'a', LINE, '--named-server',
                 'b', LINE, '--port', '0') as url:
        base = url.removesuffix('/mcp')
        for name in 'ab':
            works(Http(f'{base}/servers/{name}/mcp', L4))
            works(Sse(f'{base}/servers/{name}/sse', L1))
        with Http(f'{base}/status', L4) as client:
            client.fly('GET', None, {}).expect(200)


fact('mcp-proxy of Python: servers with names', of_python)


def python_pages():
    with running('mcp-proxy', '--port', '0', '--allow-origin',
                 'https://app.example.org', '--expose-header', 'X-Cost', '--',
                 *DEMO) as url:
        with Http(url, MODERN, fields={
                'Origin': 'https://app.example.org'}) as client:
            flight = client.send(client.compose('tools/list')).expect(200)
            contains(flight.fields['access-control-expose-headers'], 'X-Cost')


fact('mcp-proxy of Python: --allow-origin, --expose-header', python_pages)


def file_of_python():
    with folder() as place:
        path = Path(place) / 'servers.json'
        path.write_text('{"mcpServers": {"a": {"command": "%s", "args": '
                        '["demo", "--listen", "stdio:"], "timeout": 60000, '
                        '"transportType": "stdio"}}}' % DEMO[0])
        with running('mcp-proxy', '--named-server-config', path, '--port',
                     '0') as url:
            works(Http(url.removesuffix('/mcp') + '/servers/a/mcp', L4))


fact('mcp-proxy of Python: a file of servers', file_of_python)


def from_python():
    with running('demo', '--listen', 'http://127.0.0.1:0/mcp') as url:
        works(Pipe(stdio([FAIRLEAD, 'mcp-proxy', url.replace('/mcp', '/sse')]),
                   L4))
        works(Pipe(stdio([FAIRLEAD, 'mcp-proxy', '--transport',
                          'streamablehttp', url]), L4))


fact('mcp-proxy of Python: a URL to stdio', from_python)


def mcp_remote():
    with running('demo', '--listen', 'http://127.0.0.1:0/mcp') as url, \
            folder() as place:
        os.environ['MCP_REMOTE_CONFIG_DIR'] = place
        works(Pipe(stdio([FAIRLEAD, 'mcp-remote', url]), L4))
        works(Pipe(stdio([FAIRLEAD, 'mcp-remote', url, '--header',
                          'X-Team:blue']), MODERN))


fact('mcp-remote: a URL to stdio', mcp_remote)


def ignored_tools():
    with running('demo', '--listen', 'http://127.0.0.1:0/mcp') as url, \
            folder() as place:
        os.environ['MCP_REMOTE_CONFIG_DIR'] = place
        with Pipe(stdio([FAIRLEAD, 'mcp-remote', url, '--ignore-tool', 'ec*',
                         '--ignore-tool', 'time']), L4) as client:
            client.begin()
            names = {one['name'] for one in client.ask('tools/list')['tools']}
            contains(names, 'add')
            equal(names & {'echo', 'time'}, set())
            client.error('tools/call', {'name': 'echo', 'arguments': {}})


fact('mcp-remote: --ignore-tool', ignored_tools)

if __name__ == '__main__':
    sys.exit(main())
