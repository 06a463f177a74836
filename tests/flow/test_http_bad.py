#!/usr/bin/env python3
"""test_http_bad.py [DATA] - `fairlead demo` over HTTP, and everything a peer
should not send.

A bad request costs that request, at worst its connection, and no more: each
fact ends by seeing that others are served, that no file is left open and that
memory is what it was. Prints TAP. FAIRLEAD names the program; vectors of
llhttp are looked for in the directory FAIRLEAD_DATA names, or else in DATA.
HTTP/2 is in test_http2_bad.py.
"""
import base64
import contextlib
import gzip
import json
import os
import random
import sys
import threading
import time
import zlib
from pathlib import Path

from flow import SLOW, WAIT, Skip, contains, equal, main, require
from web import (EVENTS, INITIALIZE, INVALID, JSON, LEGACY, MODERN, NO_SESSION,
                 PARSE, PING, POST, TOO_LARGE, Answer, Session, Standing, Web,
                 check_memory, chunk, head, lives, message, modern,
                 modern_fields, post, tool)
from wire import KIB, MIB, identity, secured, served, server_options, status

SMALL = ('--max-message', '64K')
SHORT = 0.6 * SLOW
HASTY = ('--head-timeout', f'{SHORT:g}', '--body-timeout', f'{SHORT:g}')
standing = Standing()
http = standing.http


def vectors():
    folder = os.environ.get('FAIRLEAD_DATA') or (sys.argv[1:] or ['.'])[0]
    path = Path(folder) / 'http1' / 'llhttp_vectors.json'
    if not path.is_file():
        raise Skip(f'{path} is not there')
    return json.loads(path.read_text(encoding='utf-8'))['vectors']


def test_what_llhttp_rejects_is_refused():
    rejected = [one for one in vectors() if one['expect'] == 'reject'
                and one['type'].startswith('request')]
    require(len(rejected) > 50, len(rejected), 'vectors')
    with http() as serving:
        for one in rejected:
            with Web(serving.urls[0]) as web:
                web.send(base64.b64decode(one['input_b64']))
                web.finish()
                answers = web.answers()
            require(all(answer.status >= 400 for answer in answers)
                    and len(answers) <= one['messages_complete'] + 1,
                    one['id'], 'got', answers)


def rejected(web, data):
    """Refused, and the connection is over: nothing behind it counts."""
    web.send(data)
    answers = web.answers()
    require(len(answers) <= 1 and all(
        400 <= answer.status < 600 for answer in answers), data[:300], answers)


def test_what_could_smuggle_a_request_ends_the_connection():
    inner = b'GET /smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
    length = {'Content-Length': 5}
    te = 'Transfer-Encoding'
    with http() as serving:
        for start in (
                head(**POST, **length, **{te: 'chunked'}),
                head(**POST, **{te: 'chunked, identity'}),
                head(**POST, **{te: 'xchunked'}),
                head(**POST, **{te: '\x0bchunked'}),
                head(**POST, **{'Content-Length': '5, 6'}),
                head(**POST, **{'Content-Length': '+5'}),
                head(**POST, **{'Content-Length': '0x5'}),
                head(**POST, **{'Content-Length': '-1'}),
                head(**POST, **length).replace(b'th: 5', b'th : 5'),
                head(**POST, **length)[:-2] + b'Content-Length: 6\r\n\r\n',
                head(**POST, **length).replace(b'Host', b' Host'),
                head(**POST, **length).replace(b'\r\n', b'\n', 1),
                head(**POST, **length)[:-2] + b'X\0Y: 1\r\n\r\n',
                head(**POST, **length)[:-2] + b'X: a\0b\r\n\r\n',
                head(**POST, **length)[:-2] + b'X: 1\r\n 2\r\n\r\n',
                head(**POST, **length)[:-2] + b'Host: other\r\n\r\n',
                head(**POST, **length).replace(b'HTTP/1.1', b'HTTP/1.10'),
                head(**POST, **length).replace(b'HTTP/1.1', b'HTTP/3.0'),
                head(**POST, **length, Host=None),
                head(**POST, **length, Host='a b'),
                head(**POST, **length, Host='user@127.0.0.1'),
                head('PO ST', **POST, **length),
                head(target='/m\rcp', **POST, **length),
                b'\r\n' * 10 + b' ' + head(**POST, **length)):
            with Web(serving.urls[0]) as web:
                rejected(web, start + b'12345' + inner)


