import { mock } from 'node:test';
import { expect } from 'chai';
import {
  BudgetAdvisor,
  defineAdvisor,
  defineTool,
  InMemoryKeyValueStore,
  InvalidArgumentError,
  LimitExceededError,
  TimeoutAdvisor,
  type BudgetAdvisorOptions,
  type BudgetStatus,
  type ChatClientRequest,
  type CustomEvent,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { answers, asks, clientOf, eager } from '../../support/budget.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { deferred, settle } from '../../support/promises.js';
import { VirtualTime } from '../../support/virtual-time.js';

type Ask = NonNullable<BudgetAdvisorOptions['ask']>;

const asking = (ask: Ask, limits: BudgetAdvisorOptions): BudgetAdvisor =>
  new BudgetAdvisor({ onLimit: 'ask', ask, ...limits });

for (const mode of MODES)
  describe(`BudgetAdvisor with onLimit ask (${mode})`, () => {
    it('waits for the application, and continues with the added amount (langchain#40444)', async () => {
      const answer = deferred<number>();
      const raises = [answer.promise, undefined];
      const model = eager();
      const budget = asking(() => raises.shift(), { maxModelCalls: 3 });
      const turn = runSpec(mode, clientOf(model, budget).prompt('?'));
      await settle();
      const before = model.prompts.length;

      answer.resolve(4);
      const response = await turn;

      expect([before, model.prompts.length, response.text]).to.deep.equal([2, 7, 'done']);
    });

    it('asks with the limit and what is spent, and emits an event', async () => {
      const asked: BudgetStatus[] = [];
      const events: CustomEvent[] = [];
      const recorder = defineAdvisor({
        name: 'recorder',
        order: 0,
        onEvent: (event) =>
          void (event.type === 'custom' && event.name === 'budget-question' && events.push(event)),
      });
      const ask: Ask = (status) => (asked.push(status) === 1 ? 300 : undefined);
      const client = clientOf(eager(), asking(ask, { maxTokens: 500, warnAt: 1 }));

      await runSpec(mode, client.prompt('?').advisors(recorder));

      expect(asked).to.deep.equal([
        { limit: 'tokens', value: 500, spent: 400, option: 'maxTokens' },
        { limit: 'tokens', value: 800, spent: 700, option: 'maxTokens' },
      ]);
      expect(events).to.deep.equal(
        asked.map((data) => ({ type: 'custom', name: 'budget-question', data })),
      );
    });

    for (const answer of [undefined, false] as const)
      it(`ends with an answer without tools if the application returns ${answer}`, async () => {
        let count = 0;
        const ask: Ask = () => {
          count++;
          return answer;
        };
        const model = eager();

        const response = await runSpec(
          mode,
          clientOf(model, asking(ask, { maxTokens: 500 })).prompt('?'),
        );

        expect([response.text, count]).to.deep.equal(['done', 1]);
        expect(response.metadata?.['limit']).to.include({ limit: 'tokens', max: 500 });
        expect(response.usage?.totalTokens).to.equal(500);
      });

    it('warns again after a limit was raised', async () => {
      const warnings: number[] = [];
      const recorder = defineAdvisor({
        name: 'recorder',
        order: 0,
        onEvent: (event) =>
          void (
            event.type === 'custom' &&
            event.name === 'budget-warning' &&
            warnings.push(event.data.value)
          ),
      });
      let raise: number | undefined = 500;
      const ask: Ask = () => [raise, (raise = undefined)][0];
      const client = clientOf(eager(), asking(ask, { maxTokens: 500 }));

      await runSpec(mode, client.prompt('?').advisors(recorder));

      expect(warnings).to.deep.equal([500, 1_000]);
    });

    it('asks before the first call if nothing is left of a shared budget', async () => {
      const shared = [{ name: 'tenant', key: () => 'acme', maxTokens: 100 }];
      const raises = [undefined, 1_000];
      const model = new ScriptedChatModel(() => answers('fine', 100));
      const client = clientOf(
        model,
        asking(() => raises.shift(), { shared }),
      );
      const turn = () => runSpec(mode, client.prompt('?'));
      await turn();

      const refused = await failureOf(turn());
      const raised = await turn();

      expect(refused).to.be.instanceOf(LimitExceededError).and.include({ option: 'tenant.maxTokens' }); // prettier-ignore
      expect([raised.text, model.prompts.length]).to.deep.equal(['fine', 2]);
    });

    it('counts what others have spent of a shared budget while it waited', async () => {
      const store = new InMemoryKeyValueStore();
      const shared = [{ name: 'tenant', key: () => 'acme', maxTokens: 200 }];
      const asked: number[] = [];
      const ask: Ask = async ({ spent }) => {
        asked.push(spent);
        if (asked.length > 1) return undefined;
        await store.add('budget:["tenant","acme"]', { tokens: 500 });
        return 200;
      };
      const model = new ScriptedChatModel([asks(100), answers('done')]);

      await runSpec(mode, clientOf(model, asking(ask, { shared, store })).prompt('?'));

      expect([asked, model.prompts.length]).to.deep.equal([[100, 600], 2]);
    });

    it('ends at once when the turn is cancelled while it waits', async () => {
      const controller = new AbortController();
      const requests: ChatClientRequest[] = [];
      const ask: Ask = (_status, request) => {
        requests.push(request);
        return new Promise(() => undefined);
      };
      const client = clientOf(eager(), asking(ask, { maxModelCalls: 2 }));
      const turn = failureOf(runSpec(mode, client.prompt('?').signal(controller.signal)));
      await settle();

      controller.abort();
      const error = (await turn) as { readonly run?: { readonly settled: Promise<void> } };
      await error.run?.settled;

      expect(error).to.include({ code: 'cancelled' });
      expect(requests.map(({ signal }) => signal.aborted)).to.deep.equal([true]);
    });

    it('ends with the error of the function', async () => {
      const failure = new Error('the dialog is gone');
      const ask: Ask = () => {
        throw failure;
      };

      const error = await failureOf(
        runSpec(mode, clientOf(eager(), asking(ask, { maxModelCalls: 2 })).prompt('?')),
      );

      expect(error).to.equal(failure);
    });

    for (const bad of [0, -1, NaN, Infinity, '5' as never])
      it(`refuses ${typeof bad} ${bad} as an amount`, async () => {
        const client = clientOf(
          eager(),
          asking(() => bad, { maxModelCalls: 2 }),
        );

        const error = await failureOf(runSpec(mode, client.prompt('?')));

        expect(error).to.be.instanceOf(InvalidArgumentError);
        expect((error as Error).message).to.include('the result of ask must be a number > 0');
      });

    it('asks once for nested turns that reach the limit at the same time', async () => {
      let count = 0;
      const answer = deferred<number>();
      const budget = asking(() => (count++, answer.promise), { maxTokens: 600, reserve: 0 });
      const inner = new ScriptedChatModel(({ messages }) =>
        messages.length < 3 ? asks(150) : answers('found', 150),
      );
      const child = clientOf(inner, budget);
      const research = defineTool({
        name: 'look',
        execute: (_args, { signal }) => child.prompt('?').signal(signal).call().content(),
      });
      const outer = new ScriptedChatModel([asks(10, 2), answers('done', 10)]);
      const turn = runSpec(mode, clientOf(outer, budget, research).prompt('?'));
      await settle();
      const asked = [count, inner.prompts.length];

      answer.resolve(5_000);
      const response = await turn;

      expect([...asked, count, inner.prompts.length]).to.deep.equal([1, 2, 1, 4]);
      expect(response.text).to.equal('done');
    });

    it('asks for more tool calls before the next model call', async () => {
      const asked: string[] = [];
      const raises = [2, undefined];
      const ask: Ask = ({ option }) => {
        asked.push(option);
        return raises.shift();
      };
      const model = eager();

      const response = await runSpec(
        mode,
        clientOf(model, asking(ask, { maxToolCalls: 1 })).prompt('?'),
      );

      expect([response.text, model.prompts.length, asked]).to.deep.equal([
        'done',
        4,
        ['maxToolCalls', 'maxToolCalls'],
      ]);
    });

    it('is not within the model call: a TimeoutAdvisor does not end it', async () => {
      const time = new VirtualTime();
      const ask: Ask = () => new Promise((resolve) => setTimeout(resolve, 60_000, 10));
      const model = new ScriptedChatModel([asks(), asks(), answers('done')]);
      const client = clientOf(model, asking(ask, { maxModelCalls: 1 }));
      const spec = client.prompt('?').advisors(new TimeoutAdvisor({ iteration: 1_000 }));
      time.start();

      const { value } = await time.until(runSpec(mode, spec)).finally(() => time.restore());

      expect([value.text, model.prompts.length]).to.deep.equal(['done', 3]);
    });

    it('does not count the time of a question', async () => {
      let now = 0;
      const clock = mock.method(performance, 'now', () => now);
      const ask: Ask = async () => {
        now += 60_000;
        return 10;
      };
      const model = new ScriptedChatModel([asks(), asks(), answers('done')]);
      const client = clientOf(model, asking(ask, { maxModelCalls: 2, maxDuration: 1_000 }));

      const response = await runSpec(mode, client.prompt('?')).finally(() => clock.mock.restore());

      expect([response.text, model.prompts.length, now]).to.deep.equal(['done', 3, 60_000]);
    });
  });

describe('BudgetAdvisor with onLimit ask', () => {
  const ask: Ask = () => 1;
  for (const options of [{ onLimit: 'ask' }, { ask }, { ask, onLimit: 'throw' }] as const)
    it(`refuses ${Object.keys(options).join(' and ')}`, () => {
      expect(() => new BudgetAdvisor({ maxTokens: 1, ...options })).to.throw(
        InvalidArgumentError,
        "onLimit: 'ask' and the function ask need each other",
      );
    });
});
