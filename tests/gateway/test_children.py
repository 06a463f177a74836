#!/usr/bin/env python3
"""test_children.py - the processes behind the gateway: what happens when one
dies, cannot be started, or is slow; and that none is ever left behind.

Prints TAP. FAIRLEAD names the program.
"""
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from cases import Scripted, between, fact, folder, gateway, main, scripted
from clients import text_of
from flow import FAIRLEAD, SLOW, contains, equal, require, until
from scenes import L4, MODERN

SECRET = 'Authorization: Bearer abcdef0123456789'


def there(pid):
    """Not even as a zombie."""
    return Path(f'/proc/{pid}').exists()


def pids(server):
    """Of all children there were, oldest first."""
    return [one['pid'] for one in server.seen('started')]


def living(server):
    return [pid for pid in pids(server) if there(pid)]


def fails(client, number, within=5):
    """The error; and it is there at once."""
    begun = time.monotonic()
    said = client.answer(number)
    require('error' in said, 'no error:', said)
    took = time.monotonic() - begun
    require(took < within * SLOW, 'it took', took)
    return said['error']


def waiting(client, server, count=1):
    """A call that the server has, and will not answer."""
    number = client.request('tools/call', {'name': 'wait'})
    server.await_heard('tools/call', count)
    return number


@contextlib.contextmanager
def command(*words):
    """A server that is this command; $LOG in it is a file of its own."""
    with folder() as place:
        path = Path(place) / 'log'
        path.touch()
        yield Scripted(['--', *(word.replace('$LOG', str(path))
                                for word in words)], path)


def shell(line):
    return command('/bin/sh', '-c', line)


# A child that dies.


def a_killed_child_fails_its_calls_at_once():
    for revision in (L4, MODERN):
        with between('tcp', revision, 'stdio', L4) as (client, server):
            client.begin()
            number = waiting(client, server)
            os.kill(pids(server)[-1], signal.SIGKILL)
            error = fails(client, number)
            equal(error['code'], -32603)
            contains(error['message'], 'Upstream connection lost')
            contains(error['message'], 'signal 9')
            equal(text_of(client.call('echo', {'text': 'again'})), 'again')
            equal(len(set(pids(server))), 2)


def the_error_has_the_last_words_of_the_child():
    with between('tcp', L4, 'stdio', L4) as (client, server):
        client.begin()
        said = {'name': 'mutter', 'arguments': {
            'lines': [f'line {i}' for i in range(30)] + [SECRET]}}
        client.ask('tools/call', said)
        error = fails(client, client.request('tools/call', {'name': 'die'}))
        words = error['data']['stderr']
        equal(len(words), 20, words)
        equal(words[0], 'line 11')
        equal(words[-2:], ['line 29', 'Authorization: [redacted]'])
        client.call('echo', {'text': 'fresh'})
        number = waiting(client, server, 4)
        os.kill(pids(server)[-1], signal.SIGKILL)
        equal(fails(client, number)['data'], {'stderr': []})


def subscriptions_and_levels_are_replayed():
    with between('tcp', L4, 'stdio', L4) as (client, server):
        client.begin()
        client.ask('resources/subscribe', {'uri': 'test://a'})
        client.ask('logging/setLevel', {'level': 'warning'})
        os.kill(pids(server)[-1], signal.SIGKILL)
        server.await_heard('resources/subscribe', 2)
        second = server.await_heard('logging/setLevel', 2)[-1]
        equal(second['message']['params'], {'level': 'warning'})
        client.call('touch', {'uri': 'test://a'})
        equal(client.notification('notifications/resources/updated')['uri'],
              'test://a')


def a_list_is_asked_for_once_more_and_no_more():
    with command(sys.executable, '-S', '-E', '-c', FATAL) as server:
        with gateway(server, fronts=('tcp',)) as gate, \
                gate.client('tcp', L4) as client:
            client.begin()
            error = fails(client, client.request('tools/list'), 30)
            equal(error['code'], -32603)
            asked = server.path.read_text().count('tools/list')
            equal(asked, 2, 'how often it was asked')


