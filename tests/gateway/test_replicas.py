#!/usr/bin/env python3
"""test_replicas.py - one name, several places: who gets what, who takes over
when one is killed, what waits when none is there, and what is said then.

The servers count what they run; nothing is believed that they have not seen.

Prints TAP. FAIRLEAD names the program.
"""
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from cases import HERE, LISTEN, Scripted, fact, folder, gateway, keep, main
from clients import PATIENCE, Http, text_of
from doors import stanza
from flow import FAIRLEAD, SLOW, contains, equal, require, run, until
from scenes import L4, MODERN


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as one:
        return one.getsockname()[1]


class Place(Scripted):
    """A server that can be killed, and started again where it was."""

    def __init__(self, way, revision, path):
        url = LISTEN[way].replace(':0', f':{free_port()}')
        super().__init__([url], path)
        self.words = [sys.executable, '-S', '-E', HERE / 'scripted.py',
                      '--revision', revision, '--record', path,
                      '--listen', url]
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [str(word) for word in self.words], stdout=subprocess.PIPE)
        require(self.process.stdout.readline(), 'the server did not start')
        return self

    def kill(self, how=signal.SIGKILL):
        if self.process:
            self.process.send_signal(how)
            if how == signal.SIGKILL:
                self.process.wait()
                self.process.stdout.close()
                self.process = None

    def calls(self):
        """How many it has run."""
        return len(self.heard('tools/call'))


@contextlib.contextmanager
def places(count, way, revision):
    with folder() as folder_:
        made = []
        for number in range(count):
            path = Path(folder_) / f'record{number}'
            path.touch()
            made.append(Place(way, revision, path).start())
        try:
            yield made
        finally:
            for one in made:
                one.kill()
                keep(one.path)


def entry(first, *others, weight=None, **own):
    """An entry of mcpServers; others are places, or (place, weight)."""
    own['replicas'] = [
        {**stanza(one[0]), 'weight': one[1]} if isinstance(one, tuple)
        else stanza(one) for one in others]
    if weight is not None:
        own['weight'] = weight
    return stanza(first, fairlead=own)


@contextlib.contextmanager
def served(one, *options, fronts=('http',)):
    with folder() as place:
        path = Path(place) / 'mcp.json'
        path.write_text(json.dumps({'mcpServers': {'one': one}}))
        with gateway(Scripted(['--config', path], '/dev/null'), *options,
                     fronts=fronts) as gate:
            gate.file = path
            yield gate


def reload(gate, one):
    before = sum('read again' in line for line in gate.demo.lines)
    gate.file.write_text(json.dumps({'mcpServers': {'one': one}}))
    gate.demo.process.send_signal(signal.SIGHUP)
    until(lambda: sum('read again' in line
                      for line in gate.demo.lines) > before,
          'the file to be read again')


def logged(gate, words):
    return any(words in line for line in gate.demo.lines)


# Shares.


def modern_requests_are_shared_by_weight(way):
    with places(3, way, MODERN) as (a, b, c), \
            served(entry(a, (b, 3), (c, 0))) as gate, \
            gate.client('http', MODERN) as client:
        for number in range(16):
            equal(client.text('echo', {'text': str(number)}), str(number))
        equal([one.calls() for one in (a, b, c)], [4, 12, 0])


def sessions_are_shared_and_stay():
    with places(2, 'tcp', L4) as (a, b), \
            served(entry(a, b), fronts=('tcp',)) as gate, \
            contextlib.ExitStack() as stack:
        for number in range(4):
            client = stack.enter_context(
                gate.client('tcp', L4, name=f'n{number}'))
            client.begin()
            for _ in range(3):
                client.text('echo', {'text': f'n{number}'})
        equal([a.calls(), b.calls()], [6, 6])
        for one in (a, b):  # nobody was here and there
            said = [call['message']['params']['arguments']['text']
                    for call in one.heard('tools/call')]
            equal(len(set(said)), 2, said)


