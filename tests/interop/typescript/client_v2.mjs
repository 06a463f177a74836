/*
 * client_v2.mjs MODE REVISION SERVER... - the checks, with version 2.
 *
 * MODE is the SDK's own: "legacy" opens with initialize, "auto" asks with
 * server/discover first. SERVER is a command, or the address of a server that
 * is there already.
 */
import {
    Client, LOG_LEVEL_META_KEY, SSEClientTransport,
    StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { prove, reach, watchTools } from './checks.mjs';
import { CAPABILITIES } from './features.mjs';

const [mode, revision, ...server] = process.argv.slice(2);
const changes = watchTools();
const client = new Client({ name: 'typescript-v2', version: '1' }, {
    listChanged: changes.listChanged,
    capabilities: CAPABILITIES,
    versionNegotiation: { mode, probe: { timeoutMs: 10_000 } },
});
const transport = reach(server, StdioClientTransport,
    StreamableHTTPClientTransport, SSEClientTransport);

const isModern = revision >= '2026';

async function listen(uri) {
    if (isModern) {
        const events = await client.listen({ resourceSubscriptions: [uri] });
        return () => events.close();
    }
    await client.subscribeResource({ uri });
    return () => client.unsubscribeResource({ uri });
}

async function logged(name, input) {
    const request = { name, arguments: input };
    if (isModern)
        request._meta = { [LOG_LEVEL_META_KEY]: 'warning' };
    else
        await client.setLoggingLevel('warning');
    return client.callTool(request);
}

await prove({
    client,
    transport,
    changes,
    connect: () => client.connect(transport),
    agreed: () => client.getNegotiatedProtocolVersion(),
    call: (name, input, options) =>
        client.callTool({ name, arguments: input }, options),
    handle: (method, answer) => client.setRequestHandler(method, answer),
    hear: (method, listener) =>
        client.setNotificationHandler(method, listener),
    listen,
    logged,
    task: null,
}, revision);
