#!/usr/bin/env python3
"""test_ps.py - `fairlead ps`, and the control socket that it asks: who is
listed, what is told of each, and that nobody can be taken for a gateway or
hurt one.

Prints TAP. FAIRLEAD names the program. Sockets are below a folder of the
test's own, but for what is about the place in /tmp.
"""
import contextlib
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

from cases import Scripted, fact, folder, gateway, main, scripted
from clients import PATIENCE, text_of
from doors import door
from flow import (FAIRLEAD, SLOW, Skip, Terminal, contains, equal, require,
                  run, started, until)
from scenes import L4, MODERN

NOBODY = 65534
RUNTIME = 'XDG_RUNTIME_DIR'
SECRET = 'Authorization: Bearer abcdef0123456789'


@contextlib.contextmanager
def runtime():
    """The sockets of all gateways inside are in a folder of their own."""
    before = os.environ.get(RUNTIME)
    with folder() as place:
        os.environ[RUNTIME] = place
        try:
            yield Path(place) / 'fairlead'
        finally:
            if before is None:
                del os.environ[RUNTIME]
            else:
                os.environ[RUNTIME] = before


def ps(*words, code=0, **more):
    return run(FAIRLEAD, 'ps', '--timeout', str(10 * SLOW), *words,
               **more).expect(code)


def report(gate):
    """What the gateway says, by its pid."""
    one, = ps('--json', gate.demo.process.pid).json()
    equal(one['pid'], gate.demo.process.pid)
    return one


def table(gate):
    """Its own alone: others may run on this machine."""
    return ps(gate.demo.process.pid).out


def children(gate):
    return [child for server in report(gate)['servers']
            for child in server['children']]


def pids(server):
    """Of all children there were, oldest first."""
    return [one['pid'] for one in server.seen('started')]


def rows(out):
    """The rows of all tables, as words."""
    return [line.split() for line in out.splitlines()
            if line.startswith('  ') and not line.startswith('  on ')]


def resident(pid):
    """Bytes, as the system has them."""
    pages = int(Path(f'/proc/{pid}/statm').read_text().split()[1])
    return pages * os.sysconf('SC_PAGESIZE')


def connected(path):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(PATIENCE)
    client.connect(str(path))
    return client


def read_all(client):
    pieces = []
    while piece := client.recv(65536):
        pieces.append(piece)
    return b''.join(pieces)


def socket_of(place, gate):
    return place / f'{gate.demo.process.pid}.sock'


# What is listed.


def a_shared_child_is_listed():
    with runtime(), scripted('stdio', L4) as server, \
            gateway(server, '--child', 'shared', fronts=('tcp',)) as gate, \
            gate.client('tcp', L4) as one, gate.client('tcp', L4) as two:
        one.begin()
        two.begin()
        one.call('echo', {'text': 'a'})
        child, = children(gate)
        equal(child['pid'], pids(server)[-1])
        equal(child['owner'], {'kind': 'shared', 'sessions': 2})
        equal((child['state'], child['revision']), ('ready', L4))
        words = rows(table(gate))[-1]
        equal(words[0], str(pids(server)[-1]))
        contains(words, 'shared')


def a_session_has_a_child_of_its_own():
    with runtime(), scripted('stdio', L4) as server, \
            gateway(server, '--child', 'session', fronts=('tcp',)) as gate, \
            gate.client('tcp', L4, name='first') as one, \
            gate.client('tcp', L4, name='second') as two:
        one.begin()
        two.begin()
        until(lambda: len(pids(server)) == 2, 'both have started')
        seen = {child['owner']['client']: child for child in children(gate)}
        equal(set(seen), {'first', 'second'})
        equal({child['pid'] for child in seen.values()}, set(pids(server)))
        equal([child['owner']['kind'] for child in seen.values()],
              ['session'] * 2)
        numbers = {child['owner']['session'] for child in seen.values()}
        equal(len(numbers), 2)
        contains(table(gate), '(second)')


