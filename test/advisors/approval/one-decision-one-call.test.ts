import { expect } from 'chai';
import {
  AdvisorOrder,
  agentTool,
  ApprovalAdvisor,
  ChatClient,
  defineAdvisor,
  defineTool,
  InMemoryKeyValueStore,
  PausedStateError,
  type Advisor,
  type ChatResponse,
  type Decisions,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { MODES, runSpec } from '../../support/modes.js';
import { decideAll, SECRET } from '../../support/paused-turns.js';

type Call = readonly [id: string, name: string, args?: object];

const calls = (...all: readonly Call[]): ScriptedAnswer => ({
  toolCalls: all.map(([id, name, args = {}]) => ({ id, name, arguments: { ...args } })),
});
const pausing = (): { readonly secrets: string; readonly store: InMemoryKeyValueStore } => ({
  secrets: SECRET,
  store: new InMemoryKeyValueStore(),
});

/** The tool `pay`, which counts its calls. */
function payments(description = 'Pays.'): { readonly paid: unknown[]; readonly tool: Tool } {
  const paid: unknown[] = [];
  const execute = (args: unknown): string => `paid ${paid.push(args)}`;
  const tool = defineTool({ name: 'pay', description, effect: 'write', input: {}, execute });
  return { paid, tool };
}

function clientOf(
  script: readonly ScriptedAnswer[],
  tools: readonly Tool[],
  ...advisors: readonly Advisor[]
): ChatClient {
  return ChatClient.builder(new ScriptedChatModel(script))
    .defaultTools(...tools)
    .defaultAdvisors(...advisors)
    .build();
}

const stateOf = ({ paused }: ChatResponse): string => paused?.state ?? '';
const idsOf = ({ paused }: ChatResponse): readonly string[] =>
  paused?.requests.map(({ id }) => id) ?? [];

describe('a decision counts for one call', () => {
  for (const mode of MODES)
    it(`of several with the same id and arguments in one answer of the model (${mode})`, async () => {
      const { paid, tool } = payments();
      const twice = calls(['c', 'pay', { n: 1 }], ['c', 'pay', { n: 1 }]);
      const advisor = new ApprovalAdvisor({ pause: pausing() });
      const client = clientOf([twice, 'Done.'], [tool], advisor);
      const first = await runSpec(mode, client.prompt('Pay'));
      const [one = '', two = ''] = idsOf(first);

      const second = await runSpec(
        mode,
        client.resume(stateOf(first), { [one]: { type: 'allow' } }),
      );
      const paidBetween = paid.length;
      const end = await runSpec(mode, client.resume(stateOf(second), { [two]: { type: 'deny' } }));

      expect([idsOf(second), paidBetween]).to.deep.equal([[two], 1]);
      expect([end.text, paid.length]).to.deep.equal(['Done.', 1]);
    });

  it('of several with the same id, in whatever order they are decided', async () => {
    const { paid, tool } = payments();
    const twice = calls(['c', 'pay', { n: 1 }], ['c', 'pay', { n: 1 }]);
    const client = clientOf([twice, 'Done.'], [tool], new ApprovalAdvisor({ pause: pausing() }));
    const first = await client.prompt('Pay').call().chatResponse();
    const [one = '', two = ''] = idsOf(first);
    const second = await client
      .resume(stateOf(first), { [two]: { type: 'allow' } })
      .call()
      .chatResponse();

    const edit = { type: 'edit', arguments: { n: 2 } } as const;
    await client
      .resume(stateOf(second), { [one]: edit })
      .call()
      .chatResponse();

    expect(paid).to.deep.equal([{ n: 1 }, { n: 2 }]);
  });

  for (const id of ['c~2', 'c #2', 'c begin', 'c/0.c', 'c%7e.2'])
    it(`of others whose id is chosen to have the name of its steps, such as "${id}"`, async () => {
      const { paid, tool } = payments();
      const args = { n: 1 };
      const all = calls(['c', 'pay', args], ['c', 'pay', args], [id, 'pay', args]);
      const client = clientOf([all, 'Done.'], [tool], new ApprovalAdvisor({ pause: pausing() }));
      let turn = await client.prompt('Pay').call().chatResponse();
      const open: number[] = [];
      while (turn.paused) {
        const [first = '', ...rest] = idsOf(turn);
        open.push(1 + rest.length);
        turn = await client
          .resume(stateOf(turn), { [first]: { type: 'allow' } })
          .call()
          .chatResponse();
      }

      expect([turn.text, open, paid.length]).to.deep.equal(['Done.', [3, 2, 1], 3]);
    });

  it('of an agent that is called twice, and whose models repeat their ids', async () => {
    const { paid, tool } = payments();
    const pay = calls(['c', 'pay', { n: 1 }]);
    const inner = clientOf(
      [pay, 'Paid.', pay, 'Paid.'],
      [tool],
      new ApprovalAdvisor({ decide: 'elsewhere' }),
    );
    const agent = agentTool(inner, { name: 'agent', description: 'Pays.', effect: 'read' });
    const outer = [
      calls(['c', 'agent', { message: 'a' }]),
      calls(['c', 'agent', { message: 'b' }]),
    ];
    const advisor = new ApprovalAdvisor({ pause: pausing() });
    const client = clientOf([...outer, 'Done.'], [agent], advisor);
    const first = await client.prompt('Pay').call().chatResponse();

    const second = await client.resume(stateOf(first), decideAll(first)).call().chatResponse();

    expect([second.finishReason, paid.length]).to.deep.equal(['paused', 1]);
    expect(idsOf(second)).not.to.deep.equal(idsOf(first));
  });

  it('and for the advisor that has asked: a second one asks for its own', async () => {
    const { paid, tool } = payments();
    const second = new ApprovalAdvisor({ name: 'finance', order: AdvisorOrder.LOGGER + 250 });
    const first = new ApprovalAdvisor({ pause: pausing() });
    const client = clientOf([calls(['c', 'pay']), 'Done.'], [tool], first, second);
    const paused = await client.prompt('Pay').call().chatResponse();
    const [one = '', two = ''] = idsOf(paused);
    const half: Decisions = { [one]: { type: 'allow' } };

    const waiting = await client.resume(stateOf(paused), half).call().chatResponse();
    const paidBetween = paid.length;
    const rest: Decisions = { [two]: { type: 'allow' } };
    await client.resume(stateOf(waiting), rest).call().chatResponse();

    expect([idsOf(waiting), paidBetween, paid.length]).to.deep.equal([[two], 0, 1]);
  });

  it('of an agent whose tool has the name of another tool of the outer turn', async () => {
    const { paid, tool } = payments();
    const inner = clientOf(
      [calls(['c', 'pay']), 'Paid.'],
      [tool],
      new ApprovalAdvisor({ decide: 'elsewhere' }),
    );
    const agent = agentTool(inner, { name: 'agent', description: 'Pays.', effect: 'read' });
    const outer = [calls(['c', 'agent', { message: 'a' }]), 'Done.'];
    const advisor = new ApprovalAdvisor({ pause: pausing() });
    const client = clientOf(outer, [agent, payments('Another.').tool], advisor);
    const first = await client.prompt('Pay').call().chatResponse();

    const end = await client.resume(stateOf(first), decideAll(first)).call().chatResponse();

    expect([end.text, paid.length]).to.deep.equal(['Done.', 1]);
  });
});

describe('an advisor that repeats turns around those that pause', () => {
  /** Repeats a turn that fails, once. */
  const again = defineAdvisor({
    name: 'again',
    order: AdvisorOrder.TURN - 1,
    around: async (request, next) => {
      try {
        return await next(request);
      } catch (error) {
        if ((error as { code?: unknown }).code === 'turn_paused') throw error;
        return next(request);
      }
    },
  });
  const policy = {
    pay: ({ call }: { call: { id: string } }) => (call.id === 'a' ? 'ask' : 'allow'),
  };

  it('ends the turn: its state does not continue the failed attempt', async () => {
    const { paid, tool } = payments();
    const script = [calls(['a', 'pay']), new Error('down'), calls(['b', 'pay']), 'Done.'];
    const advisor = new ApprovalAdvisor({ pause: pausing(), policy: policy as never });
    const client = clientOf(script, [tool], again, advisor);
    const first = await client.prompt('Pay').call().chatResponse();
    const end = await client.resume(stateOf(first), decideAll(first)).call().chatResponse();

    const repeated = client.resume(stateOf(first), decideAll(first)).call().chatResponse();

    const error = await repeated.catch((each: unknown) => each);
    expect([end.text, paid.length]).to.deep.equal(['Done.', 2]);
    expect(error).to.be.instanceOf(PausedStateError).with.property('reason', 'used');
  });

  it('leaves the turn in the state of the last attempt', async () => {
    const { paid, tool } = payments();
    const down = new Error('down');
    const script = [calls(['a', 'pay']), down, calls(['b', 'pay']), down, 'Done.'];
    const advisor = new ApprovalAdvisor({ pause: pausing(), policy: policy as never });
    const client = clientOf(script, [tool], again, advisor);
    const first = await client.prompt('Pay').call().chatResponse();
    const resume = (): Promise<ChatResponse> =>
      client.resume(stateOf(first), decideAll(first)).call().chatResponse();
    const failed = await resume().catch((each: unknown) => each);

    const end = await resume();

    expect(failed).to.have.property('paused');
    expect([end.text, paid.length]).to.deep.equal(['Done.', 2]);
  });
});

describe('a turn that a tool runs by itself, with a client of its own', () => {
  it('does not take the place of the outer turn when it pauses', async () => {
    const { paid, tool } = payments();
    const pause = pausing();
    const inner = clientOf([calls(['c', 'pay']), 'Paid.'], [tool], new ApprovalAdvisor({ pause }));
    const asks = defineTool({
      name: 'delegate',
      effect: 'read',
      execute: () => inner.prompt('Pay').call().content(),
    });
    const script = [calls(['c', 'delegate']), 'It failed.'];
    const client = clientOf(script, [asks], new ApprovalAdvisor({ pause }));

    const response = await client.prompt('Go').call().chatClientResponse();

    const [end] = response.steps[0]?.toolCalls ?? [];
    expect([response.text, paid]).to.deep.equal(['It failed.', []]);
    expect(end?.result?.error).to.have.property('code', 'approval');
    expect(end?.result?.error).to.have.nested.property('cause.paused');
  });
});

describe('a resumed turn that is cancelled while a tool runs', () => {
  it('does not run the tool again: the model reads that it was interrupted', async () => {
    const stop = new AbortController();
    let begun = 0;
    const never = new Promise<never>(() => undefined);
    const execute = (): Promise<never> => {
      begun++;
      stop.abort();
      return never;
    };
    const tool = defineTool({ name: 'pay', effect: 'write', execute });
    const model = new ScriptedChatModel([calls(['c', 'pay']), 'Reported.']);
    const client = ChatClient.builder(model)
      .defaultTools(tool)
      .defaultAdvisors(new ApprovalAdvisor({ pause: pausing() }))
      .build();
    const first = await client.prompt('Pay').call().chatResponse();
    const resumed = client.resume(stateOf(first), decideAll(first));
    await resumed
      .signal(stop.signal)
      .call()
      .content()
      .catch(() => undefined);

    const text = await eventually(() => resumed.call().content());

    expect([text, begun]).to.deep.equal(['Reported.', 1]);
    expect(JSON.stringify(model.prompts.at(-1)?.messages.at(-1))).to.include('was interrupted');
  });

  /** Repeats what the turn refuses while it comes to rest. */
  async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        const { reason } = error as { readonly reason?: unknown };
        if (reason !== 'used' && reason !== 'running') throw error;
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }
});
