#!/usr/bin/env python3
"""test_doctor.py - `fairlead doctor` finds what is wrong, and says so.

Every finding has a server that provokes it: patients on stdio (patient.py), in
Python's HTTP server, or of the worst manners (badchild); and the demo, over
every transport, is in good health. Prints TAP. FAIRLEAD names the program,
BADCHILD the child.
"""
import contextlib
import http.server
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from flow import (FAIRLEAD, SLOW, WAIT, Terminal, contains, demo, equal,
                  folder, free_port, main, require, run, started)
from patient import REVISIONS
from wire import identity, server_options

BADCHILD = os.environ.get('BADCHILD', 'badchild')
PATIENT = Path(__file__).resolve().with_name('patient.py')
TIMEOUT = f'{10 * SLOW:g}'
SHORT = f'{4 * SLOW:g}'  # where the end of it is what is waited for
WAITED_FOR = ('silent', 'port', 'mute-discover', 'deaf')
VERDICTS = ('ok', 'note', 'warning', 'fault')


class Report:
    """What the doctor said, as a script reads it."""

    def __init__(self, done):
        self.code = done.code
        equal(done.err, '', 'stderr:')
        said = done.json()
        self.findings, self.verdict = said['findings'], said['verdict']
        equal(said['counts'], {verdict: sum(
            one['verdict'] == verdict for one in self.findings)
            for verdict in VERDICTS}, 'counts:')
        for one in self.findings:
            equal('advice' in one, one['verdict'] != 'ok', one)
            require(one['text'] and one['group'] and '.' in one['check'], one)

    def expect(self, check, verdict, *parts):
        """A finding of this name and verdict, whose text has these."""
        found = [one for one in self.findings
                 if (one['check'], one['verdict']) == (check, verdict)]
        require(found, f'no {verdict} about {check} in', self.bad())
        for part in parts:
            require(any(part in one['text'] + ' ' + one.get('advice', '')
                        for one in found), repr(part), 'is not in', found)
        return self

    def bad(self):
        return [one for one in self.findings if one['verdict'] != 'ok']

    def ends(self, verdict):
        """As a whole: the word, and the exit status that goes with it."""
        equal(self.verdict, verdict, self.bad())
        equal(self.code, {'healthy': 0, 'faults': 1, 'unreachable': 2}[verdict])
        return self


def doctor(*words, timeout=TIMEOUT, **more):
    return Report(run(FAIRLEAD, 'doctor', '--json', '--timeout', timeout,
                      *words, **more))


def patient(*words, **more):
    if words[:1] and words[0] in WAITED_FOR:
        more['timeout'] = SHORT
    return doctor('--', sys.executable, '-S', '-E', PATIENT, *words, **more)


def clean(report):
    report.ends('healthy')
    equal([one for one in report.bad()
           if SLOW == 1 or one['check'] != 'connection.open'], [])


# A server in good health.

def test_the_demo_on_stdio_is_in_good_health():
    clean(doctor('--', FAIRLEAD, 'demo', '--listen', 'stdio:'))


def test_the_demo_is_in_good_health_on_every_transport():
    with folder() as place, demo(listen=(
            'tcp://127.0.0.1:0', f'unix:{place}/socket',
            'http://127.0.0.1:0/mcp', 'ws://127.0.0.1:0/mcp')) as serving:
        for url in serving.urls:
            clean(doctor(url))


def test_http_sse_is_in_good_health_but_old():
    with demo(listen=('http://127.0.0.1:0/mcp',)) as serving:
        url = serving.urls[0].replace('/mcp', '/sse')
        report = doctor('sse+' + url).ends('healthy')
        report.expect('sse.age', 'note').expect('sse.endpoint', 'ok')


def test_a_plain_legacy_server_gets_a_note_and_no_more():
    report = patient().ends('healthy')
    equal([one['check'] for one in report.bad()], ['protocol.modern'])
    report.expect('protocol.legacy', 'ok', '2025-11-25, 2025-06-18, '
                  '2025-03-26, 2024-11-05')


# What is wrong with a command.

