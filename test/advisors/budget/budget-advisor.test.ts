import { mock } from 'node:test';
import { expect } from 'chai';
import {
  AdvisorOrder,
  BudgetAdvisor,
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  InvalidArgumentError,
  LimitExceededError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  priceTable,
  textOf,
  type BudgetAdvisorOptions,
  type ChatEvent,
  type ChatModel,
  type KeyValueStore,
  type PromptSpec,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { answers, asks, clientOf, eager, usage } from '../../support/budget.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';

/** A store with a time of its own. */
function storeAt(time: () => number): KeyValueStore {
  return new (class extends InMemoryKeyValueStore {
    override add(...args: Parameters<KeyValueStore['add']>) {
      const clock = mock.method(Date, 'now', time);
      try {
        return super.add(...args); // adds at once
      } finally {
        clock.mock.restore();
      }
    }
  })();
}

/** A store that calls a function before it adds. */
function storeWith(
  onAdd: (key: string, amounts: Readonly<Partial<Record<string, number>>>) => void,
): KeyValueStore {
  return new (class extends InMemoryKeyValueStore {
    override async add(...args: Parameters<KeyValueStore['add']>) {
      onAdd(args[0], args[1]);
      return super.add(...args);
    }
  })();
}

const again = defineAdvisor({
  name: 'again',
  order: AdvisorOrder.RESILIENCE,
  around: async (request, next) => {
    try {
      return await next(request);
    } catch {
      return await next(request);
    }
  },
});

const lastText = ({ prompts }: ScriptedChatModel, at = -1): string => {
  const message = prompts.at(at)?.messages.at(-1);
  return message ? textOf(message) : '';
};

for (const mode of MODES) {
  describe(`BudgetAdvisor (${mode})`, () => {
    const run = (
      model: ChatModel,
      budget: BudgetAdvisor | BudgetAdvisorOptions,
      tool?: Tool,
    ): ReturnType<typeof runSpec> => runSpec(mode, clientOf(model, budget, tool).prompt('?'));
    const limitErrorOf = async (turn: Promise<unknown>): Promise<LimitExceededError> => {
      const error = await failureOf(turn);
      expect(error).to.be.instanceOf(LimitExceededError);
      return error as LimitExceededError;
    };

    it('leaves a turn within its limits alone', async () => {
      const model = new ScriptedChatModel([asks(), answers('fine')]);

      const response = await run(model, { maxTokens: 10_000, maxModelCalls: 10, maxToolCalls: 5 });

      expect([response.text, response.metadata?.['limit']]).to.deep.equal(['fine', undefined]);
      expect(model.prompts[1]?.messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'tool']); // prettier-ignore
    });

    it('[F11] ends with an answer without tools, and never exceeds the limit by a turn (langchain#38842)', async () => {
      const model = eager();

      const response = await run(model, { maxTokens: 1_000 });

      expect(response.text).to.equal('done');
      expect(response.usage?.totalTokens).to.be.within(800, 1_000);
      expect(response.metadata?.['limit']).to.include({ limit: 'tokens', max: 1_000 });
      expect(model.prompts.at(-1)?.options.tools ?? []).to.deep.equal([]);
      expect(lastText(model)).to.include('Answer now, without tools');
    });

    it('keeps the reserve for the last answer', async () => {
      const few = await run(eager(50), { maxTokens: 1_000, reserve: 0.5 });
      const many = await run(eager(50), { maxTokens: 1_000, reserve: 0 });

      expect([few.usage?.totalTokens, many.usage?.totalTokens]).to.deep.equal([550, 1_000]);
    });

    it('[F11] does not send a request that would exceed the limit, with onLimit throw', async () => {
      const model = eager();

      const error = await limitErrorOf(run(model, { maxTokens: 250, onLimit: 'throw' }));

      expect(error).to.include({ limit: 'tokens', value: 250, spent: 200, option: 'maxTokens' });
      expect(error.message).to.include('200 of 250 tokens are spent; raise maxTokens');
      expect(error.run?.usage?.totalTokens).to.equal(200);
      expect(error.run?.transcript.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'tool', 'assistant', 'tool']); // prettier-ignore
      expect(model.prompts).to.have.length(2);
    });

    for (const max of [1, 2, 5])
      it(`calls the model ${max} times with maxModelCalls ${max}, and answers`, async () => {
        const model = eager();

        const response = await run(model, { maxModelCalls: max });

        expect([response.text, model.prompts.length]).to.deep.equal(['done', max]);
      });

    it('throws before the call after maxModelCalls', async () => {
      const model = eager();

      const error = await limitErrorOf(run(model, { maxModelCalls: 3, onLimit: 'throw' }));

      expect(error).to.include({
        limit: 'model-calls',
        value: 3,
        spent: 3,
        option: 'maxModelCalls',
      });
      expect(model.prompts).to.have.length(3);
    });

    it('refuses the tool calls of a batch beyond the limit, then asks for the answer', async () => {
      let calls = 0;
      const tool = defineTool({ name: 'look', execute: () => ++calls });
      const model = new ScriptedChatModel([asks(100, 5), answers('done')]);

      const response = await run(model, { maxToolCalls: 3 }, tool);

      const results = model.prompts[1]?.messages.filter(({ role }) => role === 'tool');
      expect([response.text, calls]).to.deep.equal(['done', 3]);
      expect(results?.filter((each) => 'isError' in each)).to.have.length(2);
      expect(model.prompts[1]?.options.tools ?? []).to.deep.equal([]);
    });

    it('ends with an error at a tool call beyond the limit, with onLimit throw', async () => {
      const model = new ScriptedChatModel([asks(100, 2), answers('done')]);

      const error = await limitErrorOf(run(model, { maxToolCalls: 1, onLimit: 'throw' }));

      expect(error).to.include({ limit: 'tool-calls', value: 1, spent: 1, option: 'maxToolCalls' });
    });

    it('ends a turn that lasts too long with an answer', async () => {
      const slow = defineTool({
        name: 'look',
        execute: () => {
          const start = performance.now();
          while (performance.now() - start < 30);
          return 'something';
        },
      });
      const model = eager();

      const response = await run(model, { maxDuration: 25 }, slow);

      expect([response.text, model.prompts.length]).to.deep.equal(['done', 2]);
      expect(response.metadata?.['limit']).to.include({ limit: 'duration' });
    });

    const price = priceTable({ scripted: { input: 1_000, output: 1_000 } });

    it('limits money by a price function (vercel/ai#3932, agent-os#363)', async () => {
      const response = await run(eager(), { maxCost: 0.55, price });

      expect(response.usage?.totalTokens).to.equal(500);
      expect(response.metadata?.['limit']).to.include({ limit: 'cost', max: 0.55 });
    });

    const priced = (options: BudgetAdvisorOptions): PromptSpec =>
      clientOf(eager(), options).mutate().price(price).build().prompt('?');

    it('limits money by the price of the client', async () => {
      const { cost, metadata } = await runSpec(mode, priced({ maxCost: 0.55 }));

      expect(cost).to.be.closeTo(0.5, 1e-9);
      expect(metadata?.['limit']).to.include({ limit: 'cost', max: 0.55 });
    });

    it('prefers its own price to the one of the client', async () => {
      const spec = priced({ maxCost: 1_000, price: () => 1_000, onLimit: 'throw' });

      const error = await limitErrorOf(runSpec(mode, spec));

      expect(error).to.include({ limit: 'cost', value: 1_000, spent: 1_000 });
      expect(error.run?.cost).to.be.closeTo(0.1, 1e-9);
    });

    for (const options of [
      { maxCost: 1 },
      { shared: [{ name: 'a', key: () => 'k', maxCost: 1 }] },
    ] satisfies BudgetAdvisorOptions[])
      it(`refuses a limit of the cost without any price before a call (${Object.keys(options).join()})`, async () => {
        const model = eager();

        const error = await failureOf(run(model, options));

        expect(error).to.be.instanceOf(InvalidArgumentError);
        expect((error as Error).message).to.match(/maxCost needs a price: price\(priceTable/);
        expect(model.prompts).to.have.length(0);
      });

    it('has the cost of the turn in the status of another limit, if all prices are known', async () => {
      const costs = async (spec: PromptSpec): Promise<unknown[]> => {
        const seen: unknown[] = [];
        const recorder = defineAdvisor({
          name: 'recorder',
          order: 0,
          onEvent: (event) => {
            if (event.type === 'custom' && event.name === 'budget-warning')
              seen.push(event.data.cost);
          },
        });
        await runSpec(mode, spec.advisors(recorder));
        return seen;
      };
      const limits = { maxModelCalls: 5 };

      const [known] = await costs(priced(limits));
      const unknown = await costs(priced(limits).price(priceTable({ other: { input: 1 } })));
      const own = await costs(clientOf(eager(), { ...limits, price: () => 2 }).prompt('?'));

      expect(known).to.be.closeTo(0.4, 1e-9);
      expect([unknown, own]).to.deep.equal([[undefined], [8]]);
    });

    for (const bad of [NaN, -1, Infinity, '0.1' as never, 5n as never])
      it(`fails if price returns ${typeof bad} ${bad}, which would lift the limit`, async () => {
        const error = await failureOf(run(eager(), { maxCost: 1, price: () => bad }));

        expect(error).to.be.instanceOf(InvalidArgumentError);
      });

    it('keeps the limit after an answer whose usage is no number', async () => {
      const model = new ScriptedChatModel(({ options }, index) => ({
        ...(options.tools?.length
          ? { toolCalls: [{ name: 'look', arguments: { index } }] }
          : { text: 'done' }),
        usage: usage(index === 0 ? NaN : 100),
      }));

      const response = await run(model, { maxTokens: 500 });

      expect([response.text, model.prompts.length]).to.deep.equal(['done', 6]);
    });

    it('counts failed attempts and retries, as the provider reports them', async () => {
      const error = new ModelCallError('cut off', { usage: usage(300), retryable: true });
      const model = new ScriptedChatModel([error, answers('done'), answers('never')]);
      const client = clientOf(model, { maxTokens: 700 });

      const response = await runSpec(mode, client.prompt('?').advisors(again));

      expect(response.metadata?.['limit']).to.include({ limit: 'tokens' });
      expect(response.usage?.totalTokens).to.equal(400);
    });

    it('makes one last call only, also if it fails', async () => {
      const error = new ModelCallError('cut off', { usage: usage(900), retryable: true });
      const model = new ScriptedChatModel([asks(900), error, answers('never')]);
      const spec = clientOf(model, { maxTokens: 1_000 }).prompt('?').advisors(again);

      const { option } = await limitErrorOf(runSpec(mode, spec));

      expect([option, model.prompts.length]).to.deep.equal(['maxTokens', 2]);
    });

    it('counts a sub-agent in the budget of the turn (yoagent#173)', async () => {
      const inner = new ScriptedChatModel(() => answers('found', 900));
      const research = defineTool({
        name: 'look',
        execute: (_args, { signal }) =>
          ChatClient.create(inner).prompt('?').signal(signal).call().content(),
      });
      const model = eager();

      const response = await run(model, { maxTokens: 1_000 }, research);

      expect([response.text, inner.prompts.length]).to.deep.equal(['done', 1]);
      expect(response.metadata?.['limit']).to.include({ limit: 'tokens' });
    });

    it('limits a sub-agent with the same advisor by what the outer turn has left', async () => {
      const budget = new BudgetAdvisor({ maxTokens: 2_000, maxToolCalls: 100 });
      const inner = eager();
      const child = clientOf(inner, budget);
      const research = defineTool({
        name: 'look',
        execute: (_args, { signal }) => child.prompt('?').signal(signal).call().content(),
      });

      const response = await run(eager(), budget, research);

      expect(response.text).to.equal('done');
      expect(response.usage?.totalTokens).to.be.at.most(2_000);
      expect(inner.prompts.at(-1)?.options.tools ?? []).to.deep.equal([]);
    });

    it('warns the application at 80 %, once for a limit (deer-flow#3412)', async () => {
      const events: ChatEvent[] = [];
      const recorder = defineAdvisor({
        name: 'recorder',
        order: 0,
        onEvent: (event) => void events.push(event),
      });
      const client = clientOf(eager(), { maxModelCalls: 5 });

      await runSpec(mode, client.prompt('?').advisors(recorder));

      expect(events.filter(({ type }) => type === 'custom')).to.deep.equal([
        {
          type: 'custom',
          name: 'budget-warning',
          data: { limit: 'model-calls', value: 5, spent: 4, option: 'maxModelCalls' },
        },
      ]);
    });

    it('gives the model the warning in each call after it (deepagents#6209), and keeps it out of the history', async () => {
      const model = new ScriptedChatModel([asks(810), asks(5), answers('fine', 5)]);

      await run(model, { maxModelCalls: 100, maxToolCalls: 1_000, maxTokens: 2_500, warnAt: 0.3 });

      expect([lastText(model, 0), lastText(model, 1), lastText(model, 2)]).to.deep.equal([
        '?',
        'Most of the budget of this turn is used. Come to an answer soon.',
        'Most of the budget of this turn is used. Come to an answer soon.',
      ]);
      expect(model.prompts[2]?.messages.filter(({ role }) => role === 'user')).to.have.length(2);
    });

    it('keeps the hints out of the memory', async () => {
      const chatMemory = new MessageWindowChatMemory({
        repository: new InMemoryChatMemoryRepository(),
      });
      const client = clientOf(eager(), { maxModelCalls: 2 });
      const spec = client
        .prompt('?')
        .advisors(new MessageChatMemoryAdvisor({ chatMemory }))
        .advisors((a) => a.param(CONVERSATION_ID, 'c'));

      const response = await runSpec(mode, spec);

      expect(response.run?.stored[0]?.messages.map((each) => each.content)).to.deep.equal(['?', 'done']); // prettier-ignore
    });

    it('keeps the text of a last answer that asks for tools all the same', async () => {
      const model = new ScriptedChatModel(() => ({ ...asks(), text: 'So far: something.' }));

      const response = await run(model, { maxModelCalls: 2 });

      expect([response.text, response.hasToolCalls()]).to.deep.equal(['So far: something.', false]);
      expect(model.prompts).to.have.length(2);
    });

    it('ends with an error if the last answer has calls and no text', async () => {
      const error = await limitErrorOf(
        run(new ScriptedChatModel(() => asks()), { maxModelCalls: 2 }),
      );

      expect(error).to.include({ limit: 'model-calls', option: 'maxModelCalls' });
    });

    it('limits a conversation over its turns, and sends nothing when it is used up (spring-ai#6683)', async () => {
      const model = new ScriptedChatModel(() => answers('fine', 400));
      const client = clientOf(model, {
        shared: [
          { name: 'chat', key: ({ context }) => context.get(CONVERSATION_ID), maxTokens: 1_000 },
        ],
      });
      const turn = (id?: string) =>
        runSpec(mode, client.prompt('?').advisors((a) => id === undefined ? a : a.param(CONVERSATION_ID, id))); // prettier-ignore

      for (let time = 0; time < 3; time++) await turn('a');
      const error = await limitErrorOf(turn('a'));
      await turn('b');
      await turn();

      expect(error).to.include({ limit: 'tokens', value: 1_000, option: 'chat.maxTokens' });
      expect(error.run?.ledger).to.deep.equal([]);
      expect(model.prompts).to.have.length(5);
    });

    it('lets a tenant spend again in the next window', async () => {
      let time = 0;
      const model = new ScriptedChatModel(() => answers('fine', 400));
      const day = { name: 'tenant', key: () => 'acme', window: 1_000, maxTokens: 400 };
      const client = clientOf(model, { shared: [day], store: storeAt(() => time) });
      const turn = () => runSpec(mode, client.prompt('?'));

      await turn();
      time = 999;
      await limitErrorOf(turn());
      time = 1_000;
      await turn();

      expect(model.prompts).to.have.length(2);
    });

    it('counts each call once in a shared budget, also in sub-agents and failed turns', async () => {
      const sums: number[] = [];
      const store = storeWith((_key, { tokens = 0 }) => void sums.push(tokens));
      const shared = [{ name: 'all', key: () => 'all', maxTokens: 100_000 }];
      const budget = new BudgetAdvisor({ shared, store });
      const child = clientOf(new ScriptedChatModel([asks(7), answers('found', 11)]), budget);
      const research = defineTool({
        name: 'look',
        execute: (_args, { signal }) => child.prompt('?').signal(signal).call().content(),
      });
      const failure = new ModelCallError('cut off', { usage: usage(5) });

      await failureOf(run(new ScriptedChatModel([asks(3), failure]), budget, research));

      expect(sums.reduce((sum, tokens) => sum + tokens, 0)).to.equal(3 + 7 + 11 + 5);
    });

    it('reports the failure of the model, not of a store after it', async () => {
      const failure = new ModelCallError('down');
      let calls = 0;
      const store = storeWith(() => {
        if (++calls > 1) throw new Error('no connection');
      });
      const shared = [{ name: 's', key: () => 'k', maxTokens: 9 }];

      const error = await failureOf(run(new ScriptedChatModel([failure]), { shared, store })); // prettier-ignore

      expect([error, calls]).to.deep.equal([failure, 2]);
    });

    it('ends the turn with the error of a store, before the model is called', async () => {
      const failure = new Error('no connection');
      const model = eager();
      const store = storeWith(() => {
        throw failure;
      });

      const error = await failureOf(run(model, { store, shared: [{ name: 's', key: () => 'k', maxTokens: 9 }] })); // prettier-ignore

      expect(error).to.equal(failure);
      expect(model.prompts).to.have.length(0);
    });
  });
}

