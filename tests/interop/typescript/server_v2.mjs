/*
 * server_v2.mjs [PORT] - the demo's tools, with version 2 of the SDK.
 *
 * On stdio; or with a port at /mcp: each request by itself if it is of
 * 2026-07-28, in sessions otherwise.
 */
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from
    '@modelcontextprotocol/node';
import { McpServer, createMcpHandler, isLegacyRequest } from
    '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { serveHttp } from './sessions.mjs';
import { addTools, addVault } from './tools.mjs';

function make() {
    const server = new McpServer({ name: 'typescript-v2', version: '1' },
        { capabilities: { tools: { listChanged: true } } });
    addTools(server, {
        tokenOf: (context) => context.mcpReq._meta?.progressToken,
        notify: (context, params) => context.mcpReq.notify(
            { method: 'notifications/progress', params }),
        unlocked: (session) => {
            addVault(session);
            modern.notify.toolsChanged();
        },
    });
    return server;
}

const modern = createMcpHandler(make, { legacy: 'reject' });
const serveModern = toNodeHandler(modern);

async function handle(request, response, body, serveLegacy) {
    if (await isLegacyRequest(await toWebRequest(request, body), body))
        await serveLegacy();
    else
        await serveModern(request, response, body);
}

const port = process.argv[2];
if (port)
    serveHttp(port, make, NodeStreamableHTTPServerTransport, null, handle);
else
    serveStdio(make);
