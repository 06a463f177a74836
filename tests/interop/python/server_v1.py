"""server_v1.py - the demo's tools over stdio, with version 1 of the SDK."""
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.fastmcp.exceptions import ToolError

from tools import add_tools

server = FastMCP('python-v1')
add_tools(server, Context, ToolError)
server.run('stdio')
