// Turns per second of 1 to 4 workers on one queue of DBOS. Needs PostgreSQL on 127.0.0.1:5432.
// Usage: npm run bench:scaling -- [--turns 15] [--concurrency 2] [--latency 200] [--rounds 2]
import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { FleetLoad } from '../test/support/fleet/fleet-load.js';
import { FleetModelServer } from '../test/support/fleet/fleet-model-server.js';
import { WorkerFleet } from '../test/support/fleet/worker-fleet.js';
import type { FleetConfig, FleetQuestion } from '../test/support/fleet/fleet-turns.js';
import { createPostgresDatabase } from '../test/support/postgres-database.js';

/** Result of one round: a number of workers, each with the same number of turns. */
interface Round {
  readonly workers: number;
  readonly turnsPerSecond: number;
  /** Milliseconds of CPU of the workers per turn; not a number where there is no /proc. */
  readonly cpu: number;
  /** Milliseconds that sessions of the database were active per turn. */
  readonly database: number;
  readonly connections: number;
  readonly memory: number;
}

const WORKERS = [1, 2, 3, 4];
/** Milliseconds of CPU in a tick of /proc. */
const TICK = 10;

const { values } = parseArgs({
  options: {
    turns: { type: 'string', default: '15' },
    concurrency: { type: 'string', default: '2' },
    latency: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '2' },
  },
});
const database = await createPostgresDatabase();
const model = await FleetModelServer.start(Number(values.latency));
const config: FleetConfig = {
  url: database.url,
  modelURL: model.baseURL,
  workerConcurrency: Number(values.concurrency),
  pollInterval: 50,
  poolSize: 5,
};
const load = await FleetLoad.open(config);
try {
  const rounds: Round[] = [];
  for (let round = 0; round < Number(values.rounds); round++)
    // there and back, so that a change of the load of the machine does not count for one number
    for (const workers of round % 2 === 0 ? WORKERS : WORKERS.toReversed())
      rounds.push(await measure(workers, `round-${round}`));
  print(rounds);
} finally {
  await load.close();
  await model.close();
  await database.drop();
}

async function measure(workers: number, name: string): Promise<Round> {
  const fleet = await WorkerFleet.start(workers, config);
  try {
    const turns = Number(values.turns) * workers;
    const questions: FleetQuestion[] = Array.from({ length: turns }, (_, index) => ({
      conversation: `${name}-${workers}-${index}`,
      at: 0,
    }));
    const [cpu, work, finished] = [cpuOf(fleet), await load.databaseWork(), await load.finished()];
    const start = performance.now();
    await load.start(questions);
    await load.untilFinished(finished + turns);
    const seconds = (performance.now() - start) / 1000;
    const { activeTime, connections } = await load.databaseWork();
    return {
      workers,
      turnsPerSecond: turns / seconds,
      cpu: (cpuOf(fleet) - cpu) / turns,
      database: (activeTime - work.activeTime) / turns,
      connections,
      memory: Math.max(...fleet.workers.map(({ pid }) => residentMegabytes(pid))),
    };
  } finally {
    await fleet.stop();
  }
}

function cpuOf(fleet: WorkerFleet): number {
  return fleet.workers.reduce((sum, { pid }) => sum + cpuOfProcess(pid), 0);
}

function cpuOfProcess(pid: number | undefined): number {
  const fields = read(`/proc/${pid}/stat`)?.split(') ')[1]?.split(' ');
  return fields ? (Number(fields[11]) + Number(fields[12])) * TICK : NaN;
}

function residentMegabytes(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`) ?? '')?.[1]) / 1024;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // only Linux has it
  }
}

function print(rounds: readonly Round[]): void {
  const of = (workers: number, value: (round: Round) => number): number =>
    mean(rounds.filter((round) => round.workers === workers).map(value));
  const [load1 = 0] = loadavg();
  console.log(
    `${cpus().length} cores (${cpus()[0]?.model}), load ${load1.toFixed(1)}, Node ${process.version}; ${values.concurrency} turns at once in a worker, 2 model calls of ${values.latency} ms in a turn`,
  );
  console.log('| workers | turns/s | ratio | CPU ms/turn | database ms/turn | connections | MB |');
  const one = of(1, ({ turnsPerSecond }) => turnsPerSecond);
  for (const workers of WORKERS) {
    const speed = of(workers, ({ turnsPerSecond }) => turnsPerSecond);
    const rest = (['cpu', 'database', 'connections', 'memory'] as const).map((name) =>
      of(workers, (round) => round[name]).toFixed(0),
    );
    console.log(
      `| ${workers} | ${speed.toFixed(1)} | ${(speed / one).toFixed(2)} | ${rest.join(' | ')} |`,
    );
  }
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
