"""server_v2.py [PORT] - the demo's tools, with version 2 of the SDK."""
import warnings

from mcp import types
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.message import ServerMessageMetadata

from offers import Level, add_offers, kinds, wire
from tools import add_tools, serve

# What is deprecated is checked all the same.
warnings.simplefilter('ignore')


class Sdk:
    types, Context = types, Context

    @staticmethod
    async def ask(context, key, method, params):
        """A client of old is asked; others call again with the answer."""
        request, result = kinds(types)[method]
        asked = request.model_validate({'method': method, 'params': params})
        if context.protocol_version < '2026':
            return wire(await context.session.send_request(
                asked, result, metadata=ServerMessageMetadata(
                    related_request_id=context.request_id)))
        answers = context.input_responses or {}
        if key in answers:
            return wire(answers[key])
        return types.InputRequiredResult(input_requests={key: asked})

    @staticmethod
    async def updated(context, uri):
        await context.notify_resource_updated(uri)
        if context.protocol_version < '2026':
            await context.session.send_resource_updated(uri)


async def tell_change(context):
    """To those who listen, and to the session, if there is one."""
    await context.notify_tools_changed()
    if context.protocol_version < '2026':
        await context.session.send_tool_list_changed()


async def set_level(_context, params):
    Level.least = params.level
    return types.EmptyResult()


async def subscribe(_context, _params):
    """Whoever is connected is told of all changes: there is but one."""
    return types.EmptyResult()


server = MCPServer('python-v2', log_level='WARNING')
for method, params, handler in (
        ('logging/setLevel', types.SetLevelRequestParams, set_level),
        ('resources/subscribe', types.SubscribeRequestParams, subscribe),
        ('resources/unsubscribe', types.UnsubscribeRequestParams, subscribe)):
    server._lowlevel_server.add_request_handler(method, params, handler)
add_tools(server, Context, ToolError, tell_change)
add_offers(server, Sdk)
serve(server)
