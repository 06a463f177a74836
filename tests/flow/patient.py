#!/usr/bin/env python3
"""patient.py ILLNESS [FILE] - an MCP server on stdio with one thing wrong.

Without an illness it is of the legacy era and in good health. Each illness is
one entry below: what it answers to a method instead, or how it behaves.
"""
import json
import os
import signal
import subprocess
import sys
import time

REVISIONS = ('2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05')
OBJECT = {'type': 'object'}


def tool(name='good', **more):
    return {'name': name, 'description': 'Does good.', 'inputSchema': OBJECT,
            **more}


def without(thing, key):
    return {name: value for name, value in thing.items() if name != key}


def ok(result):
    return {'result': result}


def error(code, message='no'):
    return {'error': {'code': code, 'message': message}}


def tools(*some, **more):
    return lambda params: ok({'tools': list(some), **more})


def hello(params, **more):
    asked = params['protocolVersion']
    return ok({'protocolVersion': asked if asked in REVISIONS
               else REVISIONS[0], 'capabilities': {'tools': {}},
               'serverInfo': {'name': 'patient', 'version': '1'}, **more})


def picky(params):
    known = params['protocolVersion'] in REVISIONS
    return hello(params) if known else error(-32602, 'unsupported version')


def pages(params):
    at = int(params.get('cursor', '0'))
    more = {'nextCursor': str(at + 1)} if at < 4 else {}
    return ok({'tools': [tool(f'tool{at}')], **more})


def discovered(params):
    return ok({'supportedVersions': ['2026-07-28'],
               'capabilities': {'tools': {}}})


HEALTH = {'initialize': hello, 'ping': lambda params: ok({}),
          'tools/list': tools(tool())}
OFFERS = {'tools': {}, 'resources': {}, 'prompts': {}}

ILLNESS = {
    'nameless': {'initialize': lambda p: hello(p, serverInfo={'name': 'x'})},
    'uncapable': {'initialize': lambda p: hello(p, capabilities=[])},
    'offers-nothing': {'initialize': lambda p: hello(p, capabilities={})},
    'visionary': {'initialize': lambda p: hello(
        p, protocolVersion='2099-01-01')},
    'picky': {'initialize': picky},
    'old': {'initialize': lambda p: hello(p, protocolVersion='2024-11-05')},
    'mute-discover': {'server/discover': lambda p: None},
    'dies-at-discover': {'server/discover': lambda p: sys.exit(1)},
    'typeless': {'server/discover': discovered},
    'pingless': {'ping': lambda p: error(-32601)},
    'agreeable': {'*': lambda p: ok({})},
    'vague': {'*': lambda p: error(-32603, 'boom')},
    'deaf': {'fairlead/no-such-method': lambda p: None},
    'pages': {'tools/list': pages},
    'endless': {'tools/list': tools(tool(), nextCursor='again')},
    'null-cursor': {'tools/list': tools(tool(), nextCursor=None)},
    'listless': {'tools/list': lambda p: ok({'items': []})},
    'boaster': {'tools/list': lambda p: error(-32601)},
    'twins': {'tools/list': tools(tool(), tool(), tool('other'))},
    'anonymous': {'tools/list': tools(without(tool(), 'name'))},
    'odd-name': {'tools/list': tools(tool('two words'))},
    'long-name': {'tools/list': tools(tool('x' * 61))},
    'undescribed': {'tools/list': tools(without(tool(), 'description'))},
    'schemaless': {'tools/list': tools(without(tool(), 'inputSchema'))},
    'bad-schema': {'tools/list': tools(tool(
        inputSchema={'type': 'object', 'properties': {'a': {
            'type': 'text'}}}))},
    'not-object': {'tools/list': tools(tool(inputSchema={'type': 'string'}))},
    'bad-output': {'tools/list': tools(tool(outputSchema={'type': 'array'}))},
    'many': {'tools/list': tools(*(tool(f't{i}') for i in range(101)))},
    'uriless': {
        'initialize': lambda p: hello(p, capabilities=OFFERS),
        'resources/list': lambda p: ok({'resources': [{'name': 'x'}]}),
        'prompts/list': lambda p: ok({'prompts': [
            {'name': 'a'}, {'name': 'a'}]})},
    'terminal': {'initialize': lambda p: hello(p, serverInfo={
        'name': '\x1b[2Jgone\u202e', 'version': '1\n2'})},
}


def mangle(kind, token):
    """An id that is not what it was."""
    if kind == 'ids-to-numbers' and isinstance(token, str):
        return int(token) if token.isdigit() else token
    if kind == 'ids-to-floats' and isinstance(token, int):
        return int(float(token))
    if kind == 'one-id' and token != 1:
        return 1
    return token


def begin(kind, path):
    if kind == 'banner':
        print('Starting the \x1b[31mserver\x07...', flush=True)
    elif kind == 'framed':
        print('Content-Length: 120\r\n\r', flush=True)
    elif kind == 'early':
        sys.exit('GITHUB_TOKEN is not set')
    elif kind == 'crash':
        os.kill(os.getpid(), signal.SIGSEGV)
    elif kind == 'port':
        print('Listening on http://127.0.0.1:3000', file=sys.stderr,
              flush=True)
    elif kind == 'slow' and not os.path.exists(path):
        time.sleep(5.2)
        with open(path, 'w', encoding='ascii'):
            pass
    elif kind == 'immortal':
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def end(kind):
    if kind in ('stubborn', 'immortal'):
        time.sleep(600)
    elif kind == 'father':
        subprocess.Popen(['sleep', '600'], start_new_session=True)
    elif kind == 'grumpy':
        sys.exit(3)


def answer(kind, message):
    habits = {**HEALTH, **ILLNESS.get(kind, {})}
    do = habits.get(message['method'], habits.get('*'))
    return do(message.get('params', {})) if do else error(-32601)


def main(kind='', path=''):
    begin(kind, path)
    for line in sys.stdin:
        message = json.loads(line)
        said = None if kind in ('silent', 'port') or 'id' not in message \
            else answer(kind, message)
        if said is not None:
            print(json.dumps({'jsonrpc': '2.0', 'id': mangle(
                kind, message['id']), **said}), flush=True)
    end(kind)


if __name__ == '__main__':
    main(*sys.argv[1:])