def test_a_head_has_limits():
    with http() as serving:
        for data, wanted in (
                (head('GET', '/' + 'x' * 9000), 414),
                (head('GET', X='x' * 33 * KIB), 431),
                (head('GET', **{f'x{i}': 1 for i in range(101)}), 431),
                (b'GET /mcp HTTP/1.1\r\n' + b'x' * 40 * KIB, 431),
                (b'x' * 40 * KIB, 501)):
            with Web(serving.urls[0]) as web:
                web.ask(data).expect(wanted, INVALID)
                web.ends()
        with Web(serving.urls[0]) as web:  # without an end
            before = status(serving, 'VmRSS')
            while web.send(b'GET /' + b'x' * MIB) and not web.seen:
                web.socket.settimeout(0.05)
                with contextlib.suppress(Exception):
                    web.more()
            check_memory(serving, before, 8 * MIB)


def drip(web, data, every=0.05 * SLOW):
    """Sends byte by byte until it hears something, or has nothing to say."""
    web.socket.settimeout(every)
    started = time.monotonic()
    for at in range(len(data)):
        if not web.send(data[at:at + 1]):
            break
        try:
            piece = web.socket.recv(MIB)
            web.seen += piece
            break
        except TimeoutError:
            pass
        except ConnectionError:
            break
    web.socket.settimeout(WAIT)
    return time.monotonic() - started


def test_a_slow_head_and_a_slow_body_run_out_of_time():
    with http(*HASTY) as serving:
        for start, rest in ((b'', post(PING)), (b'G', b'ET /mcp HTTP/1.1\r\nX:'
                                                + b'x' * 100),
                            (post(PING)[:-20], b' ' * 1000),
                            (head(**POST, Transfer_Encoding='chunked'),
                             chunk(b' ') * 100)):
            with Web(serving.urls[0]) as web:
                web.send(start)
                took = drip(web, rest)
                require(SHORT * 0.5 < took < SHORT + 3 * SLOW, start, took)
                answers = web.answers()
                equal([answer.status for answer in answers], [408], start)


def test_the_second_request_of_a_connection_has_to_hurry_as_well():
    with http(*HASTY) as serving:
        with Session(serving.urls[0]) as session:
            time.sleep(1.5 * SHORT)  # silence between requests is no crime
            session.lives()
            drip(session, b'POST /mcp HTTP/1.1\r\nX: ' + b'x' * 100)
            equal([one.status for one in session.answers()], [408])


def test_many_slow_ones_keep_nobody_else_waiting():
    with http(*HASTY) as serving:
        slow = [Web(serving.urls[0]) for _ in range(300)]
        for number, web in enumerate(slow):
            web.send(post(PING)[:number % 180])
        started = time.monotonic()
        lives(serving)
        require(time.monotonic() - started < 1 * SLOW, 'it kept us waiting')
        for number, web in enumerate(slow):
            with web:
                if number % 180 > 1:  # P alone may become HTTP/2, or nothing
                    equal([one.status for one in web.answers()], [408], number)


def padded(size):
    return PING[:-1] + b' ' * (size - len(PING)) + b'}'


def test_a_body_at_the_limit_is_taken_and_one_past_is_refused():
    limit = 64 * KIB
    with http(*SMALL) as serving, Session(serving.urls[0]) as session:
        answer = session.ask(session.post(padded(limit))).expect(200)
        equal(answer.json()['result'], {})
        session.ask(session.post(b'', Content_Length=None, **{
            'Transfer-Encoding': 'chunked'}) + chunk(padded(limit))
            + b'0\r\n\r\n').expect(200)
        answer = session.ask(session.post(padded(limit + 1)))
        answer.expect(413, TOO_LARGE)
        equal(answer.json()['error']['data'], {'limit': limit})
        equal(answer.field('connection'), 'close')
        session.ends()


