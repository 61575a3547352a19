// Cost of observability: memory per chunk, and CPU per turn. An argument selects the cases whose names contain it.
// See bench/README.md.
import { ALLOCATION_CASES, type Allocation } from './observability/allocation-cases.js';
import { buildProcesses, Process } from './observability/processes.js';
import { median, ratio, takeRounds, type Rounds } from './observability/rounds.js';
import { CHUNKS } from './observability/answers.js';
import { SCENARIOS, type Scenario } from './observability/work.js';

const whole = (value: number): string => Math.round(value).toLocaleString('en');

/** So much room for what is new, in MB, that nothing is collected while it is measured. */
const YOUNG = 1_024;

const [, , wanted = ''] = process.argv;
const isWanted = ({ name }: { readonly name: string }): boolean => name.includes(wanted);

async function memory(): Promise<void> {
  const cases = ALLOCATION_CASES.filter(isWanted);
  if (cases.length === 0) return;
  console.log(
    '| memory of a stream | chunks | heap grows by, bytes | a chunk, bytes | a chunk, objects |',
  );
  console.log(
    '| ------------------ | -----: | -------------------: | -------------: | ---------------: |',
  );
  for (const { name, lengths } of cases) {
    const flags = [`--min-semi-space-size=${YOUNG}`, `--max-semi-space-size=${YOUNG}`];
    const { process } = await Process.start('allocation', [name], flags);
    const { bytes, objects } = (await process.ask(lengths)) as Allocation;
    process.stop();
    const each = (bytes[1] - bytes[0]) / (lengths[1] - lengths[0]);
    console.log(
      `| ${name} | ${lengths.map(whole).join(' / ')} | ${bytes.map(whole).join(' / ')} | ${each.toFixed(1)} | ${objects.toFixed(2)} |`,
    );
  }
  console.log('');
}

/** Nanoseconds that a chunk takes more than without the advisor. */
function chunkCost({ kind }: Scenario, rounds: Rounds, variant: 'api' | 'sdk'): string {
  if (kind !== 'chunks') return '';
  return whole((median(rounds.map((round) => round[variant] - round.none)) * 1_000) / CHUNKS);
}

async function cpu(port: number): Promise<void> {
  const scenarios = SCENARIOS.filter(isWanted);
  if (scenarios.length === 0) return;
  console.log(
    '| CPU of a turn | without, µs | the same again | API only | SDK alone | SDK and advisor | SDK and advisor : SDK alone | API, ns a chunk | SDK, ns a chunk |',
  );
  console.log(
    '| ------------- | ----------: | -------------: | -------: | --------: | --------------: | --------------------------: | --------------: | --------------: |',
  );
  for (const scenario of scenarios) {
    const rounds = await takeRounds(scenario, port);
    const ratios = [
      ...(['again', 'api', 'caller', 'sdk'] as const).map((variant) => ratio(rounds, variant)),
      ratio(rounds, 'sdk', 'caller'),
    ];
    const chunks = (['api', 'sdk'] as const).map((variant) => chunkCost(scenario, rounds, variant));
    const cells = [
      scenario.name,
      whole(median(rounds.map(({ none }) => none))),
      ...ratios,
      ...chunks,
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

const removeProcesses = await buildProcesses();
const server = await Process.start('server');
try {
  await memory();
  await cpu(server.first as number);
} finally {
  server.process.stop();
  removeProcesses();
}
