#!/usr/bin/env python3
"""test_aggregate.py - all servers of a file as if they were one, at the
address itself: names with the server's in front, lists made one, questions and
changes of each to the client, and a dead one in nobody's way.

Prints TAP. FAIRLEAD names the program.
"""
import contextlib
import sys
import time
from pathlib import Path

from cases import Scripted, fact, main, scripted
from clients import ADA, Pipe, asked, retry, stdio
from doors import door, written
from flow import FAIRLEAD, contains, equal, folder, require, run, until
from scenes import KEY, L1, L3, L4, MODERN

WAYS = (('http', MODERN), ('http', L4), ('http', L3), ('sse', L1),
        ('ws', L4), ('ws', MODERN), ('tcp', L4), ('tcp', MODERN),
        ('stdio', L4), ('stdio', MODERN))


@contextlib.contextmanager
def pair(one=L4, two=MODERN, more=None, options=()):
    with scripted('stdio', one) as first, scripted('http', two) as second, \
            door(*options, fronts=('tcp', 'unix', 'http'), more=more,
                 one=first, two=second) as gate:
        yield gate, first, second


@contextlib.contextmanager
def client_of(gate, way, revision, **more):
    if way == 'stdio':
        words = [FAIRLEAD, 'serve', '--listen', 'stdio:', *gate.options,
                 *gate.server.target]
        made = Pipe(stdio(words), revision, **more)
    else:
        made = gate.client(way, revision, **more)
    with made as client:
        yield client


def names(client, method, key):
    return [one['name'] for one in client.ask(method)[key]]


def works(way, revision):
    with pair() as (gate, one, two), \
            client_of(gate, way, revision) as client:
        if client.modern:
            hello = client.ask('server/discover')
            contains(hello['supportedVersions'], MODERN)
            who = hello['_meta'][KEY + 'serverInfo']
        else:
            hello = client.initialize()
            equal(hello['protocolVersion'], revision)
            who = hello['serverInfo']
        equal(who['name'], 'fairlead')
        contains(hello['capabilities'], 'tools')
        equal(hello['instructions'], 'Play your part.\n\nPlay your part.')
        tools = names(client, 'tools/list', 'tools')
        contains(tools, 'one__echo')
        contains(tools, 'two__echo')
        equal(len(set(tools)), len(tools))
        contains(names(client, 'prompts/list', 'prompts'), 'two__hello')
        for name, server in (('one', one), ('two', two)):
            equal(client.text(f'{name}__echo', {'text': name}), name)
            heard, = server.heard('tools/call')
            equal(heard['message']['params']['name'], 'echo')
        equal(client.error('tools/call', {'name': 'echo', 'arguments': {}})
              ['code'], -32602)


for one_way, one_revision in WAYS:
    fact(f'two servers are one: {one_way}, {one_revision}',
         lambda way=one_way, revision=one_revision: works(way, revision))


def resources(revision):
    with pair() as (gate, one, two), \
            client_of(gate, 'http', revision) as client:
        client.begin()
        equal([item['uri'] for item in
               client.ask('resources/list')['resources']],
              ['test://a', 'test://b'])
        read = client.ask('resources/read', {'uri': 'test://a'})
        equal(read['contents'][0]['text'], 'a')
        equal(len(one.heard('resources/read')), 1)
        equal(two.heard('resources/read'), [])
        require('error' in client.answer(client.request(
            'resources/read', {'uri': 'test://none'})), 'no such resource')


fact('a resource of two is the first one\'s: legacy', lambda: resources(L4))
fact('a resource of two is the first one\'s: modern', lambda: resources(MODERN))


def unlisted():
    with pair() as (gate, _, _), client_of(gate, 'http', MODERN) as client:
        read = client.ask('resources/read', {'uri': 'test://b'})
        equal(read['contents'][0]['text'], 'b')


fact('a resource that was not listed is looked for', unlisted)


# It takes any subscription, and at once.
EAGER = """
import json, sys
for line in sys.stdin:
    said = json.loads(line)
    answer = {'jsonrpc': '2.0', 'id': said.get('id')}
    if said['method'] == 'initialize':
        answer['result'] = {
            'protocolVersion': said['params']['protocolVersion'],
            'capabilities': {'resources': {'subscribe': True}},
            'serverInfo': {'name': 'eager', 'version': '1'}}
    elif said['method'].endswith('subscribe'):
        answer['result'] = {}
    else:
        answer['error'] = {'code': -32601, 'message': 'no'}
    if said.get('id') is not None:
        print(json.dumps(answer), flush=True)
"""