STDIO = (
    ('banner', 'faults', 'command.stdout', 'fault',
     'Starting the \\x1b[31mserver\\x07...', 'stderr'),
    ('framed', 'faults', 'command.stdout', 'fault', 'LSP'),
    ('early', 'unreachable', 'command.stderr', 'note', 'GITHUB_TOKEN is not'),
    ('crash', 'unreachable', 'command.early', 'fault', 'signal 11'),
    ('silent', 'unreachable', 'command.answer', 'fault', 'within', 'stdin'),
    ('port', 'unreachable', 'command.answer', 'fault', 'serve on a port'),
    ('stubborn', 'healthy', 'command.leaving', 'warning', 'SIGTERM'),
    ('immortal', 'healthy', 'command.leaving', 'warning', 'SIGKILL'),
    ('grumpy', 'healthy', 'command.leaving', 'note', 'exit code 3'),
    ('father', 'healthy', 'command.descendants', 'warning', '1 process'),
    ('nameless', 'faults', 'protocol.name', 'fault', 'serverInfo'),
    ('uncapable', 'faults', 'protocol.capabilities', 'fault', 'no object'),
    ('offers-nothing', 'healthy', 'protocol.capabilities', 'note', 'nothing'),
    ('visionary', 'faults', 'protocol.revision', 'fault', 'there is not'),
    ('picky', 'healthy', 'protocol.unknown-revision', 'warning',
     'unsupported version', 'newest'),
    ('old', 'healthy', 'protocol.legacy', 'ok', 'initialize: 2024-11-05'),
    ('mute-discover', 'healthy', 'protocol.modern', 'warning', 'within'),
    ('dies-at-discover', 'healthy', 'protocol.modern', 'warning', 'ends'),
    ('typeless', 'faults', 'protocol.result-type', 'fault', 'resultType'),
    ('pingless', 'faults', 'protocol.ping', 'fault', '-32601'),
    ('ids-to-numbers', 'faults', 'protocol.ids', 'fault',
     'asked with id "1" it answered to id 1'),
    ('ids-to-floats', 'healthy', 'protocol.ids', 'note',
     '9007199254740993 it answered to id 9007199254740992'),
    ('one-id', 'faults', 'protocol.ids', 'fault', 'answered to id 1'),
    ('agreeable', 'healthy', 'protocol.unknown-method', 'warning', 'any'),
    ('vague', 'healthy', 'protocol.unknown-method', 'warning', '-32603'),
    ('deaf', 'faults', 'protocol.unknown-method', 'fault', 'not answered'),
    ('pages', 'healthy', 'tools.list', 'ok', '5, on 5 pages'),
    ('endless', 'faults', 'tools.list', 'fault', 'do not come to an end'),
    ('null-cursor', 'faults', 'tools.list', 'fault', 'nextCursor', 'null'),
    ('listless', 'faults', 'tools.list', 'fault', 'no list'),
    ('boaster', 'faults', 'tools.list', 'fault', '-32601', 'declare'),
    ('twins', 'faults', 'tools.list', 'fault', '1 tool is listed more', 'good'),
    ('anonymous', 'faults', 'tools.name', 'fault', 'without a name'),
    ('odd-name', 'healthy', 'tools.name', 'warning', 'two words'),
    ('long-name', 'healthy', 'tools.name', 'note', '60'),
    ('undescribed', 'healthy', 'tools.description', 'note', 'good'),
    ('schemaless', 'faults', 'tools.schema', 'fault', 'without an inputSchema'),
    ('bad-schema', 'faults', 'tools.schema', 'fault', 'no JSON Schema', 'type'),
    ('not-object', 'faults', 'tools.schema', 'fault', 'not of type object'),
    ('bad-output', 'healthy', 'tools.output', 'warning', 'outputSchema'),
    ('many', 'healthy', 'tools.many', 'note', '101'),
    ('uriless', 'faults', 'resources.list', 'fault', '1 resource without uri'),
    ('uriless', 'faults', 'prompts.list', 'fault', 'listed more than once'),
)


def make_test(illness, whole, check, verdict, *parts):
    def test():
        patient(illness).ends(whole).expect(check, verdict, *parts)
    return test


for row in STDIO:
    globals()[f'test_{row[0]} gets a {row[3]} for {row[2]}'] = make_test(*row)


def test_a_slow_start_is_told():
    with folder() as place:
        patient('slow', f'{place}/started', timeout='30').ends(
            'healthy').expect('command.answer', 'warning', 'took ')


