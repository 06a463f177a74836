#!/usr/bin/env python3
"""test_http_tools.py - `fairlead demo` over HTTP, used by other people's tools.

Load generators, clients and a scanner that know nothing of MCP: each must get
through its work without an error. Prints TAP; a test whose tool is missing is
skipped and says so. FAIRLEAD names the program.
"""
import contextlib
import json
import re
import shutil
import sys
import xml.etree.ElementTree as tree
from pathlib import Path

from flow import SLOW, Skip, contains, equal, main, require, run
from web import BOTH, JSON, modern, modern_fields, unharmed
from wire import MIB, identity, served, server_options

REQUESTS = 2000 if SLOW == 1 else 200
FIELDS = {'Content-Type': JSON, 'Accept': BOTH, **modern_fields('echo')}
TEXT = 'hello, wörld'


def need(name):
    """The tool, or a test that is skipped for want of it."""
    path = shutil.which(name)
    if not path:
        print(f'SKIPPED: {name} is not there', file=sys.stderr)
        raise Skip(f'{name} is not there')
    return path


@contextlib.contextmanager
def endpoints():
    """(http URL, https URL, where the certificates are, a file with a call)"""
    with identity() as place, served('http', 'https', options=server_options(
            place)) as serving:
        body = Path(place) / 'call.json'
        body.write_bytes(modern(1, 'echo', text=TEXT))
        with unharmed(serving, 160 * MIB):  # the heap keeps some of the large
            yield *serving.urls, place, body


def headers():
    return [word for name, value in FIELDS.items()
            for word in ('-H', f'{name}: {value}')]


def check_echo(text):
    equal(json.loads(text)['result']['content'][0]['text'], TEXT)


def load(url, body, *options):
    done = run(need('h2load'), '-n', REQUESTS, '-c', 10, '-d', body,
               *headers(), *options, url).expect(0)
    contains(done.out, f'{REQUESTS} succeeded, 0 failed, 0 errored, 0 timeout')
    contains(done.out, f'status codes: {REQUESTS} 2xx, 0 3xx, 0 4xx, 0 5xx')
    return done.out


def test_h2load_over_http_1():
    with endpoints() as (plain, _, _, body):
        contains(load(plain, body, '--h1'), 'protocol: http/1.1')


def test_h2load_over_http_1_in_a_pipeline():
    with endpoints() as (plain, _, _, body):
        load(plain, body, '--h1', '-m', 8)


def test_h2load_over_http_2():
    with endpoints() as (plain, _, _, body):
        contains(load(plain, body, '-m', 10), 'protocol: h2c')


def test_h2load_over_tls():
    with endpoints() as (_, secure, _, body):
        contains(load(secure, body, '-m', 10), 'protocol: h2')
        contains(load(secure, body, '--h1'), 'protocol: http/1.1')


def test_h2load_with_small_windows():
    with endpoints() as (plain, _, _, body):
        load(plain, body, '-m', 10, '-w', 10, '-W', 10)


def test_wrk():
    program = need('wrk')
    with endpoints() as (plain, _, place, body):
        script = Path(place) / 'call.lua'
        script.write_text('wrk.method = "POST"\n'
                          f'wrk.body = {json.dumps(body.read_text())}\n'
                          + ''.join(f'wrk.headers["{name}"] = "{value}"\n'
                                    for name, value in FIELDS.items()),
                          encoding='ascii')
        done = run(program, '-t', 1, '-c', 8, '-d', '1s', '-s', script,
                   plain).expect(0)
        require('Non-2xx' not in done.out and 'Socket errors' not in done.out,
                done.out)
        require(int(re.search(r'(\d+) requests in', done.out)[1]) > 0,
                done.out)


def test_nghttp():
    program = need('nghttp')
    with endpoints() as (plain, secure, _, body):
        for url in (plain, secure):
            done = run(program, '-y', '-d', body, *headers(), url).expect(0)
            check_echo(done.out)
        done = run(program, '-ny', '-v', '-m', 20, '-d', body, *headers(),
                   plain).expect(0)
        equal(done.out.count(':status: 200'), 20, done.out[-500:])
        require('RST_STREAM' not in done.out, 'a stream was reset')


