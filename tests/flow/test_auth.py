#!/usr/bin/env python3
"""test_auth.py - a client that is asked who it is, from the first 401 on.

DRIVERS names where auth-client is, FAIRLEAD the command. Prints TAP.
"""
import base64
import contextlib
import json
import os
import signal
import stat
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from flow import (FAIRLEAD, WAIT, call, contains, equal, folder, main, require,
                  run, started)
from guarded import Guarded

CLIENT = Path(os.environ.get('DRIVERS', '.')) / 'auth-client'
LEGACY = 'era=2025-11-25'


def client(place, *options):
    return run(CLIENT, LEGACY, *options, place.url)


GOOD = 'ready 2025-11-25\ntools\ncalled nap\n'


def test_a_client_registers_asks_and_is_let_in():
    with Guarded(scope='naps') as place:
        client(place, 'tool=nap', 'client_name=Sleeper').expect(0, GOOD)
        register = json.loads(place.paths('/register')[0][3])
        equal(register['client_name'], 'Sleeper')
        equal(register['application_type'], 'native')
        equal(register['grant_types'], ['authorization_code', 'refresh_token'])
        asked = dict(urllib.parse.parse_qsl(place.paths('/authorize')[0][2]))
        equal(asked['resource'], place.url)
        equal(asked['scope'], 'naps')
        equal(asked['code_challenge_method'], 'S256')
        got = dict(urllib.parse.parse_qsl(place.paths('/token')[0][3]))
        equal(got['resource'], place.url)
        equal(len(place.paths('/token')), 1, 'tokens:')
        # the refused request was sent again, and nothing else twice
        methods = [json.loads(one[3])['method'] for one in place.paths('/mcp')
                   if one[0] == 'POST']
        equal(methods, ['initialize', 'initialize',
                        'notifications/initialized', 'tools/list',
                        'tools/call'])


def test_the_standing_stream_carries_the_token_too():
    with Guarded() as place:
        client(place, 'tool=nap').expect(0, GOOD)
        gets = [one for one in place.paths('/mcp') if one[0] == 'GET']
        require(gets, 'no stream was asked for')
        contains(gets[0][4].get('authorization', ''), 'secret-token-')


def test_a_browser_comes_back_to_our_own_door():
    with Guarded() as place:
        with started(CLIENT, LEGACY, 'user=open', 'tool=nap',
                     place.url) as process:
            line = process.stdout.readline().decode().split()
            equal(line[0], 'open')
            asked = dict(urllib.parse.parse_qsl(line[1].partition('?')[2]))
            door = asked['redirect_uri']
            contains(door, 'http://127.0.0.1:')
            contains(door, '/callback')
            # somebody else at the door changes nothing
            for wrong in ('?code=x&state=wrong', '', '?error=x'):
                with contextlib.suppress(urllib.error.HTTPError):
                    urllib.request.urlopen(door + wrong, timeout=WAIT)
                    raise AssertionError(wrong + ' was taken')
            with contextlib.suppress(urllib.error.HTTPError):
                urllib.request.urlopen(door.replace('/callback', '/favicon'),
                                       timeout=WAIT)
                raise AssertionError('there is a favicon')
            page = urllib.request.urlopen(line[1], timeout=WAIT).read()
            contains(page.decode(), 'close this window')
            out, _ = process.communicate(timeout=WAIT)
            equal(out.decode(), GOOD)
            equal(process.returncode, 0)


def test_the_time_a_user_takes_is_not_the_servers():
    with Guarded() as place:
        with started(CLIENT, LEGACY, 'user=open', 'tool=nap', 'timeout=500',
                     place.url) as process:
            line = process.stdout.readline().decode().split()
            time.sleep(1.2)
            urllib.request.urlopen(line[1], timeout=WAIT).read()
            out, _ = process.communicate(timeout=WAIT)
            equal(out.decode(), GOOD)


def test_the_command_shows_the_page_and_is_let_in():
    with Guarded() as place, folder() as here:
        store = Path(here) / 'login'
        words = (FAIRLEAD, 'call', place.url, 'call', 'nap', '--era', 'legacy',
                 '--auth', 'code', '--auth-store', store)
        with started(*words) as process:
            contains(process.stderr.readline().decode(), 'asks who you are')
            page = process.stderr.readline().decode().strip()
            urllib.request.urlopen(page, timeout=WAIT).read()
            out, err = process.communicate(timeout=WAIT)
            equal(process.returncode, 0, err)
            equal(out.decode(), 'slept\n')
        equal(stat.S_IMODE(store.stat().st_mode), 0o600)
        run(*words).expect(0, 'slept\n')  # nobody is asked again
        equal(len(place.paths('/authorize')), 1, 'questions:')


