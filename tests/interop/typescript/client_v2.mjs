/*
 * client_v2.mjs MODE REVISION SERVER... - the checks, with version 2.
 *
 * MODE is the SDK's own: "legacy" opens with initialize, "auto" asks with
 * server/discover first. SERVER is a command, or the address of a server that
 * is there already.
 */
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from
    '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { prove, reach, watchTools } from './checks.mjs';

const [mode, revision, ...server] = process.argv.slice(2);
const changes = watchTools();
const client = new Client({ name: 'typescript-v2', version: '1' }, {
    listChanged: changes.listChanged,
    versionNegotiation: { mode, probe: { timeoutMs: 10_000 } },
});
const transport = reach(server, StdioClientTransport,
    StreamableHTTPClientTransport, SSEClientTransport);

await prove({
    client,
    transport,
    changes,
    connect: () => client.connect(transport),
    agreed: () => client.getNegotiatedProtocolVersion(),
    call: (name, input, options) =>
        client.callTool({ name, arguments: input }, options),
}, revision);
