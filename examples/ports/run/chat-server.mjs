// A server for chat completions that gives scripted answers and keeps what it was asked.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

/**
 * Starts the server.
 * @param answerOf called with the body of each request and the earlier ones; returns `{ text, calls: [[name, arguments], …] }`, or
 *   `{ status }` of an error
 */
export async function startServer(answerOf) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const body = await json(request);
    const answer = { text: '', calls: [], ...answerOf(body, requests) };
    requests.push(body);
    const head = { id: `answer-${requests.length}`, created: 0, model: body.model };
    if (answer.status) return void response.writeHead(answer.status).end();
    response.setHeader('content-type', body.stream ? 'text/event-stream' : 'application/json');
    response.end(body.stream ? eventsOf(head, answer) : documentOf(head, answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${server.address().port}/v1`,
    requests,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };
const finishOf = ({ calls }) => (calls.length > 0 ? 'tool_calls' : 'stop');

function callsOf({ id }, { calls }) {
  return calls.map(([name, args], index) => ({
    index,
    id: `${id}-call-${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
}

function documentOf(head, answer) {
  const { text, calls } = answer;
  const message = {
    role: 'assistant',
    content: text || null,
    ...(calls.length > 0 && { tool_calls: callsOf(head, answer) }),
  };
  const choice = { index: 0, message, finish_reason: finishOf(answer) };
  return JSON.stringify({ ...head, object: 'chat.completion', choices: [choice], usage });
}

/** A text comes word by word, and usage after the last choice. */
function eventsOf(head, answer) {
  const deltas = [
    { role: 'assistant', content: '' },
    ...(answer.text.match(/\S+\s*/g) ?? []).map((content) => ({ content })),
    ...callsOf(head, answer).map((call) => ({ tool_calls: [call] })),
  ];
  const chunks = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: finishOf(answer) }] },
    { choices: [], usage },
  ];
  const object = 'chat.completion.chunk';
  return [
    ...chunks.map((chunk) => `data: ${JSON.stringify({ ...head, object, ...chunk })}\n\n`),
    'data: [DONE]\n\n',
  ].join('');
}