def unlisted_subscription(era):
    has = Scripted(['--', FAIRLEAD, 'demo', '--listen', 'stdio:', '--quiet'],
                   '/dev/null')
    eager = Scripted(['--', sys.executable, '-c', EAGER], '/dev/null')
    more = {'has': {'protocolEra': era}, 'eager': {'protocolEra': 'legacy'}}
    with door(fronts=('tcp',), more=more, eager=eager, has=has) as gate, \
            client_of(gate, 'tcp', L4) as client:
        client.begin()
        uri = {'uri': 'demo://time'}
        client.ask('resources/subscribe', uri)
        client.call('has__tick')
        equal(client.notification('notifications/resources/updated')['uri'],
              uri['uri'])
        contains(str(client.ask('resources/read', uri)), 'demo://time')
        client.ask('resources/list')
        client.ask('resources/unsubscribe', uri)
        client.call('has__tick')
        client.never(lambda m: m.get('method') ==
                     'notifications/resources/updated', 'more of it')


for one_era in ('legacy', 'modern'):
    fact(f'a subscription to what was not listed finds its server: {one_era}',
         lambda era=one_era: unlisted_subscription(era))


def progress(way, revision):
    with pair() as (gate, _, _), client_of(gate, way, revision) as client:
        client.begin()
        number = client.request('tools/call', {
            'name': 'one__slow', 'arguments': {
                'text': 'x', 'steps': 3, 'delay': 0.02}}, 7,
            {'progressToken': 'p'})
        client.answer(number)
        equal(client.notification('notifications/progress')['progressToken'],
              'p')


for one_way, one_revision in (('http', MODERN), ('http', L4), ('tcp', L4)):
    fact(f'progress comes: {one_way}, {one_revision}',
         lambda way=one_way, revision=one_revision: progress(way, revision))


def questions():
    with pair(L4, L4) as (gate, one, two), \
            client_of(gate, 'tcp', L4) as client:
        client.begin()
        first = client.request('tools/call', {'name': 'one__elicit',
                                              'arguments': {}}, 1)
        second = client.request('tools/call', {'name': 'two__elicit',
                                               'arguments': {}}, 2)
        asked_ = [client.question('elicitation/create') for _ in range(2)]
        numbers = [one_.message['id'] for one_ in asked_]
        equal(len(set(numbers)), 2, 'ids of questions that differ')
        for number in numbers:
            client.respond(number, result=ADA)
        for number in (first, second):
            contains(str(client.answer(number)['result']), 'Ada')


fact('questions of both are told apart', questions)


def rounds():
    with pair(L4, MODERN) as (gate, _, _), \
            client_of(gate, 'http', MODERN) as client:
        result = client.call('two__ask')
        key, = asked(result)
        contains(str(retry(client, 'two__ask', result, {key: ADA})), 'Ada')


fact('rounds of questions lead back to the server', rounds)


def changes():
    with pair(L4, L4) as (gate, _, _), client_of(gate, 'tcp', L4) as client:
        client.begin()
        client.call('two__change')
        client.notification('notifications/tools/list_changed')


fact('changes of a list are told', changes)


def listening():
    with pair(MODERN, MODERN) as (gate, _, _), \
            client_of(gate, 'http', MODERN) as client:
        number = client.request('subscriptions/listen', {
            'notifications': {'toolsListChanged': True}}, 5)
        said = client.notification('notifications/subscriptions/acknowledged')
        equal(said['_meta'][KEY + 'subscriptionId'], number)
        for name in ('one', 'two'):
            deadline = time.monotonic() + 10
            while True:  # the other's may not be listening yet
                client.call(f'{name}__change')
                with contextlib.suppress(Exception):
                    client.take(
                        lambda m: m.get('method') ==
                        'notifications/tools/list_changed', 'news', 0.5)
                    break
                require(time.monotonic() < deadline, 'no news from', name)
        client.never(lambda m: m.get('method') ==
                     'notifications/subscriptions/acknowledged',
                     'a second acknowledgement')


