#!/usr/bin/env python3
"""test_routes.py - several servers behind one door, from a configuration file:
each at a path of its own, whatever the client's transport and revision, and no
session of one known at another.

Prints TAP. FAIRLEAD names the program.
"""
import contextlib
import json
import signal
import sys
from pathlib import Path

from cases import HERE, Scripted, fact, gateway, main, scripted
from clients import Http, Pipe, Sse, Ws, lines
from doors import door, stanza, written
from flow import FAIRLEAD, contains, equal, folder, require, run, until
from scenes import L1, L4, MODERN

CORPUS = HERE.parent / 'corpus' / 'config'
SECRETS = {name: 'hush' for name in (
    'GITHUB_TOKEN', 'ISSUES_TOKEN', 'DOCS_KEY', 'SEARCH_TOKEN', 'LISTED_TOKEN',
    'API_KEY', 'FAIRLEAD_INPUT_PERPLEXITY_KEY')}


def reach(gate, name, way, revision):
    url = gate.urls['http'].removesuffix('/mcp') + f'/servers/{name}'
    if way == 'ws':
        return Ws(url.replace('http', 'ws', 1) + '/mcp', revision, name=name)
    if way == 'sse':
        return Sse(url + '/sse', revision, name=name)
    return Http(url + '/mcp', revision, name=name)


def each_path_leads_to_its_server(way, revision):
    with scripted('stdio', L4) as one, scripted('http', MODERN) as two, \
            door(one=one, two=two) as gate:
        for name, server in (('one', one), ('two', two)):
            with reach(gate, name, way, revision) as client:
                client.begin()
                equal(client.text('echo', {'text': name}), name)
            heard, = server.heard('tools/call')
            equal(heard['message']['params']['arguments'], {'text': name})


for one_way, one_revision in (('http', MODERN), ('http', L4), ('ws', L4),
                              ('ws', MODERN), ('sse', L1)):
    fact(f'each path leads to its server: {one_way}, {one_revision}',
         lambda way=one_way, revision=one_revision:
         each_path_leads_to_its_server(way, revision))


def sessions_do_not_cross():
    with scripted('stdio', L4) as one, scripted('stdio', L4) as two, \
            door(one=one, two=two) as gate, \
            reach(gate, 'one', 'http', L4) as client:
        client.begin()
        own = client.where
        ping = {'jsonrpc': '2.0', 'id': 9, 'method': 'ping', 'params': {}}
        for path in ('/servers/two/mcp', '/mcp'):
            client.where = own._replace(path=path)
            client.post(ping).expect(404)
            client.fly('DELETE', None, client.fields_of({})).expect(404)
        client.where = own
        equal(client.text('echo', {'text': 'still here'}), 'still here')
        equal(two.heard(), [], 'the other server was told something')


fact('sessions of one server are unknown at another', sessions_do_not_cross)


def one_alone_is_at_the_door():
    with scripted('stdio', L4) as one, \
            door('--log-level', 'info', fronts=('tcp', 'http'),
                 one=one) as gate:
        said, = [line for line in gate.demo.lines if '"serving"' in line]
        require('prefix' not in said, 'its tools have no prefix:', said)
        for client in (Http(gate.urls['http'], MODERN),
                       Pipe(lines(gate.urls['tcp']), L4),
                       reach(gate, 'one', 'http', L4)):
            with client:
                client.begin()
                equal(client.text('echo', {'text': 'x'}), 'x')


fact('one server alone is at the address itself, too', one_alone_is_at_the_door)


def commands_may_be_long():
    with scripted('stdio', L4) as one:
        words = [str(word) for word in one.target[1:]]
        script = 'exec "$@"  # ' + 'x' * 100000
        more = {'one': {'command': 'sh', 'args': ['-c', script, 'sh', *words]}}
        with door(more=more, one=one) as gate, \
                reach(gate, 'one', 'http', L4) as client:
            client.begin()
            equal(client.text('echo', {'text': 'x'}), 'x')


fact('a command may be as long as the system takes', commands_may_be_long)


