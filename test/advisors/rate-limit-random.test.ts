import { mock } from 'node:test';
import { expect } from 'chai';
import fc from 'fast-check';
import { ChatClient, RateLimitAdvisor } from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { sweep } from '../support/sweep.js';
import { VirtualTime } from '../support/virtual-time.js';

const START = 1_700_000_003_000;

describe('RateLimitAdvisor, at random', () => {
  const time = new VirtualTime();
  afterEach(() => time.restore());

  it('has no minute with more requests or tokens than the limits, wherever it begins', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ after: fc.nat(20_000), tokens: fc.integer({ min: 1, max: 40 }) }), {
          minLength: 10,
          maxLength: 30,
        }),
        async (plan) => {
          time.start();
          mock.method(Date, 'now', () => START + performance.now());
          const calls: { readonly at: number; readonly tokens: number }[] = [];
          const model = new ScriptedChatModel(({ userMessage }) => {
            calls.push({ at: performance.now(), tokens: Number(userMessage?.content) });
            return 'fine';
          });
          const limit = new RateLimitAdvisor({
            requestsPerMinute: 5,
            tokensPerMinute: 100,
            estimateTokens: ({ prompt }) => Number(prompt.userMessage?.content),
            maxWait: 3_600_000,
          });
          const client = ChatClient.builder(model).defaultAdvisors(limit).build();
          const asked: Promise<unknown>[] = [];
          for (const { after, tokens } of plan) {
            await time.pass(after);
            asked.push(client.prompt(`${tokens}`).call().content());
          }
          await time.until(Promise.all(asked));
          time.restore();

          expect(calls.map(({ tokens }) => tokens)).to.deep.equal(plan.map(({ tokens }) => tokens));
          for (const { at: start } of calls) {
            const minute = calls.filter(({ at }) => at >= start && at < start + 60_000);
            expect(minute.length).to.be.at.most(5);
            expect(minute.reduce((sum, { tokens }) => sum + tokens, 0)).to.be.at.most(100);
          }
        },
      ),
      { numRuns: Math.min(sweep(60), 60), seed: 57 },
    );
  });
});
