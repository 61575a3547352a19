import { expect } from 'chai';
import type { JsonObject } from '../../../src/core/internal/options.js';
import { CompletionFold } from '../../../src/models/openai/completion-fold.js';
import { expectLinearTime } from '../../support/linear-time.js';
import { chunk } from '../../support/wire-server.js';

type Delta = (at: number) => JsonObject;

const call = (piece: JsonObject): JsonObject => ({ tool_calls: [piece] });
const called = (name: string | undefined, json: string): JsonObject => ({
  function: { name, arguments: json },
});
const detail = (piece: JsonObject): JsonObject => ({
  reasoning_details: [{ type: 'reasoning.text', text: 'x', ...piece }],
});

/** Deltas of which an answer has as many as the server wants. */
const DELTAS: Readonly<Record<string, Delta>> = {
  'tool calls by index': (at) => call({ index: at, id: `c${at}`, ...called('f', '{}') }),
  'tool calls by id': (at) => call({ id: `c${at}`, ...called('f', '{}') }),
  'tool calls without index and id': () => call(called('f', '{}')),
  'tool calls with one id': (at) => call({ index: at, id: 'c', ...called('f', '{}') }),
  'tool calls with one index and id': (at) =>
    call({ index: 0, id: 'c', ...called('f', `{"a":${at}}`) }),
  'pieces that repeat the name': (at) =>
    call({ index: 0, ...called('f', at === 0 ? '{"a":"' : 'xxxx}') }),
  'pieces that repeat name and id': (at) =>
    call({ index: 0, id: 'c', ...called('f', at === 0 ? '{"a":"' : 'xxxx}') }),
  'pieces that repeat the name after a whole object': (at) =>
    call({ index: 0, ...called('f', at === 0 ? '{}' : ' ') }),
  'small calls that repeat after a large one': (at) =>
    call({ index: 0, id: 'c', ...called('f', at === 1 ? `{"a":"${'x'.repeat(50_000)}"}` : '{}') }),
  'calls that get their id later': (at) =>
    call({ id: at % 2 ? `c${at}` : '', ...called('f', '{}') }),
  'details of one index': () => detail({ index: 0 }),
  'details of many indexes': (at) => detail({ index: at }),
  'details of many ids': (at) => detail({ index: 0, id: `d${at}` }),
  'details that are signed': () => detail({ signature: 's' }),
  'details with lists': () => detail({ index: 0, summary: [{ type: 'a' }] }),
  'parts of content': () => ({ content: [{ type: 'image' }] }),
  'texts of content': (at) => ({ content: at === 0 ? [{ type: 'text', text: 'x' }] : 'x' }),
  'thinking in content': () => ({
    content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'x' }] }],
  }),
};

const COUNT = 2_000;

/** Processor time in milliseconds to fold an answer of so many deltas. */
function timeOf(delta: Delta, count: number): number {
  const chunks = Array.from({ length: count }, (_, at) => chunk({ ...delta(at) }));
  const fold = new CompletionFold(() => undefined);
  const { user } = process.cpuUsage();
  for (const event of chunks) fold.addEvent(event);
  fold.addEvent(chunk({}, 'stop'));
  fold.response();
  return (process.cpuUsage().user - user) / 1_000;
}

describe('CompletionFold takes linear time', function () {
  this.timeout(60_000);

  for (const [title, delta] of Object.entries(DELTAS))
    it(`[D53] for ${title}`, () => {
      expectLinearTime((size) => timeOf(delta, size), COUNT);
    });

  it('[D53] for a document of many calls, parts and log probabilities', () => {
    const count = 150_000; // as arguments they exceed the stack
    const list = (value: unknown, length = count): readonly unknown[] =>
      Array.from({ length }, () => value);
    const fold = new CompletionFold(() => undefined);

    fold.addDocument({
      choices: [
        {
          message: {
            tool_calls: list({ id: 'c', ...called('f', '{}') }, 20_000),
            reasoning_details: list({ type: 't', index: 0 }),
            annotations: list({}),
          },
          logprobs: { content: list({}) },
          finish_reason: 'stop',
        },
      ],
    });
    const { message, citations } = fold.response().generations[0] ?? {};

    expect(message?.toolCalls?.at(-1)?.id).to.equal('c_20000');
    expect(citations).to.have.length(count);
  });
});
