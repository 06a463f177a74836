#!/usr/bin/env python3
"""test_eras_doors.py - who comes in as what: opening the gateway in each era,
the heads that have to fit, and what is refused at the door.

Prints TAP. FAIRLEAD names the program.
"""
import sys
from urllib.parse import urlsplit

from cases import between, case, fact, main
from clients import text_of
from flow import contains, equal, require
from scenes import KEY, L1, L2, L3, L4, MODERN

VERSION = KEY + 'protocolVersion'


@case(1, 'a modern client discovers a legacy server over stdio')
def discover_legacy():
    with between('http', MODERN, 'stdio', L4) as (client, server):
        for number in (1, 2):
            result = client.ask('server/discover', number=number)
            client.flights[number].expect(200)
            equal(result['supportedVersions'], [MODERN])
            equal((result['ttlMs'], result['cacheScope']), (60000, 'private'))
            equal(result['resultType'], 'complete')
            equal(result['_meta'][KEY + 'serverInfo']['name'], 'scripted')
            equal(result['instructions'], 'Play your part.')
            require('tasks' not in result['capabilities'], result)
        server.await_heard('notifications/initialized')
        equal([len(server.heard(method)) for method in (
            'initialize', 'notifications/initialized')], [1, 1], 'opened')


@case(2, 'a modern client lists the tools of an HTTP+SSE server')
def list_over_sse():
    with between('http', MODERN, 'sse', L1) as (client, _):
        result = client.ask('tools/list')
        equal((result['resultType'], result['ttlMs'], result['cacheScope']),
              ('complete', 0, 'private'))
        contains([tool['name'] for tool in result['tools']], 'echo')


@case(3, 'what a modern client claims is not told to a legacy server')
def claims_stay_here():
    with between('stdio', MODERN, 'http', L4) as (client, server):
        result = client.call('echo', {'text': 'hi'}, meta={'vendor/x': 7})
        equal((text_of(result), result['resultType']), ('hi', 'complete'))
        seen, = server.heard('tools/call')
        require('iomcp' not in seen['raw'] and KEY not in seen['raw'],
                'claims in', seen['raw'])
        equal(seen['message']['params']['_meta'], {'vendor/x': 7})
        equal(seen['headers']['mcp-session-id'], 'session-1')
        equal(seen['headers']['mcp-protocol-version'], L4)


@case(4, 'a client of 2024 over HTTP+SSE uses a modern server over HTTP')
def oldest_to_newest():
    with between('sse', L1, 'http', MODERN) as (client, server):
        equal(client.initialize()['protocolVersion'], L1)
        result = client.call('echo', {'text': 'hi'})
        equal(text_of(result), 'hi')
        for key in ('resultType', 'ttlMs', 'cacheScope'):
            require(key not in result, key, 'came through:', result)
        seen, = server.heard('tools/call')
        equal((seen['headers']['mcp-method'], seen['headers']['mcp-name']),
              ('tools/call', 'echo'))
        equal(seen['headers']['mcp-protocol-version'], MODERN)
        equal(seen['message']['params']['_meta'][VERSION], MODERN)


@case(5, 'a client of 2025-03-26 opens a session at a modern server')
def open_session():
    with between('http', L2, 'stdio', MODERN) as (client, _):
        result = client.initialize()
        equal(result['protocolVersion'], L2)
        equal(result['serverInfo']['name'], 'scripted')
        require(client.session, 'no Mcp-Session-Id')


@case(7, 'an argument that wants a header upstream gets it')
def parameter_headers():
    with between('ws', MODERN, 'http', MODERN) as (client, server):
        for region, value in (
                ('us-west1', 'us-west1'),
                ('Z\u00fcrich', '=?base64?WsO8cmljaA==?='),
                (' padded ', '=?base64?IHBhZGRlZCA=?=')):
            equal(client.text('header', {'region': region}), region)
            seen = server.heard('tools/call')[-1]
            equal(seen['headers']['mcp-param-region'], value)