def alike_clients_are_a_user():
    with runtime(), scripted('stdio', L4) as server, \
            gateway(server, fronts=('http',)) as gate, \
            gate.client('http', MODERN, name='editor') as one:
        one.begin()
        one.call('echo', {'text': 'a'})
        owner = children(gate)[0]['owner']
        equal((owner['kind'], owner['user'], owner['client']),
              ('user', '127.0.0.1', 'editor'))
        contains(table(gate), '127.0.0.1 (editor)')


def spares_and_single_requests_are_told_apart():
    with runtime(), scripted('stdio', MODERN) as server, \
            gateway(server, '--child', 'request', '--warm', '2',
                    fronts=('tcp',)) as gate:
        until(lambda: [child['owner']['kind'] for child in children(gate)]
              == ['spare'] * 2, 'both spares are there')
        with gate.client('tcp', MODERN, name='asker') as client:
            client.begin()
            client.request('tools/call', {'name': 'wait'})
            server.await_heard('tools/call')

            def busy():
                return [(child['owner']['kind'], child['owner']['client'])
                        for child in children(gate) if child['in_flight']]
            until(busy, 'it is told of')  # a report may be 100 ms old
            equal(busy(), [('request', 'asker')])


def servers_without_a_child_are_listed_too():
    with runtime(), scripted('stdio', L4) as one, \
            scripted('tcp', L4) as two, door(files=one, far=two) as gate:
        said = report(gate)
        equal([(server['name'], server['kind'], server['state'])
               for server in said['servers']],
              [('files', 'stdio', 'idle'), ('far', 'tcp', 'idle')])
        equal(said['listen'], [gate.urls['http']])
        equal([(words[0], words[1], words[3]) for words in rows(table(gate))[1:]],
              [('-', 'files', 'idle'), ('-', 'far', 'idle')])


def a_server_at_an_address_has_no_pid():
    with runtime(), scripted('tcp', L4) as server, \
            gateway(server, fronts=('tcp',)) as gate, \
            gate.client('tcp', L4) as client:
        client.begin()
        client.call('echo', {'text': 'a'})
        child, = children(gate)
        equal((child['pid'], child['memory'], child['stderr']),
              (None, None, None))
        one, = report(gate)['servers']
        equal(one['url'], server.target[0])
        require(one['statistics']['messages_in'] >= 2, one)


def each_place_of_a_server_is_shown_as_it_is():
    nowhere = 'tcp://127.0.0.1:9'
    with runtime(), scripted('tcp', L4) as server, \
            gateway(server, '--replica', nowhere, '--breaker-failures', '1',
                    '--breaker-pause', '300', fronts=('tcp',)) as gate, \
            gate.client('tcp', L4) as one, gate.client('tcp', L4) as two:
        for client in (one, two):
            client.begin()
            client.call('echo', {'text': 'a'})
        rows = [row.split() for row in table(gate).splitlines()]
        state = {row[1]: row[3] for row in rows if row[2:3] == ['replica']}
        equal(state, {server.target[0]: 'up', nowhere: 'down'})
        equal({child['replica'] for child in children(gate)},
              {server.target[0]})
        require(any(row[1:2] == [server.target[0]] and 'ready' in row
                    for row in rows), rows)


def a_client_of_all_servers_is_one_of_each():
    with runtime(), scripted('stdio', L4) as one, \
            scripted('stdio', L4) as two, \
            door('--child', 'session', left=one, right=two) as gate, \
            gate.client('http', L4, name='both') as client:
        client.begin()
        client.ask('tools/list')
        said = report(gate)
        equal([(server['name'], server['clients'], server['sessions'])
               for server in said['servers']],
              [('left', 1, 1), ('right', 1, 1)])
        equal([child['owner']['client'] for child in children(gate)],
              ['both'] * 2)
        equal([child['pid'] for child in children(gate)],
              [pids(server)[-1] for server in (one, two)])


