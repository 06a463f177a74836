"""server_v2.py - the demo's tools over stdio, with version 2 of the SDK."""
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from tools import add_tools

server = MCPServer('python-v2')
add_tools(server, Context, ToolError)
server.run('stdio')
