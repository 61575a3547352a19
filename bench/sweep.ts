// Disturbs turns and conversations with fresh seeds until the time is up: attempts that fail, turns that are left, hostile answers.
// Usage: npm run sweep -- [--minutes N] [--seed S] [--only attempts|conversations]. Prints seed and reduced case of a find.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { attemptSweep } from '../test/support/attempts/attempt-sweep.js';
import { sweepCases, type CaseSweep, type SweepReport } from '../test/support/case-sweep.js';
import { conversationSweep } from '../test/support/conversations/conversation-sweep.js';
import { SweepStores } from '../test/support/sweep-stores.js';

/** Cases of one seed. */
const BATCH = 320;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    only: { type: 'string' },
  },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes must be a number > 0, not ${values.minutes}`);
const KINDS = ['memory', 'memory', 'memory', 'sqlite', 'postgres', 'redis'] as const;
const stores = new SweepStores();
const sweeps: Readonly<Record<string, (milliseconds: number) => Promise<number>>> = {
  attempts: (time) => run(attemptSweep(stores, KINDS), time),
  conversations: (time) => run(conversationSweep(stores, KINDS), time),
};
const names = Object.keys(sweeps).filter((name) => (values.only ?? name) === name);
if (names.length === 0)
  throw new Error(`--only must be ${Object.keys(sweeps).join(' or ')}, not ${values.only}`);

/** Runs batches until the time is up. */
async function run<T>(sweep: CaseSweep<T>, milliseconds: number): Promise<number> {
  const end = performance.now() + milliseconds;
  const reports: SweepReport[] = [];
  let seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
  do {
    const report = await sweepCases(sweep, { seed: seed++, count: BATCH });
    reports.push(report);
    for (const find of report.bad) console.log(`${find}\n`);
  } while (performance.now() < end);
  const bad = reports.reduce((sum, report) => sum + report.bad.length, 0);
  const cases = reports.reduce((sum, report) => sum + report.cases, 0);
  const known = reports.flatMap((report) => Object.entries(report.known));
  const sums: Record<string, number> = {};
  for (const [number, count] of known) sums[number] = (sums[number] ?? 0) + count;
  console.log(
    `${sweep.name}: ${cases} cases, ${bad} bad, known defects ${JSON.stringify(sums)}, last seed ${seed - 1}`,
  );
  return bad;
}

let bad = 0;
for (const name of names) bad += (await sweeps[name]?.((minutes / names.length) * 60_000)) ?? 0;
await stores.close();
process.exitCode = bad > 0 ? 1 : 0;
