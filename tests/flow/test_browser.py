#!/usr/bin/env python3
"""test_browser.py - `fairlead demo`, used by a page in a browser: over HTTP,
and over WebSocket by the page in examples/.

The page is served from an origin that is not loopback by its name, in a
headless Chromium which is told that the name is ours. Where the origin is
allowed the page can do all a client does; where it is not, fetch() fails, and
so does a WebSocket. The page tells the site it came from what it found. Prints TAP; without Chromium
everything is skipped. FAIRLEAD names the program.
"""
import contextlib
import functools
import http.server
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from urllib.parse import quote

from flow import WAIT, Mismatch, Skip, contains, equal, main
from web import unharmed
from wire import identity, served, server_options

EXAMPLE = Path(__file__).resolve().parents[2] / 'examples' / 'websocket.html'
NAMES = ('app.example.test', 'evil.example.test')
FLAGS = ('--headless', '--no-sandbox', '--disable-gpu', '--disable-quic',
         '--no-first-run', '--disable-background-networking',
         '--disable-component-update', '--disable-sync', '--disable-extensions',
         '--disable-default-apps', '--disable-dev-shm-usage',
         '--ignore-certificate-errors')

# What every page begins with: a client in twenty lines.
CLIENT = '''
const both = 'application/json, text/event-stream';
let session = null, found = {};
function post(message, more = {}) {
    const headers = {'Content-Type': 'application/json', 'Accept': both,
                     ...more};
    if (session) headers['Mcp-Session-Id'] = session;
    return fetch(URL_, {method: 'POST', headers,
                        body: JSON.stringify({jsonrpc: '2.0', ...message})});
}
async function initialize() {
    const answer = await post({id: 0, method: 'initialize', params: {
        protocolVersion: '2025-11-25', capabilities: {},
        clientInfo: {name: 'page', version: '1'}}});
    session = answer.headers.get('Mcp-Session-Id');
    await post({method: 'notifications/initialized'});
    return answer;
}
function call(id, name, args, meta) {
    return post({id, method: 'tools/call',
                 params: {name, arguments: args, _meta: meta}},
                {'MCP-Protocol-Version': '2025-11-25', 'X-Request-Id': 'me'});
}
async function read(answer) {
    const reader = answer.body.getReader(), decoder = new TextDecoder();
    let text = '';
    for (;;) {
        const {done, value} = await reader.read();
        if (done) return text;
        text += decoder.decode(value, {stream: true});
    }
}
async function fails(promise) {
    try { const answer = await promise; return 'got ' + answer.status; }
    catch (error) { return error.name; }
}
async function run() {
    try { await page(); } catch (error) { found.error = String(error); }
    await fetch('/found', {method: 'POST', body: JSON.stringify(found)});
}
'''


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.server.page.encode()
        self.send_response(200)
        self.send_header('Content-Type', 'text/html; charset=utf-8')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        size = int(self.headers['Content-Length'])
        self.server.found.put(json.loads(self.rfile.read(size)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def site():
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Pages)
    server.found = queue.Queue()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join(WAIT)
        server.server_close()


@functools.cache
def browser():
    """Chromium, if there is one that starts."""
    path = shutil.which('chromium') or shutil.which('chromium-browser')
    if path and subprocess.run(
            [path, '--version'], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, check=False).returncode == 0:
        return path
    print('SKIPPED: there is no Chromium', file=sys.stderr)
    return None


@contextlib.contextmanager
def opened(url):
    """A browser with that page; it and its children end with this."""
    rules = ', '.join(f'MAP {name} 127.0.0.1' for name in NAMES)
    with tempfile.TemporaryDirectory(prefix='fairlead-',
                                     ignore_cleanup_errors=True) as place:
        process = subprocess.Popen(
            [browser(), *FLAGS, f'--user-data-dir={place}',
             f'--host-resolver-rules={rules}', url], start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        try:
            yield process
        finally:
            process.terminate()  # which it passes on to its children
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(WAIT)


def found_by(server, name, query=''):
    """What the page found, once it is opened under that name."""
    with opened(f'http://{name}:{server.server_port}/{query}'):
        try:
            return server.found.get(timeout=WAIT)
        except queue.Empty:
            raise Mismatch('the page said nothing')


def visit(server, name, endpoint, script):
    """What the page found that is served under that name."""
    server.page = (f'<!doctype html><title>t</title><link rel=icon href=data:,>'
                   f'<script>const URL_ = {json.dumps(endpoint)};{CLIENT}'
                   f'async function page() {{ {script} }}\nrun();</script>')
    return found_by(server, name)


def example(server, name, endpoint):
    """The same for the page in examples/: its log, line by line."""
    server.page = EXAMPLE.read_text() + '''<link rel=icon href=data:,><script>
        done.then(() => fetch('/found', {method: 'POST', body: JSON.stringify(
            document.getElementById('log').textContent)}));</script>'''
    return found_by(server, name, f'?url={quote(endpoint)}').splitlines()


@contextlib.contextmanager
def allowed(way='http', options=()):
    """A site one of whose names may use the demo, and the demo."""
    if not browser():
        raise Skip('there is no Chromium')
    with site() as server:
        origin = f'http://{NAMES[0]}:{server.server_port}'
        with served(way, options=('--allow-origin', origin,
                                  *options)) as serving:
            yield server, serving


SESSION = '''
    const hello = await initialize();
    found.status = hello.status;
    found.server = (await hello.json()).result.serverInfo.name;
    found.session = session.length;
    const added = await call(1, 'add', {a: 2, b: 3});
    found.id = added.headers.get('X-Request-Id');
    found.sum = (await added.json()).result.content[0].text;
    const slow = await call(2, 'slow', {steps: 3, delay_ms: 20},
                            {progressToken: 'p'});
    found.type = slow.headers.get('Content-Type');
    found.events = await read(slow);
    const large = await call(3, 'large', {bytes: 3000000});
    found.large = (await large.json()).result.content[0].text.length;
    const gone = await fetch(URL_, {method: 'DELETE',
                                    headers: {'Mcp-Session-Id': session}});
    found.gone = gone.status;
    found.after = (await call(4, 'add', {a: 2, b: 3})).status;
'''


def check_session(found):
    equal(found.get('error'), None)
    equal((found['status'], found['server'], found['session']),
          (200, 'fairlead-demo', 22))
    equal((found['id'], found['sum'], found['large']), ('me', '5', 3000000))
    equal(found['type'], 'text/event-stream')
    equal(found['events'].count('"notifications/progress"'), 3)
    contains(found['events'], 'done, in 3 steps')
    equal((found['gone'], found['after']), (204, 404))


def test_a_page_of_an_allowed_origin_can_do_all_a_client_does():
    with allowed() as (server, serving), unharmed(serving):
        check_session(visit(server, NAMES[0], serving.urls[0], SESSION))


def test_a_page_can_do_so_over_tls():
    with identity() as place, \
            allowed('https', server_options(place)) as (server, serving):
        check_session(visit(server, NAMES[0], serving.urls[0], SESSION))


def test_a_page_of_another_origin_cannot():
    with allowed() as (server, serving), unharmed(serving):
        found = visit(server, NAMES[1], serving.urls[0], '''
            found.session = await fails(initialize());
            found.get = await fails(fetch(URL_));
            found.sse = await fails(fetch(URL_.replace('/mcp', '/sse')));
            found.deleted = await fails(fetch(URL_, {method: 'DELETE',
                headers: {'Mcp-Session-Id': 'x'}}));
            found.simple = await fails(fetch(URL_, {method: 'POST',
                body: '{"jsonrpc":"2.0","id":1,"method":"ping"}'}));
            const blind = await fetch(URL_, {method: 'POST', mode: 'no-cors',
                body: '{"jsonrpc":"2.0","id":1,"method":"ping"}'});
            found.blind = [blind.type, blind.status];
            found.events = await new Promise(resolve => {
                const source = new EventSource(URL_.replace('/mcp', '/sse'));
                source.onopen = () => resolve('open');
                source.onerror = () => { source.close(); resolve('refused'); };
            });''')
        refused = dict.fromkeys(('session', 'get', 'sse', 'deleted', 'simple'),
                                'TypeError')
        equal(found, {**refused, 'blind': ['opaque', 0], 'events': 'refused'})


def test_a_page_whose_name_was_made_to_point_here_cannot():
    # DNS rebinding: it is addressed by the page's own name
    with allowed() as (server, serving), unharmed(serving):
        port = re.search(r':(\d+)/', serving.urls[0])[1]
        found = visit(server, NAMES[1], f'http://{NAMES[1]}:{port}/mcp', '''
            found.session = await fails(initialize());''')
        equal(found, {'session': 'TypeError'})


def test_an_event_source_hears_the_2024_transport():
    with allowed() as (server, serving), unharmed(serving):
        found = visit(server, NAMES[0], serving.urls[0], '''
            const source = new EventSource(URL_.replace('/mcp', '/sse'));
            const heard = kind => new Promise(resolve =>
                source.addEventListener(kind, one => resolve(one.data),
                                        {once: true}));
            const where = await heard('endpoint');
            const answer = heard('message');
            const posted = await fetch(new URL(where, URL_), {method: 'POST',
                headers: {'Content-Type': 'application/json'},
                body: '{"jsonrpc":"2.0","id":9,"method":"ping"}'});
            found.status = posted.status;
            found.answer = JSON.parse(await answer);
            source.close();''')
        equal(found, {'status': 202, 'answer': {'jsonrpc': '2.0', 'id': 9,
                                                'result': {}}})


def check_example(log):
    equal(log[0], 'fairlead-demo, 2025-11-25, subprotocol mcp.v1')
    contains(log[1], 'tools: echo add ')
    equal(log[2:], ['echo: Gr\u00fc\u00dfe, \u4f60\u597d'])


def test_the_example_page_of_an_allowed_origin_talks_over_websocket():
    with allowed('ws') as (server, serving):
        check_example(example(server, NAMES[0], serving.urls[0]))
    with allowed() as (server, serving):  # an HTTP server takes it, too
        for path in ('/mcp', '/mcp/ws'):
            url = serving.urls[0].replace('http', 'ws').replace('/mcp', path)
            check_example(example(server, NAMES[0], url))


def test_it_does_so_over_tls():
    with identity() as place, \
            allowed('wss', server_options(place)) as (server, serving):
        check_example(example(server, NAMES[0], serving.urls[0]))


def test_a_websocket_of_another_origin_is_refused():
    for way in 'ws', 'http':
        with allowed(way) as (server, serving):
            url = serving.urls[0].replace('http', 'ws')
            equal(example(server, NAMES[1], url), ['failed: no connection'])


def test_a_websocket_to_a_name_that_was_made_to_point_here_is_refused():
    with allowed('ws') as (server, serving):
        port = re.search(r':(\d+)/', serving.urls[0])[1]
        equal(example(server, NAMES[1], f'ws://{NAMES[1]}:{port}/mcp'),
              ['failed: no connection'])


if __name__ == '__main__':
    sys.exit(main(__name__))
