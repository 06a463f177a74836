#!/usr/bin/env python3
"""test_eras_more.py - what the rules between the eras say of rarer things:
questions that are withdrawn or come too early, sessions that are lost, errors,
tasks, and what older clients cannot read.

Prints TAP. FAIRLEAD names the program.
"""
import json
import sys

from cases import between, fact, main
from clients import ADA, ALL, asked, retry, text_of
from flow import SLOW, contains, equal, require
from scenes import KEY, L1, L2, L3, L4, MODERN, TASKS


def named(words):
    def register(function):
        fact(words, function)
        return function
    return register


@named('a question the server takes back leaves the result for the next round')
def withdrawn():
    with between('http', MODERN, 'stdio', L3) as (client, server):
        first = client.call('impatient')
        key, = asked(first)
        server.await_(lambda: [one for one in server.seen('said')
                               if 'result' in one['message'] and 'content' in
                               one['message']['result']], 'its own end')
        result = retry(client, 'impatient', first, {key: ADA})
        equal(text_of(result), 'gave up')
        equal(len(server.heard('tools/call')), 1, 'calls')


@named('a question on the standing stream belongs to the call that runs')
def on_the_standing_stream():
    with between('http', MODERN, 'http', L3,
                 manners=['ask-on-get']) as (client, server):
        client.text('echo')
        server.await_(lambda: server.seen('get'), 'a GET')
        first = client.call('elicit')
        key, = asked(first)
        equal(text_of(retry(client, 'elicit', first, {key: ADA})),
              'accept Ada')


@named('roots that are wanted before any call are asked with the first one')
def early_roots():
    with between('http', MODERN, 'stdio', L3,
                 manners=['roots']) as (client, server):
        first = client.call('echo', {'text': 'hi'})
        (key, question), = asked(first).items()
        equal(question['method'], 'roots/list')
        equal(server.heard('tools/call'), [])
        roots = {'roots': [{'uri': 'file:///home'}]}
        result = retry(client, 'echo', first, {key: roots}, {'text': 'hi'})
        equal(text_of(result), 'hi')
        equal([one['result'] for one in server.answers()], [roots])


@named('an upstream session that is lost is opened again, the call sent once')
def lost_session():
    with between('http', MODERN, 'http', L4) as (client, server):
        client.text('forget')
        equal(client.text('echo', {'text': 'hi'}), 'hi')
        equal(len(server.heard('initialize')), 2, 'sessions')


@named('errors of legacy servers get numbers the modern era leaves free')
def numbers():
    with between('http', MODERN, 'stdio', L4) as (client, _):
        for code, wanted in ((-32000, -32000), (-32019, -32019),
                             (-32602, -32602), (-5, -5), (-32020, -32603),
                             (-32099, -32603), (-32002, -32603)):
            error = client.error('tools/call', {
                'name': 'fail', 'arguments': {'code': code}})
            equal(error['code'], wanted, f'{code}: {error}')
            if code != wanted:
                equal(error['data']['upstream'],
                      {'code': code, 'message': 'as you wish'})


@named('errors of legacy servers reach legacy clients as they are')
def same_numbers():
    with between('tcp', L4, 'stdio', L4) as (client, _):
        client.begin()
        for code in (-32000, -32042, -32002, -32099, 7):
            error = client.error('tools/call', {'name': 'fail', 'arguments': {
                'code': code, 'data': [1, {'a': None}]}})
            equal(error, {'code': code, 'message': 'as you wish',
                          'data': [1, {'a': None}]})


@named('a method nobody knows is passed on, and refused with 404')
def unknown_method():
    with between('http', MODERN, 'stdio', L4) as (client, server):
        client.text('echo')  # who is slow to start is answered with 200
        number = client.request('vendor/thing', {'a': 1})
        client.flights[number].expect(404)
        equal(client.answer(number)['error']['code'], -32601)
        seen, = server.heard('vendor/thing')
        equal(seen['message']['params']['a'], 1)


@named('a call without an answer ends in time, and is cancelled upstream')
def timeout():
    for front, date in (('http', MODERN), ('tcp', L4)):
        with between(front, date, 'stdio', L4, '--timeout',
                     f'{SLOW:g}') as (client, server):
            client.begin()
            error = client.error('tools/call', {
                'name': 'wait', 'arguments': {}})
            equal(error['code'], -32603, error)
            server.await_cancelled()