def what_a_server_can_do_and_what_was_said_is_told():
    with runtime(), scripted('stdio', L4) as server, \
            gateway(server, fronts=('tcp',)) as gate, \
            gate.client('tcp', L4) as client:
        client.begin()
        client.call('echo', {'text': 'a'})
        before = report(gate)['servers'][0]
        for word in ('tools', 'resources', 'prompts'):
            contains(before['capabilities'], word)
        equal(before['era'], 'legacy')
        client.call('echo', {'text': 'b'})
        until(lambda: report(gate)['servers'][0]['statistics']['messages_in']
              == before['statistics']['messages_in'] + 1, 'it was counted')
        client.request('tools/call', {'name': 'wait'})
        server.await_heard('tools/call', 3)
        until(lambda: report(gate)['servers'][0]['in_flight'] == 1,
              'the call is in flight')
        equal(children(gate)[0]['in_flight'], 1)
        equal(report(gate)['clients'], 1)


# What is told of a child.


def the_last_line_of_stderr_is_shown():
    with runtime(), scripted('stdio', L4) as server, \
            gateway(server, fronts=('tcp',)) as gate, \
            gate.client('tcp', L4) as client:
        client.begin()
        for line, shown in (('the first', 'the first'),
                            ('\x1b[31mred\x07', '\\x1b[31mred\\x07'),
                            ('x' * 3000, 'x' * 200), ('é…€', 'é…€')):
            client.call('mutter', {'lines': ['before', line]})
            until(lambda: shown in table(gate), f'{shown!r} is shown')
        client.call('mutter', {'lines': [SECRET]})
        until(lambda: '[redacted]' in table(gate), 'it is masked')
        require('abcdef' not in json.dumps(report(gate)),
                'the secret is told')


def memory_is_that_of_the_child_and_its_children():
    held = 'x = bytearray(50 << 20); import time; time.sleep(3600)'
    script = (f'{sys.executable} -S -E -c "{held}" & '
              f'exec {FAIRLEAD} demo --listen stdio: --quiet')
    with runtime(), folder() as place:
        path = Path(place) / 'log'
        path.touch()
        server = Scripted(['--', '/bin/sh', '-c', script], path)
        with gateway(server, fronts=('tcp',)) as gate, \
                gate.client('tcp', L4) as client:
            client.begin()
            until(lambda: children(gate)[0]['memory']['family'] > 50 << 20,
                  'the big one is counted in')
            child, = children(gate)
            equal(child['memory']['processes'], 2)
            known = resident(child['pid'])
            require(known / 2 < child['memory']['resident'] < known * 2,
                    child, known)
            words = table(gate).split()
            contains(words, 'MiB')
            shown = float(words[words.index('MiB') - 1])
            require(50 < shown < 500, shown)


def ages_grow():
    with runtime(), scripted('stdio', L4) as server, \
            gateway(server, fronts=('tcp',)) as gate, \
            gate.client('tcp', L4) as client:
        client.begin()
        first = report(gate)
        time.sleep(1.2)
        second = report(gate)
        for get in (lambda one: one['uptime_ms'],
                    lambda one: one['servers'][0]['children'][0]['age_ms']):
            grown = get(second) - get(first)
            require(1000 <= grown < 60000 * SLOW, grown)


def a_killed_child_is_replaced_and_that_is_counted():
    with runtime(), scripted('stdio', L4) as server, \
            gateway(server, fronts=('tcp',)) as gate, \
            gate.client('tcp', L4) as client:
        client.begin()
        client.call('echo', {'text': 'a'})
        before = report(gate)['servers'][0]
        first, = children(gate)
        os.kill(first['pid'], signal.SIGKILL)
        until(lambda: [one for one in children(gate)
                       if one['state'] == 'ready' and
                       one['pid'] != first['pid']], 'another one is there')
        after = report(gate)['servers'][0]
        equal(after['restarts'], 1)
        equal(after['children'][0]['pid'], pids(server)[-1])
        require(after['statistics']['messages_in'] >
                before['statistics']['messages_in'], 'counts were lost')
        require(after['children'][0]['age_ms'] is not None, after)


