#!/usr/bin/env python3
"""test_eras_modern.py - modern clients of legacy servers: questions become
rounds, notifications find who they are for, errors change their numbers.

Prints TAP. FAIRLEAD names the program.
"""
import sys

from cases import between, case, main
from clients import ADA, asked, retry, text_of
from flow import contains, equal, require
from scenes import KEY, L1, L3, L4, MODERN, PAGE

SUBSCRIPTION = KEY + 'subscriptionId'
URL = {'elicitation': {'form': {}, 'url': {}}}


def sampled(word):
    return {'role': 'assistant', 'model': 'none', 'stopReason': 'endTurn',
            'content': {'type': 'text', 'text': word}}


@case(25, 'a legacy elicitation becomes input_required, and the call ran once')
def elicitation():
    for front in ('http', 'tcp', 'ws', 'stdio'):
        with between(front, MODERN, 'stdio', L3) as (client, server):
            first = client.call('elicit')
            (key, question), = asked(first).items()
            equal(question['method'], 'elicitation/create')
            equal(question['params']['message'], 'Who are you?')
            equal(server.answers(), [])
            result = retry(client, 'elicit', first, {key: ADA})
            equal((text_of(result), result['resultType']),
                  ('accept Ada', 'complete'))
            equal(len(server.heard('tools/call')), 1, 'calls')
            equal(server.answers(), [
                {'jsonrpc': '2.0', 'id': 's1', 'result': ADA}])


@case(26, 'two samplings at once become one round with two keys')
def two_samplings():
    with between('http', MODERN, 'http', L4) as (client, server):
        first = client.call('sample')
        questions = asked(first, 2)
        answers = {}
        for key, question in questions.items():
            equal(question['method'], 'sampling/createMessage')
            word = question['params']['messages'][0]['content']['text']
            answers[key] = sampled(word.upper())
        equal(text_of(retry(client, 'sample', first, answers)), 'LEFT RIGHT')
        equal(len(server.heard('tools/call')), 1, 'calls')


@case(27, 'a key that is not answered is asked again')
def missing_key():
    with between('http', MODERN, 'stdio', L4) as (client, server):
        first = client.call('sample')
        one, other = asked(first, 2)
        second = retry(client, 'sample', first, {one: sampled('1')})
        key, = asked(second)
        equal(len(server.await_(server.answers, 'an answer')), 1, 'answers')
        require(second['requestState'] != first['requestState'], other)
        result = retry(client, 'sample', second, {key: sampled('2')})
        equal(sorted(text_of(result).split()), ['1', '2'])


def forged(client, state, answers, arguments=None):
    """The reason why a state is refused."""
    error = client.error('tools/call', {
        'name': 'elicit', 'arguments': arguments or {},
        'inputResponses': answers, 'requestState': state})
    equal(error['code'], -32602, error)
    return error['data']['reason']


@case(28, 'a state that is forged, stolen, changed or used is refused')
def forged_states():
    with between('http', MODERN, 'stdio', L3) as (client, server):
        first = client.call('elicit')
        key, = asked(first)
        state, answers = first['requestState'], {key: ADA}
        middle = len(state) // 2
        other = 'A' if state[middle] != 'A' else 'B'
        equal(forged(client, state[:middle] + other + state[middle + 1:],
                     answers), 'tampered')
        equal(forged(client, 'nonsense', answers), 'tampered')
        with client.gate.client('http', source='127.0.0.2') as thief:
            forged(thief, state, answers)
        equal(forged(client, state, answers, {'text': 'other'}), 'mismatch')
        equal(server.answers(), [], 'what the server was answered')
        equal(text_of(retry(client, 'elicit', first, answers)), 'accept Ada')
        equal(forged(client, state, answers), 'replayed')
        equal(len(server.answers()), 1, 'answers')
        equal(len(server.heard('tools/call')), 1, 'calls')


@case(29, 'a round nobody comes back to is cancelled')
def abandoned():
    with between('http', MODERN, 'stdio', L3, '--input-timeout',
                 '1') as (client, server):
        first = client.call('elicit')
        key, = asked(first)
        server.await_(server.answers, 'an answer')
        number = server.heard('tools/call')[0]['message']['id']
        last = [one['message'] for one in server.heard()][-2:]
        equal(last[0]['method'], 'notifications/cancelled')
        equal(last[0]['params']['requestId'], number)
        equal(last[1]['result'], {'action': 'cancel'})
        reason = forged(client, first['requestState'], {key: ADA})
        contains(('expired', 'lost'), reason)


@case(32, 'a question the client has not declared is refused, the call goes on')
def undeclared():
    with between('http', MODERN, 'stdio', L3,
                 capabilities={'roots': {}}) as (client, server):
        equal(client.text('elicit'), 'error -32601')
        equal(server.answers()[0]['error']['code'], -32601)