def test_the_command_is_known_by_a_secret():
    with Guarded() as place, folder() as here:
        secret = Path(here) / 'secret'
        secret.write_text('s3cret\n')
        words = (place.url, 'call', 'nap', '--era', 'legacy', '--auth',
                 'client-credentials', '--client-id', 'me', '--scope', 'naps')
        call(*words, '--client-secret-file', secret).expect(0, 'slept\n')
        asked = place.paths('/token')[0]
        contains(asked[3], 'scope=naps')
        equal(asked[4].get('authorization'), 'Basic ' +
              base64.b64encode(b'me:s3cret').decode())
        secret.write_text('\n')
        done = call(*words, '--client-secret-file', secret).expect(1)
        contains(done.err, 'no secret in')


def test_the_command_says_what_is_missing():
    with Guarded() as place:
        done = call(place.url, 'tools', '--era', 'legacy').expect(2)
        contains(done.err, '--auth code')
        for words, part in (
                (('--client-id', 'x'), 'option --client-id: add --auth'),
                (('--scope', 'x'), 'option --scope: add --auth'),
                (('--auth', 'client-credentials'), '--client-secret-file FILE'),
                (('--auth', 'magic'), 'client-credentials')):
            contains(call(place.url, 'tools', *words).expect(1).err, part)
    done = call('tcp://127.0.0.1:1', 'tools', '--auth', 'code').expect(1)
    contains(done.err, 'only servers at http(s)://')


def test_the_command_can_be_interrupted_while_a_user_is_asked():
    with Guarded() as place:
        with started(FAIRLEAD, 'call', place.url, 'tools', '--era', 'legacy',
                     '--auth', 'code') as process:
            process.stderr.readline()
            process.stderr.readline()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=WAIT)
            equal(process.returncode, 130)


def test_a_user_who_says_no_ends_it():
    with Guarded(denies=True) as place:
        done = client(place)
        equal(done.code, 1)
        contains(done.out, 'access_denied')
        equal(len(place.paths('/authorize')), 1, 'questions:')
        equal(place.paths('/token'), [])


def test_a_code_of_another_issuer_is_not_used():
    for iss in ('https://evil.example.com', False):
        with Guarded(iss=iss) as place:
            done = client(place)
            equal(done.code, 1)
            contains(done.out, '(iss)')
            equal(place.paths('/token'), [])


def test_metadata_of_another_issuer_are_not_used():
    with Guarded(issuer='https://evil.example.com') as place:
        done = client(place)
        equal(done.code, 1)
        contains(done.out, 'another issuer')
        equal(place.paths('/authorize') + place.paths('/register'), [])


def test_a_server_of_2025_03_26_is_its_own_issuer():
    for slash in ('', '/'):
        with Guarded(bare=True) as place:
            place.options['issuer'] = place.options['iss'] = place.base + slash
            client(place, 'tool=nap').expect(0, GOOD)
    # it leads the user to somebody else, and wants the code for itself
    honest = 'https://honest.example.com'
    with Guarded(bare=True, issuer=honest, iss=honest) as place:
        done = client(place)
        equal(done.code, 1)
        equal(place.paths('/token'), [])


def test_no_token_is_asked_for_another_resource():
    with Guarded(resource='https://evil.example.com/mcp') as place:
        done = client(place)
        equal(done.code, 1)
        contains(done.out, 'another resource')
        equal(place.paths('/.well-known/oauth-authorization-server'), [])


def test_a_server_without_pkce_is_not_asked():
    with Guarded(metadata={'code_challenge_methods_supported': ['plain']}) \
            as place:
        done = client(place)
        equal(done.code, 1)
        contains(done.out, 'PKCE')
        equal(place.paths('/authorize'), [])


def test_endpoints_in_the_clear_are_not_used():
    with Guarded(metadata={'token_endpoint': 'http://192.0.2.1/token'}) \
            as place:
        done = client(place)
        equal(done.code, 1)
        contains(done.out, 'in the clear')
        equal(place.paths('/authorize'), [])


def test_metadata_without_end_are_refused():
    with Guarded(metadata={'filler': 'x' * (2 << 20)}) as place:
        done = client(place)
        equal(done.code, 1)
        contains(done.out, 'larger than is allowed')