def test_a_command_that_is_not_there_is_told():
    doctor('--', './no-such-server').ends('unreachable').expect(
        'command.start', 'fault', 'no-such-server', 'PATH')


def test_a_command_in_one_word_is_told_apart():
    doctor('--', 'npx -y server').ends('unreachable').expect(
        'command.start', 'fault', 'There is no shell')


def test_a_file_that_may_not_be_executed_is_told():
    with folder() as place:
        path = Path(place) / 'server'
        path.write_text('#!/bin/sh\n', encoding='ascii')
        doctor('--', path).ends('unreachable').expect(
            'command.start', 'fault', 'permission')


def test_a_wrapper_that_finds_nothing_is_told():
    doctor('--', BADCHILD, 'exit-code', '127').ends('unreachable').expect(
        'command.early', 'fault', 'exit code 127', 'not found')


def test_variables_that_were_withheld_are_named():
    doctor('--', BADCHILD, 'exit-code', '1',
           env={'MY_API_KEY': 's3cr3t'}).expect(
               'command.early', 'fault', 'MY_API_KEY', '--inherit-env')


def test_bad_children_are_seen_through_and_end():
    for manner in ('garbage', 'close-stdout', 'die-mid-message', 'family',
                   'never-read', 'stop-itself', 'daemon-grandchild'):
        doctor('--', BADCHILD, manner, timeout='1').ends('unreachable')


# What is wrong with an address.

def test_an_address_that_is_none_is_told():
    for url, part in (
            ('localhost:8080/mcp', "'http://localhost:8080/mcp'"),
            ('htp://x/mcp', "'http://x/mcp'"), ('http:/x/mcp', 'http://x/mcp'),
            ('mcp://x:1/mcp', "'http://x:1/mcp'"), ('stdio:', 'COMMAND'),
            ('tcp://x', 'kinds of address')):
        doctor(url).ends('unreachable').expect('address.form', 'fault', part)


def test_nobody_at_the_port_is_told():
    for scheme in ('http', 'tcp', 'ws'):
        doctor(f'{scheme}://127.0.0.1:{free_port()}').ends(
            'unreachable').expect('connection.open', 'fault', 'refused',
                                  'running')


def test_a_name_that_nobody_has_is_told():
    doctor('http://no-such-host.invalid/mcp').ends('unreachable').expect(
        'connection.name', 'fault', 'no-such-host.invalid', 'getent')


def test_a_socket_that_is_not_there_is_told():
    doctor('unix:/nonexistent/socket').ends('unreachable').expect(
        'connection.open', 'fault', 'socket')


def test_a_proxy_is_told():
    report = doctor('http://example.invalid/mcp', env={
        'http_proxy': f'http://127.0.0.1:{free_port()}'})
    report.expect('connection.proxy', 'note', '127.0.0.1').ends('unreachable')
    report.expect('address.plain', 'warning', 'in the clear')


def test_a_peer_that_says_nothing_is_told():
    with socket.create_server(('127.0.0.1', 0)) as listener:
        port = listener.getsockname()[1]
        doctor(f'tcp://127.0.0.1:{port}', timeout='0.5').ends('faults').expect(
            'protocol.open', 'fault', 'within')
        doctor(f'http://127.0.0.1:{port}/mcp', timeout='0.5').ends(
            'faults').expect('http.answer', 'fault', 'within')


def test_http_behind_tcp_is_told():
    with demo(listen=('http://127.0.0.1:0/mcp',)) as serving:
        doctor(serving.urls[0].replace('http', 'tcp').replace('/mcp', '')).ends(
            'faults').expect('protocol.open', 'fault', serving.urls[0])


# What is wrong with a certificate.

def certificate(place, name, days, names):
    """Signed by itself; days below zero: it has expired."""
    base = f'{place}/{name}'
    run('openssl', 'req', '-new', '-newkey', 'ec', '-pkeyopt',
        'ec_paramgen_curve:prime256v1', '-nodes', '-subj', f'/CN={name}',
        '-addext', f'subjectAltName={names}', '-keyout', f'{base}.key',
        '-out', f'{base}.csr').expect(0)
    run('openssl', 'x509', '-req', '-in', f'{base}.csr', '-signkey',
        f'{base}.key', '-days', days, '-copy_extensions', 'copy', '-out',
        f'{base}.pem').expect(0)
    return base