def the_command_line_has_replicas():
    with places(2, 'http', MODERN) as (a, b):
        server = Scripted(['--replica', f'{b.target[0]} weight=3',
                           '--weight', '1', *a.target], '/dev/null')
        with gateway(server) as gate, gate.client('http', MODERN) as client:
            for _ in range(8):
                client.text('echo', {'text': 'x'})
        equal([a.calls(), b.calls()], [2, 6])
    for words, complaint in (
            (['--replica', 'https://b/ weight=1001', 'https://a/'], 'weight=N'),
            (['--replica', 'https://b/ wait=1', 'https://a/'], 'weight=N'),
            (['--queue-max', '10001', 'https://a/'], '--queue-max'),
            (['--connect-attempts', '101', 'https://a/'],
             '--connect-attempts'),
            (['--connect-backoff', '2', '--connect-backoff-max', '1',
              'https://a/'], '--connect-backoff'),
            (['--health-interval', '1', '--no-health-checks', 'https://a/'],
             'not both')):
        contains(run(FAIRLEAD, 'serve', *words).expect(1).err, complaint)


# Failover.


def nothing_is_lost_or_doubled_when_one_is_killed(way, revision):
    """A storm of calls while one of three dies: each is answered, none that
    was answered well has run other than once, none that failed has run more
    than once."""
    with places(3, way, revision) as three, \
            served(entry(*three), '--breaker-pause', '1') as gate:
        results, lock = {}, threading.Lock()
        total, done = 90, threading.Event()

        def storm(begin):
            with gate.client('http', revision, name=f'c{begin}') as client:
                client.begin()
                for number in range(begin, total, 3):
                    said = client.answer(client.request('tools/call', {
                        'name': 'slow', 'arguments': {
                            'text': str(number), 'steps': 2,
                            'delay': 0.02}}))
                    with lock:
                        results[number] = said
                    if len(results) > total // 3:
                        done.set()

        threads = [threading.Thread(target=storm, args=(i,)) for i in range(3)]
        for one in threads:
            one.start()
        require(done.wait(3 * PATIENCE), 'the storm does not blow')
        three[0].kill()
        for one in threads:
            one.join(6 * PATIENCE)
        equal(sorted(results), list(range(total)))
        ran = {}
        for one in three:
            for call in one.heard('tools/call'):
                text = call['message']['params']['arguments']['text']
                ran[text] = ran.get(text, 0) + 1
        failed = [n for n, said in results.items() if 'error' in said]
        for number in range(total):
            times = ran.get(str(number), 0)
            if number in failed:
                require(times <= 1, number, 'failed and ran', times)
            else:
                equal(times, 1, f'{number} ran')
        require(len(failed) <= 3, 'more failed than were in flight:', failed)


def a_session_moves_with_its_subscriptions(way):
    with places(2, way, L4) as (a, b), \
            served(entry(a, b), fronts=('tcp',)) as gate, \
            gate.client('tcp', L4) as client:
        client.begin()
        client.ask('resources/subscribe', {'uri': 'test://a'})
        client.ask('logging/setLevel', {'level': 'warning'})
        if way == 'http':
            client.text('echo', {'text': 'here'})
        equal(len(a.heard('resources/subscribe')), 1)
        a.kill()
        if way == 'http':  # nobody knows until somebody asks
            client.text('echo', {'text': 'there'})
        b.await_heard('resources/subscribe')
        equal(b.await_heard('logging/setLevel')[0]['message']['params'],
              {'level': 'warning'})
        equal(len(b.heard('initialize')), 1)
        client.call('touch', {'uri': 'test://a'})
        equal(client.notification('notifications/resources/updated')['uri'],
              'test://a')
        equal(client.text('echo', {'text': 'x'}), 'x')


def what_may_have_run_fails_and_what_is_safe_does_not(way, revision):
    with places(2, way, revision) as (a, b), \
            served(entry(a, b)) as gate, \
            gate.client('http', revision) as client:
        client.begin()
        number = client.request('tools/call', {'name': 'wait'})
        a.await_heard('tools/call')
        a.process.send_signal(signal.SIGSTOP)  # it answers nothing from here
        lists = [client.request('tools/list') for _ in range(2)]
        time.sleep(0.3 * SLOW)  # they are on their way
        a.kill()
        error = client.answer(number)['error']
        contains(error['message'], 'Upstream connection lost')
        for one in lists:
            require('result' in client.answer(one), 'a list was lost')
        equal(b.calls(), 0)


