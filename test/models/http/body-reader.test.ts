import { expect } from 'chai';
import {
  IncompleteResponseError,
  ModelCallError,
  type ChatEvent,
  type ChatResponse,
} from '../../../src/index.js';
import { BodyReader } from '../../../src/models/http/body-reader.js';
import { ReportedError } from '../../../src/models/http/http-error.js';
import { CompletionFold } from '../../../src/models/openai/completion-fold.js';

const EVENTS = 'text/event-stream';
const chunk = (delta: object, reason: string | null = null, more: object = {}): string =>
  JSON.stringify({
    id: 'c',
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: reason }],
    ...more,
  });
const CHUNKS = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'He' }),
  chunk({ content: 'llo' }),
  chunk({}, 'stop'),
];
const COMPLETION = {
  id: 'c',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
};

const events = (payloads: readonly string[], end = '\n'): string =>
  payloads.map((payload) => `data: ${payload}${end}${end}`).join('');

const readerOf = (emit: (event: ChatEvent) => void): BodyReader =>
  new BodyReader(new CompletionFold(emit), () => [], {
    maxEventBytes: Infinity,
    maxResponseValues: Infinity,
  });

function read(
  body: string,
  contentType = EVENTS,
  size = 7,
): { readonly response: ChatResponse; readonly deltas: readonly ChatEvent[] } {
  const deltas: ChatEvent[] = [];
  const reader = readerOf((event) => deltas.push(event));
  const bytes = new TextEncoder().encode(body);
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
  return { response: reader.end(new Headers({ 'content-type': contentType })), deltas };
}

function failureOf(body: string, contentType = EVENTS): unknown {
  try {
    read(body, contentType);
  } catch (error) {
    return error;
  }
  throw new Error('expected a failure');
}

