import { expect } from 'chai';
import {
  CompactionAdvisor,
  defineTool,
  GuardAdvisor,
  InMemoryDurableEngine,
  InMemoryKeyValueStore,
  RateLimitAdvisor,
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
  const model = new ScriptedChatModel(
    ({ messages }) => CALLS[messages.filter(({ role }) => role === 'tool').length] ?? 'Done.',
  );
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
      const limited = (): Advisor => new RateLimitAdvisor({ requestsPerMinute: 3, maxWait: 0 });
      const first = new KilledEngine([], { at: 'model 3', place: 'before' });
      const shared = limited();
      const { error: none } = await finish(durableSpec(turnOf(shared), first), mode);
      expect(String(none)).to.include('limit of 3 requests per minute');

      const again = turnOf(shared);
      const failed = await finish(
        durableSpec(again, new KilledEngine(first.inner.entries())),
        mode,
      );
      expect(String(failed.error)).to.include('limit of 3 requests per minute');
      expect(again.model.prompts).to.have.length(0);

      const { response, error } = await finish(
        durableSpec(turnOf(limited()), new KilledEngine(first.inner.entries())),
        mode,
      );
      expect(error).to.equal(undefined);
      expect(response?.text).to.equal('Done.');
    });
  });
