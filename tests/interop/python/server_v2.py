"""server_v2.py [PORT] - the demo's tools, with version 2 of the SDK."""
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from tools import add_tools, serve


async def tell_change(context):
    """To those who listen, and to the session, if there is one."""
    await context.notify_tools_changed()
    if context.protocol_version < '2026':
        await context.session.send_tool_list_changed()


server = MCPServer('python-v2', log_level='WARNING')
add_tools(server, Context, ToolError, tell_change)
serve(server)
