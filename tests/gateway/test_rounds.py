#!/usr/bin/env python3
"""test_rounds.py - modern servers that want to know more, and legacy clients
that are asked for it: the turns that rounds may take.

Prints TAP. FAIRLEAD names the program.
"""
import json
import sys
import time

from cases import between, fact, main
from clients import ADA, ALL, text_of
from flow import equal, require
from scenes import L3, L4, MODERN, PAGE

WITH_PAGES = {**ALL, 'elicitation': {'form': {}, 'url': {}}}


def named(words):
    def register(function):
        fact(words, function)
        return function
    return register


def begin_call(client, tool):
    client.begin()
    return client.request('tools/call', {'name': tool, 'arguments': {}})


@named('a server that wants nothing but time gets it, and its own state')
def time_alone():
    with between('stdio', L3, 'http', MODERN) as (client, server):
        begun = time.monotonic()
        equal(text_of(client.answer(begin_call(client, 'dally'))['result']),
              'dallied')
        require(time.monotonic() - begun > 1.7, 'it was not given time')
        calls = [one['message']['params'] for one in
                 server.heard('tools/call')]
        equal([one.get('requestState') for one in calls],
              [None, '1', '2', '3'])
        require(not any('inputResponses' in one for one in calls), calls)


@named('after ten rounds of questions there is an end')
def too_many():
    with between('tcp', L3, 'stdio', MODERN) as (client, server):
        number = begin_call(client, 'endless')
        for _ in range(10):
            heard = client.question('elicitation/create')
            client.respond(heard.message['id'], result=ADA)
        result = client.answer(number)['result']
        equal((result['isError'], text_of(result)),
              (True, 'Input rounds exceeded'))
        equal(len(server.heard('tools/call')), 11, 'calls')


@named('all that is wanted at once is asked at once')
def several():
    with between('http', L4, 'stdio', MODERN) as (client, server):
        number = begin_call(client, 'several')
        answers = {'elicitation/create': ADA,
                   'roots/list': {'roots': []},
                   'sampling/createMessage': {
                       'role': 'assistant', 'model': 'm', 'content': {
                           'type': 'text', 'text': 'hm'}}}
        heard = [client.question(method) for method in answers]
        equal(len({one.message['id'] for one in heard}), 3, 'ids')
        for one in heard:
            client.respond(one.message['id'],
                           result=answers[one.message['method']])
        equal(json.loads(text_of(client.answer(number)['result'])), {
            'a "key"': ADA, 'roots': {'roots': []},
            'model': answers['sampling/createMessage']})


@named('what a client has not declared it is not asked')
def undeclared():
    with between('stdio', L3, 'stdio', MODERN,
                 capabilities={'elicitation': {}}) as (client, server):
        error = client.answer(begin_call(client, 'several'))['error']
        equal((error['code'], error['message']),
              (-32603, 'Upstream requested undeclared input'))
        require(not [one for one in client.all
                     if 'id' in one.message and 'method' in one.message],
                'it was asked')


@named('a page is an undeclared input to who has not declared pages')
def undeclared_page():
    for revision, capabilities in ((L3, WITH_PAGES), (L4, {
            'elicitation': {'form': {}}})):
        with between('stdio', revision, 'stdio', MODERN,
                     capabilities=capabilities) as (client, _):
            error = client.answer(begin_call(client, 'page'))['error']
            equal(error['message'], 'Upstream requested undeclared input')


@named('choices that an older client cannot show are cancelled for it')
def choices():
    with between('stdio', L3, 'stdio', MODERN) as (client, _):
        result = client.answer(begin_call(client, 'choices'))['result']
        equal(json.loads(text_of(result)), {'who': {'action': 'cancel'}})


@named('a page is shown once, and told of when the server is content')
def page():
    with between('http', L4, 'http', MODERN,
                 capabilities=WITH_PAGES) as (client, server):
        number = begin_call(client, 'page')
        heard = client.question('elicitation/create').message
        params = heard['params']
        require(params['elicitationId'], params)
        equal((params['mode'], params['url']), ('url', PAGE))
        client.respond(heard['id'], result={'action': 'accept'})
        done = client.notification('notifications/elicitation/complete')
        equal(done, {'elicitationId': params['elicitationId']})
        equal(text_of(client.answer(number)['result']), 'seen')
        asked = [one for one in client.all
                 if one.message.get('method') == 'elicitation/create']
        equal(len(asked), 1, 'times it was shown')
        last = server.heard('tools/call')[-1]['message']['params']
        equal(last['inputResponses'], {'seen': {'action': 'accept'}})


@named('a prompt whose sampling is refused is an error, with the reason')
def refused_prompt():
    with between('stdio', L4, 'stdio', MODERN) as (client, server):
        client.begin()
        number = client.request('prompts/get', {'name': 'asks'})
        heard = client.question('sampling/createMessage').message
        said = {'code': -1, 'message': 'I would rather not'}
        client.respond(heard['id'], error=said)
        error = client.answer(number)['error']
        equal((error['code'], error['data']), (-32603, {'client': said}))
        equal(len(server.heard('prompts/get')), 1, 'calls')


@named('a call that its client gives up takes its questions along')
def given_up():
    for front in ('stdio', 'http', 'ws'):
        with between(front, L4, 'http', MODERN) as (client, server):
            number = begin_call(client, 'ask')
            heard = client.question('elicitation/create').message
            client.notify('notifications/cancelled', {'requestId': number})
            equal(client.notification('notifications/cancelled'),
                  {'requestId': heard['id']})
            client.respond(heard['id'], result=ADA)
            equal(client.text('echo', {'text': 'hi'}), 'hi')
            equal(len(server.heard('tools/call')), 2, 'calls')


@named('a client that does not answer in time is not waited for')
def in_vain():
    with between('tcp', L4, 'stdio', MODERN, '--input-timeout', '1') as \
            (client, server):
        number = begin_call(client, 'ask')
        heard = client.question('elicitation/create').message
        equal(client.notification('notifications/cancelled'),
              {'requestId': heard['id']})
        result = client.answer(number)['result']
        equal((result['isError'], text_of(result)),
              (True, 'Client input timed out'))
        equal(len(server.heard('tools/call')), 1, 'calls')


@named('a client that leaves in a round leaves nothing behind')
def left():
    with between('tcp', L4, 'stdio', MODERN) as (client, server):
        begin_call(client, 'several')
        client.question('roots/list')
        with client.gate.client('tcp', L4, name='two') as other:
            client.__exit__(None, None, None)
            other.begin()
            equal(other.text('echo', {'text': 'hi'}), 'hi')
        equal(len(server.heard('tools/call')), 2, 'calls')


if __name__ == '__main__':
    sys.exit(main())
