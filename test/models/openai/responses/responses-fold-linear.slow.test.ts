import type { JsonObject } from '../../../../src/core/internal/options.js';
import { ResponsesFold } from '../../../../src/models/openai/responses/responses-fold.js';
import { expectLinearTime } from '../../../support/linear-time.js';
import { eventsOf, messageOf, responseOf } from '../../../support/responses-answers.js';

const delta = (name: string, fields: JsonObject = {}): JsonObject => ({
  type: `response.${name}.delta`,
  output_index: 0,
  content_index: 0,
  delta: 'ab',
  ...fields,
});
const call = (at: number): JsonObject => ({
  type: 'function_call',
  id: `fc_${at}`,
  call_id: `call_${at}`,
  name: 'now',
  arguments: '{}',
});

/** Events of which an answer has as many as the server wants. */
const EVENTS: Readonly<Record<string, (at: number) => readonly JsonObject[]>> = {
  'pieces of a text': () => [delta('output_text')],
  'pieces without position and id': () => [
    { type: 'response.output_text.delta', content_index: 0, delta: 'ab' },
  ],
  'parts of a text': (at) => [delta('output_text', { content_index: at })],
  'parts of reasoning': (at) => [delta('reasoning_summary_text', { summary_index: at })],
  'complete parts': () => [
    delta('output_text'),
    { ...delta('output_text'), type: 'response.output_text.done', text: 'no' },
  ],
  'pieces of arguments': () => [delta('function_call_arguments')],
  calls: (at) => eventsOf(call(at), at),
  'calls at position 0': (at) => eventsOf(call(at), 0),
  messages: (at) => eventsOf(messageOf('ab', { id: `msg_${at}` }), at),
};

/** Processor time in milliseconds to fold an answer of so many events. */
function timeOf(events: (at: number) => readonly JsonObject[], count: number): number {
  const all = Array.from({ length: count }, (_, at) => events(at)).flat();
  const fold = new ResponsesFold(() => undefined, true);
  const { user } = process.cpuUsage();
  for (const event of all) fold.addEvent(event);
  fold.addEvent({ type: 'response.completed', response: responseOf([]) });
  fold.response(undefined);
  return (process.cpuUsage().user - user) / 1_000;
}

describe('ResponsesFold takes linear time', function () {
  this.timeout(60_000);

  for (const [title, events] of Object.entries(EVENTS))
    it(`for ${title}`, () => {
      const count = 2_000;
      expectLinearTime((size) => timeOf(events, size), count);
    });
});
