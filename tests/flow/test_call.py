#!/usr/bin/env python3
"""test_call.py - `fairlead call`, the whole program, against servers of all
manners: the demo, children that misbehave, and fakes that say odd things.

Prints TAP. FAIRLEAD and BADCHILD name the programs.
"""
import base64
import json
import os
import shutil
import signal
import subprocess
import sys

from flow import (FAIRLEAD, Fake, Skip, Terminal, WAIT, alive, at_once, call,
                  contains, demo, equal, folder, free_port, main, require, run,
                  started, stretched, until)

BADCHILD = os.environ.get('BADCHILD', 'badchild')
CHILD = (FAIRLEAD, 'demo', '--listen', 'stdio:')


def on_all_ways(check):
    """The same over TCP, over a Unix socket, and with a child."""
    with folder() as place:
        urls = ('tcp://127.0.0.1:0', f'unix:{place}/s')
        with demo(listen=urls) as serving:
            for url in serving.urls:
                check(lambda *words, url=url, **more: call(url, *words, **more))
    check(lambda *words, **more: call(*words, '--', *CHILD, **more))


def says(*content, **more):
    """A fake server whose every answer is this."""
    return Fake(lambda message: [{'result': {'content': list(content),
                                             **more}}])


def text(words):
    return {'type': 'text', 'text': words}


def test_tools_are_listed_with_their_arguments():
    def check(to):
        lines = to('tools').expect(0).out.splitlines()
        equal(lines[:4], ['echo     Returns the text it was given',
                          '         text: string',
                          'add      Adds two numbers',
                          '         a: number, b: number'])
        contains('\n'.join(lines), '[steps: integer >= 0 <= 10000 = 5], '
                 '[delay_ms: integer >= 0 <= 60000 = 200]')
        contains('\n'.join(lines), '         -> roots: any[]')
    on_all_ways(check)


def test_tools_is_what_one_gets_without_an_action():
    with demo() as serving:
        equal(call(serving.urls[0]).expect(0).out,
              call(serving.urls[0], 'tools').out)
    equal(call('--', *CHILD).expect(0).out,
          call('tools', '--', *CHILD).out)


def test_every_tool_of_the_demo_can_be_called():
    def check(to):
        to('call', 'echo', 'text=hello world').expect(0, 'hello world\n')
        to('call', 'add', 'a=2', 'b=3').expect(0, '5\n')
        to('call', 'add', '{"a":2,"b":3}').expect(0, '5\n')
        to('call', 'add', '-', stdin=b' {"a":2,"b":3}\n').expect(0, '5\n')
        to('call', 'slow', 'steps=2', 'delay_ms=1').expect(
            0, 'done, in 2 steps\n')
        to('call', 'large', 'bytes=1000000').expect(0)
        equal(len(to('call', 'time').expect(0).out), 25)
        failed = to('call', 'fail', 'message=oh no').expect(4, '')
        equal(failed.err, 'oh no\n')
    on_all_ways(check)


def test_ping_and_info():
    def check(to):
        contains(to('ping').expect(0).out, 'pong, ')
        out = to('info', '--era', 'legacy').expect(0).out
        for line in ('name         fairlead-demo', 'revision     2025-11-25',
                     'era          legacy', 'offers       tools'):
            contains(out, line)
        equal(to('ping', '--json').expect(0).json(), {})
        info = to('info', '--json', '--era', 'legacy').expect(0).json()
        equal(info['serverInfo']['name'], 'fairlead-demo')
        equal(info['protocolVersion'], '2025-11-25')
        equal(info['era'], 'legacy')
    on_all_ways(check)


def test_json_is_the_raw_result():
    def check(to):
        tools = to('tools', '--json').expect(0).json()['tools']
        equal([one['name'] for one in tools],
              ['echo', 'add', 'slow', 'fail', 'large', 'time', 'unlock', 'ask',
               'consult', 'roots', 'note', 'tick'])
        equal(to('call', '--json', 'add', 'a=2', 'b=3', '--era',
                 'legacy').expect(0).json(),
              {'content': [{'type': 'text', 'text': '5'}]})
        failed = to('call', '--json', 'fail', 'message=oh').expect(4)
        equal(failed.json()['isError'], True)
        equal(failed.err, '')
        error = to('call', '--json', 'nope').expect(3).json()['error']
        equal(error['code'], -32602)
        error = to('call', 'slow', 'delay_ms=60000', '--timeout=0.2',
                   '--json').expect(5).json()['error']
        equal(error['status'], 'E_TIMEOUT')
    on_all_ways(check)