@named('a call that makes progress is not ended')
def progress_keeps_alive():
    with between('http', MODERN, 'stdio', L4, '--timeout',
                 f'{SLOW:g}') as (client, _):
        equal(client.text('slow', {
            'text': 'x', 'steps': 5, 'delay': 0.4 * SLOW},
            meta={'progressToken': 1}), 'x')


@named('a tool that must be a task is a task for a client with tasks')
def task_of_a_modern_client():
    with between('http', MODERN, 'stdio', L4, capabilities={
            **ALL, 'extensions': {TASKS: {}}}) as (client, server):
        found = client.ask('server/discover')
        contains(found['capabilities']['extensions'], TASKS)
        made = client.call('required')
        equal((made['resultType'], made['ttlMs'], made['pollIntervalMs']),
              ('task', 60000, 50), made)
        states = [client.ask('tasks/get', {'taskId': made['taskId']})
                  for _ in range(3)]
        equal(states[-1]['status'], 'completed', states)
        equal(text_of(states[-1]['result']), 'the task is done')
        equal(len(server.heard('tasks/result')), 1, 'fetched')
        equal(client.error('tasks/get', {'taskId': 'none'})['code'], -32602)


def content_for(revision, other):
    with between('tcp', revision, 'stdio', other) as (client, _):
        client.begin()
        return client.call('media')


@named('an older client is given what it can read')
def older_content():
    for other in (L4, MODERN):
        audio, link, *_ = content_for(L1, other)['content']
        equal((audio['type'], audio['resource']['blob'],
               audio['resource']['mimeType']),
              ('resource', 'UklGRg==', 'audio/wav'), other)
        equal(link['type'], 'text', link)
        contains(link['text'], 'test://a')
        audio, link, *_ = content_for(L2, other)['content']
        equal((audio['type'], link['type']), ('audio', 'text'))
        result = content_for(L3, other)
        equal([one['type'] for one in result['content']][:2],
              ['audio', 'resource_link'])
        equal(result['structuredContent'], {'n': 1})


@named('what is new in a revision is hidden from older clients')
def hidden():
    with between('tcp', L3, 'stdio', L4, manners=['insist']) as (client, _):
        found = client.initialize()['capabilities']
        require('tasks' not in found, found)
        tools = client.ask('tools/list')['tools']
        require('taskSupport' not in json.dumps(tools), tools)


@named('a session that is deleted ends its calls upstream')
def deleted():
    with between('http', L4, 'stdio', MODERN) as (client, server):
        client.begin()
        client.request('tools/call', {'name': 'wait', 'arguments': {}},
                       meta={'progressToken': 1})
        client.notification('notifications/progress')
        client.delete().expect(204)
        server.await_(lambda: server.heard('notifications/cancelled') or
                      server.seen('closed'), 'the end of the call')
        client.flights[client.request('tools/list')].expect(404)


@named('a connection that is closed ends its calls upstream')
def closed():
    for date in (L4, MODERN):
        for other in (L4, MODERN):
            with between('tcp', date, 'stdio', other) as (client, server):
                client.begin()
                client.request('tools/call', {'name': 'wait',
                                              'arguments': {}},
                               meta={'progressToken': 1})
                client.notification('notifications/progress')
                client.stack.close()
                server.await_(
                    lambda: server.heard('notifications/cancelled') or
                    server.seen('closed'), f'{date} {other}: the end')


@named('claims are served on a connection that was initialized')
def both_eras_at_once():
    with between('tcp', L4, 'stdio', L4) as (client, _):
        client.begin()
        equal(client.text('echo', {'text': 'old'}), 'old')
        client.modern = True
        result = client.call('echo', {'text': 'new'})
        equal((text_of(result), result['resultType']), ('new', 'complete'))
        client.modern = False
        require('resultType' not in client.call('echo'), 'it forgot')


@named('a level nobody set is not sent, and logs are not given')
def no_level():
    with between('tcp', MODERN, 'stdio', MODERN) as (client, server):
        client.text('log')
        call, = server.heard('tools/call')
        require(KEY + 'logLevel' not in call['raw'], call['raw'])
        equal(len(client.all), 1, 'messages')


if __name__ == '__main__':
    sys.exit(main())
