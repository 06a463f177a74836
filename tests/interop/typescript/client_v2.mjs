/*
 * client_v2.mjs MODE REVISION COMMAND... - the checks, with version 2.
 *
 * MODE is the SDK's own: "legacy" opens with initialize, "auto" asks with
 * server/discover first.
 */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { prove } from './checks.mjs';

const [mode, revision, command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'typescript-v2', version: '1' },
    { versionNegotiation: { mode, probe: { timeoutMs: 10_000 } } });
const transport = new StdioClientTransport({ command, args });

await prove({
    client,
    transport,
    connect: () => client.connect(transport),
    agreed: () => client.getNegotiatedProtocolVersion(),
    call: (name, input, options) =>
        client.callTool({ name, arguments: input }, options),
}, revision);
