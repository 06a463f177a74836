/*
 * features.mjs - what the demo server offers besides tools, and what it asks.
 *
 * More checks for checks.mjs, on the same `peer`, which for these needs
 *   handle(method, answer)  answers what the server asks
 *   hear(method, listener)  is told what the server tells
 *   listen(uri)             subscribes; resolves to what ends it
 *   logged(name, input)     calls a tool, with its log from "warning" on
 *   task(name, input)       { created, result } of a call made a task;
 *                           null: this SDK has no tasks
 */
import assert from 'node:assert/strict';

const textOf = (result) => result.content[0].text;

const NAMES = ['Ada', 'Alan'];
const ROOT = { uri: 'file:///srv/interop', name: 'interop' };

export const CAPABILITIES = {
    elicitation: { form: {} }, sampling: {}, roots: {},
};

async function invalid({ call }) {
    const result = await call('add', { a: 'two', b: 3 });
    assert.equal(result.isError, true);
}

async function resources({ client }) {
    const { resources } = await client.listResources();
    assert.deepEqual(resources.map((one) => one.uri).sort(),
        ['demo://hello', 'demo://pixel', 'demo://time']);
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.deepEqual(resourceTemplates.map((one) => one.uriTemplate),
        ['demo://greeting/{name}']);
}

async function readText({ client }) {
    const { contents } = await client.readResource({ uri: 'demo://hello' });
    assert.equal(contents[0].text, 'Hello from fairlead.\n');
    assert.equal(contents[0].mimeType, 'text/plain');
}

async function readBytes({ client }) {
    const { contents } = await client.readResource({ uri: 'demo://pixel' });
    const bytes = Buffer.from(contents[0].blob, 'base64');
    assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
    assert.equal(bytes.subarray(-8, -4).toString(), 'IEND');
}

async function readTemplate({ client }) {
    const uri = 'demo://greeting/Ada%20L';
    const { contents } = await client.readResource({ uri });
    assert.equal(contents[0].text, 'Hello, Ada L!');
    assert.equal(contents[0].uri, uri);
}

/* Of old this had a code of its own; version 2 of the SDK hides that, so it is
 * looked for on the wire. */
async function readMissing({ client, heard, revision }) {
    const from = heard.length;
    await assert.rejects(client.readResource({ uri: 'demo://nothing' }));
    const refused = heard.slice(from).find((message) => message.error);
    assert.equal(refused?.error.code, revision < '2026' ? -32002 : -32602);
}

async function subscribe({ call, hear, listen }) {
    const told = new Promise((resolve) =>
        hear('notifications/resources/updated', resolve));
    const leave = await listen('demo://time');
    await call('tick', {});
    assert.equal((await told).params.uri, 'demo://time');
    await leave();
}

async function prompts({ client }) {
    const { prompts } = await client.listPrompts();
    assert.deepEqual(prompts.map((one) => one.name), ['greeting']);
    assert.deepEqual(
        prompts[0].arguments.map((one) => [one.name, one.required ?? false]),
        [['name', true], ['style', false]]);
}

async function prompt({ client }) {
    const { messages } = await client.getPrompt({
        name: 'greeting', arguments: { name: 'Ada', style: 'formal' },
    });
    assert.deepEqual(messages.map((one) => [one.role, one.content.type]),
        [['user', 'text'], ['user', 'resource'], ['assistant', 'text']]);
    assert.equal(messages[0].content.text,
        'Greet Ada, and mind your manners.');
}

async function complete({ client }) {
    const refs = [{ type: 'ref/prompt', name: 'greeting' },
        { type: 'ref/resource', uri: 'demo://greeting/{name}' }];
    for (const ref of refs) {
        const { completion } = await client.complete(
            { ref, argument: { name: 'name', value: 'A' } });
        assert.deepEqual(completion.values, NAMES);
    }
}

/* The tool says something at "debug", too, which must not come. */
async function log({ hear, logged }) {
    const lines = [];
    hear('notifications/message', ({ params }) => lines.push(params));
    assert.equal(textOf(await logged('note', { text: 'careful' })), 'noted');
    assert.deepEqual(lines.map((one) => [one.level, one.logger, one.data]),
        [['warning', 'demo', 'careful']]);
}

async function accept({ call, handle }) {
    let asked;
    handle('elicitation/create', async ({ params }) => {
        asked = params;
        return { action: 'accept', content: { name: 'Ada', age: 36 } };
    });
    assert.equal(textOf(await call('ask', {})), 'Hello, Ada!');
    assert.equal(asked.message, 'Who are you?');
    assert.deepEqual(asked.requestedSchema.required, ['name']);
}

async function decline({ call, handle }) {
    handle('elicitation/create', async () => ({ action: 'decline' }));
    assert.equal(textOf(await call('ask', {})), 'As you like.');
}

async function sample({ call, handle }) {
    handle('sampling/createMessage', async ({ params }) => ({
        role: 'assistant', model: 'parrot', stopReason: 'endTurn',
        content: {
            type: 'text', text: `${[params.messages[0].content].flat()[0].text}!`,
        },
    }));
    const result = await call('consult', { question: 'Who is there' });
    assert.equal(textOf(result), 'Who is there!');
}

async function roots({ call, handle }) {
    handle('roots/list', async () => ({ roots: [ROOT] }));
    const result = await call('roots', {});
    assert.equal(textOf(result), '1 roots');
    assert.deepEqual(result.structuredContent, { roots: [ROOT] });
}

async function task(peer) {
    const { created, result } = await peer.task(
        'slow', { steps: 2, delay_ms: 10 });
    assert.ok(created?.taskId, 'it was no task');
    assert.match(textOf(result), /2 steps/);
}

export const features = {
    invalid, resources, 'read-text': readText, 'read-bytes': readBytes,
    'read-template': readTemplate, 'read-missing': readMissing, subscribe,
    prompts, prompt, complete, log, accept, decline, sample, roots, task,
};

/* What the SDK cannot do, by the name of the check. */
export function lacking(peer) {
    return peer.task ? {} : { task: 'this SDK has no tasks' };
}
