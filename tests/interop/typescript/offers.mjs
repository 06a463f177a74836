/*
 * offers.mjs - what the demo server has besides tools that compute: resources,
 * a prompt, and tools that log, ask the client, and tell of a change.
 *
 * For a server of either version; `sdk` has the version's ResourceTemplate and
 * completable, and what they do differently:
 *   log(server, context, level, text)
 *   ask(context, key, method, params)  { answer }, or { more }, which is then
 *                                      the result of the tool
 *   updated(server, uri)               a resource has changed
 */
import { z } from 'zod';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNgAAIAA' +
    'AUAAen63NgAAAAASUVORK5CYII=';
const NAMES = ['Ada', 'Alan', 'Barbara', 'Grace'];
const FORM = {
    type: 'object',
    properties: {
        name: { type: 'string', title: 'Name', default: 'nobody' },
        age: { type: 'integer', title: 'Age', default: 36 },
    },
    required: ['name'],
};

const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const begin = (value) => NAMES.filter((name) => name.startsWith(value));

function addResources(server, { ResourceTemplate }) {
    const plain = { mimeType: 'text/plain' };
    const add = (name, config, content) => server.registerResource(
        name, `demo://${name}`, config,
        async (uri) => ({ contents: [{ uri: uri.href, ...content() }] }));
    add('hello', plain, () => ({ text: 'Hello there.\n' }));
    add('pixel', { mimeType: 'image/png' }, () => ({ blob: PIXEL }));
    add('time', plain, () => ({ text: new Date().toISOString() }));
    server.registerResource('greeting',
        new ResourceTemplate('demo://greeting/{name}',
            { list: undefined, complete: { name: begin } }), plain,
        async (uri, { name }) =>
            ({ contents: [{ uri: uri.href, text: `Hello, ${name}!` }] }));
}

function addPrompt(server, { completable }) {
    server.registerPrompt('greeting', {
        description: 'greeting',
        argsSchema: {
            name: completable(z.string(), begin),
            style: z.string().optional(),
        },
    }, ({ name }) => ({
        messages: [
            { role: 'user', content: { type: 'text', text: `Greet ${name}.` } },
            { role: 'assistant', content: { type: 'text', text: 'Gladly.' } },
        ],
    }));
}

function addQuestions(server, { ask }) {
    const tool = (name, shape, method, paramsOf, answerOf) =>
        server.registerTool(name,
            { description: name, inputSchema: z.object(shape) },
            async (input, context) => {
                const { answer, more } =
                    await ask(context, name, method, paramsOf(input));
                return more ?? text(answerOf(answer));
            });

    tool('ask', {}, 'elicitation/create',
        () => ({
            mode: 'form', message: 'Who are you?', requestedSchema: FORM,
        }),
        ({ action, content }) => action === 'accept'
            ? `Hello, ${content.name}, ${content.age}!` : action);
    tool('consult', { question: z.string() }, 'sampling/createMessage',
        ({ question }) => ({
            maxTokens: 100,
            messages: [{
                role: 'user', content: { type: 'text', text: question },
            }],
        }),
        ({ content }) => [content].flat()[0].text);
    tool('roots', {}, 'roots/list', () => undefined,
        ({ roots }) => roots.map((root) => root.uri).join(' '));
}

export function addOffers(server, sdk) {
    addResources(server, sdk);
    addPrompt(server, sdk);
    addQuestions(server, sdk);
    server.registerTool('note',
        { description: 'note', inputSchema: z.object({ text: z.string() }) },
        async (input, context) => {
            await sdk.log(server, context, 'debug', 'a note');
            await sdk.log(server, context, 'warning', input.text);
            return text('noted');
        });
    server.registerTool('tick',
        { description: 'tick', inputSchema: z.object({}) },
        async () => {
            await sdk.updated(server, 'demo://time');
            return text('tock');
        });
}