# Reads, and dies of any list; $LOG has what it saw.
FATAL = '''
import json, os, sys
for line in sys.stdin:
    one = json.loads(line)
    with open('$LOG', 'a') as log:
        log.write(one['method'] + chr(10))
    if one['method'] == 'tools/list':
        os._exit(3)
    if one['method'] == 'initialize':
        print(json.dumps({'jsonrpc': '2.0', 'id': one['id'], 'result': {
            'protocolVersion': '2025-11-25', 'capabilities': {'tools': {}},
            'serverInfo': {'name': 'fatal', 'version': '1'}}}), flush=True)
    elif 'id' in one:
        print(json.dumps({'jsonrpc': '2.0', 'id': one['id'], 'error': {
            'code': -32601, 'message': 'no'}}), flush=True)
'''


def a_dead_child_that_nobody_needs_stays_dead():
    with scripted('stdio', L4) as server, \
            gateway(server, fronts=('tcp',)) as gate:
        with gate.client('tcp', L4) as client:
            client.begin()
            equal(text_of(client.call('echo', {'text': 'a'})), 'a')
        first = pids(server)[-1]
        os.kill(first, signal.SIGKILL)
        until(lambda: not there(first), 'the child is reaped')
        time.sleep(1)
        equal(len(set(pids(server))), 1, 'processes started')
        with gate.client('tcp', L4) as client:
            client.begin()
            equal(text_of(client.call('echo', {'text': 'b'})), 'b')


# One that cannot be started.


def a_command_that_is_not_there_is_named_at_once():
    with command('/nonexistent/mcp-server') as server:
        with gateway(server, fronts=('tcp',)) as gate:
            for revision in (L4, MODERN):
                with gate.client('tcp', revision) as client:
                    number = client.request(
                        'server/discover' if client.modern else 'initialize',
                        {} if client.modern else {
                            'protocolVersion': L4, 'capabilities': {},
                            'clientInfo': {'name': 'x', 'version': '1'}})
                    error = fails(client, number, 2)
                    equal(error['code'], -32603)
                    contains(error['message'], '/nonexistent/mcp-server')


def a_child_that_exits_at_start_is_tried_twice_more():
    with shell('echo run >> $LOG; echo no such database >&2; exit 7') as server:
        with gateway(server, '--era', 'legacy', fronts=('tcp',)) as gate, \
                gate.client('tcp', L4) as client:
            number = client.request('initialize', {
                'protocolVersion': L4, 'capabilities': {},
                'clientInfo': {'name': 'x', 'version': '1'}})
            error = fails(client, number, 10)
            contains(error['message'], 'exited with code 7')
            equal(error['data'], {'stderr': ['no such database']})
            equal(server.path.read_text(), 'run\n' * 3)
            # the conversation has not begun, and may
            number = client.request('initialize', {
                'protocolVersion': L4, 'capabilities': {},
                'clientInfo': {'name': 'x', 'version': '1'}})
            contains(fails(client, number, 10)['message'], 'code 7')


def a_server_that_always_fails_is_left_alone_for_a_while():
    with shell('echo run >> $LOG; exit 7') as server:
        with gateway(server, '--era', 'legacy', '--breaker-pause', '1',
                     fronts=('tcp',)) as gate, \
                gate.client('tcp', L4) as client:
            hello = {'protocolVersion': L4, 'capabilities': {},
                     'clientInfo': {'name': 'x', 'version': '1'}}
            for _ in range(2):
                fails(client, client.request('initialize', hello), 10)
            runs = server.path.read_text().count('run')
            equal(runs, 5, 'it was tried')
            error = fails(client, client.request('initialize', hello), 0.5)
            contains(error['message'], 'exited with code 7')
            contains(error['message'], 'try again in 1 s')
            equal(error['data'], {'retryAfter': 1})
            equal(server.path.read_text().count('run'), runs)
            time.sleep(1.1)
            fails(client, client.request('initialize', hello), 10)
            require(server.path.read_text().count('run') > runs,
                    'it was not tried after the pause')


