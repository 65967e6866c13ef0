// A hostile model server: the first part of the path says what it does. Prints its port.
import { createServer } from 'node:http';

const event = (delta) =>
  `data: ${JSON.stringify({ id: 'r', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
/** Writes a text without end, until the host has had enough. */
const forever = (response, text) => {
  const more = () => {
    while (!response.destroyed && response.write(text));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
};

const DEEDS = {
  silent: () => {},
  endless: (response) => forever(response, event({ content: 'x'.repeat(1000) })),
  line: (response) => forever(response, 'x'.repeat(65_536)),
  empty: (response) => forever(response, '\n'.repeat(65_536)),
  brackets: (response) => response.end(`data: ${'['.repeat(500_000)}\n\n`),
  shape: (response) => response.end('data: {"choices": "many"}\n\ndata: [DONE]\n\n'),
  pieces: (response) => {
    for (let n = 0; n < 20_000; n++) response.write(event({ content: 'x' }));
    response.end();
  },
  cut: (response) => {
    response.write(event({ content: 'x' }));
    setImmediate(() => response.destroy());
  },
  elsewhere: (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  refusal: (response) => response.writeHead(400).end('e'.repeat(1_000_000)),
};

const server = createServer((request, response) => {
  request.resume();
  const deed = DEEDS[request.url.split('/')[1]];
  if (deed !== DEEDS.elsewhere && deed !== DEEDS.refusal) response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.on('error', () => {});
  deed(response);
});
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`${JSON.stringify({ port: server.address().port, deeds: Object.keys(DEEDS) })}\n`),
);
process.stdin.resume().on('end', () => process.exit(0));