def test_a_json_rpc_error_is_exit_3():
    def check(to):
        contains(to('call', 'nope').expect(3, '').err, '-32602')
        contains(to('call', 'add', 'a=x', 'b=1', '--revision',
                    '2025-06-18').expect(3, '').err, '/a: ')
    on_all_ways(check)


def test_arguments_that_a_tool_refuses_are_exit_4():
    def check(to):
        for date in ('2025-11-25', '2026-07-28'):
            contains(to('call', 'add', 'a=x', 'b=1', '--revision',
                        date).expect(4, '').err, '/a: ')
    on_all_ways(check)


def test_revision_is_the_newest_to_offer():
    def check(to):
        for date in ('2024-11-05', '2025-03-26', '2025-06-18'):
            info = to('info', '--json', '--revision', date).expect(0).json()
            equal(info['protocolVersion'], date)
        contains(to('info', '--revision', '1999-12-31').expect(1).err,
                 '1999-12-31')
    on_all_ways(check)


def test_arguments_reach_the_tool_as_typed():
    with folder() as place, says(text('ok')) as fake:
        path = f'{place}/note'
        with open(path, 'w', encoding='utf-8') as note:
            note.write('line\n"é"\n')
        call(fake.url, 'call', 'tool', 'n=1.50', 's=hello', 'f:=007', 'b=true',
             'o={"x": [1]}', f'file=@{path}', 'empty=', 'eq=a=b').expect(0)
        sent = next(message['params'] for message in fake.heard
                    if message['method'] == 'tools/call')
        equal(sent['name'], 'tool')
        equal(sent['arguments'], {
            'n': 1.5, 's': 'hello', 'f': '007', 'b': True, 'o': {'x': [1]},
            'file': 'line\n"é"\n', 'empty': '', 'eq': 'a=b'})


def test_wrong_usage_is_exit_1_and_is_named():
    url = 'tcp://127.0.0.1:1'
    for words, quote in (
            ([], 'which server?'), (['tools'], 'which server?'),
            ([url, 'tols'], 'Did you mean tools?'),
            ([url, '--jason'], 'did you mean --json?'),
            ([url, 'call'], 'which tool?'),
            ([url, 'call', 'add', 'two'], "'two'"),
            ([url, 'call', 'add', 'a=1', 'a=2'], 'twice'),
            ([url, 'call', 'add', '{"a":'], 'JSON'),
            ([url, 'call', 'add', '[1]'], 'key=value'),
            ([url, 'call', 'add', 'a=@/nowhere/at/all'], '/nowhere/at/all'),
            ([url, 'ping', 'now'], "'now'"),
            ([url, 'tools', '--', 'true'], 'which one?'),
            (['tools', '--'], 'nothing comes after --'),
            ([url, 'ping', '--timeout', 'soon'], "'soon'"),
            (['ftp://127.0.0.1:1', 'ping'], 'ftp'),
            (['ws://user@127.0.0.1:1', 'ping'], 'user name'),
            ([url, 'ping', '--tls-ca', '/nowhere'], '/nowhere'),
            (['ping', '--env', 'NOVALUE', '--', 'true'], 'NOVALUE'),
            ([url, 'ping', '--log-level', 'loud'], 'warn')):
        contains(call(*words).expect(1, '').err, quote)
    contains(call(url, 'call', 'add', '-', stdin=b'[]').expect(1, '').err,
             'stdin')


def test_nobody_there_is_exit_2_with_advice():
    with folder() as place:
        for url in (f'tcp://127.0.0.1:{free_port()}', f'unix:{place}/none',
                    f'ws://127.0.0.1:{free_port()}/mcp'):
            done = call(url, 'tools').expect(2, '')
            equal(len(done.err.splitlines()), 2, done.err)
            contains(done.err, 'Is the server running')
            error = call(url, 'tools', '--json').expect(2).json()['error']
            require(error['message'] and error['status'], error)


def test_a_command_that_is_not_there_is_exit_2():
    contains(call('tools', '--', 'no-such-command').expect(2, '').err,
             'no-such-command')
    contains(call('tools', '--', '/etc/passwd').expect(2, '').err,
             '/etc/passwd')


