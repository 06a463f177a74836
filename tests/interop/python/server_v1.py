"""server_v1.py [PORT] - the demo's tools, with version 1 of the SDK."""
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.fastmcp.exceptions import ToolError

from tools import add_tools, serve


async def tell_change(context):
    await context.session.send_tool_list_changed()


server = FastMCP('python-v1', log_level='WARNING')
add_tools(server, Context, ToolError, tell_change)
serve(server)
