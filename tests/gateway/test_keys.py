#!/usr/bin/env python3
"""test_keys.py - a gateway whose clients must show a key: who comes in, that
each key is a user of its own, and that no key is ever seen anywhere.

And what pages, proxies and clients are told: --allow-header, --expose-header,
--base-url, --hide-tool. Prints TAP. FAIRLEAD names the program.
"""
import contextlib
import os
import shutil
import signal
import sys
from pathlib import Path
from urllib.parse import quote

from cases import fact, folder, gateway, main, scripted
from clients import PATIENCE, Http
from doors import door
from flow import FAIRLEAD, SLOW, contains, equal, require, run, until
from scenes import L1, L4, MODERN
from sockets import HANDSHAKE

ADA, BOB = 'ada-0123456789abcdef', 'bob-fedcba9876543210'
WRONG = 'eve-0123456789abcdef'
NAME = 'FL_TEST_KEY'
WAYS = (('http', L4), ('http', MODERN), ('sse', L1), ('ws', L4))


def shown(key, bearer=False):
    """The header that shows it."""
    return {'Authorization': f'Bearer {key}'} if bearer else {'X-API-Key': key}


@contextlib.contextmanager
def keyed(server, *options, keys=f'{ADA}\n{BOB}\n', **more):
    """The gateway, and a function that changes its file of keys."""
    with folder() as place:
        path = Path(place) / 'keys'
        path.write_text(keys)

        def change(text):
            before = told()
            path.write_text(text)
            gate.demo.process.send_signal(signal.SIGHUP)
            until(lambda: told() > before, 'the keys to be read again')

        def told():
            return sum('read again' in line or 'stay as they were' in line
                       for line in gate.demo.lines)

        with gateway(server, '--api-key-file', path, *options,
                     **more) as gate:
            yield gate, change


@contextlib.contextmanager
def variable(value):
    os.environ[NAME] = value
    try:
        yield
    finally:
        del os.environ[NAME]


def started(server):
    return [one['pid'] for one in server.seen('started')]


def greets(gate, way, revision, **more):
    with gate.client(way, revision, **more) as client:
        client.begin()
        equal(client.text('echo', {'text': 'x'}), 'x')


# Who comes in.


def right_keys_come_in():
    with scripted('stdio', L4) as server, keyed(server) as (gate, _):
        for way, revision in WAYS:
            for key in (ADA, BOB):
                for bearer in (False, True):
                    greets(gate, way, revision, fields=shown(key, bearer))


def ask(gate, way, fields):
    """A request of that kind, on its way."""
    url = gate.urls['http']
    path = {'sse': '/sse', 'messages': '/messages?sessionId=x'}.get(way, '/mcp')
    client = Http(url.removesuffix('/mcp') + path, MODERN, fields=fields)
    client.open()
    if way == 'sse':
        return client.fly('GET', None, {'Accept': 'text/event-stream'})
    if way == 'ws':
        return client.fly('GET', None, HANDSHAKE)
    if way == 'delete':
        return client.fly('DELETE', None, {'Mcp-Session-Id': 'x'})
    if way == 'modern':
        return client.send(client.compose('tools/list'))
    return client.fly('POST', b'{"jsonrpc":"2.0","id":1,"method":"initialize",'
                      b'"params":{}}', {'Content-Type': 'application/json'})


ENTRIES = ('legacy', 'modern', 'sse', 'messages', 'ws', 'delete')


def no_key_gets_401(fields, message, challenge):
    with scripted('stdio', L4) as server, keyed(server) as (gate, _):
        for way in ENTRIES:
            flight = ask(gate, way, fields).expect(401)
            require(flight.done.wait(PATIENCE), 'no body')
            contains(flight.body.decode(), message)
            contains(flight.body.decode(), '"jsonrpc":"2.0"')
            require(WRONG.encode() not in flight.body, flight.body)
            equal(flight.fields['www-authenticate'], challenge)
        equal(started(server), [], 'children for strangers')


fact('a right key comes in, by either header, on every transport',
     right_keys_come_in)