def test_children_that_exit_are_exit_2_and_told():
    for manner, quote in ((['exit-code', '7'], 'code 7'),
                          (['exit-code', '0'], 'exited'),
                          (['die-mid-message'], 'fairlead call: ')):
        done = call('tools', '--', BADCHILD, *manner).expect(2, '')
        contains(done.err, quote)


def test_what_a_child_says_last_on_stderr_is_told():
    done = call('tools', '--', 'sh', '-c', 'echo no licence >&2; sleep 0.2; exit 3')
    contains(done.expect(2, '').err, 'no licence')


def test_children_that_never_answer_time_out_and_are_ended():
    timeout = ('--timeout', stretched(1)[0])

    def never_answered(manner):
        done = call('ping', *timeout, '--', BADCHILD, manner).expect(5, '')
        pids = pids_in(done.err)
        require(pids or manner == 'garbage', manner, 'did not come up:',
                done.err)
        require(not any(map(alive, pids)), manner, 'is left behind')

    at_once('never-read', 'ignore-term', 'stop-itself', 'fork-grandchild',
            'family', 'garbage', do=never_answered)


def test_a_child_that_only_echoes_is_exit_3():
    # it gets its own initialize back as a request, and refuses itself
    call('ping', '--', BADCHILD, 'echo').expect(3, '')


def test_a_child_that_closes_its_stdout_is_exit_2():
    done = call('ping', '--', BADCHILD, 'close-stdout').expect(2, '')
    require(not any(map(alive, pids_in(done.err))), 'is left behind')


def pids_in(log):
    """The pids bad children printed: no messages, and so they were logged."""
    lines = [json.loads(line).get('line', '') for line in log.splitlines()
             if line.startswith('{')]
    return [int(line[4:]) for line in lines if line.startswith('pid ')]


def test_no_child_is_left_when_the_command_is_killed():
    for manner in ('never-read', 'ignore-term', 'setsid-grandchild'):
        with started(FAIRLEAD, 'call', 'ping', '--', BADCHILD,
                     manner) as caller:
            pid, = pids_in(caller.stderr.readline().decode())
            require(alive(pid), manner, 'is not up')
            caller.kill()
            caller.wait(WAIT)
            until(lambda: not alive(pid), f'{manner} is gone')


def test_a_server_that_hangs_up_is_exit_2():
    def hang_up(message):
        raise ConnectionAbortedError

    with Fake(hang_up) as fake:
        call(fake.url, 'call', 'x').expect(2)


def test_no_answer_in_time_is_exit_5():
    with demo() as serving:
        done = call(serving.urls[0], 'call', 'slow', 'delay_ms=60000',
                    '--timeout', '0.2').expect(5, '')
        contains(done.err, '200 ms')
    with Fake(lambda message: []) as fake:
        call(fake.url, 'ping', '--timeout', '0.2').expect(5)


def test_progress_keeps_a_call_alive():
    with demo() as serving:
        call(serving.urls[0], 'call', 'slow', 'steps=8', 'delay_ms=300',
             '--timeout', '2').expect(0, 'done, in 8 steps\n')


def test_interrupt_cancels_and_exits_with_130():
    with Fake(lambda message: []) as fake:
        with started(FAIRLEAD, 'call', fake.url, 'call', 'x') as caller:
            until(lambda: 'tools/call' in fake.methods(), 'the call is made')
            caller.send_signal(signal.SIGINT)
            equal(caller.wait(WAIT), 130, 'exit')
        until(lambda: 'notifications/cancelled' in fake.methods(),
              'the server is told')
        asked, told = (next(message for message in fake.heard
                            if message['method'] == method)
                       for method in ('tools/call', 'notifications/cancelled'))
        equal(told['params']['requestId'], asked['id'])


def test_interrupt_while_connecting_exits_with_130():
    with started(FAIRLEAD, 'call', 'ping', '--', BADCHILD,
                 'never-read') as caller:
        pid, = pids_in(caller.stderr.readline().decode())
        caller.send_signal(signal.SIGINT)
        equal(caller.wait(WAIT), 130, 'exit')
        require(not alive(pid), 'the child is left behind')