describe('BodyReader', () => {
  const whole = events([...CHUNKS, '[DONE]']);
  const bodies: readonly (readonly [title: string, body: string, contentType?: string])[] = [
    ['a stream', whole],
    ['a stream under application/json', whole, 'application/json'],
    ['a stream with a byte order mark', `\uFEFF${whole}`],
    ['a stream after blank lines', `\r\n\n  \n${whole}`],
    [
      'a stream with comments',
      `: OPENROUTER PROCESSING\n\n${whole.replaceAll('\n\n', '\n\n: ping\n\n')}`,
    ],
    ['a stream with CR LF', events([...CHUNKS, '[DONE]'], '\r\n')],
    ['a stream with CR', events([...CHUNKS, '[DONE]'], '\r')],
    ['a stream without spaces', whole.replaceAll('data: ', 'data:')],
    ['a stream with event names', whole.replaceAll('data: ', 'event: message\ndata: ')],
    [
      'a stream with retry and ids',
      `retry: 3000\n\n${whole.replaceAll('data: ', 'id: 1\ndata: ')}`,
    ],
    [
      'a stream with events without data',
      whole.replaceAll('data: {', 'data:\n\ndata: \n\ndata: {'),
    ],
    [
      'a stream with events that are no objects',
      whole.replaceAll('data: {', 'data: null\n\ndata: 1\n\ndata: [1]\n\ndata: "x"\n\ndata: {'),
    ],
    ['a stream without [DONE]', events(CHUNKS)],
    ['a stream without finish reason', events([...CHUNKS.slice(0, 3), '[DONE]'])],
    ['a stream without its last blank line', whole.trimEnd()],
    ['a stream with [DONE] twice', `${whole}data: [DONE]\n\n`],
    ['a stream with a blank after [DONE]', whole.replace('[DONE]', '[DONE] ')],
    ['a stream with data after [DONE]', whole + events([chunk({ content: 'MORE' }), 'not json'])],
    ['a stream with an error after [DONE]', whole + events(['{"error":{"message":"too slow"}}'])],
    ['a completion', JSON.stringify(COMPLETION), 'application/json'],
    ['a completion under text/event-stream', JSON.stringify(COMPLETION)],
    ['a completion after blank lines (DeepSeek keeps the connection alive with them)', `\n\n \n${JSON.stringify(COMPLETION, null, 2)}\n`, 'application/json'], // prettier-ignore
    [
      'a completion with a byte order mark',
      `\uFEFF${JSON.stringify(COMPLETION)}`,
      'application/json',
    ],
    ['a completion as the only event', events([JSON.stringify(COMPLETION)])],
  ];
  for (const [title, body, contentType] of bodies) {
    it(`reads ${title}, with the same deltas in sum`, () => {
      const { response, deltas } = read(body, contentType);

      expect(response.text).to.equal('Hello');
      expect(
        deltas.map((delta) => (delta.type === 'text-delta' ? delta.text : '')).join(''),
      ).to.equal('Hello');
    });
    it(`reads ${title} as a whole`, () => {
      expect(read(body, contentType, Infinity).response.text).to.equal('Hello');
    });
  }

  for (const body of [
    events([chunk({ content: '😀' }, 'stop')]),
    JSON.stringify({ choices: [{ message: { content: '😀' } }] }),
  ])
    it(`joins characters that are split, in ${body.slice(0, 8)}`, () => {
      expect(read(body, EVENTS, 1).response.text).to.equal('😀');
    });

  it('emits the content of a document as deltas', () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    const message = { content: 'Hello', reasoning: 'hm', tool_calls: [call] };

    expect(
      read(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] })).deltas,
    ).to.deep.equal([
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'text-delta', text: 'Hello' },
      { type: 'tool-call-delta', index: 0, id: 'a', name: 'f', arguments: '{}' },
    ]);
  });

  it('emits no delta for a document without text', () => {
    expect(
      read(JSON.stringify({ choices: [{ message: { content: '' }, finish_reason: 'stop' }] }))
        .deltas,
    ).to.deep.equal([]);
  });

  const cut: readonly (readonly [title: string, body: string, contentType?: string])[] = [
    ['nothing', ''],
    ['blank lines', '\n\n'],
    ['comments', ': ping\n\n: ping\n\n'],
    ['chunks without a finish reason', events(CHUNKS.slice(0, 3))],
    ['half an event', events(CHUNKS.slice(0, 3)) + 'data: {"choices":[{"del'],
    ['half an end marker', events(CHUNKS.slice(0, 3)) + 'data: [DON'],
    ['half a field', events(CHUNKS.slice(0, 3)) + 'da'],
    ['half an error event', events(CHUNKS.slice(0, 3)) + 'event: error\ndata: {"err'],
    ['half a completion', JSON.stringify(COMPLETION).slice(0, 50), 'application/json'],
    ['half a list', '[{"error":', 'application/json'],
  ];
  for (const [title, body, contentType] of cut) {
    it(`[F44] rejects ${title} as an incomplete response`, () => {
      const error = failureOf(body, contentType);

      expect(error).to.be.instanceOf(IncompleteResponseError);
      expect(error).to.include({ retryable: true, code: 'incomplete_response' });
    });
  }

  it('[F44] keeps the text of an incomplete response', () => {
    expect(failureOf(events(CHUNKS.slice(0, 3)))).to.include({ partialText: 'Hello' });
  });

  it('[F44] rejects a document that is cut after any byte', () => {
    const body = JSON.stringify(COMPLETION);
    for (let length = 0; length < body.length; length++)
      expect(
        failureOf(body.slice(0, length), 'application/json'),
        `after ${length}`,
      ).to.be.instanceOf(IncompleteResponseError);
  });

  const foreign: readonly (readonly [title: string, body: string, contentType: string])[] = [
    ['a page', '<!doctype html><html><body>Sign in</body></html>', 'text/html; charset=utf-8'],
    ['a page under text/event-stream', '<html></html>', EVENTS],
    ['a text', 'It works!', 'text/plain'],
    ['another JSON document', '{"status":"ok"}', 'application/json'],
    ['a completion without choices', '{"id":"x","choices":[]}', 'application/json'],
    ['a list', '[]', 'application/json'],
  ];
  for (const [title, body, contentType] of foreign) {
    it(`[F44] rejects ${title} with status 200 and mentions the base URL`, () => {
      const error = failureOf(body, contentType);

      expect(error).to.be.instanceOf(ModelCallError).and.not.instanceOf(IncompleteResponseError);
      expect((error as Error).message).to.include('base URL');
    });
  }

  it('rejects a stream that ends without a response', () => {
    expect(failureOf(events(['[DONE]'])))
      .to.be.instanceOf(ModelCallError)
      .with.property('message')
      .that.includes('without a response');
  });

  it('rejects an event that is not JSON', () => {
    expect(failureOf(events([...CHUNKS.slice(0, 2), 'oops', ...CHUNKS.slice(2)]))).to.include({
      code: 'model_call',
      partialText: 'He',
    });
  });

  const failures: readonly (readonly [title: string, body: string, reported: unknown])[] = [
    ['an error object', events(['{"error":{"message":"no"}}']), { message: 'no' }],
    ['an error text', events(['{"error":"no"}']), 'no'],
    [
      'an error beside choices',
      events([chunk({ content: '' }, null, { error: { code: 400 } })]),
      { code: 400 },
    ],
    ['an event named error', 'event: error\ndata: {"message":"no"}\n\n', { message: 'no' }],
    ['an event named error that is not JSON', 'event: error\ndata: no\n\n', 'no'],
    [
      'an event of the type error',
      events(['{"type":"error","message":"no"}']),
      { type: 'error', message: 'no' },
    ],
    [
      'an event of the object error (vLLM)',
      events(['{"object":"error","message":"no"}']),
      { object: 'error', message: 'no' },
    ],
    ['a body with an error', '{"error":{"message":"no"}}', { message: 'no' }],
    [
      'a body with an error beside choices',
      JSON.stringify({ ...COMPLETION, error: { code: 400 } }),
      { code: 400 },
    ],
    [
      'a body with an error in its choice',
      '{"choices":[{"error":{"code":502},"message":{"content":""}}]}',
      { code: 502 },
    ],
    ['a choice that fails in a stream', events([JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'error', error: { code: 502 } }] })]), { code: 502 }], // prettier-ignore
    [
      'a body of the object error',
      '{"object":"error","message":"no"}',
      { object: 'error', message: 'no' },
    ],
    ['a list with an error (Google)', '[{"error":{"message":"no"}}]', { message: 'no' }],
  ];
  for (const [title, body, reported] of failures) {
    it(`[F56] throws a ReportedError for ${title}`, () => {
      expect(failureOf(body))
        .to.be.instanceOf(ReportedError)
        .with.property('body')
        .that.deep.equals(reported);
    });
  }

  it('[F56] throws an error at any position of a stream, even after the finish reason', () => {
    for (let at = 0; at <= CHUNKS.length; at++) {
      const payloads = [...CHUNKS.slice(0, at), '{"error":{"message":"no"}}', ...CHUNKS.slice(at)];
      expect(failureOf(events([...payloads, '[DONE]'])), `at ${at}`).to.be.instanceOf(
        ReportedError,
      );
    }
  });

  it('ignores errors that are null', () => {
    expect(
      read(events(CHUNKS.map((payload) => payload.replace('{', '{"error":null,')))).response.text,
    ).to.equal('Hello');
    expect(read(JSON.stringify({ ...COMPLETION, error: null })).response.text).to.equal('Hello');
  });
});
