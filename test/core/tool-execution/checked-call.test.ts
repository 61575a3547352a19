import { expect } from 'chai';
import { z } from 'zod';
import {
  ApprovalAdvisor,
  ChatClient,
  defineAdvisor,
  defineTool,
  DurableAdvisor,
  InMemoryDurableEngine,
  RetryAdvisor,
  type Advisor,
  type ChatEvent,
  type Decision,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { MODES, runSpec } from '../../support/modes.js';
import { decideAll, pauseOptions } from '../../support/paused-turns.js';
import { recorder } from '../../support/turn.js';

const JUNE = '2026-06-01T00:00:00.000Z';
const MAY = '2026-05-01T00:00:00.000Z';
const book = defineTool({
  name: 'book',
  effect: 'write',
  input: z.object({ at: z.coerce.date(), nights: z.number().default(1) }),
  execute: ({ at, nights }) => `${nights} from ${at.toISOString()}`,
});
const asks = (name: string, args: object): ScriptedAnswer => ({
  toolCalls: [{ id: 'c1', name, arguments: { ...args } }],
});
const PARSED = { at: new Date(JUNE), nights: 1 };
const EDITED = { at: new Date(MAY), nights: 3 };
const edit: Decision = { type: 'edit', arguments: { at: MAY, nights: 3 }, by: 'anna' };

/** Type and input of the events of tools. */
function inputsOf(events: readonly ChatEvent[]): readonly unknown[] {
  return events.flatMap((event) =>
    event.type === 'tool-call' || event.type === 'tool-result'
      ? [[event.type, event.call.input]]
      : [],
  );
}
const shown = (before: unknown, after: unknown): readonly unknown[] => [
  ['tool-call', before],
  ['tool-result', after],
];

/** A client that books, and its events. */
function booking(answers: readonly ScriptedAnswer[], ...advisors: readonly Advisor[]) {
  const events: ChatEvent[] = [];
  const model = new ScriptedChatModel([...answers]);
  const client = ChatClient.builder(model)
    .defaultTools(book)
    .defaultAdvisors(recorder(events), ...advisors)
    .build();
  return { client, events };
}

describe('the checked arguments of a call, in events', () => {
  for (const mode of MODES) {
    it(`are what the tool gets, beside the text of the model (${mode})`, async () => {
      const { client, events } = booking([asks('book', { at: JUNE }), 'Done.']);

      const { steps } = await runSpec(mode, client.prompt('Go.'));

      expect(inputsOf(events)).to.deep.equal(shown(PARSED, PARSED));
      expect(steps[0]?.toolCalls[0]?.call.arguments).to.equal(JSON.stringify({ at: JUNE }));
    });

    for (const [title, answer] of Object.entries({
      'arguments that do not fit': asks('book', { at: JUNE, nights: 'many' }),
      'an unknown tool': asks('boook', { at: JUNE }),
    }))
      it(`are absent for ${title} (${mode})`, async () => {
        const { client, events } = booking([answer, 'Done.']);

        await runSpec(mode, client.prompt('Go.'));

        expect(inputsOf(events)).to.deep.equal(shown(undefined, undefined));
      });

    it(`are the edited ones after the call has run (${mode})`, async () => {
      const approval = new ApprovalAdvisor({ decide: () => edit });
      const { client, events } = booking([asks('book', { at: JUNE }), 'Done.'], approval);

      const { steps } = await runSpec(mode, client.prompt('Go.'));

      expect(inputsOf(events)).to.deep.equal(shown(PARSED, EDITED));
      expect(steps[0]?.toolCalls[0]?.call.arguments).to.equal(JSON.stringify(EDITED));
    });

    it(`are the same in a resumed turn (${mode})`, async () => {
      const approval = new ApprovalAdvisor({ pause: pauseOptions() });
      const { client, events } = booking([asks('book', { at: JUNE }), 'Done.'], approval);
      const paused = await runSpec(mode, client.prompt('Go.'));
      const before = inputsOf(events.splice(0));

      await runSpec(mode, client.resume(paused.paused?.state ?? '', decideAll(paused, edit)));

      expect(before).to.deep.equal([['tool-call', PARSED]]);
      expect(inputsOf(events)).to.deep.equal(shown(PARSED, EDITED));
    });

    it(`are the same in a durable turn that runs again (${mode})`, async () => {
      const play = async (engine: InMemoryDurableEngine, ...answers: readonly ScriptedAnswer[]) => {
        const advisors = [
          new ApprovalAdvisor({ decide: () => edit }),
          new DurableAdvisor({ engine }),
        ];
        const { client, events } = booking(answers, ...advisors);
        await runSpec(mode, client.prompt('Go.').turnId('t'));
        return events;
      };
      const first = new InMemoryDurableEngine();
      const events = await play(first, asks('book', { at: JUNE }), 'Done.');

      const replayed = await play(new InMemoryDurableEngine(first.entries()));

      expect(inputsOf(events)).to.deep.equal(shown(PARSED, EDITED));
      expect(inputsOf(replayed)).to.deep.equal(shown(PARSED, EDITED));
    });

    it(`are the same in a turn that is attempted again (${mode})`, async () => {
      let attempts = 0;
      const failing = defineAdvisor({
        name: 'failing',
        order: 0,
        after: () => {
          if (attempts++ === 0) throw new Error('once');
        },
      });
      const answer = asks('book', { at: JUNE });
      const { client, events } = booking(
        [answer, 'Done.', answer, 'Done.'],
        new RetryAdvisor({ order: -1, when: (error) => error !== undefined, firstDelay: 1 }),
        failing,
        new ApprovalAdvisor({ decide: () => edit }),
      );

      await runSpec(mode, client.prompt('Go.').turnId('t'));

      const once = shown(PARSED, EDITED);
      expect(inputsOf(events)).to.deep.equal([...once, ...once]);
    });
  }

  it('are frozen copies, left out of JSON and of copies of the call', async () => {
    const events: ChatEvent[] = [];
    const got: unknown[] = [];
    const changing = defineTool({
      name: 'book',
      input: z.object({ list: z.array(z.coerce.bigint()) }),
      execute: (args) => void got.push(args.list.pop()),
    });
    const model = new ScriptedChatModel([asks('book', { list: [7] }), 'Done.']);
    const client = ChatClient.builder(model)
      .defaultTools(changing)
      .defaultAdvisors(recorder(events))
      .build();

    await client.prompt('Go.').call().content();

    expect(got).to.deep.equal([7n]);
    expect(inputsOf(events)).to.deep.equal(shown({ list: [7n] }, { list: [7n] }));
    const [event] = events.filter(({ type }) => type === 'tool-call');
    const { call } = event as Extract<ChatEvent, { readonly type: 'tool-call' }>;
    expect(call.input).to.be.frozen.and.to.equal(call.input);
    expect({ ...call }).not.to.have.property('input');
    expect(JSON.parse(JSON.stringify(event))).to.deep.equal({
      type: 'tool-call',
      toolName: 'book',
      call: { id: 'c1', name: 'book', arguments: '{"list":[7]}' },
    });
  });
});