def test_curl():
    program = need('curl')
    with endpoints() as (plain, secure, place, body):
        ca = ('--cacert', f'{place}/known.pem')
        for url, options, version in (
                (plain, ('--http1.1',), '1.1'), (plain, ('--http2',), '1.1'),
                (plain, ('--http2-prior-knowledge',), '2'),
                (plain, ('--http1.0',), '1.1'),
                (plain, ('--compressed',), '1.1'),
                (plain, ('-H', 'Transfer-Encoding: chunked'), '1.1'),
                (plain, ('-H', 'Expect: 100-continue'), '1.1'),
                (secure, ('--http1.1', *ca), '1.1'),
                (secure, ('--http2', *ca), '2'),
                (secure, ('--no-alpn', *ca), '1.1'),
                (secure, ('--tls-max', '1.2', *ca), '2'),
                (secure, ('--tlsv1.3', *ca), '2')):
            done = run(program, '-sS', '-w', '\n%{http_version} %{http_code}',
                       *options, *headers(), '--data-binary', f'@{body}', url)
            text, _, said = done.expect(0).out.rpartition('\n')
            check_echo(text)
            equal(said, f'{version} 200', options)


def test_curl_uploads_and_downloads_much():
    program = need('curl')
    text = 'x' * (8 << 20)
    with endpoints() as (plain, secure, place, body):
        body.write_bytes(modern(1, 'echo', text=text))
        for url in (plain, secure):
            for options in (('--http1.1',), ('--http2-prior-knowledge',),
                            ('--http1.1', '--compressed')):
                done = run(program, '-sS', '--cacert', f'{place}/known.pem',
                           *options, *headers(), '--data-binary', f'@{body}',
                           url).expect(0)
                require(json.loads(done.out)['result']['content'][0]['text']
                        == text, options, url)


def test_whoever_uploads_too_much_hears_why():
    curl, nghttp = need('curl'), need('nghttp')
    with endpoints() as (plain, secure, place, body):
        body.write_bytes(modern(1, 'echo', text='x' * (40 << 20)))
        for url in (plain, secure):
            for more in ('Expect:', 'Expect: 100-continue',
                         'Transfer-Encoding: chunked'):
                done = run(curl, '-s', '--cacert', f'{place}/known.pem',
                           '--http1.1', '-H', more, *headers(), '-w',
                           '\n%{http_code}', '--data-binary', f'@{body}', url)
                contains(done.out, '--max-message')
                contains(done.out, '\n413')
            # curl would drop an answer that came before the end of the
            # request over HTTP/2; RFC 9113 8.1 has it that one must not
            done = run(nghttp, '-y', '-d', body, *headers(), url)
            contains(done.out, '--max-message')


def test_nothing_below_tls_1_2_is_spoken():
    program = need('curl')
    with endpoints() as (_, secure, place, body):
        done = run(program, '-sS', '--cacert', f'{place}/known.pem',
                   '--ciphers', 'DEFAULT@SECLEVEL=0', '--tlsv1.0', '--tls-max',
                   '1.1', *headers(), '-d', f'@{body}', secure)
        require(done.code == 35, 'curl said', done.code, done.err)


def test_sslscan_finds_nothing_weak():
    program = need('sslscan')
    with endpoints() as (_, secure, place, _):
        where = re.search(r'//([^/]+)', secure)[1]
        report = Path(place) / 'report.xml'
        run(program, f'--xml={report}', where).expect(0)
        found = tree.parse(report).getroot().find('ssltest')
        spoken = {one.get('type') + one.get('version')
                  for one in found.iter('protocol')
                  if one.get('enabled') == '1'}
        equal(spoken, {'tls1.2', 'tls1.3'})
        ciphers = list(found.iter('cipher'))
        require(ciphers, 'no ciphers')
        for one in ciphers:
            require(one.get('strength') in ('strong', 'acceptable') and
                    int(one.get('bits')) >= 128, tree.tostring(one))
            require(one.get('sslversion') == 'TLSv1.3' or
                    one.get('cipher').startswith('ECDHE-'), 'no forward '
                    'secrecy:', one.get('cipher'))
        for one in found.iter('heartbleed'):
            equal(one.get('vulnerable'), '0')
        for one in found.iter('compression'):
            equal(one.get('supported'), '0', 'compression')
        for one in found.iter('renegotiation'):
            require(one.get('supported') == '0' or one.get('secure') == '1',
                    tree.tostring(one))


if __name__ == '__main__':
    sys.exit(main(__name__))
