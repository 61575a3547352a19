// A model on the loopback, in a process of its own so that its CPU is not counted. Its responses are created once.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ANSWER, CHUNKS, ITERATIONS, TOOL } from './answers.js';

const USAGE = {
  prompt_tokens: 82,
  completion_tokens: 17,
  total_tokens: 99,
  prompt_tokens_details: { cached_tokens: 0 },
};

const argumentsOf = (iteration: number): string =>
  JSON.stringify({ city: 'Paris', unit: 'celsius', step: iteration });
const callOf = (iteration: number, args: string): object => ({
  id: `call_${String(iteration).padStart(4, '0')}abcdefghijklmnopqrst`,
  type: 'function',
  function: { name: TOOL, arguments: args },
});

const completion = (id: string, message: object, reason: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      id,
      object: 'chat.completion',
      created: 1_760_000_000,
      model: 'bench',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', refusal: null, ...message },
          logprobs: null,
          finish_reason: reason,
        },
      ],
      usage: USAGE,
    }),
  );

/** Every piece is a chunk of HTTP of its own, so that the client sees the same pieces whatever the timing. */
function pieces(id: string, deltas: readonly object[], reason: string): Buffer {
  const head = { id, object: 'chat.completion.chunk', created: 1_760_000_000, model: 'bench' };
  const choice = (delta: object, finish: string | null): object => ({
    index: 0,
    delta,
    logprobs: null,
    finish_reason: finish,
  });
  const chunks = [
    ...deltas.map((delta) => ({ ...head, choices: [choice(delta, null)], usage: null })),
    { ...head, choices: [choice({}, reason)], usage: null },
    { ...head, choices: [], usage: USAGE },
  ];
  const frames = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map(
    (data) => `data: ${data}\n\n`,
  );
  return Buffer.from(
    `${frames.map((frame) => `${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`).join('')}0\r\n\r\n`,
  );
}

const split = (text: string, parts: number): string[] => {
  const width = Math.ceil(text.length / parts);
  return Array.from({ length: Math.ceil(text.length / width) }, (_, at) =>
    text.slice(at * width, (at + 1) * width),
  );
};

/** The answer in one piece and in many, for each number of tool results that a request may have. */
function answerTo(
  results: number,
  isLoop: boolean,
): { readonly whole: Buffer; readonly streamed: Buffer } {
  const id = `chatcmpl-B${String(results).padStart(6, '0')}`;
  if (isLoop && results < ITERATIONS) {
    const args = argumentsOf(results);
    const first = {
      role: 'assistant',
      content: null,
      tool_calls: [{ index: 0, ...callOf(results, '') }],
    };
    const others = split(args, 8).map((part) => ({
      tool_calls: [{ index: 0, function: { arguments: part } }],
    }));
    const message = { content: null, tool_calls: [callOf(results, args)] };
    return {
      whole: completion(id, message, 'tool_calls'),
      streamed: pieces(id, [first, ...others], 'tool_calls'),
    };
  }
  const texts = isLoop
    ? split(ANSWER, 16)
    : Array.from({ length: CHUNKS }, (_, at) => ` tok${at % 10}`);
  const deltas = texts.map((content) => ({ content }));
  return {
    whole: completion(id, { content: ANSWER }, 'stop'),
    streamed: pieces(id, deltas, 'stop'),
  };
}

const loop = Array.from({ length: ITERATIONS + 1 }, (_, results) => answerTo(results, true));
const long = answerTo(0, false);

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

/** The request has the tools in the loop only, and a result for each iteration so far. */
function reply(body: string, response: ServerResponse): void {
  const { whole, streamed } = body.includes('"tools":')
    ? (loop[body.split('"role":"tool"').length - 1] ?? long)
    : long;
  if (!body.includes('"stream":true')) {
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length })
      .end(whole);
    return;
  }
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'transfer-encoding': 'chunked',
  });
  response.chunkedEncoding = false; // the pieces have it in them
  response.end(streamed);
}

const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  void bodyOf(request).then((body) => reply(body, response));
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit(0));
