import { expect } from 'chai';
import {
  AdvisorOrder,
  ApprovalAdvisor,
  ChatClient,
  defineAdvisor,
  defineTool,
  InMemoryDurableEngine,
  InMemoryKeyValueStore,
  type Advisor,
  type PausedTurn,
} from '../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import { durableSpec, finish, type DurableTurn } from '../support/durable.js';
import { failureOf, MODES, runSpec } from '../support/modes.js';
import { decideAll, pauseOptions } from '../support/paused-turns.js';

const CALL: ScriptedAnswer = { toolCalls: [{ id: 'c1', name: 'pay' }] };

/** A tool with an effect, and an advisor next to it that fails a number of times, before or after the tool. */
function world(place: 'before' | 'after', failures = 1) {
  const paid: string[] = [];
  let left = failures;
  const fail = (): void => {
    if (left-- > 0) throw new Error('the store is down');
  };
  const pay = defineTool({
    name: 'pay',
    effect: 'write',
    execute: (_, { idempotencyKey }) => `paid ${paid.push(idempotencyKey)}`,
  });
  const around: Advisor = defineAdvisor({
    name: 'store',
    order: AdvisorOrder.DURABLE + 50,
    aroundTool: async (call, next) => {
      if (place === 'before') fail();
      const result = await next(call);
      if (place === 'after') fail();
      return result;
    },
  });
  return { paid, pay, around };
}

for (const mode of MODES)
  describe(`a failure around a recorded tool call (${mode})`, () => {
    it('[D75] does not end a call whose tool has not run: a resumed turn makes it', async () => {
      const { paid, pay, around } = world('before');
      const client = ChatClient.builder(new ScriptedChatModel([CALL, 'Done.']))
        .defaultTools(pay)
        .defaultAdvisors(new ApprovalAdvisor({ pause: pauseOptions() }), around)
        .build();
      const first = await runSpec(mode, client.prompt('Pay.'));
      const { state } = first.paused as PausedTurn;
      const decisions = decideAll(first);
      const failure = await failureOf(runSpec(mode, client.resume(state, decisions)));

      const { text } = await runSpec(mode, client.resume(state, decisions));

      expect(String(failure)).to.include('the store is down');
      expect(text).to.equal('Done.');
      expect(paid).to.have.length(1);
    });

    it('[D75] does not end a call of a durable turn, which makes it when it runs again', async () => {
      const { paid, pay, around } = world('before', 2);
      const turn = (...answers: readonly ScriptedAnswer[]): DurableTurn => ({
        model: new ScriptedChatModel(answers),
        tools: [pay],
        advisors: [around],
        options: { onUnknown: 'refuse' },
      });
      const engine = new InMemoryDurableEngine();
      const first = await finish(durableSpec(turn(CALL), engine), mode);
      const next = new InMemoryDurableEngine(engine.entries());
      const second = await finish(durableSpec(turn(), next), mode);

      const last = new InMemoryDurableEngine(next.entries());
      const third = await finish(durableSpec(turn('Done.'), last), mode);

      expect([first.error, second.error].map(String)).to.deep.equal(
        Array(2).fill('Error: the store is down'),
      );
      expect(third.response?.text).to.equal('Done.');
      expect(paid).to.have.length(1);
    });

    it('[D75] leaves the outcome of a call open whose tool has run', async () => {
      const { paid, pay, around } = world('after');
      const asked: string[] = [];
      const turn = (...answers: readonly ScriptedAnswer[]): DurableTurn => ({
        model: new ScriptedChatModel(answers),
        tools: [pay],
        advisors: [around],
        options: {
          reconcile: ({ call }) => {
            asked.push(call.id);
            return { content: 'paid before' };
          },
        },
      });
      const engine = new InMemoryDurableEngine();
      const first = await finish(durableSpec(turn(CALL), engine), mode);

      const again = new InMemoryDurableEngine(engine.entries());
      const second = await finish(durableSpec(turn('Done.'), again), mode);

      expect(String(first.error)).to.include('the store is down');
      expect(second.response?.text).to.equal('Done.');
      expect(paid).to.have.length(1);
      expect(asked).to.deep.equal(['c1']);
    });

    it('[D110] is a failure of the tool if it has failed, also with arguments of a person', async () => {
      const pay = defineTool({
        name: 'pay',
        effect: 'write',
        execute: () => {
          throw new Error('the bank is closed');
        },
      });
      const edit = { type: 'edit', arguments: { euros: 5 } } as const;
      const turn = (...answers: readonly ScriptedAnswer[]): DurableTurn => ({
        model: new ScriptedChatModel(answers),
        tools: [pay],
        advisors: [new ApprovalAdvisor({ decide: () => edit, store: new InMemoryKeyValueStore() })],
      });
      const engine = new InMemoryDurableEngine();
      await finish(durableSpec(turn(CALL, 'The bank is closed.'), engine), mode);

      const again = new InMemoryDurableEngine(engine.entries());
      const { response, error } = await finish(durableSpec(turn(), again), mode);

      expect(error).to.equal(undefined);
      expect(response?.text).to.equal('The bank is closed.');
    });
  });
