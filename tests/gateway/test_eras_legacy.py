#!/usr/bin/env python3
"""test_eras_legacy.py - legacy clients: of modern servers, whose rounds become
questions again, and of legacy servers of another revision. Then modern clients
of modern servers, whose words only pass.

Prints TAP. FAIRLEAD names the program.
"""
import json
import os
import sys
import threading
import time

from cases import between, case, gateway, main, scripted
from clients import ADA, text_of
from flow import Skip, contains, equal, require
from scenes import (KEY, L1, L2, L3, L4, MODERN, NUMBERS, STATE, TASKS)

CLAIM = KEY + 'clientCapabilities'


@case(44, 'a resource that is missing has the number of the legacy era')
def missing_resource():
    with between('http', L3, 'http', MODERN) as (client, _):
        client.begin()
        error = client.error('resources/read', {'uri': 'test://none'})
        equal(error['code'], -32002, error)


@case(45, 'a round becomes a question on the stream of its call')
def question():
    for front in ('http', 'sse', 'stdio', 'tcp', 'ws'):
        with between(front, L3, 'http', MODERN) as (client, server):
            client.begin()
            number = client.request('tools/call', {
                'name': 'ask', 'arguments': {'text': 'x'}})
            heard = client.question('elicitation/create')
            require(isinstance(heard.message['id'], str), heard.raw)
            equal(heard.message['params']['message'], 'Who are you?')
            if front == 'http':
                require(heard.flight is client.flights[number],
                        'it came on another stream')
            client.respond(heard.message['id'], result=ADA)
            equal(text_of(client.answer(number)['result']), 'Ada')
            check_rounds(server)


def check_rounds(server):
    first, second = [one['message'] for one in server.heard('tools/call')]
    require(first['id'] != second['id'], 'the id was used again')
    params = second['params']
    equal(params.pop('requestState'), STATE)
    equal(params.pop('inputResponses'), {'who': ADA})
    for one in first['params'], params:
        one.pop('_meta')
    equal(first['params'], params, 'params of the second round')


@case(46, 'a sampling that the client refuses is an error of the tool')
def refused_sampling():
    with between('stdio', L4, 'http', MODERN) as (client, server):
        client.begin()
        number = client.request('tools/call', {
            'name': 'consult', 'arguments': {}})
        heard = client.question('sampling/createMessage')
        client.respond(heard.message['id'], error={
            'code': -1, 'message': 'User rejected sampling request'})
        result = client.answer(number)['result']
        equal(result['isError'], True, result)
        require(text_of(result), 'it is not told why')
        equal(len(server.heard('tools/call')), 1, 'calls')


@case(47, 'an elicitation that fails at the client is cancelled')
def failed_elicitation():
    with between('stdio', L4, 'http', MODERN) as (client, server):
        client.begin()
        client.request('tools/call', {'name': 'ask', 'arguments': {}})
        heard = client.question('elicitation/create')
        client.respond(heard.message['id'], error={
            'code': -32603, 'message': 'no'})
        second = server.await_heard('tools/call', 2)[1]['message']['params']
        equal(second['inputResponses'], {'who': {'action': 'cancel'}})


def drop(client, server):
    """A call whose stream is dropped after its first event; that."""
    client.begin()
    number = client.request('tools/call', {
        'name': 'slow', 'arguments': {'text': 'x', 'steps': 10, 'delay': 0.1}},
        meta={'progressToken': 'p'})
    first = client.take(lambda said: said.get('method') ==
                        'notifications/progress', 'progress')
    client.flights[number].hang_up()
    equal(server.seen('gone'), [])
    return number, first


@case('48 a', 'a stream that is dropped is not cancelled, and is resumed')
def resume():
    with between('http', L4, 'http', MODERN) as (client, server):
        number, first = drop(client, server)
        require(first.event, 'the event has no id')
        flight = client.get(first.event.decode()).expect(200)
        equal(text_of(client.answer(number)['result']), 'x')
        steps = [one.message['params']['progress'] for one in client.all
                 if one.message.get('method') == 'notifications/progress']
        equal(steps, sorted(set(steps)), 'each step once')
        require(flight.events, 'nothing was resumed')
        equal(len(server.heard('tools/call')), 1, 'calls')


@case(48, 'a stream that is dropped and never resumed is closed upstream')
def never_resumed():
    if not os.environ.get('FL_LONG'):
        raise Skip('it takes the 120 s nobody can shorten; set FL_LONG=1')
    with between('http', L4, 'http', MODERN) as (client, server):
        client.begin()
        number = client.request('tools/call', {
            'name': 'wait', 'arguments': {}}, meta={'progressToken': 'p'})
        client.notification('notifications/progress')
        client.flights[number].hang_up()
        begun = time.monotonic()
        server.await_(lambda: server.seen('gone'), 'a hang-up', 150)
        require(time.monotonic() - begun > 110, 'it was closed too early')


