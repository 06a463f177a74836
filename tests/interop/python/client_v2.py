"""client_v2.py MODE REVISION SERVER... - the checks, with version 2.

MODE is the SDK's own: "legacy" opens with initialize, "auto" asks with
server/discover first. SERVER is a command, or the address of a server that is
there already.
"""
import asyncio
import sys
import warnings
from contextlib import asynccontextmanager

from mcp import Client, MCPError, StdioServerParameters, types
from mcp.client.sse import sse_client

from checks import prove
from features import Answers

# What is deprecated is checked all the same.
warnings.simplefilter('ignore')


class Peer(Answers):
    Error = MCPError

    def __init__(self):
        super().__init__(types)
        self.session, self.revision, self.heard = None, None, 0
        self.changed = asyncio.Event()

    async def on_message(self, message):
        self.heard += 1
        if isinstance(message, types.ToolListChangedNotification):
            self.changed.set()
        if isinstance(message, types.ResourceUpdatedNotification):
            self.updated.put_nowait(message.params.uri)

    @asynccontextmanager
    async def watch(self):
        """Of themselves, only servers of old tell what changes."""
        if self.revision < '2026':
            self.changed.clear()
            yield self.changed.wait
        else:
            async with self.session.listen(tools_list_changed=True) as events:
                yield lambda: anext(events)

    @staticmethod
    def is_error(result):
        return result.is_error

    async def call(self, tool, told=None, **arguments):
        async def on_progress(progress, _total, _message):
            told.append(progress)
        return await self.session.call_tool(
            tool, arguments,
            progress_callback=on_progress if told is not None else None)

    async def read(self, uri):
        return await self.session.read_resource(uri)

    @asynccontextmanager
    async def listen(self, uri):
        if self.revision < '2026':
            await self.session.subscribe_resource(uri)
            yield self.updated.get
            await self.session.unsubscribe_resource(uri)
            return
        async with self.session.listen(
                resource_subscriptions=[uri]) as events:
            async def told():
                return (await anext(events)).uri
            yield told

    async def warn_me(self):
        """Servers of today are asked with each request, see connect()."""
        if self.revision < '2026':
            await self.session.set_logging_level('warning')

    async def start(self, tool, **arguments):
        task = asyncio.create_task(self.call(tool, **arguments))

        async def cancel():
            task.cancel()
            await asyncio.wait([task])
        return cancel


def reach(server, *arguments):
    if server.startswith('sse+'):
        return sse_client(server.removeprefix('sse+'))
    if server.startswith('http'):
        return server
    return StdioServerParameters(command=server, args=arguments)


@asynccontextmanager
async def connect():
    peer = Peer()
    mode, _, *server = sys.argv[1:]
    async with Client(reach(*server), mode=mode, log_level='warning',
                      message_handler=peer.on_message,
                      **peer.callbacks()) as client:
        peer.session, peer.revision = client, client.protocol_version
        yield peer


asyncio.run(prove(connect, sys.argv[2]))
