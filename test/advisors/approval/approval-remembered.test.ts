import { expect } from 'chai';
import {
  agentTool,
  ApprovalAdvisor,
  ChatClient,
  CONVERSATION_ID,
  DurableAdvisor,
  defineTool,
  InMemoryDurableEngine,
  InMemoryKeyValueStore,
  type ApprovalAdvisorOptions,
  type ChatEvent,
  type Decision,
  type KeyValueStore,
  type PendingRequest,
  type PromptSpec,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { approvalsOf, Remover, rm } from '../../support/approval.js';

interface Turn {
  readonly path?: string;
  readonly conversation?: string;
  readonly user?: string;
  readonly tool?: Tool;
}

/** Turns with one advisor, and the requests that people got. */
class Turns {
  readonly asked: PendingRequest[] = [];
  readonly remover = new Remover();
  private readonly advisor: ApprovalAdvisor;

  constructor(decision: Decision, options: ApprovalAdvisorOptions = {}) {
    const decide = (request: PendingRequest): Decision => {
      this.asked.push(request);
      return decision;
    };
    this.advisor = new ApprovalAdvisor({ decide, ...options });
  }

  async run({ path = 'a', conversation, user, tool = this.remover.tool }: Turn = {}): Promise<
    readonly ChatEvent[]
  > {
    const spec = ChatClient.create(new ScriptedChatModel([rm(path), 'Done.']))
      .prompt('?')
      .tools(tool)
      .toolContext(user === undefined ? {} : { user })
      .advisors(this.advisor)
      .advisors((advisors) =>
        conversation === undefined ? advisors : advisors.param(CONVERSATION_ID, conversation),
      );
    const events: ChatEvent[] = [];
    for await (const event of spec.stream().events()) events.push(event as ChatEvent);
    return events;
  }
}

const scope: ApprovalAdvisorOptions['scope'] = ({ context }) =>
  context.values['user'] as string | undefined;
const forConversation: Decision = { type: 'allow', scope: 'conversation', by: 'anna' };
const always: Decision = { type: 'allow', scope: 'always', by: 'anna' };

describe('remembered decisions of an ApprovalAdvisor', () => {
  it('a decision for once is none for the next call', async () => {
    const turns = new Turns({ type: 'allow' });

    await turns.run({ conversation: 'c' });
    await turns.run({ conversation: 'c' });

    expect(turns.asked).to.have.length(2);
  });

  it('[N8] allows an equal call of the conversation, and names the person', async () => {
    const turns = new Turns(forConversation);

    await turns.run({ conversation: 'c' });
    const events = await turns.run({ conversation: 'c' });

    expect(turns.asked).to.have.length(1);
    expect(approvalsOf(events)).to.deep.equal([
      { state: 'remembered', toolName: 'rm', callId: 'c0', scope: 'conversation', by: 'anna' },
    ]);
    expect(turns.remover.removed).to.deep.equal(['a', 'a']);
  });

  const others: readonly (readonly [what: string, first: Turn, second: Turn])[] = [
    ['other arguments', { conversation: 'c' }, { conversation: 'c', path: 'b' }],
    ['another conversation', { conversation: 'c' }, { conversation: 'd' }],
    ['another user in a conversation of the same id', { conversation: 'c', user: 'u' }, { conversation: 'c', user: 'v' }],
    ['a changed tool', { conversation: 'c' }, { conversation: 'c', tool: new Remover('idempotent').tool }],
  ]; // prettier-ignore
  for (const [what, first, second] of others)
    it(`[F88] asks again for ${what}`, async () => {
      const turns = new Turns(forConversation, { scope });

      await turns.run(first);
      await turns.run(second);

      expect(turns.asked).to.have.length(2);
    });

  it('remembers always for the owner alone', async () => {
    const turns = new Turns(always, { scope });

    await turns.run({ user: 'u', conversation: 'c' });
    await turns.run({ user: 'u', conversation: 'd' });
    await turns.run({ user: 'v' });

    expect(turns.asked).to.have.length(2);
  });

  for (const [what, turn, scopes] of [
    ['neither', {}, ['once']],
    ['a conversation', { conversation: 'c' }, ['once', 'conversation']],
    ['an owner', { user: 'u' }, ['once', 'always']],
    ['both', { conversation: 'c', user: 'u' }, ['once', 'conversation', 'always']],
  ] as const)
    it(`offers the scopes of a call with ${what}`, async () => {
      const turns = new Turns({ type: 'allow' }, { scope });

      await turns.run(turn);

      expect(turns.asked[0]).to.deep.include({ scopes });
    });

  it('remembers the tool, whatever its arguments, if it has to', async () => {
    const turns = new Turns(forConversation, { remember: 'tool' });

    await turns.run({ conversation: 'c' });
    await turns.run({ conversation: 'c', path: 'b' });

    expect(turns.asked).to.have.length(1);
  });

  it('[F18] asks again for a number that is equal only once it is parsed', async () => {
    const turns = new Turns(forConversation);
    const tool = defineTool({ name: 'rm', execute: () => 'removed' });
    const run = async (id: string): Promise<void> => {
      const toolCalls = [{ id: 'c0', name: 'rm', arguments: `{"id":${id}}` }];
      const model = new ScriptedChatModel([{ toolCalls }, 'Done.']);
      await ChatClient.create(model)
        .prompt('?')
        .tools(tool)
        .advisors(turns['advisor'])
        .advisors((advisors) => advisors.param(CONVERSATION_ID, 'c'))
        .call()
        .content();
    };

    await run('0.1');
    await run('0.10000000000000000001');

    expect(turns.asked).to.have.length(2);
    expect(turns.asked[1]).to.include({ argumentsText: '{"id":0.10000000000000000001}' });
  });

  it('is kept in the store of paused turns if there is no other one', async () => {
    const remover = new Remover();
    const pause = {
      secrets: 'a secret of the tests, 32 characters',
      store: new InMemoryKeyValueStore(),
    };
    const process = (...answers: readonly ScriptedAnswer[]): ChatClient =>
      ChatClient.builder(new ScriptedChatModel(answers))
        .defaultTools(remover.tool)
        .defaultAdvisors(new ApprovalAdvisor({ pause }))
        .build();
    const ofA = (spec: PromptSpec): PromptSpec =>
      spec.advisors((a) => a.param(CONVERSATION_ID, 'a'));
    const { paused } = await ofA(process(rm('a')).prompt('?'))
      .call()
      .chatResponse();
    const decisions = { [paused?.requests[0]?.id ?? '']: forConversation };
    await process('Done.')
      .resume(paused?.state ?? '', decisions)
      .call()
      .content();

    const text = await ofA(process(rm('a'), 'Done.').prompt('?'))
      .call()
      .content();

    expect([text, remover.removed]).to.deep.equal(['Done.', ['a', 'a']]);
  });

  it('asks, and shows the error, if the store fails', async () => {
    const error = new Error('down');
    const broken = new InMemoryKeyValueStore() as KeyValueStore;
    broken.get = () => Promise.reject(error);
    broken.set = () => Promise.reject(error);
    const turns = new Turns(forConversation, { store: broken });

    const events = await turns.run({ conversation: 'c' });

    expect(approvalsOf(events).map((each) => 'error' in each && each.error)).to.deep.equal([
      error,
      error,
    ]);
    expect(turns.remover.removed).to.deep.equal(['a']);
  });
});

describe('approvals within agents', () => {
  it('are made inline, and show the agents around the call', async () => {
    const remover = new Remover();
    const asked: PendingRequest[] = [];
    const approval = new ApprovalAdvisor({
      policy: { helper: 'allow' },
      decide: (request) => {
        asked.push(request);
        return { type: 'allow' };
      },
    });
    const inner = ChatClient.builder(new ScriptedChatModel([rm('a'), 'Inner.']))
      .defaultTools(remover.tool)
      .defaultAdvisors(approval)
      .build();
    const toolCalls = [{ id: 'o', name: 'helper', arguments: { message: 'Tidy.' } }];
    const outer = ChatClient.builder(new ScriptedChatModel([{ toolCalls }, 'Done.']))
      .defaultTools(agentTool(inner, { name: 'helper', description: 'Tidies.' }))
      .defaultAdvisors(approval)
      .build();

    await outer.prompt('?').call().content();

    expect(asked).to.have.length(1);
    expect(asked[0]).to.deep.include({ toolName: 'rm', agents: ['helper'] });
    expect(asked[0]?.id).to.match(/^0\.o\/0\.c0\./);
    expect(remover.removed).to.deep.equal(['a']);
  });
});

describe('approvals in durable turns', () => {
  const model = () =>
    new ScriptedChatModel(({ messages }) => (messages.at(-1)?.role === 'tool' ? 'Done.' : rm('a')));
  const turn = (engine: InMemoryDurableEngine, tool: Tool, options: ApprovalAdvisorOptions) =>
    ChatClient.builder(model())
      .defaultTools(tool)
      .defaultAdvisors(new ApprovalAdvisor(options), new DurableAdvisor({ engine: () => engine }))
      .build()
      .prompt('?');

  it('are the same when the turn runs again, though policy and person would decide otherwise', async () => {
    const remover = new Remover();
    let calls = 0;
    const options: ApprovalAdvisorOptions = {
      policy: () => (++calls === 1 ? 'ask' : 'deny'),
      decide: () => ({ type: calls === 1 ? 'allow' : 'deny' }),
    };
    const first = new InMemoryDurableEngine();
    await turn(first, remover.tool, options).call().content();

    await turn(new InMemoryDurableEngine(first.entries()), remover.tool, options).call().content();

    expect([calls, remover.removed]).to.deep.equal([1, ['a']]);
  });

  it('end with a denial when the time for a decision is over', async () => {
    const remover = new Remover();
    const engine = new InMemoryDurableEngine();

    const { steps } = await turn(engine, remover.tool, { timeout: 5 }).call().chatClientResponse();

    expect(steps[0]?.toolCalls[0]?.result?.content).to.include(
      'no decision about this call in time',
    );
    expect(remover.removed).to.deep.equal([]);
  });

  it('[F88] do not count for a tool that has changed meanwhile', async () => {
    const [before, after] = [new Remover('write'), new Remover('idempotent')];
    const first = new InMemoryDurableEngine();
    const controller = new AbortController();
    const wait = first.waitFor.bind(first);
    first.waitFor = (name, options) => {
      setTimeout(() => controller.abort());
      return wait(name, options);
    };
    await turn(first, before.tool, {}).signal(controller.signal).call().content().catch(() => null); // prettier-ignore
    const second = new InMemoryDurableEngine(first.entries());
    const waitAgain = second.waitFor.bind(second);
    second.waitFor = (name, options) => {
      second.send(name, { type: 'allow' });
      return waitAgain(name, options);
    };

    const { steps } = await turn(second, after.tool, {}).call().chatClientResponse();

    expect(steps[0]?.toolCalls[0]?.result?.content).to.include('the tool has changed');
    expect([before.removed, after.removed]).to.deep.equal([[], []]);
  });
});
