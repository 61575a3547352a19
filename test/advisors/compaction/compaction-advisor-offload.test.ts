import { expect } from 'chai';
import {
  GuardAdvisor,
  InMemoryKeyValueStore,
  InvalidArgumentError,
  patternRule,
  type KeyValueStore,
  type Prompt,
} from '../../../src/index.js';
import { brokenPair, longTurn, prefixChanges, tokensOf } from '../../support/compacted-turn.js';
import { MODES } from '../../support/modes.js';
import { idIn, offeredIn, resultsOf, returning } from '../../support/offloading.js';
import { VirtualTime } from '../../support/virtual-time.js';
import { assistant, user } from '../../support/conversation.js';

const MAX = 4_000;
const offload = (): { store: KeyValueStore; over: number } => ({
  store: new InMemoryKeyValueStore(),
  over: 4_000,
});
const largest = (prompts: readonly Prompt[]): number => Math.max(...prompts.map(tokensOf));
const calling = (name: string, args: Readonly<Record<string, unknown>>) => ({
  toolCalls: [{ name, arguments: args }],
});
const names = (prompts: readonly Prompt[]): ReadonlySet<string> =>
  new Set(prompts.map((prompt) => offeredIn(prompt).join()));

/** An earlier turn whose result is in a store. */
const offloadedTurn = () => [
  user(`In the logs: call read_result with the id "${'b'.repeat(20)}"`),
  assistant('Yes.'),
];

for (const mode of MODES)
  describe(`CompactionAdvisor with offloaded results (${mode})`, () => {
    it('keeps a turn under the limit without a summary, and every long result can be read', async () => {
      const sizes = Array.from({ length: 40 }, (_, at) => (at % 4 === 0 ? 50_000 : 900));
      let id = '';
      let read: unknown;

      const { error, prompts, reports } = await longTurn(
        mode,
        sizes,
        { maxTokens: MAX, offload: offload() },
        {
          answer: (prompt, index) => {
            id ||= idIn(resultsOf(prompt)[0]);
            if (index === 40) return calling('read_result', { id, offset: 25_000, length: 100 });
            if (index !== 41) return undefined;
            read = resultsOf(prompt).at(-1);
            return 'Done.';
          },
        },
      );

      expect(error).to.equal(undefined);
      expect(read).to.match(
        /^Characters 25000 to 25100 of 50008; continue with offset 25100\.\nx{100}$/,
      );
      expect(largest(prompts)).to.be.at.most(MAX);
      expect(brokenPair(prompts)).to.equal(undefined);
      expect(prefixChanges(prompts)).to.equal(reports.length).and.be.at.most(4);
      expect(names(prompts)).to.deep.equal(new Set(['read', 'read,read_result']));
    });

    it('names the id of a result that it clears', async () => {
      const sizes = [50_000, ...Array.from({ length: 20 }, () => 1_500)];

      const { prompts, reports } = await longTurn(mode, sizes, {
        maxTokens: MAX,
        offload: offload(),
      });

      expect(reports.length).to.be.at.least(1);
      const [first] = resultsOf(prompts.at(-1)) as readonly [string];
      expect(first.length).to.be.lessThan(500);
      expect(first).to.include(`call read_result with the id "${idIn(resultsOf(prompts[1])[0])}"`);
    });

    it('offloads what it must keep, when room is needed', async () => {
      const sizes = [10_000, 10_000, 10_000, 10_000];

      const { error, prompts, reports } = await longTurn(mode, sizes, {
        maxTokens: 8_000,
        keepIterations: 4,
        offload: { ...offload(), over: 20_000 },
      });

      expect(error).to.equal(undefined);
      expect(largest(prompts)).to.be.at.most(8_000);
      expect(reports.map(({ strategies }) => strategies)).to.deep.equal([['offload']]);
    });

    it('leaves results of excluded tools whole', async () => {
      const { prompts } = await longTurn(mode, [6_000], {
        maxTokens: MAX,
        excludeTools: ['read'],
        offload: offload(),
      });

      expect(resultsOf(prompts[1])).to.deep.equal([`page 0: ${'x'.repeat(6_000)}`]);
    });

    it('cuts results if the store fails, and reports it', async () => {
      const error = new Error('disk full');
      const store = { get: () => Promise.reject(error), set: () => Promise.reject(error) };

      const { response, events, reports, prompts } = await longTurn(mode, [40_000], {
        maxTokens: MAX,
        offload: { store: store as never },
      });

      expect(response?.text).to.equal('Done.');
      const [failure] = events.filter(
        (event) => event.type === 'custom' && event.name === 'result-offloaded',
      );
      expect(failure).to.have.nested.property('data.error', error);
      expect(reports[0]).to.deep.include({
        strategies: ['cut'],
        failures: [{ strategy: 'offload', error }],
      });
      expect(largest(prompts)).to.be.at.most(MAX);
    });

    it('refuses a second one with the same tool before a model is called', async () => {
      const both = ['first', 'second'].map((name) => ({
        name,
        maxTokens: MAX,
        offload: offload(),
      }));

      const { error, prompts } = await longTurn(mode, [40_000], both);

      expect(error).to.be.instanceOf(InvalidArgumentError);
      expect(String(error)).to.match(/set offload.toolName/);
      expect(prompts).to.have.length(0);
    });

    it('does not wait for a store that hangs', async () => {
      const time = new VirtualTime();
      const hangs = () => new Promise<never>(() => undefined);
      const answer = (_: Prompt, index: number) =>
        index === 1 ? calling('read_result', { id: 'b'.repeat(20) }) : undefined;
      const messages = offloadedTurn();
      time.start();
      try {
        const { value } = await time.until(
          longTurn(
            mode,
            [40_000],
            { maxTokens: MAX, offload: { store: { get: hangs, set: hangs } as never } },
            { answer, messages },
          ),
        );

        expect(value.response?.text).to.equal('Done.');
        expect(value.reports[0]?.failures.map(({ strategy }) => strategy)).to.deep.equal([
          'offload',
        ]);
        expect(JSON.stringify(value.prompts[2])).to.include('failed. Error id');
      } finally {
        time.restore();
      }
    });

    it('lets a guard judge what is read, also what it has not seen before', async () => {
      const guard = new GuardAdvisor({
        toolResults: [
          { rules: patternRule({ name: 'pin', pattern: /pin \d{4}/ }), action: 'redact' },
        ],
        untrusted: ['logs', 'read_result'],
      });
      const text = `${'a line\n'.repeat(1_000)}pin 4711\n${'a line\n'.repeat(1_000)}`;

      const { prompts } = await longTurn(
        mode,
        [],
        { maxTokens: MAX, offload: offload() },
        {
          advisors: [guard],
          tools: [returning('logs', text)],
          answer: (prompt, index) => {
            if (index === 0) return calling('logs', {});
            if (index > 1) return 'Done.';
            return calling('read_result', { id: idIn(resultsOf(prompt)[0]), search: 'pin' });
          },
        },
      );

      const [shown, read] = resultsOf(prompts[2]) as readonly [string, string];
      for (const each of [shown, read]) expect(each).to.match(/^<untrusted-data/);
      expect(read).to.include('line 1001').and.not.include('4711');
    });
  });