@contextlib.contextmanager
def secured(days=90, names='IP:127.0.0.1'):
    with identity(), folder() as place:  # which skips where it cannot be
        base = certificate(place, 'server', days, names)
        with demo('--tls-cert', f'{base}.pem', '--tls-key', f'{base}.key',
                  listen=('https://127.0.0.1:0/mcp',)) as serving:
            yield serving.urls[0], f'{base}.pem'


def test_a_good_certificate_is_good():
    with secured() as (url, trusted):
        report = doctor(url, '--tls-ca', trusted)
        clean(report)
        report.expect('tls.verified', 'ok', 'TLSv1.3')
        report.expect('tls.expiry', 'ok', 'good for')


def test_a_certificate_of_a_stranger_is_told():
    with secured() as (url, _):
        report = doctor(url).ends('unreachable')
        report.expect('tls.unknown', 'fault', '--tls-ca')
        report.expect('tls.certificate', 'note', '127.0.0.1', 'by itself')


def test_a_certificate_for_another_name_is_told():
    with secured(names='DNS:other.example') as (url, trusted):
        report = doctor(url, '--tls-ca', trusted).ends('unreachable')
        report.expect('tls.name', 'fault', 'mismatch', '--tls-server-name')
        report.expect('tls.certificate', 'note', 'other.example')
        clean(doctor(url, '--tls-ca', trusted, '--tls-server-name',
                     'other.example'))


def test_a_certificate_that_has_expired_is_told():
    with secured(days=-1) as (url, trusted):
        doctor(url, '--tls-ca', trusted).ends('unreachable').expect(
            'tls.expired', 'fault', 'expired', 'Renew')


def test_a_certificate_that_will_expire_soon_is_told():
    with secured(days=5) as (url, trusted):
        doctor(url, '--tls-ca', trusted).ends('healthy').expect(
            'tls.expiry', 'warning', 'day')


def test_to_look_away_is_told():
    with secured() as (url, _):
        doctor(url, '--insecure-skip-verify').ends('healthy').expect(
            'tls.verified', 'warning', 'not verified')


def test_a_certificate_file_that_is_none_is_told():
    with demo(listen=('http://127.0.0.1:0/mcp',)) as serving:
        doctor(serving.urls[0], '--tls-ca', '/dev/null').ends(
            'unreachable').expect('tls.files', 'fault', '/dev/null')


def test_no_tls_behind_https_is_told():
    with demo(listen=('http://127.0.0.1:0/mcp',)) as serving:
        doctor(serving.urls[0].replace('http:', 'https:')).ends(
            'unreachable').expect('tls.plain', 'fault', 'http://')


def test_a_client_certificate_that_is_wanted_is_told():
    with identity() as place, demo(
            *server_options(place), '--tls-ca', f'{place}/known.pem',
            '--require-client-cert',
            listen=('https://127.0.0.1:0/mcp',)) as serving:
        trust = ('--tls-ca', f'{place}/known.pem')
        report = doctor(serving.urls[0], *trust)
        require(report.code in (1, 2), report.findings)
        require(any('certificate required' in one['text']
                    for one in report.bad()), report.bad())
        doctor(serving.urls[0], *trust, '--tls-cert', f'{place}/known.pem',
               '--tls-key', f'{place}/known.key').ends('healthy')


# What is wrong with an HTTP server.

NAME = 'c0ffee00-1234-5678-9abc-def012345678-'
COUNT = itertools.count()


