import { callsOf } from '../../../src/core/chat/message.js';
import { expect } from 'chai';
import {
  IncompleteResponseError,
  ModelCallError,
  type ChatEvent,
  type ChatResponse,
} from '../../../src/index.js';
import { GenerateContentFold } from '../../../src/models/google/generate-content-fold.js';
import { ReportedError } from '../../../src/models/http/http-error.js';
import type { JsonObject } from '../../../src/core/internal/options.js';

/** An event with one candidate. */
function event(
  parts: readonly unknown[],
  finishReason?: string,
  more: JsonObject = {},
): JsonObject {
  const content = { role: 'model', parts };
  return { candidates: [{ content, ...(finishReason && { finishReason }) }], ...more };
}

interface Folded {
  readonly response: ChatResponse;
  readonly events: readonly ChatEvent[];
  readonly finished: boolean;
}

function fold(events: readonly JsonObject[]): Folded {
  const emitted: ChatEvent[] = [];
  const folded = new GenerateContentFold((one) => emitted.push(one));
  for (const one of events) folded.addEvent(one);
  return { response: folded.response(), events: emitted, finished: folded.finished };
}

function document(body: unknown): ChatResponse {
  const folded = new GenerateContentFold(() => undefined);
  folded.addDocument(body);
  return folded.response();
}