describe('BudgetAdvisor', () => {
  it('has a budget for each of several concurrent turns', async () => {
    const model = eager();
    const client = clientOf(model, { maxModelCalls: 3 });

    const texts = await Promise.all([1, 2, 3].map(() => client.prompt('?').call().content()));

    expect([texts, model.prompts.length]).to.deep.equal([['done', 'done', 'done'], 9]);
  });

  it('stands right of the advisors that repeat calls; explain() warns left of the loop', () => {
    const right = clientOf(eager(), { maxTokens: 5 }).explain();
    const left = clientOf(eager(), { maxTokens: 5, order: AdvisorOrder.GUARD }).explain();

    expect([right.oncePerIteration, right.warnings]).to.deep.equal([['budget'], []]);
    expect(left.warnings.join()).to.include('limits model calls left of the tool loop');
  });

  const key = (): string => 'k';
  const BAD: readonly BudgetAdvisorOptions[] = [
    { maxTokens: 0 },
    { maxCost: 0, price: () => 0 },
    { maxModelCalls: 0.5 },
    { maxToolCalls: -1 },
    { maxDuration: 0 },
    { reserve: 2 },
    { warnAt: -1 },
    { onLimit: 'ask' as never },
    { store: {} as never },
    { shared: {} as never },
    { shared: [{ name: ' ', key }] },
    { shared: [{ name: 'a', key: 'tenant' as never }] },
    { shared: [{ name: 'a', key, window: 0 }] },
    { shared: [{ name: 'a', key }, { name: 'a', key }] }, // prettier-ignore
  ];
  BAD.forEach((options, at) =>
    it(`refuses invalid options ${at}`, () => {
      expect(() => new BudgetAdvisor(options)).to.throw(InvalidArgumentError, 'BudgetAdvisor');
    }),
  );

  it('refuses a key that is no text', async () => {
    const shared = [{ name: 'a', key: () => 7 as never, maxTokens: 1 }];

    const error = await failureOf(clientOf(eager(), { shared }).prompt('?').call().content());

    expect(error).to.be.instanceOf(InvalidArgumentError);
  });
});
