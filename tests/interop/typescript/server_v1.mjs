/* server_v1.mjs - the demo's tools over stdio, with version 1 of the SDK. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from
    '@modelcontextprotocol/sdk/server/stdio.js';
import { addTools } from './tools.mjs';

const server = new McpServer({ name: 'typescript-v1', version: '1' });
addTools(server, (context) => context._meta?.progressToken,
    (context, params) => context.sendNotification(
        { method: 'notifications/progress', params }));
await server.connect(new StdioServerTransport());