@case(8, 'a head that names another tool than the body is refused')
def names_differ():
    with between('http', MODERN, 'stdio', MODERN) as (client, server):
        message = client.compose('tools/call', {
            'name': 'echo', 'arguments': {}}, 'an id')
        client.post(message, Mcp_Name='slow').expect(400)
        equal(client.answer('an id')['error']['code'], -32020)
        equal(server.heard('tools/call'), [])


def refused(changes, code, **fields):
    """A request whose claims are changed is refused; the error."""
    with between('http', MODERN, 'stdio', L4) as (client, server):
        message = client.compose('tools/list', number=7)
        for name, value in changes.items():
            message['params']['_meta'][KEY + name] = value
        message['params']['_meta'] = {
            name: value for name, value in message['params']['_meta'].items()
            if value is not None}
        client.post(message, **fields).expect(400)
        error = client.answer(7)['error']
        equal(error['code'], code, error)
        equal(server.heard('tools/list'), [])
        return error


@case(9, 'a claim that its head does not repeat is refused')
def claim_differs():
    refused({'protocolVersion': 'v999'}, -32020)


@case(10, 'a revision nobody knows is refused, and the known are named')
def claim_unknown():
    error = refused({'protocolVersion': '1900-01-01'}, -32022,
                    MCP_Protocol_Version='1900-01-01')
    equal(error['data']['supported'], [MODERN])
    equal(error['data']['requested'], '1900-01-01')


@case(11, 'a claim without capabilities is refused')
def claim_incomplete():
    refused({'clientCapabilities': None}, -32602)


@case(13, 'initialize with the modern revision is answered 2025-11-25')
def initialize_modern():
    with between('http', L4, 'stdio', L4) as (client, _):
        equal(client.initialize(MODERN)['protocolVersion'], L4)


@case(14, 'a request without session and claim is refused')
def neither_era():
    with between('http', L3, 'stdio', L4) as (client, server):
        client.agreed = L3
        number = client.request('tools/list')
        client.flights[number].expect(400)
        error = client.answer(number)['error']
        equal(error['code'], -32602, error)
        equal(server.heard('tools/list'), [])


@case(15, 'a session nobody knows is not found')
def unknown_session():
    with between('http', L3, 'stdio', L4) as (client, _):
        client.agreed, client.session = L3, '0' * 32
        client.flights[client.request('tools/list')].expect(404)


@case(17, 'a GET without session gets the endpoint of HTTP+SSE first')
def endpoint_first():
    with between('http', L1, 'stdio', L4) as (client, server):
        url = client.where.geturl()
        require(urlsplit(url).path == '/mcp', url)
        with client.gate.client('sse', L1, name='old') as old:
            equal(old.stream.events[0][b'event'], b'endpoint')
        flight = client.get().expect(200)
        server.await_(lambda: flight.events, 'an event', 5)
        equal(flight.events[0].get(b'event'), b'endpoint')


@case(18, 'a page of another origin is kept out')
def bad_origin():
    with between('http', MODERN, 'stdio', L4) as (client, server):
        message = client.compose('tools/list')
        client.post(message, Origin='http://evil.example').expect(403)
        equal(server.heard(), [])


def ids_are_kept():
    with between('tcp', L4, 'stdio', MODERN) as (client, server):
        client.initialize()
        for raw in (b'1', b'"1"', b'-0', b'1.0', b'1E+2', b'"\\u0041\\/"',
                    b'123456789012345678901234567890', b'""'):
            count = len(client.all)
            client.send(b'{"jsonrpc":"2.0","id":%s,"method":"tools/call",'
                        b'"params":{"name":"echo","arguments":'
                        b'{"text":"x","n":1.10}}}' % raw)
            server.await_(lambda: len(client.all) > count, 'an answer')
            contains(client.all[-1].raw, b'"id":%s,' % raw)
            contains(server.heard('tools/call')[-1]['raw'], '"n":1.10')


fact('ids come back byte for byte, whatever they look like', ids_are_kept)


if __name__ == '__main__':
    sys.exit(main())
