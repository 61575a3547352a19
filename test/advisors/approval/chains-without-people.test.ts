import { expect } from 'chai';
import {
  AdvisorOrder,
  ApprovalAdvisor,
  ChainError,
  ChatClient,
  defineAdvisor,
  defineTool,
  DurableAdvisor,
  InMemoryDurableEngine,
  InMemoryKeyValueStore,
  type Advisor,
  type ApprovalAdvisorOptions,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { SECRET } from '../../support/paused-turns.js';

const tool = (name: string, effect: 'read' | 'write'): Tool =>
  defineTool({ name, effect, execute: () => '' });
const pay = tool('pay', 'write');
const look = tool('look', 'read');
const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };

const build = (options: ApprovalAdvisorOptions, tools: readonly Tool[], ...more: Advisor[]) =>
  ChatClient.builder(new ScriptedChatModel(() => 'Hi.'))
    .defaultTools(...tools)
    .defaultAdvisors(new ApprovalAdvisor(options))
    .defaultAdvisors(...more)
    .build();

describe('a chain whose ApprovalAdvisor has no person to ask', () => {
  for (const [what, options, tools] of [
    ['no option', {}, []],
    ['no option, and a tool with an effect', {}, [pay]],
    ['a rule that asks', { policy: { pay: 'ask' } }, []],
    ['a rule that leaves another tool to its effect', { policy: { look: 'allow' } }, [look, pay]],
  ] as const)
    it(`[D91] is refused when it is built: ${what}`, () => {
      expect(() => build(options, tools)).to.throw(
        ChainError,
        /advisor "approval" has no person to ask.*: give it decide or pause, or add a DurableAdvisor/,
      );
    });

  for (const mode of MODES)
    it(`[D91] is refused before a model is asked: a tool of the request (${mode})`, async () => {
      const client = build({ policy: { look: 'allow' } }, []);

      const error = await failureOf(runSpec(mode, client.prompt('?').tools(look, pay)));

      expect(error).to.be.instanceOf(ChainError);
      expect((error as Error).message).to.include('no person to ask about "pay"');
    });

  const durable = new DurableAdvisor({ engine: new InMemoryDurableEngine() });
  for (const [what, options, more] of [
    ['a function asks', { decide: () => ({ type: 'allow' }) }, []],
    ['turns pause', { pause }, []],
    ['turns are durable', {}, [durable]],
    ['another advisor pauses turns', {}, [new ApprovalAdvisor({ pause, name: 'other' })]],
    ['people are asked elsewhere', { decide: 'elsewhere' }, []],
    ['nothing is asked', { effects: { write: 'deny', idempotent: 'allow' } }, []],
    ['a function decides', { policy: () => 'allow' }, []],
  ] as const)
    it(`[D91] is built if ${what}`, () => {
      expect(() => build(options as never, [pay], ...more)).to.not.throw();
    });
});

describe('a rule for a tool that does not exist', () => {
  const policy = { 'pay ': 'ask', pay: 'ask', 'db_*': 'deny' } as const;
  const decide = (): { type: 'allow' } => ({ type: 'allow' });

  const reportsOf = async (work: () => Promise<unknown>): Promise<readonly unknown[]> => {
    const [warn, seen] = [console.warn, [] as string[]];
    console.warn = (text: string) => void seen.push(text);
    try {
      await work();
    } finally {
      console.warn = warn;
    }
    return seen.map((text) => /rule for "(.*?)"/.exec(text)?.[1]);
  };

  for (const mode of MODES)
    it(`[D91] is reported once, by the first request, which has all its tools (${mode})`, async () => {
      const client = build({ policy, decide }, []);
      const provider = { name: 'server', tools: async () => [pay] };

      const seen = await reportsOf(async () => {
        await runSpec(mode, client.prompt('?').tools(provider));
        await runSpec(mode, client.prompt('?').tools(provider));
      });

      expect(seen).to.deep.equal(['pay ', 'db_*']);
    });

  it('is not one for a tool that the first request has, and a later one has not', async () => {
    const client = build({ policy: { pay: 'ask' }, decide }, []);

    const seen = await reportsOf(async () => {
      await client.prompt('?').tools(pay).call().content();
      await client.prompt('?').tools(look).call().content();
    });

    expect(seen).to.deep.equal([]);
  });

  for (const order of [AdvisorOrder.TOOL_SEARCH, AdvisorOrder.RESILIENCE])
    it(`is not one for a tool that an advisor adds, at ${order}`, async () => {
      const add = defineAdvisor({
        name: 'adds',
        order,
        before: (request) => request.withTools([...request.tools, pay]),
      });
      const client = build({ policy: { pay: 'allow', look: 'allow' }, decide }, [look], add);

      expect(client.explain().warnings).to.deep.equal([]);
      expect(await reportsOf(() => client.prompt('?').call().content())).to.deep.equal([]);
    });
});