@case(34, 'a page to be seen becomes a round, and the call is repeated')
def page():
    with between('http', MODERN, 'http', L4,
                 capabilities=URL) as (client, server):
        first = client.call('url')
        (key, question), = asked(first).items()
        equal(question['method'], 'elicitation/create')
        params = question['params']
        equal((params['mode'], params['url']), ('url', PAGE))
        require('elicitationId' not in params, params)
        result = retry(client, 'url', first, {key: {'action': 'accept'}})
        equal(text_of(result), 'unlocked')
        equal(len(server.heard('tools/call')), 2, 'calls')


@case(35, 'a page for a client that shows none is a missing capability')
def no_pages():
    with between('http', MODERN, 'http', L4,
                 capabilities={'elicitation': {'form': {}}}) as (client, _):
        client.text('echo')  # who is slow to start is answered with 200
        number = client.request('tools/call', {'name': 'url', 'arguments': {}})
        client.flights[number].expect(400)
        error = client.answer(number)['error']
        equal((error['code'], error['data']['requiredCapabilities']),
              (-32021, {'elicitation': {'url': {}}}))


@case(36, 'a stream that a modern client closes is cancelled upstream')
def hangs_up():
    with between('http', MODERN, 'stdio', L1) as (client, server):
        number = client.request('tools/call', {
            'name': 'wait', 'arguments': {}}, meta={'progressToken': 'p'})
        client.notification('notifications/progress')
        client.flights[number].hang_up()
        server.await_cancelled()


@case(37, 'a cancellation over TCP is passed on, and nothing comes back')
def cancels():
    with between('tcp', MODERN, 'stdio', L1) as (client, server):
        number = client.request('tools/call', {
            'name': 'wait', 'arguments': {}}, 'an id', {'progressToken': 'p'})
        client.notification('notifications/progress')
        client.notify('notifications/cancelled', {'requestId': number})
        server.await_cancelled()
        client.never(lambda said: said.get('id') == number, 'an answer')
        equal(client.text('echo', {'text': 'hi'}), 'hi')


def listen(client, number, **wanted):
    """What is acknowledged."""
    client.request('subscriptions/listen', {'notifications': wanted}, number)
    heard = client.notification('notifications/subscriptions/acknowledged')
    equal(heard['_meta'][SUBSCRIPTION], number)
    return heard['notifications']


@case(38, 'a resource the server refuses is left out of the acknowledgement')
def refused_resource():
    with between('http', MODERN, 'stdio', L4) as (client, server):
        granted = listen(client, 7, toolsListChanged=True,
                         resourceSubscriptions=['test://a', 'test://refused'])
        equal(granted, {'toolsListChanged': True,
                        'resourceSubscriptions': ['test://a']})
        equal(sorted(one['message']['params']['uri'] for one in
                     server.heard('resources/subscribe')),
              ['test://a', 'test://refused'])
        client.text('touch', {'uri': 'test://a'})
        heard = client.notification('notifications/resources/updated')
        equal((heard['uri'], heard['_meta'][SUBSCRIPTION]), ('test://a', 7))


@case(39, 'two listens of one session are both told, each under its own id')
def two_listens():
    with between('http', MODERN, 'stdio', L4) as (client, server), \
            client.gate.client('http') as other:
        for one, number in ((client, 7), (other, 'seven')):
            equal(listen(one, number, toolsListChanged=True),
                  {'toolsListChanged': True})
        client.text('change')
        for one, number in ((client, 7), (other, 'seven')):
            heard = one.notification('notifications/tools/list_changed')
            equal(heard['_meta'][SUBSCRIPTION], number)
            one.never(lambda said: said.get('method', '').endswith('changed'),
                      'a second notification', 0.1)
        equal(len(server.heard('initialize')), 1, 'sessions')


@case(41, 'a level of logging is passed on, and what is below it is dropped')
def levels():
    with between('http', MODERN, 'stdio', L3) as (client, server):
        equal(client.text('log', meta={KEY + 'logLevel': 'warning'}), 'logged')
        level, = server.heard('logging/setLevel')
        equal(level['message']['params']['level'], 'warning')
        heard = [one.message['params'] for one in client.all
                 if one.message.get('method') == 'notifications/message']
        equal([(one['level'], one['data']) for one in heard],
              [(level, f'a matter of {level}')
               for level in ('warning', 'error')])
        count = len(client.all)
        client.text('log')
        equal(len(client.all), count + 1, 'messages without a level')


@case(43, 'a resource that is missing has the number of the modern era')
def missing_resource():
    with between('http', MODERN, 'http', L3) as (client, _):
        error = client.error('resources/read', {'uri': 'test://none'})
        equal((error['code'], error['data']['uri']), (-32602, 'test://none'))


@case(59, 'a tool that must be a task is driven for a client without tasks')
def drives_task():
    with between('http', MODERN, 'stdio', L4) as (client, server):
        result = client.call('required')
        equal((text_of(result), result['resultType']),
              ('the task is done', 'complete'))
        call, = server.heard('tools/call')
        contains(call['message']['params'], 'task')
        equal(len(server.heard('tasks/result')), 1, 'fetched')


if __name__ == '__main__':
    sys.exit(main())
