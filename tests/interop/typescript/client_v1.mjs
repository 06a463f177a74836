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
import * as types from '@modelcontextprotocol/sdk/types.js';
import { prove, reach, watchTools } from './checks.mjs';
import { CAPABILITIES } from './features.mjs';

// This version knows methods by their schemas.
const SCHEMAS = {
    'elicitation/create': types.ElicitRequestSchema,
    'sampling/createMessage': types.CreateMessageRequestSchema,
    'roots/list': types.ListRootsRequestSchema,
    'notifications/message': types.LoggingMessageNotificationSchema,
    'notifications/resources/updated': types.ResourceUpdatedNotificationSchema,
};

const [, revision, ...server] = process.argv.slice(2);
const changes = watchTools();
const client = new Client({ name: 'typescript-v1', version: '1' },
    { listChanged: changes.listChanged, capabilities: CAPABILITIES });
const transport = reach(server, StdioClientTransport,
    StreamableHTTPClientTransport, SSEClientTransport);

// The transport is told what was agreed on; the client keeps it to itself.
let agreed;
const heed = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => {
    agreed = version;
    heed?.(version);
};

const call = (name, input, options) =>
    client.callTool({ name, arguments: input }, undefined, options);

async function listen(uri) {
    await client.subscribeResource({ uri });
    return () => client.unsubscribeResource({ uri });
}

async function logged(name, input) {
    await client.setLoggingLevel('warning');
    return call(name, input);
}

async function task(name, input) {
    const outcome = {};
    const stream = client.experimental.tasks.callToolStream(
        { name, arguments: input }, undefined, { task: { ttl: 60_000 } });
    for await (const event of stream) {
        if (event.type === 'error')
            throw event.error;
        if (event.type === 'taskCreated')
            outcome.created = event.task;
        if (event.type === 'result')
            outcome.result = event.result;
    }
    return outcome;
}

await prove({
    client,
    transport,
    changes,
    connect: () => client.connect(transport),
    agreed: () => agreed,
    call,
    handle: (method, answer) =>
        client.setRequestHandler(SCHEMAS[method], answer),
    hear: (method, listener) =>
        client.setNotificationHandler(SCHEMAS[method], listener),
    listen,
    logged,
    task,
}, revision);
