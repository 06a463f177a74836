#!/usr/bin/env python3
"""test_pairs.py - every feature between every two revisions: what `fairlead
matrix` says becomes of it does.

Each fact is named as the matrix names its proof, "FEATURE: CLIENT to SERVER",
and is about that one pair. Prints TAP. FAIRLEAD names the program.
"""
import json
import subprocess
import sys

from cases import FAIRLEAD, between, fact, main
from clients import ADA, asked, retry, text_of
from flow import contains, equal, require
from scenes import KEY, L1, L2, L3, L4, MODERN, PAGE, TASKS

CANCELLED = 'notifications/cancelled'
CHANGED = 'notifications/tools/list_changed'
UPDATED = 'notifications/resources/updated'
ROOTS = {'roots': [{'uri': 'file:///home'}]}
CAPABILITIES = {
    L1: {'sampling': {}, 'roots': {'listChanged': True}},
    L2: {'sampling': {}, 'roots': {'listChanged': True}},
    L3: {'sampling': {}, 'roots': {'listChanged': True}, 'elicitation': {}},
    L4: {'sampling': {}, 'roots': {'listChanged': True},
         'elicitation': {'form': {}, 'url': {}}},
    MODERN: {'sampling': {}, 'roots': {}, 'extensions': {TASKS: {}},
             'elicitation': {'form': {}, 'url': {}}}}


class Pair:
    """A client, a server, and what the matrix says of the two."""

    def __init__(self, client, server, cell):
        self.client, self.server = client, server
        self.outcome = cell['outcome']
        self.of, self.to = cell['client'], cell['server']
        self.modern = self.to == MODERN

    def begin_call(self, tool, **more):
        return self.client.request('tools/call', {
            'name': tool, 'arguments': {}, **more})

    def ask(self, tool, method, answer, count=1):
        """Calls a tool that asks: as a round, or with a request."""
        client = self.client
        if client.modern:
            first = client.call(tool)
            questions = asked(first, count)
            equal({one['method'] for one in questions.values()}, {method})
            return text_of(retry(client, tool, first, {
                key: answer for key in questions}))
        number = self.begin_call(tool)
        for _ in range(count):
            heard = client.question(method).message
            client.respond(heard['id'], result=answer)
        return text_of(client.answer(number)['result'])

    def listen(self, **wanted):
        self.client.request('subscriptions/listen', {'notifications': wanted},
                            'listen')
        self.client.notification('notifications/subscriptions/acknowledged')

    def heard(self, method):
        return len(self.server.heard(method))


def tools(pair):
    listed = pair.client.ask('tools/list')['tools']
    contains([tool['name'] for tool in listed], 'echo')
    equal(pair.client.text('echo', {'text': 'hi'}), 'hi')


def structured(pair):
    result = pair.client.call('figures')
    if pair.outcome == 'carried':
        equal(result['structuredContent'], {'n': 1})
    else:
        equal(json.loads(text_of(result)), {'n': 1})


def resources(pair):
    listed = pair.client.ask('resources/list')['resources']
    equal([one['uri'] for one in listed], ['test://a', 'test://b'])
    read = pair.client.ask('resources/read', {'uri': 'test://a'})
    equal(read['contents'][0]['text'], 'a')


def prompts(pair):
    equal(pair.client.ask('prompts/list')['prompts'][0]['name'], 'hello')
    got = pair.client.ask('prompts/get', {'name': 'hello'})
    equal(got['messages'][0]['content']['text'], 'hello')


def progress(pair):
    equal(pair.client.text('slow', {'text': 'x', 'steps': 3, 'delay': 0.01},
                           meta={'progressToken': 'p'}), 'x')
    equal([(one.message['params']['progressToken'],
            one.message['params']['progress']) for one in pair.client.all
           if one.message.get('method') == 'notifications/progress'],
          [('p', 1), ('p', 2), ('p', 3)])


def cancellation(pair):
    number = pair.client.request('tools/call', {
        'name': 'wait', 'arguments': {}}, meta={'progressToken': 1})
    pair.client.notification('notifications/progress')
    pair.client.notify(CANCELLED, {'requestId': number})
    pair.server.await_cancelled()
    pair.client.never(lambda said: said.get('id') == number,
                      'an answer to what it gave up', 0.1)


def tasks(pair):
    {('lost', False): no_task, ('synthesised', False): waited_for,
     ('carried', False): own_task, ('synthesised', True): made_task}[
         pair.outcome, pair.of == L4 and pair.modern](pair) \
        if pair.of != MODERN else modern_task(pair)


def no_task(pair):
    equal(pair.client.error('tools/call', {
        'name': 'required', 'arguments': {}})['code'], -32601)