fact('one subscription hears of all servers', listening)


def cancelled():
    with pair() as (gate, one, _), client_of(gate, 'tcp', L4) as client:
        client.begin()
        number = client.request('tools/call', {'name': 'one__wait',
                                               'arguments': {}}, 3)
        one.await_heard('tools/call')
        client.notify('notifications/cancelled', {'requestId': number})
        one.await_cancelled()


fact('a cancelled call is cancelled at its server', cancelled)


def hung_up():
    with pair() as (gate, one, _), client_of(gate, 'http', MODERN) as client:
        number = client.request('tools/call', {'name': 'one__wait',
                                               'arguments': {}}, 3)
        one.await_heard('tools/call')
        client.flights[number].hang_up()
        one.await_cancelled()


fact('hanging up cancels', hung_up)


def dead(revision):
    gone = Scripted(['--', '/nonexistent/server'], '/dev/null')
    with scripted('stdio', L4) as one, \
            door('--log-level', 'info', one=one, gone=gone) as gate, \
            client_of(gate, 'http', revision) as client:
        begun = time.monotonic()
        client.begin()
        tools = names(client, 'tools/list', 'tools')
        contains(tools, 'one__echo')
        require(not any(name.startswith('gone') for name in tools), tools)
        equal(client.text('one__echo', {'text': 'x'}), 'x')
        require(time.monotonic() - begun < 15, 'that took too long')


fact('a dead server is left out: legacy', lambda: dead(L4))
fact('a dead server is left out: modern', lambda: dead(MODERN))


def silent(revision):
    with scripted('stdio', L4) as one, \
            door(one=one, mute=Scripted(['--', 'sleep', '60'], '/dev/null')) \
            as gate, client_of(gate, 'http', revision) as client:
        client.begin()
        contains(names(client, 'tools/list', 'tools'), 'one__echo')
        equal(client.text('one__echo', {'text': 'x'}), 'x')


fact('a silent server holds nobody up for long: legacy', lambda: silent(L4))
fact('a silent server holds nobody up for long: modern',
     lambda: silent(MODERN))


MUTE = """
import json, os, sys, time
for line in sys.stdin:
    said = json.loads(line)
    if said.get('id') is None:
        continue
    answer = {'jsonrpc': '2.0', 'id': said['id']}
    if said['method'] == 'initialize':
        while not os.path.exists(sys.argv[1]):
            time.sleep(0.05)
        answer['result'] = {
            'protocolVersion': said['params']['protocolVersion'],
            'capabilities': {'tools': {}},
            'serverInfo': {'name': 'mute', 'version': '1'}}
    elif said['method'] == 'tools/list':
        answer['result'] = {'tools': [{'name': 'late', 'inputSchema':
                                       {'type': 'object'}}]}
    else:
        answer['error'] = {'code': -32601, 'message': 'no'}
    print(json.dumps(answer), flush=True)
"""


@contextlib.contextmanager
def hanging(**more):
    """A gateway with a server that answers initialize when it is told to."""
    with folder() as place, scripted('stdio', L4) as one:
        word = Path(place) / 'word'
        mute = Scripted(['--', sys.executable, '-c', MUTE, str(word)],
                        '/dev/null')
        with door('--child', 'shared', fronts=('tcp', 'http'),
                  more={'mute': {'protocolEra': 'legacy'}},
                  one=one, mute=mute, **more) as gate:
            yield gate, word


def missed(way, revision):
    with hanging() as (gate, word):
        with client_of(gate, way, revision) as client:
            client.begin()  # waits for it, this once
            client.ask('tools/list')
        begun = time.monotonic()
        for _ in range(4):
            with client_of(gate, way, revision) as client:
                client.begin()
                for _ in range(2):
                    tools = names(client, 'tools/list', 'tools')
                    contains(tools, 'one__echo')
                    require('mute__late' not in tools, tools)
        took = time.monotonic() - begun
        require(took < 4, 'eight lists took', took)
        word.write_text('')
        with client_of(gate, way, revision) as client:
            client.begin()
            until(lambda: 'mute__late' in names(client, 'tools/list', 'tools'),
                  'the server to be heard of')


