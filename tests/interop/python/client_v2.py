"""client_v2.py MODE REVISION COMMAND... - the checks, with version 2.

MODE is the SDK's own: "legacy" opens with initialize, "auto" asks with
server/discover first.
"""
import asyncio
import sys
import warnings
from contextlib import asynccontextmanager

from mcp import Client, MCPError, StdioServerParameters

from checks import prove

warnings.simplefilter('ignore')  # ping is deprecated; it is checked all the same


class Peer:
    Error = MCPError

    def __init__(self):
        self.session, self.revision, self.heard = None, None, 0

    async def on_message(self, _message):
        self.heard += 1

    @staticmethod
    def is_error(result):
        return result.is_error

    async def call(self, tool, told=None, **arguments):
        async def on_progress(progress, _total, _message):
            told.append(progress)
        return await self.session.call_tool(
            tool, arguments,
            progress_callback=on_progress if told is not None else None)

    async def start(self, tool, **arguments):
        task = asyncio.create_task(self.call(tool, **arguments))

        async def cancel():
            task.cancel()
            await asyncio.wait([task])
        return cancel


@asynccontextmanager
async def connect():
    peer = Peer()
    mode, _, command, *arguments = sys.argv[1:]
    server = StdioServerParameters(command=command, args=arguments)
    async with Client(server, mode=mode,
                      message_handler=peer.on_message) as client:
        peer.session, peer.revision = client, client.protocol_version
        yield peer


asyncio.run(prove(connect, sys.argv[2]))
