#!/usr/bin/env python3
"""test_auth_gateway.py - `fairlead serve` before servers that ask who comes.

As the command line says it for one server, and a file for several. Prints TAP.
FAIRLEAD names the program.
"""
import base64
import contextlib
import json
import signal
import stat
import sys
import urllib.request
from pathlib import Path

from flow import (FAIRLEAD, WAIT, Demo, call, contains, equal, folder, main,
                  require, run, started, until)
from guarded import Guarded


class Gateway:
    """What it says on stderr is read as it comes."""

    def __init__(self, process):
        self.serving = Demo(process)
        self.process, self.used = process, 0

    @property
    def url(self):
        return self.serving.urls[0]

    def page(self, *parts):
        """The next page a user is to say yes on."""
        lines = self.serving.lines

        def found():
            return next((i for i in range(self.used, len(lines) - 1)
                         if 'asks who you are' in lines[i]), None)
        until(lambda: found() is not None, f'somebody is asked: {lines}')
        at = found()
        self.used = at + 2
        for part in parts:
            contains(lines[at], part)
        return lines[at + 1].strip()

    def said(self, part):
        return any(part in line for line in self.serving.lines)


@contextlib.contextmanager
def gateway(*words):
    with started(FAIRLEAD, 'serve', '--control', 'none', '--listen',
                 'tcp://127.0.0.1:0', '--era', 'legacy', *words) as process:
        gate = Gateway(process)
        until(lambda: gate.serving.urls or process.poll() is not None,
              'it listens')
        require(process.poll() is None, gate.serving.lines)
        try:
            yield gate
        finally:
            gate.serving.end()
            gate.serving.reader.join(WAIT)


@contextlib.contextmanager
def asking(gate, tool='nap'):
    """A call that is under way, to be waited for at the end."""
    with started(FAIRLEAD, 'call', gate.url, 'call', tool) as caller:
        yield
        out, err = caller.communicate(timeout=WAIT)
        equal((caller.returncode, out.decode()), (0, 'slept\n'), err)


def visit(page):
    urllib.request.urlopen(page, timeout=WAIT).read()


def write(place, **servers):
    file = Path(place) / 'mcp.json'
    file.write_text(json.dumps({'mcpServers': servers}, indent=1))
    return file


def questions(place):
    return len(place.paths('/authorize'))


def test_the_one_server_of_a_command_line():
    with Guarded() as place, gateway(place.url, '--auth', 'code') as gate:
        with asking(gate):
            visit(gate.page())
        call(gate.url, 'call', 'nap').expect(0, 'slept\n')
        equal(questions(place), 1, 'questions:')


def test_a_server_of_a_file_that_says_so():
    with Guarded() as place, folder() as here:
        file = write(here, bed={'url': place.url, 'oauth': True})
        with gateway('--config', file) as gate:
            with asking(gate):
                visit(gate.page('server bed asks'))
            call(gate.url, 'call', 'nap').expect(0, 'slept\n')
            equal(questions(place), 1, 'questions:')


def test_each_server_of_a_file_has_its_own_login():
    with Guarded() as one, Guarded() as two, folder() as here:
        file = write(here, one={'url': one.url, 'oauth': True},
                     two={'url': two.url, 'oauth': {}})
        with gateway('--config', file) as gate:
            with asking(gate, 'one__nap'):
                for page in gate.page(), gate.page():
                    visit(page)
            call(gate.url, 'call', 'two__nap').expect(0, 'slept\n')
            for place, other in (one, two), (two, one):
                equal(questions(place), 1, 'questions:')
                shown = {entry[4].get('authorization', '').partition(' ')[2]
                         for entry in place.paths('/mcp')} - {''}
                require(shown and shown <= set(place.tokens), 'a strange one')


def test_the_command_line_speaks_for_a_whole_file_and_keeps_tokens():
    with Guarded() as place, folder() as here:
        file = write(here, bed={'url': place.url})
        store = Path(here) / 'tokens'
        words = ('--config', file, '--auth', 'code', '--auth-store', store)
        with gateway(*words) as gate, asking(gate):
            visit(gate.page('server bed asks'))
        kept, = store.iterdir()
        require(kept.name.startswith('bed+'), kept)
        equal(stat.S_IMODE(store.stat().st_mode), 0o700)
        equal(stat.S_IMODE(kept.stat().st_mode), 0o600)
        with gateway(*words) as gate:
            call(gate.url, 'call', 'nap').expect(0, 'slept\n')
        equal(questions(place), 1, 'questions:')


