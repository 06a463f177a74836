/*
 * server_v1.mjs [PORT] - the demo's tools, with version 1 of the SDK.
 *
 * On stdio; or with a port, at /mcp and, as was usual in 2024, at /sse.
 */
import { InMemoryTaskMessageQueue, InMemoryTaskStore } from
    '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { completable } from
    '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer, ResourceTemplate } from
    '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from
    '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from
    '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { addOffers } from './offers.mjs';
import { serveHttp } from './sessions.mjs';
import { addTools, addVault } from './tools.mjs';

const ANSWERS = {
    'elicitation/create': types.ElicitResultSchema,
    'sampling/createMessage': types.CreateMessageResultSchema,
    'roots/list': types.ListRootsResultSchema,
};

/* The SDK's own way puts it on the session's stream, where it may come after
 * the result; this one keeps it with its request. */
async function log({ server }, context, level, data) {
    if (!server.isMessageIgnored(level, context.sessionId))
        await context.sendNotification({
            method: 'notifications/message',
            params: { level, logger: 'demo', data },
        });
}

const sdk = {
    ResourceTemplate,
    completable,
    log,
    ask: async (context, key, method, params) => ({
        answer: await context.sendRequest(
            { method, params }, ANSWERS[method]),
    }),
    updated: (server, uri) => server.server.sendResourceUpdated({ uri }),
};

/* Whoever is connected is told of all changes: there is but one resource. */
function takeSubscriptions({ server }) {
    for (const schema of
        [types.SubscribeRequestSchema, types.UnsubscribeRequestSchema])
        server.setRequestHandler(schema, async () => ({}));
}

/* A tool that is a task whenever it is called. */
function addErrand(server) {
    server.experimental.tasks.registerToolTask('errand', {
        description: 'errand', inputSchema: { where: z.string() },
        execution: { taskSupport: 'required' },
    }, {
        async createTask({ where }, { taskStore }) {
            const task = await taskStore.createTask(
                { ttl: 60_000, pollInterval: 20 });
            setTimeout(() => taskStore.storeTaskResult(task.taskId,
                'completed',
                { content: [{ type: 'text', text: `been to ${where}` }] }), 30);
            return { task };
        },
        getTask: (_, { taskId, taskStore }) => taskStore.getTask(taskId),
        getTaskResult: (_, { taskId, taskStore }) =>
            taskStore.getTaskResult(taskId),
    });
}

const taskStore = new InMemoryTaskStore();
const taskMessageQueue = new InMemoryTaskMessageQueue();

function make() {
    const server = new McpServer({ name: 'typescript-v1', version: '1' }, {
        capabilities: {
            logging: {},
            resources: { subscribe: true },
            tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
        },
        taskStore,
        taskMessageQueue,
    });
    addOffers(server, sdk);
    takeSubscriptions(server);
    addErrand(server);
    addTools(server, {
        tokenOf: (context) => context._meta?.progressToken,
        notify: (context, params) => context.sendNotification(
            { method: 'notifications/progress', params }),
        unlocked: addVault, // which tells the session
    });
    return server;
}

const port = process.argv[2];
if (port)
    serveHttp(port, make, StreamableHTTPServerTransport, SSEServerTransport);
else
    await make().connect(new StdioServerTransport());
