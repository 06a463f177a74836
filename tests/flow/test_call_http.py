#!/usr/bin/env python3
"""test_call_http.py - `fairlead call` to HTTP servers that want something, or
go away.

The server is another's: Python's, with as much MCP as is needed. Prints TAP.
FAIRLEAD names the program.
"""
import contextlib
import http.server
import json
import socket
import sys
import threading
from pathlib import Path

from flow import (WAIT, call, contains, demo, equal, folder, free_port, main,
                  require)

SECRET = 's3cr3t'
RESULTS = {
    'initialize': {'protocolVersion': '2025-11-25', 'capabilities': {
        'tools': {}}, 'serverInfo': {'name': 'picky', 'version': '0'}},
    'tools/list': {'tools': [{'name': 'nap', 'inputSchema': {
        'type': 'object'}}]},
    'tools/call': {'content': [{'type': 'text', 'text': 'slept'}]},
}


def answer(message):
    """(status, body) for a legacy server's client."""
    if 'id' not in message:
        return 202, b''
    said = {'jsonrpc': '2.0', 'id': message['id']}
    if message['method'] in RESULTS:
        said['result'] = RESULTS[message['method']]
    else:
        said['error'] = {'code': -32601, 'message': 'not known'}
    return 200, json.dumps(said).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def reply(self, status, body, length=None):
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(
            len(body) if length is None else length))
        with contextlib.suppress(OSError):  # who asked may have gone
            self.end_headers()
            self.wfile.write(body)

    def do_GET(self):
        self.reply(405, b'')

    do_DELETE = do_GET

    def do_POST(self):
        message = json.loads(self.rfile.read(
            int(self.headers['Content-Length'])))
        self.server.seen.append((message['method'], self.headers))
        self.server.serve(self, message)


@contextlib.contextmanager
def server(serve):
    """(URL, what was seen): `serve` is called with each message."""
    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler) as one:
        one.daemon_threads, one.seen, one.serve = True, [], serve
        thread = threading.Thread(target=one.serve_forever, daemon=True)
        thread.start()
        try:
            yield 'http://127.0.0.1:%d/mcp' % one.server_port, one.seen
        finally:
            one.shutdown()
            thread.join(WAIT)


def picky(handler, message):
    """Serves whoever knows the secret."""
    if handler.headers['Authorization'] == f'Bearer {SECRET}':
        handler.reply(*answer(message))
    else:
        handler.reply(401, b'')


def test_who_does_not_show_the_header_is_kept_out():
    with server(picky) as (url, _):
        contains(call(url, 'tools').expect(2).err, '401')


def test_a_header_goes_with_every_request():
    with server(picky) as (url, seen):
        done = call(url, 'call', 'nap', '--header',
                    f'Authorization: Bearer {SECRET}', '--header=X-Team:blue',
                    '--header', 'X-Empty:').expect(0, 'slept\n')
        equal(done.err, '')
        contains([method for method, _ in seen], 'tools/call')
        for method, headers in seen:
            equal((headers['X-Team'], headers['X-Empty']), ('blue', ''), method)


def test_a_file_keeps_headers_out_of_sight():
    with server(picky) as (url, seen), folder() as place:
        path = Path(place) / 'token'
        path.write_text(f'# for the tests\n\n \t\nAuthorization: Bearer {SECRET}'
                        '\r\nX-Team: blue', encoding='ascii')
        call(url, 'call', 'nap', '--header-file', path).expect(0, 'slept\n')
        equal(seen[-1][1]['X-Team'], 'blue')
        call(url, 'call', 'nap', '--header-file', path, '--header',
             'X-Other: one').expect(0, 'slept\n')
        equal((seen[-1][1]['X-Team'], seen[-1][1]['X-Other']), ('blue', 'one'))
        call(url, 'call', 'nap', '--header-file', '-',
             stdin=path.read_bytes()).expect(0, 'slept\n')


def refuse(words, *parts, stdin=b'', url=f'http://127.0.0.1:{free_port()}/'):
    """Wrong usage: what is wrong is named, and nothing that may be secret."""
    done = call(*([url] if url else []), 'tools', *words, stdin=stdin).expect(1)
    for part in parts:
        contains(done.err, part)
    require(SECRET not in done.err + done.out, 'it was told:', done.err)


def test_what_is_wrong_with_a_header_is_named():
    for bad, part in (
            (SECRET, 'no colon'), ('', 'no colon'), (f': {SECRET}', 'no name'),
            (f'X Y: {SECRET}', 'a space'), (f'X(Y: {SECRET}', "'('"),
            (f'X\u00e9: {SECRET}', 'byte'), (f'{SECRET} {SECRET}: x', 'space'),
            (f'X-A: {SECRET}\r\nX-B: c', "'X-A'"),
            (f'X-A: {SECRET}\x7f', "'X-A'")):
        refuse(['--header', 'X-Good: yes', '--header', bad],
               '--header, number 2', part)
        if '\r' not in bad and bad:
            refuse(['--header-file', '-'], 'stdin, line 3', part,
                   stdin=f'# x\nX-Good: yes\n{bad}\n'.encode())


def test_headers_of_the_protocol_are_not_for_others_to_send():
    for name in ('Host', 'content-length', 'Content-Type', 'Transfer-Encoding',
                 'Connection', 'Mcp-Session-Id', 'MCP-Protocol-Version',
                 'Mcp-Method', 'Accept', 'Last-Event-ID', 'User-Agent',
                 'Proxy-Authorization'):
        refuse(['--header', f'{name}: {SECRET}'], '--header, number 1',
               f"'{name}'", 'fairlead itself')


