#!/usr/bin/env python3
"""test_drivers.py [DATA] - the drivers that speak HTTP, with public vectors.

http-sink reads HTTP as strictly as the library does: requests of llhttp's own
tests are answered or refused as llhttp has it, apart from those named here.
rpc-server answers the examples of the JSON-RPC 2.0 specification by POST, and
sse-cat reads event streams. Prints TAP. DRIVERS is the directory they are in;
vectors are looked for where FAIRLEAD_DATA says, or else in DATA; whatever is
missing is skipped and says so.
"""
import base64
import contextlib
import http.server
import json
import os
import re
import sys
import threading
from pathlib import Path

from flow import SLOW, WAIT, Skip, equal, main, require, run, started
from frames import (DATA, END_HEADERS, END_STREAM, HEADERS, Frames, block,
                    frame)
from test_jsonrpc_examples import compare
from web import JSON, Answer, Web, chunk, head, post

DRIVERS = Path(os.environ.get('DRIVERS', '.'))


def driver(name):
    path = DRIVERS / name
    if not path.is_file():
        print(f'SKIPPED: {path} is not there', file=sys.stderr)
        raise Skip(f'the driver {name} is not there')
    return path


def vectors(*where):
    folder = os.environ.get('FAIRLEAD_DATA') or (sys.argv[1:] or ['.'])[0]
    path = Path(folder, *where)
    if not path.is_file():
        print(f'SKIPPED: {path} is not there', file=sys.stderr)
        raise Skip(f'{path} is not there')
    return json.loads(path.read_text(encoding='utf-8'))['vectors']


@contextlib.contextmanager
def serving(name, *words):
    """The URL of a driver that serves on a port of its own choice."""
    with started(driver(name), *words, '0') as process:
        port = int(process.stdout.readline())
        yield f'http://127.0.0.1:{port}/'
        require(process.poll() is None, name, 'ended')


# What llhttp takes and we do not, and why.
STRICTER = {
    'request/connection:156': [200, 400],  # what follows is half a request
    'request/content-length:444': [],  # skips bodies; here they are missing
    'request/method:135': [400],  # "*" is for OPTIONS
    'request/method:372': [400],  # ICE
    'request/method:400': [400],  # RTSP
    'request/method:430': [400],
    'request/sample:314': [400],  # HTTP/0.9
    'request/transfer-encoding:751': [501],  # codings but chunked
    'request/transfer-encoding:793': [400],
    'request/uri:52': [400],  # a query without a path
    'request/uri:75': [400],
    'request/uri:165': [400],  # a fragment is not sent
    'request/uri:222': [400],  # nor is a user
}
# What llhttp refuses and we do not: a method is any token, and what comes
# after "close" is not read at all.
LAXER = {
    'request/invalid:66': [200], 'request/invalid:356': [200],
    'request/connection:81': [200], 'request/connection:292': [200],
    'request/connection:342': [200],
}


def with_host(data):
    """The request with the Host that RFC 9112 wants; llhttp does not ask."""
    if re.search(rb'(?mi)^host *:', data):
        return data
    named = re.match(rb'\S+ \w+://([^/? ]*)', data)
    host = named[1].rpartition(b'@')[2] if named else b'h'
    return data.replace(b' HTTP/1.1\r\n', b' HTTP/1.1\r\nHost: ' + host
                        + b'\r\n')


def ask_sink(url, one):
    with Web(url) as web:
        web.send(with_host(base64.b64decode(one['input_b64'])))
        web.finish()
        answers = []
        while start := web.head():
            start = Answer(*start, b'')
            sent = one['messages'][len(answers)] \
                if len(answers) < len(one['messages']) else {}
            if sent.get('method') != 'HEAD':
                start = start._replace(body=b''.join(web.pieces(start)))
            answers.append(start)
        return answers


def check_said(one, answers):
    """What the sink understood is what llhttp did."""
    for sent, answer in zip(one['messages'], answers):
        if answer.status != 200 or sent['method'] == 'HEAD':
            continue
        method, target = answer.body.decode().rstrip('\n').split(' ', 1)
        equal(method, sent['method'], one['id'])
        require(sent['url'].endswith(target) or target == '/', one['id'],
                'want', sent['url'], 'got', target)