def test_too_long_a_body_is_refused_before_it_is_read():
    for size in (64 * KIB + 1, 10 * MIB, 1 << 40, (1 << 63) - 1):
        with http(*SMALL) as serving, Web(serving.urls[0]) as web:
            web.ask(head(**POST, Content_Length=size)).expect(413, TOO_LARGE)
    with http(*SMALL) as serving, Web(serving.urls[0]) as web:
        web.ask(head(**POST, Content_Length=1 << 70)).expect(400, INVALID)
        web.ends()
    with http(*SMALL) as serving, Web(serving.urls[0]) as web:
        web.ask(head(**POST, Content_Length=70 * KIB, **{
            'MCP-Protocol-Version': MODERN})).expect(413, INVALID)


def test_one_that_expects_100_continue_is_spared_the_sending():
    with http(*SMALL) as serving:
        with Web(serving.urls[0]) as web:
            web.ask(head(**POST, Expect='100-continue',
                         Content_Length=MIB)).expect(413, TOO_LARGE)
        with Web(serving.urls[0]) as web:
            web.send(head(**POST, Expect='100-continue',
                          Content_Length=len(INITIALIZE)))
            equal(web.line(), b'HTTP/1.1 100 Continue')
            equal(web.line(), b'')
            web.ask(INITIALIZE).expect(200)


