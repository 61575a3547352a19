import { expect } from 'chai';
import {
  AdvisorOrder,
  ApprovalAdvisor,
  BudgetAdvisor,
  ChatClient,
  defineAdvisor,
  defineTool,
  InMemoryKeyValueStore,
  ModelCallError,
  RetryAdvisor,
  ToolCallingAdvisor,
  ToolCallingManager,
  type KeyValueStore,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { answers, asks, clientOf, eager, usage } from '../../support/budget.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { decideAll, pauseOptions } from '../../support/paused-turns.js';
import { settle } from '../../support/promises.js';

/** A store that waits for a function before it adds. */
function storeAfter(wait: () => Promise<void>): KeyValueStore {
  return new (class extends InMemoryKeyValueStore {
    override async add(...args: Parameters<KeyValueStore['add']>) {
      await wait();
      return super.add(...args);
    }
  })();
}

const spentIn = (store: KeyValueStore) =>
  store.add('budget:["all","k"]', { tokens: 0, modelCalls: 0, toolCalls: 0 });

for (const mode of MODES)
  describe(`BudgetAdvisor counts (${mode})`, () => {
    const all = { name: 'all', key: () => 'k' };

    it('a nested turn before the first call of the outer one, once', async () => {
      const store = new InMemoryKeyValueStore();
      const budget = new BudgetAdvisor({ shared: [{ ...all, maxTokens: 10_000 }], store });
      const child = clientOf(new ScriptedChatModel([answers('rewritten', 100)]), budget);
      const rewrite = defineAdvisor({
        name: 'rewrite',
        order: AdvisorOrder.GUARD,
        around: async (request, next) => {
          await child.prompt('Rewrite it.').signal(request.signal).call().content();
          return next(request);
        },
      });
      const client = clientOf(new ScriptedChatModel([answers('fine', 20)]), budget);

      await runSpec(mode, client.prompt('?').advisors(rewrite));

      expect(await spentIn(store)).to.deep.equal({ tokens: 120, modelCalls: 2, toolCalls: 0 });
    });

    it('[D83] each call of a turn that pauses once', async () => {
      const store = new InMemoryKeyValueStore();
      const [pay, read] = (['write', 'read'] as const).map((effect) =>
        defineTool({ name: effect, effect, execute: () => 'done' }),
      );
      const call = (name: string, id: string) => ({ name, id, arguments: { id } });
      const model = new ScriptedChatModel([
        { toolCalls: [call('read', 'a')] },
        { toolCalls: [call('read', 'b'), call('write', 'c')] },
        { toolCalls: [call('write', 'd')] },
        'Done.',
      ]);
      const client = ChatClient.builder(model)
        .defaultTools(pay as Tool, read as Tool)
        .defaultAdvisors(
          new ApprovalAdvisor({ pause: pauseOptions() }),
          new BudgetAdvisor({ shared: [{ ...all, maxToolCalls: 100 }], store }),
        )
        .build();

      let response = await runSpec(mode, client.prompt('?'));
      while (response.paused)
        response = await runSpec(mode, client.resume(response.paused.state, decideAll(response)));

      expect(response.text).to.equal('Done.');
      expect(await spentIn(store)).to.include({ toolCalls: 4, modelCalls: 4 });
    });

    it('a failed attempt that the store could not take, with the next call', async () => {
      let writes = 0;
      const store = storeAfter(async () => {
        if (++writes === 2) throw new Error('no connection');
      });
      const error = new ModelCallError('cut off', { usage: usage(300), retryable: true });
      const client = clientOf(new ScriptedChatModel([error, answers('fine', 100)]), {
        shared: [{ ...all, maxTokens: 10_000 }],
        store,
      });

      await runSpec(mode, client.prompt('?').advisors(new RetryAdvisor({ firstDelay: 0 })));

      expect(await spentIn(store)).to.include({ tokens: 400, modelCalls: 2 });
    });

    it('no attempt as free because its price is unknown', async () => {
      const failure = new Error('no price');
      const price = ({ outcome }: { readonly outcome: string }): number => {
        if (outcome === 'failed') throw failure;
        return 0.1;
      };
      const error = new ModelCallError('cut off', { usage: usage(300), retryable: true });
      const model = new ScriptedChatModel([error, answers('never')]);
      const spec = clientOf(model, { maxCost: 1, price }).prompt('?');

      const thrown = await failureOf(
        runSpec(mode, spec.advisors(new RetryAdvisor({ firstDelay: 0 }))),
      );

      expect([thrown, model.prompts.length]).to.deep.equal([failure, 1]);
    });

    it('tool calls of a batch while a slow store is being written', async () => {
      let calls = 0;
      const tool = defineTool({
        name: 'look',
        execute: async () => {
          // the second one ends later, so that the third one starts during the write of the first
          if (++calls === 2) await settle();
          return 'something';
        },
      });
      const budget = new BudgetAdvisor({
        shared: [{ ...all, maxToolCalls: 3 }],
        store: storeAfter(settle),
      });
      const client = ChatClient.builder(new ScriptedChatModel([asks(10, 8), answers('done')]))
        .defaultTools(tool)
        .defaultAdvisors(
          budget,
          new ToolCallingAdvisor({ manager: new ToolCallingManager({ concurrency: 2 }) }),
        )
        .build();

      await runSpec(mode, client.prompt('?'));

      expect(calls).to.equal(3);
    });

    it('model calls of nested turns that an advisor delays: one more for the answer of each at most', async () => {
      const budget = new BudgetAdvisor({ maxModelCalls: 6 });
      const delay = defineAdvisor({
        name: 'delay',
        order: AdvisorOrder.LOGGER,
        around: async (request, next) => {
          await settle();
          return next(request);
        },
      });
      const inner = eager();
      const child = ChatClient.builder(inner)
        .defaultTools(defineTool({ name: 'look', execute: () => 'something' }))
        .defaultAdvisors(budget, delay)
        .build();
      const research = defineTool({
        name: 'look',
        execute: (_args, { signal }) => child.prompt('?').signal(signal).call().content(),
      });
      const outer = new ScriptedChatModel([asks(10, 5), answers('done')]);

      const response = await runSpec(mode, clientOf(outer, budget, research).prompt('?'));

      // 1 of the outer turn and 5 of the nested ones, the last of which is an answer; 4 answers and the outer turn's
      expect([response.text, inner.prompts.length]).to.deep.equal(['done', 9]);
    });
  });