def one_that_cannot_be_started_is_shown_with_its_reason():
    script = 'echo no licence found >&2; sleep 0.1; exit 3'
    with runtime(), folder() as place:
        path = Path(place) / 'log'
        path.touch()
        server = Scripted(['--', '/bin/sh', '-c', script], path)
        with gateway(server, '--breaker-failures', '2', '--breaker-pause',
                     '600', fronts=('tcp',)) as gate, \
                gate.client('tcp', L4) as client:
            client.request('initialize', {
                'protocolVersion': L4, 'capabilities': {},
                'clientInfo': {'name': 'c', 'version': '1'}})
            until(lambda: any(child['state'] == 'restarting'
                              and child['stderr'] == 'no licence found'
                              and child['pid'] is None
                              for child in children(gate)) or
                  report(gate)['servers'][0]['state'] == 'unavailable',
                  'it is being restarted')
            until(lambda: report(gate)['servers'][0]['state'] ==
                  'unavailable', 'it is left alone')
            health = report(gate)['servers'][0]['health']
            equal(health['breaker'], 'open')
            require(0 < health['retry_ms'] <= 600000, health)
            contains(health['error'], 'no licence found')
            contains(table(gate), 'no licence found')


def nothing_secret_is_told():
    with runtime(), scripted('stdio', L4) as server:
        server.target += ['--manner', 'token=hidden-1']
        with gateway(server, '--env', 'API_KEY=hidden-2', fronts=('tcp',)) \
                as gate, gate.client('tcp', L4) as client:
            client.begin()
            said = ps('--json', gate.demo.process.pid).out
            require('hidden' not in said, said)
            contains(said, 'token=[redacted]')


# Gateways.


def two_gateways_are_two_tables():
    with runtime(), scripted('stdio', L4) as one, scripted('stdio', L4) as two:
        with gateway(one, '--name', 'left', fronts=('tcp',)) as first, \
                gateway(two, '--name', 'right', fronts=('tcp',)) as second:
            ours = {gate.demo.process.pid: name
                    for gate, name in ((first, 'left'), (second, 'right'))}
            said = {each['pid']: each['servers'][0]['name']
                    for each in ps('--json').json()}
            equal({pid: said.get(pid) for pid in ours}, ours)
            out = ps(*ours).out
            for pid in ours:
                contains(out, f'Gateway {pid}: fairlead ')
            contains(out, 'left')
            contains(out, 'right')
            only = ps(second.demo.process.pid).out
            require('left' not in only, only)


def connect_has_a_socket_too():
    with runtime() as place, scripted('stdio', L4) as server, \
            started(FAIRLEAD, 'connect', 'tcp://127.0.0.1:9') as process:
        path = place / f'{process.pid}.sock'
        until(path.exists, 'the socket is there')
        one, = ps('--json', process.pid).json()
        equal(one['listen'], ['stdio:'])
        process.stdin.close()
        process.wait(PATIENCE)
        process.stdin = None
        require(not path.exists(), 'the socket was left behind')
        del server


def a_socket_is_its_users_and_goes_with_its_gateway():
    with runtime() as place, scripted('stdio', L4) as server:
        with gateway(server, fronts=('tcp',)) as gate:
            path = socket_of(place, gate)
            equal(stat.S_IMODE(place.stat().st_mode), 0o700)
            equal(stat.S_IMODE(path.stat().st_mode), 0o600)
            require(stat.S_ISSOCK(path.stat().st_mode), path)
        require(not path.exists(), 'the socket was left behind')


