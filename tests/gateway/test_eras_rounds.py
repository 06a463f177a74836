#!/usr/bin/env python3
"""test_eras_rounds.py - modern clients of legacy servers, at length: many
rounds, what happens while nobody is there, pages, tasks that ask, and listens
that outlive their server.

Prints TAP. FAIRLEAD names the program.
"""
import contextlib
import sys

from cases import between, fact, gateway, main, scripted
from clients import ADA, ALL, asked, retry, text_of
from flow import equal, require
from scenes import KEY, L3, L4, MODERN, TASKS

SUBSCRIPTION = KEY + 'subscriptionId'
TASKED = {**ALL, 'extensions': {TASKS: {}}}


def named(words):
    def register(function):
        fact(words, function)
        return function
    return register


def refused(client, tool, result, answers, arguments=None):
    """Why coming back was of no use."""
    error = client.error('tools/call', {
        'name': tool, 'arguments': arguments or {}, 'inputResponses': answers,
        'requestState': result['requestState']})
    equal(error['code'], -32602, error)
    return error['data']['reason']


@named('each question has its round and its own key, and no token works twice')
def rounds():
    with between('tcp', MODERN, 'stdio', L3) as (client, server):
        words = {'times': 3}
        result, keys, states = client.call('rounds', words), set(), set()
        for _ in range(3):
            key, = asked(result)
            keys.add(key)
            states.add(result['requestState'])
            last, result = result, retry(client, 'rounds', result, {key: ADA},
                                         words)
            equal(refused(client, 'rounds', last, {key: ADA}, words),
                  'replayed')
        equal(text_of(result), 'accept Ada accept Ada accept Ada')
        equal((len(keys), len(states)), (3, 3))
        equal(len(server.heard('tools/call')), 1, 'calls')


@named('after sixteen rounds the server gets no more answers')
def too_many_rounds():
    with between('tcp', MODERN, 'stdio', L3) as (client, _):
        words = {'times': 17}
        result = client.call('rounds', words)
        for _ in range(16):
            key, = asked(result)
            result = retry(client, 'rounds', result, {key: ADA}, words)
        equal(text_of(result), 'accept Ada ' * 16 + 'error -32603')


@named('a question that comes while its client is away waits for it')
def overlap():
    with between('http', MODERN, 'stdio', L3) as (client, server):
        first = client.call('overlap')
        one, = asked(first)
        server.await_(lambda: [said for said in server.seen('said')
                               if said['message'].get('id') == 's2'],
                      'its second question')
        second = retry(client, 'overlap', first, {one: ADA})
        other, = asked(second)
        require(one != other, one)
        equal(text_of(retry(client, 'overlap', second, {other: ADA})),
              'accept Ada accept Ada')


@named('of what was told while nobody was there the last is told')
def progress():
    with between('tcp', MODERN, 'stdio', L3) as (client, server):
        first = client.call('restless', meta={'progressToken': 'old'})
        key, = asked(first)
        server.await_(lambda: [said for said in server.seen('said') if
                               said['message'].get('params', {}).get(
                                   'progress') == 3], 'its progress')
        result = client.call(
            'restless', inputResponses={key: ADA}, meta={
                'progressToken': 'new'}, requestState=first['requestState'])
        equal(text_of(result), 'accept Ada')
        heard = [one.message['params'] for one in client.all
                 if one.message.get('method') == 'notifications/progress']
        equal([(one['progress'], one['progressToken']) for one in heard],
              [(3, 'new'), (4, 'new')])


@named('a call that is parked is lost with its server')
def lost():
    with between('tcp', MODERN, 'stdio', L3) as (client, server):
        first = client.call('elicit')
        key, = asked(first)
        client.error('tools/call', {'name': 'die', 'arguments': {}})
        equal(refused(client, 'elicit', first, {key: ADA}), 'lost')
        equal(len([one for one in server.heard('tools/call') if
                   one['message']['params']['name'] == 'elicit']), 1, 'calls')


@named('a list that waits for roots does not wait for ever')
def stuck():
    with between('http', MODERN, 'stdio', L3,
                 manners=['roots', 'roots-first']) as (client, server):
        require(client.ask('tools/list')['tools'], 'no tools')
        equal(server.answers()[0]['error']['code'], -32603)
        first = client.call('echo', {'text': 'hi'})
        (key, question), = asked(first).items()
        equal(question['method'], 'roots/list')
        result = retry(client, 'echo', first, {key: {'roots': []}},
                       {'text': 'hi'})
        equal(text_of(result), 'hi')
        equal(len(server.heard('notifications/roots/list_changed')), 1)
        equal(client.text('echo', {'text': 'again'}), 'again')


@named('a connection that is closed takes its parked calls along')
def closed():
    with between('tcp', MODERN, 'stdio', L3) as (client, server), \
            client.gate.client('tcp') as other:
        asked(client.call('elicit'))
        equal(other.text('echo', {'text': 'hi'}), 'hi')
        client.stack.close()
        server.await_heard('notifications/cancelled')
        equal(server.await_(server.answers, 'an answer')[0]['result'],
              {'action': 'cancel'})


@named('one user has sixty-four calls parked, and no more')
def limit():
    with between('tcp', MODERN, 'stdio', L3) as (client, _):
        for _ in range(64):
            first = client.call('elicit')
            key, = asked(first)
        equal(client.text('elicit'), 'error -32603')
        equal(text_of(retry(client, 'elicit', first, {key: ADA})),
              'accept Ada')
        asked(client.call('elicit'))


