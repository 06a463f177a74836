#!/usr/bin/env python3
"""test_lives.py - what ends while somebody still counts on it: servers that
die in the middle of a round, numbers of calls that are over, children that
nobody is to get.

Prints TAP. FAIRLEAD names the program.
"""
import json
import signal
import sys
from pathlib import Path

from cases import fact, gateway, main
from clients import ADA, Http, asked, text_of
from doors import door, stanza
from flow import SLOW, equal, require, until
from puppets import theatre
from scenes import L4, MODERN

LARGEST = 16 * 1024 * 1024
FORM = {'message': 'who?', 'requestedSchema': {
    'type': 'object', 'properties': {'name': {'type': 'string'}}}}


def done(text):
    return {'content': [{'type': 'text', 'text': text}]}


def a_kept_answer_finds_its_own_client():
    """It came while its client was away, and the server has died since: the
    next one counts from the start, and yet it is nobody else's."""
    with theatre() as stage, gateway(
            stage, '--child', 'shared', fronts=('tcp',)) as gate, \
            gate.client('tcp', MODERN, name='one') as one, \
            gate.client('tcp', MODERN, name='two') as two:
        tool = {'name': 'secret', 'arguments': {}}
        first = one.request('tools/call', tool)
        puppet = stage.next().open({'tools': {}})
        call = puppet.hear('tools/call')
        puppet.say(id='q', method='elicitation/create', params=FORM)
        round_ = one.answer(first)['result']
        asked(round_)
        puppet.say(id=call['id'], result=done('of one'))
        puppet.hear(None)  # that its question is not needed any more
        puppet.die()
        puppet = stage.next().open({'tools': {}})
        others = {}
        while True:
            number = two.request('tools/call', {'name': 'x', 'arguments': {}})
            others[puppet.hear('tools/call')['id']] = number
            if max(others) >= call['id']:
                break
        again = one.request('tools/call', {
            **tool, 'requestState': round_['requestState'],
            'inputResponses': {key: ADA for key in round_['inputRequests']}})
        equal(text_of(one.answer(again)['result']), 'of one')
        for id_, number in others.items():
            puppet.say(id=id_, result=done(f'of two {number}'))
        for number in others.values():
            equal(text_of(two.answer(number)['result']), f'of two {number}')


PAGE = {'code': -32042, 'message': 'see this', 'data': {'elicitations': [{
    'mode': 'url', 'url': 'https://a.example/', 'message': 'see',
    'elicitationId': 'e1'}]}}


def a_held_call_is_sent_once_to_the_next_server():
    with theatre() as stage, gateway(stage, fronts=('tcp',)) as gate, \
            gate.client('tcp', MODERN, name='one') as one:
        ask = {'name': 'p'}
        first = one.request('prompts/get', ask)
        puppet = stage.next().open({'prompts': {}})
        puppet.say(id=puppet.hear('prompts/get')['id'], error=PAGE)
        round_ = one.answer(first)['result']
        again = one.request('prompts/get', {
            **ask, 'requestState': round_['requestState'],
            'inputResponses': {key: {'action': 'accept'}
                               for key in round_['inputRequests']}})
        puppet.say(id=puppet.hear('prompts/get')['id'], error=PAGE)
        one.request('prompts/get', {'name': 'fence'})
        puppet.hear('prompts/get')  # by now it is held
        puppet.die()
        puppet = stage.next().open({'prompts': {}})
        numbers = {}
        for _ in range(2):
            said = puppet.hear('prompts/get')
            numbers[said['params']['name']] = said['id']
        puppet.link.settimeout(6)
        twice = None
        try:
            twice = puppet.hear('prompts/get')
        except OSError:
            pass
        for id_ in ([twice['id']] if twice else []) + [numbers['p']]:
            puppet.say(id=id_, result={'messages': []})
        one.answer(again)
        one.request('prompts/get', {'name': 'last'})
        require(twice is None, 'it was sent twice', twice)


def a_hidden_tool_cannot_be_called(mode, revision):
    with theatre() as stage, door(
            '--child', mode, one=stage, fronts=('tcp',), more={
                'one': {'fairlead': {'deny': ['rm*']}}}) as gate, \
            gate.client('tcp', revision, name='one') as one:
        if revision == L4:
            number = one.request('initialize', {
                'protocolVersion': L4, 'capabilities': {},
                'clientInfo': {'name': 'one', 'version': '1'}})
            stage.open_each({'tools': {}})  # one is started ahead, perhaps
            one.answer(number)
            one.notify('notifications/initialized')
        number = one.request('tools/call', {'name': 'rm', 'arguments': {}})
        error = one.answer(number, 2 * SLOW)['error']
        equal((error['code'], error['message']), (-32602, 'Unknown tool'))


def path_of(gate, name):
    return gate.urls['http'].removesuffix('/mcp') + f'/servers/{name}/mcp'


def a_client_keeps_the_child_that_was_started_ahead():
    with theatre() as stage, gateway(
            stage, '--child', 'session', '--warm', '1') as gate:
        puppet = stage.next().open({'tools': {}})
        for text in ('first', 'second'):
            with gate.client('http', MODERN, name='one') as one:
                number = one.request('tools/call', {
                    'name': 'x', 'arguments': {}})
                puppet.say(id=puppet.hear('tools/call')['id'],
                           result=done(text))
                equal(text_of(one.answer(number)['result']), text)