def the_socket_of_a_killed_gateway_is_swept():
    with runtime() as place, scripted('stdio', L4) as server:
        with started(FAIRLEAD, 'serve', '--listen', 'tcp://127.0.0.1:0',
                     *server.target) as process:
            path = place / f'{process.pid}.sock'
            until(path.exists, 'the socket is there')
            process.kill()
            process.wait()
        require(path.exists(), 'it was not there to be swept')
        other = place / 'README'
        other.write_text('not a socket')
        with gateway(server, fronts=('tcp',)) as gate:
            require(not path.exists(), 'the next one did not sweep it')
            require(socket_of(place, gate).exists(), 'nor made its own')
            require(other.exists(), 'it swept too much')


def ps_sweeps_what_nobody_listens_on():
    with runtime() as place:
        place.mkdir(mode=0o700)
        with subprocess.Popen(['true']) as dead:
            dead.wait()
        path = place / f'{dead.pid}.sock'
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(str(path))
        run(FAIRLEAD, 'ps')
        require(not path.exists(), 'it is still there')


def a_gateway_that_is_stopped_is_named():
    with runtime(), scripted('stdio', L4) as server, \
            gateway(server, fronts=('tcp',)) as gate, \
            gateway(server, '--name', 'awake', fronts=('tcp',)) as other:
        pid = gate.demo.process.pid
        os.kill(pid, signal.SIGSTOP)
        try:
            done = run(FAIRLEAD, 'ps', '--timeout', str(0.5 * SLOW), pid,
                       other.demo.process.pid)
        finally:
            os.kill(pid, signal.SIGCONT)
        done.expect(5)
        contains(done.err, f'gateway {pid}: no answer')
        contains(done.err, '--timeout')
        contains(done.out, 'awake')


def who_is_not_there_is_an_error():
    with runtime() as place:
        done = ps('999999999', code=2)
        contains(done.err, 'no gateway of yours has the pid 999999999')
        equal(ps('--json', '999999999', code=2).json(), [])
        done = ps(place / 'nothing', code=2)
        contains(done.err, 'no such file')
        contains(done.err, '--control')
        contains(ps('--jsn', code=1).err, '--json')
        contains(ps('--', 'x', code=1).err, 'pid or socket')
        contains(run(FAIRLEAD, 'ps', '--help').expect(0).out, 'OWNER')


def no_gateway_is_no_error():
    """As a user who has none, for there may be others' in /tmp."""
    if os.geteuid() != 0:
        raise Skip('only root can be somebody else')
    with folder() as place:
        program = shutil.copy(FAIRLEAD, place)
        os.chmod(place, 0o755)
        for words, out in ((), ''), (('--json',), '[]\n'):
            done = subprocess.run(
                [program, 'ps', *words], user=54321, group=54321,
                extra_groups=[], env={}, capture_output=True, text=True,
                timeout=PATIENCE, check=False)
            equal((done.returncode, done.stdout), (0, out), done.stderr)
            if not words:  # a build that counts lines may complain after it
                equal(done.stderr.partition('\n')[0],
                      'No gateway is running.')


def a_terminal_gets_lines_that_fit():
    with runtime(), scripted('stdio', L4) as server, \
            gateway(server, '--name', 'x', fronts=('tcp',)) as gate, \
            gate.client('tcp', L4) as client, Terminal() as terminal:
        client.begin()
        client.call('mutter', {'lines': ['wide ' * 100]})
        until(lambda: 'wide' in table(gate), 'it was said')
        with started(FAIRLEAD, 'ps', gate.demo.process.pid,
                     stdout=terminal.slave) as process:
            process.wait(PATIENCE)
            lines = terminal.read().replace('\r\n', '\n').splitlines()
        require(lines[0].startswith('\x1b[1mGateway'), lines)
        last = [line for line in lines if 'wide' in line][-1]
        require(last.endswith('…') and len(last) <= 80, last)


# Where the socket is.


