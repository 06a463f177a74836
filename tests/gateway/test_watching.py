#!/usr/bin/env python3
"""test_watching.py - legacy clients that subscribe at modern servers.

Prints TAP. FAIRLEAD names the program.
"""
import sys

from cases import between, fact, gateway, main, scripted
from flow import equal, require
from scenes import KEY, L3, L4, MODERN

UPDATED = 'notifications/resources/updated'


def named(words):
    def register(function):
        fact(words, function)
        return function
    return register


def wanted(server):
    """What each listen for resources wanted."""
    return [sorted(uris) for one in server.heard('subscriptions/listen')
            if (uris := one['message']['params']['notifications'].get(
                'resourceSubscriptions')) is not None]


def updates(client):
    return [one.message['params'] for one in client.all
            if one.message.get('method') == UPDATED]


@named('subscriptions that come together share a listen')
def together():
    for front, back in (('stdio', 'http'), ('http', 'stdio')):
        with between(front, L3, back, MODERN) as (client, server):
            client.begin()
            numbers = [client.request('resources/subscribe', {'uri': uri})
                       for uri in ('test://a', 'test://b', 'test://a')]
            for number in numbers:
                equal(client.answer(number)['result'], {})
            require(len(wanted(server)) < 3, wanted(server))
            equal(wanted(server)[-1], ['test://a', 'test://b'])


@named('what is subscribed to already needs no other listen')
def again():
    with between('tcp', L3, 'http', MODERN) as (client, server):
        client.begin()
        for _ in range(3):
            equal(client.ask('resources/subscribe', {'uri': 'test://a'}), {})
        equal(wanted(server), [['test://a']])


@named('an end of a subscription leaves the others')
def unsubscribed():
    for back in ('http', 'stdio'):
        with between('stdio', L3, back, MODERN) as (client, server):
            client.begin()
            for uri in ('test://a', 'test://b'):
                client.ask('resources/subscribe', {'uri': uri})
            equal(client.ask('resources/unsubscribe', {'uri': 'test://a'}), {})
            equal(wanted(server)[-1], ['test://b'])
            client.call('touch', {'uri': 'test://a'})
            client.call('touch', {'uri': 'test://b'})
            equal(client.notification(UPDATED), {'uri': 'test://b'})
            equal(client.ask('resources/unsubscribe', {'uri': 'test://b'}), {})
            equal(len(wanted(server)), 3, 'listens')
            client.call('touch', {'uri': 'test://b'})
            client.text('echo')
            equal(updates(client), [{'uri': 'test://b'}])


@named('a listen that the server ends is opened again')
def ended():
    for back in ('http', 'stdio'):
        with between('stdio', L3, back, MODERN) as (client, server):
            client.begin()
            client.ask('resources/subscribe', {'uri': 'test://a'})
            client.text('end')
            server.await_(lambda: len(wanted(server)) == 2, 'another listen')
            server.await_(lambda: len([
                one for one in server.seen('said') if one['message'].get(
                    'method', '').endswith('acknowledged')]) == 4, 'its words')
            client.call('touch', {'uri': 'test://a'})
            equal(client.notification(UPDATED), {'uri': 'test://a'})


@named('a child that is started again is told what was subscribed to')
def restarted():
    with between('stdio', L3, 'stdio', MODERN) as (client, server):
        client.begin()
        client.ask('resources/subscribe', {'uri': 'test://a'})
        client.error('tools/call', {'name': 'die', 'arguments': {}})
        server.await_(lambda: len(wanted(server)) == 2, 'another listen')
        client.call('touch', {'uri': 'test://a'})
        equal(client.notification(UPDATED), {'uri': 'test://a'})


@named('only who has subscribed hears of it')
def own():
    with scripted('http', MODERN) as server, \
            gateway(server, '--child', 'shared', fronts=('tcp',)) as gate, \
            gate.client('tcp', L4, name='one') as one, \
            gate.client('tcp', L3, name='two') as two:
        for client, uri in (one, 'test://a'), (two, 'test://b'):
            client.begin()
            client.ask('resources/subscribe', {'uri': uri})
        one.call('touch', {'uri': 'test://a'})
        one.call('touch', {'uri': 'test://b'})
        equal(one.notification(UPDATED), {'uri': 'test://a'})
        equal(two.notification(UPDATED), {'uri': 'test://b'})
        for client in one, two:
            client.text('echo')
            equal(len(updates(client)), 1, client.name)


@named('subscriptions a server does not have are refused')
def none():
    with between('stdio', L3, 'http', MODERN,
                 manners=['no-subscriptions']) as (client, server):
        client.begin()
        for method in 'resources/subscribe', 'resources/unsubscribe':
            error = client.error(method, {'uri': 'test://a'})
            equal(error['code'], -32601, error)
        equal(server.heard('subscriptions/listen'), [])
        require(KEY not in str(error), error)


@named('a subscription that is given up is not answered')
def given_up():
    with between('stdio', L3, 'http', MODERN) as (client, server):
        client.begin()
        number = client.request('resources/subscribe', {'uri': 'test://a'})
        client.notify('notifications/cancelled', {'requestId': number})
        equal(client.ask('resources/subscribe', {'uri': 'test://b'}), {})
        require(not [one for one in client.all
                     if one.message.get('id') == number], 'it was')


if __name__ == '__main__':
    sys.exit(main())
