/* server_v2.mjs - the demo's tools over stdio, with version 2 of the SDK. */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { addTools } from './tools.mjs';

serveStdio(() => {
    const server = new McpServer({ name: 'typescript-v2', version: '1' },
        { capabilities: { tools: {} } });
    addTools(server, (context) => context.mcpReq._meta?.progressToken,
        (context, params) => context.mcpReq.notify(
            { method: 'notifications/progress', params }));
    return server;
});
