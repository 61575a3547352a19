import { expect } from 'chai';
import {
  AdvisorOrder,
  ApprovalAdvisor,
  BudgetAdvisor,
  ChatClient,
  ConversationLockAdvisor,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  FallbackAdvisor,
  GuardAdvisor,
  InMemoryKeyValueStore,
  LoggerAdvisor,
  ObservabilityAdvisor,
  RetryAdvisor,
  StructuredOutputAdvisor,
  TimeoutAdvisor,
  ToolLedgerAdvisor,
  wordRule,
  type Advisor,
  type PausedTurn,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { MODES, runSpec } from '../../support/modes.js';
import { decideAll, pauseOptions } from '../../support/paused-turns.js';
import { recordSpans } from '../../support/recorded-spans.js';

const usage = { inputTokens: 10, outputTokens: 1, totalTokens: 11 };
const asks = { toolCalls: [{ id: 'c', name: 'pay' }], usage };
const LEFT = AdvisorOrder.MEMORY + 500;
const onError = (error: unknown): boolean => error !== undefined;

/** A turn that pauses once, with an advisor that could take the pause for a failure. */
function turnWith(...advisors: readonly Advisor[]) {
  let paid = 0;
  const pay = defineTool({ name: 'pay', effect: 'write', execute: () => `paid ${++paid}` });
  const model = new ScriptedChatModel([asks, { text: '{"paid":1}', usage }]);
  const client = ChatClient.builder(model)
    .defaultTools(pay)
    .defaultAdvisors(new ApprovalAdvisor({ pause: pauseOptions() }), ...advisors)
    .build();
  return { client, prompts: () => model.prompts.length, paid: () => paid };
}

const OTHERS: readonly (readonly [name: string, make: () => Advisor])[] = [
  ['a retry of the turn', () => new RetryAdvisor({ when: onError, firstDelay: 0, order: LEFT })],
  [
    'a fallback of the turn',
    () => {
      const models = [new ScriptedChatModel(['From another model.'])];
      return new FallbackAdvisor({ models, when: onError, order: LEFT });
    },
  ],
  ['a time limit of the turn', () => new TimeoutAdvisor({ turn: 60_000 })],
  ['a check of the output', () => new StructuredOutputAdvisor()],
  [
    'a guard',
    () =>
      new GuardAdvisor({ output: [{ rules: [wordRule({ words: ['secret'] })], action: 'block' }] }),
  ],
  ['a lock', () => new ConversationLockAdvisor()],
  ['a tool ledger', () => new ToolLedgerAdvisor({ store: new InMemoryKeyValueStore() })],
];

describe('a paused turn', () => {
  for (const [name, make] of OTHERS)
    for (const mode of MODES)
      it(`passes ${name}, and resumes with it (${mode})`, async () => {
        const { client, prompts, paid } = turnWith(make());
        const spec = client.prompt('Pay').advisors((each) => each.param(CONVERSATION_ID, 'anna'));

        const paused = await runSpec(mode, spec);
        const asked = prompts();
        const { state } = paused.paused as PausedTurn;
        const { text } = await runSpec(mode, client.resume(state, decideAll(paused)));

        expect([asked, paused.finishReason]).to.deep.equal([1, 'paused']);
        expect([text, prompts(), paid()]).to.deep.equal(['{"paid":1}', 2, 1]);
      });

  it('ends its spans without an error', async () => {
    const recording = recordSpans();
    const { client } = turnWith(new ObservabilityAdvisor({ tracer: recording.tracer }));

    await client.prompt('Pay').call().chatResponse();

    expect(recording.spans.length).to.be.greaterThan(2);
    expect(recording.spans.filter(({ status }) => status.code === 2)).to.deep.equal([]);
    expect(recording.problems).to.deep.equal([]);
  });

  it('is logged without an error', async () => {
    const levels: string[] = [];
    const logger = {
      info: () => void levels.push('info'),
      error: () => void levels.push('error'),
    };
    const { client } = turnWith(new LoggerAdvisor({ logger, order: LEFT } as never));

    await client.prompt('Pay').call().chatResponse();

    expect(levels).to.not.include('error');
  });

  it('is charged once to a shared budget', async () => {
    const store = new InMemoryKeyValueStore();
    const shared = [{ name: 'tenant', key: () => 'acme', window: 600_000, maxTokens: 1_000 }];
    const { client } = turnWith(new BudgetAdvisor({ shared, store }));
    const paused = await client.prompt('Pay').call().chatResponse();
    const { state } = paused.paused as PausedTurn;

    const response = await client.resume(state, decideAll(paused)).call().chatResponse();

    const spent = await store.add('budget:["tenant","acme"]', { tokens: 0 });
    expect([spent.tokens, response.usage?.totalTokens]).to.deep.equal([22, 22]);
  });

  it('reaches the advisors as an error that they may look at', async () => {
    const seen: unknown[] = [];
    const looking = defineAdvisor({
      name: 'looking',
      order: LEFT,
      around: (request, next) =>
        next(request).catch((error: unknown) => {
          seen.push((error as { code?: string }).code);
          throw error;
        }),
    });
    const { client } = turnWith(looking);

    await client.prompt('Pay').call().chatResponse();

    expect(seen).to.deep.equal(['turn_paused']);
  });
});