class Handler(http.server.BaseHTTPRequestHandler):
    """A legacy server in good health; what is sick overrides a method."""
    protocol_version = 'HTTP/1.1'
    session = NAME

    def log_message(self, *_):
        pass

    def say(self, status, body=b'', media='application/json', **fields):
        with contextlib.suppress(OSError):
            self.send_response(status)
            if media:
                self.send_header('Content-Type', media)
            self.send_header('Content-Length', str(len(body)))
            for name, value in fields.items():
                self.send_header(name.replace('_', '-'), value)
            self.end_headers()
            self.wfile.write(body)

    def fits(self):
        """Whether Host, Origin and path are ours."""
        host = self.headers['Host'].rpartition(':')[0] or self.headers['Host']
        if host != '127.0.0.1' or self.headers['Origin']:
            self.say(403)
        elif self.path != '/mcp':
            self.say(404)
        else:
            return True
        return False

    def shown(self):
        return self.headers['Mcp-Session-Id']

    def do_GET(self):
        if self.fits():
            self.say(405)

    def do_DELETE(self):
        if self.fits():
            self.server.sessions.discard(self.shown())
            self.say(204)

    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        if self.fits():
            self.hear(json.loads(body))

    def knows(self, session):
        return session in self.server.sessions

    def hear(self, message):
        method = message['method']
        if method == 'initialize':
            self.welcome(message)
        elif self.shown() and not self.knows(self.shown()):
            self.lost()
        elif 'id' not in message:
            self.say(202, media=None)
        else:
            self.answer(message, {'ping': {'result': {}}, 'tools/list': {
                'result': {'tools': []}}}.get(method, {'error': {
                    'code': -32601, 'message': 'not known'}}))

    def lost(self):
        self.say(404)

    def answer(self, message, said, **fields):
        self.say(200, json.dumps({'jsonrpc': '2.0', 'id': message['id'],
                                  **said}).encode(), **fields)

    def welcome(self, message):
        fields = {}
        if self.session:
            fields['Mcp_Session_Id'] = f'{self.session}{next(COUNT)}'
            self.server.sessions.add(fields['Mcp_Session_Id'])
        asked = message['params']['protocolVersion']
        self.answer(message, {'result': {
            'protocolVersion': asked if asked in REVISIONS else REVISIONS[0],
            'capabilities': {'tools': {}},
            'serverInfo': {'name': 'x', 'version': '1'}}}, **fields)


@contextlib.contextmanager
def serving_as(handler):
    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler) as one:
        one.daemon_threads, one.sessions = True, set()
        thread = threading.Thread(target=one.serve_forever, daemon=True)
        thread.start()
        try:
            yield f'http://127.0.0.1:{one.server_port}'
        finally:
            one.shutdown()
            thread.join(WAIT)


def sick(path='/mcp', scheme='http', timeout=TIMEOUT, **habits):
    """What is found with a server that has these methods instead."""
    with serving_as(type('Sick', (Handler,), habits)) as url:
        return doctor(url.replace('http', scheme, 1) + path, timeout=timeout)


def test_a_plain_http_server_gets_a_note_and_no_more():
    report = sick().ends('healthy')
    equal([one['check'] for one in report.bad()], ['protocol.modern'])


def test_a_server_without_sessions_is_fine():
    sick(session=None).ends('healthy').expect('http.session', 'ok', 'no')


def test_a_wrong_path_is_told_and_the_right_one_named():
    for path in ('', '/', '/wrong'):
        sick(path).ends('faults').expect('http.path', 'fault', '404', '/mcp')


def test_a_path_that_is_nowhere_is_told():
    sick(fits=lambda self: self.say(404)).ends('faults').expect(
        'http.path', 'fault', 'Which path')


def sse_only(self):
    if self.path != '/sse':
        self.say(404)
        return
    self.send_response(200)
    self.send_header('Content-Type', 'text/event-stream')
    self.end_headers()
    self.wfile.write(b'event: endpoint\ndata: /messages?id=1\n\n')
    self.wfile.flush()
    time.sleep(0.5)


def test_the_transport_of_2024_is_named():
    sick(do_GET=sse_only, do_POST=lambda self: self.say(405)).ends(
        'faults').expect('http.path', 'fault', '405', 'sse+http://', '/sse')


def test_a_page_for_people_is_told():
    sick(do_POST=lambda self: self.say(
        200, b'<html>Welcome</html>', 'text/html')).ends('faults').expect(
            'http.path', 'fault', 'a page for people')


def test_a_media_type_that_is_none_of_ours_is_told():
    for media, part in (('text/plain', 'text/plain'), (None, 'without')):
        sick(answer=lambda self, message, said, media=media, **fields: self.say(
            200, json.dumps({'jsonrpc': '2.0', 'id': message['id'],
                             **said}).encode(), media, **fields)).ends(
                                 'faults').expect('http.media', 'fault', part)


def test_a_redirect_is_told():
    sick(do_POST=lambda self: self.say(
        307, Location='/mcp/')).ends('faults').expect(
            'http.redirect', 'fault', '307', '/mcp/', 'slash')


