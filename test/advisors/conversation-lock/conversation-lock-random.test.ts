import { expect } from 'chai';
import fc from 'fast-check';
import {
  AdvisorOrder,
  ChatClient,
  ConversationLockAdvisor,
  defineAdvisor,
  InMemoryKeyValueStore,
  type AdvisorChainError,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { inConversation } from '../../support/memory-advisor.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { sweep } from '../../support/sweep.js';

const tasks = async (count: number): Promise<void> => {
  for (let at = 0; at < count; at++) await new Promise((resolve) => setImmediate(resolve));
};

const TURN = fc.record({
  mode: fc.constantFrom(...MODES),
  /** Tasks after the turn before. */
  after: fc.nat(6),
  /** Tasks in the lock. */
  length: fc.nat(6),
  fails: fc.boolean(),
  /** Tasks until it is cancelled. */
  cancelledAfter: fc.option(fc.nat(12)),
});

describe('ConversationLockAdvisor, at random', () => {
  for (const onBusy of ['wait', 'reject', 'interrupt'] as const)
    it(`${onBusy}: has one turn at a time, ends all, and leaves no lock`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(TURN, { minLength: 2, maxLength: 12 }), async (plan) => {
          const store = new InMemoryKeyValueStore();
          let [inside, most] = [0, 0];
          const turns = plan.map(async ({ mode, after, length, fails, cancelledAfter }, at) => {
            await tasks(plan.slice(0, at).reduce((sum, turn) => sum + turn.after, after));
            const work = defineAdvisor({
              name: 'work',
              order: AdvisorOrder.TOOL_CALLING + 1,
              around: async (request, next) => {
                most = Math.max(most, ++inside);
                // cleanup that a cancelled turn still has to do
                await tasks(length).finally(() => inside--);
                if (fails) throw new Error('failed');
                return next(request);
              },
            });
            const client = ChatClient.builder(new ScriptedChatModel(['fine']))
              .defaultAdvisors(new ConversationLockAdvisor({ store, onBusy }), work)
              .build();
            const controller = new AbortController();
            const spec = inConversation(client.prompt('?').signal(controller.signal));
            if (cancelledAfter !== null) void tasks(cancelledAfter).then(() => controller.abort());
            const error = await failureOf(runSpec(mode, spec));
            await (error as AdvisorChainError | undefined)?.run?.settled;
          });
          await Promise.all(turns);

          expect(most).to.be.at.most(1);
          expect(inside).to.equal(0);
          expect(await store.get('conversation-lock:c')).to.equal(undefined);
        }),
        { numRuns: sweep(300), seed: 57 },
      );
    });
});
