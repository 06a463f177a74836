/*
 * client_v1.mjs MODE REVISION SERVER... - the checks, with version 1.
 *
 * SERVER is a command, or the address of a server that is there already.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from
    '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from
    '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { prove, reach, watchTools } from './checks.mjs';

const [, revision, ...server] = process.argv.slice(2);
const changes = watchTools();
const client = new Client({ name: 'typescript-v1', version: '1' },
    { listChanged: changes.listChanged });
const transport = reach(server, StdioClientTransport,
    StreamableHTTPClientTransport, SSEClientTransport);

// The transport is told what was agreed on; the client keeps it to itself.
let agreed;
const heed = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => {
    agreed = version;
    heed?.(version);
};

await prove({
    client,
    transport,
    changes,
    connect: () => client.connect(transport),
    agreed: () => agreed,
    call: (name, input, options) =>
        client.callTool({ name, arguments: input }, undefined, options),
}, revision);