fact('no key is told what is missing', lambda: no_key_gets_401(
    {}, 'a key is missing: send X-API-Key: KEY', 'Bearer realm="mcp"'))
for _bearer in (False, True):
    fact(f'a wrong key does not come in, {"Bearer" if _bearer else "X-API-Key"}',
         lambda bearer=_bearer: no_key_gets_401(
             shown(WRONG, bearer), 'none of the server',
             'Bearer realm="mcp", error="invalid_token"'))


def variables_have_keys_too():
    with scripted('stdio', L4) as server, variable(WRONG), \
            keyed(server, '--api-key-env', NAME) as (gate, change):
        for key in (ADA, WRONG):
            greets(gate, 'http', MODERN, fields=shown(key))
        change(BOB)
        ask(gate, 'modern', shown(ADA)).expect(401)
        for key in (BOB, WRONG):
            greets(gate, 'http', MODERN, fields=shown(key))


fact('keys of variables, beside those of a file', variables_have_keys_too)


def health_and_preflight_are_open():
    with scripted('stdio', L4) as server, \
            keyed(server, '--health', '/up', '--allow-header', 'X-Team',
                  '--allow-header', 'X-Trace', '--expose-header', 'X-Cost') as (
                      gate, _):
        base = gate.urls['http'].removesuffix('/mcp')
        with Http(base + '/up', MODERN) as client:
            client.fly('GET', None, {}).expect(200)
        with Http(base + '/mcp', MODERN) as client:
            origin = {'Origin': 'http://localhost:1'}
            flight = client.fly('OPTIONS', None, {
                **origin, 'Access-Control-Request-Method': 'POST'}).expect(204)
            names = flight.fields['access-control-allow-headers'].split(', ')
            for name in ('X-API-Key', 'Authorization', 'X-Team', 'X-Trace'):
                contains(names, name)
            flight = client.fly('POST', b'{}', origin).expect(401)
            names = flight.fields['access-control-expose-headers'].split(', ')
            for name in ('WWW-Authenticate', 'Mcp-Session-Id', 'X-Cost'):
                contains(names, name)
        with Http(base + '/.well-known/oauth-protected-resource',
                  MODERN) as client:
            client.fly('GET', None, {}).expect(404)
        with Http(base + '/other', MODERN) as client:
            client.fly('GET', None, {}).expect(401)


fact('health, CORS and metadata need no key; --allow-header, --expose-header',
     health_and_preflight_are_open)


def all_servers_are_behind_them():
    with scripted('stdio', L4) as one, scripted('stdio', L4) as two, \
            variable(ADA), \
            door('--api-key-env', NAME, one=one, two=two) as gate:
        base = gate.urls['http'].removesuffix('/mcp')
        for path in ('/mcp', '/servers/one/mcp', '/servers/two/mcp'):
            prefix = '' if 'servers' in path else 'one__'
            with Http(base + path, MODERN) as client:
                client.send(client.compose('tools/list')).expect(401)
            with Http(base + path, MODERN, fields=shown(ADA)) as client:
                equal(client.text(prefix + 'echo', {'text': 'x'}), 'x')


fact('keys are for all servers behind the door', all_servers_are_behind_them)


# Each is a user of its own.


def two_keys_are_two_users(way, revision):
    with scripted('stdio', L4) as server, keyed(server) as (gate, _), \
            contextlib.ExitStack() as stack:
        for key, children in ((ADA, 1), (ADA, 1), (BOB, 2), (ADA, 2), (BOB, 2)):
            client = stack.enter_context(
                gate.client(way, revision, fields=shown(key, children == 2)))
            client.begin()
            equal(client.text('echo', {'text': 'x'}), 'x')
            equal(len(started(server)), children, f'children after {key}')


for _way, _revision in WAYS:
    fact(f'two keys are two users, one is one: {_way}, {_revision}',
         lambda way=_way, revision=_revision: two_keys_are_two_users(
             way, revision))


