// The web process: starts turns and runs none.
// POST /conversations/anna/turns with a question answers { "turnId": … }, GET /turns/… the answer.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { DbosTurns } from '../../src/engines/dbos/dbos.js';
import { NAME, settings, turns } from './turns.js';

/** Turns that may wait for a worker. */
const MAX_WAITING = 1000;

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    console.error(error);
    send(response, 500, { error: 'The request failed.' });
  });
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, folder, id = '', rest] = (request.url ?? '').split('/');
  if (request.method === 'POST' && folder === 'conversations' && rest === 'turns')
    return start(decodeURIComponent(id), request, response);
  if (request.method !== 'GET' || folder !== 'turns') return send(response, 404, {});
  const { text: answerText } = await turns.result(decodeURIComponent(id));
  send(response, 200, { answer: answerText });
}

async function start(
  conversationId: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const question = await text(request);
  if (await isFull()) return send(response, 503, { error: 'Too many turns are waiting.' });
  // a client that sends its request again sends the same key, and starts no second turn
  const key = request.headers['idempotency-key'];
  const options = typeof key === 'string' ? { conversationId, turnId: key } : { conversationId };
  send(response, 202, { turnId: await turns.start(question, options) });
}

/** Back-pressure: a queue that grows without a bound answers everyone after minutes. */
async function isFull(): Promise<boolean> {
  const waiting = await DBOS.listQueuedWorkflows({
    queueName: NAME,
    status: 'ENQUEUED',
    limit: MAX_WAITING,
    loadInput: false,
    loadOutput: false,
  });
  return waiting.length >= MAX_WAITING;
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(status === 503 && { 'retry-after': '5' }),
  });
  response.end(JSON.stringify(body));
}

DBOS.setConfig({ ...settings, listenQueues: [] });
await DBOS.launch();
server.listen(Number(process.env['PORT'] ?? 8080), () =>
  console.log(JSON.stringify(server.address())),
);
process.once('SIGTERM', () => {
  // ends when the open requests are answered
  server.close(() => void DbosTurns.drain({ timeLimit: 0 }).then(() => process.exit(0)));
  server.closeIdleConnections();
});
