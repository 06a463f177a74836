#!/usr/bin/env python3
"""test_tasks.py - legacy clients of modern servers: their tasks, and what the
gateway mends without their knowing.

Prints TAP. FAIRLEAD names the program.
"""
import json
import sys

from cases import between, fact, main
from clients import ADA, text_of
from flow import contains, equal, require
from scenes import KEY, L1, L3, L4, MODERN, TASKS

RELATED = KEY + 'related-task'


def named(words):
    def register(function):
        fact(words, function)
        return function
    return register


def make(client, tool='lengthy', arguments=None):
    return client.call(tool, arguments or {}, task={'ttl': 60000})['task']


@named('a task of the server is one of the client')
def followed():
    for front, back in (('http', 'http'), ('stdio', 'stdio')):
        with between(front, L4, back, MODERN) as (client, server):
            client.begin()
            made = make(client)
            equal((made['taskId'], made['status'], made['ttl'],
                   made['pollInterval']), ('t1', 'working', 60000, 50))
            state = client.ask('tasks/get', {'taskId': 't1'})
            equal((state['taskId'], state['status']), ('t1', 'working'))
            result = client.ask('tasks/result', {'taskId': 't1'})
            equal(text_of(result), 'nobody')
            equal(result['_meta'][RELATED], {'taskId': 't1'})
            state = client.ask('tasks/get', {'taskId': 't1'})
            equal(state['status'], 'completed')
            require('result' not in state and KEY not in json.dumps(state),
                    state)


@named('what a task wants to know is asked while its result is waited for')
def asked():
    with between('http', L4, 'http', MODERN) as (client, server):
        client.begin()
        make(client, arguments={'ask': True})
        number = client.request('tasks/result', {'taskId': 't1'})
        heard = client.question('elicitation/create').message
        equal(heard['params']['_meta'][RELATED], {'taskId': 't1'})
        client.respond(heard['id'], result=ADA)
        equal(text_of(client.answer(number)['result']), 'Ada')
        update, = server.heard('tasks/update')
        params = update['message']['params']
        equal((params['taskId'], params['inputResponses']),
              ('t1', {'who': ADA}))


@named('a task that is cancelled is told to be')
def cancelled():
    with between('tcp', L4, 'http', MODERN) as (client, server):
        client.begin()
        make(client)
        state = client.ask('tasks/cancel', {'taskId': 't1'})
        equal((state['taskId'], state['status'], state['ttl']),
              ('t1', 'cancelled', 60000))
        equal(len(server.heard('tasks/cancel')), 1, 'cancels')
        client.error('tasks/result', {'taskId': 't1'})


@named('a client has a list of its own tasks')
def listed():
    with between('tcp', L4, 'http', MODERN) as (client, _):
        client.begin()
        equal(client.ask('tasks/list'), {'tasks': []})
        own = make(client, 'echo', {'text': 'hi'})
        make(client)
        equal([(one['taskId'], one['status'])
               for one in client.ask('tasks/list')['tasks']],
              [(own['taskId'], 'completed'), ('t1', 'working')])
        error = client.error('tasks/cancel', {'taskId': own['taskId']})
        equal(error['code'], -32602, error)
        with client.gate.client('tcp', L4, name='two') as other:
            other.begin()
            equal(other.ask('tasks/list'), {'tasks': []})
            error = other.error('tasks/result', {'taskId': own['taskId']})
            equal(error['code'], -32602, error)


@named('a task that nobody knows is not found')
def unknown():
    with between('tcp', L4, 'http', MODERN) as (client, _):
        client.begin()
        for method in 'tasks/get', 'tasks/result':
            error = client.error(method, {'taskId': 'none'})
            equal(error['code'], -32602, error)
        equal(client.error('tasks/get', {})['code'], -32602)


@named('clients before 2025-11-25 have no tasks')
def older():
    with between('tcp', L3, 'http', MODERN) as (client, server):
        require('tasks' not in client.initialize()['capabilities'], 'it has')
        equal(client.error('tasks/list')['code'], -32601)
        tools = client.ask('tools/list')['tools']
        require(not any('execution' in tool for tool in tools), tools)


@named('tools of a server that makes tasks say so')
def offered():
    with between('tcp', L4, 'http', MODERN) as (client, _):
        client.begin()
        for tool in client.ask('tools/list')['tools']:
            equal(tool['execution'], {'taskSupport': 'optional'})


@named('a tool that is only to be had as a task is waited for')
def driven():
    for revision in (L1, L4):
        with between('http' if revision == L4 else 'sse', revision, 'http',
                     MODERN) as (client, server):
            client.begin()
            equal(client.text('lengthy'), 'nobody')
            first, second = [one['message']['params']['_meta'][
                KEY + 'clientCapabilities'] for one in
                server.heard('tools/call')]
            require(TASKS not in first.get('extensions', {}), first)
            contains(second['extensions'], TASKS)


@named('a task that its client knows nothing of ends with the call')
def driven_to_the_end():
    with between('stdio', L3, 'http', MODERN) as (client, server):
        client.begin()
        number = client.request('tools/call', {
            'name': 'lengthy', 'arguments': {'never': True}})
        server.await_heard('tasks/get', 2)
        client.notify('notifications/cancelled', {'requestId': number})
        cancel, = server.await_heard('tasks/cancel')
        equal(cancel['message']['params']['taskId'], 't1')
        equal(client.text('echo', {'text': 'hi'}), 'hi')


@named('a capability that nobody has is the client\'s to know')
def missing():
    with between('http', L4, 'http', MODERN) as (client, server):
        client.begin()
        wants = {'sampling': {'tools': {}}}
        error = client.error('tools/call', {
            'name': 'fussy', 'arguments': {'wants': wants}})
        equal((error['code'], error['data']),
              (-32021, {'requiredCapabilities': wants}))
        equal(len(server.heard('tools/call')), 1, 'calls')


@named('a header that is missing is found in the list of the tools')
def header():
    with between('stdio', L3, 'http', MODERN) as (client, server):
        client.begin()
        equal(client.text('header', {'region': 'north'}), 'north')
        equal([one for one in server.methods() if one.startswith('tools/')],
              ['tools/call', 'tools/list', 'tools/call'])
        equal(client.text('header', {'region': 'south'}), 'south')
        equal(len(server.heard('tools/call')), 3, 'calls')


@named('a version that is refused is agreed on anew')
def version():
    with between('stdio', L3, 'http', MODERN) as (client, server):
        client.begin()
        equal(client.text('replaced'), 'known')
        equal(len(server.heard('server/discover')), 2, 'probes')
        equal(len(server.heard('tools/call')), 2, 'calls')


if __name__ == '__main__':
    sys.exit(main())
