/*
 * server_v1.mjs [PORT] - the demo's tools, with version 1 of the SDK.
 *
 * On stdio; or with a port, at /mcp and, as was usual in 2024, at /sse.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from
    '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from
    '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { serveHttp } from './sessions.mjs';
import { addTools, addVault } from './tools.mjs';

function make() {
    const server = new McpServer({ name: 'typescript-v1', version: '1' });
    addTools(server, {
        tokenOf: (context) => context._meta?.progressToken,
        notify: (context, params) => context.sendNotification(
            { method: 'notifications/progress', params }),
        unlocked: addVault, // which tells the session
    });
    return server;
}

const port = process.argv[2];
if (port)
    serveHttp(port, make, StreamableHTTPServerTransport, SSEServerTransport);
else
    await make().connect(new StdioServerTransport());
