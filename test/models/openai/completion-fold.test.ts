import { expect } from 'chai';
import { Prompt, type ChatEvent, type ChatResponse } from '../../../src/index.js';
import { CompletionFold } from '../../../src/models/openai/completion-fold.js';
import { toWireRequest } from '../../../src/models/openai/wire.js';
import type { Wire } from '../../../src/models/openai/wire-json.js';

const prompt = new Prompt('hi');

/** A chunk with one choice. */
function chunk(delta: unknown, finishReason?: unknown, more: Wire = {}): Wire {
  return {
    id: 'c',
    model: 'm',
    choices: [{ index: 0, delta, ...(finishReason !== undefined && { finish_reason: finishReason }) }],
    ...more,
  };
}

const calls = (...pieces: readonly Wire[]): Wire => chunk({ tool_calls: pieces });
const STOP = chunk({}, 'stop');

function fold(chunks: readonly Wire[]): {
  readonly response: ChatResponse;
  readonly events: readonly ChatEvent[];
  readonly finished: boolean;
} {
  const events: ChatEvent[] = [];
  const folded = new CompletionFold((event) => events.push(event));
  for (const one of chunks) folded.add(one);
  return { response: folded.response(prompt), events, finished: folded.finished };
}

function callsOf(chunks: readonly Wire[]): readonly (readonly string[])[] {
  return fold(chunks).response.message.toolCalls.map(({ id, name, arguments: text }) => [id, name, text]);
}