def test_two_accounts_at_one_server_are_two():
    with Guarded() as place, folder() as here:
        file = write(here, work={'url': place.url, 'oauth': True},
                     home={'url': place.url, 'oauth': True})
        store = Path(here) / 'tokens'
        with gateway('--config', file, '--auth-store', store) as gate:
            with asking(gate, 'work__nap'):
                pages = {gate.page(), gate.page()}
                for page in pages:
                    visit(page)
            call(gate.url, 'call', 'home__nap').expect(0, 'slept\n')
            equal(questions(place), 2, 'questions:')
            equal(sorted(one.name.partition('+')[0]
                         for one in store.iterdir()), ['home', 'work'])


def test_another_url_has_another_store():
    with Guarded() as one, Guarded() as two, folder() as here:
        file = write(here, bed={'url': one.url, 'oauth': True})
        store = Path(here) / 'tokens'
        with gateway('--config', file, '--auth-store', store) as gate:
            with asking(gate):
                visit(gate.page())
            write(here, bed={'url': two.url, 'oauth': True})
            gate.process.send_signal(signal.SIGHUP)
            until(lambda: gate.said('read again'), 'it is read')
            with asking(gate):
                visit(gate.page())
        equal(len(list(store.iterdir())), 2)


def test_a_store_that_is_open_to_others_can_be_mended():
    with Guarded() as place, folder() as here:
        store = Path(here) / 'bed.tokens'
        bed = {'url': place.url, 'oauth': {'store': 'bed.tokens'}}
        file = write(here, bed=bed)
        with gateway('--config', file) as gate, asking(gate):
            visit(gate.page())
        store.chmod(0o644)
        done = run(FAIRLEAD, 'serve', '--config', file, '--listen',
                   'tcp://127.0.0.1:0')
        contains(done.expect(1).err, f'{file}:3: bed: token store')
        write(here, other={'command': 'cat'})
        with gateway('--config', file) as gate:
            write(here, bed=bed)
            for count in 1, 2:
                gate.process.send_signal(signal.SIGHUP)
                until(lambda: sum('read again' in line for line in
                                  gate.serving.lines) == count, 'it is read')
                store.chmod(0o600)
            call(gate.url, 'call', 'nap').expect(0, 'slept\n')
        equal(questions(place), 1, 'questions:')


def test_places_of_another_kind_are_not_logged_in_at():
    with folder() as here:
        file = write(here, bed={
            'url': 'http://127.0.0.1:1/mcp', 'oauth': True, 'fairlead': {
                'connectAttempts': 1, 'replicas': [
                    {'command': FAIRLEAD, 'args': ['demo', '--listen',
                                                   'stdio:']}]}})
        with gateway('--config', file) as gate:
            until(lambda: call(gate.url, 'call', 'add', 'a=2',
                               'b=3').out == '5\n', 'the other one answers')


def test_who_said_no_is_not_asked():
    with Guarded() as place, folder() as here:
        for said in {'oauth': False}, {'oauth': {'enabled': False}}, {
                'headers': {'Authorization': 'Bearer old'}}:
            file = write(here, bed={'url': place.url, **said})
            with gateway('--config', file, '--auth', 'code') as gate:
                done = call(gate.url, 'call', 'nap')
                require(done.code != 0, said, done.out)
                require(not gate.said('asks who you are'), said)
        equal(questions(place), 0, 'questions:')


def test_a_secret_needs_no_user():
    with Guarded() as place, folder() as here:
        secret = Path(here) / 'secret'
        secret.write_text('s3cr3t-of-bed')
        file = write(here, bed={'url': place.url, 'oauth': {
            'grant': 'client-credentials', 'clientId': 'me',
            'clientSecret': '${file:' + str(secret) + '}',
            'scopes': ['naps', 'dreams']}})
        with gateway('--config', file) as gate:
            call(gate.url, 'call', 'nap').expect(0, 'slept\n')
            require(not gate.said('s3cr3t'), 'it is told')
        asked = place.paths('/token')[0]
        contains(asked[3], 'scope=naps%20dreams')
        equal(asked[4].get('authorization'), 'Basic ' +
              base64.b64encode(b'me:s3cr3t-of-bed').decode())