def test_more_scope_is_asked_for_when_it_is_needed():
    with Guarded(scope='list', needs={'tools/call': 'nap:deep'}) as place:
        client(place, 'tool=nap', 'tool=nap').expect(0)
        scopes = [dict(urllib.parse.parse_qsl(one[2]))['scope']
                  for one in place.paths('/authorize')]
        equal(scopes, ['list', 'list nap:deep'])
        equal(len(place.paths('/register')), 1, 'registrations:')


def test_scope_that_is_never_granted_is_asked_for_once():
    with Guarded(scope='list', needs={'tools/call': 'x'}) as place:
        place.authorize_really = place.authorize

        def narrow(handler, query, body):
            answer = place.authorize_really(handler, query, body)
            for asked in place.codes.values():
                asked['scope'] = 'list'
            return answer

        place.authorize = narrow
        done = client(place, 'tool=nap')
        equal(done.code, 1)
        contains(done.out, 'asked for and not granted')
        equal(len(place.paths('/authorize')), 2, 'questions:')


@contextlib.contextmanager
def stale(place):
    """A store whose token is good, but about to run out."""
    with folder() as home:
        store = Path(home) / 'tokens.json'
        client(place, f'store_file={store}').expect(0)
        kept = json.loads(store.read_text())
        store.write_text(json.dumps({**kept, 'renew_at': 1}))
        place.seen.clear()
        yield f'store_file={store}'


def test_a_token_is_renewed_before_it_runs_out():
    with Guarded() as place, stale(place) as store:
        client(place, store, 'tool=nap').expect(0, GOOD)
        asked = [dict(urllib.parse.parse_qsl(one[3]))
                 for one in place.paths('/token')]
        equal([one['grant_type'] for one in asked], ['refresh_token'])
        equal(asked[0]['refresh_token'], 'secret-refresh-1')
        equal(asked[0]['resource'], place.url)
        equal(place.paths('/authorize'), [])
        # the first request waited for it
        equal(place.paths('/mcp')[0][4]['authorization'],
              'Bearer secret-token-2')


def test_an_outage_of_the_token_endpoint_costs_no_token():
    with Guarded() as place, stale(place) as store:
        place.refresh_fails = 503
        client(place, store, 'tool=nap').expect(0, GOOD)
        equal(len(place.paths('/token')), 1, 'token requests:')
        equal(place.paths('/authorize'), [])
        place.refresh_fails = 0
        client(place, store, 'tool=nap').expect(0, GOOD)
        equal(place.paths('/authorize'), [])


def test_a_refresh_token_that_is_refused_leads_to_the_user_again():
    with Guarded() as place, stale(place) as store:
        place.refresh_fails = 400
        client(place, store, 'tool=nap').expect(0, GOOD)
        equal(len(place.paths('/authorize')), 1, 'questions:')
        equal(place.paths('/register'), [], 'it is known already:')


def test_a_token_that_was_taken_back_is_renewed():
    with Guarded() as place, folder() as home:
        store = f'store_file={home}/tokens.json'
        client(place, store).expect(0)
        place.tokens.clear()
        place.seen.clear()
        client(place, store, 'tool=nap').expect(0, GOOD)
        asked = [dict(urllib.parse.parse_qsl(one[3]))['grant_type']
                 for one in place.paths('/token')]
        equal(asked, ['refresh_token'])
        equal(place.paths('/authorize'), [])


def test_a_server_that_refuses_every_token_is_left():
    with Guarded() as place:
        place.tokens = type('Never', (dict,), {
            '__contains__': lambda *_: False})()
        done = client(place)
        equal(done.code, 1)
        contains(done.out, 'refuses every token')
        require(len(place.paths('/authorize')) <= 3, 'asked too often:',
                len(place.paths('/authorize')))


def test_client_authentication_is_as_it_was_registered():
    pair = {'client_secret': 's/1'}
    for method in ('client_secret_basic', 'client_secret_post'):
        with Guarded(registered={**pair, 'token_endpoint_auth_method': method},
                     metadata={'token_endpoint_auth_methods_supported':
                               [method]}) as place:
            client(place, 'tool=nap').expect(0, GOOD)
            asked = place.paths('/token')[0]
            body = dict(urllib.parse.parse_qsl(asked[3]))
            if method == 'client_secret_post':
                equal(body['client_secret'], 's/1')
            else:
                shown = asked[4]['authorization'].partition(' ')[2]
                contains(base64.b64decode(shown).decode(), ':s%2F1')
                require('client_secret' not in body, body)


