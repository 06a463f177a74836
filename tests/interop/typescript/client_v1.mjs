/* client_v1.mjs MODE REVISION COMMAND... - the checks, with version 1. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from
    '@modelcontextprotocol/sdk/client/stdio.js';
import { prove } from './checks.mjs';

const [, revision, command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'typescript-v1', version: '1' });
const transport = new StdioClientTransport({ command, args });

// The transport is told what was agreed on; the client keeps it to itself.
let agreed;
transport.setProtocolVersion = (version) => { agreed = version; };

await prove({
    client,
    transport,
    connect: () => client.connect(transport),
    agreed: () => agreed,
    call: (name, input, options) =>
        client.callTool({ name, arguments: input }, undefined, options),
}, revision);