def test_what_a_status_means_is_told():
    for status, body, part in (
            (500, b'Traceback: \x1b[31mboom', 'Traceback: \\x1b[31mboom'),
            (406, b'', 'text/event-stream'), (426, b'', 'ws://127.0.0.1'),
            (400, b'sent to HTTPS port', 'https://'),
            (400, b'what?', 'read what it says'), (429, b'', 'gate')):
        sick(do_POST=lambda self, status=status, body=body: self.say(
            status, body)).ends('faults').expect(
                'http.status', 'fault', str(status), part)


def test_packing_that_was_not_asked_for_is_told():
    def welcome(self, message):
        Handler.answer(self, message, {'result': {}}, Content_Encoding='br')
    sick(welcome=welcome).expect('http.encoding', 'fault', 'br')


def test_a_peer_that_is_no_http_server_is_told():
    with socket.create_server(('127.0.0.1', 0)) as listener:
        def serve():
            with contextlib.suppress(OSError):
                while True:
                    with listener.accept()[0] as peer:
                        peer.recv(4096)
                        peer.sendall(b'220 mail.example ESMTP\r\n')
        threading.Thread(target=serve, daemon=True).start()
        doctor(f'http://127.0.0.1:{listener.getsockname()[1]}/mcp').ends(
            'faults').expect('http.answer', 'fault', 'speak HTTP')
        listener.shutdown(socket.SHUT_RDWR)


def test_session_ids_that_are_unfit_are_told():
    sick(session='n').ends('healthy').expect(
        'http.session', 'warning', 'letters long', 'random')
    sick(session='with a space, and long ').expect(
        'http.session', 'fault', 'visible ASCII')


def test_notifications_that_are_answered_are_told():
    def hear(self, message):
        if 'id' not in message:
            self.say(self.wrong)
        else:
            Handler.hear(self, message)
    sick(hear=hear, wrong=200).ends('healthy').expect(
        'http.notification', 'note', '200, not 202')
    sick(hear=hear, wrong=500).expect('http.notification', 'fault', '500')


def test_sessions_that_are_lost_the_wrong_way_are_told():
    sick(lost=lambda self: self.say(400)).ends('healthy').expect(
        'http.lost-session', 'warning', 'never was', '400, not 404', 'anew')
    sick(knows=lambda self, session: True).ends('healthy').expect(
        'http.lost-session', 'warning', 'has been ended', '200')


def test_what_a_delete_does_is_told():
    sick(do_DELETE=lambda self: self.say(405)).ends('healthy').expect(
        'http.delete', 'note', '405')
    sick(do_DELETE=lambda self: self.say(500)).ends('healthy').expect(
        'http.delete', 'warning', '500')


def test_a_get_that_is_no_stream_is_told():
    sick(do_GET=lambda self: self.say(200, b'{}')).ends('healthy').expect(
        'http.get', 'warning', '200', '405')


def test_a_stream_that_is_held_back_is_told():
    sick(do_GET=lambda self: time.sleep(4 * SLOW)).ends('healthy').expect(
        'http.get', 'warning', 'proxy_buffering')


def modern(stream):
    """Answers as 2026-07-28 has it; `stream` is what becomes of a listen."""
    def hear(self, message):
        if message['method'] == 'server/discover':
            self.answer(message, {'result': {
                'resultType': 'complete', 'supportedVersions': ['2026-07-28'],
                'capabilities': {'tools': {}}, 'ttlMs': 0,
                'cacheScope': 'private'}})
        elif message['method'] == 'subscriptions/listen':
            stream(self)
        elif message['method'] == 'tools/list':
            self.answer(message, {'result': {
                'resultType': 'complete', 'tools': [], 'ttlMs': 0,
                'cacheScope': 'private'}})
        else:
            self.say(404, json.dumps({
                'jsonrpc': '2.0', 'id': message.get('id'), 'error': {
                    'code': -32601, 'message': 'not known'}}).encode())
    return hear


def listen(self):
    self.send_response(200)
    self.send_header('Content-Type', 'text/event-stream')
    self.end_headers()
    self.wfile.write(b'data: {"jsonrpc":"2.0","method":"notifications/'
                     b'subscriptions/acknowledged"}\n\n')
    self.wfile.flush()