def one_user_on_all_transports():
    with scripted('stdio', L4) as server, keyed(server) as (gate, _), \
            contextlib.ExitStack() as stack:
        for way, revision in WAYS:
            client = stack.enter_context(
                gate.client(way, revision, fields=shown(ADA)))
            client.begin()
            equal(client.text('echo', {'text': 'x'}), 'x')
        equal(len(started(server)), 1)


fact('one key is one user on all transports, in both eras',
     one_user_on_all_transports)


def two_users_of_all_servers():
    """Where the servers are one, their keys go along."""
    with scripted('stdio', L4) as one, scripted('stdio', L4) as two, \
            variable(ADA), folder() as place, contextlib.ExitStack() as stack:
        path = Path(place) / 'keys'
        path.write_text(BOB)
        gate = stack.enter_context(door('--api-key-env', NAME, '--api-key-file',
                                        path, one=one, two=two))
        for key, children in ((ADA, 1), (ADA, 1), (BOB, 2)):
            client = stack.enter_context(
                gate.client('http', MODERN, fields=shown(key)))
            equal(client.text('one__echo', {'text': 'x'}), 'x')
            equal(len(started(one)), children)


fact('two keys are two users of all servers together', two_users_of_all_servers)


def sessions_are_of_their_keys():
    with scripted('stdio', L4) as server, keyed(server) as (gate, _), \
            gate.client('http', L4, fields=shown(ADA)) as ada, \
            gate.client('http', L4, fields=shown(BOB)) as bob:
        ada.begin()
        bob.session, bob.agreed = ada.session, ada.agreed
        message = bob.compose('tools/call', {'name': 'echo'}, 7)
        bob.send(message).expect(404)
        bob.get().expect(404)
        bob.delete().expect(404)
        equal(ada.text('echo', {'text': 'x'}), 'x')
    with scripted('stdio', L4) as server, keyed(server) as (gate, _), \
            gate.client('sse', L1, fields=shown(ADA)) as ada, \
            gate.client('sse', L1, fields=shown(BOB)) as bob:
        ada.begin()
        bob.endpoint = ada.endpoint
        bob.send(bob.compose('tools/call', {'name': 'echo'}, 7)).expect(404)
        equal(ada.text('echo', {'text': 'x'}), 'x')


fact('a session is of the key that opened it', sessions_are_of_their_keys)


def turns(options, waits):
    """Whether a call waits for the end of another that may ask."""
    with scripted('stdio', L4) as server, gateway(server, *options) as gate, \
            gate.client('http', MODERN, fields=shown(ADA)) as one, \
            gate.client('http', MODERN, fields=shown(ADA)) as two:
        one.request('tools/call', {'name': 'wait', 'arguments': {}}, 1)
        server.await_heard('tools/call')
        number = two.request('tools/call', {
            'name': 'echo', 'arguments': {'text': 'x'}}, 2)
        if waits:
            two.never(lambda said: said.get('id') == 2, 'an answer')
        else:
            contains(two.answer(number), 'result')


def keys_need_not_take_turns():
    with variable(ADA):
        turns(('--api-key-env', NAME), False)
        turns(('--api-key-env', NAME, '--one-at-a-time'), True)
        turns((), True)


fact('clients with a key need not take turns', keys_need_not_take_turns)


# They change.


def reload_changes_them():
    with scripted('stdio', L4) as server, \
            keyed(server, '--log-level', 'info') as (gate, change), \
            gate.client('http', L4, fields=shown(ADA)) as ada, \
            gate.client('http', L4, fields=shown(BOB)) as bob, \
            gate.client('ws', L4, fields=shown(BOB)) as socket:
        for client in (ada, bob, socket):
            client.begin()
            equal(client.text('echo', {'text': 'x'}), 'x')
        stream = bob.get().expect(200)
        change(f'# the others\n{WRONG}  # Eve\'s\n\n{ADA}\n')
        equal(ada.text('echo', {'text': 'x'}), 'x')
        equal(len(started(server)), 2)
        ask(gate, 'modern', shown(BOB)).expect(401)
        greets(gate, 'http', MODERN, fields=shown(WRONG))
        require(stream.done.wait(PATIENCE), "Bob's stream goes on")
        require(socket.over.wait(PATIENCE), "Bob's socket goes on")
        for text, why in (('', 'there is no key in'),
                          (f'{ADA}\nshort\n', 'line 2: a key of 5 characters'),
                          (f'{ADA} {BOB}\n', 'line 1: one key a line')):
            change(text)
            contains(''.join(gate.demo.lines), why)
            contains(''.join(gate.demo.lines), 'the keys stay as they were')
            equal(ada.text('echo', {'text': 'x'}), 'x')
            greets(gate, 'http', MODERN, fields=shown(WRONG))


