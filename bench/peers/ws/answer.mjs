// answer.mjs - what a hand-written MCP server with the tool echo answers; ''
// to a notification.
const info = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'node-ws', version: '1' },
};

export function answer(message) {
  const { id, method, params } = JSON.parse(message);
  if (id === undefined) return '';
  const result = method === 'initialize'
    ? info
    : { content: [{ type: 'text', text: params.arguments.text }] };
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}