def refused(prepare, part):
    """The folder is not ours: the gateway says so, and works."""
    with runtime() as place, scripted('stdio', L4) as server:
        prepare(place)
        with gateway(server, fronts=('tcp',)) as gate, \
                gate.client('tcp', L4) as client:
            client.begin()
            equal(text_of(client.call('echo', {'text': 'a'})), 'a')
            until(lambda: any('no control socket' in line and part in line
                              and '"warn"' in line
                              for line in gate.demo.lines), 'a warning')
            equal(list(place.iterdir()), [], 'in the folder')
            contains(ps(code=1).err, part)


def a_folder_that_others_can_read_is_refused():
    def prepare(place):
        place.mkdir()
        place.chmod(0o755)
    refused(prepare, 'chmod 700')


def a_link_to_a_folder_is_refused():
    def prepare(place):
        other = place.parent / 'other'
        other.mkdir(mode=0o700)
        place.symlink_to(other)
    refused(prepare, 'is no directory')


def a_folder_of_somebody_else_is_refused():
    if os.geteuid() != 0:
        raise Skip('only root can give a folder away')

    def prepare(place):
        place.mkdir(mode=0o700)
        os.chown(place, NOBODY, NOBODY)
    refused(prepare, "another user's")


def a_runtime_directory_of_somebody_else_is_not_used():
    """As after su: then it is the place in /tmp."""
    if os.geteuid() != 0:
        raise Skip('only root can give a folder away')
    with runtime() as place, scripted('stdio', L4) as server:
        os.chown(place.parent, NOBODY, NOBODY)
        with gateway(server, fronts=('tcp',)) as gate:
            require(not place.exists(), 'it is used')
            path = Path('/tmp/fairlead-0') / f'{gate.demo.process.pid}.sock'
            require(path.exists(), 'no socket in /tmp')
            equal(report(gate)['pid'], gate.demo.process.pid)
        require(not path.exists(), 'the socket was left behind')


def without_a_runtime_directory_it_is_in_tmp():
    with runtime() as place, scripted('stdio', L4) as server:
        del os.environ[RUNTIME]
        try:
            with gateway(server, fronts=('tcp',)) as gate:
                path = Path(f'/tmp/fairlead-{os.geteuid()}') / \
                    f'{gate.demo.process.pid}.sock'
                require(path.exists(), 'no socket in /tmp')
                os.environ[RUNTIME] = str(place.parent)
                equal(report(gate)['pid'], gate.demo.process.pid)
        finally:
            os.environ[RUNTIME] = str(place.parent)


def the_socket_can_be_elsewhere_or_nowhere():
    with runtime() as place, scripted('stdio', L4) as server, \
            folder() as other:
        path = Path(other) / 'here'
        with gateway(server, '--control', path, fronts=('tcp',)) as gate:
            require(not place.exists(), 'there is one in the usual place')
            equal(stat.S_IMODE(path.stat().st_mode), 0o600)
            one, = ps('--json', path).json()
            equal(one['pid'], gate.demo.process.pid)
        require(not path.exists(), 'the socket was left behind')
        with gateway(server, '--control', 'none', fronts=('tcp',)) as gate:
            require(not place.exists(), 'there is one')
            ps(gate.demo.process.pid, code=2)
        with gateway(server, '--control', '/nowhere/at/all',
                     fronts=('tcp',)) as gate:
            until(lambda: any('no control socket' in line
                              for line in gate.demo.lines), 'a warning')


# Who comes to the socket.


