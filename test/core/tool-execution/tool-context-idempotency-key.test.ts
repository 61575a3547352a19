import { expect } from 'chai';
import { assert as check, jsonValue, property, string, tuple } from 'fast-check';
import {
  AdvisorContext,
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  Prompt,
  toolCallingAutoRegister,
  ToolCallingManager,
  type Message,
} from '../../../src/index.js';
import { TurnId } from '../../../src/core/chat/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { idempotencyKey } from '../../../src/core/tool-execution/call-identity.js';
import { RUNS } from '../../support/modes.js';

type Parts = readonly [conversation: string, turn: string, name: string, args: unknown];

const keyOf = ([conversation, turn, name, args]: Parts, before = 0, id = '1'): string =>
  idempotencyKey(
    { id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
    before,
    {
      advisorContext: AdvisorContext.empty.with(CONVERSATION_ID, conversation),
      turn: new TurnId(turn),
    },
  );

describe('idempotencyKey', () => {
  it('has 64 hexadecimal digits', () => {
    expect(keyOf(['c', 't', '1', {}])).to.match(/^[0-9a-f]{64}$/);
  });

  it('is equal for equal arguments, whatever their spelling', () => {
    expect(keyOf(['c', 't', '1', '{"a":1,"b":[1e1]}'])).to.equal(
      keyOf(['c', 't', '1', ' { "b": [10], "a": 1.0 } ']),
    );
    expect(keyOf(['c', 't', '1', ''])).to.equal(keyOf(['c', 't', '1', '{}']));
  });

  it('differs for everything else', () => {
    const text = string({ maxLength: 4 });
    const parts = tuple(
      text,
      text,
      text,
      jsonValue({ maxDepth: 1 }).map((value) => ({ value })),
    );
    check(
      property(parts, parts, (a, b) => {
        const same = JSON.stringify(a) === JSON.stringify(b);
        if (!same && JSON.stringify(a[3]) !== JSON.stringify(b[3])) return; // values may be the same in another order of keys
        expect(keyOf(a) === keyOf(b)).to.equal(same);
      }),
      { numRuns: 500 },
    );
    const shifted: readonly Parts[] = [
      ['ab', 'c', 'd', {}],
      ['a', 'bc', 'd', {}],
      ['a', 'b', 'cd', {}],
      ['a', 'b', 'c', { d: 1 }],
      ['a', 'b', 'c', { d: 2 }],
      ['a', 'b', 'c', 'not JSON'],
    ];
    expect(new Set(shifted.map((each) => keyOf(each))).size).to.equal(shifted.length);
  });

  it('differs for equal calls of a turn, and not for ids that a provider makes', () => {
    const parts: Parts = ['c', 't', 'pay', {}];

    expect(keyOf(parts, 1)).not.to.equal(keyOf(parts));
    expect(keyOf(parts, 0, 'another id')).to.equal(keyOf(parts));
  });

  it('is kept from a failed call in a loop by hand, too', async () => {
    const seen: string[] = [];
    const pay = defineTool({
      name: 'pay',
      execute: (_, { idempotencyKey: key }) => {
        if (seen.push(key) === 1) throw new Error('socket hang up');
      },
    });
    const manager = new ToolCallingManager();
    const call = { toolCalls: [{ name: 'pay', arguments: {} }] };
    const client = ChatClient.create(new ScriptedChatModel([call, call, call]));
    let messages: readonly Message[] = [{ role: 'user', content: 'Pay.' }];
    for (let round = 0; round < 3; round++) {
      const spec = client.prompt().messages(messages).tools(pay).turnId('t');
      const response = await spec
        .advisors(toolCallingAutoRegister(false))
        .call()
        .chatClientResponse();
      const { chatResponse } = response;
      const prompt = new Prompt(messages);
      messages = (await manager.executeToolCalls(prompt, chatResponse, response.tools())).history;
    }

    expect(seen[1]).to.equal(seen[0]);
    expect(seen[2]).not.to.equal(seen[0]);
  });

  it('distinguishes no conversation from a conversation named "null"', () => {
    const call = { id: '1', name: 'pay', arguments: '{}' };
    const batch = { advisorContext: AdvisorContext.empty, turn: new TurnId('t') };

    expect(idempotencyKey(call, 0, batch)).not.to.equal(keyOf(['null', 't', 'pay', {}]));
  });

  /** Runs two turns of two calls each; gives the keys that the tool saw. */
  const keys = async (
    run: (typeof RUNS)[number][1],
    ...advisors: readonly ReturnType<typeof defineAdvisor>[]
  ): Promise<string[]> => {
    const seen: string[] = [];
    const pay = defineTool({
      name: 'pay',
      execute: (_, { idempotencyKey: key }) => void seen.push(key),
    });
    const model = new ScriptedChatModel((_, index) =>
      index % 3 < 2 ? { toolCalls: [{ id: 'c', name: 'pay', arguments: {} }] } : 'Done.',
    );
    const spec = ChatClient.create(model)
      .prompt('Pay.')
      .tools(pay)
      .advisors(...advisors);
    for (let turn = 0; turn < 2; turn++) await run(spec);
    return seen;
  };

  for (const [mode, run] of RUNS) {
    it(`differs for each turn and call of a client, though their ids are equal (${mode})`, async () => {
      const seen = await keys(run);

      expect(new Set(seen).size).to.equal(4);
    });

    it(`is equal in a turn that runs again under its id (${mode})`, async () => {
      const resume = defineAdvisor({
        name: 'resume',
        order: 0,
        before: (request) => request.with({ turnId: 'turn 7' }),
      });
      const seen = await keys(run, resume);

      expect(seen.slice(0, 2)).to.deep.equal(seen.slice(2));
    });

    it(`survives another process and other call ids, if the caller sets the turn id [composio#3654, crewAI#5802] (${mode})`, async () => {
      const payments = async (ids: string, turnId?: string): Promise<string[]> => {
        const seen: string[] = [];
        const pay = defineTool({
          name: 'pay',
          input: { type: 'object' },
          execute: (_, { idempotencyKey: key }) => void seen.push(key),
        });
        const call = (id: string, cents: number) => ({
          id: ids + id,
          name: 'pay',
          arguments: { cents },
        });
        const model = new ScriptedChatModel([
          { toolCalls: [call('a', 5), call('b', 5), call('c', 6)] },
          { toolCalls: [call('d', 5)] },
          'Done.',
        ]);
        const spec = ChatClient.create(model).prompt('Pay.').tools(pay);
        await run(turnId === undefined ? spec : spec.turnId(turnId));
        return seen;
      };
      const first = await payments('x', 'order-42');

      expect(new Set(first).size).to.equal(4);
      expect(await payments('y', 'order-42')).to.deep.equal(first);
      expect(await payments('y', 'order-43')).not.to.include.members(first.slice(0, 1));
      expect(await payments('x')).not.to.include.members(first.slice(0, 1));
    });

    it(`is kept from the failed call which the model repeats (${mode})`, async () => {
      const seen: string[] = [];
      const pay = defineTool({
        name: 'pay',
        input: { type: 'object' },
        execute: (_, { idempotencyKey: key }) => {
          if (seen.push(key) % 2 === 1) throw new Error('socket hang up');
          return 'Paid.';
        },
      });
      const batch = (count: number) => ({
        toolCalls: Array.from({ length: count }, () => ({ name: 'pay', arguments: {} })),
      });
      const model = new ScriptedChatModel([batch(3), batch(3), 'Done.']);
      await run(ChatClient.create(model).prompt('Pay.').tools(pay));

      expect(new Set(seen.slice(0, 3)).size).to.equal(3);
      expect([seen[3], seen[4]]).to.deep.equal([seen[0], seen[2]]);
      expect(seen.slice(0, 3)).not.to.include(seen[5]);
    });

    it(`does not depend on earlier turns of the conversation (${mode})`, async () => {
      const seen: string[] = [];
      const pay = defineTool({
        name: 'pay',
        execute: (_, { idempotencyKey: key }) => void seen.push(key),
      });
      const call = { id: 'c', name: 'pay', arguments: '{}' } as const;
      const turn = async (messages: readonly Message[]): Promise<void> => {
        const model = new ScriptedChatModel([{ toolCalls: [{ name: 'pay', arguments: {} }] }, '']);
        const spec = ChatClient.create(model).prompt().messages(messages).user('Pay.');
        await run(spec.tools(pay).turnId('t'));
      };
      await turn([]);
      await turn([
        { role: 'user', content: 'Pay.' },
        { role: 'assistant', content: null, toolCalls: [call] },
        { role: 'tool', toolCallId: 'c', toolName: 'pay', content: 'Paid.' },
        { role: 'assistant', content: 'Paid.' },
      ]);

      expect(seen[0]).to.equal(seen[1]);
    });

    it(`is equal when an advisor retries with other arguments (${mode})`, async () => {
      const again = defineAdvisor({
        name: 'again',
        order: 0,
        aroundTool: async (invocation, next) => {
          await next(invocation);
          return next({ ...invocation, arguments: { changed: true } });
        },
      });
      const seen = await keys(run, again);

      expect(seen).to.have.lengthOf(8);
      expect(seen[0]).to.equal(seen[1]);
      expect(seen[2]).to.equal(seen[3]);
    });
  }
});