def test_a_server_of_the_modern_era_alone_is_fine():
    report = sick(hear=modern(listen)).ends('healthy')
    report.expect('http.answer', 'ok', '2026-07-28')
    report.expect('http.stream', 'ok').expect('protocol.modern', 'ok')


def test_a_modern_stream_that_is_held_back_is_told():
    sick(hear=modern(lambda self: time.sleep(4 * SLOW))).ends(
        'healthy').expect('http.stream', 'warning', 'proxy_buffering')


def test_a_server_that_any_page_can_use_is_told():
    report = sick(fits=lambda self: True).ends('healthy')
    report.expect('http.origin', 'warning', 'any web page', '403')
    report.expect('http.host', 'warning', 'rebinding')


def test_a_stream_of_2024_that_is_none_is_told():
    def wrong_event(self):
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.end_headers()
        self.wfile.write(self.event)
        self.wfile.flush()
        time.sleep(0.5)
    for event, part in (
            (b'data: hello\n\n', "first event is 'message'"),
            (b'event: endpoint\ndata: http://10.0.0.1/x\n\n', '10.0.0.1'),
            (b': nothing\n\n', 'no event')):
        sick('/sse', 'sse+http', SHORT, do_GET=wrong_event, event=event).ends(
            'faults').expect('sse.endpoint', 'fault', part)
    sick('/mcp', 'sse+http').ends('faults').expect(
        'sse.stream', 'fault', '405', "leave 'sse+' out")


# Who is not let in.

def closed(field=None, status=401):
    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        self.say(status, **({'WWW_Authenticate': field.replace(
            'HERE', f'http://127.0.0.1:{self.server.server_port}')}
            if field else {}))
    return do_POST


def metadata(documents):
    """A GET of these paths is answered with JSON; HERE is the server."""
    def do_GET(self):
        here = f'http://127.0.0.1:{self.server.server_port}'
        if self.path in documents:
            self.say(200, json.dumps(documents[self.path]).replace(
                'HERE', here).encode())
        else:
            self.say(404)
    return do_GET


WELL_KNOWN = '/.well-known/oauth-protected-resource/mcp'
RESOURCE = {'resource': 'HERE/mcp', 'authorization_servers': ['HERE']}
ISSUER = {'/.well-known/oauth-authorization-server': {
    'issuer': 'HERE', 'token_endpoint': 'HERE/token'}}
NAMED = f'Bearer resource_metadata="HERE{WELL_KNOWN}"'


def test_a_closed_door_with_a_way_in_is_told():
    report = sick(do_POST=closed(NAMED), do_GET=metadata(
        {WELL_KNOWN: RESOURCE, **ISSUER})).ends('faults')
    report.expect('auth.closed', 'fault', '401', '--header-file')
    for check in ('auth.challenge', 'auth.metadata', 'auth.server'):
        report.expect(check, 'ok')


def test_a_closed_door_without_a_word_is_told():
    report = sick(do_POST=closed()).ends('faults')
    report.expect('auth.challenge', 'fault', 'WWW-Authenticate')
    report.expect('auth.metadata', 'fault', 'oauth-protected-resource')


def test_metadata_that_are_not_named_are_found_and_told():
    report = sick(do_POST=closed('Bearer realm="x"'), do_GET=metadata(
        {WELL_KNOWN: RESOURCE}))
    report.expect('auth.challenge', 'warning', 'resource_metadata')
    report.expect('auth.metadata', 'ok')
    report.expect('auth.server', 'fault', 'does not describe itself')


def test_metadata_that_are_wrong_are_told():
    sick(do_POST=closed(NAMED)).expect(
        'auth.metadata', 'fault', 'at the place it names')
    report = sick(do_POST=closed(NAMED), do_GET=metadata({WELL_KNOWN: {
        'resource': 'https://other.example/mcp',
        'authorization_servers': []}}))
    report.expect('auth.resource', 'fault', 'other.example')
    report.expect('auth.metadata', 'fault', 'no authorization server')


