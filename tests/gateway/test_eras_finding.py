#!/usr/bin/env python3
"""test_eras_finding.py - how the gateway finds out what era a server is of, and
what it takes for no sign of any.

Prints TAP. FAIRLEAD names the program.
"""
import sys
import time

from cases import between, case, fact, gateway, main, scripted
from clients import PATIENCE
from flow import contains, equal, require
from scenes import L1, L3, L4, LEGACY, MODERN

IMPATIENT = ('--timeout', '3')


@case(19, 'a server that exits when probed is started again, and works')
def exits_on_probe():
    for front in ('stdio', 'http'):
        with between(front, MODERN, 'stdio', L4,
                     manners=['exit-on-probe']) as (client, server):
            equal(client.text('echo', {'text': 'hi'}), 'hi')
            equal(len(server.seen('started')), 2, 'starts')
            equal(len(server.heard('server/discover')), 1, 'probes')
            equal(client.text('echo', {'text': 'again'}), 'again')
            equal(len(server.seen('started')), 2, 'starts')


@case(20, 'a server that is silent when probed is initialized')
def silent_on_probe():
    with between('stdio', MODERN, 'stdio', L1,
                 manners=['silent-on-probe']) as (client, server):
        equal(client.text('echo', {'text': 'hi'}), 'hi')
        equal(server.methods()[:2], ['server/discover', 'initialize'])
        equal(len(server.seen('started')), 1, 'starts')


@case(22, 'a 401 says nothing about the era: the probe is repeated')
def unauthorized_probe():
    with between('http', MODERN, 'http', MODERN, *IMPATIENT,
                 manners=['401-once']) as (client, server):
        end = time.monotonic() + PATIENCE
        while 'result' not in (said := client.answer(client.request(
                'tools/call', {'name': 'echo', 'arguments': {}}))):
            contains((-32603,), said['error']['code'])
            require(time.monotonic() < end, 'it does not recover:', said)
            time.sleep(0.1)
        equal(server.methods()[:2], ['server/discover'] * 2)
        require('initialize' not in server.methods(), server.methods())


@case(23, 'a 503 says nothing about the era: it is not initialized')
def unavailable_probe():
    with between('http', MODERN, 'http', L4, *IMPATIENT,
                 manners=['503']) as (client, server):
        client.error('tools/list')
        contains(server.methods(), 'server/discover')
        require('initialize' not in server.methods(), server.methods())


@case(24, 'a -32022 that lists legacy revisions only is initialized')
def unsupported_probe():
    with between('http', MODERN, 'http', L4,
                 manners=['32022']) as (client, server):
        equal(client.text('echo', {'text': 'hi'}), 'hi')
        equal(server.methods()[:2], ['server/discover', 'initialize'])
        equal(len(server.heard('initialize')), 1)


def finds(back, revision):
    with scripted(back, revision) as server, \
            gateway(server, fronts=('http', 'tcp')) as gate:
        for count, (front, date) in enumerate((
                ('http', MODERN), ('http', L4), ('tcp', L3), ('ws', MODERN),
                ('sse', L1)), 1):
            with gate.client(front, date) as client:
                client.begin()
                equal(client.text('echo', {'text': 'hi'}), 'hi')
                equal(len(server.heard('tools/call')), count, 'calls')
        equal('initialize' in server.methods(), revision != MODERN)


for way in ('stdio', 'tcp', 'http', 'sse', 'ws'):
    for one in LEGACY + (MODERN,):
        if way != 'sse' or one != MODERN:
            fact(f'a server of {one} on {way} is found for every client',
                 lambda way=way, one=one: finds(way, one))


if __name__ == '__main__':
    sys.exit(main())