def unknown_names_are_nowhere():
    with scripted('stdio', L4) as one, door(one=one) as gate, \
            reach(gate, 'none', 'http', MODERN) as client:
        client.send(client.compose('tools/list')).expect(404)


fact('a name nobody has is 404', unknown_names_are_nowhere)


def a_command_beside_a_file_is_at_the_door():
    with scripted('stdio', L4) as one, scripted('stdio', MODERN) as main_, \
            folder() as place:
        path = written(place, {'one': stanza(one)})
        target = ['--config', path, *main_.target]
        with gateway(Scripted(target, '/dev/null')) as gate, \
                Http(gate.urls['http'], MODERN) as client:
            equal(client.text('echo', {'text': 'x'}), 'x')
            main_.await_heard('tools/call')
            with reach(gate, 'one', 'http', L4) as other:
                other.begin()
                equal(other.text('echo', {'text': 'y'}), 'y')
            one.await_heard('tools/call')


fact('a command beside a file is at the address itself',
     a_command_beside_a_file_is_at_the_door)


def one_dead_server_does_not_harm_the_other():
    dead = Scripted(['--', '/nonexistent/server'], '/dev/null')
    with scripted('stdio', L4) as one, door(one=one, dead=dead) as gate:
        with reach(gate, 'dead', 'http', MODERN) as client:
            contains(client.error('tools/list')['message'], 'Upstream')
        with reach(gate, 'one', 'http', MODERN) as client:
            equal(client.text('echo', {'text': 'x'}), 'x')


fact('one dead server does not harm the other',
     one_dead_server_does_not_harm_the_other)


def tools_are_filtered(revision, other):
    more = {'one': {'includeTools': ['e*', 'slow'], 'excludeTools': ['el*']}}
    with scripted('stdio', other) as one, door(more=more, one=one) as gate, \
            reach(gate, 'one', 'http', revision) as client:
        client.begin()
        names = [tool['name'] for tool in client.ask('tools/list')['tools']]
        contains(names, 'echo')
        contains(names, 'slow')
        for name in names:
            require(name == 'slow' or name.startswith('e') and
                    not name.startswith('el'), name, 'is listed')
        equal(client.text('echo', {'text': 'x'}), 'x')
        equal(client.error('tools/call', {'name': 'elicit', 'arguments': {}})
              ['code'], -32602)
        equal(len(one.heard('tools/call')), 1, 'calls the server saw')


for one_revision in (L4, MODERN):
    for two_revision in (L4, MODERN):
        fact(f'tools are filtered: {one_revision} to {two_revision}',
             lambda a=one_revision, b=two_revision: tools_are_filtered(a, b))


def the_file_says_how():
    with scripted('http', MODERN) as one, scripted('stdio', L4) as two:
        more = {'one': {'headers': {'X-Team': '${TEAM:-blue}'}},
                'two': {'env': {'MARK': 'set'}, 'cwd': '/'}}
        with door(more=more, one=one, two=two) as gate:
            with reach(gate, 'one', 'http', MODERN) as client:
                client.text('echo', {'text': 'x'})
            head = one.heard('tools/call')[0]['headers']
            equal({name.lower(): value for name, value in head.items()}
                  ['x-team'], 'blue')


fact('headers of the file reach the server', the_file_says_how)


def health():
    with scripted('stdio', L4) as one, \
            door('--health', '/healthz', one=one) as gate:
        with Http(gate.urls['http'].replace('/mcp', '/healthz'), L4) as client:
            equal(client.fly('GET', None, {}).expect(200).fields['content-type'],
                  'application/json')
        equal(one.heard(), [])


fact('--health is answered without any server', health)


def checked(path, **more):
    return run(FAIRLEAD, 'serve', '--check', '--config', path, **more)


