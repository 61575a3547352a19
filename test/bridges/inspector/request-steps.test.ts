import { expect } from 'chai';
import { ChatClient, defineAdvisor, type Message } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import type { InspectedTurn } from '../../../src/bridges/inspector/index.js';
import {
  calls,
  changedTurns,
  INSIDE,
  look,
  runInspected,
  type InspectedCase,
} from '../../support/inspected-changes.js';
import { changesOf, latestTurn, newInspector, stepsOf } from '../../support/inspected-turns.js';
import { MODES, type Mode } from '../../support/modes.js';

/** Runs a turn, and reads how the inspector shows it. */
async function inspect(turn: InspectedCase, mode: Mode = 'call'): Promise<InspectedTurn> {
  const inspector = newInspector();
  await runInspected(inspector, turn, { mode });
  return latestTurn(inspector);
}

describe('the changes of a request', () => {
  for (const mode of MODES) {
    let turns: Awaited<ReturnType<typeof changedTurns>>;
    beforeEach(async () => {
      turns = await changedTurns();
    });

    it(`[1] name the advisor of an added message (${mode})`, async () => {
      const turn = await inspect(turns['a message is added'], mode);

      expect(stepsOf(turn)).to.deep.equal(['reminder: message-added 2 user Answer in one line.']);
      expect(changesOf(turn, 1)).to.deep.equal([
        'tool-calling: message-added 2 assistant',
        'tool-calling: message-added 3 tool seen',
      ]);
    });

    it(`[2] name the advisor of a removed tool (${mode})`, async () => {
      const turn = await inspect(turns['a tool is removed'], mode);

      expect(stepsOf(turn)).to.deep.equal([]);
      expect(stepsOf(turn, 1)).to.include('fewer-tools: tool-removed hide');
      expect(changesOf(turn, 1)).to.include('fewer-tools: tool-removed hide');
      expect(turn.requests.map(({ tools }) => tools.map(({ name }) => name))).to.deep.equal([
        ['look', 'hide'],
        ['look'],
      ]);
    });

    it(`[3] name the advisor of a changed option (${mode})`, async () => {
      const turn = await inspect(turns['an option is changed'], mode);

      expect(stepsOf(turn)).to.deep.equal(['cooler: option-changed temperature 1 -> 0']);
      expect(changesOf(turn, 1)).to.include('cooler: option-changed temperature 0 -> 0.1');
      expect(turn.requests.map(({ options }) => options['temperature'])).to.deep.equal([0, 0.1]);
    });

    it(`[4] name the compaction (${mode})`, async () => {
      const turn = await inspect(turns['a compaction'], mode);

      const changes = changesOf(turn, turn.requests.length - 1) ?? [];
      const changed = changes.filter((each) => each.startsWith('compaction: '));
      expect(changed).to.have.length.greaterThan(0);
      expect(changed.every((each) => /message-(changed|removed|added)/.test(each))).to.equal(true);
      const others = changes.filter((each) => !each.startsWith('compaction: '));
      expect(others.map((each) => each.replace(/ \d.*/s, ''))).to.deep.equal([
        'tool-calling: message-added',
      ]);
    });

    it(`[5] name the guard of a mask (${mode})`, async () => {
      const turn = await inspect(turns['the mask of a guard'], mode);

      expect(stepsOf(turn)).to.deep.equal([
        'guard: message-changed 1 Continue, anna@example.com. -> Continue, [email].',
      ]);
    });

    it(`[6] name the fallback of another model (${mode})`, async () => {
      const turn = await inspect(turns['the model of a fallback'], mode);

      expect(stepsOf(turn, 1)).to.deep.equal(['fallback: model-changed scripted -> spare']);
      expect(changesOf(turn, 1)).to.deep.equal(['fallback: model-changed scripted -> spare']);
    });

    it(`[7] name the retrieval of a document (${mode})`, async () => {
      const turn = await inspect(turns['an injected document'], mode);

      const [step] = stepsOf(turn);
      expect(step).to.match(/^retrieval: message-added 1 user .*Ulm is in Germany\./s);
      expect(stepsOf(turn)).to.have.length(1);
    });

    it(`[8] name the steering of a message (${mode})`, async () => {
      const turn = await inspect(turns['a steering message'], mode);

      expect(changesOf(turn, 1)?.at(-1)).to.equal('steering: message-added 4 user In Ulm, please.');
      // the loop continues with it
      expect(stepsOf(turn, 2)).to.include('steering: message-added 4 user In Ulm, please.');
      expect(changesOf(turn, 2)).to.deep.equal([
        'tool-calling: message-added 5 assistant',
        'tool-calling: message-added 6 tool seen',
      ]);
    });

    it(`[9] name the memory of a summary (${mode})`, async () => {
      const steps = stepsOf(await inspect(turns['a summary'], mode));

      expect(steps.every((each) => each.startsWith('chat-memory: message-added'))).to.equal(true);
      expect(steps.some((each) => each.includes('Anna lives in Ulm.'))).to.equal(true);
    });

    it(`[10] name the advisor of another system text (${mode})`, async () => {
      const turn = await inspect(turns['the system text'], mode);

      expect(stepsOf(turn)).to.deep.equal([
        'tone: message-changed 0 Be brief. -> Be brief. Be kind.',
      ]);
    });
  }

  it('name the loop of a message that it adds in place of the view of an advisor', async () => {
    const shortener = defineAdvisor({
      name: 'shortener',
      order: INSIDE,
      before: (request) =>
        request.withMessages(
          request.prompt.messages.map((message) =>
            message.role === 'tool' ? { ...message, content: 'short' } : message,
          ),
        ),
    });

    const turn = await inspect({
      advisors: [shortener],
      tools: [look],
      answers: [calls('look'), calls('look'), 'Done.'],
    });

    expect(stepsOf(turn, 2).map((each) => each.replace(/ \d/, ''))).to.deep.equal([
      'tool-calling: message-added assistant',
      'tool-calling: message-added tool seen',
      'tool-calling: message-added assistant',
      'tool-calling: message-added tool seen',
      'shortener: message-changed seen -> short',
      'shortener: message-changed seen -> short',
    ]);
  });

  it('are none for a copy of a message with its fields in another order', async () => {
    const copies = defineAdvisor({
      name: 'copies',
      order: INSIDE,
      before: (request) =>
        request.withMessages(
          request.prompt.messages.map(
            (message) =>
              Object.fromEntries(Object.entries(message).toReversed()) as unknown as Message,
          ),
        ),
    });

    const turn = await inspect({
      advisors: [copies],
      tools: [look],
      answers: [calls('look'), 'Done.'],
    });

    expect(stepsOf(turn)).to.deep.equal([]);
    expect(stepsOf(turn, 1).every((each) => each.startsWith('tool-calling: '))).to.equal(true);
  });

  it('are none for ids of calls, which the model gets as it has given them', async () => {
    const counted = { toolCalls: [{ name: 'look', id: 'call_1' }] };

    const turn = await inspect({ advisors: [], tools: [look], answers: [counted, 'Done.'] });

    const [, request] = turn.requests;
    expect(JSON.stringify(request?.messages)).to.include('"call_1"');
    expect(stepsOf(turn, 1).filter((each) => each.startsWith('model: '))).to.deep.equal([]);
  });

  it('of what a model call adds to the request name the model', async () => {
    const inspector = newInspector();
    const schema = { type: 'object', properties: { n: { type: 'integer' } } } as const;
    const client = ChatClient.create(new ScriptedChatModel(['{"n":1}']));

    await client
      .prompt('Number?')
      .advisors(inspector)
      .call()
      .entity(schema as never);

    const [step] = stepsOf(latestTurn(inspector));
    expect(step).to.match(/^model: message-changed 0 Number\? -> /);
  });
});
