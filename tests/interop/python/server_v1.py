"""server_v1.py [PORT] - the demo's tools, with version 1 of the SDK."""
from mcp import types
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.shared.message import ServerMessageMetadata

from offers import Level, add_offers, kinds, wire
from tools import add_tools, serve


class Sdk:
    types, Context = types, Context

    @staticmethod
    async def ask(context, _key, method, params):
        request, result = kinds(types)[method]
        asked = request.model_validate({'method': method, 'params': params})
        return wire(await context.session.send_request(
            types.ServerRequest(asked), result,
            metadata=ServerMessageMetadata(
                related_request_id=context.request_id)))

    @staticmethod
    async def updated(context, uri):
        await context.session.send_resource_updated(uri)


async def tell_change(context):
    await context.session.send_tool_list_changed()


server = FastMCP('python-v1', log_level='WARNING')


@server._mcp_server.set_logging_level()
async def set_level(level):
    Level.least = level


add_tools(server, Context, ToolError, tell_change)
add_offers(server, Sdk)
serve(server)