def test_progress_is_a_bar_on_a_terminal():
    with demo() as serving, Terminal() as terminal:
        with started(FAIRLEAD, 'call', serving.urls[0], 'call', 'slow',
                     'steps=2', 'delay_ms=20',
                     stderr=terminal.slave) as caller:
            equal(caller.wait(WAIT), 0, 'exit')
            equal(caller.stdout.read(), b'done, in 2 steps\n')
        shown = terminal.read()
        contains(shown, '\r[##########----------] 1/2 step 1 of 2')
        require(shown.endswith('\r\x1b[K'), 'not cleared:', repr(shown))


def test_progress_is_silent_where_there_is_no_terminal():
    with demo() as serving:
        done = call(serving.urls[0], 'call', 'slow', 'steps=3', 'delay_ms=20')
        equal(done.expect(0).err, '')


def test_a_form_is_asked_for_until_it_fits():
    for revision in '2025-06-18', '2025-11-25', '2026-07-28':
        with demo() as serving, Terminal() as terminal:
            os.write(terminal.master, b'\nJo\n200\n20\nmaybe\ny\n')
            with started(FAIRLEAD, 'call', serving.urls[0], 'call', 'ask',
                         '--revision', revision, stdin=terminal.slave,
                         stderr=terminal.slave) as caller:
                equal(caller.wait(WAIT), 0, 'exit')
                equal(caller.stdout.read(), b'Hello, Jo!\n')
            shown = terminal.read()
            for said in ('Name (text, at least 1 character)\r\n> ',
                         'must not be left out',
                         'Age (integer, 0 to 150) [none]\r\n> ',
                         'must be at most 150', 'Send this? [Y]es',
                         'must be y, n or c'):
                contains(shown, said)


EVIL = 'a\x1b]0;title\x07b\x7fc\u009bd\re\u202ef\tg\nh'


def test_control_characters_are_spelt_out_on_a_terminal():
    shown = 'a\\x1b]0;title\\x07b\\x7fc\\u009bd\\x0de\\u202ef\tg\r\nh\r\n'
    with says(text(EVIL)) as fake, Terminal() as terminal:
        with started(FAIRLEAD, 'call', fake.url, 'call', 'x',
                     stdout=terminal.slave) as caller:
            equal(caller.wait(WAIT), 0, 'exit')
        equal(terminal.read(), shown)
    evil_tool = {'name': 'x\x1b[2J', 'description': 'y\x1b[2J',
                 'inputSchema': {'type': 'object',
                                 'properties': {'z\x7f': {'type': 'q\x1b'}}}}
    with Fake(lambda message: [{'result': {'tools': [evil_tool]}}]) as fake:
        with Terminal() as terminal:
            with started(FAIRLEAD, 'call', fake.url, 'tools', stderr=None,
                         stdout=terminal.slave) as caller:
                equal(caller.wait(WAIT), 0, 'exit')
            seen = terminal.read()
            require('\x1b' not in seen and '\x7f' not in seen, repr(seen))
            contains(seen, 'x\\x1b[2J')
    error = {'error': {'code': -1, 'message': 'no\x1b[2J'}}
    with Fake(lambda message: [error]) as fake, Terminal() as terminal:
        with started(FAIRLEAD, 'call', fake.url, 'tools',
                     stderr=terminal.slave) as caller:
            equal(caller.wait(WAIT), 3, 'exit')
        contains(terminal.read(), 'no\\x1b[2J')


def test_text_is_left_as_it_is_where_there_is_no_terminal():
    with says(text(EVIL)) as fake:
        equal(call(fake.url, 'call', 'x').expect(0).out, EVIL + '\n')
    with says(text('ends itself\n'), text('more')) as fake:
        call(fake.url, 'call', 'x').expect(0, 'ends itself\nmore\n')


def test_what_is_not_text_is_described():
    image = base64.b64encode(b'x' * 1234).decode()
    with says({'type': 'image', 'mimeType': 'image/png', 'data': image},
              {'type': 'audio', 'mimeType': 'audio/wav', 'data': 'eA=='},
              {'type': 'resource_link', 'uri': 'file:///a', 'name': 'a'},
              {'type': 'resource', 'resource': {
                  'uri': 'file:///b', 'mimeType': 'text/plain',
                  'text': 'b'}}) as fake:
        call(fake.url, 'call', 'x').expect(
            0, '[image image/png, 1234 bytes]\n[audio audio/wav, 1 bytes]\n'
            '[resource_link file:///a]\n[resource file:///b text/plain]\n')


