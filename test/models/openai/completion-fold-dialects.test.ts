import { expect } from 'chai';
import { type ChatResponse } from '../../../src/index.js';
import { CompletionFold } from '../../../src/models/openai/completion-fold.js';
import type { JsonObject } from '../../../src/core/internal/options.js';

/** A chunk with one choice. */
function chunk(delta: unknown, finishReason?: unknown, more: JsonObject = {}): JsonObject {
  return {
    id: 'c',
    model: 'm',
    choices: [
      { index: 0, delta, ...(finishReason !== undefined && { finish_reason: finishReason }) },
    ],
    ...more,
  };
}

const calls = (...pieces: readonly JsonObject[]): JsonObject => chunk({ tool_calls: pieces });
const STOP = chunk({}, 'stop');

function fold(chunks: readonly JsonObject[]): ChatResponse {
  const folded = new CompletionFold(() => undefined);
  for (const one of chunks) folded.addEvent(one);
  return folded.response();
}

function callsOf(chunks: readonly JsonObject[]): readonly (readonly string[])[] {
  return (fold(chunks).message.toolCalls ?? []).map(({ id, name, arguments: text }) => [
    id,
    name,
    text,
  ]);
}

describe('dialects of streams', () => {
  const START = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } };
  const dialects: readonly (readonly [
    title: string,
    chunks: readonly JsonObject[],
    expected: readonly (readonly string[])[],
  ])[] = [
    [
      'OpenAI: id and name first, then pieces [OAI-01]',
      [
        calls(START),
        calls({ index: 0, function: { arguments: '{"x"' } }),
        calls({ index: 0, function: { arguments: ':1}' } }),
      ],
      [['a', 'f', '{"x":1}']],
    ],
    [
      'interleaved parallel calls [OAI-03]',
      [
        calls(START, { ...START, index: 1, id: 'b', function: { name: 'g', arguments: '' } }),
        calls({ index: 1, function: { arguments: '{"y"' } }),
        calls({ index: 0, function: { arguments: '{}' } }),
        calls({ index: 1, function: { arguments: ':2}' } }),
      ],
      [['a', 'f', '{}'], ['b', 'g', '{"y":2}']], // prettier-ignore
    ],
    [
      'Mistral: whole calls without index, in one chunk [OAI-04]',
      [
        calls(
          { id: 'a', function: { name: 'f', arguments: '{"x":1}' } },
          { id: 'b', function: { name: 'f', arguments: '{"x":2}' } },
        ),
      ],
      [['a', 'f', '{"x":1}'], ['b', 'f', '{"x":2}']], // prettier-ignore
    ],
    [
      'Gemini: whole calls, every index 0, no ids',
      [calls({ index: 0, id: '', function: { name: 'f', arguments: '{"x":1}' } }), calls({ index: 0, id: '', function: { name: 'f', arguments: '{"x":2}' } })], // prettier-ignore
      [['call_1', 'f', '{"x":1}'], ['call_2', 'f', '{"x":2}']], // prettier-ignore
    ],
    [
      'Gemini: whole calls, neither index nor id',
      [
        calls({ function: { name: 'f', arguments: '{"x":1}' } }),
        calls({ function: { name: 'g', arguments: '{"x":2}' } }),
      ],
      [['call_1', 'f', '{"x":1}'], ['call_2', 'g', '{"x":2}']], // prettier-ignore
    ],
    [
      'every index 0, but ids',
      [
        calls({ ...START, function: { name: 'f', arguments: '{}' } }),
        calls({ ...START, id: 'b', function: { name: 'f', arguments: '{}' } }),
      ],
      [['a', 'f', '{}'], ['b', 'f', '{}']], // prettier-ignore
    ],
    [
      'Alibaba: an empty id in later pieces',
      [calls(START), calls({ index: 0, id: '', function: { arguments: '{}' } })],
      [['a', 'f', '{}']],
    ],
    [
      'zai: an empty name in later pieces',
      [calls(START), calls({ index: 0, function: { name: '', arguments: '{}' } })],
      [['a', 'f', '{}']],
    ],
    [
      'id and name repeated in every piece',
      [
        calls(START),
        calls({ ...START, function: { name: 'f', arguments: '{"x"' } }),
        calls({ ...START, function: { name: 'f', arguments: ':1}' } }),
      ],
      [['a', 'f', '{"x":1}']],
    ],
    [
      'a whole call, sent twice [D45]',
      [
        calls({ ...START, function: { name: 'f', arguments: '{"x":1}' } }),
        calls({ ...START, function: { name: 'f', arguments: '{"x":1}' } }),
      ],
      [['a', 'f', '{"x":1}']],
    ],
    [
      'arguments as an object, sent twice [D45]',
      [
        calls({ ...START, function: { name: 'f', arguments: { x: 1 } } }),
        calls({ ...START, function: { name: 'f', arguments: { x: 1 } } }),
      ],
      [['a', 'f', '{"x":1}']],
    ],
    [
      'arguments as an object',
      [calls({ ...START, function: { name: 'f', arguments: { x: 1 } } })],
      [['a', 'f', '{"x":1}']],
    ],
    [
      'no arguments at all [OAI-05]',
      [
        calls({ ...START, function: { name: 'f' } }),
        calls({ index: 0, function: { arguments: null } }),
      ],
      [['a', 'f', '']],
    ],
    [
      'no type',
      [calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } })],
      [['a', 'f', '{}']],
    ],
    [
      'a gap in the indexes',
      [calls({ ...START, index: 3, function: { name: 'f', arguments: '{}' } })],
      [['a', 'f', '{}']],
    ],
    [
      'id, name and arguments in separate chunks [OAI-06]',
      [
        calls({ index: 0, id: 'a', type: 'function', function: {} }),
        calls({ index: 0, function: { name: 'f' } }),
        calls({ index: 0, function: { arguments: '{}' } }),
      ],
      [['a', 'f', '{}']],
    ],
    ['custom tools beside functions', [calls({ index: 0, id: 'x', type: 'custom', custom: { name: 'c', input: '' } }, { ...START, index: 1 })], [['a', 'f', '']]], // prettier-ignore
  ];
  for (const [title, chunks, expected] of dialects) {
    it(`[F39] joins tool calls: ${title}`, () => {
      expect(callsOf([...chunks, chunk({}, 'tool_calls')])).to.deep.equal(expected);
    });
  }

  const report = (tokens: number): JsonObject => ({
    prompt_tokens: 5,
    completion_tokens: tokens,
    total_tokens: 5 + tokens,
  });
  const styles: readonly (readonly [title: string, chunks: readonly JsonObject[]])[] = [
    [
      'on a chunk of its own after the finish',
      [chunk({ content: 'a' }), STOP, { choices: [], usage: report(9) }],
    ],
    ['on the finishing chunk', [chunk({ content: 'a' }), chunk({}, 'stop', { usage: report(9) })]],
    [
      'on every chunk, growing (Perplexity)',
      [3, 6, 9].map((n) => chunk({ content: 'a' }, 'stop', { usage: report(n) })),
    ],
    [
      'twice, the same',
      [chunk({ content: 'a' }, 'stop', { usage: report(9) }), { choices: [], usage: report(9) }],
    ],
    ['and then null or nothing in it', [chunk({ content: 'a' }, 'stop', { usage: report(9) }), { choices: [], usage: null }, { choices: [], usage: {} }]], // prettier-ignore
    [
      'in x_groq only',
      [chunk({ content: 'a' }), chunk({}, 'stop', { x_groq: { id: 'r', usage: report(9) } })],
    ],
    [
      'in x_groq of a chunk without choices',
      [chunk({ content: 'a' }), STOP, { choices: [], x_groq: { usage: report(9) } }],
    ],
    [
      'in the choice (Moonshot)',
      [
        {
          choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop', usage: report(9) }],
        },
      ],
    ],
  ];
  for (const [title, chunks] of styles) {
    it(`[F42] reads usage ${title}`, () => {
      expect(fold(chunks).usage).to.deep.equal({
        inputTokens: 5,
        outputTokens: 9,
        totalTokens: 14,
      });
    });
  }

  it('[F42] has no usage if none was reported', () => {
    expect(fold([chunk({ content: 'a' }), STOP]).usage).to.equal(undefined);
  });
});
