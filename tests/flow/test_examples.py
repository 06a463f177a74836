#!/usr/bin/env python3
"""test_examples.py - the programs of examples/, run.

They are what people copy from, so they must work as their comments say.
Prints TAP. EXAMPLES names the directory they are in, FAIRLEAD the command.
"""
import json
import os
import signal
import sys
from pathlib import Path

from flow import (Lines, Skip, WAIT, call, contains, equal, folder, free_port,
                  main, require, run, started, until)

HOME = Path(os.environ['EXAMPLES'])
(ADDER, STRUCTURED, SLOW_TOOL, WORKER, ASK_BACK, CALL_A_TOOL, EMBED,
 FILE_SERVER, GREETER) = (
    str(HOME / name) for name in (
        'adder', 'structured', 'slow_tool', 'worker', 'ask_back',
        'call_a_tool', 'embed', 'file_server', 'greeter'))


def test_adder_adds_over_stdio():
    call('call', 'add', 'a=2', 'b=3', '--', ADDER).expect(0, '5\n')


def test_adder_is_not_called_with_what_its_schema_refuses():
    for words, quote in ((['a=2'], '"b"'), (['a=2', 'b=x'], 'b: '),
                         ([], '"a"')):
        done = call('call', 'add', *words, '--', ADDER).expect(4, '')
        contains(done.err, quote)
    call('call', 'add', 'a=2', '--revision', '2025-06-18', '--',
         ADDER).expect(3, '')


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


def test_structured_answers_in_fields_and_in_words():
    numbers = 'numbers=[3,1,4,1,5]'
    done = call('call', 'statistics', numbers, '--', STRUCTURED).expect(0)
    contains(done.out, '5 numbers from 1 to 5')
    for revision in '2025-06-18', '2026-07-28':
        done = call('call', 'statistics', numbers, '--json', '--revision',
                    revision, '--', STRUCTURED).expect(0)
        equal(json.loads(done.out)['structuredContent'],
              {'count': 5, 'mean': 2.8, 'range': [1, 5]}, revision)
    done = call('call', 'statistics', numbers, '--json', '--revision',
                '2025-03-26', '--', STRUCTURED).expect(0)
    require('structuredContent' not in json.loads(done.out), done.out)
    call('call', 'statistics', 'numbers=[]', '--', STRUCTURED).expect(4)


def test_slow_tool_answers_later():
    call('call', 'count_down', 'from=3', '--', SLOW_TOOL).expect(
        0, 'lift-off\n')
    call('call', 'count_down', 'from=101', '--', SLOW_TOOL).expect(4)
    call('call', 'count_down', 'from=x', '--', SLOW_TOOL).expect(4)


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


def test_worker_counts_on_a_thread():
    call('call', 'count_primes', 'below=1000', '--', WORKER).expect(
        0, '168 primes\n')
    call('call', 'count_primes', 'below=1', '--', WORKER).expect(4)
    done = run(CALL_A_TOOL, '--', 'count_primes', '{"below":1000}', WORKER)
    told = [int(line.split()[1]) for line in done.expect(0).out.splitlines()
            if line.startswith('progress: ')]
    require(told and told == sorted(set(told)), 'it goes up', told)


def test_worker_is_a_task_for_who_holds_tasks():
    for revision in ('2026-07-28', '2025-11-25'):
        call('call', 'count_primes', 'below=1000', '--task', '--revision',
             revision, '--', WORKER).expect(0, '168 primes\n')
    with folder() as place:
        url = f'unix:{place}/s'
        with started(WORKER, url):
            until(lambda: call(url, 'ping').code == 0, 'the server is up')
            with Lines(url) as client:
                client.initialize()
                client.request('tools/call', name='count_primes', task={},
                               arguments={'below': 1000})
                task = client.receive()['result']['task']['taskId']
                asked = client.request('tasks/result', taskId=task)
                answer = client.receive()
                while answer.get('id') != asked:
                    answer = client.receive()
                equal(answer['result']['content'][0]['text'], '168 primes')