def refused_connections_lose_nothing():
    """Where each request is a connection: none reached the dead one, so each
    is asked of the other, effects or not."""
    with places(2, 'http', MODERN) as (a, b), \
            served(entry(a, b)) as gate, gate.client('http', MODERN) as client:
        for _ in range(4):
            client.text('echo', {'text': 'x'})
        equal([a.calls(), b.calls()], [2, 2])
        a.kill()
        for _ in range(6):
            equal(client.text('echo', {'text': 'y'}), 'y')
        equal(b.calls(), 8)


def one_that_returns_is_found_and_used():
    with places(2, 'http', MODERN) as (a, b), \
            served(entry(a, b, connectBackoff=100, connectBackoffMax=200)) \
            as gate, gate.client('http', MODERN) as client:
        client.text('echo', {'text': 'x'})
        client.text('echo', {'text': 'x'})
        a.kill()
        for _ in range(4):
            client.text('echo', {'text': 'y'})
        before = a.calls()
        a.start()

        def is_back():
            client.text('echo', {'text': 'z'})
            return a.calls() > before
        until(is_back, 'the one that returned to be asked')


def standby_is_asked_when_no_other_is_well():
    with places(2, 'http', MODERN) as (a, b), \
            served(entry(a, (b, 0), connectBackoff=100,
                         connectBackoffMax=200)) as gate, \
            gate.client('http', MODERN) as client:
        for _ in range(4):
            client.text('echo', {'text': 'x'})
        equal([a.calls(), b.calls()], [4, 0])
        a.kill()
        client.text('echo', {'text': 'y'})
        equal(b.calls(), 1)
        before = a.calls()
        a.start()

        def is_back():
            client.text('echo', {'text': 'z'})
            return a.calls() > before
        until(is_back, 'the first to be asked again')
        seen = b.calls()
        for _ in range(4):
            client.text('echo', {'text': 'w'})
        equal(b.calls(), seen)


def children_are_replicas_too():
    with folder() as place:
        entries = []
        paths = [Path(place) / 'a', Path(place) / 'b']
        for path in paths:
            path.touch()
            entries.append({'command': sys.executable, 'args': [
                '-S', '-E', str(HERE / 'scripted.py'), '--revision', L4,
                '--record', str(path), '--listen', 'stdio:']})
        one = {**entries[0], 'fairlead': {'replicas': [entries[1]]}}
        a, b = (Scripted([], path) for path in paths)
        with served(one, fronts=('tcp',)) as gate, \
                gate.client('tcp', L4) as client:
            client.begin()
            client.ask('resources/subscribe', {'uri': 'test://a'})
            os.kill(a.seen('started')[-1]['pid'], signal.SIGKILL)
            b.await_heard('resources/subscribe')
            equal(client.text('echo', {'text': 'x'}), 'x')
            equal(len(b.heard('tools/call')), 1)


# Nobody there.


def hello():
    return {'protocolVersion': L4, 'capabilities': {},
            'clientInfo': {'name': 'x', 'version': '1'}}


def all_down_then_one_returns(way, revision):
    with places(2, way, revision) as (a, b), served(
            entry(a, b, connectBackoff=100, connectBackoffMax=200,
                  breakerPause=300, breakerFailures=3)) as gate, \
            gate.client('http', revision) as client:
        client.begin()
        equal(client.text('echo', {'text': 'x'}), 'x')
        a.kill()
        b.kill()
        begun = time.monotonic()
        while True:  # it is tried a while, and then refused at once
            said = client.answer(client.request('tools/call', {
                'name': 'echo', 'arguments': {'text': 'none'}}))
            require('error' in said, said)
            if 'retryAfter' in said['error'].get('data', {}):
                break
            require(time.monotonic() - begun < 3 * PATIENCE, 'no end', said)
        contains(said['error']['message'], 'Upstream unavailable')
        until(lambda: logged(gate, 'is left alone'), 'the breaker to open')
        b.start()

        def is_back():
            said = client.answer(client.request('tools/call', {
                'name': 'echo', 'arguments': {'text': 'back'}}))
            return 'result' in said
        until(is_back, 'the one that returned to answer')
        equal(client.text('echo', {'text': 'x'}), 'x')