def test_http_sink_takes_and_refuses_what_llhttp_does():
    known = vectors('http1', 'llhttp_vectors.json')
    with serving('http-sink') as url:
        counted = {'accept': 0, 'reject': 0, 'incomplete': 0}
        for one in known:
            if one['type'] != 'request' or one['expect'] not in counted:
                continue
            counted[one['expect']] += 1
            answers = ask_sink(url, one)
            got = [answer.status for answer in answers]
            if one['id'] in STRICTER:
                equal(got, STRICTER[one['id']], one['id'])
            elif one['id'] in LAXER:
                equal(got, LAXER[one['id']], one['id'])
            elif one['expect'] == 'accept':
                equal(got, [200] * one['messages_complete'], one['id'])
            elif one['expect'] == 'incomplete':
                equal(got, [], one['id'])
            else:
                require(got == [] or got[-1] >= 400, one['id'], got)
            if one['id'] not in LAXER:
                check_said(one, answers)
        require(counted['accept'] > 50 and counted['reject'] > 50, counted)


def test_http_sink_refuses_what_only_lenient_parsers_take():
    with serving('http-sink') as url:
        for one in vectors('http1', 'llhttp_vectors.json'):
            # more requests after "close" are taken by none of ours
            if not one['type'].startswith('request-lenient') or \
                    one['type'] == 'request-lenient-keep-alive':
                continue
            got = [answer.status for answer in ask_sink(url, one)]
            require(got and got[-1] >= 400, one['id'], one['type'], got)


def test_http_sink_speaks_http_2():
    with serving('http-sink') as url, Frames(url) as client:
        for stream, path in ((1, b'/one'), (3, b'/two?x=1')):
            client.send(frame(HEADERS, END_HEADERS | END_STREAM, stream,
                              block(b'PATCH', path)))
            equal(client.body(stream), b'PATCH ' + path + b'\n')


def test_http_sink_answers_a_pipeline_in_order():
    with serving('http-sink') as url, Web(url) as web:
        web.send(b''.join(head('GET', f'/{i}') for i in range(500)))
        equal([web.answer().body for _ in range(500)],
              [b'GET /%d\n' % i for i in range(500)])


def rpc(web, body, **fields):
    """The lines answered to a POST, as the vectors have them."""
    answer = web.ask(post(body, Accept=None, **fields))
    if answer.status == 204:
        return []
    equal(answer.expect(200).field('content-type'), JSON)
    return answer.body.decode().splitlines()


def test_rpc_server_answers_the_examples_of_the_specification():
    examples = vectors('jsonrpc', 'jsonrpc2_spec_examples.json')
    require(examples, 'no examples')
    with serving('rpc-server', '--http') as url, Web(url) as web:
        for one in examples:
            lines = rpc(web, one['send'].encode())
            if one['expect'] is None:
                equal(lines, [], one['id'])
            else:
                compare(one['expect'], lines)


def test_rpc_server_answers_them_over_http_2():
    examples = vectors('jsonrpc', 'jsonrpc2_spec_examples.json')
    with serving('rpc-server', '--http') as url, Frames(url) as client:
        for stream, one in zip(range(1, 1000, 2), examples):
            client.send(frame(HEADERS, END_HEADERS, stream, block(path=b'/'))
                        + frame(DATA, END_STREAM, stream,
                                one['send'].encode()))
            lines = client.body(stream).decode().splitlines()
            if one['expect'] is None:
                equal(lines, [], one['id'])
            else:
                compare(one['expect'], lines)


