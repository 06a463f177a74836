/*
 * sessions.mjs - a web server for the sessions of the legacy revisions.
 *
 * Each session has a server and a transport of its own; `make()` makes the
 * one, `Http` and `Sse` are the classes of the other. `handle`, if there is
 * one, sees each request for /mcp first, and decides.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

const atOnce = (request, response, body, serveLegacy) => serveLegacy();

export function serveHttp(port, make, Http, Sse, handle = atOnce) {
    const sessions = new Map();

    async function open() {
        const transport = new Http({
            sessionIdGenerator: randomUUID,
            onsessioninitialized: (id) => sessions.set(id, transport),
        });
        await make().connect(transport);
        return transport;
    }

    async function serveMcp(request, response) {
        const posted = request.method === 'POST';
        const body = posted ? await json(request) : undefined;
        await handle(request, response, body, async () => {
            const id = request.headers['mcp-session-id'];
            const transport = sessions.get(id) ?? await open();
            await transport.handleRequest(request, response, body);
        });
    }

    async function serveSse(request, response, url) {
        const known = sessions.get(url.searchParams.get('sessionId'));
        if (request.method === 'POST')
            return known.handlePostMessage(request, response);
        const transport = new Sse('/sse', response);
        sessions.set(transport.sessionId, transport);
        await make().connect(transport);
    }

    const doors = { '/mcp': serveMcp, ...(Sse && { '/sse': serveSse }) };
    createServer((request, response) => {
        const url = new URL(request.url, 'http://127.0.0.1');
        const serve = doors[url.pathname];
        if (!serve)
            response.writeHead(404).end();
        else
            serve(request, response, url).catch((error) => {
                console.error(error);
                response.destroy();
            });
    }).listen(Number(port), '127.0.0.1');
}