def test_client_credentials_need_no_user():
    with Guarded() as place:
        client(place, 'grant=client_credentials', 'client_id=me',
               'client_secret=it', 'tool=nap').expect(0, GOOD)
        equal(place.paths('/authorize') + place.paths('/register'), [])


def test_an_assertion_needs_no_user_and_is_not_tried_twice():
    with Guarded() as place:
        client(place, 'grant=jwt_bearer', 'assertion=a.b.c',
               'tool=nap').expect(0, GOOD)
        asked = dict(urllib.parse.parse_qsl(place.paths('/token')[0][3]))
        equal(asked['assertion'], 'a.b.c')
        place.token = lambda *_: (400, {}, {'error': 'invalid_grant'})
        place.seen.clear()
        done = client(place, 'grant=jwt_bearer', 'assertion=a.b.c')
        equal(done.code, 1)
        contains(done.out, 'invalid_grant')
        equal(len(place.paths('/token')), 1, 'token requests:')


def test_proofs_of_possession_are_made_for_each_request():
    for nonce in (False, True):
        with Guarded(scheme='DPoP', nonce=nonce) as place:
            client(place, 'tool=nap').expect(0, GOOD)
            shown = [one for one in place.paths('/mcp')
                     if 'authorization' in one[4]]
            require(all(one[4]['authorization'].startswith('DPoP ') and
                        'dpop' in one[4] for one in shown), shown)
            equal(len(place.paths('/authorize')), 1, 'questions:')


def test_a_token_without_proof_is_not_taken_for_one_with_it():
    with Guarded() as place:
        done = client(place, 'dpop=on', 'tool=nap')
        equal(done.code, 1)
        contains(done.out, 'not bound to our key')


def test_a_token_of_the_programs_own_is_used():
    with Guarded() as place:
        place.tokens['second'] = ''
        done = client(place, 'user=token', 'tokens=first,second', 'tool=nap')
        done.expect(0, 'token-wanted\ntoken-refused\n' + GOOD)
        equal(place.paths('/.well-known/oauth-protected-resource/mcp'), [])
        done = client(place, 'user=token', 'tokens=first')
        equal(done.code, 1)
        contains(done.out, 'no tokens left')


def test_what_is_stored_is_used_and_nobody_else_can_read_it():
    with folder() as home, Guarded() as place:
        store = Path(home) / 'tokens.json'
        for _ in range(2):
            client(place, f'store_file={store}', 'tool=nap').expect(0, GOOD)
        equal(len(place.paths('/authorize')), 1, 'questions:')
        equal(len(place.paths('/register')), 1, 'registrations:')
        equal(stat.S_IMODE(store.stat().st_mode), 0o600)
        equal([one.name for one in Path(home).iterdir()], ['tokens.json'])
        kept = json.loads(store.read_text())
        equal(kept['server'], place.url)
        store.chmod(0o644)
        done = client(place, f'store_file={store}')
        equal(done.code, 2)
        contains(done.out, 'chmod 600')


def test_a_registration_that_was_forgotten_is_made_anew():
    with Guarded() as place, folder() as here:
        store = 'store_file=' + str(Path(here) / 'store')
        client(place, 'tool=nap', store).expect(0, GOOD)
        known = json.loads((Path(here) / 'store').read_text())['client_id']
        place.tokens.clear()
        place.options['forgotten'] = [known]
        client(place, 'tool=nap', store).expect(0, GOOD)
        equal(len(place.paths('/register')), 2, 'registrations:')


def test_a_store_of_another_server_is_not_shown_to_this_one():
    with folder() as home, Guarded() as one, Guarded() as two:
        store = Path(home) / 'tokens.json'
        client(one, f'store_file={store}').expect(0)
        done = client(two, f'store_file={store}')
        equal(done.code, 2)
        contains(done.out, 'will not be shown')
        equal(two.seen, [])


def test_nothing_secret_is_logged():
    with folder() as home, Guarded(
            registered={'client_secret': 'secret-of-client'}) as place:
        done = client(place, 'log=1', 'tool=nap',
                      f'store_file={home}/tokens.json')
        done.expect(0, GOOD)
        contains(done.err, 'authorized')
        require('secret-' not in done.err, done.err)
        require('code-' not in done.err, done.err)


if __name__ == '__main__':
    sys.exit(main(__name__))
