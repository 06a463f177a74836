/*
 * client.mjs URL - what a client may expect of the demo over WebSocket, with
 * the ws package and nothing of MCP.
 *
 * Messages are text here: what comes back is compared byte for byte. One line
 * is printed for each check, "pass NAME" or "fail NAME why", and run.py knows
 * which must appear.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';

const url = process.argv[2];
const PATIENCE = 30_000;
const TOOLS = ['echo', 'add', 'slow', 'fail', 'large'];

class Socket {
    constructor(options = {}) {
        this.ws = new WebSocket(url, ['mcp.v1', 'mcp'], options);
        this.heard = [];
        this.waiting = [];
        this.ws.on('message', (data, binary) => {
            this.heard.push(binary ? data : data.toString());
            this.waiting.splice(0).forEach((wake) => wake());
        });
        this.closed = once(this.ws, 'close');
        this.closed.catch(() => {});
    }

    say(text, options = {}) { this.ws.send(text, options); }

    /* The first message that `wanted` likes, past and future. */
    async hear(wanted) {
        for (;;) {
            const at = this.heard.findIndex(wanted);
            if (at >= 0)
                return this.heard.splice(at, 1)[0];
            await new Promise((wake) => this.waiting.push(wake));
        }
    }

    /* The answer to a request whose id is this token, as text. */
    answer(id) {
        return this.hear((text) =>
            text.startsWith(`{"jsonrpc":"2.0","id":${id},`));
    }

    async ask(id, method, params = '{}', options = {}) {
        this.say(`{"jsonrpc":"2.0","id":${id},"method":"${method}",` +
                 `"params":${params}}`, options);
        return this.answer(id);
    }

    call(id, name, args, options) {
        return this.ask(id, 'tools/call', JSON.stringify(
            { name, arguments: args }), options);
    }
}

async function open(options) {
    const socket = new Socket(options);
    await once(socket.ws, 'open');
    await socket.ask('0', 'initialize', JSON.stringify({
        protocolVersion: '2025-11-25', capabilities: {},
        clientInfo: { name: 'ws', version: '8' } }));
    socket.say('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    return socket;
}

function expect(got, wanted) {
    if (got !== wanted)
        throw new Error(`${String(got).slice(0, 200)} instead of ${wanted}`);
}

const result = (id, text) => `{"jsonrpc":"2.0","id":${id},"result":` +
    `{"content":[{"type":"text","text":${JSON.stringify(text)}}]}}`;

const checks = {
    async subprotocol() {
        const socket = await open();
        expect(socket.ws.protocol, 'mcp.v1');
    },

    async list() {
        const socket = await open();
        const { tools } = JSON.parse(await socket.ask('1', 'tools/list'))
            .result;
        const names = tools.map(({ name }) => name);
        expect(TOOLS.filter((name) => !names.includes(name)).join(), '');
    },

    async strings() {
        const socket = await open();
        for (const id of ['"a"', '"1"', '"Gr\\u00fc\\u00dfe"', '""'])
            expect(await socket.call(id, 'echo', { text: 'hi' }),
                   result(id, 'hi'));
    },

    async numbers() {
        const socket = await open();
        for (const id of ['9007199254740993', '123456789012345678901234567890',
                          '-1', '18446744073709551615'])
            expect(await socket.call(id, 'echo', { text: 'hi' }),
                   result(id, 'hi'));
    },

    async equal() {
        const two = [await open(), await open()];
        const answers = await Promise.all(two.flatMap((socket, which) =>
            [...Array(20).keys()].map((n) => socket.call(
                String(n + 1), 'echo', { text: `${which}: ${n}` }))));
        answers.forEach((answer, at) => expect(answer, result(
            at % 20 + 1, `${Math.floor(at / 20)}: ${at % 20}`)));
    },

    async progress() {
        const socket = await open();
        const answer = await socket.ask('1', 'tools/call', JSON.stringify({
            name: 'slow', arguments: { steps: 5, delay_ms: 10 },
            _meta: { progressToken: 'p' } }));
        expect(JSON.parse(answer).result.content[0].text.includes('5 steps'),
               true);
        const told = socket.heard.map((text) => JSON.parse(text).params);
        expect(told.map(({ progress }) => progress).join(), '1,2,3,4,5');
        expect(told.every((one) => one.progressToken === 'p'), true);
    },

    async cancel() {
        const socket = await open();
        const answered = socket.ask('1', 'tools/call', JSON.stringify({
            name: 'slow', arguments: { steps: 1000, delay_ms: 20 },
            _meta: { progressToken: 'p' } }));
        answered.catch(() => {});
        await socket.hear((text) => text.includes('"progress":1'));
        socket.say('{"jsonrpc":"2.0","method":"notifications/cancelled",' +
                   '"params":{"requestId":1}}');
        expect(await socket.call('2', 'echo', { text: 'still there' }),
               result('2', 'still there'));
        const before = socket.heard.length;
        await sleep(300);
        expect(socket.heard.length, before);
    },

    async fragments() {
        const socket = await open({ perMessageDeflate: false });
        const text = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' +
            '{"name":"echo","arguments":{"text":"Gr\u00fc\u00dfe"}}}';
        const bytes = Buffer.from(text);
        for (let at = 0; at < bytes.length; at++) { /* cut within characters */
            if (at % 10 === 5)
                socket.ws.ping('between');
            socket.ws.send(bytes.subarray(at, at + 1),
                           { binary: false, fin: at === bytes.length - 1 });
        }
        expect(await socket.answer('1'), result('1', 'Gr\u00fc\u00dfe'));
    },

    async packed() {
        const socket = await open({ perMessageDeflate: { threshold: 0 } });
        expect(socket.ws.extensions.startsWith('permessage-deflate'), true);
        for (const size of [0, 1, 100, 5000, 200_000])
            expect(await socket.call(String(size), 'echo',
                                     { text: 'x'.repeat(size) }),
                   result(size, 'x'.repeat(size)));
    },

    async plain() {
        const socket = await open({ perMessageDeflate: false });
        expect(socket.ws.extensions, '');
        expect(await socket.call('1', 'echo', { text: 'y'.repeat(200_000) }),
               result('1', 'y'.repeat(200_000)));
    },

    async large() {
        const socket = await open();
        const answer = JSON.parse(await socket.call('1', 'large',
                                                    { bytes: 5_000_000 }));
        expect(answer.result.content[0].text.length, 5_000_000);
    },

    async ping() {
        const socket = await open();
        socket.ws.ping('are you?');
        const [payload] = await once(socket.ws, 'pong');
        expect(payload.toString(), 'are you?');
    },

    async pinged() {
        const socket = await open();
        await once(socket.ws, 'ping'); /* and ws answers it by itself */
        await once(socket.ws, 'ping');
        expect(await socket.ask('1', 'ping'),
               '{"jsonrpc":"2.0","id":1,"result":{}}');
    },

    async binary() {
        const socket = await open();
        socket.ws.send(Buffer.from('{}'), { binary: true });
        const [code] = await socket.closed;
        expect(code, 1003);
    },

    async close() {
        const socket = await open();
        socket.ws.close(1000, 'done');
        const [code] = await socket.closed;
        expect(code, 1000);
    },
};

for (const [name, check] of Object.entries(checks)) {
    try {
        const late = sleep(PATIENCE, null, { ref: false }).then(() => {
            throw new Error('not done in time');
        });
        await Promise.race([check(), late]);
        console.log(`pass ${name}`);
    } catch (error) {
        console.error(error);
        console.log(`fail ${name} ${String(error.message).split('\n')[0]}`);
    }
}
process.exit(0);