def test_structured_content_is_shown_where_there_is_no_text():
    made = {'a': [1, {'b': []}], 'c': '{"x"}, \\', 'd': {}}
    with says(structuredContent=made) as fake:
        out = call(fake.url, 'call', 'x').expect(0).out
        equal(out, json.dumps(made, indent=2) + '\n')
    with says(text('same'), structuredContent=made) as fake:
        call(fake.url, 'call', 'x').expect(0, 'same\n')
    with Fake(lambda message: [{'result': {'odd': 1}}]) as fake:
        call(fake.url, 'call', 'x').expect(0, '{\n  "odd": 1\n}\n')


def test_pages_are_followed_to_the_last():
    def answer(message):
        page = int(message.get('params', {}).get('cursor', '0'))
        result = {'tools': [{'name': f't{page}', 'inputSchema': {}}]}
        if page < 4:
            result['nextCursor'] = str(page + 1)
        return [{'result': result}]

    with Fake(answer) as fake:
        tools = call(fake.url, 'tools', '--json').expect(0).json()['tools']
        equal([one['name'] for one in tools], [f't{n}' for n in range(5)])
        call(fake.url, 'tools').expect(0, 't0\nt1\nt2\nt3\nt4\n')


def test_pages_that_go_round_are_given_up():
    with Fake(lambda message: [{'result': {
            'tools': [], 'nextCursor': 'again'}}]) as fake:
        contains(call(fake.url, 'tools').expect(2).err, 'does not end')
        equal(fake.methods().count('tools/list'), 2)


def test_a_list_that_is_none_is_refused():
    with Fake(lambda message: [{'result': {'tools': 'many'}}]) as fake:
        contains(call(fake.url, 'tools').expect(2).err, 'no list in it')


def test_lists_and_what_they_lead_to():
    def answer(message):
        return [{'result': {
            'resources/list': {'resources': [
                {'uri': 'f://a', 'name': 'A', 'description': 'first'}]},
            'prompts/list': {'prompts': [
                {'name': 'p', 'arguments': [
                    {'name': 'x', 'required': True}, {'name': 'y'}]}]},
            'resources/read': {'contents': [{'uri': 'f://a', 'text': 'hi'}]},
            'prompts/get': {'messages': [
                {'role': 'user', 'content': {'type': 'text', 'text': 'do'}}]},
            'completion/complete': {'completion': {'values': ['b', 'c']}},
        }[message['method']]}]

    offers = {'resources': {}, 'prompts': {}, 'completions': {}}
    with Fake(answer, capabilities=offers) as fake:
        call(fake.url, 'resources').expect(0, 'f://a  A\n      first\n')
        equal(call(fake.url, 'resources', '--json').expect(0).json(),
              {'resources': [{'uri': 'f://a', 'name': 'A',
                              'description': 'first'}]})
        call(fake.url, 'prompts').expect(0, 'p\n      x, [y]\n')
        call(fake.url, 'read', 'f://a').expect(0, 'hi')
        call(fake.url, 'prompt', 'p', 'x=1').expect(0, 'user: do\n')
        call(fake.url, 'complete', 'prompt', 'p', 'x=').expect(0, 'b\nc\n')
        contains(call(fake.url, 'call', 'x').expect(3).err, 'no tools')


def held(*contents):
    return Fake(lambda message: [{'result': {'contents': list(contents)}}],
                capabilities={'resources': {}})


def test_what_a_resource_holds_is_written_as_it_is():
    every = bytes(range(256)) * 5
    blob = base64.b64encode(every).decode()
    for contents, wanted in (
            ([{'uri': 'f:a', 'text': 'no end'}], b'no end'),
            ([{'uri': 'f:a', 'text': 'line\n'}], b'line\n'),
            ([{'uri': 'f:a', 'text': ''}], b''),
            ([{'uri': 'f:a', 'blob': ''}], b''),
            ([{'uri': 'f:a', 'blob': blob}], every),
            ([{'uri': 'f:a', 'text': 'a'}, {'uri': 'f:b', 'text': 'b'}],
             b'ab')):
        with held(*contents) as fake:
            with started(FAIRLEAD, 'call', fake.url, 'read', 'f:a') as reader:
                equal(reader.stdout.read(), wanted, str(contents)[:60])
                equal(reader.wait(WAIT), 0, 'exit')