def who_waits_for_a_child_of_a_server_that_came_later_gets_one():
    with theatre() as stage, theatre() as other, door(
            '--max-children', '1', '--child', 'request', one=stage) as gate:
        Path(gate.server.target[1]).write_text(json.dumps({'mcpServers': {
            'one': stanza(stage), 'two': stanza(other)}}))
        gate.demo.process.send_signal(signal.SIGHUP)
        until(lambda: any('read again' in line for line in gate.demo.lines),
              'the file to be read again')
        with Http(path_of(gate, 'two'), MODERN, name='one') as one:
            numbers = [one.request('tools/call', {
                'name': 'x', 'arguments': {}}) for _ in range(2)]
            for _ in numbers:
                puppet = other.next().open({'tools': {}})
                puppet.say(id=puppet.hear('tools/call')['id'],
                           result=done('done'))
            for number in numbers:
                equal(text_of(one.answer(number)['result']), 'done')


def a_hello_that_cannot_be_told_takes_nobody_along():
    """What was asked along with initialize is answered too."""
    with theatre() as stage, gateway(stage, fronts=('tcp',)) as gate, \
            gate.client('tcp', L4, name='one') as one:
        numbers = [one.request('initialize', {
            'protocolVersion': L4, 'capabilities': {},
            'clientInfo': {'name': 'one', 'version': '1'}}),
            one.request('tools/list')]
        puppet = stage.next()
        head = ('{"id":%s,"jsonrpc":"2.0","result":{"supportedVersions":["%s"],'
                '"capabilities":{},"instructions":"' % (
                    puppet.hear('server/discover')['id'], MODERN))
        puppet.raw((head + 'x' * (LARGEST - len(head) - 4) + '"}}').encode())
        for number in numbers:
            equal(one.answer(number)['error']['code'], -32603)


def told(gate, words):
    """The line of its log with these words."""
    found = []

    def look():
        found[:] = [line for line in gate.demo.lines if words in line]
        return found
    until(look, f'the gateway to say: {words}')
    require(len(found) == 1, 'it was said more than once', found)
    return json.loads(found[0])


def an_answer_that_is_too_long_fails_its_call(order):
    """Long before its time runs out."""
    with theatre() as stage, door(one=stage) as gate, \
            Http(path_of(gate, 'one'), MODERN, name='one') as one:
        number = one.request('tools/call', {'name': 'x', 'arguments': {}})
        puppet = stage.next().open({'tools': {}})
        said = {'jsonrpc': '2.0', 'id': puppet.hear('tools/call')['id'],
                'result': done('x' * (LARGEST + 1))}
        puppet.raw(json.dumps({key: said[key] for key in order}).encode())
        error = one.answer(number)['error']
        equal((error['code'], error['data']), (-32603, {'limit': LARGEST}))
        require('--max-message' in error['message'], error)
        equal(told(gate, 'longer than the limit')['server'], 'one')
        number = one.request('tools/call', {'name': 'x', 'arguments': {}})
        puppet.say(id=puppet.hear('tools/call')['id'], result=done('short'))
        equal(text_of(one.answer(number)['result']), 'short')


def the_log_says_who_is_at_fault():
    with theatre() as stage, theatre() as other, \
            door(one=stage, two=other) as gate, \
            Http(path_of(gate, 'two'), MODERN, name='one') as one:
        number = one.request('tools/call', {'name': 'x', 'arguments': {}})
        puppet = other.next().open({'tools': {}})
        call = puppet.hear('tools/call')['id']
        puppet.raw(b'hello')
        equal(told(gate, 'is not a message')['server'], 'two')
        puppet.say(id=call + 7, result=done('of nobody'))
        line = told(gate, 'that nobody made')
        equal((line['level'], line['server'], line['id']),
              ('warn', 'two', str(call + 7)))
        puppet.say(id=call, result=done('here'))
        equal(text_of(one.answer(number)['result']), 'here')


if __name__ == '__main__':
    fact('an answer that was kept finds its own client after a restart',
         a_kept_answer_finds_its_own_client)
    fact('a held call is sent once to the server that comes next',
         a_held_call_is_sent_once_to_the_next_server)
    for one_mode in ('shared', 'request'):
        for one_revision in (L4, MODERN):
            fact(f'a hidden tool cannot be called: {one_mode}, {one_revision}',
                 lambda mode=one_mode, revision=one_revision:
                 a_hidden_tool_cannot_be_called(mode, revision))
    fact('a client keeps the child that was started ahead of it',
         a_client_keeps_the_child_that_was_started_ahead)
    fact('who waits for a child of a server that came later gets one',
         who_waits_for_a_child_of_a_server_that_came_later_gets_one)
    fact('a hello that cannot be told takes nobody along',
         a_hello_that_cannot_be_told_takes_nobody_along)
    for one_order in (('jsonrpc', 'id', 'result'), ('result', 'jsonrpc', 'id')):
        fact(f'an answer that is too long fails its call: {one_order[-1]} last',
             lambda order=one_order:
             an_answer_that_is_too_long_fails_its_call(order))
    fact('the log says which server is at fault', the_log_says_who_is_at_fault)
    sys.exit(main())