def check_shows_the_servers():
    with folder() as place:
        path = written(place, {
            'a': {'command': 'prog', 'args': ['x'], 'env': {'KEY': '${HUSH}'}},
            'b': {'url': 'https://b.example/mcp'}})
        done = checked(path, env={'HUSH': 'secret-word'}).expect(0)
        contains(done.out, 'prog x')
        contains(done.out, 'https://b.example/mcp')
        contains(done.out, 'HUSH')
        require('secret-word' not in done.out + done.err, done.out)


fact('--check shows the servers, and no secret', check_shows_the_servers)


def check_names_what_is_wrong():
    with folder() as place:
        path = Path(place) / 'mcp.json'
        path.write_text('{"mcpServers": {\n"a": {"command": "${NOT_SET_X}"},\n'
                        '"b": {}}}')
        done = checked(path).expect(1)
        contains(done.err, 'mcp.json:2:')
        contains(done.err, 'NOT_SET_X')
        contains(done.err, 'mcp.json:3:')
    done = checked('/nonexistent.json').expect(1)
    contains(done.err, '/nonexistent.json')
    run(FAIRLEAD, 'serve', '--check').expect(1)


fact('--check names what is wrong, with file and line',
     check_names_what_is_wrong)


def check_misses_programs():
    with folder() as place:
        path = Path(place) / 'mcp.json'
        path.write_text(json.dumps({'mcpServers': {
            'gone': {'command': './no-such-program'},
            'there': {'command': 'sh'}}}))
        done = checked(path)
        equal(done.code, 0, done.err)
        require("gone: there is no program './no-such-program'" in done.err,
                done.err)
        require("'sh'" not in done.err, done.err)


fact('--check warns of a program that is not there', check_misses_programs)


def plain_servers_are_told():
    far = 'http://192.0.2.2:9/mcp'  # nothing is connected
    with folder() as place:
        for more, warned in (({}, True),
                             ({'fairlead': {'allowHttp': True}}, False)):
            path = written(place, {'far': {'url': far, **more}})
            done = checked(path).expect(0)
            equal('--allow-http' in done.err, warned, done.err)
        path = written(place, {'far': {'url': far}})
        done = run(FAIRLEAD, 'serve', '--check', '--allow-http', '--config',
                   path).expect(0)
        equal(done.err, '')
    for words in (['serve', far], ['connect', far.replace('http', 'ws')],
                  ['serve', 'http://127.0.0.1:9/mcp', '--replica', far]):
        contains(run(FAIRLEAD, *words).expect(1).err, 'add --allow-http')


fact('a server that would be asked in the clear is told at the start',
     plain_servers_are_told)


def plain_servers_are_refused():
    far = Scripted(['http://192.0.2.2:9/mcp'], '/dev/null')
    with door(far=far) as gate, reach(gate, 'far', 'http', MODERN) as client:
        said = client.error('tools/list')['message']
        contains(said, '--allow-http')
        require('authorization' not in said, said)


fact('a client is told that its server would be asked in the clear',
     plain_servers_are_refused)


def commands_want_dashes():
    done = run(FAIRLEAD, 'serve', './adder')
    equal(done.code, 1, done.err)
    contains(done.err, 'to run a command: fairlead serve -- ./adder')


fact('a command without its dashes is no address', commands_want_dashes)


def bad_files_do_not_start():
    with folder() as place:
        path = written(place, {'a': {'command': 'x', 'disabled': True}})
        done = run(FAIRLEAD, 'serve', '--config', path, '--listen',
                   'http://127.0.0.1:0/mcp').expect(1)
        contains(done.err, 'no server')


fact('a file without a server does not start', bad_files_do_not_start)


SAME = {'d': {'command': 'sh'},
        'good': {'command': 'sh', 'fairlead': {'prefix': 'd__'}}}


def check_finds_what_would_not_start():
    with folder() as place:
        done = checked(written(place, SAME)).expect(1)
        contains(done.err, 'mcp.json:1: good:')
        contains(done.err, 'another prefix')
        contains(checked(written(place, {})).expect(1).err, 'no server')
        # with a server at the address itself there is no list of all
        run(FAIRLEAD, 'serve', '--check', '--config', written(place, SAME),
            '--', 'sh').expect(0)
        done = run(FAIRLEAD, 'serve', '--check', '--config',
                   written(place, SAME), '--name', 'good', '--',
                   'sh').expect(1)
        contains(done.err, 'two servers are named good')


