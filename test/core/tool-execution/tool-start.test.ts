import { expect } from 'chai';
import { z } from 'zod';
import {
  ApprovalAdvisor,
  CancelledError,
  ChatClient,
  defineAdvisor,
  defineTool,
  dryRun,
  DurableAdvisor,
  InMemoryDurableEngine,
  ToolCacheAdvisor,
  type Advisor,
  type ChatEvent,
} from '../../../src/index.js';
import { collect, ScriptedChatModel } from '../../../src/testing/index.js';

const read = defineTool({
  name: 'read',
  effect: 'read',
  input: z.object({ id: z.number() }),
  execute: ({ id }) => `row ${id}`,
});
const pay = defineTool({ name: 'pay', effect: 'write', execute: () => 'Paid.' });

const ask = (name: string, args: object = {}) => ({
  toolCalls: [{ name, arguments: { ...args } }],
});

/** The events of the calls of a turn. */
async function eventsOf(
  script: readonly object[],
  ...advisors: readonly Advisor[]
): Promise<readonly ChatEvent[]> {
  const turn = ChatClient.create(new ScriptedChatModel([...script, 'Done.']))
    .prompt('Go.')
    .turnId('turn')
    .tools(read, pay)
    .advisors(...advisors);
  return (await collect(turn.stream())).events;
}

const typesOf = (events: readonly ChatEvent[]): string[] =>
  events.map(({ type }) => type).filter((type) => /^tool-(call|start|result)$/.test(type));

describe('tool-start', () => {
  it('follows the call, when its tool begins to run', async () => {
    const events = await eventsOf([ask('read', { id: 1 })]);

    expect(typesOf(events)).to.deep.equal(['tool-call', 'tool-start', 'tool-result']);
    expect(events.find(({ type }) => type === 'tool-start')).to.deep.include({ toolName: 'read' });
  });

  for (const [what, script, ...advisors] of [
    ['of an unknown tool', [ask('write')]],
    ['with wrong arguments', [ask('read', { id: 'one' })]],
    [
      'that a person denies',
      [ask('pay')],
      new ApprovalAdvisor({ decide: () => ({ type: 'deny' }) }),
    ],
    ['of a dry run', [ask('pay')], dryRun()],
  ] as const)
    it(`is absent for a call ${what}`, async () => {
      const events = await eventsOf(script, ...advisors);

      expect(typesOf(events)).to.deep.equal(['tool-call', 'tool-result']);
    });

  it('is absent for a call whose result is cached', async () => {
    const cache = new ToolCacheAdvisor({ scope: () => 'everyone' });
    await eventsOf([ask('read', { id: 1 })], cache);

    const events = await eventsOf([ask('read', { id: 1 })], cache);

    expect(typesOf(events)).to.deep.equal(['tool-call', 'tool-result']);
  });

  it('is absent for a call whose result is recorded', async () => {
    const first = new InMemoryDurableEngine();
    await eventsOf([ask('pay')], new DurableAdvisor({ engine: first }));
    const engine = new InMemoryDurableEngine(first.entries());

    const events = await eventsOf([], new DurableAdvisor({ engine }));

    expect(typesOf(events)).to.deep.equal(['tool-call', 'tool-result']);
  });

  it('is emitted once for a tool that an advisor runs again', async () => {
    const twice = defineAdvisor({
      name: 'twice',
      order: 1,
      aroundTool: async (call, next) => {
        await next(call);
        return next(call);
      },
    });

    const events = await eventsOf([ask('read', { id: 1 })], twice);

    expect(typesOf(events)).to.deep.equal(['tool-call', 'tool-start', 'tool-result']);
  });

  it('has the arguments that run', async () => {
    const decide = () => ({ type: 'edit', arguments: { id: 2 } }) as const;
    const approval = new ApprovalAdvisor({ policy: { read: 'ask' }, decide });

    const events = await eventsOf([ask('read', { id: 1 })], approval);

    const inputs = events.flatMap((event) =>
      event.type === 'tool-call' || event.type === 'tool-start' ? [event.call.input] : [],
    );
    expect(inputs).to.deep.equal([{ id: 1 }, { id: 2 }]);
  });

  it('cancels the run before the tool if its listener does', async () => {
    let runs = 0;
    const tool = defineTool({ name: 'count', execute: () => ++runs });
    const model = new ScriptedChatModel([ask('count'), 'Done.']);
    const controller = new AbortController();
    const listener = defineAdvisor({
      name: 'listener',
      order: 1,
      onEvent: ({ type }) => (type === 'tool-start' ? controller.abort() : undefined),
    });
    const turn = ChatClient.create(model).prompt('Go.').tools(tool).advisors(listener);

    const error: unknown = await turn
      .signal(controller.signal)
      .call()
      .content()
      .catch((thrown: unknown) => thrown);

    expect([error instanceof CancelledError, runs]).to.deep.equal([true, 0]);
  });
});
