import { expect } from 'chai';
import {
  CompactionAdvisor,
  defineTool,
  GuardAdvisor,
  InMemoryDurableEngine,
  InMemoryKeyValueStore,
  RateLimitAdvisor,
  RateLimitError,
  type Advisor,
  type DurableEntries,
  type Prompt,
} from '../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import { durableSpec, finish, KilledEngine, type DurableTurn } from '../support/durable.js';
import { MODES } from '../support/modes.js';

const CALLS = [0, 1, 2].map((at): ScriptedAnswer => ({
  toolCalls: [{ name: 'look', id: `c${at}`, arguments: { at } }],
}));
const look = defineTool({
  name: 'look',
  effect: 'read',
  execute: () => 'A long result. '.repeat(600),
});

function turnOf(advisor: Advisor): DurableTurn & { readonly model: ScriptedChatModel } {
  // by the last call, since compaction removes earlier ones
  const model = new ScriptedChatModel(({ messages }) => {
    const last = messages.findLast((each) => each.role === 'tool');
    return CALLS[last ? Number(last.toolCallId.slice(1)) + 1 : 0] ?? 'Done.';
  });
  return { model, tools: [look], advisors: [advisor] };
}

const textsOf = ({ messages }: Prompt): readonly string[] =>
  messages.flatMap((each) => (each.role === 'tool' ? [JSON.stringify(each.content)] : []));

/** A store of keys that other processes have, too. */
const store = (): InMemoryKeyValueStore => new InMemoryKeyValueStore();

for (const mode of MODES)
  describe(`advisors of a durable turn (${mode})`, () => {
    const ROWS: readonly (readonly [string, (shared: InMemoryKeyValueStore) => Advisor])[] = [
      [
        'results that are offloaded',
        (shared) =>
          new CompactionAdvisor({ maxTokens: 100_000, offload: { store: shared, over: 2_000 } }),
      ],
      [
        'results that are offloaded when the turn gets long',
        (shared) =>
          new CompactionAdvisor({
            maxTokens: 5_000,
            keepIterations: 1,
            offload: { store: shared, over: 20_000 },
          }),
      ],
      ['results of others', () => new GuardAdvisor({ untrusted: ['look'] })],
    ];
    for (const [what, advisorOf] of ROWS)
      it(`sends ${what} as before when it runs again`, async () => {
        const shared = store();
        const first = new KilledEngine([]);
        const whole = turnOf(advisorOf(shared));
        await finish(durableSpec(whole, first), mode);
        for (let at = 0; at < first.ran.length; at++) {
          const killed = new KilledEngine([], { at, place: 'after' });
          const world = store();
          await finish(durableSpec(turnOf(advisorOf(world)), killed), mode);

          const again = turnOf(advisorOf(world));
          const { response, error } = await finish(
            durableSpec(again, new KilledEngine(killed.inner.entries())),
            mode,
          );

          expect(error, killed.ran.at(-1)).to.equal(undefined);
          expect(response?.text).to.equal('Done.');
        }
      });

    it('marks results of others with a secret of the turn, in each process', async () => {
      const marksOf = async (entries: DurableEntries): Promise<readonly string[]> => {
        const turn = turnOf(new GuardAdvisor({ untrusted: ['look'] }));
        await finish(durableSpec(turn, new InMemoryDurableEngine(entries)), mode);
        return turn.model.prompts.flatMap(textsOf);
      };

      const marks = await marksOf([['secret', 'one']]);

      expect(marks).to.have.length(6);
      expect(await marksOf([['secret', 'one']])).to.deep.equal(marks);
      expect(await marksOf([['secret', 'two']])).to.not.deep.equal(marks);
      expect(await marksOf([])).to.not.deep.equal(marks);
    });

    it('does not wait for a rate limit, nor count, for calls that are replayed', async () => {
      const limited = new RateLimitAdvisor({ requestsPerMinute: 4, maxWait: 0 });
      const first = new KilledEngine([], { at: 'model 2', place: 'before' });
      await finish(durableSpec(turnOf(limited), first), mode);

      const again = turnOf(limited);
      const { response, error } = await finish(
        durableSpec(again, new KilledEngine(first.inner.entries())),
        mode,
      );
      const other = await finish(durableSpec(turnOf(limited), new InMemoryDurableEngine()), mode);

      expect(error).to.equal(undefined);
      expect(response?.text).to.equal('Done.');
      expect(again.model.prompts).to.have.length(2);
      expect(other.error).to.be.instanceOf(RateLimitError);
    });

    it('gets the recorded error of a rate limit', async () => {
      const limited = (): Advisor => new RateLimitAdvisor({ requestsPerMinute: 2, maxWait: 0 });
      const first = new InMemoryDurableEngine();
      const failed = await finish(durableSpec(turnOf(limited()), first), mode);
      const again = await finish(
        durableSpec(turnOf(limited()), new InMemoryDurableEngine(first.entries())),
        mode,
      );

      expect(failed.error).to.be.instanceOf(RateLimitError);
      expect(again.error).to.be.instanceOf(RateLimitError);
      expect(String(again.error)).to.equal(String(failed.error));
    });
  });
