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
