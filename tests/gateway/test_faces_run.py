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
from flow import FAIRLEAD, Demo, equal, folder, started
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

if __name__ == '__main__':
    sys.exit(main())