fact('--check finds what would not start', check_finds_what_would_not_start)


def check_corpus(path):
    with folder() as home:
        secrets = Path(home) / 'secrets'
        secrets.mkdir()
        for name in ('figma', 'remote'):
            (secrets / name).write_text('hush\n')
        (Path(home) / '.env').write_text('A=1\n')
        env = {**SECRETS, 'HOME': home, 'FAIRLEAD_WORKSPACE': home}
        checked(path, env=env).expect(0)


for one_path in sorted(CORPUS.iterdir()):
    if one_path.suffix != '.toml' and 'broken' not in one_path.name:
        fact(f'{one_path.name} is understood as it is',
             lambda path=one_path: check_corpus(path))


def replaced(stanzas, server):
    """The same file with the scripted server in each place; who is switched
    off stays so."""
    kept = ('enabled', 'disabled', 'timeout', 'trust')
    for one in stanzas.values():
        off = one.get('options', {}).get('disabled')
        rest = {key: one[key] for key in kept if key in one}
        one.clear()
        one.update(stanza(server), **rest)
        if off:
            one['options'] = {'disabled': True}


def serve_corpus(name, key):
    with scripted('stdio', L4) as server, folder() as place:
        said = json.loads((CORPUS / name).read_text())
        replaced(said[key], server)
        path = Path(place) / name
        path.write_text(json.dumps(said))
        wanted = [one for one, how in said[key].items()
                  if how.get('enabled', True) and
                  not how.get('options', {}).get('disabled')]
        with gateway(Scripted(['--config', path], '/dev/null')) as gate:
            for one in wanted:
                with reach(gate, one, 'http', MODERN) as client:
                    equal(client.text('echo', {'text': one}), one)


for one_name, one_key in (
        ('claude-desktop.json', 'mcpServers'), ('claude-code.json', 'mcpServers'),
        ('cursor.json', 'mcpServers'), ('windsurf.json', 'mcpServers'),
        ('gemini.json', 'mcpServers'), ('copilot.json', 'mcpServers'),
        ('tbxark.json', 'mcpServers'), ('mcphost.json', 'mcpServers'),
        ('opencode.json', 'mcp')):
    fact(f'{one_name} is served',
         lambda name=one_name, key=one_key: serve_corpus(name, key))


@contextlib.contextmanager
def changing(**servers):
    """The gateway and a function that writes its file anew and tells it."""
    with folder() as place:
        path = written(place, {name: stanza(one)
                               for name, one in servers.items()})
        with gateway(Scripted(['--config', path], '/dev/null'),
                     '--log-level', 'info') as gate:
            def change(text=None, **others):
                before = count(gate)
                if text is None:
                    written(place, {name: stanza(one)
                                    for name, one in others.items()})
                else:
                    path.write_text(text)
                gate.demo.process.send_signal(signal.SIGHUP)
                until(lambda: count(gate) > before, 'the file to be read again')
            yield gate, change


def count(gate):
    return sum('read again' in line or 'stay as they were' in line
               for line in gate.demo.lines)


def reload_keeps_sessions():
    with scripted('stdio', L4) as one, scripted('stdio', L4) as two, \
            scripted('stdio', MODERN) as three, \
            changing(one=one, two=two) as (gate, change), \
            reach(gate, 'one', 'http', L4) as kept, \
            reach(gate, 'two', 'http', L4) as gone:
        kept.begin()
        gone.begin()
        equal(gone.text('echo', {'text': 'x'}), 'x')
        change(one=one, three=three)
        equal(kept.text('echo', {'text': 'still'}), 'still')
        equal(len(one.seen('started')), 1, 'times it was started')
        gone.post({'jsonrpc': '2.0', 'id': 9, 'method': 'ping'}).expect(404)
        with reach(gate, 'three', 'http', MODERN) as fresh:
            equal(fresh.text('echo', {'text': 'new'}), 'new')
        with Http(gate.urls['http'], MODERN) as all_:
            names = [tool['name'] for tool in all_.ask('tools/list')['tools']]
            contains(names, 'one__echo')
            contains(names, 'three__echo')
            require('two__echo' not in names, names)