def test_a_terminal_is_told_of_bytes_and_gets_whole_lines():
    blob = {'uri': 'f:a', 'mimeType': 'image/png', 'blob': 'AAEC'}
    for content, wanted in (
            (blob, '[binary f:a image/png, 3 bytes; to keep them, add > FILE]'),
            ({'uri': 'f:a', 'blob': ''},
             '[binary f:a, 0 bytes; to keep them, add > FILE]'),
            ({'uri': 'f:a', 'text': 'no end'}, 'no end'),
            ({'uri': 'f:a', 'text': 'line\n'}, 'line')):
        with held(content) as fake, Terminal() as terminal:
            with started(FAIRLEAD, 'call', fake.url, 'read', 'f:a',
                         stdout=terminal.slave) as reader:
                equal(reader.wait(WAIT), 0, 'exit')
            equal(terminal.read(), wanted + '\r\n')


def test_contents_that_are_none_are_complained_about():
    for content in ({'uri': 'f:a'}, {'uri': 'f:a', 'blob': 'AA'},
                    {'uri': 'f:a', 'blob': 7}, {'uri': 'f:a', 'text': 7}):
        with held(content) as fake:
            done = call(fake.url, 'read', 'f:a').expect(3, '')
            contains(done.err, 'neither text nor Base64')
            call(fake.url, 'read', 'f:a', '--json').expect(0)


def test_a_server_without_tools():
    with Fake(lambda message: [], capabilities={}) as fake:
        contains(call(fake.url, 'tools').expect(0, '').err, 'no tools')
        equal(call(fake.url, 'tools', '--json').expect(0).json(),
              {'tools': []})
        contains(call(fake.url, 'call', 'x').expect(3).err, 'no tools')
        contains(call(fake.url, 'info').expect(0).out, 'nothing')


def test_noise_before_the_answer_is_passed_over():
    noise = [b'\n', b'not json\n', b'[]\n', b'{"jsonrpc":"2.0","id":77,'
             b'"result":{}}\n',
             {'method': 'notifications/message', 'params': {'data': 'x'}},
             {'result': {'content': [text('found')]}}]
    with Fake(lambda message: noise) as fake:
        call(fake.url, 'call', 'x').expect(0, 'found\n')


def test_the_environment_of_a_child_can_be_chosen():
    script = 'import json, os; json.dump(dict(os.environ), open("env", "w"))'
    with folder() as place:
        call('tools', '--cwd', place, '--env', 'COLOUR=blue', '--env', 'A=',
             '--inherit-env', 'MY_TOKEN', '--', sys.executable, '-c', script,
             env={'MY_TOKEN': 'one', 'YOUR_TOKEN': 'two', 'PLAIN': 'three',
                  'COLOUR': 'red'}).expect(2)
        with open(f'{place}/env', encoding='utf-8') as file:
            env = json.load(file)
    equal([env.get(name) for name in ('COLOUR', 'A', 'MY_TOKEN', 'YOUR_TOKEN',
                                      'PLAIN')],
          ['blue', '', 'one', None, 'three'])


def test_what_a_child_writes_to_stderr_can_be_seen():
    words = ('ping', '--', 'sh', '-c', 'echo hear me >&2; exec "$@"', 'sh',
             *CHILD, '--quiet')
    equal(call(*words).expect(0).err, '')
    said = call('--log-level=info', *words).expect(0).err.splitlines()
    equal(json.loads(said[0])['line'], 'hear me')


def test_what_was_agreed_on_can_be_seen():
    words = ('ping', '--log-level=info', '--', *CHILD, '--quiet')
    said = json.loads(call(*words).expect(0).err)
    require(said['era'] in ('legacy', 'modern'), said)
    said = json.loads(call('--era', 'legacy', *words).expect(0).err)
    equal(said['message'], 'agreed')
    equal(said['revision'], '2025-11-25')
    equal(said['era'], 'legacy')


def test_a_legacy_server_is_not_spoken_to_in_the_modern_way():
    with says(text('ok')) as fake:
        call(fake.url, 'call', 'x', '--era', 'legacy').expect(0, 'ok\n')
        require('server/discover' not in fake.methods(), fake.methods())
        call(fake.url, 'call', 'x', '--era', 'auto').expect(0, 'ok\n')
        equal(fake.methods().count('server/discover'), 1)
        contains(call(fake.url, 'call', 'x', '--era',
                      'modern').expect(1, '').err, '2026-07-28')