def logged(gate, *parts):
    """Lines of the gateway's log with all of these in them."""
    return [line for line in gate.demo.lines
            if all(part in line for part in parts)]


def a_server_that_does_not_answer_initialize_is_named():
    with shell('echo run >> $LOG; exec sleep 600') as server, \
            gateway(server, '--era', 'legacy', '--name', 'mute',
                    '--queue-time', '1', fronts=('tcp',)) as gate, \
            gate.client('tcp', L4) as client:
        number = client.request('initialize', {
            'protocolVersion': L4, 'capabilities': {},
            'clientInfo': {'name': 'x', 'version': '1'}})
        error = fails(client, number, 10)
        contains(error['message'], 'it has not answered initialize within 1.')
    with shell('exec sleep 600') as server, \
            gateway(server, '--era', 'legacy', '--name', 'mute',
                    fronts=('tcp',)) as gate, \
            gate.client('tcp', L4) as client:
        client.request('initialize', {
            'protocolVersion': L4, 'capabilities': {},
            'clientInfo': {'name': 'x', 'version': '1'}})
        until(lambda: logged(gate, '"warn"', 'has not answered initialize',
                             '"server":"mute"'), 'a warning')


def a_death_is_logged_though_nobody_needs_another():
    """Neither a request's own child nor one without a session is started
    again."""
    for mode in ('request', 'auto'):
        with between('http', MODERN, 'stdio', L4, '--child', mode,
                     '--name', 'frail') as (client, _):
            client.begin()
            gate = client.gate
            fails(client, client.request('tools/call', {'name': 'die'}), 10)
            until(lambda gate=gate: logged(
                gate, '"warn"', 'the server has gone', '"server":"frail"',
                'exited with code 1'), 'a warning')


def one_that_is_ended_is_not_said_to_have_gone():
    with scripted('stdio', L4) as server, \
            gateway(server, '--child', 'session', fronts=('tcp',)) as gate:
        with gate.client('tcp', L4) as client:
            client.begin()
            equal(text_of(client.call('echo', {'text': 'a'})), 'a')
        until(lambda: not living(server), 'it is ended')
        equal(logged(gate, 'has gone'), [])


# Whose failures they are.


def what_a_client_does_to_its_child_is_its_own_affair():
    with scripted('stdio', L4) as server, \
            gateway(server, '--child', 'session', '--breaker-failures', '2',
                    '--breaker-pause', '300', fronts=('tcp',)) as gate, \
            gate.client('tcp', L4) as one, gate.client('tcp', L4) as two:
        one.begin()
        two.begin()
        for _ in range(4):
            fails(one, one.request('tools/call', {'name': 'die'}), 10)
        equal(text_of(two.call('echo', {'text': 'a'})), 'a')
        equal(text_of(one.call('echo', {'text': 'b'})), 'b')
        with gate.client('tcp', L4) as three:
            three.begin()
            equal(text_of(three.call('echo', {'text': 'c'})), 'c')


def who_has_a_child_keeps_it_though_no_other_can_be_started():
    with shell(f'test -s $LOG && exit 7; '
               f'exec {FAIRLEAD} demo --listen stdio: --quiet') as server, \
            gateway(server, '--era', 'legacy', '--child', 'session',
                    '--breaker-failures', '2', '--breaker-pause', '300',
                    fronts=('tcp',)) as gate, \
            gate.client('tcp', L4) as one, gate.client('tcp', L4) as two:
        one.begin()
        server.path.write_text('no more')
        two.begin()  # with what is known of it
        fails(two, two.request('tools/list'), 10)
        error = fails(two, two.request('tools/list'), 10)
        contains(error['message'], 'failed 2 times in a row')
        require('tools' in one.ask('tools/list'), 'it was refused')