def test_a_file_that_is_read_again_asks_nobody_twice():
    with Guarded() as place, Guarded() as other, folder() as here:
        bed = {'url': place.url, 'oauth': True}
        file = write(here, bed=bed)
        with gateway('--config', file) as gate:
            with asking(gate):
                visit(gate.page())
            # a session that ends and begins anew, with the login it had
            write(here, bed={**bed, 'timeout': 5000})
            gate.process.send_signal(signal.SIGHUP)
            until(lambda: gate.said('read again'), 'it is read')
            call(gate.url, 'call', 'nap').expect(0, 'slept\n')
            equal(questions(place), 1, 'questions:')
            write(here, bed={**bed, 'url': other.url})
            gate.process.send_signal(signal.SIGHUP)
            with asking(gate):
                visit(gate.page())
            equal(questions(other), 1, 'questions:')


def test_what_is_wrong_is_said():
    with folder() as here:
        web = 'https://example.org/mcp'
        for entry, part in (
                ({'url': 'ws://127.0.0.1:1/', 'oauth': True},
                 'only a server at http:// or https:// asks'),
                ({'url': 'unix:/x#/mcp', 'type': 'http', 'oauth': {}},
                 'only a server at http:// or https:// asks'),
                ({'command': 'cat', 'oauth': {}},
                 'only a server at http:// or https:// asks'),
                ({'url': web, 'headers': {'authorization': 'x'},
                  'oauth': {}}, 'not together with a header Authorization'),
                ({'url': web, 'oauth': {'grant': 'client-credentials'}},
                 '"clientSecret"'),
                ({'url': web, 'oauth': {'grant': 'magic'}},
                 'client-credentials'),
                ({'url': web, 'oauth': 1}, 'object'),
                ({'url': web, 'oauth': {'callbackPort': 0}}, '65535'),
                ({'url': web, 'oauth': {'clientSecret': 'x'}}, '"clientId"'),
                ({'url': web, 'oauth': {'clientId': ''}}, 'empty'),
                ({'url': web, 'oauth': {'store': ''}}, 'empty'),
                ({'url': web, 'oauth': {'scope': 'a', 'scopes': ['b']}},
                 '"scopes" as well'),
                ({'url': web, 'oauth': {
                    'callbackPort': 1, 'redirectUri': 'http://127.0.0.1:1/'}},
                 '"redirectUri" as well'),
                ({'url': web, 'oauth': {'redirectUri': 'https://a.example/'}},
                 'where we wait'),
                ({'url': web, 'oauth': {'clientMetadataUrl': 'http://a/b'}},
                 'https://'),
                ({'url': 'unix:/x#/mcp', 'type': 'unix'}, 'for HTTP')):
            file = write(here, bed=entry)
            done = run(FAIRLEAD, 'serve', '--config', file, '--check')
            equal(done.code, 1, entry)
            contains(done.err, part)
            contains(done.err, f'{file}:')
        for entry in {'command': 'cat'}, {'url': 'unix:/x#/mcp'}:
            file = write(here, bed={**entry, 'oauth': {}, 'disabled': True},
                         other={'command': 'cat'})
            run(FAIRLEAD, 'serve', '--config', file, '--check').expect(0)
        file = write(here, bed={'url': web})
        for words, part in (
                (['--auth', 'client-credentials'], '"oauth" of the server'),
                (['--client-id', 'me'], '--client-id'),
                (['--auth', 'code', '--scope', 'x'], '--scope')):
            done = run(FAIRLEAD, 'serve', '--config', file, '--check', *words)
            equal(done.code, 1, words)
            contains(done.err, part)
        done = run(FAIRLEAD, 'serve', '--config', file, '--listen',
                   'tcp://127.0.0.1:0', '--auth', 'code', '--auth-store',
                   file)
        equal(done.code, 1)
        contains(done.err, 'names a folder')


if __name__ == '__main__':
    sys.exit(main(__name__))
