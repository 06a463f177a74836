// sdk_v2.mjs - the tool echo over HTTP with version 2 of the TypeScript SDK:
// its handler for 2026-07-28, which makes a server for each request and
// answers as JSON unless something is said before the answer.
//
//     node sdk_v2.mjs PORT
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { z } from 'zod';

const inputSchema = z.object({ text: z.string() });

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'typescript-v2', version: '1' });
  server.registerTool('echo', { description: 'echo', inputSchema },
    async ({ text }) => ({ content: [{ type: 'text', text }] }));
  return server;
});

createServer({ noDelay: true }, toNodeHandler(handler))
  .listen({ host: '127.0.0.1', port: Number(process.argv[2]), backlog: 4096 });
