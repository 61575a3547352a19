import { expect } from 'chai';
import {
  agentTool,
  ApprovalAdvisor,
  ChatClient,
  ConversationLockAdvisor,
  defineTool,
  DurableAdvisor,
  FallbackAdvisor,
  InMemoryDurableEngine,
  KeywordToolIndex,
  ModelCallError,
  PromptCacheAdvisor,
  RateLimitAdvisor,
  SteeringAdvisor,
  SteeringInbox,
  ToolSearchAdvisor,
  type Advisor,
  type Tool,
} from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';
import { asks } from '../support/budget.js';
import { stateAfter } from '../support/inspected.js';
import { inConversation } from '../support/memory-advisor.js';
import { MODES } from '../support/modes.js';
import { pauseOptions } from '../support/paused-turns.js';

const tool = (name: string, description: string): Tool =>
  defineTool({ name, description, effect: 'read', execute: () => 'done' });
const look = tool('look', 'Looks.');

/** The steps of a durable turn as lines, without the ids of calls. */
const stepsOf = (state: object): readonly string[] =>
  (state as { steps: { step: string; end: string; wasInterrupted?: boolean }[] }).steps.map(
    ({ step, end, wasInterrupted }) =>
      `${step.replace(/(?<=^tool \w+) [^\s/]+/, '')}: ${end}${wasInterrupted ? ', was interrupted' : ''}`,
  );
const down = () => new ModelCallError('down', { status: 503 });

