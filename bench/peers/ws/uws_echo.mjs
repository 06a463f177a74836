// uws_echo.mjs - a WebSocket server in Node, with uWebSockets.js.
//
//     node uws_echo.mjs PORT          each message back as it came
//     node uws_echo.mjs PORT --json   the tool echo: JSON.parse, JSON.stringify
import { App } from 'uWebSockets.js';
import { answer } from './answer.mjs';

const [port, form] = process.argv.slice(2);

App().ws('/*', {
  maxPayloadLength: 16 * 1024 * 1024,
  message: (socket, data) => {
    if (form !== '--json') {
      socket.send(data, false);
      return;
    }
    const text = answer(Buffer.from(data).toString());
    if (text !== '') socket.send(text, false);
  },
}).listen('127.0.0.1', Number(port), () => {});
