// node_echo.mjs - the same echo in Node, for context: a hand-written server
// that frames lines and uses JSON.parse and JSON.stringify, and no SDK.
//
//     node node_echo.mjs --tcp PORT
//     node node_echo.mjs --stdio
//
// The answers to one read leave in one write, as fairlead's do.
import { createServer } from 'node:net';

const info = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'node-echo', version: '1' },
};

function answer(line) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return '';
  const result = method === 'initialize'
    ? info
    : { content: [{ type: 'text', text: params.arguments.text }] };
  return JSON.stringify({ jsonrpc: '2.0', id, result }) + '\n';
}

function serve(input, output) {
  let rest = '';
  input.setEncoding('utf8');
  input.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    const answers = lines.map(answer).join('');
    if (answers !== '') output.write(answers);
  });
  input.on('error', () => {});
}

const [mode, port] = process.argv.slice(2);
if (mode === '--tcp') {
  createServer({ noDelay: true }, (socket) => serve(socket, socket))
    .listen({ host: '127.0.0.1', port: Number(port), backlog: 4096 });
} else {
  serve(process.stdin, process.stdout);
}
