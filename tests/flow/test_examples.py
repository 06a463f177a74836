#!/usr/bin/env python3
"""test_examples.py ADDER SLOW_TOOL CALL_A_TOOL EMBED - the examples, run.

They are what people copy from, so they must work as their comments say.
Prints TAP.
"""
import json
import signal
import sys

from flow import (Lines, WAIT, call, contains, equal, folder, free_port, main,
                  require, run, started, until)

ADDER, SLOW_TOOL, CALL_A_TOOL, EMBED = sys.argv[1:5]


def test_adder_adds_over_stdio():
    call('call', 'add', 'a=2', 'b=3', '--', ADDER).expect(0, '5\n')
    call('call', 'add', 'a=2', '--', ADDER).expect(3)


def test_adder_adds_over_tcp_and_ends_when_told_to():
    url = f'tcp://127.0.0.1:{free_port()}'
    with started(ADDER, url) as adder:
        until(lambda: call(url, 'ping').code == 0, 'the adder is up')
        call(url, 'call', 'add', 'a=0.5', 'b=0.25').expect(0, '0.75\n')
        adder.send_signal(signal.SIGTERM)
        equal(adder.wait(WAIT), 0, 'exit')


def test_adder_says_what_is_wrong_with_an_address():
    done = run(ADDER, 'tcp:nowhere').expect(1)
    contains(done.err, 'tcp:nowhere')


def test_slow_tool_answers_later():
    call('call', 'count_down', 'from=3', '--', SLOW_TOOL).expect(
        0, 'lift-off\n')
    call('call', 'count_down', 'from=101', '--', SLOW_TOOL).expect(4)
    call('call', 'count_down', 'from=x', '--', SLOW_TOOL).expect(3)


def test_slow_tool_tells_how_far_it_is():
    done = run(CALL_A_TOOL, '--', 'count_down', '{"from":3}', SLOW_TOOL)
    done.expect(0)
    contains(done.out, 'progress: 1 of 3, 2 to go\n'
             'progress: 2 of 3, 1 to go\n')


def test_slow_tool_stops_when_cancelled():
    with folder() as place:
        url = f'unix:{place}/s'
        with started(SLOW_TOOL, url) as server:
            until(lambda: call(url, 'ping').code == 0, 'the server is up')
            with Lines(url) as client:
                client.initialize()
                slow = client.request('tools/call', name='count_down',
                                      arguments={'from': 100})
                client.send({'method': 'notifications/cancelled',
                             'params': {'requestId': slow}})
                ping = client.request('ping')
                equal(client.receive()['id'], ping)
            server.send_signal(signal.SIGTERM)
            equal(server.wait(WAIT), 0, 'exit')


def test_call_a_tool_lists_and_calls_over_a_socket():
    url = f'tcp://127.0.0.1:{free_port()}'
    with started(ADDER, url):
        until(lambda: call(url, 'ping').code == 0, 'the adder is up')
        done = run(CALL_A_TOOL, url, 'add', '{"a":2,"b":3}').expect(0)
        tools, result = done.out.splitlines()
        listed = json.loads(tools.partition(': ')[2])['tools']
        equal([tool['name'] for tool in listed], ['add'])
        equal(json.loads(result.partition(': ')[2])['content'],
              [{'type': 'text', 'text': '5'}])


def test_call_a_tool_runs_a_child():
    done = run(CALL_A_TOOL, '--', 'add', '{"a":2,"b":3}', ADDER, 'stdio:')
    done.expect(0)
    contains(done.out, '"text":"5"')


def test_call_a_tool_says_what_failed():
    url = f'tcp://127.0.0.1:{free_port()}'
    contains(run(CALL_A_TOOL, url, 'add', '{}').expect(1).err, 'refused')
    run(CALL_A_TOOL, '--', 'add', '[]', ADDER).expect(1)
    contains(run(CALL_A_TOOL, '--', 'nope', '{}', ADDER).expect(1).out,
             'failed: ')
    run(CALL_A_TOOL).expect(1)


def test_embed_serves_beside_a_terminal():
    with started(EMBED) as program:
        port = program.stdout.readline().split()[1].decode()
        url = f'tcp://127.0.0.1:{port}'
        call(url, 'call', 'last_line').expect(0, '\n')
        program.stdin.write(b'ahoy\n')
        program.stdin.flush()
        equal(program.stdout.readline(), b'heard ahoy\n')
        call(url, 'call', 'last_line').expect(0, 'ahoy\n')
        program.stdin.write(b'quit\n')
        program.stdin.flush()
        equal(program.wait(WAIT), 0, 'exit')


def test_embed_ends_with_its_stdin_and_tells_its_clients():
    with started(EMBED) as program:
        port = program.stdout.readline().split()[1].decode()
        with Lines(f'tcp://127.0.0.1:{port}') as client:
            client.initialize()
            program.stdin.close()
            require(client.receive() is None, 'the connection is open')
        equal(program.wait(WAIT), 0, 'exit')


if __name__ == '__main__':
    sys.exit(main(__name__))
