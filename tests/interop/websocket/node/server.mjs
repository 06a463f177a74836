/*
 * server.mjs PORT packed|plain - the demo's tools, with the ws package and as
 * much of MCP as they need.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocketServer } from 'ws';

const [port, packing] = process.argv.slice(2);
let open = false, stopped = 0;

const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });

const tools = {
    echo: ({ text: value }) => text(value),
    add: ({ a, b }) => text(a + b),
    large: ({ bytes }) => text('x'.repeat(bytes)),
    fail: ({ message }) => ({ ...text(message), isError: true }),
    stopped: () => text(`${stopped} stopped`),
    unlock: (_, { notify }) => {
        open = true;
        notify('notifications/tools/list_changed', {});
        return text('unlocked');
    },
    slow: async ({ steps, delay_ms }, { signal, token, notify }) => {
        for (let step = 1; step <= steps; step++) {
            await sleep(delay_ms, null, { signal })
                .catch((abort) => { stopped++; throw abort; });
            if (token !== undefined)
                notify('notifications/progress',
                       { progressToken: token, progress: step, total: steps });
        }
        return text(`${steps} steps`);
    },
};

const methods = {
    initialize: ({ protocolVersion }) => ({
        protocolVersion, capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'ws', version: '8' } }),
    ping: () => ({}),
    'tools/list': () => ({
        tools: [...Object.keys(tools), ...(open ? ['vault'] : [])].map(
            (name) => ({ name, inputSchema: { type: 'object' } })) }),
    'tools/call': ({ name, arguments: given, _meta }, more) => {
        if (!Object.hasOwn(tools, name))
            throw Object.assign(new Error(`no tool ${name}`), { code: -32602 });
        return tools[name](given ?? {}, { ...more,
                                          token: _meta?.progressToken });
    },
};

const server = new WebSocketServer({
    host: '127.0.0.1', port: Number(port),
    perMessageDeflate: packing === 'packed' && { threshold: 0 },
    handleProtocols: (offered) =>
        ['mcp', 'mcp.v1'].find((name) => offered.has(name)) ?? false,
});

server.on('connection', (ws) => {
    if ((packing === 'packed') !== (ws.extensions !== ''))
        ws.close(1008, `not ${packing}: ${ws.extensions}`);
    const running = new Map();
    const say = (message) => ws.send(
        JSON.stringify({ jsonrpc: '2.0', ...message }));
    const notify = (method, params) => say({ method, params });

    ws.on('message', async (data) => {
        const { id, method, params = {} } = JSON.parse(data);
        if (method === 'notifications/cancelled')
            running.get(params.requestId)?.abort();
        if (id === undefined)
            return;
        const abort = new AbortController();
        running.set(id, abort);
        try {
            if (!Object.hasOwn(methods, method))
                throw Object.assign(new Error('not known'), { code: -32601 });
            say({ id, result: await methods[method](
                params, { signal: abort.signal, notify }) });
        } catch ({ code, message }) {
            if (!abort.signal.aborted)
                say({ id, error: { code: Number(code) || -32603, message } });
        }
        running.delete(id);
    });
});
