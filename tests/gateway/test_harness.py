#!/usr/bin/env python3
"""test_harness.py - that the scripted clients and the scripted server are what
they claim to be, without a gateway: each against fairlead's own other end.

Prints TAP. FAIRLEAD names the program.
"""
import contextlib
import sys
import threading

from cases import (FAIRLEAD, Gateway, Scripted, case, fact, gateway, main,
                   scripted)
from clients import Pipe, Sse, stdio, text_of
from flow import call, contains, equal, require
from scenes import KEY, L1, L3, L4, LEGACY, MODERN, STATE
from test_isolation import check, converse

FRONTS = ('stdio', 'tcp', 'unix', 'http', 'sse', 'ws')
BACKS = ('stdio', 'tcp', 'http', 'sse', 'ws')


def demo():
    """`fairlead demo` instead of the gateway."""
    return gateway(Scripted([], '/dev/null'), verb='demo',
                   fronts=('tcp', 'unix', 'http'))


def reach(gate, way, revision, **more):
    if way == 'stdio':
        return Pipe(stdio([FAIRLEAD, 'demo', '--listen', 'stdio:']), revision,
                    **more)
    return gate.client(way, revision, **more)


def client_works(way, revision):
    with demo() as gate, reach(gate, way, revision) as client:
        client.begin()
        contains([one['name'] for one in client.ask('tools/list')['tools']],
                 'echo')
        equal(client.text('echo', {'text': 'h\u00e9'}), 'h\u00e9')
        client.call('slow', {'steps': 2, 'delay_ms': 10},
                    meta={'progressToken': 'p'})
        heard = client.notification('notifications/progress')
        equal(heard['progressToken'], 'p')


def server_works(way, revision):
    with scripted(way, revision) as server:
        words = server.target
        if words[0] == '--':
            done = call('call', 'echo', 'text=hi', *words)
        else:
            done = call(*words, 'call', 'echo', 'text=hi')
        done.expect(0, 'hi\n')
        seen, = server.heard('tools/call')
        equal(seen['message']['params']['arguments'], {'text': 'hi'})
        equal('initialize' in server.methods(), revision != MODERN)
        if way == 'http' and revision == MODERN:
            equal((seen['headers']['mcp-method'], seen['headers']['mcp-name']),
                  ('tools/call', 'echo'))
        if way == 'http' and revision == L4:
            equal(seen['headers']['mcp-session-id'], 'session-1')


for one in FRONTS:
    for date in LEGACY + (MODERN,):
        if one == 'sse' and date == MODERN:
            continue
        fact(f'the client of {date} on {one} is understood',
             lambda one=one, date=date: client_works(one, date))
for one in BACKS:
    for date in LEGACY + (MODERN,):
        if one == 'sse' and date == MODERN:
            continue
        fact(f'the server of {date} on {one} is understood',
             lambda one=one, date=date: server_works(one, date))


@case('h1', 'a scripted elicitation reaches a client and is answered')
def elicits():
    for way in ('stdio', 'tcp', 'http'):
        with scripted(way, L3) as server:
            words = server.target
            more = ['--accept-defaults']
            done = call('call', 'elicit', *more, *words) \
                if words[0] == '--' else call(*words, 'call', 'elicit', *more)
            contains((0, 4), done.code)
            require(server.answers(), 'the server was not answered')


@case('h2', 'a scripted input_required is answered in a second round')
def asks_in_rounds():
    with scripted('http', MODERN) as server:
        call(*server.target, 'call', 'consult')
        first = server.heard('tools/call')[0]['message']['params']
        contains(first['_meta'], KEY + 'protocolVersion')


@case('h3', 'raw bytes are kept, and equal ids are told apart by their type')
def raw():
    with demo() as gate, gate.client('tcp', L4) as client:
        client.initialize()
        client.send(b'{"jsonrpc":"2.0","id":1.50,"method":"ping"}')
        one = client.take(lambda said: said.get('id') == 1.5, 'the pong')
        equal(one.raw, b'{"jsonrpc":"2.0","id":1.50,"result":{}}')


@case('h4', 'a stream that was dropped is resumed')
def resumes():
    with demo() as gate, gate.client('http', L4) as client:
        client.initialize()
        number = client.request('tools/call', {
            'name': 'slow', 'arguments': {'steps': 5, 'delay_ms': 100}},
            meta={'progressToken': 1})
        first = client.take(lambda said: 'method' in said, 'progress')
        client.flights[number].hang_up()
        client.get(first.event.decode()).expect(200)
        contains(client.answer(number), 'result')


