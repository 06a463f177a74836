/*
 * server_v2.mjs [PORT] - the demo's tools, with version 2 of the SDK.
 *
 * On stdio; or with a port at /mcp: each request by itself if it is of
 * 2026-07-28, in sessions otherwise.
 */
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from
    '@modelcontextprotocol/node';
import {
    McpServer, ResourceTemplate, completable, createMcpHandler, inputRequired,
    isLegacyRequest,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { addOffers } from './offers.mjs';
import { serveHttp } from './sessions.mjs';
import { addTools, addVault } from './tools.mjs';

/* For a client of old, the SDK makes requests of the questions. */
function ask(context, key, method, params) {
    const answer = context.mcpReq.inputResponses?.[key];
    return answer ? { answer }
        : { more: inputRequired({ inputRequests: { [key]: { method, params } } }) };
}

const sdk = {
    ResourceTemplate,
    completable,
    log: (server, context, level, data) =>
        context.mcpReq.log(level, data, 'demo'),
    ask,
    updated: async (server, uri) => {
        modern.notify.resourceUpdated(uri);
        if (server.isConnected() && server.server.getClientVersion())
            await server.server.sendResourceUpdated({ uri });
    },
};

function make() {
    const server = new McpServer({ name: 'typescript-v2', version: '1' }, {
        capabilities: {
            tools: { listChanged: true },
            resources: { subscribe: true },
            logging: {},
        },
    });
    addOffers(server, sdk);
    for (const method of ['resources/subscribe', 'resources/unsubscribe'])
        server.server.setRequestHandler(method, async () => ({}));
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
