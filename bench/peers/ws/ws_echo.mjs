// ws_echo.mjs - a WebSocket server in Node, with the package ws.
//
//     node ws_echo.mjs PORT          each message back as it came
//     node ws_echo.mjs PORT --json   the tool echo: JSON.parse, JSON.stringify
import { WebSocketServer } from 'ws';
import { answer } from './answer.mjs';

const [port, form] = process.argv.slice(2);

new WebSocketServer({
  host: '127.0.0.1',
  port: Number(port),
  backlog: 4096,
  perMessageDeflate: false,
}).on('connection', (socket) => {
  socket.on('error', () => {});
  socket.on('message', (data) => {
    if (form !== '--json') {
      socket.send(data, { binary: false });
      return;
    }
    const text = answer(data.toString());
    if (text !== '') socket.send(text);
  });
});