def listens(server):
    """Those to resources."""
    return [one for one in server.heard('subscriptions/listen')
            if one['message']['params']['notifications'].get(
                'resourceSubscriptions')]


@case(49, 'a second subscription replaces the listen of the first')
def two_subscriptions():
    with between('stdio', L3, 'http', MODERN) as (client, server):
        client.begin()
        equal(client.ask('resources/subscribe', {'uri': 'test://a'}), {})
        equal(client.ask('resources/subscribe', {'uri': 'test://b'}), {})
        first, second = listens(server)
        equal(sorted(second['message']['params']['notifications'][
            'resourceSubscriptions']), ['test://a', 'test://b'])
        server.await_(lambda: [
            one for one in server.seen('gone')
            if one['id'] == first['message']['id']], 'the end of the first')
        order = [one['what'] for one in server.seen() if
                 one.get('id') == first['message']['id'] or
                 one.get('message', {}).get('params', {}).get('_meta', {}).get(
                     KEY + 'subscriptionId') == second['message']['id']]
        equal(order, ['said', 'gone'], 'the ack of the second, and the end')
        client.call('touch', {'uri': 'test://a'})
        heard = client.notification('notifications/resources/updated')
        equal(heard, {'uri': 'test://a'})
        client.never(lambda said: said.get('method', '').endswith('updated'),
                     'it twice', 0.2)


@case('49 a', 'a resource the server refuses is refused to the client')
def refused_subscription():
    with between('stdio', L3, 'http', MODERN) as (client, _):
        client.begin()
        error = client.error('resources/subscribe', {'uri': 'test://refused'})
        equal(error['code'], -32602, error)


@case('49 b', 'a change of the tools is told to a legacy client')
def tools_changed():
    for front in ('stdio', 'http', 'sse', 'ws'):
        with between(front, L3, 'http', MODERN) as (client, server):
            client.begin()
            if front == 'http':
                client.get().expect(200)
            server.await_(lambda: [  # the call must not overtake the listen
                one for one in server.seen('said')
                if one['message'].get('method', '').endswith('acknowledged')],
                'its own acknowledgement')
            client.call('change')
            heard = client.notification('notifications/tools/list_changed')
            require(KEY not in json.dumps(heard), heard)


@case(50, 'a level that was set goes with every later request')
def level_set():
    with between('stdio', L3, 'stdio', MODERN) as (client, server):
        client.begin()
        client.text('log')
        equal(client.ask('logging/setLevel', {'level': 'debug'}), {})
        client.text('log')
        before, after = [one['message']['params']['_meta'].get(
            KEY + 'logLevel') for one in server.heard('tools/call')]
        equal((before, after), (None, 'debug'))
        equal([one.message['params']['level'] for one in client.all
               if one.message.get('method') == 'notifications/message'],
              ['debug', 'info', 'warning', 'error'])
        equal(client.error('logging/setLevel', {'level': 'loud'})['code'],
              -32602)


@case(51, 'a batch is answered by one array')
def batch():
    with between('stdio', L2, 'http', MODERN) as (client, server):
        client.begin()
        requests = [client.compose('tools/call', {
            'name': 'echo', 'arguments': {'text': text}}, number)
            for text, number in (('a', 1), ('b', 'two'))]
        client.send([*requests, {'jsonrpc': '2.0', 'method':
                                 'notifications/roots/list_changed'}])
        heard = client.take(lambda said: isinstance(said, list), 'an array')
        equal(sorted((str(one['id']), text_of(one['result']))
                     for one in heard.message), [('1', 'a'), ('two', 'b')])
        equal(len(server.heard('tools/call')), 2, 'calls')


@case(53, 'output that is no object is wrapped for legacy clients')
def wrapped():
    with between('http', L3, 'http', MODERN) as (client, _):
        client.begin()
        tool, = [tool for tool in client.ask('tools/list')['tools']
                 if tool['name'] == 'array']
        equal(tool['outputSchema'], {
            'type': 'object', 'properties': {'result': NUMBERS},
            'required': ['result']})
        result = client.call('array')
        equal(result['structuredContent'], {'result': [1, 2, 3]})
        equal(json.loads(text_of(result)), [1, 2, 3])


@case(55, 'titles of choices become the names an older client knows')
def titles():
    with between('stdio', L3, 'stdio', L4, manners=['insist']) as \
            (client, _):
        equal(client.initialize()['protocolVersion'], L3)
        number = client.request('tools/call', {
            'name': 'titled', 'arguments': {}})
        heard = client.question('elicitation/create').message
        colour = heard['params']['requestedSchema']['properties']['colour']
        equal((colour['enum'], colour['enumNames']),
              (['r', 'b'], ['Red', 'Blue']))
        require('oneOf' not in colour, colour)
        client.respond(heard['id'], result={
            'action': 'accept', 'content': {'colour': 'b'}})
        equal(text_of(client.answer(number)['result']), 'accept b')


