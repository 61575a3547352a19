import { expect } from 'chai';
import {
  ApprovalAdvisor,
  ChatClient,
  CONVERSATION_ID,
  defineTool,
  GuardAdvisor,
  InMemoryKeyValueStore,
  PausedStateError,
  secretRule,
  type ApprovalAdvisorOptions,
  type Decisions,
  type PromptSpec,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { deferred } from '../../support/promises.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { decideAll, SECRET } from '../../support/paused-turns.js';

const keyOf = (letter: string): string => `ghp_${`${letter}1B2`.repeat(9)}`;

/** A client whose tool `pay` needs a person, and the effects of the tool. */
function paying(options: ApprovalAdvisorOptions = {}) {
  const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
  let effects = 0;
  const pay = defineTool({ name: 'pay', effect: 'write', execute: () => `paid ${++effects}` });
  const clientOf = (more: ApprovalAdvisorOptions = {}): ChatClient =>
    ChatClient.builder(
      new ScriptedChatModel(({ messages }) =>
        messages.at(-1)?.role === 'tool' ? 'Done.' : { toolCalls: [{ id: 'c1', name: 'pay' }] },
      ),
    )
      .defaultAdvisors(new ApprovalAdvisor({ pause, ...options, ...more }))
      .build();
  return { pay, clientOf, effects: () => effects };
}

for (const mode of MODES)
  describe(`the audience of a paused turn (${mode})`, () => {
    const scope: ApprovalAdvisorOptions['scope'] = ({ context }) =>
      context.values['user'] as string | undefined;
    const inConversation = (spec: PromptSpec, id: string): PromptSpec =>
      spec.advisors((a) => a.param(CONVERSATION_ID, id));

    for (const [reason, other, resume] of [
      ['client', { name: 'other' }, (spec: PromptSpec) => spec.toolContext({ user: 'anna' })],
      ['owner', {}, (spec: PromptSpec) => spec.toolContext({ user: 'eve' })],
      ['owner', {}, (spec: PromptSpec) => spec],
      [
        'conversation',
        {},
        (spec: PromptSpec) => inConversation(spec.toolContext({ user: 'anna' }), 'eve-1'),
      ],
    ] as const)
      it(`[D91] is refused elsewhere, and not used: another ${reason}`, async () => {
        const { pay, clientOf, effects } = paying({ scope });
        const asked = clientOf().prompt('Pay').tools(pay).toolContext({ user: 'anna' });
        const paused = await runSpec(mode, inConversation(asked, 'anna-1'));
        const state = paused.paused?.state ?? '';

        const wrong = resume(clientOf(other).resume(state, decideAll(paused)).tools(pay));
        const error = await failureOf(runSpec(mode, wrong));

        expect(error).to.be.instanceOf(PausedStateError).with.property('reason', reason);
        expect(effects()).to.equal(0);
        const right = clientOf().resume(state, decideAll(paused)).tools(pay);
        expect((await runSpec(mode, right.toolContext({ user: 'anna' }))).text).to.equal('Done.');
        expect(effects()).to.equal(1);
      });

    it('[D91] has the tools of the request: without one, the state is not used', async () => {
      const { pay, clientOf, effects } = paying();
      const paused = await runSpec(mode, clientOf().prompt('Pay').tools(pay));
      const resumed = clientOf().resume(paused.paused?.state ?? '', decideAll(paused));

      const error = await failureOf(runSpec(mode, resumed));

      expect(error).to.include({ code: 'paused_state', reason: 'tool-missing' });
      expect((await runSpec(mode, resumed.tools(pay))).text).to.equal('Done.');
      expect(effects()).to.equal(1);
    });

    it('[D95] reads nothing in the state that a guard has removed, nor anything else', async () => {
      const policy = { rules: secretRule(), action: 'redact' } as const;
      const { pay } = paying();
      const look = defineTool({ name: 'look', effect: 'read', execute: () => keyOf('c') });
      const model = new ScriptedChatModel([
        { text: `I know ${keyOf('b')}`, toolCalls: [{ id: 'c1', name: 'look' }] },
        { toolCalls: [{ id: 'c2', name: 'pay' }] },
      ]);
      const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
      const client = ChatClient.builder(model)
        .defaultTools(look, pay)
        .defaultAdvisors(
          new GuardAdvisor({ input: [policy], output: [policy], toolResults: [policy] }),
          new ApprovalAdvisor({ pause }),
        )
        .build();

      const { paused } = await runSpec(mode, client.prompt(`My key is ${keyOf('a')}`));

      const [, version, content = ''] = paused?.state.split('.') ?? [];
      const text = Buffer.from(content, 'base64url').toString();
      expect(version).to.equal('2');
      expect(text).to.not.match(/ghp_|key|pay|messages/);
    });
  });

describe('two resumes of one state', () => {
  it('[D85] fail for two reasons: the turn runs now, or has ended', async () => {
    const { pay: _, clientOf } = paying();
    const [begun, finish] = [deferred<void>(), deferred<void>()];
    const slow = defineTool({
      name: 'pay',
      effect: 'write',
      execute: async () => {
        begun.resolve();
        await finish.promise;
        return 'paid';
      },
    });
    const client = clientOf();
    const paused = await client.prompt('Pay').tools(slow).call().chatResponse();
    const resume = (decisions: Decisions = decideAll(paused)): Promise<unknown> =>
      client
        .resume(paused.paused?.state ?? '', decisions)
        .tools(slow)
        .call()
        .content();

    const first = resume();
    await begun.promise;
    const meanwhile = await failureOf(resume());
    finish.resolve();
    const answer = await first;
    const afterwards = await failureOf(resume());

    expect(meanwhile).to.include({ code: 'paused_state', reason: 'running' });
    expect(answer).to.equal('Done.');
    expect(afterwards).to.include({ code: 'paused_state', reason: 'used' });
  });
});