def test_chunks_are_refused_as_they_pass_the_limit():
    with http(*SMALL) as serving:
        for size in (1, 1000, 64 * KIB):
            with Web(serving.urls[0]) as web:
                web.send(head(**POST, Transfer_Encoding='chunked'))
                web.send(chunk(b' ' * size) * (64 * KIB // size))
                web.ask(chunk(b' ' * 2000)).expect(413, TOO_LARGE)


def test_chunks_that_never_end_cost_no_memory():
    with http() as serving, Web(serving.urls[0]) as web:
        before = status(serving, 'VmRSS')
        web.send(head(**POST, Transfer_Encoding='chunked'))
        sent, piece = 0, chunk(b' ' * MIB)
        while sent < 100 and web.send(piece):
            sent += 1
        answers = web.answers()
        equal([answer.status for answer in answers][:1], [413])
        check_memory(serving, before)


def test_bad_chunks_end_the_connection():
    with http(*SMALL) as serving:
        for bad in (b'x\r\n', b'-1\r\n', b'0x1\r\n', b'1 \r\na\r\n',
                    b'ffffffffffffffff1\r\n', b'1\na\r\n', b'1\r\nab\r\n',
                    b'\r\n', b'1;' + b'x' * 40 * KIB,
                    b'1;a=b\nc\r\n', b'0\r\n' + b'x: y\r\n' * 10 * KIB,
                    b'0\r\n' + b'x' * 70 * KIB, b'0\r\nx y: z\r\n\r\n'):
            with Web(serving.urls[0]) as web:
                rejected(web, head(**POST, Transfer_Encoding='chunked') + bad)


def test_what_the_door_refuses_has_its_status():
    with http(*SMALL) as serving, Session(serving.urls[0]) as session:
        for kind in ('text/plain', 'application/jsonx', 'application', 'json',
                     'multipart/form-data', '', None, 'text/json', ';', ',',
                     'application/x-www-form-urlencoded'):
            session.refused(post(PING, Content_Type=kind), 415)
        for coding in ('br', 'zstd', 'gzip, gzip', 'gzip,deflate', 'compress'):
            answer = session.refused(post(PING, Content_Encoding=coding), 415)
            contains(answer.field('accept-encoding'), 'gzip')
        for accept in (JSON, EVENTS, 'text/html', JSON + ';q=0, ' + EVENTS,
                       'text/*', ';', ',', 'q=1', JSON + ', ' + EVENTS
                       + ';q=0'):
            session.refused(post(PING, Accept=accept), 406)
        for accept in ('*/*', None, 'application/*, text/*', POST['Accept']
                       + ';q=0.1'):
            session.ask(session.post(PING, Accept=accept)).expect(200)
        for method in ('PUT', 'HEAD', 'PATCH', 'TRACE', 'BREW', 'post', 'get'):
            session.send(head(method))
            start = Answer(*session.head(), b'')
            require(start.status == 405, method, start)
            contains(start.field('allow'), 'POST')
            if method != 'HEAD':
                list(session.pieces(start))
            session.lives()
        equal(session.refused(head('GET'), 405).field('allow'),
              'GET, POST, DELETE, OPTIONS')
        equal(session.refused(head('POST', '/sse'), 405).field('allow'),
              'GET, OPTIONS')
        equal(session.refused(head('GET', '/messages'), 405).field('allow'),
              'POST, OPTIONS')
        session.refused(head('DELETE'), 405)
        for target in ('/', '/mcp/', '/mcp/x', '/MCP', '/%6dcp', '//mcp',
                       '/../mcp', '/mcp%00', '/mcp;x', '/mcp.json'):
            session.refused(head('GET', target, Accept=EVENTS), 404)
        session.refused(post(PING, Host='evil.example'), 421)
        session.refused(post(PING, Host='127.0.0.1.evil.example'), 421)
        for origin in ('https://evil.example', 'null', 'http://localhost.evil',
                       'http://127.0.0.1@evil.example', 'localhost', 'file://',
                       'http://localhost http://evil.example'):
            answer = session.refused(post(PING, Origin=origin), 403)
            equal(answer.field('access-control-allow-origin'), None, origin)
        session.refused(head('DELETE', Mcp_Session_Id='x' * 32), 404,
                        NO_SESSION)


def test_what_is_no_message_is_a_bad_request():
    with http(*SMALL) as serving, Session(serving.urls[0]) as session:
        for bad in (b'', b' ', b'{', b'nul', b'{"a":1,}', PING + PING, b'\xff',
                    PING + b'\0', b'[' * 1000, b'\xef\xbb\xbf' + PING,
                    b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}'):
            session.refused(session.post(bad), 400, PARSE)
        for bad in (b'1', b'"x"', b'null', b'{}', b'[]', b'[1]',
                    PING.replace(b'"2.0"', b'"1.0"'),
                    PING.replace(b'"ping"', b'null', 1),
                    PING.replace(b'"ping"', b'{}', 1),
                    PING[:-1] + b', "id": 2}',
                    PING[:-1] + b', "params": 7}'):
            session.refused(session.post(bad), 400, INVALID)
        for call in (tool(1, 'echo', text='x'), message(1, 'tools/list')):
            session.refused(session.post(call, Mcp_Session_Id=None), 400, None)
        for name in ('x', 'x' * 32, '0' * 32, session.id[:-1], session.id + '0',
                     session.id.upper() + ' ' + session.id, '%30' * 10, "' or"):
            session.refused(session.post(PING, Mcp_Session_Id=name), 404,
                            NO_SESSION)
            session.refused(head('GET', Mcp_Session_Id=name, Accept=EVENTS),
                            404, NO_SESSION)
        for version in ('2024', '1', 'x' * 1000, '2025-11-25, 2025-06-18'):
            session.refused(session.post(PING, **{
                'MCP-Protocol-Version': version}), 400)
        call = modern(1, 'echo', text='x')
        for wrong in ({'Mcp-Method': 'tools/list'}, {'Mcp-Name': 'add'},
                      {'Mcp-Method': None}, {'Mcp-Name': None},
                      {'MCP-Protocol-Version': LEGACY}):
            session.refused(post(call, **{**modern_fields('echo'), **wrong}),
                            400, -32020)


def test_the_response_to_a_response_is_nothing():
    with http() as serving, Session(serving.urls[0]) as session:
        for odd in (b'{"jsonrpc":"2.0","id":1,"result":{}}',
                    b'{"jsonrpc":"2.0","id":9,"error":{"code":1,'
                    b'"message":"x"}}'):
            equal(session.ask(session.post(odd)).expect(202).body, b'')
        session.lives()


SLOW_CALL = {'steps': 1000, 'delay_ms': 20}


def gone(serving):
    """Whether nothing was under way: what is, gets a second."""
    started = time.monotonic()
    equal(serving.end(), 0, 'exit')
    return time.monotonic() - started < 0.7


def test_a_modern_call_is_cancelled_when_its_client_vanishes():
    if SLOW > 1:
        raise Skip('it is told by the time it takes, and programs are slow')
    for leave in (Web.vanish, lambda web: web.socket.close(), Web.finish):
        with served('http') as serving, Web(serving.urls[0]) as web:
            web.send(post(modern(1, 'slow', 'p', **SLOW_CALL),
                          **modern_fields('slow')))
            contains(next(web.stream())[1], b'notifications/progress')
            leave(web)
            lives(serving)
            time.sleep(0.1)
            require(gone(serving), 'the call went on')
    with served('http') as serving, Web(serving.urls[0]) as web:
        web.send(post(modern(1, 'slow', 'p', **SLOW_CALL),
                      **modern_fields('slow')))
        contains(next(web.stream())[1], b'notifications/progress')
        require(not gone(serving), 'the test cannot tell')


def test_a_legacy_call_goes_on_and_can_be_resumed():
    call = tool(7, 'slow', steps=10, delay_ms=80)
    with http() as serving:
        for leave in (Web.vanish, lambda web: web.socket.close(), Web.finish):
            with Session(serving.urls[0]) as session:
                session.send(session.post(call))
                first, data = next(session.stream())
                equal(data, b'', 'the first event')
                leave(session)
            with Session(serving.urls[0], session.id) as again:
                again.send(again.get(first))
                events = list(again.stream())
                contains(events[-1][1], b'done, in 10 steps')
                contains(events[-1][1], b'"id":7')
                again.send(again.get(events[-1][0]))
                equal([one for one in again.stream() if one[1]], [], 'replay')
                again.lives()


def test_last_event_id_reaches_no_further_than_its_session_and_stream():
    slow = {'steps': 1, 'delay_ms': 400}
    with http() as serving, Session(serving.urls[0]) as one, \
            Session(serving.urls[0]) as other:
        one.send(one.post(tool('secret', 'slow', **slow)))
        mine = list(one.stream())
        contains(mine[-1][1], b'"secret"')
        for last in [event for event, _ in mine] + [
                '', '-', '1', '1-', '-1', '1-x', 'x-1', '1-1-1', '01-1', '+1-1',
                ' 1-1', '-1--1', '99-1', '1-99', '0-1', f'{1 << 64}-1',
                f'1-{(1 << 64) - 1}', f'1-{1 << 64}', '9' * 1000, one.id,
                f'{one.id}/1-1', '\u00b9-\u00b9']:
            if last == '':
                continue  # is none
            answer = other.ask(other.get(last.encode()))
            require(answer.status in (400, 410), last, answer)
            require(b'secret' not in answer.body, answer)
            other.lives()
        for number in ('first', 'second'):
            one.send(one.post(tool(number, 'slow', **slow)))
            list(one.stream())
        one.send(one.get(mine[0][0]))
        heard = [json.loads(data)['id'] for _, data in one.stream() if data]
        equal(heard, ['secret'], 'of another stream:')
        other.send(other.post(tool('own', 'slow', **slow)))
        list(other.stream())
        other.send(other.get(mine[0][0]))  # which now is an id it has had
        heard = [json.loads(data)['id'] for _, data in other.stream() if data]
        equal(heard, ['own'], 'of another session:')


def test_equal_ids_of_two_sessions_are_two_requests():
    with http() as serving, Session(serving.urls[0]) as one, \
            Session(serving.urls[0]) as other:
        for session, steps in ((one, 11), (other, 12)):
            session.send(session.post(tool(1, 'slow', steps=steps,
                                           delay_ms=40)))
        with Session(serving.urls[0], one.id) as beside:
            cancel = {'jsonrpc': '2.0', 'method': 'notifications/cancelled',
                      'params': {'requestId': 1}}
            beside.ask(beside.post(json.dumps(cancel).encode())).expect(202)
        heard = [data for _, data in other.stream() if data]
        equal(len(heard), 1, heard)
        contains(heard[0], b'done, in 12 steps')
        one.answer()  # whatever it is, it ends
        one.lives()
        with Session(serving.urls[0], one.id) as beside:  # in one session
            for session in (one, beside):
                session.send(session.post(tool(1, 'slow', steps=2,
                                               delay_ms=50)))
            for session in (one, beside):
                require(session.answer(), 'no answer')
                session.lives()


BREAKS = [b'\r\n', b'\n', b'\r', b'\r\n ', b'\0', b'\x0b', b'\x0c', b'%0d%0a',
          b'%0D%0A', b'%250d%250a', b'\\r\\n', b'\\u000d\\u000a',
          b'\xe5\x98\x8d\xe5\x98\x8a', b'\xc4\x8d\xc4\x8a', b'\xc0\x8d\xc0\x8a',
          b'\xc2\x85', b'\xe2\x80\xa8', b'\x85', b'=?utf-8?q?=0D=0A?=',
          b'&#13;&#10;', b'%u000d%u000a', b'%e5%98%8d%e5%98%8a', b'\x1b[2K']
INJECTED = b'injected: yes'


def check_no_injection(url, data):
    """Strict reading is the check: a field nobody knows fails in there."""
    with Web(url) as web:
        web.send(data)
        web.finish()
        answers = []
        while start := web.head():
            answers.append(Answer(*start, b''))
            if answers[-1].field('content-type') == EVENTS:
                break  # which ends when we have
            answers[-1] = answers[-1]._replace(
                body=b''.join(web.pieces(answers[-1])))
    bad = 1 if b'\r\n\r\n<html>' in data else 0  # the rest is no request
    require(len(answers) <= 1 + bad, len(answers), 'answers to', data)
    require(not bad or len(answers) < 2 or answers[1].status >= 400, answers)
    for answer in answers:
        for name, value in answer.fields:
            require('injected' not in name, data, answer)
            require(not set(value) & set('\r\n\0'), data, answer)
        require(answer.status != 200 or b'injected' not in answer.body, answer)


def test_no_value_we_repeat_can_start_a_line():
    with http('--allow-origin', '*') as serving, \
            Session(serving.urls[0]) as session:
        url = serving.urls[0]
        for odd in BREAKS:
            bad = b'a' + odd + INJECTED + odd + odd + b'<html>'
            origin = b'http://localhost' + odd + INJECTED
            for name in ('X-Request-Id', 'Origin', 'Mcp-Session-Id',
                         'Last-Event-ID', 'MCP-Protocol-Version', 'Mcp-Method',
                         'Mcp-Name', 'Accept', 'Content-Type', 'Host',
                         'Accept-Encoding'):
                value = origin if name == 'Origin' else bad
                check_no_injection(url, session.post(PING, **{name: value}))
                check_no_injection(url, session.get(**{name: value})[:-2]
                                   + b'Connection: close\r\n\r\n')
            for name in ('Access-Control-Request-Headers', 'X-Request-Id',
                         'Access-Control-Request-Method', 'Origin',
                         'Access-Control-Request-Private-Network'):
                fields = {'Origin': 'http://localhost', name: bad}
                check_no_injection(url, head('OPTIONS', **fields))
            for target in (b'/mcp?', b'/sse?', b'/messages?sessionId=',
                           b'/mcp#', b'/'):
                check_no_injection(url, head(
                    'GET', '/@', Connection='close',
                    Accept=EVENTS).replace(b'/@', target + bad))
            check_no_injection(url, head('POST', '/@', **POST,
                                         Content_Length=2).replace(
                b'/@', b'/messages?sessionId=' + bad) + b'{}')
        session.lives()


def test_no_value_we_repeat_can_start_an_event():
    with http() as serving, Session(serving.urls[0]) as session:
        def heard(call):
            session.send(session.post(call))
            start = Answer(*session.head(), b'')
            body = b''.join(session.pieces(start))
            if start.field('content-type') == EVENTS:
                for line in body.split(b'\n'):
                    require(line == b'' or line.split(b':')[0] in (
                        b'id', b'event', b'data', b'retry', b''), body)
            require(b'\ndata: injected' not in body, body)
            return body

        slow = tool('@', 'slow', steps=2, delay_ms=150)
        for odd in ('\n', '\r', '\r\n', '\n\n', '\u2028', '\u0085', '\0'):
            contains(heard(slow.replace(b'@', json.dumps(
                f'{odd}data: injected{odd}{odd}')[1:-1].encode())), b'done')
        for token in (b'"\\n\\ndata: injected"', b'[1,\n\n"data: injected"]',
                      b'{"a":\r\r1}', b'1', b'1e999', b'null'):
            heard(slow[:-1].rstrip(b'}') + b'}, "_meta": {"progressToken": '
                  + token + b'}}}')
        contains(heard(tool(1, 'echo', text='\n\ndata: injected\n\n')),
                 b'\\n\\ndata: injected')


def packed(data, level=9):
    return gzip.compress(data, level)


def test_bombs_do_not_go_off():
    with http(*SMALL) as serving, Session(serving.urls[0]) as session:
        def ask(body, coding='gzip'):  # which may end the connection
            with Web(serving.urls[0]) as web:
                return web.ask(session.post(body, Content_Encoding=coding))

        ask(packed(PING)).expect(200)
        ask(zlib.compress(PING), 'deflate').expect(200)
        ask(packed(padded(64 * KIB))).expect(200)
        memory = status(serving, 'VmRSS')
        zeros = packed(b'\0' * 10 * MIB)
        for bomb in (zeros, packed(b' ' * 10 * MIB), packed(b'[' * 10 * MIB),
                     packed(padded(64 * KIB + 1)), packed(padded(10 * MIB))):
            ask(bomb).expect(413, TOO_LARGE)
        ask(zlib.compress(b'\0' * 10 * MIB), 'deflate').expect(413, TOO_LARGE)
        session.lives()
        check_memory(serving, memory, 4 * MIB)
        for nested in (packed(zeros), packed(packed(PING))):
            session.refused(session.post(nested, Content_Encoding='gzip'), 400,
                            PARSE)
        session.refused(session.post(zeros, Content_Encoding='gzip, gzip'),
                        415)


def test_packed_bodies_must_be_whole_and_nothing_more():
    whole = packed(PING)
    with http(*SMALL) as serving, Session(serving.urls[0]) as session:
        for bad in (b'', b'\x1f', whole[:5], whole[:12], whole[:-9], whole[:-8],
                    whole[:-4], whole[:-1], whole + b'\0', whole + b'garbage',
                    whole + whole, b'\0' + whole, PING, whole[:-8] + b'\0' * 8,
                    whole[:-5] + b'\xff' + whole[-4:], zlib.compress(PING),
                    whole[:3] + b'\xff' + whole[4:], b'\x1f\x8b' * 1000):
            pieces = b''.join(chunk(bad[at:at + 1]) for at in range(len(bad)))
            for request in (
                    session.post(bad, Content_Encoding='gzip'),
                    session.post(b'', Content_Length=None, **{
                        'Content-Encoding': 'gzip',
                        'Transfer-Encoding': 'chunked'})
                    + pieces + b'0\r\n\r\n'):
                with Web(serving.urls[0]) as web:
                    web.ask(request).expect(400, PARSE)


def test_pipelined_requests_are_answered_in_order():
    with http() as serving, Session(serving.urls[0]) as session:
        count = 2000
        writer = threading.Thread(target=session.send, args=(b''.join(
            session.post(message(number, 'ping')) for number in range(count)),))
        writer.start()
        for number in range(count):
            equal(session.answer().json()['id'], number)
        writer.join(WAIT)
        slow = session.post(tool('slow', 'slow', steps=1, delay_ms=300))
        session.send(slow + session.post(PING) + slow + session.post(PING))
        for _ in range(2):
            contains(list(session.stream())[-1][1], b'done')
            equal(session.answer().json()['id'], 'ping')


def test_what_is_pipelined_behind_a_bad_request_is_not_served():
    with http() as serving, Session(serving.urls[0]) as session:
        start = session.post(PING)
        for bad in (b'GET\r\n\r\n', b'POST /mcp HTTP/1.1\r\n\r\n',
                    head(**POST, Content_Length='x')):
            with Web(serving.urls[0]) as web:
                web.send(start + bad + start * 10)
                answers = web.answers()
                equal([one.status for one in answers], [200, 400], bad)
        with Web(serving.urls[0]) as web:  # asked to close, it closes
            web.send(session.post(PING, Connection='close') + start * 10)
            equal([one.status for one in web.answers()], [200])


def test_a_client_that_reads_nothing_holds_up_nobody_but_itself():
    call = modern(1, 'large', bytes=15 * MIB)
    request = post(call, **modern_fields('large'))
    with served('http') as serving:
        memory = status(serving, 'VmRSS')
        deaf = [Web(serving.urls[0]) for _ in range(4)]
        for web in deaf:
            web.send(request * 20)
        time.sleep(0.3)
        lives(serving)
        check_memory(serving, memory, 200 * MIB)
        for web in deaf:
            web.vanish()
        lives(serving)


def requests(session):
    """What one may be in the middle of when the connection breaks."""
    return [session.post(PING), session.get(), head('OPTIONS'),
             post(INITIALIZE), head('GET', '/sse', Accept=EVENTS),
             post(modern(1, 'slow', 'p', **SLOW_CALL), **modern_fields('slow')),
             session.post(tool(1, 'large', bytes=MIB)),
             session.post(tool(2, 'slow', steps=3, delay_ms=30)),
             session.post(b'', Content_Length=None, **{
                 'Transfer-Encoding': 'chunked'}) + chunk(PING) + b'0\r\n\r\n',
             session.post(packed(PING), Content_Encoding='gzip'),
             session.get('1-0'), head('DELETE', Mcp_Session_Id='x'),
             head(**POST, Content_Length=10 * MIB), b'\x16\x03\x01\0\xff' * 20,
             b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0' * 3]


def drop_at_random(connect, data, dice):
    """Says part of it, hears part of the answer, and goes in some way."""
    with contextlib.suppress(OSError), connect() as web:
        cut = dice.randrange(len(data) + 1)
        web.send(data[:cut] if dice.random() < 0.6 else data)
        if dice.random() < 0.3:
            web.socket.settimeout(0.02)
            with contextlib.suppress(Exception):
                web.more()
        leave = dice.randrange(4)
        if leave == 0:
            web.vanish()
        elif leave == 1:
            web.finish()


def test_a_thousand_connections_dropped_at_random_points_leave_nothing():
    with http(*HASTY) as serving, Session(serving.urls[0]) as session:
        dice, seeds = random.Random(7332), requests(session)
        for _ in range(1000):
            data = b''.join(dice.choice(seeds)
                            for _ in range(dice.randrange(1, 4)))
            drop_at_random(lambda: Web(serving.urls[0]), data, dice)
        session.lives()


def test_connections_over_tls_dropped_at_random_points_leave_nothing():
    with identity() as place, served('https', options=(
            *server_options(place), *HASTY)) as serving:
        url = serving.urls[0]

        def connect():
            return Web(secured(place, url))

        with connect() as web, Session(web.socket) as session:
            dice, seeds = random.Random(443), requests(session)
            for _ in range(100):
                drop_at_random(connect, dice.choice(seeds), dice)
                drop_at_random(lambda: Web(url), b'\x16\x03\x01\x02\0\1\0'
                               + dice.randbytes(600), dice)
            session.lives()


def test_after_all_of_that_it_is_as_it_was():
    standing.end()


if __name__ == '__main__':
    sys.exit(main(__name__))
