import { mock } from 'node:test';
import { expect } from 'chai';
import {
  AdvisorOrder,
  ApprovalAdvisor,
  BudgetAdvisor,
  ChatClient,
  ConversationLockAdvisor,
  defineAdvisor,
  defineTool,
  ModelCallError,
  ObservabilityAdvisor,
  RateLimitAdvisor,
  RetryAdvisor,
  type Advisor,
  type Tool,
} from '../../../src/index.js';
import { TURN_OBSERVATION } from '../../../src/core/observation/ask-model.js';
import type {
  Observation,
  ObservedEnding,
  ObservedPart,
} from '../../../src/core/observation/observation.js';
import { RecordingTracer, ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { answers, asks } from '../../support/budget.js';
import { inConversation } from '../../support/memory-advisor.js';
import { failureOf, MODES, runSpec, type Mode } from '../../support/modes.js';
import { settle } from '../../support/promises.js';
import { VirtualTime } from '../../support/virtual-time.js';

/** Keeps the waits of turns, as `reason: milliseconds` when they end. */
class Waits implements Observation {
  constructor(
    readonly ended: string[] = [],
    private readonly part?: ObservedPart,
    private readonly start = performance.now(),
  ) {}

  begin(part: ObservedPart): Waits {
    return new Waits(this.ended, part);
  }

  note(): void {
    // waits alone are kept
  }

  run<T>(work: () => T): T {
    return work();
  }

  end({ type }: ObservedEnding): void {
    if (this.part?.type !== 'wait') return;
    const time = Math.round(performance.now() - this.start);
    this.ended.push(`${this.part.reason}: ${type} after ${time}`);
  }
}

const look = defineTool({ name: 'look', effect: 'read', execute: () => 'something' });
const unavailable = () => new ModelCallError('busy', { status: 503, retryable: true });

for (const mode of MODES)
  describe(`waits for inspectors (${mode})`, () => {
    const time = new VirtualTime();
    beforeEach(() => {
      time.start();
      mock.method(Date, 'now', () => 1_700_000_003_000 + performance.now());
    });
    afterEach(() => time.restore());

    /** Runs turns that begin at the same time, and returns their waits. */
    const waitsOf = async (
      script: Script,
      advisor: Advisor,
      {
        tools = [look],
        turns = 1,
      }: { readonly tools?: readonly Tool[]; readonly turns?: number } = {},
    ): Promise<readonly string[]> => {
      const waits = new Waits();
      const observing = defineAdvisor({
        name: 'inspector',
        order: AdvisorOrder.TURN - 400,
        before: (request) => {
          TURN_OBSERVATION.set(request.run, waits);
          return request.with({ observation: waits });
        },
      });
      const client = ChatClient.create(new ScriptedChatModel(script));
      const run = (at: Mode) =>
        failureOf(runSpec(at, inConversation(client.prompt('go').tools(...tools).advisors(observing, advisor)))); // prettier-ignore
      const running = Promise.all(Array.from({ length: turns }, () => run(mode)));
      expect((await time.until(running)).value).to.deep.equal(
        Array.from({ length: turns }, () => undefined),
      );
      return waits.ended;
    };

    it('last from a failure to the next attempt of a RetryAdvisor', async () => {
      mock.method(Math, 'random', () => 0);
      const script = [unavailable(), unavailable(), 'fine'];

      const waits = await waitsOf(script, new RetryAdvisor({ firstDelay: 1_000 }));

      expect(waits).to.deep.equal(['retry: done after 1000', 'retry: done after 2000']);
    });

    it('last from the failure of a tool to its next attempt', async () => {
      let runs = 0;
      const flaky = defineTool({
        name: 'look',
        effect: 'read',
        retries: 1,
        execute: () => (++runs === 1 ? Promise.reject(new Error('down')) : 'something'),
      });

      const waits = await waitsOf([asks(), 'fine'], new RetryAdvisor(), { tools: [flaky] });

      expect(waits).to.deep.equal(['retry: done after 200']);
    });

    it('last until a rate limit has room, also for a call in line', async () => {
      const limit = new RateLimitAdvisor({ requestsPerMinute: 60, burst: 1 });

      const waits = await waitsOf(() => 'fine', limit, { turns: 3 });

      expect(waits).to.have.length(2);
      expect(waits.join()).to.match(/^rate-limit: done after \d+,rate-limit: done after \d+$/);
    });

    it('last until the conversation is free', async () => {
      const script: Script = async () => {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        return 'fine';
      };

      const waits = await waitsOf(script, new ConversationLockAdvisor(), { turns: 2 });

      expect(waits).to.deep.equal(['conversation: done after 1000']);
    });

    it('last until the application has decided about a budget', async () => {
      const ask = async () => {
        await new Promise((resolve) => setTimeout(resolve, 5_000));
        return 5;
      };
      const budget = new BudgetAdvisor({ maxModelCalls: 2, onLimit: 'ask', ask });

      const waits = await waitsOf([asks(), answers('fine')], budget);

      expect(waits).to.deep.equal(['budget: done after 5000']);
    });

    it('last until a person has decided about a call', async () => {
      const decide = async () => {
        await new Promise((resolve) => setTimeout(resolve, 7_000));
        return { type: 'allow' } as const;
      };
      const approval = new ApprovalAdvisor({ policy: { look: 'ask' }, decide });

      const waits = await waitsOf([asks(), 'fine'], approval);

      expect(waits).to.deep.equal(['decision: done after 7000']);
    });

    it('end when a turn is cancelled', async () => {
      const waits = new Waits();
      const observing = defineAdvisor({
        name: 'inspector',
        order: AdvisorOrder.TURN - 400,
        before: (request) => request.with({ observation: waits }),
      });
      const limit = new RateLimitAdvisor({ requestsPerMinute: 1, burst: 1 });
      const client = ChatClient.create(new ScriptedChatModel(() => 'fine'));
      const controller = new AbortController();
      const spec = () => client.prompt('go').advisors(observing, limit).signal(controller.signal);
      const running = Promise.all([failureOf(runSpec(mode, spec())), failureOf(runSpec(mode, spec()))]); // prettier-ignore
      await time.pass(1_000);

      controller.abort();
      await running;
      await settle();

      expect(waits.ended).to.deep.equal(['rate-limit: done after 1000']);
    });

    it('have no spans', async () => {
      const tracer = new RecordingTracer();
      const retry = new RetryAdvisor({ firstDelay: 1 });
      const client = ChatClient.create(new ScriptedChatModel([unavailable(), 'fine']));
      const spec = client.prompt('go').advisors(new ObservabilityAdvisor({ tracer }), retry);

      await time.until(runSpec(mode, spec));

      expect(tracer.spans.map(({ name }) => name).join()).to.not.include('wait');
    });
  });