for (const mode of MODES)
  describe(`states of turns for inspectors (${mode})`, () => {
    const after = (script: Script, advisor: Advisor, tools: readonly Tool[] = [look]) => {
      const client = ChatClient.create(new ScriptedChatModel(script));
      return stateAfter(mode, inConversation(client.prompt('Go!').tools(...tools).advisors(advisor)), advisor); // prettier-ignore
    };

    it('ToolSearchAdvisor has the tools, the searches with scores, and the discoveries', async () => {
      const search = new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex() });
      const tools = [
        tool('send_mail', 'Sends an e-mail.'),
        tool('weather', 'Reports the weather.'),
      ];
      const script = [
        { toolCalls: [{ name: 'toolSearchTool', arguments: { query: 'weather' } }] },
        'fine',
      ];

      const state = await after(script, search, tools);

      const [found] = state['searches'] as { query: string; hits: { score: number }[] }[];
      expect(state).to.deep.include({ tools: 2, discovered: ['weather'] });
      expect(found).to.include({ query: 'weather' });
      expect(found?.hits[0]).to.deep.include({ name: 'weather', matches: ['weather'] });
      expect(found?.hits[0]?.score).to.be.above(0);
    });

    it('ApprovalAdvisor has paused turns and remembered decisions', async () => {
      const approval = new ApprovalAdvisor({ policy: { look: 'ask' }, pause: pauseOptions() });

      const { pending, remembered } = await after([asks()], approval);

      const [turn] = pending as { requests: { toolName: string }[] }[];
      expect(turn?.requests[0]).to.include({ type: 'approval', toolName: 'look' });
      expect(remembered).to.deep.equal([]);
    });

    it('ApprovalAdvisor remembers the decision of a person for the conversation', async () => {
      const decide = () => ({ type: 'allow', scope: 'conversation', by: 'anna' }) as const;
      const approval = new ApprovalAdvisor({ policy: { look: 'ask' }, decide });

      const { pending, remembered } = await after([asks(), 'fine'], approval);

      const [decision] = remembered as object[];
      expect(decision).to.include({ toolName: 'look', scope: 'conversation', by: 'anna' });
      expect(pending).to.equal(undefined);
    });

    it('DurableAdvisor has the steps of the turn: recorded, or replayed', async () => {
      const engine = new InMemoryDurableEngine();
      const first = await after([asks(), down()], new DurableAdvisor({ engine }));
      const again = new InMemoryDurableEngine(engine.entries());

      const state = await after(['fine'], new DurableAdvisor({ engine: again }));

      expect(first).to.deep.include({ isLost: false, isReplaying: false });
      expect(stepsOf(first)).to.deep.equal(['model 0: recorded', 'tool look: recorded', 'model 1: recorded']); // prettier-ignore
      expect(stepsOf(state)).to.deep.equal(['model 0: replayed', 'tool look: replayed', 'model 1: replayed']); // prettier-ignore
    });

    it('DurableAdvisor has the steps that an earlier execution has begun, and not ended', async () => {
      const send = defineTool({ name: 'look', effect: 'write', execute: () => 'sent' });
      const engine = new InMemoryDurableEngine();
      await after([asks(), down()], new DurableAdvisor({ engine }), [send]);
      const begun = engine
        .entries()
        .filter(([name]) => name === 'model 0' || name.endsWith(' begin'));
      const again = new InMemoryDurableEngine(begun);

      const whole = await after(['fine'], new DurableAdvisor({ engine: new InMemoryDurableEngine(engine.entries()) }), [send]); // prettier-ignore
      const state = await after(['fine'], new DurableAdvisor({ engine: again, onUnknown: 'refuse' }), [send]); // prettier-ignore

      expect(stepsOf(whole)).to.include('tool look: replayed');
      expect(stepsOf(state)).to.include('tool look: recorded, was interrupted');
    });

    it('DurableAdvisor has the step at which its engine has failed', async () => {
      const engine = new InMemoryDurableEngine();
      engine.step = () => Promise.reject(new Error('the store is away'));

      const state = await after(['fine'], new DurableAdvisor({ engine }));

      expect(state).to.deep.include({ isLost: true });
      expect(stepsOf(state)).to.deep.equal(['model 0: failed']);
    });

    it('DurableAdvisor has the steps of agents within the turn', async () => {
      const engine = new InMemoryDurableEngine();
      const durable = new DurableAdvisor({ engine });
      const agent = ChatClient.builder(new ScriptedChatModel(['found']))
        .defaultAdvisors(durable)
        .build();
      const ask = agentTool(agent, { name: 'look', description: 'Looks.' });

      const state = await after([{ toolCalls: [{ name: 'look', arguments: { message: 'Look!' } }] }, 'fine'], durable, [ask]); // prettier-ignore

      expect(
        stepsOf(state)
          .filter((step) => step.includes('/'))
          .join(),
      ).to.match(/model 0: recorded/);
    });

    it('RateLimitAdvisor has what is used and left, without its key', async () => {
      const key = () => 'sk-a-secret-key';
      const limit = new RateLimitAdvisor({ requestsPerMinute: 10, tokensPerMinute: 9_000, key });

      const state = await after(['fine'], limit);

      const { tokens, ...rest } = state;
      expect(rest).to.deep.equal({ requests: { limit: 10, used: 1, left: 9 }, waiting: 0 });
      expect(tokens).to.include({ limit: 9_000 });
      expect(JSON.stringify(state)).to.not.include('secret');
    });

    it('ConversationLockAdvisor has the lock while the turn runs', async () => {
      const lock = new ConversationLockAdvisor();
      let during: object | undefined;
      const asking: Advisor = {
        name: 'asking',
        order: 5_500,
        before: async (request) => void (during = await lock.inspect(request)),
      };
      const client = ChatClient.create(new ScriptedChatModel(['fine']));

      const spec = inConversation(client.prompt('Go!').advisors(lock, asking));
      const state = await stateAfter(mode, spec, lock);

      expect(during).to.deep.equal({ isLocked: true, isHeld: true, turns: 1 });
      expect(state).to.deep.equal({ isLocked: false, isHeld: false, turns: 0 });
    });

    it('SteeringAdvisor has the messages that wait', async () => {
      const inbox = new SteeringInbox();
      const script: Script = () => {
        void inbox.send('And Rome?', { mode: 'queue' });
        return 'fine';
      };

      const state = await after(script, new SteeringAdvisor({ inbox }));

      expect(state['deferred']).to.deep.equal([{ role: 'user', content: 'And Rome?' }]);
    });

    it('FallbackAdvisor has the health of its models', async () => {
      const other = new ScriptedChatModel(() => 'fine');
      const fallback = new FallbackAdvisor({ models: [other], maxFailures: 1 });

      const { models } = await after([down()], fallback);

      const [first, second] = models as { model: string; failures: number; skippedFor: number }[];
      expect(first).to.include({ model: 'the model of the request', failures: 1 });
      expect(first?.skippedFor).to.be.above(0);
      expect(second).to.include({ failures: 0, skippedFor: 0 });
    });

    it('PromptCacheAdvisor has the requests that may be in the cache', async () => {
      const { requests } = await after(['fine'], new PromptCacheAdvisor());

      expect(requests).to.have.length(1);
      expect((requests as object[])[0]).to.include({ tools: 1, messages: 1 });
    });

    it('have nothing of a turn that they have not seen', async () => {
      const client = ChatClient.create(new ScriptedChatModel(() => 'fine'));
      const unused = [
        new DurableAdvisor({ engine: new InMemoryDurableEngine() }),
        new SteeringAdvisor({ inbox: new SteeringInbox() }),
        new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex() }),
        new ConversationLockAdvisor(),
      ];

      for (const advisor of unused)
        expect(await stateAfter(mode, client.prompt('Go!'), advisor)).to.deep.equal({});
    });
  });
