// sdk_v1.mjs - the tool echo over HTTP with version 1 of the TypeScript SDK:
// sessions of 2025-11-25, one server and one transport for each.
//
//     node sdk_v1.mjs PORT          answers as event streams, its default
//     node sdk_v1.mjs PORT --json   answers as JSON
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from
    '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const [port, form] = process.argv.slice(2);
const sessions = new Map();

async function open() {
  const server = new McpServer({ name: 'typescript-v1', version: '1' });
  server.registerTool('echo',
    { description: 'echo', inputSchema: { text: z.string() } },
    async ({ text }) => ({ content: [{ type: 'text', text }] }));
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: form === '--json',
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  await server.connect(transport);
  return transport;
}

createServer({ noDelay: true }, async (request, response) => {
  const id = request.headers['mcp-session-id'];
  const transport = id === undefined ? await open() : sessions.get(id);
  if (transport === undefined) response.writeHead(404).end();
  else await transport.handleRequest(request, response);
}).listen({ host: '127.0.0.1', port: Number(port), backlog: 4096 });
