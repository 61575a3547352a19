import { mock } from 'node:test';
import { expect } from 'chai';
import fc from 'fast-check';
import { ChatClient, InMemoryKeyValueStore, RateLimitAdvisor } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { sweep } from '../../support/sweep.js';
import { VirtualTime } from '../../support/virtual-time.js';

const START = 1_700_000_003_000;

describe('RateLimitAdvisor, at random', () => {
  const time = new VirtualTime();
  afterEach(() => time.restore());

  it('has no period of the clock with more requests than a burst, for all clients of a store', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 10, max: 600 }),
        fc.integer({ min: 1, max: 9 }),
        fc.array(fc.nat(2_000), { minLength: 10, maxLength: 40 }),
        async (requestsPerMinute, burst, pauses) => {
          time.start();
          mock.method(Date, 'now', () => START + performance.now());
          const periods: number[] = [];
          const model = new ScriptedChatModel(() => {
            periods.push(Math.floor((Date.now() * requestsPerMinute) / (burst * 60_000)));
            return 'fine';
          });
          const store = new InMemoryKeyValueStore();
          const options = { requestsPerMinute, burst, store, maxWait: 3_600_000 };
          const clients = [1, 2].map(() =>
            ChatClient.builder(model).defaultAdvisors(new RateLimitAdvisor(options)).build(),
          );
          const asked: Promise<unknown>[] = [];
          for (const [at, pause] of pauses.entries()) {
            await time.pass(pause % 5 ? 0 : pause);
            asked.push((clients[at % 2] as ChatClient).prompt('?').call().content());
          }
          await time.until(Promise.all(asked));
          time.restore();

          expect(periods).to.have.length(pauses.length);
          for (const period of periods)
            expect(periods.filter((other) => other === period).length).to.be.at.most(burst);
        },
      ),
      { numRuns: Math.min(sweep(60), 60), seed: 57 },
    );
  });

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