def waited_for(pair):
    equal(pair.client.text('lengthy'), 'nobody')


def own_task(pair):
    made = pair.client.call('required', task={'ttl': 60000})['task']
    seen_to_its_end(pair, made['taskId'], 'the task is done')
    contains(pair.server.heard('tools/call')[0]['message']['params'], 'task')


def made_task(pair):
    made = pair.client.call('lengthy', task={'ttl': 60000})['task']
    seen_to_its_end(pair, made['taskId'], 'nobody')
    require('task' not in pair.server.heard('tools/call')[0]['message'][
        'params'], 'the server was told of a task it cannot know')


def seen_to_its_end(pair, number, said):
    contains(('working', 'completed'), pair.client.ask(
        'tasks/get', {'taskId': number})['status'])
    equal(text_of(pair.client.ask('tasks/result', {'taskId': number})), said)


def modern_task(pair):
    made = pair.client.call('lengthy' if pair.modern else 'required')
    equal(made['resultType'], 'task')
    states = [pair.client.ask('tasks/get', {'taskId': made['taskId']})
              for _ in range(3)]
    equal(states[-1]['status'], 'completed', states)
    equal(text_of(states[-1]['result']),
          'nobody' if pair.modern else 'the task is done')


def logs(pair):
    if pair.client.modern:
        pair.client.text('log', meta={KEY + 'logLevel': 'warning'})
    else:
        pair.client.ask('logging/setLevel', {'level': 'warning'})
        pair.client.text('log')
    for level in ('warning', 'error'):
        equal(pair.client.notification('notifications/message')['level'],
              level)
    equal(pair.heard('logging/setLevel') > 0, not pair.modern, 'setLevel')


def sampling(pair):
    answer = {'role': 'assistant', 'model': 'm',
              'content': {'type': 'text', 'text': 'hm'}}
    if pair.modern:
        equal(pair.ask('consult', 'sampling/createMessage', answer), 'hm')
    else:
        equal(pair.ask('sample', 'sampling/createMessage', answer, 2), 'hm hm')


def elicitation(pair):
    if pair.outcome != 'lost':
        said = pair.ask('ask' if pair.modern else 'elicit',
                        'elicitation/create', ADA)
        equal(said, 'Ada' if pair.modern else 'accept Ada')
    elif pair.modern:
        error = pair.client.error('tools/call', {
            'name': 'ask', 'arguments': {}})
        equal((error['code'], error['message']),
              (-32603, 'Upstream requested undeclared input'))
    else:
        equal(pair.client.text('elicit'), 'error -32601')


def pages(pair):
    {('carried', False): error_passes, ('carried', True): page_in_rounds,
     ('synthesised', False): page_of_an_error,
     ('synthesised', True): page_as_request,
     ('lost', False): error_passes, ('lost', True): page_fails}[
         pair.outcome, pair.modern](pair)


def error_passes(pair):
    error = pair.client.error('tools/call', {'name': 'url', 'arguments': {}})
    equal((error['code'], error['data']['elicitations'][0]['url']),
          (-32042, PAGE))


def page_in_rounds(pair):
    result = pair.client.call('page')
    for _ in range(2):
        (key, question), = asked(result).items()
        equal(question['params']['url'], PAGE)
        result = retry(pair.client, 'page', result, {
            key: {'action': 'accept'}})
    equal(text_of(result), 'seen')


def page_of_an_error(pair):
    first = pair.client.call('url')
    (key, question), = asked(first).items()
    equal(question['params']['url'], PAGE)
    equal(text_of(retry(pair.client, 'url', first, {
        key: {'action': 'accept'}})), 'unlocked')


def page_as_request(pair):
    number = pair.begin_call('page')
    heard = pair.client.question('elicitation/create').message
    equal(heard['params']['url'], PAGE)
    pair.client.respond(heard['id'], result={'action': 'accept'})
    pair.client.notification('notifications/elicitation/complete')
    equal(text_of(pair.client.answer(number)['result']), 'seen')


def page_fails(pair):
    equal(pair.client.error('tools/call', {
        'name': 'page', 'arguments': {}})['message'],
        'Upstream requested undeclared input')


def roots(pair):
    client = pair.client
    if pair.modern:
        equal(pair.ask('where', 'roots/list', ROOTS), 'file:///home')
        return
    if client.modern:
        first = client.call('echo', {'text': 'hi'})
        (key, question), = asked(first).items()
        equal(question['method'], 'roots/list')
        retry(client, 'echo', first, {key: ROOTS}, {'text': 'hi'})
    else:
        heard = client.question('roots/list').message
        client.respond(heard['id'], result=ROOTS)
    pair.server.await_(lambda: [
        one for one in pair.server.answers() if one.get('result') == ROOTS],
        'the roots')


