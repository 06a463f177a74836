"""client.py URL - what a client may expect of the demo over WebSocket, with
the websockets package and nothing of MCP.

Messages are text here: what comes back is compared byte for byte. One line is
printed for each check, "pass NAME" or "fail NAME why", and run.py knows which
must appear.
"""
import asyncio
import json
import logging
import sys
import traceback

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

URL = sys.argv[1]
PATIENCE = 30
TOOLS = {'echo', 'add', 'slow', 'fail', 'large'}
HELLO = {'protocolVersion': '2025-11-25', 'capabilities': {},
         'clientInfo': {'name': 'websockets', 'version': '17'}}


def result(number, text):
    content = json.dumps(text, ensure_ascii=False)
    return f'{{"jsonrpc":"2.0","id":{number},"result":{{"content":' \
           f'[{{"type":"text","text":{content}}}]}}}}'


def call(name, token=None, **arguments):
    params = {'name': name, 'arguments': arguments}
    if token:
        params['_meta'] = {'progressToken': token}
    return params


class Socket:
    """One session; a context."""

    def __init__(self, **options):
        self.opening = connect(
            URL, subprotocols=['mcp.v1', 'mcp'], proxy=None, max_size=None,
            **{'ping_interval': None, **options})
        self.ws, self.heard = None, []

    async def __aenter__(self):
        self.ws = await self.opening
        await self.ask('0', 'initialize', HELLO)
        await self.ws.send(
            '{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return self

    async def __aexit__(self, *_):
        await self.ws.close()

    async def answer(self, number):
        """What else comes before it is kept in `heard`."""
        start = f'{{"jsonrpc":"2.0","id":{number},'
        while True:
            for text in self.heard:
                if text.startswith(start):
                    self.heard.remove(text)
                    return text
            self.heard.append(await self.ws.recv())

    @staticmethod
    def request(number, method, params=None):
        text = json.dumps(params or {}, ensure_ascii=False)
        return f'{{"jsonrpc":"2.0","id":{number},"method":"{method}",' \
               f'"params":{text}}}'

    async def ask(self, number, method, params=None):
        await self.ws.send(self.request(number, method, params))
        return await self.answer(number)

    async def echoes(self, number, text='hi'):
        got = await self.ask(number, 'tools/call', call('echo', text=text))
        assert got == result(number, text), got[:200]


async def check_subprotocol():
    async with Socket() as socket:
        assert socket.ws.subprotocol == 'mcp.v1', socket.ws.subprotocol


async def check_list():
    async with Socket() as socket:
        answer = json.loads(await socket.ask('1', 'tools/list'))
        missing = TOOLS - {tool['name'] for tool in answer['result']['tools']}
        assert not missing, missing


async def check_strings():
    async with Socket() as socket:
        for number in '"a"', '"1"', '"Gr\\u00fc\\u00dfe"', '""':
            await socket.echoes(number)


async def check_numbers():
    async with Socket() as socket:
        for number in ('9007199254740993', '123456789012345678901234567890',
                       '-1', '18446744073709551615'):
            await socket.echoes(number)


async def check_equal():
    async with Socket() as one, Socket() as two:
        async def many(socket, name):
            for number in range(1, 21):
                await socket.ws.send(socket.request(
                    number, 'tools/call', call('echo', text=f'{name}{number}')))
            for number in range(1, 21):
                got = await socket.answer(number)
                assert got == result(number, f'{name}{number}'), got
        await asyncio.gather(many(one, 'one'), many(two, 'two'))


async def check_progress():
    async with Socket() as socket:
        answer = await socket.ask('1', 'tools/call', call(
            'slow', token='p', steps=5, delay_ms=10))
        assert '5 steps' in answer, answer
        told = [json.loads(text)['params'] for text in socket.heard]
        assert [one['progress'] for one in told] == [1, 2, 3, 4, 5], told
        assert all(one['progressToken'] == 'p' for one in told), told


async def check_cancel():
    async with Socket() as socket:
        await socket.ws.send(socket.request('1', 'tools/call', call(
            'slow', token='p', steps=1000, delay_ms=20)))
        assert '"progress":1' in await socket.ws.recv()
        await socket.ws.send('{"jsonrpc":"2.0","method":"notifications/'
                             'cancelled","params":{"requestId":1}}')
        await socket.echoes('2', 'still there')
        try:
            late = await asyncio.wait_for(socket.ws.recv(), 0.3)
            raise AssertionError(f'late: {late}')
        except TimeoutError:
            pass


async def check_fragments():
    async with Socket() as socket:
        text = socket.request('1', 'tools/call', call('echo', text='Grüße'))
        await socket.ws.send(list(text))  # a frame for each character
        got = await socket.answer('1')
        assert got == result('1', 'Grüße'), got


async def check_packed():
    async with Socket(compression='deflate') as socket:
        agreed = socket.ws.response.headers.get('Sec-WebSocket-Extensions')
        assert agreed and 'permessage-deflate' in agreed, agreed
        for size in 0, 1, 100, 5000, 200_000:
            await socket.echoes(str(size), 'x' * size)


async def check_plain():
    async with Socket(compression=None) as socket:
        agreed = socket.ws.response.headers.get('Sec-WebSocket-Extensions')
        assert agreed is None, agreed
        await socket.echoes('1', 'y' * 200_000)


async def check_large():
    async with Socket() as socket:
        answer = json.loads(await socket.ask('1', 'tools/call', call(
            'large', bytes=5_000_000)))
        length = len(answer['result']['content'][0]['text'])
        assert length == 5_000_000, length


async def check_ping():
    async with Socket() as socket:
        await (await socket.ws.ping('are you?'))


class Pings(logging.Handler):
    """How many came; the package tells nobody but its log."""
    count = 0

    def emit(self, record):
        self.count += record.getMessage().startswith('< PING')


async def check_pinged():
    log, pings = logging.getLogger('pinged'), Pings()
    log.setLevel(logging.DEBUG)
    log.propagate = False
    log.addHandler(pings)
    async with Socket(logger=log) as socket:
        while pings.count < 2:  # which websockets answers by itself
            await asyncio.sleep(0.05)
        await socket.echoes('1')


async def check_binary():
    async with Socket() as socket:
        await socket.ws.send(b'{}')
        try:
            await socket.ws.recv()
        except ConnectionClosed as closed:
            assert closed.rcvd.code == 1003, closed
        else:
            raise AssertionError('it was taken')


async def check_close():
    async with Socket() as socket:
        await socket.ws.close(1000, 'done')
        assert socket.ws.close_code == 1000, socket.ws.close_code


async def report(name, check):
    try:
        await asyncio.wait_for(check(), PATIENCE)
        print(f'pass {name}', flush=True)
    except Exception as error:  # whatever it is, the other checks still run
        why = ' '.join(str(error).split()) or repr(error)
        traceback.print_exc()
        print(f'fail {name} {why}', flush=True)


async def main():
    checks = [(name.removeprefix('check_'), check)
              for name, check in globals().items()
              if name.startswith('check_')]
    for name, check in checks:
        await report(name, check)


asyncio.run(main())