def test_rpc_server_by_post_alone_and_whatever_the_framing():
    call = b'{"jsonrpc":"2.0","method":"sum","params":[1,2],"id":1}'
    with serving('rpc-server', '--http') as url, Web(url) as web:
        for method in ('GET', 'PUT', 'DELETE'):
            web.ask(head(method, '/')).expect(405)
        chunks = b''.join(chunk(call[at:at + 1]) for at in range(len(call)))
        for body, fields in ((call, {}), (b'', {
                'Content-Length': None, 'Transfer-Encoding': 'chunked'})):
            more = chunks + b'0\r\n\r\n' if fields else b''
            web.send(post(body, **fields) + more)
            equal(web.answer().expect(200).json()['result'], 3)
        for bad, code in ((b'', -32700), (b'{', -32700), (b'[]', -32600),
                          (b'1', -32600), (b'\xff', -32700)):
            line, = rpc(web, bad)
            equal(json.loads(line)['error']['code'], code, bad)
        equal(rpc(web, b'{"jsonrpc":"2.0","method":"update"}'), [])
        require(len(rpc(web, b'[' + b','.join([call] * 5000) + b']')) == 1,
                'one line')


class Events(http.server.BaseHTTPRequestHandler):
    """Says what its server's `script` has, a part for each request."""
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        self.server.asked.append(self.headers)
        script = self.server.script
        status, kind, pieces = script.pop(0) if script else (204, None, [])
        self.send_response(status)
        if kind:
            self.send_header('Content-Type', kind)
        self.send_header('Connection', 'close')
        self.close_connection = True
        self.end_headers()
        for piece in pieces:
            self.wfile.write(piece)
            self.wfile.flush()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def events(*script):
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Events)
    server.script, server.asked = list(script), []
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        server.url = f'http://127.0.0.1:{server.server_port}/events?x=1'
        yield server
    finally:
        server.shutdown()
        thread.join(WAIT)
        server.server_close()


STREAM = 'text/event-stream'
AT_ONCE = b'retry: 1\n\n'


def cat(server):
    done = run(driver('sse-cat'), server.url)
    return done, [json.loads(line) for line in done.out.splitlines()]


def test_sse_cat_prints_each_event():
    with events((200, STREAM, [AT_ONCE, b'data: 1\n\n', b'event: x\r\nid: 7\r\n'
                               b'data: a\r\ndata: b\r\n\r\n', b': no\n\n',
                               b'data: half'])) as server:
        done, said = cat(server)
        done.expect(0)
        equal(said, [{'event': 'message', 'data': '1', 'id': ''},
                     {'event': 'x', 'data': 'a\nb', 'id': '7'}])


def test_sse_cat_comes_back_with_the_last_id():
    with events((200, STREAM, [AT_ONCE + b'id: a\ndata: 1\n\n']),
                (200, STREAM, [b'id: b\ndata: 2\n\n']),
                (200, STREAM, [b'id\ndata: 3\n\n'])) as server:
        done, said = cat(server)
        done.expect(0)
        equal([one['data'] for one in said], ['1', '2', '3'])
        equal([asked['Last-Event-ID'] for asked in server.asked],
              [None, 'a', 'b', None])
        equal({asked['Accept'] for asked in server.asked}, {STREAM})


def test_sse_cat_gives_up_where_it_is_told_to():
    for status, kind in ((404, STREAM), (500, STREAM), (200, 'text/html'),
                         (200, None)):
        with events((status, kind, [AT_ONCE, b'data: 1\n\n'])) as server:
            done, said = cat(server)
            equal((done.code, said), (1, []), (status, kind))


def test_sse_cat_reads_the_vectors_as_a_browser_does():
    known = [one for one in vectors('sse', 'sse_vectors.json')
             if one['chunks_b64'] and not one['gen']]
    # some say when to come back: that is not waited for
    known = [one for one in known if not one['retry']]
    require(len(known) > 50, len(known), 'vectors')
    for one in known[::1 if SLOW == 1 else 10]:
        pieces = [base64.b64decode(piece) for piece in one['chunks_b64']]
        with events((200, STREAM, [AT_ONCE]), (200, STREAM, pieces)) as server:
            done, said = cat(server)
            done.expect(0)
            equal(said, [{key: wanted[key] for key in ('event', 'data', 'id')}
                         for wanted in one['events']], one['id'])


if __name__ == '__main__':
    sys.exit(main(__name__))