fact('SIGHUP: the file is read again', reload_changes_them)


# They are seen nowhere.


def they_are_seen_nowhere():
    with scripted('stdio', L4) as server, variable(ADA), \
            keyed(server, '--api-key-env', NAME, '--inherit-env', '*',
                  '--log-level', 'debug', keys=BOB) as (gate, change):
        for key in (ADA, BOB):
            for way, revision in WAYS:
                greets(gate, way, revision, fields=shown(key))
        ask(gate, 'modern', shown(WRONG)).expect(401)
        pid = gate.demo.process.pid
        with gate.client('http', L4, fields=shown(BOB)) as client:
            client.begin()
            done = run(FAIRLEAD, 'ps', pid).expect(0)
            contains(done.out, ' key ')
            seen = done.out + run(FAIRLEAD, 'ps', '--json', pid).out
        change(BOB + '\n' + WRONG + ' x')
        seen += server.path.read_text()
        for one in (pid, *started(server)):
            for name in ('cmdline', 'environ'):
                seen += Path(f'/proc/{one}/{name}').read_text()
        if shutil.which('ps'):
            seen += run('ps', 'eww', '-p', ','.join(
                str(one) for one in (pid, *started(server)))).out
    seen += ''.join(gate.demo.lines)
    contains(seen, 'client came')
    contains(seen, 'PATH=')
    for key in (ADA, BOB, WRONG):
        require(key not in seen, key, 'is seen:',
                [line for line in seen.splitlines() if key in line][:3])


fact('no key is in a log, an environment, a list of processes',
     they_are_seen_nowhere)


# What cannot be.


def refused(*words, why):
    done = run(FAIRLEAD, 'serve', *words, '--', 'true').expect(1)
    contains(done.err, why)
    for key in (ADA, BOB, 'short-key-of-15'):
        require(key not in done.err, 'the key is told:', done.err)


def what_cannot_be_is_said():
    with variable('short-key-of-15'):
        refused('--api-key-env', NAME, why='a key of 15 characters can be '
                'guessed; want 16 or more')
    refused('--api-key-env', NAME, why=f'the variable {NAME} is not set')
    refused('--api-key-file', '/nowhere/keys', why="'/nowhere/keys'")
    with variable(ADA):
        refused('--api-key-env', NAME, '--listen', 'tcp://127.0.0.1:0',
                why='there is no such --listen')
        refused('--api-key-env', NAME, '--listen', 'http://127.0.0.1:0/mcp',
                '--listen', 'tcp://0.0.0.0:0', '--insecure-no-auth',
                why='keys are shown over HTTP and WebSocket only')
        done = run(FAIRLEAD, 'connect', '--api-key-env', NAME,
                   'http://127.0.0.1:1/mcp').expect(1)
        contains(done.err, 'there is no such --listen')
    refused('--listen', 'http://0.0.0.0:0/mcp', why='--api-key-file')
    refused('--allow-short-keys', why='there are none')
    refused('--base-url', 'example.org', why='http.base_url')
    refused('--allow-header', 'a b', why='http.allow_headers')
    refused('--expose-header', 'a:', why='http.expose_headers')


