import { expect } from 'chai';
import { InMemoryDurableEngine, type DurableEngine, type DurableEntries } from '../../src/index.js';
import { finish, KilledEngine } from './durable.js';
import { eventsOf, reportOf, Scene } from './durable-scenes.js';
import { MODES, type Mode } from './modes.js';
import { Random } from './random.js';

async function play(
  scene: Scene,
  mode: Mode,
  engine?: DurableEngine,
  entries?: DurableEntries,
): Promise<unknown> {
  return reportOf(await finish(scene.spec(engine, entries), mode), scene);
}

/** Tests turns of random scenes, that are killed at each of their steps. */
export function itSurvivesKills(seeds: readonly number[]): void {
  for (const mode of MODES)
    describe(`a durable turn (${mode})`, () => {
      for (const seed of seeds) {
        it(`ends like one that is not durable: scene ${seed}`, async () => {
          const expected = await play(new Scene(seed), mode);

          expect(await play(new Scene(seed), mode, new InMemoryDurableEngine())).to.deep.equal(
            expected,
          );
        });

        it(`has the events of one that is not durable: scene ${seed}`, async () => {
          const plain = await finish(new Scene(seed).spec(undefined), mode);
          const durable = await finish(new Scene(seed).spec(new InMemoryDurableEngine()), mode);

          expect(eventsOf(durable)).to.deep.equal(eventsOf(plain));
        });

        it(`ends as if it was not killed, at whichever step: scene ${seed}`, async () => {
          const expected = await play(new Scene(seed), mode);
          const counting = new KilledEngine([]);
          await play(new Scene(seed), mode, counting);

          for (let at = 0; at < counting.ran.length; at++)
            for (const place of ['before', 'after'] as const) {
              const scene = new Scene(seed);
              const killed = new KilledEngine([], { at, place });
              await play(scene, mode, killed);
              const entries = killed.inner.entries();
              const second = new KilledEngine(entries);

              const report = await play(scene, mode, second, entries);

              const where = `killed ${place} the end of "${killed.ran.at(-1)}"`;
              expect(report, where).to.deep.equal(expected);
              const asked = [...entries.map(([name]) => name), ...second.ran];
              expect(new Set(asked).size, where).to.equal(asked.length);
            }
        });

        it(`ends as if it was not killed, again and again: scene ${seed}`, async () => {
          const random = new Random(seed);
          const expected = await play(new Scene(seed), mode);
          const scene = new Scene(seed);
          let report: unknown;
          let entries: DurableEntries = [];
          for (let killed = true, process = 0; killed; process++) {
            const place = random.pick(['before', 'after'] as const);
            const engine = new KilledEngine(
              entries,
              process < 30 ? { at: random.below(3), place } : undefined,
            );
            report = await play(scene, mode, engine, entries);
            killed = engine.isDead;
            entries = engine.inner.entries();
          }

          expect(report).to.deep.equal(expected);
        });
      }
    });
}