@case('55 a', 'questions of a legacy server reach a legacy client')
def legacy_questions():
    for front in ('stdio', 'http', 'sse', 'ws', 'tcp'):
        for back in ('stdio', 'http', 'sse'):
            with between(front, L3, back, L3) as (client, server):
                client.begin()
                number = client.request('tools/call', {
                    'name': 'elicit', 'arguments': {}})
                heard = client.question('elicitation/create').message
                client.respond(heard['id'], result=ADA)
                equal(text_of(client.answer(number)['result']), 'accept Ada')
                equal(server.answers()[0]['id'], 's1', f'{front} {back}')


@case(56, 'equal ids and tokens of two clients are told apart upstream')
def equal_ids():
    with scripted('stdio', MODERN) as server, \
            gateway(server, '--child', 'shared') as gate, \
            gate.client('ws', L4, name='one') as one, \
            gate.client('ws', L4, name='two') as two:
        for client in one, two:
            client.begin()
        threads = [threading.Thread(target=client.request, args=(
            'tools/call', {'name': 'slow', 'arguments': {'text': client.name}},
            1, {'progressToken': 'p'})) for client in (one, two)]
        for thread in threads:
            thread.start()
        for client in one, two:
            equal(text_of(client.answer(1)['result']), client.name)
            tokens = {(one.message['params']['progressToken'],
                       one.message['params']['message']) for one in client.all
                      if one.message.get('method') == 'notifications/progress'}
            equal(tokens, {('p', client.name)})
        calls = [one['message'] for one in server.heard('tools/call')]
        equal(len({call['id'] for call in calls}), 2, 'ids')
        equal(len({call['params']['_meta']['progressToken']
                   for call in calls}), 2, 'tokens')
        equal(len(server.seen('started')), 1, 'children')


@case(58, 'a task of a legacy client that is done at once is kept for it')
def synthetic_task():
    with between('http', L4, 'http', MODERN) as (client, server):
        contains(client.initialize()['capabilities'], 'tasks')
        made = client.call('echo', {'text': 'hi'}, task={'ttl': 60000})['task']
        state = client.ask('tasks/get', {'taskId': made['taskId']})
        equal(state['status'], 'completed', state)
        result = client.ask('tasks/result', {'taskId': made['taskId']})
        equal(text_of(result), 'hi')
        call, = server.heard('tools/call')
        meta = call['message']['params']['_meta']
        contains(meta[CLAIM]['extensions'], TASKS)
        require('task' not in call['message']['params'], call)


@case(62, 'a listen the server ends is answered, then cancelled')
def ended_listen():
    with between('stdio', MODERN, 'stdio', MODERN) as (client, _):
        client.request('subscriptions/listen', {
            'notifications': {'toolsListChanged': True}}, 'l')
        client.notification('notifications/subscriptions/acknowledged')
        client.text('end')
        client.take(lambda said: said.get('method') ==
                    'notifications/cancelled', 'the cancellation')
        about = [one.message for one in client.all
                 if one.message.get('id') == 'l' or one.message.get(
                     'params', {}).get('requestId') == 'l']
        equal(about[0]['result']['_meta'][KEY + 'subscriptionId'], 'l')
        equal((len(about), about[1]['method']),
              (2, 'notifications/cancelled'))


@case(65, 'a notification of the modern era is taken')
def notification():
    with between('http', MODERN, 'http', MODERN) as (client, _):
        client.post({'jsonrpc': '2.0', 'method': 'notifications/cancelled',
                     'params': {'requestId': 99}},
                    Mcp_Method='notifications/cancelled').expect(202)


@case(66, 'a server that dies in a call is an error, and is not called again')
def dies():
    with between('http', L4, 'http', MODERN) as (client, server):
        client.begin()
        error = client.error('tools/call', {'name': 'die', 'arguments': {}})
        equal(error['code'], -32603, error)
        time.sleep(0.5)
        equal(len(server.heard('tools/call')), 1, 'calls')
        equal(client.text('echo', {'text': 'hi'}), 'hi')


@case('66 a', 'a child that dies in a call is an error, and is started again')
def child_dies():
    for front, date in (('http', L4), ('http', MODERN), ('stdio', L1)):
        for revision in (L4, MODERN):
            with between(front, date, 'stdio', revision) as (client, server):
                client.begin()
                error = client.error('tools/call', {
                    'name': 'die', 'arguments': {}},
                    meta={'progressToken': 'p'})
                equal(error['code'], -32603, error)
                equal(len(server.heard('tools/call')), 1, 'calls')
                if date == MODERN:
                    equal(client.text('echo', {'text': 'hi'}), 'hi')


if __name__ == '__main__':
    sys.exit(main())
