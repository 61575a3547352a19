import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  agentTool,
  ApprovalAdvisor,
  ChatClient,
  CompactionAdvisor,
  CONVERSATION_ID,
  defineTool,
  DurableAdvisor,
  GuardAdvisor,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  KeywordToolIndex,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  RateLimitAdvisor,
  RetryAdvisor,
  ToolSearchAdvisor,
  type Advisor,
  type ApprovalAdvisorOptions,
  type ChatResponse,
  type Decision,
  type DurableEngine,
  type DurableEntries,
  type PausedTurn,
  type PendingRequest,
  type PromptSpec,
  type Tool,
} from '../../src/index.js';
import type { JsonValue } from '../../src/core/internal/json.js';
import { isPlainObject } from '../../src/core/internal/options.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import { KilledEngine } from '../support/durable.js';
import { MODES, runSpec } from '../support/modes.js';
import { openState, SECRET } from '../support/paused-turns.js';

/** Turns recorded by an older version of this package, which a newer one must continue. */
const RECORDED = JSON.parse(
  readFileSync(new URL('../fixtures/recorded-turns.json', import.meta.url), 'utf8'),
) as {
  readonly decided: DurableEntries;
  readonly waited: DurableEntries;
  /** Names and fields of the steps that each pause has added. */
  readonly paused: readonly (readonly string[])[];
};

const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
const call = (name: string, id: string, args: Readonly<Record<string, unknown>> = {}) => ({
  name,
  id,
  arguments: args,
});
const BUSY = new ModelCallError('busy', { status: 503, retryable: true, retryAfter: 1 });

const amount = {
  type: 'object',
  properties: { amount: { type: 'number' } },
  required: ['amount'],
} as const;
const pay = defineTool({
  name: 'pay',
  effect: 'write',
  description: 'Pays an amount of money.',
  alwaysLoaded: true,
  input: amount,
  execute: (args) => `Paid ${JSON.stringify(args)}.`,
});
const note = defineTool({
  name: 'note',
  effect: 'idempotent',
  description: 'Writes a note.',
  alwaysLoaded: true,
  execute: () => 'Noted.',
});
const read = defineTool({
  name: 'read',
  effect: 'read',
  description: 'Reads a file.',
  alwaysLoaded: true,
  execute: () => 'A long result. '.repeat(150),
});
const choose = defineTool({
  name: 'choose',
  description: 'Lets the user choose a colour.',
  alwaysLoaded: true,
  execute: async (_, context) =>
    `Chosen: ${JSON.stringify(await context.ask({ type: 'string' }, 'Which colour?'))}`,
});

const ANSWERS: readonly ScriptedAnswer[] = [
  { error: BUSY },
  { toolCalls: [call('pay', 'p', { amount: 1 }), call('note', 'n')], usage },
  { toolCalls: [call('agent', 'a', { message: 'Go on.' }), call('choose', 'q')], usage },
  { toolCalls: [call('note', 'n'), call('note', 'n')], usage },
  { toolCalls: [call('read', 'r')], usage },
  { text: 'The end.', usage },
];
const NESTED: readonly ScriptedAnswer[] = [
  { toolCalls: [call('pay', 'p', { amount: 2 })], usage },
  { text: 'The agent has paid.', usage },
];

function agentOf(...advisors: readonly Advisor[]): Tool {
  const client = ChatClient.builder(new ScriptedChatModel(NESTED))
    .defaultTools(pay)
    .defaultAdvisors(...advisors)
    .build();
  return agentTool(client, { name: 'agent', description: 'Pays.', alwaysLoaded: true });
}

/** Advisors of which each has steps of its own. */
function advisors(approval: ApprovalAdvisorOptions): readonly Advisor[] {
  const store = new InMemoryKeyValueStore();
  const repository = new InMemoryChatMemoryRepository();
  return [
    new MessageChatMemoryAdvisor({ chatMemory: new MessageWindowChatMemory({ repository }) }),
    new RateLimitAdvisor({ requestsPerMinute: 1_000 }),
    new RetryAdvisor({ firstDelay: 1, maxDelay: 1 }),
    new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex(), searchFirst: true }),
    new CompactionAdvisor({ maxTokens: 100_000, offload: { store, over: 2_000 } }),
    new GuardAdvisor({ untrusted: ['read'] }),
    new ApprovalAdvisor({ scope: () => 'anna', ...approval }),
  ];
}

