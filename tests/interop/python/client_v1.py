"""client_v1.py MODE REVISION COMMAND... - the checks, with version 1."""
import asyncio
import sys
from contextlib import asynccontextmanager

from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client

from checks import prove


class Peer:
    Error = McpError

    def __init__(self):
        self.session, self.revision, self.heard = None, None, 0

    async def on_message(self, message):
        self.heard += isinstance(message, types.ServerNotification)

    @staticmethod
    def is_error(result):
        return result.isError

    async def call(self, tool, told=None, **arguments):
        async def on_progress(progress, _total, _message):
            told.append(progress)
        return await self.session.call_tool(
            tool, arguments,
            progress_callback=on_progress if told is not None else None)

    async def start(self, tool, **arguments):
        """This version leaves telling the server to its user."""
        request = self.session._request_id
        task = asyncio.create_task(self.call(tool, **arguments))

        async def cancel():
            await self.session.send_notification(types.ClientNotification(
                types.CancelledNotification(
                    params=types.CancelledNotificationParams(
                        requestId=request, reason='enough'))))
            task.cancel()
            await asyncio.wait([task])
        return cancel


@asynccontextmanager
async def connect():
    peer = Peer()
    command, *arguments = sys.argv[3:]
    server = StdioServerParameters(command=command, args=arguments)
    async with stdio_client(server) as (reader, writer):
        async with ClientSession(reader, writer,
                                 message_handler=peer.on_message) as session:
            peer.session = session
            peer.revision = (await session.initialize()).protocolVersion
            yield peer


asyncio.run(prove(connect, sys.argv[2]))