def test_a_file_that_is_none_is_named():
    with folder() as place:
        path = Path(place) / 'empty'
        refuse(['--header-file', path], str(path), 'cannot open')
        path.write_text('# nothing\n', encoding='ascii')
        refuse(['--header-file', path], 'no header in', str(path))
        path.write_bytes(b'X-A: b\0c\n')
        refuse(['--header-file', path], 'no text', str(path))
        path.write_bytes(b'X-A: b\rX-B: c\n')
        refuse(['--header-file', path], 'empty, line 1', "'X-A'")
        path.write_bytes(b'X-A: b\n' * 65)
        refuse(['--header-file', path], 'empty, line 65', 'more than 64')
        path.write_bytes(b'x' * (64 * 1024 + 1))
        refuse(['--header-file', path], str(path), 'limit')


def test_only_http_has_headers():
    for url in ('tcp://127.0.0.1:7332', 'tls://h:1', 'unix:/nowhere'):
        for words in (['--header', 'A: b'], ['--header-file', 'x']):
            refuse(words, words[0], url.partition(':')[0] + ':', 'http(s)://',
                   url=url)
    refuse(['--header', 'A: b', '--', 'true'], '--header', 'a command',
           'http(s)://', url=None)


def test_a_connection_refused_is_told_as_that():
    where = f'127.0.0.1:{free_port()}'
    for scheme in ('http', 'https', 'sse+http'):
        for era in ('auto', 'legacy', 'modern'):
            done = call(f'{scheme}://{where}/mcp', '--era', era).expect(2)
            contains(done.err, f'cannot connect to {where}: connection refused')
            contains(done.err, 'Is the server running')
            require('HTTP status' not in done.err, done.err)
    error = call(f'http://{where}/mcp', '--json').expect(2).json()['error']
    equal(error['status'], 'E_REFUSED')


def cut(when, how):
    """A server that goes away in the middle of its answer to `when`."""
    def serve(handler, message):
        if message['method'] != when:
            handler.reply(*answer(message))
            return
        handler.close_connection = True
        how(handler)
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)
    return server(serve)


def in_the_body(handler):
    handler.reply(200, b'{"jsonrpc":', length=1000)


def in_the_head(handler):
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Ty')


def before_the_head(handler):
    handler.wfile.write(b'')


def in_a_chunk(handler):
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
                        b'Transfer-Encoding: chunked\r\n\r\n40\r\n{"jso')


def in_a_stream(handler):
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n'
                        b'Transfer-Encoding: chunked\r\n\r\n1\r\n:\r\n')


def after_a_stream(handler):
    in_a_stream(handler)
    handler.wfile.write(b'0\r\n\r\n')


CUTS = (in_the_body, in_the_head, before_the_head, in_a_chunk, in_a_stream,
        after_a_stream)


def test_an_answer_cut_off_is_a_connection_lost():
    for how in CUTS:
        with cut('tools/call', how) as (url, _):
            done = call(url, 'call', 'nap').expect(2)
            require('the server says' not in done.err, how, done.err)
            require(done.err.strip(), how, 'it said nothing')
            done = call(url, 'call', 'nap', '--json').expect(2)
            equal(done.json()['error']['status'], 'E_RESET', how)


def test_so_is_one_to_the_first_question():
    for how in CUTS:
        for method, era in (('initialize', 'legacy'), ('initialize', 'auto'),
                            ('server/discover', 'modern')):
            with cut(method, how) as (url, _):
                done = call(url, 'tools', '--era', era).expect(2)
                require('HTTP status' not in done.err, how, era, done.err)


def test_an_error_of_the_server_is_still_its_own():
    def serve(handler, message):
        if message['method'] == 'tools/call':
            handler.reply(200, json.dumps({
                'jsonrpc': '2.0', 'id': message['id'], 'error': {
                    'code': -32000, 'message': 'closed', 'data': {
                        'httpStatus': 0, 'transport': 'E_RESET'}}}).encode())
        else:
            handler.reply(*answer(message))
    with server(serve) as (url, _):
        contains(call(url, 'call', 'nap').expect(3).err, 'the server says')


def test_call_of_an_address_without_a_path_is_told_which_to_try():
    with demo(listen=('http://127.0.0.1:0',)) as serving:
        there = serving.urls[0]
        require(there.endswith('/mcp'), there)
        call(there, 'ping').expect(0)
        for url in (there[:-len('/mcp')], there[:-len('mcp')],
                    'ws' + there[len('http'):-len('/mcp')]):
            done = call(url, 'tools')
            require(done.code in (2, 3), done.code)
            want = there if url.startswith('http') else 'ws' + there[4:]
            contains(done.err, f'the address has no path: try {want}')


def test_another_machine_in_the_clear_needs_a_flag():
    for url in ('http://192.0.2.2:9/mcp', 'ws://192.0.2.2:9/mcp'):
        done = call(url, 'ping').expect(1)  # nothing is connected
        contains(done.err, '--allow-http')
        require('May this user' not in done.err, done.err)
    with server(lambda handler, message: handler.reply(*answer(message))) \
            as (url, _):
        # no loopback address by its looks
        other = url.replace('127.0.0.1', '[::ffff:127.0.0.1]')
        require(other != url, url)
        contains(call(other, 'call', 'nap').expect(1).err, '--allow-http')
        contains(call(other, 'call', 'nap', '--allow-http').expect(0).out,
                 'slept')


if __name__ == '__main__':
    sys.exit(main(__name__))