def test_a_reader_that_leaves_early_does_no_harm():
    with demo() as serving:
        with started(FAIRLEAD, 'call', serving.urls[0], 'call', 'large',
                     'bytes=15000000') as caller:
            caller.stdout.read(10)
            caller.stdout.close()
            caller.stdout = None
            require(caller.wait(WAIT) in (1, -signal.SIGPIPE), 'exit')


def test_a_full_disk_is_told():
    with demo() as serving, open('/dev/full', 'wb') as full:
        done = subprocess.run([FAIRLEAD, 'call', serving.urls[0], 'ping'],
                              stdout=full, stderr=subprocess.PIPE,
                              timeout=WAIT, check=False)
        equal(done.returncode, 1, 'exit')
        contains(done.stderr.decode(), 'no space left')


def test_tls_with_certificates_both_ways():
    if not shutil.which('openssl'):
        raise Skip('there is no openssl command to make certificates with')
    with folder() as place:
        made = run('openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                   'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
                   '-subj', '/CN=localhost', '-addext',
                   'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout',
                   f'{place}/key', '-out', f'{place}/cert')
        made.expect(0)
        tls = ('--tls-cert', f'{place}/cert', '--tls-key', f'{place}/key')
        ca = ('--tls-ca', f'{place}/cert')
        with demo(*tls, listen=('tls://127.0.0.1:0',)) as serving:
            url, = serving.urls
            call(url, 'call', 'add', 'a=2', 'b=3', *ca).expect(0, '5\n')
            contains(call(url, 'ping').expect(2).err, '--tls-ca')
            call(url, 'ping', '--insecure-skip-verify').expect(0)
            call(url, 'ping', *ca, '--tls-server-name', 'other').expect(2)
        with demo(*tls, *ca, '--require-client-cert',
                  listen=('tls://127.0.0.1:0',)) as serving:
            url, = serving.urls
            call(url, 'ping', *ca).expect(2)
            call(url, 'ping', *ca, *tls).expect(0)


# A modern server that answers a call as its first argument says.
SCRIPTED = '''
import json, sys
discovered = {'supportedVersions': ['2026-07-28'], 'ttlMs': 0,
              'cacheScope': 'private', 'capabilities': {
                  'tools': {},
                  'extensions': {'io.modelcontextprotocol/tasks': {}}}}
for line in sys.stdin:
    asked = json.loads(line)
    said = {'server/discover': discovered, 'tools/call': eval(sys.argv[1]),
            'tasks/get': {'taskId': 'T', 'status': 'cancelled'}}
    if 'id' in asked:
        print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'],
                          'result': said[asked['method']]}), flush=True)
'''


def scripted(answer):
    return '--', sys.executable, '-c', SCRIPTED, repr(answer)


def test_a_task_that_the_server_cancels_is_no_interrupt():
    done = call('call', 't', '--task', *scripted({
        'resultType': 'task', 'taskId': 'T', 'status': 'working',
        'pollIntervalMs': 0}))
    done.expect(3, '')
    contains(done.err, 'cancelled the task')


def test_a_question_that_nobody_can_answer_says_who_could():
    done = call('call', 't', *scripted({
        'resultType': 'input_required', 'inputRequests': {'a': {
            'method': 'elicitation/create', 'params': {
                'mode': 'form', 'message': 'm', 'requestedSchema': {
                    'type': 'object', 'properties': {}}}}}}))
    done.expect(1, '')
    contains(done.err, '--accept-defaults or --decline')


def test_answers_are_given_before_they_are_asked_for():
    for revision in '2025-06-18', '2025-11-25', '2026-07-28':
        def ask(*answers, revision=revision):
            flags = [word for one in answers for word in ('--answer', one)]
            return call('call', 'ask', *flags, '--revision', revision, '--',
                        *CHILD)

        ask('name=Ada').expect(0, 'Hello, Ada!\n')
        ask('name=a=b', 'age=150').expect(0, 'Hello, a=b!\n')
        call('call', 'ask', '--accept-defaults', '--answer', 'name=Ada',
             '--revision', revision, '--', *CHILD).expect(0, 'Hello, Ada!\n')
        for answers, says in (
                (['age=7'], '--answer: name: is not answered, and has no'),
                (['name='], '--answer: name: '),
                (['name=Ada', 'age=151'], '--answer: age: '),
                (['name=Ada', 'age=x'], '--answer: age: '),
                (['name=Ada', 'Age=7'], '--answer: Age: is not asked for. '
                 'The form has: name age\n')):
            done = ask(*answers).expect(4, '')
            contains(done.err, says)
            contains(done.err, 'nobody answered')
    contains(call('call', 'ask', '--accept-defaults', '--', *CHILD).expect(
        4, '').err, '--answer FIELD=VALUE gives it')