def test_a_token_that_does_not_open_is_told():
    def do_POST(self):
        closed('Bearer error="invalid_token", error_description="too old"')(
            self)
    with serving_as(type('Sick', (Handler,), {'do_POST': do_POST})) as url:
        doctor(f'{url}/mcp', '--header', 'Authorization: Bearer x').ends(
            'faults').expect('auth.closed', 'fault', 'too old',
                             'What --header shows')


def test_who_is_let_in_by_a_header_is_looked_at_whole():
    def fits(self):
        if self.headers['Authorization'] != 'Bearer good':
            self.say(403)
            return False
        return Handler.fits(self)
    with serving_as(type('Picky', (Handler,), {'fits': fits})) as url:
        doctor(f'{url}/mcp').ends('faults').expect(
            'auth.closed', 'fault', '403')
        doctor(f'{url}/mcp', '--header-env', 'Authorization=DOCTOR_TEST',
               env={'DOCTOR_TEST': 'Bearer good'}).ends('healthy')


# What is wrong with a WebSocket.

def test_a_socket_that_is_refused_is_told():
    sick(scheme='ws').ends('faults').expect(
        'websocket.open', 'fault', 'Streamable HTTP', 'http://127.0.0.1')
    with demo(listen=('ws://127.0.0.1:0/mcp',)) as serving:
        doctor(serving.urls[0].replace('/mcp', '/wrong')).ends(
            'faults').expect('websocket.open', 'fault', '404',
                             serving.urls[0])
    sick('/x', 'ws', fits=lambda self: self.say(404)).ends('faults').expect(
        'websocket.open', 'fault', 'Upgrade')


# How it is said.

def test_people_get_lines_and_a_verdict():
    done = run(FAIRLEAD, 'doctor', '--', sys.executable, PATIENT, 'twins')
    equal(done.code, 1)
    lines = done.out.splitlines()
    contains(lines[0], 'Looking at ')
    for line in ('command', 'protocol'):
        contains(lines, line)
    require(any(re.match(r'  fault    1 tool is listed', line)
                for line in lines), lines)
    require(any(line.startswith('           -> List each once')
                for line in lines), lines)
    require(re.match(r'Not healthy: 1 fault, 1 note, \d+ ok\.$', lines[-1]),
            lines[-1])
    require('\x1b' not in done.out, 'colours where there is no terminal')


def test_on_a_terminal_nothing_of_the_server_is_obeyed():
    with Terminal() as screen:
        with started(FAIRLEAD, 'doctor', '--', sys.executable, PATIENT,
                     'terminal', stdout=screen.slave,
                     stdin=subprocess.DEVNULL) as process:
            text = screen.read()
            process.wait(WAIT)
    require('\x1b[2J' not in text and '\u202e' not in text, repr(text))
    contains(text, '\x1b[32m')
    contains(text, 'gone')
    require(all(len(re.sub('\x1b\\[[0-9]*m', '', line)) <= 80
                for line in text.splitlines()[1:]), 'lines are not folded')


def test_an_interrupted_doctor_leaves():
    with started(FAIRLEAD, 'doctor', '--timeout', '60', '--', sys.executable,
                 PATIENT, 'silent', stdout=subprocess.PIPE) as process:
        time.sleep(0.5 * SLOW)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=WAIT)[0].decode()
        equal(process.returncode, 130)
        require('did not answer' not in said, said)


def test_a_query_is_not_shown():
    done = run(FAIRLEAD, 'doctor',
               f'http://127.0.0.1:{free_port()}/mcp?token=s3cr3t')
    require('s3cr3t' not in done.out + done.err, done.out)


def test_wrong_usage_is_told():
    for words, part in (
            ((), 'which server'), (('--',), 'which server'),
            (('tcp://127.0.0.1:1', 'x'), "'x' is one too many"),
            (('tcp://127.0.0.1:1', '--', 'x'), 'not both'),
            (('--timeuot', '1'), '--timeout'),
            (('--header', 'A: b', '--', 'x'), 'gets no headers')):
        done = run(FAIRLEAD, 'doctor', *words).expect(1, '')
        contains(done.err, part)
        contains(done.err, "Try 'fairlead doctor --help'")


def test_help_names_every_exit_status():
    done = run(FAIRLEAD, 'doctor', '--help').expect(0)
    for code in ('  0  ', '  1  ', '  2  ', '  130'):
        contains(done.out, code)


if __name__ == '__main__':
    sys.exit(main(__name__))