function clientOf(agent: Tool, ...own: readonly Advisor[]): ChatClient {
  const hidden = defineTool({ name: 'hidden', description: 'A hidden tool.', execute: () => '' });
  return ChatClient.builder(new ScriptedChatModel(ANSWERS))
    .defaultTools(pay, note, read, choose, agent, hidden)
    .defaultAdvisors(...own)
    .defaultAdvisors((a) => a.param(CONVERSATION_ID, 'c'))
    .build();
}

/** Edits the first payment of the outer turn. */
function decisionOn(request: PendingRequest): Decision {
  if (request.type === 'question') return { type: 'answer', value: 'red', by: 'anna' };
  const { arguments: args, agents } = request;
  const { amount: given } = args as { readonly amount?: number };
  return given === 1 && !agents
    ? { type: 'edit', arguments: { amount: 5 }, by: 'anna' }
    : { type: 'allow', by: 'anna' };
}

/** Each step with the fields of its value; in no order, since calls of a batch end side by side. */
const linesOf = (entries: DurableEntries): readonly string[] =>
  entries
    .map(([name, value]) =>
      isPlainObject(value) ? `${name} {${Object.keys(value).sort().join()}}` : name,
    )
    .sort();

function decidedTurn(engine: DurableEngine): PromptSpec {
  const agent = agentOf(new DurableAdvisor({ engine }));
  const durable = new DurableAdvisor({ engine });
  return clientOf(agent, ...advisors({ decide: decisionOn }), durable)
    .prompt('Go.')
    .turnId('t');
}

/** A durable turn that gets each decision as soon as it waits for it. */
function waitingTurn(engine: KilledEngine): PromptSpec {
  const durable = new DurableAdvisor({ engine });
  const agent = agentOf(durable, new ApprovalAdvisor({ name: 'inner' }));
  engine.onWait = (name, options) => {
    const decision = decisionOn(options?.request as unknown as PendingRequest);
    engine.inner.send(name, decision as unknown as JsonValue);
  };
  const own = advisors({ policy: () => undefined });
  return clientOf(agent, ...own, durable)
    .prompt('Go.')
    .turnId('t');
}

const TURNS = [
  ['whose person decides inline', decidedTurn, RECORDED.decided],
  ['that waits for decisions', waitingTurn, RECORDED.waited],
] as const;

for (const mode of MODES)
  describe(`names and fields of recorded steps (${mode})`, () => {
    for (const [which, turnOf, entries] of TURNS) {
      it(`are the same as ever for a durable turn ${which}`, async () => {
        const engine = new KilledEngine([]);

        const { text } = await runSpec(mode, turnOf(engine));

        expect(text).to.equal('The end.');
        expect(linesOf(engine.inner.entries())).to.deep.equal(linesOf(entries));
      });

      it(`are found when an old turn ${which} runs again`, async () => {
        const engine = new KilledEngine(entries);

        const { text } = await runSpec(mode, turnOf(engine));

        expect(text).to.equal('The end.');
        expect(engine.ran).to.deep.equal([]);
        expect(engine.isReplaying).to.equal(false);
      });
    }

    it('are the same as ever for a turn that pauses', async () => {
      const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
      const client = clientOf(
        agentOf(new ApprovalAdvisor({ decide: 'elsewhere' })),
        ...advisors({ pause }),
      );
      const states: (readonly string[])[] = [];
      let response: ChatResponse = await runSpec(mode, client.prompt('Go.').turnId('t'));
      while (response.paused) {
        const { state, requests }: PausedTurn = response.paused;
        states.push(linesOf(await stepsOf(state)));
        const decisions = requests.map((each) => [each.id, decisionOn(each)] as const);
        response = await runSpec(mode, client.resume(state, Object.fromEntries(decisions)));
      }

      expect(response.text).to.equal('The end.');
      const added = states.map((lines, at) =>
        lines.filter((each) => !states[at - 1]?.includes(each)),
      );
      expect(added).to.deep.equal(RECORDED.paused);
      expect(states.at(-1)).to.deep.equal(added.flat().sort());
    });
  });

/** The steps of a state. */
async function stepsOf(state: string): Promise<DurableEntries> {
  return (JSON.parse(await openState(state)) as { readonly steps: DurableEntries }).steps;
}