for one_way, one_revision in (('tcp', L4), ('http', MODERN)):
    fact(f'who was missed once holds nobody up: {one_way}, {one_revision}',
         lambda way=one_way, revision=one_revision: missed(way, revision))


def missed_is_news():
    with hanging() as (gate, word), client_of(gate, 'tcp', L4) as client:
        client.begin()
        client.ask('tools/list')
        word.write_text('')
        client.notification('notifications/tools/list_changed')
        contains(names(client, 'tools/list', 'tools'), 'mute__late')


fact('who was missed and comes is news', missed_is_news)


def prefixes():
    more = {'one': {'fairlead': {'prefix': 'uno-'}},
            'two': {'excludeTools': ['e*']}}
    with pair(more=more) as (gate, _, _), \
            client_of(gate, 'http', MODERN) as client:
        tools = names(client, 'tools/list', 'tools')
        contains(tools, 'uno-echo')
        contains(tools, 'two__slow')
        require('two__echo' not in tools, tools)
        equal(client.text('uno-echo', {'text': 'x'}), 'x')
        equal(client.error('tools/call', {'name': 'two__echo',
                                          'arguments': {}})['code'], -32602)


fact('prefixes and filters are as the file says', prefixes)


def collision():
    with folder() as place:
        path = written(place, {
            'a': {'command': 'x', 'fairlead': {'prefix': 'same_'}},
            'b': {'command': 'y', 'fairlead': {'prefix': 'same_'}}})
        done = run(FAIRLEAD, 'serve', '--config', path, '--listen',
                   'http://127.0.0.1:0/mcp').expect(1)
        contains(done.err, 'another prefix')
        contains(done.err, 'fairlead.prefix')


fact('prefixes that cannot be told apart are an error', collision)


PAGED = """
import json, sys
for line in sys.stdin:
    said = json.loads(line)
    params = said.get('params') or {}
    if said['method'] == 'initialize':
        result = {'protocolVersion': params['protocolVersion'],
                  'capabilities': {'tools': {}},
                  'serverInfo': {'name': 'paged', 'version': '1'}}
    elif said['method'] == 'tools/list':
        at = int(params.get('cursor', '0'))
        result = {'tools': [{'name': f't{at}',
                             'inputSchema': {'type': 'object'}}]}
        if at < 3:
            result['nextCursor'] = str(at + 1)
    else:
        continue
    print(json.dumps({'jsonrpc': '2.0', 'id': said['id'], 'result': result}),
          flush=True)
"""


def paged(way, revision):
    many = Scripted(['--', sys.executable, '-c', PAGED], '/dev/null')
    more = {'many': {'protocolEra': 'legacy'}}
    with scripted('stdio', L4) as one, \
            door(more=more, fronts=('tcp', 'http'), many=many, one=one) \
            as gate, client_of(gate, way, revision) as client:
        client.begin()
        said = client.ask('tools/list')
        listed = [tool['name'] for tool in said['tools']]
        equal(listed[:4], [f'many__t{n}' for n in range(4)])
        contains(listed, 'one__echo')
        require('nextCursor' not in said, said)
        equal(client.error('tools/list', {'cursor': 'x'})['code'], -32602)


for one_way, one_revision in (('http', L4), ('http', MODERN), ('tcp', L4),
                              ('tcp', MODERN)):
    fact(f'all pages come as one: {one_way}, {one_revision}',
         lambda way=one_way, revision=one_revision: paged(way, revision))


def headers():
    with pair() as (gate, _, _), client_of(gate, 'http', MODERN) as client:
        message = client.compose('tools/call', {'name': 'one__echo',
                                                'arguments': {'text': 'x'}}, 4)
        client.post(message, Mcp_Name='other').expect(400)
        equal(client.answer(4)['error']['code'], -32020)


fact('headers that contradict the message are refused', headers)


def levels():
    with pair(L4, L4) as (gate, one, two), client_of(gate, 'tcp', L4) as client:
        client.begin()
        client.ask('logging/setLevel', {'level': 'debug'})
        client.ask('ping')
        client.text('two__slow', {'text': 'x', 'steps': 1, 'delay': 0.01,
                                  'log': True})
        client.notification('notifications/message')


fact('the log level is told to all', levels)

if __name__ == '__main__':
    sys.exit(main())