def a_refusal_says_when_to_come_back(revision):
    port = free_port()
    with gateway(Scripted(['--breaker-failures', '1', '--breaker-pause', '7',
                           '--connect-attempts', '1', '--era', 'legacy',
                           f'tcp://127.0.0.1:{port}'], '/dev/null')) as gate, \
            gate.client('http', revision) as client:
        method = 'tools/list' if client.modern else 'initialize'
        params = None if client.modern else hello()
        client.error(method, params)
        number = client.request(method, params)
        flight = client.flights[number].expect(503)
        error = client.answer(number)['error']
        equal(flight.fields['retry-after'], str(error['data']['retryAfter']))
        require(5 <= error['data']['retryAfter'] <= 7, error)
        equal(error['code'], -32603 if client.modern else -32010)


def the_queue_is_bounded_by_count():
    with places(1, 'tcp', L4) as (a,), gateway(
            Scripted(['--queue-max', '3', '--connect-backoff', '0.5',
                      '--connect-attempts', '20', '--era', 'legacy',
                      '--breaker-failures', '100', *a.target], '/dev/null'),
            fronts=('tcp', 'http')) as gate, \
            gate.client('tcp', MODERN) as client:
        a.kill()
        numbers = [client.request('tools/call', {
            'name': 'echo', 'arguments': {'text': str(i)}}) for i in range(4)]
        error = client.answer(numbers[3])['error']
        contains(error['message'], 'queueMax')
        equal(error['data'], {'queueMax': 3, 'retryAfter': 1})
        with gate.client('http', MODERN) as other:
            number = other.request('tools/list')
            flight = other.flights[number].expect(503)
            equal(flight.fields['retry-after'], '1')
        a.start()
        for i, number in enumerate(numbers[:3]):
            equal(text_of(client.answer(number)['result']), str(i))
        equal(a.calls(), 3)


def the_queue_is_bounded_by_bytes():
    with places(1, 'tcp', L4) as (a,), gateway(
            Scripted(['--queue-bytes', '4K', '--connect-backoff', '0.5',
                      '--connect-attempts', '20', '--era', 'legacy',
                      '--breaker-failures', '100', *a.target], '/dev/null'),
            fronts=('tcp',)) as gate, gate.client('tcp', MODERN) as client:
        a.kill()
        fits = client.request('tools/call', {
            'name': 'echo', 'arguments': {'text': 'x' * 3000}})
        error = client.error('tools/call', {
            'name': 'echo', 'arguments': {'text': 'y' * 3000}})
        equal(error['data'], {'queueBytes': 4096, 'retryAfter': 1})
        small = client.request('tools/call', {
            'name': 'echo', 'arguments': {'text': 'z'}})
        a.start()
        equal(text_of(client.answer(fits)['result']), 'x' * 3000)
        equal(text_of(client.answer(small)['result']), 'z')


def the_queue_is_bounded_by_time():
    port = free_port()
    with gateway(Scripted(['--queue-time', '0.4', '--connect-backoff', '60',
                           '--connect-backoff-max', '60', '--era', 'legacy',
                           f'tcp://127.0.0.1:{port}'], '/dev/null'),
                 fronts=('tcp',)) as gate, \
            gate.client('tcp', MODERN) as client:
        begun = time.monotonic()
        error = client.error('tools/list')
        took = time.monotonic() - begun
        contains(error['message'], 'queue time')
        equal(error['data'], {'queueTime': 400, 'retryAfter': 1})
        require(0.3 < took < 4 * SLOW, 'it took', took)


def a_server_is_tried_so_often():
    port = free_port()
    with gateway(Scripted(['--connect-attempts', '2', '--connect-backoff',
                           '0.1', '--era', 'legacy',
                           f'tcp://127.0.0.1:{port}'], '/dev/null'),
                 fronts=('tcp',)) as gate, \
            gate.client('tcp', MODERN) as client:
        contains(client.error('tools/list')['message'],
                 'Upstream connection lost')
        equal(sum('started again' in line for line in gate.demo.lines), 1)


# Health.


