/*
 * checks.mjs - what a TypeScript client may expect of the demo server.
 *
 * Both major versions of the SDK run these; they differ only in how a client
 * is made and called, which is what `peer` hides. One line is printed for each
 * check, "pass NAME", "fail NAME why" or "skip NAME why", and run.py knows which
 * must appear.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { features, lacking } from './features.mjs';

const PATIENCE_MS = 30_000;
const LEAVE_MS = 1_500; // after two seconds the SDK would kill the server
const TOOLS = ['echo', 'add', 'slow', 'fail', 'large'];
const AWKWARD = 'Grüße, 你好, \u{1F600}, "quoted"\n\\ \u2028 end';

const textOf = (result) => result.content[0].text;

async function list({ client }) {
    const { tools } = await client.listTools();
    const names = tools.map((tool) => tool.name);
    assert.deepEqual(TOOLS.filter((name) => !names.includes(name)), []);
    for (const tool of tools)
        assert.equal(tool.inputSchema.type, 'object');
}

async function echo({ call }) {
    assert.equal(textOf(await call('echo', { text: AWKWARD })), AWKWARD);
}

async function add({ call }) {
    assert.equal(Number(textOf(await call('add', { a: 2, b: 3 }))), 5);
}

/*
 * The SDK drops a progress notification that comes in one chunk with the
 * result, and on a busy machine that may be several. So all five are looked
 * for on the wire, and some in the callback.
 */
async function progress({ call, heard }) {
    const told = [];
    const from = heard.length;
    await call('slow', { steps: 5, delay_ms: 20 },
        { onprogress: (step) => told.push(step.progress) });
    const sent = heard.slice(from)
        .filter((message) => message.method === 'notifications/progress')
        .map((message) => message.params.progress);
    assert.deepEqual(sent, [1, 2, 3, 4, 5]);
    assert.ok(told.length > 0, 'the callback never ran');
}

async function fail({ call }) {
    const result = await call('fail', { message: 'on purpose' });
    assert.equal(result.isError, true);
    assert.match(textOf(result), /on purpose/);
}

async function large({ call }) {
    const text = textOf(await call('large', { bytes: 1_000_000 }));
    assert.equal(text.length, 1_000_000);
}

async function unknown({ call }) {
    await assert.rejects(call('no-such-tool', {}), { code: -32602 });
}

async function together({ call }) {
    const texts = Array.from({ length: 50 }, (_, n) => `number ${n}`);
    const slow = call('slow', { steps: 2, delay_ms: 50 });
    const answers = await Promise.all(
        texts.map((text) => call('echo', { text })));
    assert.deepEqual(answers.map(textOf), texts);
    await slow;
}

/*
 * The abort is ours alone unless the server hears of it. It did if nothing
 * arrives any more once it answered a request sent after the cancellation.
 */
async function cancel({ call, heard }) {
    const abort = new AbortController();
    const endless = call('slow', { steps: 1000, delay_ms: 20 }, {
        signal: abort.signal,
        onprogress: () => abort.abort('enough'),
    });
    await assert.rejects(endless);
    assert.ok(abort.signal.aborted);
    await call('echo', { text: 'still there' });
    const from = heard.length;
    await sleep(300);
    assert.deepEqual(heard.slice(from), []);
}

async function changed({ client, call, changes }) {
    const told = changes.next();
    await call('unlock', {});
    await told;
    const { tools } = await client.listTools();
    assert.ok(tools.some((tool) => tool.name === 'vault'));
}

async function ping({ client }) {
    await client.ping();
}

async function leave({ client, heard }) {
    assert.ok(heard, 'it never came');
    const started = performance.now();
    await client.close();
    const took = performance.now() - started;
    assert.ok(took < LEAVE_MS, `it took ${took.toFixed(0)} ms`);
}

/* Keeps every message that arrives from now on. */
function listenIn(transport) {
    const heard = [];
    const receive = transport.onmessage;
    transport.onmessage = (message, extra) => {
        heard.push(message);
        receive?.(message, extra);
    };
    return heard;
}

function impatient(promise) {
    const late = sleep(PATIENCE_MS, null, { ref: false }).then(() => {
        throw new Error(`no answer in ${PATIENCE_MS} ms`);
    });
    return Promise.race([promise, late]);
}

async function report(name, check) {
    try {
        await impatient(check());
        console.log(`pass ${name}`);
    } catch (error) {
        const why = String(error?.message ?? error).replace(/\s+/g, ' ');
        console.log(`fail ${name} ${why}`);
    }
}

/* The transport for a command, http://... or sse+http://... */
export function reach([first, ...args], Stdio, Http, Sse) {
    if (first.startsWith('sse+'))
        return new Sse(new URL(first.slice('sse+'.length)));
    if (first.startsWith('http'))
        return new Http(new URL(first));
    return new Stdio({ command: first, args });
}

/* What the SDK's clients take for "listChanged", and a way to wait for it. */
export function watchTools() {
    let tell;
    const onChanged = () => tell?.();
    return {
        listChanged: {
            tools: { autoRefresh: false, debounceMs: 0, onChanged },
        },
        next: () => new Promise((resolve) => { tell = resolve; }),
    };
}

/*
 * `peer` is { client, transport, changes, connect(), agreed(),
 * call(tool, arguments, options) }, and what features.mjs needs; `revision` is
 * the one that must be agreed on, and `changes` comes from watchTools().
 */
export async function prove(peer, revision) {
    await report('revision', async () => {
        await peer.connect();
        peer.heard = listenIn(peer.transport);
        assert.equal(peer.agreed(), revision);
    });
    peer.revision = revision;
    const checks = { list, echo, add, progress, fail, large, unknown,
        together, cancel, changed, ...features };
    const lacks = lacking(peer);
    if (revision < '2026')
        checks.ping = ping;
    checks.leave = leave; // last: nothing works after it
    for (const [name, check] of Object.entries(checks))
        if (name in lacks)
            console.log(`skip ${name} ${lacks[name]}`);
        else
            await report(name, () => check(peer));
    process.exit(0);
}