def test_worker_stops_its_thread_when_cancelled():
    with folder() as place:
        url = f'unix:{place}/s'
        with started(WORKER, url) as server:
            until(lambda: call(url, 'ping').code == 0, 'the server is up')
            with Lines(url) as client:
                client.initialize()
                threads = Path(f'/proc/{server.pid}/task')
                before = len(list(threads.iterdir()))
                slow = client.request('tools/call', name='count_primes',
                                      arguments={'below': 1000000000})
                until(lambda: len(list(threads.iterdir())) > before, 'work')
                client.send({'method': 'notifications/cancelled',
                             'params': {'requestId': slow}})
                ping = client.request('ping')
                equal(client.receive()['id'], ping)
                equal(len(list(threads.iterdir())), before, 'threads')
                client.request('tools/call', name='count_primes',
                               arguments={'below': 1000000000})
                server.send_signal(signal.SIGTERM)
                equal(server.wait(WAIT), 0, 'exit')


def test_ask_back_asks_first():
    words = ('call', 'book_berth', 'ship=Gannet', '--', ASK_BACK)
    for revision in ('2026-07-28', '2025-11-25', '2025-06-18'):
        newest = ('--revision', revision)
        call('--accept-defaults', *newest, *words).expect(
            0, 'Gannet: 1 night, port side\n')
        call('--answer', 'nights=3', *newest, *words).expect(
            0, 'Gannet: 3 nights, port side\n')
        call('--decline', *newest, *words).expect(0, 'nothing was booked\n')
        contains(call(*newest, *words).expect(4).err, 'call the harbour')
    done = run(CALL_A_TOOL, '--', 'book_berth', '{"ship":"Gannet"}', ASK_BACK)
    contains(done.expect(0).out, 'asked: How long will she stay?\n')
    contains(done.out, 'Gannet: 1 night, port side')


def test_greeter_is_cpp():
    if not Path(GREETER).exists():
        raise Skip('there is no C++ compiler')
    call('call', 'greet', 'name=Ada', '--', GREETER).expect(0, 'Ahoy, Ada!\n')
    done = call('call', 'greet', 'name=', '--', GREETER).expect(4, '')
    contains(done.err, 'nobody has no name')
    contains(run(GREETER, 'tcp:nowhere').expect(1).err, 'tcp:nowhere')


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


def read(client, uri):
    asked = client.request('resources/read', uri=uri)
    answer = client.receive()
    equal(answer['id'], asked)
    return answer


def test_file_server_serves_files_and_nothing_else():
    with folder() as place:
        docs, skills = Path(place, 'docs'), Path(place, 'skills')
        docs.mkdir()
        (skills / 'greet').mkdir(parents=True)
        Path(place, 'secret').write_text('secret')
        (docs / 'a b.md').write_text('# Ahoy')
        (docs / 'out').symlink_to('../secret')
        (skills / 'greet' / 'SKILL.md').write_text(
            '---\nname: greet\ndescription: Says ahoy\n---\n')
        url = f'unix:{place}/s'
        with started(FILE_SERVER, '--skills', str(skills), str(docs),
                     url) as server:
            until(lambda: call(url, 'ping').code == 0, 'the server is up')
            with Lines(url) as client:
                client.initialize()
                answer = read(client, 'docs:///a%20b.md')
                equal(answer['result']['contents'][0]['text'], '# Ahoy')
                for bad in ('docs:///out', 'docs:///../secret',
                            'docs:///%2e%2e/secret', 'docs:///'):
                    equal(read(client, bad)['error'],
                          {'code': -32002, 'message': 'resource not found',
                           'data': {'uri': bad}})
                client.request('skills/list')
                skill, = client.receive()['result']['skills']
                equal(skill['frontmatter'],
                      {'name': 'greet', 'description': 'Says ahoy'})
            (docs / 'new').write_text('')
            call(url, 'call', 'look_again').expect(0, '2 files\n')
            server.send_signal(signal.SIGTERM)
            equal(server.wait(WAIT), 0, 'exit')


def test_file_server_says_what_is_wrong():
    run(FILE_SERVER, '--help').expect(0)
    run(FILE_SERVER).expect(2)
    run(FILE_SERVER, '--what').expect(2)
    contains(run(FILE_SERVER, '/no/where').expect(1).err,
             "files below '/no/where': not found")
    with folder() as place:
        Path(place, 'Bad').mkdir()
        Path(place, 'Bad', 'SKILL.md').write_text('')
        contains(run(FILE_SERVER, '--skills', place, place).expect(1).err,
                 "skill 'Bad': a name has")


if __name__ == '__main__':
    sys.exit(main(__name__))
