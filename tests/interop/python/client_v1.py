"""client_v1.py MODE REVISION SERVER... - the checks, with version 1.

SERVER is a command, or the address of a server that is there already.
"""
import asyncio
import sys
from contextlib import asynccontextmanager

from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import AnyUrl

from checks import prove
from features import Answers


class Peer(Answers):
    Error = McpError

    def __init__(self):
        super().__init__(types)
        self.session, self.revision, self.heard = None, None, 0
        self.changed = asyncio.Event()

    async def on_message(self, message):
        if isinstance(message, types.ServerNotification):
            self.heard += 1
            if isinstance(message.root, types.ToolListChangedNotification):
                self.changed.set()
            if isinstance(message.root, types.ResourceUpdatedNotification):
                self.updated.put_nowait(message.root.params.uri)

    @asynccontextmanager
    async def watch(self):
        self.changed.clear()
        yield self.changed.wait

    @staticmethod
    def is_error(result):
        return result.isError

    async def call(self, tool, told=None, **arguments):
        async def on_progress(progress, _total, _message):
            told.append(progress)
        return await self.session.call_tool(
            tool, arguments,
            progress_callback=on_progress if told is not None else None)

    async def read(self, uri):
        return await self.session.read_resource(AnyUrl(uri))

    @asynccontextmanager
    async def listen(self, uri):
        await self.session.subscribe_resource(AnyUrl(uri))
        yield self.updated.get
        await self.session.unsubscribe_resource(AnyUrl(uri))

    async def warn_me(self):
        await self.session.set_logging_level('warning')

    async def task(self, tool, **arguments):
        tasks = self.session.experimental
        created = await tasks.call_tool_as_task(tool, arguments)
        async for _ in tasks.poll_task(created.task.taskId):
            pass
        return await tasks.get_task_result(created.task.taskId,
                                           types.CallToolResult)

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


def streams(server, *arguments):
    if server.startswith('sse+'):
        return sse_client(server.removeprefix('sse+'))
    if server.startswith('http'):
        return streamable_http_client(server)
    return stdio_client(StdioServerParameters(command=server, args=arguments))


@asynccontextmanager
async def connect():
    peer = Peer()
    async with streams(*sys.argv[3:]) as (reader, writer, *_):
        async with ClientSession(reader, writer,
                                 message_handler=peer.on_message,
                                 **peer.callbacks()) as session:
            peer.session = session
            peer.revision = (await session.initialize()).protocolVersion
            yield peer


asyncio.run(prove(connect, sys.argv[2]))