def what_can_be():
    with scripted('stdio', L4) as server, variable('short'):
        with gateway(server, '--api-key-env', NAME,
                     '--allow-short-keys') as gate:
            greets(gate, 'http', MODERN, fields=shown('short'))
    with scripted('stdio', L4) as server, variable(ADA):
        with gateway(server, '--api-key-env', NAME,
                     fronts=('tcp', 'http')) as gate:
            greets(gate, 'tcp', L4)  # loopback, where all are at home
            ask(gate, 'modern', {}).expect(401)
        with gateway(server, '--api-key-env', NAME, '--listen',
                     'http://0.0.0.0:0/mcp') as gate:
            until(lambda: 'in the clear' in ''.join(gate.demo.lines),
                  'a warning', 10 * SLOW)


ODD = 'odd+and%41&this=0123456789'


def stream(gate, key, path='/sse', method='GET', fields=None):
    """A request with its key in the query, as it is to be written there."""
    url = gate.urls['http'].removesuffix('/mcp')
    mark = '&' if '?' in path else '?'
    client = Http(f'{url}{path}{mark}token={quote(key, safe="")}', MODERN)
    client.open()
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    return client.fly(method, None if method == 'GET' else body, {
        'Accept': 'text/event-stream', 'Content-Type': 'application/json',
        **(fields or {})})


def key_in_query():
    with scripted('stdio', L4) as server, \
            keyed(server, '--key-in-query',
                  keys=f'{ADA}\n{ODD}\n') as (gate, change):
        for key in (ADA, ODD):
            flight = stream(gate, key).expect(200)
            until(lambda: 'sessionId=' in str(flight.events), 'an endpoint')
            require(key not in str(flight.events), 'the key is told')
        for key in (WRONG, '', ADA + 'x', ADA[:-1]):
            stream(gate, key).expect(401)
        for path, method, fields in (
                ('/mcp', 'GET', {}), ('/mcp', 'POST', {}),
                ('/mcp', 'GET', HANDSHAKE), ('/sse', 'POST', {}),
                ('/messages?sessionId=x', 'POST', {}), ('/none', 'GET', {})):
            stream(gate, ADA, path, method, fields).expect(401)
        said = ''.join(gate.demo.lines)
        for key in (ADA, ODD, quote(ODD, safe='')):
            require(key not in said, 'it is in the log')
    with scripted('stdio', L4) as server, keyed(server) as (gate, _):
        stream(gate, ADA).expect(401)  # it was not asked for
    done = run(FAIRLEAD, 'serve', '--key-in-query', '--', 'cat')
    contains(done.expect(1).err, '--api-key-file')


fact('--key-in-query: the stream of HTTP+SSE alone', key_in_query)
fact('what cannot be is said before anything starts', what_cannot_be_is_said)
fact('short keys, local sockets and public addresses, if one wants them',
     what_can_be)


# What clients are told.


def base_url():
    for base in ('https://example.org/gate', 'https://example.org/gate/'):
        with scripted('stdio', L4) as server, \
                gateway(server, '--base-url', base, '--name', 'a') as gate:
            with gate.client('sse', L1) as client:
                require(client.endpoint.startswith(
                    'https://example.org/gate/messages?sessionId='),
                    client.endpoint)
                # as a proxy that takes the prefix away would have it
                client.endpoint = client.endpoint.removeprefix(
                    'https://example.org/gate')
                client.begin()
                equal(client.text('echo', {'text': 'x'}), 'x')


fact('--base-url: where clients of HTTP+SSE post to', base_url)


def hide_tool():
    for back, revision in (('stdio', L4), ('http', MODERN)):
        with scripted(back, revision) as server, \
                gateway(server, '--hide-tool', 'ec*', '--hide-tool',
                        'wait') as gate, \
                gate.client('http', MODERN) as client:
            names = {one['name'] for one in client.ask('tools/list')['tools']}
            contains(names, 'slow')
            equal(names & {'echo', 'wait'}, set())
            equal(client.error('tools/call', {'name': 'echo'})['message'],
                  'Unknown tool')
            equal(server.heard('tools/call'), [])


fact('--hide-tool: neither listed nor called', hide_tool)

if __name__ == '__main__':
    sys.exit(main())