ASKING = r'''
import json, sys
def say(**message):
    print(json.dumps({'jsonrpc': '2.0', **message}), flush=True)
for line in sys.stdin:
    m = json.loads(line)
    if m.get('method') == 'initialize':
        say(id=m['id'], result={'protocolVersion': '2025-11-25', 'serverInfo':
            {'name': 'a', 'version': '1'}, 'capabilities': {'tools': {}}})
    elif m.get('method') == 'tools/call':
        call = m['id']
        say(id=7, method='elicitation/create', params={'message': 'm',
            'requestedSchema': {'type': 'object', 'properties': {
                'caf\u00e9': {'type': 'string', 'default': 'none'}}}})
    elif m.get('id') == 7:
        say(id=call, result={'content': [
            {'type': 'text', 'text': json.dumps(m['result'])}]})
'''


def test_a_field_is_known_however_its_name_is_escaped():
    done = call('call', 't', '--answer', 'caf\u00e9=noir', '--era', 'legacy',
                '--', sys.executable, '-c', ASKING).expect(0)
    equal(done.json(), {'action': 'accept', 'content': {'caf\u00e9': 'noir'}})


def test_a_question_an_old_revision_cannot_ask_names_one_that_can():
    done = call('call', 'ask', '--accept-defaults', '--revision',
                '2024-11-05', '--', *CHILD)
    done.expect(3, '')
    contains(done.err, '--revision 2025-06-18 or later')
    require('--accept-defaults' not in done.err, done.err)


def test_a_name_the_server_does_not_know_is_guessed():
    for words, says in ((('call', 'ad', 'a=1', 'b=2'),
                         "There is no tool 'ad'. Did you mean add?\n"),
                        (('call', 'zzzzzz'),
                         "There is no tool 'zzzzzz'. 'tools' lists them.\n"),
                        (('prompt', 'greting'),
                         "no prompt 'greting'. Did you mean greeting?\n")):
        done = call(*words, '--', *CHILD).expect(3, '')
        contains(done.err, '(-32602)\n')
        contains(done.err, says)
    done = call('call', 'add', 'a=1', '--revision', '2025-06-18', '--', *CHILD)
    require('There is no' not in done.expect(3, '').err, done.err)
    call('call', 'ad', '--json', '--', *CHILD).expect(3)


def test_a_port_of_another_protocol_is_named():
    with demo() as serving:
        port = serving.urls[0].rpartition(':')[2]
        for url in f'http://127.0.0.1:{port}/mcp', f'ws://127.0.0.1:{port}/mcp':
            done = call(url, 'ping').expect(2, '')
            contains(done.err, f'speak lines: try tcp://127.0.0.1:{port}\n')
    port = free_port()
    with started(FAIRLEAD, 'demo', '--listen',
                 f'http://127.0.0.1:{port}/mcp') as process:
        process.stderr.readline()
        done = call(f'tcp://127.0.0.1:{port}', 'ping').expect(3, '')
        contains(done.err, f'speak HTTP: try http://127.0.0.1:{port}/mcp\n')


def test_who_sends_a_number_for_a_string_is_told_how_to():
    for revision, code in ('2025-06-18', 3), ('2026-07-28', 4):
        done = call('call', 'echo', 'text=5', '--revision', revision, '--',
                    *CHILD).expect(code, '')
        contains(done.err, 'must be string')
        contains(done.err, 'text:=5 sends one.\n')
        call('call', 'echo', 'text:=5', '--revision', revision, '--',
             *CHILD).expect(0, '5\n')


def test_progress_is_printed_if_it_is_wanted():
    slow = 'call', 'slow', 'steps=2', 'delay_ms=1'
    done = call(*slow, '--', *CHILD).expect(0, 'done, in 2 steps\n')
    equal(done.err, '', 'stderr')
    done = call(*slow, '--progress', '--', *CHILD)
    done.expect(0, 'done, in 2 steps\n')
    equal(done.err, 'progress: 1/2 step 1 of 2\n'
                    'progress: 2/2 step 2 of 2\n', 'stderr')


if __name__ == '__main__':
    sys.exit(main(__name__))
