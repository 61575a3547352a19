import { callsOf } from '../../../../src/core/chat/message.js';
import { expect } from 'chai';
import {
  IncompleteResponseError,
  type ChatEvent,
  type ChatResponse,
} from '../../../../src/index.js';
import { ReportedError } from '../../../../src/models/http/http-error.js';
import { ResponsesFold } from '../../../../src/models/openai/responses/responses-fold.js';
import {
  eventsOf,
  ITEMS,
  messageOf,
  responseOf,
  streamOf,
  type Event,
} from '../../../support/responses-answers.js';

const DOCUMENT = responseOf(ITEMS, { store: true });

/** A folded answer with the joined deltas. */
interface Folded {
  readonly response: ChatResponse;
  readonly text: string;
  readonly reasoning: string;
  readonly arguments: readonly string[];
}

function fold(add: (fold: ResponsesFold) => void): Folded {
  const joined = { text: '', reasoning: '' };
  const calls: string[] = [];
  const folded = new ResponsesFold((event: ChatEvent) => {
    if (event.type === 'text-delta') joined.text += event.text;
    if (event.type === 'reasoning-delta') joined.reasoning += event.text;
    if (event.type === 'tool-call-delta')
      calls[event.index] = (calls[event.index] ?? '') + event.arguments;
  }, true);
  add(folded);
  return { response: folded.response(undefined), ...joined, arguments: calls };
}

const foldEvents = (events: readonly Event[]): Folded =>
  fold((into) => {
    for (const event of events) into.addEvent(event);
  });
const foldDocument = (document: unknown): Folded => fold((into) => into.addDocument(document));

describe('ResponsesFold', () => {
  it('reads text, reasoning, calls, usage and names of a document', () => {
    const { response } = foldDocument(DOCUMENT);

    const { message, usage, id, model, finishReason } = response;
    expect({ usage, id, model, finishReason }).to.deep.equal({
      usage: {
        inputTokens: 30,
        outputTokens: 20,
        totalTokens: 50,
        cachedInputTokens: 10,
        cacheWriteTokens: 5,
        reasoningTokens: 7,
      },
      id: 'resp_1',
      model: 'm-1',
      finishReason: 'tool_calls',
    });
    expect(message.content).to.equal('Noon is near.');
    expect(message.reasoning).to.equal('First.\n\nSecond.');
    expect(message.toolCalls).to.deep.equal([
      { id: 'call_1', name: 'now', arguments: '{"zone":"UTC"}' },
    ]);
  });

  it('reads a stream as the same response, whose deltas are its text', () => {
    const streamed = foldEvents(streamOf(DOCUMENT));

    expect(streamed.response).to.deep.equal(foldDocument(DOCUMENT).response);
    expect(streamed.text).to.equal('Noon is near.');
    expect(streamed.reasoning).to.equal('First.\n\nSecond.');
    expect(streamed.arguments).to.deep.equal(['{"zone":"UTC"}']);
  });

  it('keeps citations and probabilities beside the message, other fields of the provider beside the answer', () => {
    const { response } = foldDocument(responseOf(ITEMS, { content_filters: [{ blocked: false }] }));

    expect(response.citations).to.deep.equal([
      {
        url: 'https://a.example',
        raw: { type: 'url_citation', url: 'https://a.example', start_index: 0 },
      },
    ]);
    expect(response.result?.metadata).to.deep.equal({
      logprobs: { content: [{ token: 'Noon', logprob: -0.1 }] },
    });
    expect(response.metadata).to.deep.equal({
      service_tier: 'default',
      content_filters: [{ blocked: false }],
    });
  });

  it('reads a refusal', () => {
    const content = [{ type: 'refusal', refusal: 'No, I cannot.' }];
    const document = responseOf([messageOf('', { content })]);

    const { message } = foldDocument(document).response;

    expect(message).to.include({ content: null, refusal: 'No, I cannot.' });
    expect(foldEvents(streamOf(document)).response.message).to.deep.equal(message);
  });

  for (const [fields, reason] of [
    [{ status: 'completed' }, 'completed'],
    [{ status: 'incomplete' }, 'incomplete'],
    [
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      'max_output_tokens',
    ],
    [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'content_filter'],
  ] as const)
    it(`names the reason ${reason} of ${JSON.stringify(fields)}`, () => {
      const document = responseOf([messageOf('Hal')], fields);

      expect(foldDocument(document).response.finishReason).to.equal(reason);
      expect(foldEvents(streamOf(document)).response.finishReason).to.equal(reason);
    });

  it('names another reason than calls if the answer lacks its end', () => {
    const details = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };

    const { response } = foldDocument(responseOf(ITEMS, details));

    expect(response.finishReason).to.equal('max_output_tokens');
  });

  for (const status of ['failed', 'cancelled'] as const)
    it(`rejects a response that was ${status}`, () => {
      const error = { code: 'server_error', message: 'it broke' };
      const document = responseOf([], { status, error: status === 'failed' ? error : null });

      expect(() => foldDocument(document)).to.throw(ReportedError);
      expect(() => foldEvents(streamOf(document))).to.throw(ReportedError);
    });

  for (const status of ['queued', 'in_progress'])
    it(`rejects a document that is ${status}`, () => {
      const document = responseOf([], { status });

      expect(() => foldDocument(document)).to.throw(`not with a response of the Responses API`);
    });

  it('rejects a document of another API', () => {
    expect(() => foldDocument({ choices: [] })).to.throw('(no output)');
    expect(() => foldDocument(null)).to.throw('(no output)');
  });

  it('takes no stream without its last event for an answer, wherever it ends', () => {
    const events = streamOf(DOCUMENT);

    for (let cut = 0; cut < events.length; cut++)
      expect(() => foldEvents(events.slice(0, cut)), `${cut}`).to.throw(IncompleteResponseError);
  });

  it('ignores unknown events, and keeps unknown items', () => {
    const item = { id: 'x_1', type: 'dream', picture: 42 };
    const odd = [
      { type: 'response.dream.delta', delta: {} },
      { type: 'keepalive', sequence_number: 3 },
      { type: 'response.output_item.added' },
      { type: 'response.output_text.annotation.added', annotation: null },
      { type: 'constructor' },
    ];
    const document = responseOf([item, messageOf('Hi')]);
    const [first, ...others] = streamOf(document);

    const { response } = foldEvents([first as Event, ...odd, ...others]);

    expect(response.text).to.equal('Hi');
    expect(response.message.metadata).to.deep.equal({
      responses: { items: [item, messageOf('Hi')] },
    });
  });

  it('reads calls whose pieces alternate', () => {
    const calls = ['{"a":1}', '{"b":2}'].map((json, at) => ({
      type: 'function_call',
      id: `fc_${at}`,
      call_id: `call_${at}`,
      name: 'now',
      arguments: json,
    }));
    const [one, two] = calls.map((call, at) => eventsOf(call, at)) as [Event[], Event[]];
    const mixed = one.flatMap((event, at) => [event, two[at] as Event]);

    const { response } = foldEvents([
      ...mixed,
      { type: 'response.completed', response: responseOf(calls) },
    ]);

    expect(callsOf(response.message).map((call) => call.arguments)).to.deep.equal([
      '{"a":1}',
      '{"b":2}',
    ]);
  });
});
