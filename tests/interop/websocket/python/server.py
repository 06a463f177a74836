"""server.py PORT packed|plain - the demo's tools, with the websockets package
and as much of MCP as they need."""
import asyncio
import json
import sys

from websockets.asyncio.server import serve

PORT, PACKING = int(sys.argv[1]), sys.argv[2]


class Refusal(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def text(value, **more):
    return {'content': [{'type': 'text', 'text': str(value)}], **more}


class Tools:
    opened, stopped = False, 0

    async def echo(self, _session, text_):
        return text(text_)

    async def add(self, _session, a, b):
        return text(a + b)

    async def large(self, _session, size):
        return text('x' * size)

    async def fail(self, _session, message):
        return text(message, isError=True)

    async def count(self, _session):
        return text(f'{self.stopped} stopped')

    async def unlock(self, session):
        Tools.opened = True
        await session.notify('notifications/tools/list_changed', {})
        return text('unlocked')

    async def slow(self, session, steps, delay_ms, token=None):
        try:
            for step in range(1, steps + 1):
                await asyncio.sleep(delay_ms / 1000)
                if token is not None:
                    await session.notify('notifications/progress', {
                        'progressToken': token, 'progress': step,
                        'total': steps})
        except asyncio.CancelledError:
            Tools.stopped += 1
            raise
        return text(f'{steps} steps')

    def names(self):
        return ['echo', 'add', 'large', 'fail', 'stopped', 'unlock', 'slow',
                *(['vault'] if self.opened else [])]

    async def call(self, session, name, given, token):
        """By its name, with its arguments under the names used here."""
        if name not in self.names():
            raise Refusal(-32602, f'no tool {name}')
        if name == 'echo':
            return await self.echo(session, given['text'])
        if name == 'large':
            return await self.large(session, given['bytes'])
        if name == 'stopped':
            return await self.count(session)
        if name == 'slow':
            return await self.slow(session, **given, token=token)
        return await getattr(self, name)(session, **given)


class Session:
    def __init__(self, socket):
        self.socket, self.running = socket, {}

    async def say(self, **message):
        await self.socket.send(json.dumps({'jsonrpc': '2.0', **message},
                                          ensure_ascii=False))

    async def notify(self, method, params):
        await self.say(method=method, params=params)

    async def answer(self, method, params):
        if method == 'initialize':
            return {'protocolVersion': params['protocolVersion'],
                    'capabilities': {'tools': {'listChanged': True}},
                    'serverInfo': {'name': 'websockets', 'version': '17'}}
        if method == 'ping':
            return {}
        if method == 'tools/list':
            return {'tools': [{'name': name, 'inputSchema': {'type': 'object'}}
                              for name in Tools().names()]}
        if method == 'tools/call':
            return await Tools().call(
                self, params['name'], params.get('arguments', {}),
                params.get('_meta', {}).get('progressToken'))
        raise Refusal(-32601, 'not known')

    async def serve(self, number, method, params):
        try:
            result = await self.answer(method, params)
            await self.say(id=number, result=result)
        except Refusal as why:
            await self.say(id=number, error={'code': why.code,
                                             'message': str(why)})
        finally:
            self.running.pop(number, None)

    async def run(self):
        agreed = self.socket.response.headers.get('Sec-WebSocket-Extensions')
        if (PACKING == 'packed') != (agreed is not None):
            await self.socket.close(1008, f'not {PACKING}: {agreed}')
        async for message in self.socket:
            said = json.loads(message)
            number, method = said.get('id'), said.get('method')
            params = said.get('params', {})
            if method == 'notifications/cancelled':
                task = self.running.get(params['requestId'])
                if task:
                    task.cancel()
            elif number is not None:
                self.running[number] = asyncio.create_task(
                    self.serve(number, method, params))


async def main():
    async with serve(lambda socket: Session(socket).run(), '127.0.0.1', PORT,
                     subprotocols=['mcp', 'mcp.v1'],
                     compression='deflate' if PACKING == 'packed' else None):
        await asyncio.get_running_loop().create_future()


asyncio.run(main())