@case('h5', 'a listen of the modern era is acknowledged and ended')
def listens():
    with demo() as gate, gate.client('http') as client:
        number = client.request('subscriptions/listen', {
            'notifications': {'toolsListChanged': True}}, 'l')
        heard = client.notification('notifications/subscriptions/acknowledged')
        equal(heard['_meta'][KEY + 'subscriptionId'], 'l')
        client.flights[number].hang_up()
        with gate.client('http', L1, name='other') as other:
            other.initialize()


@contextlib.contextmanager
def directly(way, revision, *manners):
    """(server, what makes a client of it), with nothing between."""
    with scripted(way, revision, *manners) as server:
        url = server.target[0]
        gate = Gateway(None, {'tcp': url, 'http': url.replace('ws', 'http')},
                       server, ())

        def make(**more):
            if way == 'stdio':
                return Pipe(stdio(server.target[1:]), revision, **more)
            if way == 'sse':
                return Sse(url.removeprefix('sse+'), revision, **more)
            return gate.client(way, revision, **more)
        yield server, make


def kept_apart(way, revision):
    trouble, barrier = [], threading.Barrier(2)
    with directly(way, revision) as (_, make), make(name='one') as one, \
            make(name='two') as two:
        threads = [threading.Thread(target=converse, args=(
            client, barrier, trouble)) for client in (one, two)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        require(not trouble, *trouble)
        check(one, 'two')
        check(two, 'one')


for one in BACKS:
    for date in (L4, MODERN):
        if one != 'sse' or date != MODERN:
            fact(f'two clients at the server of {date} on {one} are kept apart',
                 lambda one=one, date=date: kept_apart(one, date))


@case('h6', 'the modern server listens, asks and ends as it should')
def modern_scenes():
    for way in ('stdio', 'tcp', 'http', 'ws'):
        with directly(way, MODERN) as (server, make), make() as client:
            client.request('subscriptions/listen', {'notifications': {
                'toolsListChanged': True, 'resourceSubscriptions': [
                    'test://a', 'test://refused']}}, 'l')
            heard = client.notification(
                'notifications/subscriptions/acknowledged')
            equal(heard['notifications'], {
                'toolsListChanged': True,
                'resourceSubscriptions': ['test://a']})
            client.text('change')
            client.notification('notifications/tools/list_changed')
            client.text('touch', {'uri': 'test://a'})
            client.notification('notifications/resources/updated')
            client.text('end')
            contains(client.answer('l'), 'result')
            equal(client.call('ask')['requestState'], STATE)
            answers = {'who': {'action': 'accept', 'content': {'name': 'Ada'}}}
            equal(client.text('ask', requestState=STATE,
                              inputResponses=answers), 'Ada')
            equal(client.error('resources/read', {'uri': 'test://x'})['code'],
                  -32602)
            require(server.heard('subscriptions/listen'), 'no record')


@case('h7', 'the legacy server asks, changes and is cancelled as it should')
def legacy_scenes():
    for way in BACKS:
        with directly(way, L4) as (server, make), make() as client:
            client.begin()
            if way == 'http':
                client.get().expect(200)
                server.await_(lambda: server.seen('get'), 'a GET')
            number = client.request('tools/call', {
                'name': 'sample', 'arguments': {}})
            for _ in range(2):
                heard = client.question('sampling/createMessage').message
                client.respond(heard['id'], error={'code': -1, 'message': ''})
            equal(text_of(client.answer(number)['result']),
                  'error -1 error -1')
            client.ask('resources/subscribe', {'uri': 'test://a'})
            client.text('touch', {'uri': 'test://a'})
            client.notification('notifications/resources/updated')
            client.text('change')
            client.notification('notifications/tools/list_changed')
            equal(client.error('tools/call', {'name': 'url'})['code'], -32042)
            equal(client.text('url'), 'unlocked')
            made = client.call('required', task={'ttl': 1})['task']['taskId']
            client.ask('tasks/get', {'taskId': made})
            equal(client.ask('tasks/get', {'taskId': made})['status'],
                  'completed')
            number = client.request('tools/call', {'name': 'wait'})
            server.await_heard('tools/call', 7)
            client.notify('notifications/cancelled', {'requestId': number})
            server.await_(lambda: server.seen('gone'), 'the cancellation')


@case('h8', 'the server sees that a modern client has hung up, and dies')
def hang_up():
    with directly('http', MODERN) as (server, make), make() as client:
        number = client.request('tools/call', {'name': 'wait'},
                                meta={'progressToken': 1})
        client.notification('notifications/progress')
        client.flights[number].hang_up()
        server.await_(lambda: server.seen('gone'), 'the hang-up')
        number = client.request('tools/call', {'name': 'die'},
                                meta={'progressToken': 1})
        client.notification('notifications/progress')
        require(client.flights[number].done.wait(5), 'it lives')
        equal(client.text('echo', {'text': 'hi'}), 'hi')


if __name__ == '__main__':
    sys.exit(main())