fact('SIGHUP: what is unchanged keeps its sessions', reload_keeps_sessions)


def reload_of_what_is_wrong():
    with scripted('stdio', L4) as one, changing(one=one) as (gate, change), \
            reach(gate, 'one', 'http', MODERN) as client:
        equal(client.text('echo', {'text': 'x'}), 'x')
        change(text='{"mcpServers": ')
        equal(client.text('echo', {'text': 'y'}), 'y')


fact('SIGHUP: a file that is wrong changes nothing', reload_of_what_is_wrong)


def reload_of_what_would_not_start(servers, words):
    with scripted('stdio', L4) as one, changing(good=one) as (gate, change), \
            reach(gate, 'good', 'http', L4) as client:
        client.begin()
        equal(client.text('echo', {'text': 'x'}), 'x')
        change(text=json.dumps({'mcpServers': servers}))
        said = '\n'.join(gate.demo.lines)
        contains(said, words)
        contains(said, 'the servers stay as they were')
        require('read again' not in said, said)
        equal(client.text('echo', {'text': 'y'}), 'y')
        equal(len(one.seen('started')), 1, 'times it was started')
        change(good=one)
        equal(client.text('echo', {'text': 'z'}), 'z')


fact('SIGHUP: prefixes that cannot be told apart change nothing',
     lambda: reload_of_what_would_not_start(SAME, 'another prefix'))
fact('SIGHUP: a file without a server changes nothing',
     lambda: reload_of_what_would_not_start({}, 'there is no server in it'))


def reload_while_busy():
    with scripted('stdio', L4) as one, scripted('stdio', L4) as two, \
            scripted('stdio', L4) as three, \
            changing(one=one, two=two, three=three) as (gate, change), \
            Http(gate.urls['http'], MODERN) as all_, \
            reach(gate, 'two', 'ws', L4) as busy:
        busy.begin()
        number = busy.request('tools/call', {'name': 'wait', 'arguments': {}},
                              5)
        two.await_heard('tools/call')
        over = all_.request('tools/call', {'name': 'two__wait',
                                           'arguments': {}}, 6)
        two.await_heard('tools/call', 2)
        change(one=one, three=three)
        require('error' in busy.answer(number), 'the call goes on')
        require('error' in all_.answer(over), 'the call goes on')
        equal(all_.text('one__echo', {'text': 'x'}), 'x')


fact('SIGHUP: calls at a server that is taken away are failed',
     reload_while_busy)


def reload_is_news():
    with scripted('stdio', L4) as one, scripted('stdio', L4) as two, \
            scripted('stdio', L4) as three, \
            changing(one=one, two=two, three=three) as (gate, change), \
            Http(gate.urls['http'], L4) as all_:
        all_.begin()
        all_.get()
        change(one=one, three=three)
        all_.notification('notifications/tools/list_changed')
        names = [tool['name'] for tool in all_.ask('tools/list')['tools']]
        contains(names, 'one__echo')
        require('two__echo' not in names, names)


fact('SIGHUP: a session of all is told that the lists are shorter',
     reload_is_news)


def flags_about_one_server_need_one():
    with folder() as place:
        path = written(place, {'a': {'command': 'x'}})
        done = run(FAIRLEAD, 'serve', '--config', path, '--header',
                   'A: b').expect(1)
        contains(done.err, 'say it in the file')
        done = run(FAIRLEAD, 'serve', '--config', path, '--hide-tool',
                   'x*').expect(1)
        contains(done.err, 'option --hide-tool: it is about one server')


fact('flags about one server are refused for many',
     flags_about_one_server_need_one)


if __name__ == '__main__':
    sys.exit(main())
