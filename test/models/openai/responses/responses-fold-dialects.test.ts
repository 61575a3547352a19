import { expect } from 'chai';
import { type AssistantMessage, type ChatEvent } from '../../../../src/index.js';
import { ResponsesFold } from '../../../../src/models/openai/responses/responses-fold.js';
import type { Json } from '../../../support/cassettes.js';
import {
  eventsOf,
  messageOf,
  responseOf,
  streamOf,
  type Event,
} from '../../../support/responses-answers.js';

const REASONING = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [],
  content: [{ type: 'reasoning_text', text: 'Count.' }],
};
const CALLS = ['{"a":1}', '{"b":2}'].map((json, at) => ({
  type: 'function_call',
  id: `fc_${at}`,
  call_id: `call_${at}`,
  name: 'now',
  arguments: json,
}));
const RESPONSE = responseOf([REASONING, messageOf('Hello.'), ...CALLS]);
const EVENTS = streamOf(RESPONSE);

/** The message of a stream; its deltas are its texts. */
function messageFrom(events: readonly Json[]): AssistantMessage {
  const joined = { text: '', reasoning: '' };
  const fold = new ResponsesFold((event: ChatEvent) => {
    if (event.type === 'text-delta') joined.text += event.text;
    if (event.type === 'reasoning-delta') joined.reasoning += event.text;
  }, true);
  for (const event of events) fold.addEvent(event);
  const { message } = fold.response(undefined);
  expect(joined).to.deep.equal({ text: message.content ?? '', reasoning: message.reasoning ?? '' });
  return message;
}

const isDelta = ({ type }: Event): boolean => type.endsWith('.delta');
const isItem = ({ type }: Event): boolean => type.includes('output_item');
const changed = (change: (event: Event, at: number) => Json): readonly Json[] => EVENTS.map(change);
const withoutFields = (event: Event, ...names: readonly string[]): Json =>
  Object.fromEntries(Object.entries(event).filter(([name]) => !names.includes(name)));
const withOutput = (event: Event, output: readonly unknown[]): Json =>
  event.type === 'response.completed'
    ? { ...event, response: { ...(event['response'] as Json), output } }
    : event;

/** Streams of the same answer, as servers write them. */
const DIALECTS: Readonly<Record<string, readonly Json[]>> = {
  'complete items without pieces': EVENTS.filter((event) => !isDelta(event)),
  'complete items alone': EVENTS.filter(
    ({ type }) => type === 'response.output_item.done' || type === 'response.completed',
  ),
  'the final output alone': EVENTS.filter(({ type }) => type === 'response.completed'),
  'no final output': changed((event) => withOutput(event, [])),
  'no events that announce items': EVENTS.filter(
    ({ type }) => type !== 'response.output_item.added',
  ),
  'no events of complete parts': EVENTS.filter(
    (event) => isItem(event) || !event.type.endsWith('.done'),
  ),
  'no ids of items in pieces': changed((event) => withoutFields(event, 'item_id')),
  'no positions': changed((event) => withoutFields(event, 'output_index')),
  'other ids of items in each event': changed((event, at) => ({ ...event, item_id: `id_${at}` })),
  'position 0 for every item': changed((event) =>
    'output_index' in event ? { ...event, output_index: 0 } : event,
  ),
  'parts that are numbered through': changed((event) =>
    'content_index' in event ? { ...event, content_index: 3 } : event,
  ),
  'an item that is complete twice': EVENTS.flatMap((event) =>
    event.type === 'response.output_item.done' ? [event, event] : [event],
  ),
  'an outdated status in the last event': changed((event) =>
    event.type === 'response.completed'
      ? { ...event, response: { ...RESPONSE, status: 'in_progress' } }
      : event,
  ),
  'the end as response.done': changed((event) =>
    event.type === 'response.completed' ? { ...event, type: 'response.done' } : event,
  ),
  'reasoning under another name': changed((event) => ({
    ...event,
    type: event.type.replace('reasoning_text', 'reasoning'),
  })),
  'content as a text': EVENTS.map((event) =>
    event.type === 'response.output_item.done' && event['output_index'] === 1
      ? { ...event, item: { ...messageOf('Hello.'), content: 'Hello.' } }
      : event,
  ),
};

describe('ResponsesFold: dialects', () => {
  for (const [name, events] of Object.entries(DIALECTS))
    it(`reads ${name}`, () => {
      const { content: text, reasoning, toolCalls } = messageFrom(events);

      expect({ text, reasoning, toolCalls }).to.deep.equal({
        text: 'Hello.',
        reasoning: 'Count.',
        toolCalls: CALLS.map(({ call_id: id, name: called, arguments: json }) => ({
          id,
          name: called,
          arguments: json,
        })),
      });
    });

  it('assembles items for the next request from their pieces', () => {
    const pieces = [...eventsOf(REASONING, 0), ...eventsOf(messageOf('Hello.'), 1)].filter(isDelta);

    const { metadata } = messageFrom([
      ...pieces,
      { type: 'response.completed', response: { status: 'completed' } },
    ]);

    expect(metadata).to.deep.equal({
      responses: {
        items: [
          REASONING,
          {
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
          },
        ],
      },
    });
  });

  it('takes a signature that only the final output has', () => {
    const signed = { ...REASONING, encrypted_content: 'gAAA' };

    const { metadata } = messageFrom([
      ...eventsOf(REASONING, 0),
      ...eventsOf(messageOf('Hello.'), 1),
      { type: 'response.completed', response: responseOf([signed, messageOf('Hello.')]) },
    ]);

    expect(metadata).to.have.nested.property('responses.items[0].encrypted_content', 'gAAA');
  });

  it('keeps the pieces if the complete item contradicts them', () => {
    const [added, ...others] = eventsOf(messageOf('Hello.'), 0);
    const done = others.pop() as Event;

    const { content: text } = messageFrom([
      added as Event,
      ...others,
      { ...done, item: messageOf('Good morning.') },
      { type: 'response.completed', response: responseOf([]) },
    ]);

    expect(text).to.equal('Hello.');
  });

  it('gives a call without an id one, and takes arguments as an object', () => {
    const call = { type: 'function_call', name: 'now', arguments: { zone: 'UTC' } };

    const { toolCalls } = messageFrom([
      { type: 'response.completed', response: responseOf([call]) },
    ]);

    expect(toolCalls).to.deep.equal([{ id: 'call_1', name: 'now', arguments: '{"zone":"UTC"}' }]);
  });
});
