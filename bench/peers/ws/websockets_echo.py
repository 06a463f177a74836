"""websockets_echo.py PORT [--json] - a server with Python's websockets.

Each message goes back as it came; with --json it is a call of the tool echo,
read and answered with the json module.
"""
import asyncio
import json
import sys

from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed

INFO = {'protocolVersion': '2025-11-25', 'capabilities': {'tools': {}},
        'serverInfo': {'name': 'python-websockets', 'version': '1'}}


def answer(text):
    message = json.loads(text)
    if 'id' not in message:
        return None
    if message['method'] == 'initialize':
        result = INFO
    else:
        said = message['params']['arguments']['text']
        result = {'content': [{'type': 'text', 'text': said}]}
    return json.dumps({'jsonrpc': '2.0', 'id': message['id'],
                       'result': result}, separators=(',', ':'))


async def converse(socket):
    wants_json = '--json' in sys.argv
    try:
        async for message in socket:
            back = answer(message) if wants_json else message
            if back is not None:
                await socket.send(back)
    except ConnectionClosed:
        pass


async def main():
    async with serve(converse, '127.0.0.1', int(sys.argv[1]), backlog=4096,
                     compression=None, ping_interval=None):
        await asyncio.get_running_loop().create_future()


asyncio.run(main())
