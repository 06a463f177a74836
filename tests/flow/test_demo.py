#!/usr/bin/env python3
"""test_demo.py - `fairlead demo`, the whole program, over real sockets.

Prints TAP. FAIRLEAD names the program.
"""
import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import time

from flow import (FAIRLEAD, Lines, Terminal, WAIT, contains, demo, equal,
                  folder, free_port, main, require, run, started, until)

TOOLS = ['echo', 'add', 'slow', 'fail', 'large', 'time', 'unlock', 'ask',
         'consult', 'roots', 'note', 'tick']
LARGE_MAX = 15 << 20


def tool(client, name, **arguments):
    client.request('tools/call', name=name, arguments=arguments)
    return client.receive()


def text_of(answer):
    item, = answer['result']['content']
    equal(item['type'], 'text')
    return item['text']


def test_listens_where_it_is_told_and_says_where():
    with folder() as place:
        path = f'{place}/demo.sock'
        with demo(listen=('tcp://127.0.0.1:0', f'unix:{path}')) as serving:
            tcp, unix = serving.urls
            equal(unix, f'unix:{path}')
            require(not tcp.endswith(':0'), 'the bound port is not told', tcp)
            equal(stat.S_IMODE(os.stat(path).st_mode), 0o600)
            for url in serving.urls:
                with Lines(url) as client:
                    info = client.initialize()['serverInfo']
                    equal(info['name'], 'fairlead-demo')
        require(not os.path.exists(path), 'the socket is left behind')


def test_websockets_are_taken_where_it_says():
    def logged(serving):
        until(lambda: serving.urls, 'it listens')
        return next(json.loads(line) for line in serving.lines
                    if '"listening"' in line)

    def answers(url):
        return run(FAIRLEAD, 'call', url, 'call', 'add', 'a=2', 'b=3')

    with demo(listen=('http://127.0.0.1:0/mcp',)) as serving:
        url = logged(serving)['websocket']
        equal(url, serving.urls[0].replace('http', 'ws'))
        answers(url).expect(0, '5\n')
        answers(f'{url}/ws').expect(0, '5\n')
    with demo('--no-ws', listen=('http://127.0.0.1:0/mcp',)) as serving:
        require('websocket' not in logged(serving), serving.lines)
        answers(serving.urls[0]).expect(0, '5\n')
        answers(serving.urls[0].replace('http', 'ws')).expect(2, '')
    with demo(listen=('ws://127.0.0.1:0',)) as serving:
        contains(serving.urls[0], 'ws://127.0.0.1:')
        answers(serving.urls[0]).expect(0, '5\n')
        contains(answers(f'{serving.urls[0]}mcp').expect(2, '').err, '404')


def test_tools_have_schemas_and_annotations():
    with demo() as serving, Lines(serving.urls[0]) as client:
        client.initialize()
        client.request('tools/list')
        tools = client.receive()['result']['tools']
        equal([one['name'] for one in tools], TOOLS)
        for one in tools:
            equal(one['inputSchema']['type'], 'object')
            equal(one['annotations']['readOnlyHint'],
                  one['name'] != 'unlock')
            require(one['description'] and one['title'], one)
            for key in one['inputSchema'].get('required', []):
                require(key in one['inputSchema']['properties'], key)


def test_echo_returns_any_text():
    with demo() as serving, Lines(serving.urls[0]) as client:
        client.initialize()
        for text in ('', 'hi', 'a\nb\t"\\', '\u0000\u001b[31m', 'é€😀'):
            equal(text_of(tool(client, 'echo', text=text)), text)


def test_add_answers_in_the_shortest_form():
    with demo() as serving, Lines(serving.urls[0]) as client:
        client.initialize()
        for a, b, want in ((2, 3, '5'), (0.1, 0.2, '0.30000000000000004'),
                           (-1, 1, '0'), (1e300, 0, '1e+300'),
                           (1.5, 0, '1.5'), (2**53, 0, '9007199254740992')):
            equal(text_of(tool(client, 'add', a=a, b=b)), want)
        huge = tool(client, 'add', a=1.7e308, b=1.7e308)
        equal(huge['result']['isError'], True)