def a_silent_server_is_found_out():
    """It is there, and says nothing: its clients are taken elsewhere before
    they ask."""
    with places(2, 'tcp', L4) as (a, b), served(
            entry(a, b, healthInterval=200, connectBackoff=100,
                  connectBackoffMax=200, breakerFailures=1),
            fronts=('tcp',)) as gate, gate.client('tcp', L4) as client:
        client.begin()
        client.ask('resources/subscribe', {'uri': 'test://a'})
        a.await_heard('ping')
        a.process.send_signal(signal.SIGSTOP)
        try:
            b.await_heard('resources/subscribe', patience=2 * PATIENCE)
        finally:
            a.process.send_signal(signal.SIGCONT)
        require(logged(gate, 'did not pass a health check'), 'no word of it')
        equal(client.text('echo', {'text': 'x'}), 'x')
        equal(b.calls(), 1)


def nobody_is_probed_who_is_heard_of():
    with places(1, 'tcp', L4) as (a,), served(
            entry(a, healthInterval=60000), fronts=('tcp',)) as gate, \
            gate.client('tcp', L4) as client:
        client.begin()
        for _ in range(5):
            client.text('echo', {'text': 'x'})
            time.sleep(0.05)
        equal(a.heard('ping'), [])


def a_modern_server_is_asked_to_introduce_itself():
    with places(1, 'http', MODERN) as (a,), served(
            entry(a, healthInterval=200), fronts=('tcp',)) as gate, \
            gate.client('tcp', L4) as client:
        client.begin()
        client.text('echo', {'text': 'x'})
        a.await_heard('server/discover', 3)


# Changes.


def replicas_come_and_go_while_sessions_stay():
    with places(3, 'tcp', L4) as (a, b, c), \
            served(entry(a, b), fronts=('tcp',)) as gate, \
            gate.client('tcp', L4, name='one') as one, \
            gate.client('tcp', L4, name='two') as two:
        one.begin()
        two.begin()
        one.ask('resources/subscribe', {'uri': 'test://a'})
        equal(one.text('echo', {'text': '1'}), '1')
        equal(two.text('echo', {'text': '2'}), '2')
        equal([a.calls(), b.calls()], [1, 1])
        number = one.request('tools/call', {'name': 'slow', 'arguments': {
            'text': 'done', 'steps': 5, 'delay': 0.1}})
        a.await_heard('tools/call', 2)
        reload(gate, entry(b, c))  # without the first of all
        equal(text_of(one.answer(number)['result']), 'done')
        until(lambda: b.heard('resources/subscribe') or
              c.heard('resources/subscribe'), 'the session to move')
        equal(one.text('echo', {'text': '3'}), '3')
        equal(two.text('echo', {'text': '4'}), '4')
        equal(a.calls(), 2)
        equal(len(b.heard('initialize')), 1 + bool(
            b.heard('resources/subscribe')))
        reload(gate, entry(b, (c, 0)))
        for number in range(3):
            with gate.client('tcp', L4, name=f'new{number}') as new:
                new.begin()
                new.text('echo', {'text': f'new{number}'})
        said = [call['message']['params']['arguments']['text']
                for call in b.heard('tools/call')]
        for number in range(3):
            contains(said, f'new{number}')


def an_idle_place_that_is_taken_away_is_let_go_of():
    with places(2, 'tcp', L4) as (a, b), \
            served(entry(a, b), fronts=('tcp',)) as gate:
        for name in 'one', 'two':
            with gate.client('tcp', L4, name=name) as client:
                client.begin()
                client.text('echo', {'text': name})
        reload(gate, entry(b))
        time.sleep(0.5)
        again = [line for line in gate.demo.lines if 'started again' in line]
        require(len(again) < 3, len(again), 'starts of what nobody uses')
        with gate.client('tcp', L4, name='new') as client:
            client.begin()
            equal(client.text('echo', {'text': 'x'}), 'x')


# The end.


