import { expect } from 'chai';
import {
  IncompleteResponseError,
  ModelCallError,
  type ChatEvent,
  type ChatResponse,
} from '../../../src/index.js';
import { CompletionFold } from '../../../src/models/openai/completion-fold.js';
import { toRequestBody } from '../../../src/models/openai/request.js';
import { ReportedError } from '../../../src/models/http/http-error.js';
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

function fold(chunks: readonly JsonObject[]): {
  readonly response: ChatResponse;
  readonly events: readonly ChatEvent[];
  readonly finished: boolean;
} {
  const events: ChatEvent[] = [];
  const folded = new CompletionFold((event) => events.push(event));
  for (const one of chunks) folded.addEvent(one);
  return { response: folded.response(), events, finished: folded.finished };
}

describe('CompletionFold', () => {
  it('[OAI-08] joins text and reasoning and emits a delta for each chunk', () => {
    const { response, events } = fold([
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content: 'h' }),
      chunk({ reasoning_content: 'm' }),
      chunk({ content: 'a' }),
      chunk({ content: 'b' }),
      STOP,
    ]);

    expect(response.message).to.deep.include({ content: 'ab', reasoning: 'hm' });
    expect(response).to.include({ id: 'c', model: 'm', finishReason: 'stop' });
    expect(events).to.deep.equal([
      { type: 'reasoning-delta', text: 'h' },
      { type: 'reasoning-delta', text: 'm' },
      { type: 'text-delta', text: 'a' },
      { type: 'text-delta', text: 'b' },
    ]);
  });

  it('joins a refusal', () => {
    expect(
      fold([chunk({ refusal: 'n' }), chunk({ refusal: 'o' }), STOP]).response.message,
    ).to.deep.include({ content: null, refusal: 'no' });
  });

  it('collects log probabilities, annotations and fields of the last chunk', () => {
    const { response } = fold([
      chunk({ content: 'a', annotations: [{ n: 1 }] }, null, { system_fingerprint: 'f', citations: ['x'] }),
      { choices: [{ index: 0, delta: { content: 'b' }, logprobs: { content: [{ token: 'b' }] } }] },
      { choices: [{ index: 0, delta: { annotations: [{ n: 2 }] }, logprobs: { content: [{ token: 'c' }] }, finish_reason: 'stop', native_finish_reason: 'S' }] },
    ]); // prettier-ignore

    expect(response.result?.metadata).to.deep.equal({
      native_finish_reason: 'S',
      logprobs: { content: [{ token: 'b' }, { token: 'c' }] },
    });
    expect(response.citations).to.deep.equal([{ raw: { n: 1 } }, { raw: { n: 2 } }]);
    expect(response.metadata).to.deep.equal({ system_fingerprint: 'f', citations: ['x'] });
  });

  it('cites the sources that servers list beside the choices', () => {
    const sourcesIn = (more: JsonObject): unknown =>
      fold([chunk({ content: 'a' }), { ...STOP, ...more }]).response.citations;
    const result = { title: 'A', url: 'https://a.example', snippet: 'so', date: null };

    expect(sourcesIn({ citations: ['https://a.example'] })).to.deep.equal([
      { url: 'https://a.example', raw: { url: 'https://a.example' } },
    ]);
    expect(sourcesIn({ citations: ['https://a.example'], search_results: [result] })).to.deep.equal(
      [{ title: 'A', url: 'https://a.example', text: 'so', raw: result }],
    );
  });

  const START = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } };

  it('has the index of the call in every delta', () => {
    const { events } = fold([
      calls(START),
      calls({ index: 0, function: { arguments: '{}' } }),
      STOP,
    ]);

    expect(events).to.deep.equal([
      { type: 'tool-call-delta', index: 0, id: 'a', name: 'f', arguments: '' },
      { type: 'tool-call-delta', index: 0, arguments: '{}' },
    ]);
  });

  it('[AGG-02] has text and tool calls of one answer', () => {
    const { message } = fold([
      chunk({ content: 'wait' }),
      calls({ ...START, function: { name: 'f', arguments: '{}' } }),
      STOP,
    ]).response;

    expect(message).to.deep.include({
      content: 'wait',
      toolCalls: [{ id: 'a', name: 'f', arguments: '{}' }],
    });
  });

  it('[OAI-10] sends back the fields of streamed calls, each with its own call', () => {
    const call = (index: number, id: string): JsonObject => ({
      index,
      id,
      type: 'function',
      function: { name: 'f', arguments: '{}' },
      extra_content: { google: { thought_signature: `of ${id}` } },
    });
    const { message } = fold([calls(call(0, 'a')), calls(call(1, 'b')), STOP]).response;

    const [sent] = toRequestBody([message], {})['messages'] as readonly JsonObject[];
    const called = sent?.['tool_calls'] as readonly JsonObject[] | undefined;
    expect(called?.map((one) => [one['id'], one['extra_content']])).to.deep.equal([
      ['a', { google: { thought_signature: 'of a' } }],
      ['b', { google: { thought_signature: 'of b' } }],
    ]);
  });

  it('[F41] ignores chunks without content at any position', () => {
    const chunks = [
      chunk({ content: 'a' }),
      calls(START),
      calls({ index: 0, function: { arguments: '{}' } }),
      chunk({ content: 'b' }),
      STOP,
    ];
    const { response } = fold(chunks);
    const odd: readonly JsonObject[] = [
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

  it('[F44] is finished when every choice has a finish reason', () => {
    const two = (index: number, delta: JsonObject, reason?: string): JsonObject => ({
      choices: [{ index, delta, finish_reason: reason ?? null }],
    });

    expect(new CompletionFold(() => undefined).finished).to.equal(false);
    expect(fold([chunk({ content: 'a' })]).finished).to.equal(false);
    expect(fold([chunk({ content: 'a' }), STOP]).finished).to.equal(true);
    expect(
      fold([two(0, { content: 'a' }), two(1, { content: 'b' }), two(0, {}, 'stop')]).finished,
    ).to.equal(false);
    expect(
      fold([
        two(0, { content: 'a' }),
        two(1, { content: 'b' }),
        two(0, {}, 'stop'),
        two(1, {}, 'stop'),
      ]).finished,
    ).to.equal(true);
  });

  it('[F44] is not finished while another call follows the finish reason (Together sends one after every call)', () => {
    const first = [
      calls({ ...START, function: { name: 'f', arguments: '{}' } }),
      chunk({}, 'tool_calls'),
    ];
    const second = calls({
      ...START,
      index: 1,
      id: 'b',
      function: { name: 'g', arguments: '{"x' },
    });

    expect(fold(first).finished).to.equal(true);
    expect(fold([...first, second]).finished).to.equal(false);
    expect(fold([...first, second, chunk({}, 'tool_calls')]).finished).to.equal(true);
  });

  it('uses the last finish reason', () => {
    expect(
      fold([chunk({ content: 'a' }, 'tool_calls'), chunk({}, 'stop'), chunk({}, '')]).response
        .finishReason,
    ).to.equal('stop');
  });

  it('[F57] separates interleaved choices in the order of their indexes and emits the first', () => {
    const textChunk = (
      index: number,
      content: string,
      reason: string | null = null,
    ): JsonObject => ({
      choices: [{ index, delta: { content }, finish_reason: reason }],
    });
    const { response, events } = fold([
      textChunk(2, 'x'),
      textChunk(0, 'a'),
      textChunk(1, 'p'),
      textChunk(0, 'b', 'stop'),
      textChunk(2, 'y', 'length'),
      textChunk(1, 'q', 'stop'),
    ]);

    expect(
      response.generations.map(({ message, finishReason }) => [message.content, finishReason]),
    ).to.deep.equal([
      ['ab', 'stop'],
      ['pq', 'stop'],
      ['xy', 'length'],
    ]);
    expect(events).to.deep.equal([{ type: 'text-delta', text: 'a' }, { type: 'text-delta', text: 'b' }]); // prettier-ignore
  });

  it('accepts absurd indexes', () => {
    const { response } = fold([
      {
        choices: [
          { index: 4e9, delta: { content: 'a' }, finish_reason: 'stop' },
          { index: -1, delta: {} },
        ],
      },
    ]);

    expect(response.generations.map(({ message }) => message.content)).to.deep.equal(['', 'a']);
  });

  it('reads a choice without an index and a message in place of a delta', () => {
    expect(fold([{ choices: [{ delta: { content: 'a' } }] }, { choices: [{ message: { content: 'b' }, finish_reason: 'stop' }] }]).response.text).to.equal('ab'); // prettier-ignore
  });

  it('prefers the delta to a message that repeats the whole text (Perplexity)', () => {
    const both = (content: string, all: string): JsonObject => ({
      choices: [{ index: 0, delta: { content }, message: { content: all } }],
    });

    expect(fold([both('a', 'a'), both('b', 'ab'), STOP]).response.text).to.equal('ab');
  });

  it('reads content parts, and sends thinking parts back as one', () => {
    const part = (...content: readonly JsonObject[]): JsonObject => chunk({ content });
    const thinking = (text: string, closed?: boolean): JsonObject => ({
      type: 'thinking',
      thinking: [{ type: 'text', text }],
      ...(closed && { closed }),
    });
    const { response } = fold([
      part(thinking('h')),
      part(thinking('m', true), { type: 'text', text: 'a' }),
      chunk({ content: 'b' }),
      STOP,
    ]);

    expect(response.message).to.deep.include({ content: 'ab', reasoning: 'hm' });
    expect(toRequestBody([response.message], {})['messages']).to.deep.equal([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }], closed: true },
          { type: 'text', text: 'ab' },
        ],
      },
    ]);
  });

  it('[F56] throws the error of a choice (OpenRouter)', () => {
    const error = { code: 502, message: 'gone' };
    const failed = { choices: [{ index: 0, delta: {}, finish_reason: 'error', error }] };

    expect(() => fold([failed]))
      .to.throw(ReportedError)
      .with.property('body')
      .that.deep.equals(error);
  });

  it('keeps fields of a chunk without choices, and not fields of a delta', () => {
    const { response } = fold([chunk({ content: 'a', padding: 'x' }), { server: 'eu' }, STOP]);

    expect(response.metadata).to.deep.equal({ server: 'eu' });
    expect(response.result?.metadata).to.deep.equal({});
  });

  it('ignores calls that are no objects, and calls of tools that the provider runs itself', () => {
    const search = { index: 0, id: 's', type: 'builtin_function', function: { name: 'search', arguments: '{}' } }; // prettier-ignore
    const own = { index: 1, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    const { response } = fold([calls(null as never, 'x' as never, search, own), STOP]);

    expect(response.message.toolCalls).to.deep.equal([{ id: 'a', name: 'f', arguments: '{}' }]);
  });

  it('emits the deltas of a choice without an index', () => {
    expect(fold([{ choices: [{ delta: { content: 'a' } }] }]).events).to.deep.equal([
      { type: 'text-delta', text: 'a' },
    ]);
  });

  it('has the text of the first choice so far', () => {
    const folded = new CompletionFold(() => undefined);
    const texts = [folded.text];
    for (const content of ['a', 'b']) {
      folded.addEvent(chunk({ content }));
      texts.push(folded.text);
    }

    expect(texts).to.deep.equal(['', 'a', 'ab']);
  });

  describe('fails with the usage that was reported', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    const read = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };

    it('if a stream has no choices', () => {
      expect(() => fold([{ usage }]))
        .to.throw(ModelCallError, 'without a response')
        .with.property('usage')
        .that.deep.equals(read);
    });

    for (const reason of ['stop', undefined])
      it(`if a choice has no message, finish reason ${reason}`, () => {
        const choice = { index: 0, ...(reason && { finish_reason: reason }) };

        expect(() => fold([{ choices: [choice], usage }]))
          .to.throw(
            IncompleteResponseError,
            `without a message (finish reason: ${reason ?? 'none'})`,
          )
          .that.deep.includes({ retryable: true, usage: read });
      });

    it('if a document has no choices', () => {
      const folded = new CompletionFold(() => undefined);

      expect(() => folded.addDocument({ choices: [], usage }))
        .to.throw(ModelCallError, 'no choices')
        .with.property('usage')
        .that.deep.equals(read);
    });
  });
});
