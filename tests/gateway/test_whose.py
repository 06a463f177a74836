#!/usr/bin/env python3
"""test_whose.py - what a server says and does not say to whom, when several
clients share it: its log, its last words on stderr. Nobody gets another's.

Prints TAP. FAIRLEAD names the program.
"""
import contextlib
import sys

from cases import Scripted, fact, gateway, main
from clients import text_of
from flow import equal, require, until
from puppets import theatre
from scenes import KEY, L4, MODERN

CAN = {'tools': {}, 'logging': {}}
TOOL = {'name': 'x', 'arguments': {}}
LOUD = {KEY + 'logLevel': 'debug'}


def done(text):
    return {'content': [{'type': 'text', 'text': text}]}


def is_log(said):
    return said.get('method') == 'notifications/message'


def log(puppet, text):
    puppet.say(method='notifications/message',
               params={'level': 'warning', 'data': text})


def start(client, puppet):
    number = client.request('tools/call', TOOL,
                            meta=LOUD if client.modern else None)
    return number, puppet.hear('tools/call')['id']


@contextlib.contextmanager
def two(server, way, revision, *options):
    """Clients that cannot be told apart by what they say of themselves."""
    with gateway(server, *options, fronts=(way,)) as gate, \
            gate.client(way, revision, name='same', capabilities={}) as one, \
            gate.client(way, revision, name='same', capabilities={}) as other:
        for client in (one, other):
            client.begin()
        yield one, other


def only(stage):
    """The one server there is, once it has been opened."""
    until(lambda: stage.cast, 'the server is opened')
    puppet, = stage.cast
    return puppet


def meet(stage, one):
    """The server that clients have come to, or come to now."""
    if not one.modern:
        return only(stage)
    number = one.request('tools/list')
    puppet = stage.next().open(CAN)
    puppet.say(id=puppet.hear('tools/list')['id'], result={'tools': []})
    one.answer(number)
    return puppet


def a_log_is_not_for_who_waits_longest(way, revision, *options):
    with theatre() as stage:
        if revision != MODERN:
            stage.open_each(CAN)
        with two(stage, way, revision, *options) as (one, other):
            puppet = meet(stage, one)
            first, slow = start(one, puppet)
            second, quick = start(other, puppet)
            log(puppet, 'the card of the other')
            puppet.say(id=quick, result=done('other'))
            log(puppet, 'the card of the other, once more')
            equal(text_of(other.answer(second)['result']), 'other')
            puppet.say(id=slow, result=done('one'))
            equal(text_of(one.answer(first)['result']), 'one')
            for client in (one, other):
                client.never(is_log, 'a log that may be the other\'s')


fact('a log is not for who waits longest: sessions of one address',
     lambda: a_log_is_not_for_who_waits_longest('http', L4))
fact('a log is not for who waits longest: connections, --child shared',
     lambda: a_log_is_not_for_who_waits_longest(
         'tcp', L4, '--child', 'shared'))
fact('a log is not for who waits longest: modern connections',
     lambda: a_log_is_not_for_who_waits_longest(
         'tcp', MODERN, '--child', 'shared'))


fact('a log is not for who waits longest: modern requests of one address',
     lambda: a_log_is_not_for_who_waits_longest('http', MODERN))


def who_comes_by_many_connections_hears_all():
    """One call after the other, each on a connection of its own."""
    with theatre() as stage, gateway(stage) as gate, \
            gate.client('http', MODERN, name='one') as one:
        puppet = None
        for text in ('first', 'second', 'third'):
            number = one.request('tools/call', TOOL, meta=LOUD)
            puppet = puppet or stage.next().open(CAN)
            call = puppet.hear('tools/call')['id']
            log(puppet, text)
            equal(one.notification('notifications/message')['data'], text)
            puppet.say(id=call, result=done(text))
            equal(text_of(one.answer(number)['result']), text)


fact('who comes by many connections hears all of his log',
     who_comes_by_many_connections_hears_all)


def who_opens_session_after_session_hears_all():
    """None of them is ended, and the next is there at once."""
    with theatre() as stage, gateway(stage) as gate, \
            contextlib.ExitStack() as stack:
        stage.open_each(CAN)
        for text in ('first', 'second', 'third'):
            one = stack.enter_context(gate.client('http', L4, name='one'))
            one.begin()
            puppet = only(stage)
            number, call = start(one, puppet)
            log(puppet, text)
            equal(one.notification('notifications/message')['data'], text)
            puppet.say(id=call, result=done(text))
            equal(text_of(one.answer(number)['result']), text)


fact('who opens session after session hears all of his log',
     who_opens_session_after_session_hears_all)


# It says on stderr what it is asked to do, and dies of one thing.
MORTAL = '''
import json, os, sys
for line in sys.stdin:
    one = json.loads(line)
    if one['method'] == 'initialize':
        said = {'result': {'protocolVersion': '2025-11-25', 'capabilities':
                {'tools': {}}, 'serverInfo': {'name': 'm', 'version': '1'}}}
    elif one['method'] == 'tools/call':
        name = one['params']['name']
        sys.stderr.write(name + chr(10))
        sys.stderr.flush()
        if name == 'die':
            os._exit(1)
        continue
    elif 'id' in one:
        said = {'error': {'code': -32601, 'message': 'what?'}}
    else:
        continue
    print(json.dumps({'jsonrpc': '2.0', 'id': one['id'], **said}), flush=True)
'''


def last_words_are_not_for_strangers(way, *options, shown):
    server = Scripted(['--', sys.executable, '-S', '-E', '-c', MORTAL],
                      '/dev/null')
    with two(server, way, L4, *options) as (one, other):
        first = one.request('tools/call', {'name': 'the card of one'})
        one.error('tools/list')  # so that it is there before the other's
        second = other.request('tools/call', {'name': 'die'})
        for client, number in ((one, first), (other, second)):
            error = client.answer(number)['error']
            equal(error['code'], -32603)
            equal('stderr' in error.get('data', {}), shown, error)
            equal('last said' in error['message'], shown, error)


fact('who shares a server with strangers is not shown its last words',
     lambda: last_words_are_not_for_strangers(
         'tcp', '--child', 'shared', shown=False))
fact('who shares it with himself is',
     lambda: last_words_are_not_for_strangers('http', shown=True))


def a_lone_client_is_shown_them():
    server = Scripted(['--', sys.executable, '-S', '-E', '-c', MORTAL],
                      '/dev/null')
    with gateway(server, '--child', 'shared', fronts=('tcp',)) as gate, \
            gate.client('tcp', L4, name='one') as one:
        one.begin()
        error = one.answer(one.request('tools/call', {'name': 'die'}))['error']
        require('die' in error['data']['stderr'], error)


fact('who is alone with it is, too', a_lone_client_is_shown_them)


if __name__ == '__main__':
    sys.exit(main())