def a_child_that_hangs_is_found_out_and_replaced():
    with scripted('stdio', L4) as server, \
            gateway(server, '--child', 'session', '--health-interval', '0.5',
                    '--breaker-failures', '1', fronts=('tcp',)) as gate, \
            gate.client('tcp', L4) as one, gate.client('tcp', L4) as two:
        one.begin()
        number = waiting(one, server)
        hung = pids(server)[-1]
        two.begin()
        os.kill(hung, signal.SIGSTOP)
        error = fails(one, number, 20)
        equal(error['code'], -32603)
        contains(error['message'], 'no answer to a health check')
        equal(text_of(two.call('echo', {'text': 'a'})), 'a')
        equal(text_of(one.call('echo', {'text': 'b'})), 'b')
        until(lambda: not there(hung), 'it is ended')


# Who else may end.


def no_child_survives_the_gateway():
    with scripted('stdio', L4) as server:
        with folder() as place:
            process = subprocess.Popen(
                [FAIRLEAD, 'serve', '--listen', f'unix:{place}/s', '--child',
                 'session', '--warm', '2', *map(str, server.target)],
                stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
            try:
                until(lambda: len(set(pids(server))) >= 2, 'two are warm')
            finally:
                process.kill()
                process.wait()
        until(lambda: not living(server), 'no child is left')


def a_client_that_is_killed_takes_its_own_child_with_it():
    with scripted('stdio', L4) as server:
        words = [FAIRLEAD, 'serve', '--listen', 'stdio:', *server.target]
        host = subprocess.Popen(
            [sys.executable, '-c', HOST, *map(str, words)])
        until(lambda: server.heard('tools/call'), 'the call is under way')
        host.kill()
        host.wait()
        until(lambda: not living(server), 'no child is left')


# Runs a gateway as a host does, calls, and waits.
HOST = '''
import json, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
def say(**more):
    child.stdin.write(json.dumps({'jsonrpc': '2.0', **more}).encode() + b'\\n')
    child.stdin.flush()
say(id=1, method='initialize', params={'protocolVersion': '2025-11-25',
    'capabilities': {}, 'clientInfo': {'name': 'host', 'version': '1'}})
child.stdout.readline()
say(method='notifications/initialized')
say(id=2, method='tools/call', params={'name': 'wait'})
child.wait()
'''


def sigterm_lets_calls_finish():
    with scripted('stdio', L4) as server, \
            gateway(server, fronts=('tcp',)) as gate, \
            gate.client('tcp', L4) as client:
        client.begin()
        number = client.request('tools/call', {'name': 'slow', 'arguments': {
            'text': 'done', 'steps': 10, 'delay': 0.1}})
        server.await_heard('tools/call')
        begun = time.monotonic()
        gate.demo.process.terminate()
        equal(text_of(client.answer(number)['result']), 'done')
        equal(gate.demo.process.wait(10), 0)
        took = time.monotonic() - begun
        require(took < 4 * SLOW, 'it waited for nothing:', took)
        until(lambda: not living(server), 'no child is left')
        gate.demo.process.poll = lambda: None  # it has ended, as told
        gate.demo.process.terminate = lambda: None


# Children ahead of time.


def every_request_has_a_child_of_its_own():
    for revision in (L4, MODERN):
        with between('tcp', revision, 'stdio', L4, '--child', 'request',
                     '--warm', '2') as (client, server):
            client.begin()
            for i in range(4):
                equal(text_of(client.call('echo', {'text': str(i)})), str(i))
            used = [one['pid'] for one in server.heard('tools/call')]
            equal(len(set(used)), 4, 'children for four calls')
            until(lambda: len(living(server)) == 2, 'two are kept, no more')


def requests_wait_when_there_are_too_many_children():
    with between('tcp', L4, 'stdio', L4, '--child', 'request', '--warm', '1',
                 '--max-children', '2') as (client, server):
        client.begin()
        numbers = [client.request('tools/call', {
            'name': 'slow', 'arguments': {'text': str(i), 'steps': 1}})
            for i in range(6)]
        most = 0
        for i, number in enumerate(numbers):
            equal(text_of(client.answer(number)['result']), str(i))
            most = max(most, len(living(server)))
        require(most <= 2, 'there were', most, 'children')
        equal(len({one['pid'] for one in server.heard('tools/call')}), 6)


def a_session_gets_a_child_that_was_ready():
    with scripted('stdio', L4) as server, \
            gateway(server, '--child', 'session', '--warm', '1',
                    fronts=('tcp',)) as gate:
        server.await_heard('notifications/initialized')
        ready = pids(server)[-1]
        with gate.client('tcp', L4) as one, gate.client('tcp', L4) as two:
            one.begin()
            equal(text_of(one.call('echo', {'text': '1'})), '1')
            equal(server.heard('tools/call')[-1]['pid'], ready)
            two.begin()
            equal(text_of(two.call('echo', {'text': '2'})), '2')
            require(server.heard('tools/call')[-1]['pid'] != ready,
                    'two sessions have one child')
        until(lambda: len(living(server)) == 1, 'one is kept')


def what_was_one_connections_alone_goes_with_it():
    for revision in (L4, MODERN):
        with scripted('stdio', L4) as server, \
                gateway(server, '--child', 'auto', fronts=('tcp',)) as gate:
            with gate.client('tcp', revision) as client:
                client.begin()
                equal(text_of(client.call('echo', {'text': 'x'})), 'x')
                equal(len(living(server)), 1)
            until(lambda server=server: not living(server), 'it has gone')


def who_waits_for_nobody_gives_way():
    """Clients that come and go, and more of them than there may be children:
    none is turned away, and none that is still there is disturbed."""
    with scripted('stdio', L4) as server, \
            gateway(server, '--child', 'auto', '--max-children', '2',
                    fronts=('http',)) as gate:
        with gate.client('http', L4) as first:
            first.begin()
            for number in range(6):
                with gate.client('http', MODERN) as other:
                    other.name = f'client {number}'
                    other.begin()
                    equal(text_of(other.call('echo', {'text': 'x'})), 'x')
            equal(text_of(first.call('echo', {'text': 'y'})), 'y')
            require(pids(server)[0] in living(server), 'the first has gone')
        require(len(set(pids(server))) >= 6, 'they shared', pids(server))


def initialize_is_answered_while_the_child_boots():
    for revision in (L4, MODERN):
        with between('tcp', revision, 'stdio', L4, '--child', 'shared',
                     manners=('slow-start',)) as (client, server):
            before = client.begin() if client.modern else client.initialize()
            before = client.ask('server/discover') if client.modern else before
            os.kill(pids(server)[-1], signal.SIGKILL)
            until(lambda: not living(server), 'it is dead')
            with client.gate.client('tcp', revision) as other:
                begun = time.monotonic()
                after = other.ask('server/discover') if other.modern \
                    else other.initialize()
                took = time.monotonic() - begun
                equal(after, before)
                require(took < 0.8, 'it took', took)
                equal(text_of(other.call('echo', {'text': 'x'})), 'x')


for one in (a_killed_child_fails_its_calls_at_once,
            the_error_has_the_last_words_of_the_child,
            subscriptions_and_levels_are_replayed,
            a_list_is_asked_for_once_more_and_no_more,
            a_dead_child_that_nobody_needs_stays_dead,
            a_command_that_is_not_there_is_named_at_once,
            a_child_that_exits_at_start_is_tried_twice_more,
            a_server_that_always_fails_is_left_alone_for_a_while,
            a_server_that_does_not_answer_initialize_is_named,
            a_death_is_logged_though_nobody_needs_another,
            one_that_is_ended_is_not_said_to_have_gone,
            what_a_client_does_to_its_child_is_its_own_affair,
            who_has_a_child_keeps_it_though_no_other_can_be_started,
            a_child_that_hangs_is_found_out_and_replaced,
            no_child_survives_the_gateway,
            a_client_that_is_killed_takes_its_own_child_with_it,
            sigterm_lets_calls_finish,
            every_request_has_a_child_of_its_own,
            requests_wait_when_there_are_too_many_children,
            a_session_gets_a_child_that_was_ready,
            what_was_one_connections_alone_goes_with_it,
            who_waits_for_nobody_gives_way,
            initialize_is_answered_while_the_child_boots):
    fact(one.__name__.replace('_', ' '), one)

if __name__ == '__main__':
    sys.exit(main())