def root_changes(pair):
    pair.client.notify('notifications/roots/list_changed')
    if pair.outcome == 'carried':
        pair.server.await_heard('notifications/roots/list_changed')
    else:
        equal(pair.client.text('echo', {'text': 'hi'}), 'hi')
        equal(pair.heard('notifications/roots/list_changed'), 0, 'told')


def subscriptions(pair):
    if pair.client.modern:
        pair.listen(resourceSubscriptions=['test://a'])
    else:
        equal(pair.client.ask('resources/subscribe', {'uri': 'test://a'}), {})
    pair.client.call('touch', {'uri': 'test://b'})
    pair.client.call('touch', {'uri': 'test://a'})
    equal(pair.client.notification(UPDATED)['uri'], 'test://a')
    equal(pair.heard('resources/subscribe') > 0, not pair.modern, 'subscribe')


def list_changes(pair):
    if pair.client.modern:
        pair.listen(toolsListChanged=True)
    elif pair.modern:  # the call must not overtake the gateway's listen
        pair.server.await_(lambda: [
            one for one in pair.server.seen('said')
            if one['message'].get('method', '').endswith('acknowledged')],
            'its own acknowledgement')
    pair.client.call('change')
    pair.client.notification(CHANGED)


def resume(pair):
    client = pair.client
    number = client.request('tools/call', {
        'name': 'slow', 'arguments': {'text': 'x', 'steps': 6, 'delay': 0.1}},
        meta={'progressToken': 'p'})
    first = client.take(lambda said: said.get('method') ==
                        'notifications/progress', 'progress')
    client.flights[number].hang_up()
    client.get(first.event.decode()).expect(200)
    equal(text_of(client.answer(number)['result']), 'x')
    equal(pair.heard('tools/call'), 1, 'calls')


def sessions(pair):
    for text in ('a', 'b'):
        equal(pair.client.text('echo', {'text': text}), text)
    hellos = pair.server.heard('initialize')
    equal(len(hellos), 0 if pair.modern else 1, 'sessions upstream')
    if pair.outcome == 'carried':
        equal(hellos[0]['message']['params']['clientInfo']['name'],
              pair.client.name)


def ping(pair):
    equal(pair.client.ask('ping'), {})
    equal(pair.heard('ping'), 0, 'pings upstream')


def batches(pair):
    requests = [pair.client.compose('tools/call', {
        'name': 'echo', 'arguments': {'text': text}}, number)
        for text, number in (('a', 1), ('b', 'two'))]
    pair.client.send(requests)
    heard = pair.client.take(lambda said: isinstance(said, list), 'an array')
    equal(sorted((str(one['id']), text_of(one['result']))
                 for one in heard.message), [('1', 'a'), ('two', 'b')])
    require(all(isinstance(one['message'], dict)
                for one in pair.server.heard()), 'the server got a batch')


def errors(pair):
    error = pair.client.error('resources/read', {'uri': 'test://none'})
    equal(error['code'], -32602 if pair.client.modern else -32002)
    equal(pair.client.error('tools/call', {
        'name': 'fail', 'arguments': {'code': -32603, 'data': [1]}}),
        {'code': -32603, 'message': 'as you wish', 'data': [1]})


def ids(pair):
    for number in ('1', 1, 9007199254740993, 'a b'):
        equal(text_of(pair.client.answer(pair.client.request('tools/call', {
            'name': 'echo', 'arguments': {'text': 'x'}}, number))['result']),
            'x')


CHECKS = {'elicitation-url': pages, **{
    check.__name__.replace('_', '-'): check for check in (
        tools, structured, resources, prompts, progress, cancellation, tasks,
        logs, sampling, elicitation, roots, root_changes, subscriptions,
        list_changes, resume, sessions, ping, batches, errors, ids)}}
FRONT = {'resume': 'http'}  # where alone there is anything to resume
MANNERS = {'roots': ['roots']}


def holds(cell):
    feature, server = cell['feature'], cell['server']
    manners = MANNERS.get(feature, []) if server != MODERN else []
    with between(FRONT.get(feature, 'tcp'), cell['client'], 'stdio', server,
                 manners=manners,
                 capabilities=CAPABILITIES[cell['client']]) as (one, two):
        one.begin()
        CHECKS[feature](Pair(one, two, cell))


for cell_ in json.loads(subprocess.run(
        [FAIRLEAD, 'matrix', '--json'], check=True,
        stdout=subprocess.PIPE).stdout):
    if cell_['outcome'] != 'none':
        fact(cell_['proofs'][0], lambda cell=cell_: holds(cell))


if __name__ == '__main__':
    sys.exit(main())