def test_wrong_arguments_are_named():
    with demo() as serving, Lines(serving.urls[0]) as client:
        client.initialize()
        for name, arguments, word in (
                ('add', {'a': 1}, '"b"'), ('add', {'a': '1', 'b': 2}, '/a: '),
                ('echo', {}, '"text"'), ('echo', {'text': 1}, '/text: '),
                ('large', {'bytes': 1.5}, '/bytes: '),
                ('slow', {'steps': 'x'}, '/steps: '),
                ('slow', {'delay_ms': 'x', 'steps': 1}, '/delay_ms: ')):
            answer = tool(client, name, **arguments)
            equal(answer['result']['isError'], True)
            contains(text_of(answer), word)


def test_wrong_arguments_were_an_error_of_the_protocol_before():
    with demo() as serving, Lines(serving.urls[0]) as client:
        client.initialize('2025-06-18')
        error = tool(client, 'add', a=1)['error']
        equal(error['code'], -32602)
        contains(error['message'], '"b"')


def test_what_it_offers_is_declared():
    with demo() as serving, Lines(serving.urls[0]) as client:
        offers = client.initialize()['capabilities']
        equal(sorted(offers), ['completions', 'logging', 'prompts',
                               'resources', 'tasks', 'tools'])
        equal(offers['resources'], {'subscribe': True, 'listChanged': True})


def test_resources_and_the_prompt_are_there():
    with demo() as serving:
        def to(*words):
            return run(FAIRLEAD, 'call', serving.urls[0], *words).expect(0).out

        for uri in ('demo://hello', 'demo://pixel', 'demo://time'):
            contains(to('resources'), uri)
        contains(to('read', 'demo://hello'), 'Hello from fairlead.\n')
        contains(to('templates'), 'demo://greeting/{name}')
        contains(to('read', 'demo://greeting/Ada'), 'Hello, Ada!')
        contains(to('prompts'), 'greeting')
        contains(to('prompt', 'greeting', 'name=Ada'), 'Ada')
        equal(to('complete', 'prompt', 'greeting', 'name=A'), 'Ada\nAlan\n')
        equal(to('complete', 'resource', 'demo://greeting/{name}', 'name=G'),
              'Grace\n')


def test_tools_that_ask_back_get_what_they_asked_for():
    def call(*words):
        return run(FAIRLEAD, 'call', *words, '--', FAIRLEAD, 'demo')

    call('--decline', 'call', 'ask').expect(0, 'As you like.\n')
    call('--root', '/tmp', '--root', '/var', 'call', 'roots').expect(
        0, '2 roots\n')
    noted = call('--server-log', 'warning', 'call', 'note', 'text=leak')
    contains(noted.expect(0, 'noted\n').err, 'leak')
    require('a note of' not in noted.err, noted.err)
    for words, advice in ((['ask'], '--accept-defaults'),
                          (['roots'], '--root DIR'),
                          (['consult', 'question=why'], 'language model')):
        contains(call('call', *words).expect(3, '').err, advice)
    call('call', 'tick').expect(0, 'tock\n')


def test_fail_fails_with_the_message():
    with demo() as serving, Lines(serving.urls[0]) as client:
        client.initialize()
        answer = tool(client, 'fail', message='100% wrong %s')
        equal(answer['result']['isError'], True)
        equal(text_of(answer), '100% wrong %s')


def test_large_goes_to_its_limit_and_no_further():
    with demo() as serving, Lines(serving.urls[0]) as client:
        client.initialize()
        for size in (0, 1, 63, 64, 65, 100000, LARGE_MAX):
            equal(len(text_of(tool(client, 'large', bytes=size))), size)
        for size, limit in ((-1, 0), (LARGE_MAX + 1, LARGE_MAX)):
            answer = tool(client, 'large', bytes=size)
            equal(answer['result']['isError'], True)
            contains(text_of(answer), str(limit))


def test_time_is_utc():
    with demo() as serving, Lines(serving.urls[0]) as client:
        client.initialize()
        then = text_of(tool(client, 'time'))
        now = time.strftime('%Y-%m-%dT%H', time.gmtime())
        early = time.strftime('%Y-%m-%dT%H', time.gmtime(time.time() - 60))
        require(then[:13] in (now, early) and then.endswith('Z'), then)


def test_slow_tells_each_step_and_then_answers():
    with demo() as serving, Lines(serving.urls[0]) as client:
        client.initialize()
        client.request('tools/call', name='slow', _meta={'progressToken': 'p'},
                       arguments={'steps': 3, 'delay_ms': 1})
        for step in (1, 2, 3):
            note = client.receive()
            equal(note['method'], 'notifications/progress')
            equal(note['params'], {'progressToken': 'p', 'progress': step,
                                   'total': 3, 'message': f'step {step} of 3'})
        equal(text_of(client.receive()), 'done, in 3 steps')
        for arguments, good in (({'steps': 0}, True),
                                ({'steps': 10000, 'delay_ms': 0}, True),
                                ({'steps': 10001, 'delay_ms': 0}, False),
                                ({'steps': -1}, False),
                                ({'steps': 0, 'delay_ms': 60000}, True),
                                ({'steps': 0, 'delay_ms': 60001}, False)):
            answer = tool(client, 'slow', **arguments)
            equal('isError' not in answer['result'], good, arguments)