describe('GenerateContentFold', () => {
  it('joins text and reasoning, emits a delta for each event, and keeps what belongs to the answer', () => {
    const { response, events, finished } = fold([
      event([{ text: 'h', thought: true }], undefined, { responseId: 'r', modelVersion: 'v' }),
      event([{ text: 'm', thought: true }]),
      event([{ text: 'a' }]),
      event([{ text: 'b' }, { text: '' }], 'STOP', { createTime: 't' }),
    ]);

    expect(response).to.include({ id: 'r', model: 'v', finishReason: 'STOP', text: 'ab' });
    expect(response.message).to.deep.equal({
      role: 'assistant',
      content: 'ab',
      reasoning: 'hm',
      metadata: { google: { parts: [{ thought: true, text: 'hm' }, { text: 'ab' }] } },
    });
    expect(response.metadata).to.deep.equal({ createTime: 't' });
    expect(events).to.deep.equal([
      { type: 'reasoning-delta', text: 'h' },
      { type: 'reasoning-delta', text: 'm' },
      { type: 'text-delta', text: 'a' },
      { type: 'text-delta', text: 'b' },
    ]);
    expect(finished).to.equal(true);
  });

  it('keeps no parts that the message expresses by itself', () => {
    const { response } = fold([
      event([{ text: 'a' }]),
      event([{ functionCall: { name: 'f', args: { x: 1 } } }], 'STOP'),
    ]);

    expect(response.message).to.deep.equal({
      role: 'assistant',
      content: 'a',
      toolCalls: [{ id: 'call_1', name: 'f', arguments: '{"x":1}' }],
    });
  });

  it('keeps signatures on their own parts, in order', () => {
    const { response } = fold([
      event([{ text: 'hm', thought: true, thoughtSignature: 's1' }, { text: 'a' }]),
      event([{ text: 'b', thoughtSignature: 's2' }]),
      event([{ text: 'c' }]),
      event([{ functionCall: { id: 'p', name: 'f' }, thoughtSignature: 's3' }]),
      event([{ functionCall: { id: 'q', name: 'f', args: {} } }]),
      event([{ thoughtSignature: 's4' }], 'STOP'),
    ]);

    expect(response.message.metadata).to.deep.equal({
      google: {
        parts: [
          { text: 'hm', thought: true, thoughtSignature: 's1' },
          { text: 'a' },
          { text: 'b', thoughtSignature: 's2' },
          { text: 'c' },
          { toolCall: 0 },
          { toolCall: 1 },
          { text: '', thoughtSignature: 's4' },
        ],
      },
    });
    expect(response.message.toolCalls).to.deep.equal([
      {
        id: 'p',
        name: 'f',
        arguments: '{}',
        metadata: { google: { id: 'p', thoughtSignature: 's3' } },
      },
      { id: 'q', name: 'f', arguments: '{}', metadata: { google: { id: 'q' } } },
    ]);
  });

  it('keeps parts of tools that the provider runs, and images', () => {
    const others = [
      { executableCode: { language: 'PYTHON', code: '1' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
      { inlineData: { mimeType: 'image/png', data: 'QUJD' }, thoughtSignature: 's' },
    ];

    const { response, events } = fold([event([...others, { text: 'a' }, {}, null], 'STOP')]);

    expect(response.message.metadata).to.deep.equal({
      google: { parts: [...others, { text: 'a' }] },
    });
    expect(events).to.deep.equal([{ type: 'text-delta', text: 'a' }]);
  });

  it('keeps the places of calls among its parts by their positions', () => {
    const calls = [{ functionCall: { name: 'f' } }, { functionCall: { name: 'f' } }];

    const { message } = fold([event([...calls, { text: 'then' }], 'STOP')]).response;

    expect(message.metadata).to.deep.equal({
      google: { parts: [{ toolCall: 0 }, { toolCall: 1 }, { text: 'then' }] },
    });
  });

  describe('of arguments in pieces', () => {
    const piece = (functionCall: JsonObject): JsonObject => event([{ functionCall }]);
    const start = piece({ id: 'a', name: 'f', willContinue: true });
    const city = (stringValue: string, willContinue = true): JsonObject =>
      piece({ partialArgs: [{ jsonPath: '$.city', stringValue, willContinue }], willContinue });

    it('joins them, and emits the whole at its end', () => {
      const { response, events } = fold([
        start,
        city('New '),
        city('York'),
        piece({}),
        event([{ functionCall: { name: 'g', args: { x: 1 } } }], 'STOP'),
      ]);

      expect(callsOf(response.message).map(({ name, arguments: text }) => [name, text]))
        .to.deep //
        .equal([
          ['f', '{"city":"New York"}'],
          ['g', '{"x":1}'],
        ]);
      expect(events).to.deep.equal([
        { type: 'tool-call-delta', index: 0, id: 'a', name: 'f', arguments: '' },
        { type: 'tool-call-delta', index: 0, arguments: '{"city":"New York"}' },
        { type: 'tool-call-delta', index: 1, name: 'g', arguments: '{"x":1}' },
      ]);
    });

    for (const [finishReason, text] of [
      ['STOP', '{"city":"New"}'],
      ['MAX_TOKENS', '{"city":"New"'],
    ] as const)
      it(`leaves ${text} of a call without a last piece at ${finishReason}`, () => {
        const { response } = fold([start, city('New'), event([], finishReason)]);

        expect(callsOf(response.message)[0]?.arguments).to.equal(text);
      });

    it('completes a call at its last piece or at the next call, whatever the answer ends with', () => {
      const { response } = fold([
        start,
        city('A'),
        piece({ name: 'g', willContinue: true }),
        city('B', false),
        event([], 'MAX_TOKENS'),
      ]);

      const calls = callsOf(response.message).map((call) => [call.name, call.arguments]);
      expect(calls).to.deep.equal([
        ['f', '{"city":"A"}'],
        ['g', '{"city":"B"}'],
      ]);
    });

    it('reads a call that is complete in one event, and ignores pieces of none', () => {
      const partialArgs = [{ jsonPath: '$.x', numberValue: 1 }];

      const { response } = fold([
        piece({ partialArgs }),
        piece({ name: 'f', partialArgs }),
        event([], 'STOP'),
      ]);

      expect(callsOf(response.message).map(({ arguments: text }) => text)).to.deep.equal([
        '{"x":1}',
      ]);
    });
  });

  it('counts thoughts as output and results of provider tools as input; the last counts hold', () => {
    const { response } = fold([
      event([{ text: 'a' }], undefined, { usageMetadata: { promptTokenCount: 5 } }),
      event([{ text: 'b' }], 'STOP', {
        usageMetadata: {
          promptTokenCount: 5,
          candidatesTokenCount: 7,
          thoughtsTokenCount: 11,
          toolUsePromptTokenCount: 2,
          cachedContentTokenCount: 3,
          totalTokenCount: 25,
          serviceTier: 'standard',
        },
      }),
    ]);

    expect(response.usage).to.deep.equal({
      inputTokens: 7,
      outputTokens: 18,
      totalTokens: 25,
      cachedInputTokens: 3,
      reasoningTokens: 11,
    });
    expect(response.metadata).to.have.nested.property('usageMetadata.serviceTier', 'standard');
    expect(fold([event([], 'STOP', { usageMetadata: {} })]).response.usage).to.equal(undefined);
  });

  it('adds counts without a reported total, and takes the reported one otherwise', () => {
    const totalOf = (totalTokenCount?: number): unknown => {
      const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount };
      return fold([event([], 'STOP', { usageMetadata })]).response.usage?.totalTokens;
    };

    expect([totalOf(), totalOf(7)]).to.deep.equal([3, 7]);
  });

  it('ignores metadata that would change a prototype', () => {
    const hostile = JSON.parse('{"__proto__": {"polluted": true}}') as JsonObject;

    const { response } = fold([
      { candidates: [{ groundingMetadata: {}, content: {} }], ...hostile },
      { candidates: [{ groundingMetadata: hostile, finishReason: 'STOP', ...hostile }] },
    ]);

    expect(response.metadata).to.not.have.property('polluted');
    expect(response.result?.metadata).to.not.have.property('polluted');
    expect(response.result?.metadata?.['groundingMetadata']).to.not.have.property('polluted');
  });

  it('keeps sources and other metadata of a candidate', () => {
    const candidate = (fields: JsonObject): JsonObject => ({ candidates: [fields] });
    const { response } = fold([
      candidate({
        content: { parts: [{ text: 'a' }] },
        groundingMetadata: {},
        citationMetadata: { citationSources: [{ uri: 'u1' }] },
      }),
      candidate({
        content: {},
        finishReason: 'STOP',
        groundingMetadata: { webSearchQueries: ['q'], groundingChunks: [{ web: { uri: 'w' } }] },
        citationMetadata: { citationSources: [{ uri: 'u2' }] },
        urlContextMetadata: { urlMetadata: [] },
        safetyRatings: [{ category: 'c' }],
        finishMessage: null,
      }),
    ]);

    expect(response.result?.metadata).to.deep.equal({
      groundingMetadata: { webSearchQueries: ['q'], groundingChunks: [{ web: { uri: 'w' } }] },
      citationMetadata: { citationSources: [{ uri: 'u1' }, { uri: 'u2' }] },
      urlContextMetadata: { urlMetadata: [] },
      safetyRatings: [{ category: 'c' }],
    });
  });

  it('[F57] returns all candidates in order, and emits the deltas of the first', () => {
    const { response, events, finished } = fold([
      {
        candidates: [{ content: { parts: [{ text: 'a' }] } }, { content: { parts: [] }, index: 2 }],
      },
      { candidates: [{ index: 2, content: { parts: [{ text: 'c' }] }, finishReason: 'STOP' }] },
      { candidates: [{ index: 1, content: { parts: [{ text: 'b' }] }, finishReason: 'STOP' }] },
    ]);

    expect(response.generations.map(({ message }) => message.content)).to.deep.equal([
      'a',
      'b',
      'c',
    ]);
    expect(events).to.deep.equal([{ type: 'text-delta', text: 'a' }]);
    expect(finished).to.equal(false);
  });

  for (const finishReason of [
    'MALFORMED_FUNCTION_CALL',
    'SAFETY',
    'MAX_TOKENS',
    'UNEXPECTED_TOOL_CALL',
  ])
    it(`returns an answer without content and its reason, ${finishReason}`, () => {
      const { response, finished } = fold([
        { candidates: [{ finishReason, finishMessage: 'why' }] },
      ]);

      expect(response).to.include({ finishReason, text: '' });
      expect(response.result?.metadata).to.deep.equal({ finishMessage: 'why' });
      expect(finished).to.equal(true);
    });

  it('returns a withheld answer for a blocked prompt', () => {
    const promptFeedback = { blockReason: 'OTHER' };
    const usageMetadata = { promptTokenCount: 4, totalTokenCount: 4 };

    const { response, finished } = fold([{ promptFeedback }, { usageMetadata }]);

    expect(response).to.include({ finishReason: 'content_filter', text: '' });
    expect(response.metadata).to.deep.equal({ promptFeedback, usageMetadata });
    expect(response.usage).to.include({ inputTokens: 4 });
    expect(finished).to.equal(true);
    expect(document({ promptFeedback }).finishReason).to.equal('content_filter');
  });

  it('is finished by a reason alone, and again by the next one if text follows', () => {
    const folded = new GenerateContentFold(() => undefined);
    const states = [
      event([{ text: 'a' }], 'FINISH_REASON_UNSPECIFIED'),
      event([{ text: 'b' }], 'STOP'),
      event([{ text: '' }]),
      event([{ text: 'c' }]),
      event([], 'STOP'),
    ].map((one) => {
      folded.addEvent(one);
      return folded.finished;
    });

    expect(states).to.deep.equal([false, true, true, false, true]);
  });

  it('reads answers in snake case', () => {
    const { response } = fold([
      {
        candidates: [
          {
            content: {
              parts: [
                { text: 'a', thought_signature: 's' },
                { function_call: { name: 'f', args: { snake_case: 1 } }, thought_signature: 't' },
              ],
            },
            finish_reason: 'STOP',
          },
        ],
        usage_metadata: { prompt_token_count: 1, candidates_token_count: 2, total_token_count: 3 },
        model_version: 'v',
        response_id: 'r',
        prompt_feedback: { block_reason: 'NONE' },
      },
    ]);

    expect(response).to.include({ id: 'r', model: 'v', finishReason: 'STOP', text: 'a' });
    expect(response.usage).to.include({ inputTokens: 1, outputTokens: 2, totalTokens: 3 });
    expect(callsOf(response.message)[0]).to.deep.include({
      arguments: '{"snake_case":1}',
      metadata: { google: { thoughtSignature: 't' } },
    });
    expect(response.metadata).to.have.nested.property('promptFeedback.blockReason', 'NONE');
  });

  describe('of a document', () => {
    const events = [
      event([{ text: 'hm', thought: true }]),
      event([{ text: 'a' }, { functionCall: { name: 'f', args: {} }, thoughtSignature: 's' }]),
      event([{ text: '', thoughtSignature: 't' }], 'STOP', { modelVersion: 'v' }),
    ];
    const parts = events.flatMap(({ candidates }) => {
      const [candidate] = candidates as readonly { content: { parts: unknown[] } }[];
      return candidate?.content.parts ?? [];
    });

    it('returns the response of the stream', () => {
      const streamed = fold(events).response;

      expect(document(event(parts, 'STOP', { modelVersion: 'v' }))).to.deep.equal(streamed);
    });

    it('returns the response of a list of events', () => {
      expect(document(events)).to.deep.equal(fold(events).response);
    });

    it('needs no finish reason, unless it is a list of events', () => {
      expect(document(event([{ text: 'a' }])).text).to.equal('a');
      expect(() => document(events.slice(0, 2))).to.throw(IncompleteResponseError);
    });

    for (const body of [{}, [], null, 'text', { candidates: [] }, { usageMetadata: {} }])
      it(`rejects ${JSON.stringify(body)}`, () => {
        expect(() => document(body)).to.throw(ModelCallError, 'no candidates');
      });

    it('rejects an answer without candidates, which the API sends at times, as one to ask for again', () => {
      const empty = { usageMetadata: { promptTokenCount: 3 }, modelVersion: 'gemini-2.5-pro' };

      expect(() => document(empty))
        .to.throw(IncompleteResponseError, 'without content')
        .that.includes({ retryable: true });
    });

    it('rejects a candidate without content and reason, and an error in a list', () => {
      expect(() => document({ candidates: [{ index: 0 }] })).to.throw(IncompleteResponseError);
      expect(() => document([events[0], { error: { code: 500 } }])).to.throw(ReportedError);
    });
  });
});