describe('CompletionFold', () => {
  it('joins texts and reasoning and says what each chunk adds', () => {
    const { response, events } = fold([
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content: 'h' }),
      chunk({ reasoning_content: 'm' }),
      chunk({ content: 'a' }),
      chunk({ content: 'b' }),
      STOP,
    ]);

    expect(response.message).to.deep.include({ text: 'ab', reasoning: 'hm' });
    expect(response).to.include({ id: 'c', model: 'm', finishReason: 'stop' });
    expect(events).to.deep.equal([
      { type: 'reasoning-delta', text: 'h' },
      { type: 'reasoning-delta', text: 'm' },
      { type: 'text-delta', text: 'a' },
      { type: 'text-delta', text: 'b' },
    ]);
  });

  it('joins a refusal', () => {
    expect(fold([chunk({ refusal: 'n' }), chunk({ refusal: 'o' }), STOP]).response.message).to.deep.include({ text: null, refusal: 'no' });
  });

  it('collects log probabilities, annotations and fields of the last chunk', () => {
    const { response } = fold([
      chunk({ content: 'a', annotations: [{ n: 1 }] }, null, { system_fingerprint: 'f', citations: ['x'] }),
      { choices: [{ index: 0, delta: { content: 'b' }, logprobs: { content: [{ token: 'b' }] } }] },
      { choices: [{ index: 0, delta: { annotations: [{ n: 2 }] }, logprobs: { content: [{ token: 'c' }] }, finish_reason: 'stop', native_finish_reason: 'S' }] },
    ]); // prettier-ignore

    expect(response.result?.metadata).to.deep.equal({
      native_finish_reason: 'S',
      annotations: [{ n: 1 }, { n: 2 }],
      logprobs: { content: [{ token: 'b' }, { token: 'c' }] },
    });
    expect(response.metadata).to.deep.equal({ system_fingerprint: 'f', citations: ['x'] });
  });

  const START = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } };
  const dialects: readonly (readonly [title: string, chunks: readonly Wire[], expected: readonly (readonly string[])[]])[] = [
    [
      'OpenAI: id and name first, then pieces',
      [calls(START), calls({ index: 0, function: { arguments: '{"x"' } }), calls({ index: 0, function: { arguments: ':1}' } })],
      [['a', 'f', '{"x":1}']],
    ],
    [
      'interleaved parallel calls',
      [
        calls(START, { ...START, index: 1, id: 'b', function: { name: 'g', arguments: '' } }),
        calls({ index: 1, function: { arguments: '{"y"' } }),
        calls({ index: 0, function: { arguments: '{}' } }),
        calls({ index: 1, function: { arguments: ':2}' } }),
      ],
      [['a', 'f', '{}'], ['b', 'g', '{"y":2}']], // prettier-ignore
    ],
    [
      'Mistral: whole calls without index, in one chunk',
      [calls({ id: 'a', function: { name: 'f', arguments: '{"x":1}' } }, { id: 'b', function: { name: 'f', arguments: '{"x":2}' } })],
      [['a', 'f', '{"x":1}'], ['b', 'f', '{"x":2}']], // prettier-ignore
    ],
    [
      'Gemini: whole calls, every index 0, no ids',
      [calls({ index: 0, id: '', function: { name: 'f', arguments: '{"x":1}' } }), calls({ index: 0, id: '', function: { name: 'f', arguments: '{"x":2}' } })], // prettier-ignore
      [['call_1', 'f', '{"x":1}'], ['call_2', 'f', '{"x":2}']], // prettier-ignore
    ],
    [
      'Gemini: whole calls, neither index nor id',
      [calls({ function: { name: 'f', arguments: '{"x":1}' } }), calls({ function: { name: 'g', arguments: '{"x":2}' } })],
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
    ['arguments as an object', [calls({ ...START, function: { name: 'f', arguments: { x: 1 } } })], [['a', 'f', '{"x":1}']]],
    [
      'no arguments at all',
      [calls({ ...START, function: { name: 'f' } }), calls({ index: 0, function: { arguments: null } })],
      [['a', 'f', '']],
    ],
    ['no type', [calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } })], [['a', 'f', '{}']]],
    ['a gap in the indexes', [calls({ ...START, index: 3, function: { name: 'f', arguments: '{}' } })], [['a', 'f', '{}']]],
    ['custom tools beside functions', [calls({ index: 0, id: 'x', type: 'custom', custom: { name: 'c', input: '' } }, { ...START, index: 1 })], [['a', 'f', '']]], // prettier-ignore
  ];
  for (const [title, chunks, expected] of dialects) {
    it(`[F39] puts tool calls together: ${title}`, () => {
      expect(callsOf([...chunks, chunk({}, 'tool_calls')])).to.deep.equal(expected);
    });
  }

  it('names the place of a call in every delta', () => {
    const { events } = fold([calls(START), calls({ index: 0, function: { arguments: '{}' } }), STOP]);

    expect(events).to.deep.equal([
      { type: 'tool-call-delta', index: 0, id: 'a', name: 'f', arguments: '' },
      { type: 'tool-call-delta', index: 0, arguments: '{}' },
    ]);
  });

  it('[F41] passes over chunks that say nothing, wherever they come', () => {
    const chunks = [
      chunk({ content: 'a' }),
      calls(START),
      calls({ index: 0, function: { arguments: '{}' } }),
      chunk({ content: 'b' }),
      STOP,
    ];
    const { response } = fold(chunks);
    const odd: readonly Wire[] = [
      { choices: [] },
      { choices: null },
      {},
      { id: 'c', choices: [], prompt_filter_results: [] },
      { choices: [null] },
      { choices: [{ index: 0, delta: null, finish_reason: null }] },
      { choices: [{ index: 0 }] },
      { choices: [{ index: 0, delta: { content: null, tool_calls: null, role: 'assistant' } }] },
      { choices: [{ index: 0, delta: { content: '', tool_calls: [] }, finish_reason: '' }] },
      { choices: [], usage: null, x_groq: null },
    ];

    for (const extra of odd)
      for (let at = 0; at <= chunks.length; at++) {
        const found = fold([...chunks.slice(0, at), extra, ...chunks.slice(at)]).response;
        expect(found.generations, JSON.stringify(extra)).to.deep.equal(response.generations);
        expect(found).to.deep.include({ id: 'c', model: 'm', usage: undefined });
      }
  });

  const report = (tokens: number): Wire => ({ prompt_tokens: 5, completion_tokens: tokens, total_tokens: 5 + tokens });
  const styles: readonly (readonly [title: string, chunks: readonly Wire[]])[] = [
    ['on a chunk of its own after the finish', [chunk({ content: 'a' }), STOP, { choices: [], usage: report(9) }]],
    ['on the finishing chunk', [chunk({ content: 'a' }), chunk({}, 'stop', { usage: report(9) })]],
    ['on every chunk, growing (Perplexity)', [3, 6, 9].map((n) => chunk({ content: 'a' }, 'stop', { usage: report(n) }))],
    ['twice, the same', [chunk({ content: 'a' }, 'stop', { usage: report(9) }), { choices: [], usage: report(9) }]],
    ['and then null or nothing in it', [chunk({ content: 'a' }, 'stop', { usage: report(9) }), { choices: [], usage: null }, { choices: [], usage: {} }]], // prettier-ignore
    ['in x_groq only', [chunk({ content: 'a' }), chunk({}, 'stop', { x_groq: { id: 'r', usage: report(9) } })]],
    ['in the choice (Moonshot)', [{ choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop', usage: report(9) }] }]],
  ];
  for (const [title, chunks] of styles) {
    it(`[F42] takes usage that comes ${title}`, () => {
      expect(fold(chunks).response.usage).to.deep.equal({ inputTokens: 5, outputTokens: 9, totalTokens: 14 });
    });
  }

  it('[F42] gives no usage where none was reported', () => {
    expect(fold([chunk({ content: 'a' }), STOP]).response.usage).to.equal(undefined);
  });

  it('[F44] has finished when every choice that has begun has a finish reason', () => {
    const two = (index: number, delta: Wire, reason?: string): Wire => ({ choices: [{ index, delta, finish_reason: reason ?? null }] });

    expect(fold([]).finished).to.equal(false);
    expect(fold([chunk({ content: 'a' })]).finished).to.equal(false);
    expect(fold([chunk({ content: 'a' }), STOP]).finished).to.equal(true);
    expect(fold([two(0, { content: 'a' }), two(1, { content: 'b' }), two(0, {}, 'stop')]).finished).to.equal(false);
    expect(fold([two(0, { content: 'a' }), two(1, { content: 'b' }), two(0, {}, 'stop'), two(1, {}, 'stop')]).finished).to.equal(true);
  });

  it('[F44] has not finished while another call follows the finish reason (Together says it after every call)', () => {
    const first = [calls({ ...START, function: { name: 'f', arguments: '{}' } }), chunk({}, 'tool_calls')];
    const second = calls({ ...START, index: 1, id: 'b', function: { name: 'g', arguments: '{"x' } });

    expect(fold(first).finished).to.equal(true);
    expect(fold([...first, second]).finished).to.equal(false);
    expect(fold([...first, second, chunk({}, 'tool_calls')]).finished).to.equal(true);
  });

  it('takes the last finish reason', () => {
    expect(fold([chunk({ content: 'a' }, 'tool_calls'), chunk({}, 'stop'), chunk({}, '')]).response.finishReason).to.equal('stop');
  });

  it('[F57] keeps interleaved choices apart, in the order of their indexes, and emits the first', () => {
    const say = (index: number, content: string, reason: string | null = null): Wire => ({
      choices: [{ index, delta: { content }, finish_reason: reason }],
    });
    const { response, events } = fold([
      say(2, 'x'),
      say(0, 'a'),
      say(1, 'p'),
      say(0, 'b', 'stop'),
      say(2, 'y', 'length'),
      say(1, 'q', 'stop'),
    ]);

    expect(response.generations.map(({ message, finishReason }) => [message.text, finishReason])).to.deep.equal([
      ['ab', 'stop'],
      ['pq', 'stop'],
      ['xy', 'length'],
    ]);
    expect(events).to.deep.equal([{ type: 'text-delta', text: 'a' }, { type: 'text-delta', text: 'b' }]); // prettier-ignore
  });

  it('is not led astray by absurd indexes', () => {
    const { response } = fold([
      {
        choices: [
          { index: 4e9, delta: { content: 'a' }, finish_reason: 'stop' },
          { index: -1, delta: {} },
        ],
      },
    ]);

    expect(response.generations.map(({ message }) => message.text)).to.deep.equal(['', 'a']);
  });

  it('reads a choice without an index, and one with a message in place of the delta', () => {
    expect(fold([{ choices: [{ delta: { content: 'a' } }] }, { choices: [{ message: { content: 'b' }, finish_reason: 'stop' }] }]).response.text).to.equal('ab'); // prettier-ignore
  });

  it('prefers the delta to a message that repeats all so far (Perplexity)', () => {
    const both = (content: string, all: string): Wire => ({ choices: [{ index: 0, delta: { content }, message: { content: all } }] });

    expect(fold([both('a', 'a'), both('b', 'ab'), STOP]).response.text).to.equal('ab');
  });

  it('reads content parts, and sends thinking parts back as one', () => {
    const part = (...content: readonly Wire[]): Wire => chunk({ content });
    const thinking = (text: string, closed?: boolean): Wire => ({
      type: 'thinking',
      thinking: [{ type: 'text', text }],
      ...(closed && { closed }),
    });
    const { response } = fold([part(thinking('h')), part(thinking('m', true), { type: 'text', text: 'a' }), chunk({ content: 'b' }), STOP]);

    expect(response.message).to.deep.include({ text: 'ab', reasoning: 'hm' });
    expect(toWireRequest([response.message], {}, false)['messages']).to.deep.equal([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }], closed: true },
          { type: 'text', text: 'ab' },
        ],
      },
    ]);
  });

  it('remembers the error of a choice (OpenRouter)', () => {
    const folded = new CompletionFold(() => undefined);

    folded.add({ choices: [{ index: 0, delta: {}, finish_reason: 'error', error: { code: 502, message: 'gone' } }] });

    expect(folded.error).to.deep.equal({ code: 502, message: 'gone' });
  });
});