def test_slow_does_not_hold_others_up_and_can_be_cancelled():
    with demo() as serving, Lines(serving.urls[0]) as client:
        client.initialize()
        slow = client.request('tools/call', name='slow',
                              arguments={'steps': 10000, 'delay_ms': 60000})
        equal(text_of(tool(client, 'echo', text='quick')), 'quick')
        client.send({'method': 'notifications/cancelled',
                     'params': {'requestId': slow}})
        equal(text_of(tool(client, 'echo', text='still')), 'still')
        start = time.monotonic()
        serving.process.terminate()
        require(client.receive() is None, 'a cancelled call was answered')
        require(time.monotonic() - start < 0.9, 'a cancelled call was waited '
                'for')
        equal(serving.process.wait(WAIT), 0, 'exit')


def test_unlock_changes_the_list_for_everybody():
    meta = {'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {}}
    with demo() as serving, Lines(serving.urls[0]) as legacy, \
            Lines(serving.urls[0]) as modern:
        legacy.initialize()
        listen = modern.request('subscriptions/listen', _meta=meta,
                                notifications={'toolsListChanged': True})
        tag = {'_meta': {'io.modelcontextprotocol/subscriptionId': listen}}
        equal(modern.receive()['params'],
              {**tag, 'notifications': {'toolsListChanged': True}})
        legacy.request('tools/call', name='unlock')
        equal(legacy.receive()['method'], 'notifications/tools/list_changed')
        equal(text_of(legacy.receive()), 'there is a new tool: vault')
        equal(modern.receive(),
              {'jsonrpc': '2.0', 'params': tag,
               'method': 'notifications/tools/list_changed'})
        modern.request('tools/list', _meta=meta)
        result = modern.receive()['result']
        equal(result['resultType'], 'complete')
        equal([one['name'] for one in result['tools']], TOOLS + ['vault'])
        modern.request('tools/call', _meta=meta, name='vault')
        contains(text_of(modern.receive()), 'dust')
        legacy.request('tools/call', name='unlock')
        equal(text_of(legacy.receive()), 'vault is unlocked already')
        equal(serving.end(), 0, 'exit')
        equal(modern.receive()['id'], listen)
        equal(modern.receive()['method'], 'notifications/cancelled')


def test_an_oversized_message_is_refused_with_the_limit():
    with demo('--max-message', '1K') as serving:
        with Lines(serving.urls[0]) as client:
            client.initialize()
            padding = 1024 - len(json.dumps({
                'jsonrpc': '2.0', 'id': 2, 'method': 'tools/call', 'params': {
                    'name': 'echo', 'arguments': {'text': ''}}}))
            equal(len(text_of(tool(client, 'echo', text='x' * padding))),
                  padding)
            error = tool(client, 'echo', text='x' * (padding + 1))['error']
            equal(error['code'], -32012)
            equal(error['data']['limit'], 1024)


def test_one_connection_too_many_is_turned_away():
    with demo('--max-connections', '2') as serving:
        url, = serving.urls
        with Lines(url) as one, Lines(url) as two:
            one.initialize()
            two.initialize()
            with Lines(url) as three:
                said = three.receive()
                require(said is None or 'error' in said, said)
                require(said is None or three.receive() is None, 'left open')
            equal(text_of(tool(one, 'echo', text='here')), 'here')


def test_an_idle_connection_is_closed():
    with demo('--idle-timeout', '0.2') as serving:
        with Lines(serving.urls[0]) as client:
            client.initialize()
            require(client.receive() is None, 'left open')


def test_denied_networks_are_turned_away():
    for options in (['--deny', '127.0.0.0/8'], ['--allow', '192.0.2.0/24']):
        with demo(*options) as serving, Lines(serving.urls[0]) as client:
            try:
                said = client.receive()
            except ConnectionResetError:
                said = None
            require(said is None or 'error' in said, options, said)
    with demo('--allow', '192.0.2.0/24', '--allow', '127.0.0.1') as serving:
        with Lines(serving.urls[0]) as client:
            client.initialize()


def test_a_public_address_must_be_asked_for_by_name():
    done = run(FAIRLEAD, 'demo', '--listen', 'tcp://0.0.0.0:0').expect(1)
    contains(done.err, '0.0.0.0')
    with demo('--insecure-no-auth', listen=('tcp://0.0.0.0:0',)) as serving:
        port = serving.urls[0].rpartition(':')[2]
        with Lines(f'tcp://127.0.0.1:{port}') as client:
            client.initialize()


def test_says_what_is_wrong_and_exits_with_1():
    with demo() as serving:
        for words, quote in (
                (['--lisen', 'stdio:'], 'did you mean --listen?'),
                (['--listen'], 'needs a value'),
                (['--listen', 'ftp://x'], 'ftp'),
                (['--listen', 'tls://127.0.0.1:0'], 'cert'),
                (['--listen', 'tls://127.0.0.1:0', '--tls-cert', '/nope',
                  '--tls-key', '/nope'], '/nope'),
                (['--max-message', '16X'], '16X'),
                (['--max-message', '63'], '63'),
                (['--idle-timeout', '-1'], '-1'),
                (['--log-level', 'loud'], 'debug info warn error off'),
                (['--allow', 'house'], 'house'),
                (['stdio:'], '--listen'),
                (['--listen', serving.urls[0]], 'in use')):
            words = words if '--listen' in words else \
                [*words, '--listen', 'tcp://127.0.0.1:0']
            done = run(FAIRLEAD, 'demo', *words).expect(1, '')
            contains(done.err, quote)


def test_stdio_is_the_default_and_ends_with_stdin():
    ask = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    for words in ([], ['--listen', 'stdio:']):
        done = run(FAIRLEAD, 'demo', *words, stdin=ask * 3).expect(0)
        equal(len(done.out.splitlines()), 3)
        for line in done.out.splitlines():
            equal(json.loads(line), {'jsonrpc': '2.0', 'id': 1, 'result': {}})


def test_a_call_under_way_is_answered_after_stdin_ends():
    words = [{'id': 1, 'method': 'initialize', 'params': {
        'protocolVersion': '2025-11-25', 'capabilities': {},
        'clientInfo': {'name': 't', 'version': '1'}}},
             {'method': 'notifications/initialized'},
             {'id': 2, 'method': 'tools/call', 'params': {
                 'name': 'slow', 'arguments': {'steps': 2, 'delay_ms': 50}}}]
    lines = ''.join(json.dumps({'jsonrpc': '2.0', **word}) + '\n'
                    for word in words)
    done = run(FAIRLEAD, 'demo', stdin=lines.encode()).expect(0)
    equal(text_of(json.loads(done.out.splitlines()[-1])), 'done, in 2 steps')


def test_stdio_beside_others_does_not_end_it():
    with demo(listen=('stdio:', 'tcp://127.0.0.1:0')) as serving:
        serving.process.stdin.close()
        serving.process.stdin = None
        until(lambda: any('link closed' in line for line in serving.lines),
              'the stdio link is closed')
        with Lines(serving.urls[1]) as client:
            client.initialize()
        equal(serving.end(), 0, 'exit')


def test_signals_end_it_in_order():
    for number in (signal.SIGTERM, signal.SIGINT):
        with demo() as serving, Lines(serving.urls[0]) as client:
            client.initialize()
            equal(serving.end(number), 0, 'exit')
            require(client.receive() is None, 'the connection is left open')


def test_a_call_under_way_gets_a_second_to_end():
    with demo() as serving, Lines(serving.urls[0]) as client:
        client.initialize()
        quick = client.request('tools/call', name='slow',
                               arguments={'steps': 1, 'delay_ms': 300})
        long = client.request('tools/call', name='slow',
                              arguments={'steps': 1, 'delay_ms': 60000})
        client.request('ping')
        client.receive()
        serving.process.terminate()
        answer = client.receive()
        equal(answer['id'], quick)
        equal(text_of(answer), 'done, in 1 steps')
        answer = client.receive()
        equal(answer['id'], long)
        require('error' in answer or answer['result']['isError'], answer)
        equal(serving.process.wait(WAIT), 0, 'exit')


def test_a_second_signal_ends_it_at_once():
    with demo() as serving, Lines(serving.urls[0]) as client:
        client.initialize()
        client.request('tools/call', name='slow',
                       arguments={'steps': 1, 'delay_ms': 60000})
        client.request('ping')
        client.receive()
        serving.process.terminate()
        port = int(serving.urls[0].rpartition(':')[2])
        until(lambda: not listens(port), 'it stops listening')
        serving.process.terminate()
        equal(serving.process.wait(WAIT), -signal.SIGTERM, 'exit')


def listens(port):
    row = f':{port:04X} 00000000:0000 0A'
    with open('/proc/net/tcp', encoding='ascii') as table:
        return any(row in line for line in table)


def test_quiet_and_log_options_are_obeyed():
    port = free_port()
    url = f'tcp://127.0.0.1:{port}'
    for options, said in ((['--quiet'], False), (['--log-level', 'off'], False),
                          (['--log-format', 'text'], True)):
        with started(FAIRLEAD, 'demo', '--listen', url, *options) as process:
            until(lambda: listens(port), 'it listens')
            process.terminate()
            equal(process.wait(WAIT), 0, 'exit')
            err = process.stderr.read().decode()
            equal(url in err, said, err)
            require(not err.startswith('{'), err)


@contextlib.contextmanager
def greeted(url):
    """A demo at a terminal, and the lines it shows there."""
    with Terminal() as terminal:
        with started(FAIRLEAD, 'demo', '--listen', url,
                     stderr=terminal.slave) as process:
            until(lambda: run(FAIRLEAD, 'call', url, 'ping').code == 0,
                  'it answers')
            terminal.seen += os.read(terminal.master, 65536)
            yield terminal.seen.decode().splitlines()
            process.terminate()
            equal(process.wait(WAIT), 0, 'exit')
            equal(process.stdout.read(), b'', 'stdout is the protocol\'s:')


def test_people_at_a_terminal_get_commands_that_work():
    for way, end in ('tcp', ''), ('http', '/mcp'), ('ws', '/mcp'):
        with greeted(f'{way}://127.0.0.1:{free_port()}{end}') as shown:
            for action, said in (('call add a=2 b=3', '5\n'),
                                 ('read demo://hello', 'Hello from')):
                command = next(line.split() for line in shown
                               if line.endswith(action))
                contains(run(*command).expect(0).out, said)


def test_people_are_shown_where_websockets_go():
    url = f'127.0.0.1:{free_port()}/mcp'
    with greeted(f'http://{url}') as shown:
        command = next(line.split() for line in shown if f'ws://{url}' in line)
        contains(run(*command).expect(0).out, 'echo')
        require(any(f'new WebSocket("ws://{url}", ["mcp.v1"])' in line
                    for line in shown), shown)


def test_colours_only_where_they_are_wanted():
    for env, coloured in (({}, True), ({'NO_COLOR': '1'}, False)):
        env = {key: value for key, value in {**os.environ, **env}.items()
               if key != 'NO_COLOR' or not coloured}
        with Terminal() as terminal:
            with started(FAIRLEAD, 'demo', '--wrong', env=env,
                         stderr=terminal.slave) as process:
                equal(process.wait(WAIT), 1, 'exit')
            equal('\x1b[' in terminal.read(), coloured, env.get('NO_COLOR'))


def test_without_options_a_terminal_gets_tcp():
    with Terminal() as terminal:
        with started(FAIRLEAD, 'demo', stdin=terminal.slave,
                     stderr=subprocess.PIPE) as process:
            line = process.stderr.readline().decode()
            if 'in use' not in line:  # somebody runs a demo on this machine
                equal(json.loads(line)['url'], 'tcp://127.0.0.1:7332')
                process.terminate()
                equal(process.wait(WAIT), 0, 'exit')


def test_help_fits_a_terminal():
    for words in (['--help'], ['demo', '--help'], ['demo', '-h'],
                  ['call', '--help']):
        done = run(FAIRLEAD, *words).expect(0)
        require(max(len(line) for line in done.out.splitlines()) <= 80, words)
        contains(done.out, 'Usage: fairlead')
    contains(run(FAIRLEAD).expect(1, '').err, 'Usage: fairlead')


def test_unknown_commands_are_named_and_version_is_told():
    for word, quote in (('demmo', 'did you mean demo?'),
                        ('--versio', 'did you mean --version?'),
                        ('frobnicate', "'frobnicate'")):
        done = run(FAIRLEAD, word).expect(1, '')
        contains(done.err, quote)
        contains(done.err, '--help')
    done = run(FAIRLEAD, '--version').expect(0)
    require(done.out.startswith('fairlead ') and done.out[9].isdigit(),
            done.out)


if __name__ == '__main__':
    sys.exit(main(__name__))
