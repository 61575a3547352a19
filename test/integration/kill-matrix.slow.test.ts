import { expect } from 'chai';
import type { KillLane } from '../support/kill-lane.js';
import type { TurnOutcome } from '../support/kill-laws.js';
import { samplePlaces } from '../support/kill-sample.js';
import { KillSetting, STORES, type LaneOptions } from '../support/kill-setting.js';
import { MODES } from '../support/modes.js';
import { Random } from '../support/random.js';
import { hasServer, POSTGRES } from '../support/servers.js';

const {
  /** `full` for every place, `1/3` for each third one. */
  KILL_MATRIX: size = 'sample',
  KILL_SEED: seed = String(Date.now() % 1_000_000),
  /** One place, or several with a comma between them, for processes one after another. */
  KILL_AT: place,
} = process.env;
const SINGLE_KILLS = 3;
const KILLS_IN_A_ROW = 2;

describe('kill matrix', function () {
  this.timeout(size === 'sample' ? 180_000 : 7_200_000);
  let setting: KillSetting;
  const random = new Random(Number(seed));

  before(async function () {
    await hasServer(this, POSTGRES);
    console.log(`      KILL_SEED=${seed}; every place: KILL_MATRIX=full`);
    setting = await KillSetting.create(...STORES);
  });

  afterEach(() => setting?.closeLanes());
  after(() => setting?.close());

  const killsOf = (points: readonly string[]): readonly (readonly string[])[] => {
    if (place !== undefined) return [place.split(',')];
    const inARow = samplePlaces(points, KILLS_IN_A_ROW, random);
    const share = size === 'full' ? 1 : Number(/^1\/(\d+)$/.exec(size)?.[1]);
    if (share > 0) return points.filter((_, at) => at % share === 0).map((each) => [each]);
    return [...samplePlaces(points, SINGLE_KILLS, random).map((each) => [each]), inARow];
  };

  /** Prints problems at once: the whole matrix takes long. */
  const problemsOf = async (
    lane: KillLane,
    places: readonly string[],
    whole: TurnOutcome,
  ): Promise<readonly string[]> => {
    const problems = await lane.problemsOf(places, whole);
    for (const problem of problems) console.log(`      ${problem}`);
    return problems;
  };

  const lanes: readonly LaneOptions[] = STORES.flatMap((store) =>
    MODES.flatMap((mode) =>
      [false, true].map((isMemoryInside) => ({ store, mode, isMemoryInside })),
    ),
  );
  const steered: readonly LaneOptions[] = MODES.flatMap((mode) =>
    (['steer', 'interrupt'] as const).map((steering, at) => ({
      mode,
      isMemoryInside: at === 1,
      steering,
    })),
  );
  for (const options of [...lanes, ...steered]) {
    const { store = 'PostgreSQL', mode, isMemoryInside, steering } = options;
    const where = isMemoryInside ? 'inside' : 'outside';
    const sent = steering ? `, with a message by ${steering}` : '';
    it(`a turn on ${store} (${mode}, memory ${where}${sent}) that is killed anywhere equals one that was not`, async () => {
      const lane = await setting.openLane(options);
      const { outcome, points } = await lane.runWhole();
      const kills = killsOf(points);
      const problems: string[] = [];
      const start = performance.now();

      for (const places of kills) problems.push(...(await problemsOf(lane, places, outcome)));

      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      console.log(`      ${kills.length} turns, ${points.length} places, ${problems.length} problems, ${seconds} s`); // prettier-ignore
      expect(problems).to.deep.equal([]);
    });
  }
});