@named('a page that is declined is a tool that failed')
def declined():
    with between('http', MODERN, 'http', L4) as (client, server):
        first = client.call('url')
        key, = asked(first)
        result = retry(client, 'url', first, {key: {'action': 'decline'}})
        equal(result['isError'], True)
        equal(len(server.heard('tools/call')), 1, 'calls')


@named('a page that was shown is waited for')
def slow_page():
    with between('http', MODERN, 'stdio', L4) as (client, server):
        first = client.call('slow_page')
        key, = asked(first)
        result = retry(client, 'slow_page', first, {key: {'action': 'accept'}})
        equal(text_of(result), 'unlocked')
        equal(len(server.heard('tools/call')), 3, 'calls')


@named('nobody is asked what somebody else of that address was to be')
def another():
    with between('http', MODERN, 'stdio', L4) as (client, server):
        with client.gate.client('http', MODERN, name='one') as other:
            first = client.request('tools/call', {
                'name': 'slow', 'arguments': {'text': 'a', 'steps': 1,
                                              'delay': 0.5}})
            server.await_heard('tools/call')
            result = other.call('elicit')
            key, = asked(result)
            equal(text_of(client.answer(first)['result']), 'a')
            equal(text_of(retry(other, 'elicit', result, {key: ADA})),
                  'accept Ada')
        equal(len(server.seen('started')), 1, 'servers')


@named('a task that is driven may ask')
def driven_question():
    with between('http', MODERN, 'stdio', L4) as (client, server):
        first = client.call('ponder')
        key, = asked(first)
        result = retry(client, 'ponder', first, {key: ADA})
        equal((text_of(result), result['resultType']), ('accept', 'complete'))
        equal(len(server.heard('tasks/result')), 1, 'fetched')


@named('a task that is driven is cancelled with its call')
def driven_cancelled():
    with between('tcp', MODERN, 'stdio', L4) as (client, server):
        number = client.request('tools/call',
                                {'name': 'ponder', 'arguments': {}}, 'it')
        server.await_heard('tools/call')
        client.notify('notifications/cancelled', {'requestId': number})
        server.await_heard('tasks/cancel')
        client.never(lambda said: said.get('id') == number, 'an answer')


@named('a task of a client with tasks asks by its state')
def asking_task():
    with between('http', MODERN, 'stdio', L4,
                 capabilities=TASKED) as (client, server):
        task = {'taskId': client.call('ponder')['taskId']}

        def state():
            said = client.ask('tasks/get', task)
            return said if said['status'] != 'working' else None
        said = server.await_(state, 'its question')
        equal(said['status'], 'input_required', said)
        (key, question), = said['inputRequests'].items()
        equal(question['method'], 'elicitation/create')
        client.ask('tasks/update', {**task, 'inputResponses': {key: ADA}})
        said = server.await_(
            lambda: (one := state()) and one['status'] == 'completed' and one,
            'its end')
        equal(text_of(said['result']), 'accept')
        client.ask('tasks/cancel', task)  # it is over, and that is fine
        with client.gate.client('http', source='127.0.0.2',
                                capabilities=TASKED) as other:
            equal(other.error('tasks/get', task)['code'], -32602)


def listen(client, number, **wanted):
    client.request('subscriptions/listen', {'notifications': wanted}, number)
    return client.notification(
        'notifications/subscriptions/acknowledged')['notifications']


@named('a listen outlives its server, and hears that all may have changed')
def restarted():
    with between('tcp', MODERN, 'stdio', L4) as (client, server):
        listen(client, 'it', toolsListChanged=True, promptsListChanged=True,
               resourceSubscriptions=['test://a'])
        client.error('tools/call', {'name': 'die', 'arguments': {}})
        heard = client.notification('notifications/tools/list_changed')
        equal(heard['_meta'][SUBSCRIPTION], 'it')
        equal(client.notification('notifications/resources/updated')['uri'],
              'test://a')
        server.await_heard('resources/subscribe', 2)
        client.never(lambda said: 'prompts' in said.get('method', ''),
                     'what the server cannot tell of', 0.1)


@named('a resource is given back when the last who listens has gone')
def given_back():
    with between('tcp', MODERN, 'stdio', L4) as (client, server):
        for number in (1, 2):
            listen(client, number, resourceSubscriptions=['test://a'])
        equal(len(server.heard('resources/subscribe')), 1, 'subscriptions')
        client.notify('notifications/cancelled', {'requestId': 1})
        client.text('touch', {'uri': 'test://a'})
        heard = client.notification('notifications/resources/updated')
        equal(heard['_meta'][SUBSCRIPTION], 2)
        equal(server.heard('resources/unsubscribe'), [])
        client.notify('notifications/cancelled', {'requestId': 2})
        server.await_heard('resources/unsubscribe')


@named('a listen that the gateway ends has a result, then a cancellation')
def ended():
    with scripted('stdio', L4) as server, contextlib.ExitStack() as later:
        with gateway(server, fronts=('tcp',)) as gate:
            client = later.enter_context(gate.client('tcp', MODERN))
            listen(client, 'it', toolsListChanged=True)
        result = client.answer('it')['result']
        equal((result['resultType'], result['_meta'][SUBSCRIPTION]),
              ('complete', 'it'))
        equal(client.notification('notifications/cancelled')['requestId'],
              'it')


if __name__ == '__main__':
    sys.exit(main())
