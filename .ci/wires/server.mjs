// A server that speaks every wire, in a process of its own. The first part of the path names the wire; the text `long answer`
// in a request asks for 2,000 chunks at once, anything else for a call of a tool, and the result of the tool for a text.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { WIRES } from './formats.mjs';

export const CHUNKS = 2_000;
const LONG = Array.from({ length: CHUNKS }, (_, at) => `wörd ${at} `);
const answers = {
  call: {},
  text: { pieces: ['In Zürich it is sunny, ', '24 °C.'] },
  short: { pieces: ['short'] },
  long: { pieces: LONG },
};

/** The bodies of a wire, written once: events of a stream, and a document. */
function bodiesOf({ streamed, document }) {
  const entries = Object.entries(answers).map(([name, answer]) => [
    name,
    {
      streamed: streamed(answer).map((event) => Buffer.from(event)),
      document: JSON.stringify(document(answer)),
    },
  ]);
  return Object.fromEntries(entries);
}
const bodies = Object.fromEntries(
  Object.entries(WIRES).map(([name, wire]) => [name, bodiesOf(wire)]),
);

function kindOf(body) {
  if (body.includes('long answer')) return 'long';
  if (body.includes('short answer')) return 'short';
  return body.includes('24 °C') ? 'text' : 'call';
}

async function reply(request, response) {
  const [, name] = request.url.split('/');
  const body = await text(request);
  const isStream = JSON.parse(body).stream === true || request.url.includes('stream');
  const { streamed, document } = bodies[name][kindOf(body)];
  response.writeHead(200, { 'content-type': isStream ? WIRES[name].type : 'application/json' });
  if (!isStream) return response.end(document);
  // an HTTP chunk for each event, as servers send them; corked at the socket, since `response.cork()` of Node.js 22 ends the body too early
  const { socket } = response;
  socket.cork();
  for (const event of streamed) response.write(event);
  response.end();
  socket.uncork();
}

const server = createServer((request, response) => void reply(request, response));
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${server.address().port}`));
process.on('disconnect', () => process.exit(0));