def drain_takes_nothing_new_and_finishes_what_it_has():
    with places(1, 'tcp', L4) as (a,), gateway(
            Scripted(['--drain', '8', *a.target], '/dev/null'),
            fronts=('tcp', 'http')) as gate, \
            gate.client('tcp', L4) as client:
        client.begin()
        number = client.request('tools/call', {'name': 'slow', 'arguments': {
            'text': 'done', 'steps': 10, 'delay': 0.1}})
        a.await_heard('tools/call')
        gate.demo.process.terminate()

        def is_shut():
            where = Http(gate.urls['http'], L4).where
            try:
                socket.create_connection((where.hostname, where.port)).close()
            except OSError:
                return True
            return False
        until(is_shut, 'the doors to be shut')
        error = client.error('tools/call', {'name': 'echo', 'arguments': {
            'text': 'late'}})
        contains(error['message'], 'shutting down')
        equal(text_of(client.answer(number)['result']), 'done')
        equal(gate.demo.process.wait(PATIENCE), 0)
        equal(a.calls(), 1)
        ended(gate)


def ended(gate):
    """As it was told to; nobody need tell it again."""
    gate.demo.process.poll = lambda: None
    gate.demo.process.terminate = lambda: None


def drain_has_an_end():
    with places(1, 'tcp', L4) as (a,), gateway(
            Scripted(['--drain', '0.3', *a.target], '/dev/null'),
            fronts=('tcp',)) as gate, gate.client('tcp', L4) as client:
        client.begin()
        number = client.request('tools/call', {'name': 'wait'})
        a.await_heard('tools/call')
        begun = time.monotonic()
        gate.demo.process.terminate()
        contains(client.answer(number)['error']['message'], 'shutting down')
        equal(gate.demo.process.wait(PATIENCE), 0)
        require(time.monotonic() - begun < 4 * SLOW, 'it took too long')
        ended(gate)


def a_second_signal_ends_it_at_once():
    with places(1, 'tcp', L4) as (a,), gateway(
            Scripted(['--drain', '60', *a.target], '/dev/null'),
            fronts=('tcp',)) as gate, gate.client('tcp', L4) as client:
        client.begin()
        client.request('tools/call', {'name': 'wait'})
        a.await_heard('tools/call')
        gate.demo.process.terminate()
        time.sleep(0.5 * SLOW)
        equal(gate.demo.process.poll(), None, 'it waits')
        gate.demo.process.terminate()
        equal(gate.demo.process.wait(PATIENCE), -signal.SIGTERM)
        ended(gate)
        gate.demo.process.wait = lambda *_: 0


for one_way in ('http', 'tcp'):
    fact(f'modern requests are shared by weight: {one_way}',
         lambda way=one_way: modern_requests_are_shared_by_weight(way))
    for one_revision in (L4, MODERN):
        fact('nothing is lost or doubled when one is killed: '
             f'{one_way}, {one_revision}',
             lambda way=one_way, revision=one_revision:
             nothing_is_lost_or_doubled_when_one_is_killed(way, revision))
        fact('what may have run fails, what is safe does not: '
             f'{one_way}, {one_revision}',
             lambda way=one_way, revision=one_revision:
             what_may_have_run_fails_and_what_is_safe_does_not(way, revision))
        fact(f'all down, then one returns: {one_way}, {one_revision}',
             lambda way=one_way, revision=one_revision:
             all_down_then_one_returns(way, revision))
    fact(f'a session moves with its subscriptions: {one_way}',
         lambda way=one_way: a_session_moves_with_its_subscriptions(way))
for one_revision in (L4, MODERN):
    fact(f'a refusal says when to come back: {one_revision}',
         lambda revision=one_revision:
         a_refusal_says_when_to_come_back(revision))
for one in (sessions_are_shared_and_stay,
            the_command_line_has_replicas,
            refused_connections_lose_nothing,
            one_that_returns_is_found_and_used,
            standby_is_asked_when_no_other_is_well,
            children_are_replicas_too,
            the_queue_is_bounded_by_count,
            the_queue_is_bounded_by_bytes,
            the_queue_is_bounded_by_time,
            a_server_is_tried_so_often,
            a_silent_server_is_found_out,
            nobody_is_probed_who_is_heard_of,
            a_modern_server_is_asked_to_introduce_itself,
            replicas_come_and_go_while_sessions_stay,
            an_idle_place_that_is_taken_away_is_let_go_of,
            drain_takes_nothing_new_and_finishes_what_it_has,
            drain_has_an_end,
            a_second_signal_ends_it_at_once):
    fact(one.__name__.replace('_', ' '), one)

if __name__ == '__main__':
    sys.exit(main())