def told_as(user, path):
    """What a process of that user is told."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(OSError):
            os.setgroups([])
            os.setresuid(user, user, user)
            with connected(path) as client:
                os.write(writer, read_all(client) or b'nothing')
        os._exit(0)
    os.close(writer)
    with open(reader, 'rb') as said:
        text = said.read()
    os.waitpid(pid, 0)
    return text


def strangers_are_told_nothing():
    """Although the user has opened his socket to them."""
    if os.geteuid() != 0:
        raise Skip('only root can be somebody else')
    with runtime(), scripted('stdio', L4) as server, folder() as other:
        os.chmod(other, 0o755)
        path = Path(other) / 'here'
        with gateway(server, '--control', path, fronts=('tcp',)):
            path.chmod(0o666)
            equal(told_as(NOBODY, path), b'nothing')
            contains(told_as(0, path), b'"servers"')


def a_flood_of_connections_hurts_nobody():
    with runtime() as place, scripted('stdio', L4) as server, \
            gateway(server, fronts=('tcp',)) as gate, \
            gate.client('tcp', L4) as client:
        client.begin()
        path = socket_of(place, gate)
        files = Path(f'/proc/{gate.demo.process.pid}/fd')
        before = len(list(files.iterdir()))
        with contextlib.ExitStack() as stack:
            crowd = [stack.enter_context(connected(path))
                     for _ in range(300)]
            equal(text_of(client.call('echo', {'text': 'a'})), 'a')
            until(lambda: len(list(files.iterdir())) <= before,
                  'all of them are hung up on')
            whole = [json.loads(said) for said in map(read_all, crowd) if said]
            require(whole, 'nobody was told anything')
            equal({one['pid'] for one in whole}, {gate.demo.process.pid})
        equal(len(children(gate)), 1)


def who_never_reads_and_who_only_talks_hurts_nobody():
    many = {f's{i}': {'command': 'x' * 200, 'args': ['y' * 200]}
            for i in range(900)}
    with runtime() as place, folder() as other:
        path = Path(other) / 'mcp.json'
        path.write_text(json.dumps({'mcpServers': many}))
        with gateway(Scripted(['--config', path], '/dev/null'),
                     fronts=('tcp',)) as gate:
            mute = [connected(socket_of(place, gate)) for _ in range(16)]
            with connected(socket_of(place, gate)) as late:
                equal(read_all(late), b'', 'one too many')
            # The first are given two seconds to read.
            until(lambda: run(FAIRLEAD, 'ps', gate.demo.process.pid).code == 0,
                  'they are hung up on')
            with connected(socket_of(place, gate)) as talker:
                with contextlib.suppress(OSError):
                    for _ in range(100):
                        talker.sendall(b'GET / HTTP/1.1\r\n\r\n' * 1000)
            said, = ps('--json', gate.demo.process.pid).json()
            equal(len(said['servers']) + said['omitted'], 900)
            for one in mute:
                one.close()


for one in (a_shared_child_is_listed,
            a_session_has_a_child_of_its_own,
            alike_clients_are_a_user,
            spares_and_single_requests_are_told_apart,
            servers_without_a_child_are_listed_too,
            a_server_at_an_address_has_no_pid,
            each_place_of_a_server_is_shown_as_it_is,
            a_client_of_all_servers_is_one_of_each,
            what_a_server_can_do_and_what_was_said_is_told,
            the_last_line_of_stderr_is_shown,
            memory_is_that_of_the_child_and_its_children,
            ages_grow,
            a_killed_child_is_replaced_and_that_is_counted,
            one_that_cannot_be_started_is_shown_with_its_reason,
            nothing_secret_is_told,
            two_gateways_are_two_tables,
            connect_has_a_socket_too,
            a_socket_is_its_users_and_goes_with_its_gateway,
            the_socket_of_a_killed_gateway_is_swept,
            ps_sweeps_what_nobody_listens_on,
            a_gateway_that_is_stopped_is_named,
            who_is_not_there_is_an_error,
            no_gateway_is_no_error,
            a_terminal_gets_lines_that_fit,
            a_folder_that_others_can_read_is_refused,
            a_link_to_a_folder_is_refused,
            a_folder_of_somebody_else_is_refused,
            a_runtime_directory_of_somebody_else_is_not_used,
            without_a_runtime_directory_it_is_in_tmp,
            the_socket_can_be_elsewhere_or_nowhere,
            strangers_are_told_nothing,
            a_flood_of_connections_hurts_nobody,
            who_never_reads_and_who_only_talks_hurts_nobody):
    fact(one.__name__.replace('_', ' '), one)

if __name__ == '__main__':
    sys.exit(main())
