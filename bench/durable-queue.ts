// Turns on a queue of DBOS with workers that are killed while they run. Needs PostgreSQL on 127.0.0.1:5432.
// Usage: npm run bench:durable-queue -- [--turns 1000] [--conversations 100] [--workers 3] [--kill-every 2000] [--latency 200]
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { FleetLoad, questionsOf } from '../test/support/fleet/fleet-load.js';
import { FleetModelServer } from '../test/support/fleet/fleet-model-server.js';
import { WorkerFleet } from '../test/support/fleet/worker-fleet.js';
import { createPostgresDatabase } from '../test/support/postgres-database.js';

const number = (value: string): { type: 'string'; default: string } => ({
  type: 'string',
  default: value,
});
const { values } = parseArgs({
  options: {
    turns: number('1000'),
    conversations: number('100'),
    workers: number('3'),
    'kill-every': number('2000'),
    latency: number('200'),
    concurrency: number('20'),
    poll: number('100'),
  },
});
const conversations = Number(values.conversations);
const questions = questionsOf(conversations, Number(values.turns) / conversations);

const database = await createPostgresDatabase();
const model = await FleetModelServer.start(Number(values.latency));
const config = {
  url: database.url,
  modelURL: model.baseURL,
  workerConcurrency: Number(values.concurrency),
  pollInterval: Number(values.poll),
  poolSize: 10,
};
const load = await FleetLoad.open(config);
let fleet: WorkerFleet | undefined;
try {
  const enqueueing = performance.now();
  await load.start(questions);
  console.log(`${questions.length} turns on the queue in ${seconds(enqueueing)} s`);
  fleet = await WorkerFleet.start(Number(values.workers), config);
  const before = await load.databaseWork();
  const start = performance.now();
  let kills = 0;
  let isOver = false;
  const killing = (async () => {
    while (!isOver && Number(values['kill-every']) > 0) {
      await delay(Number(values['kill-every']));
      const worker = fleet.workers[kills % fleet.workers.length];
      if (isOver || !worker) break;
      kills++;
      await worker.end('SIGKILL');
      void worker.start();
    }
  })();
  let shown = 0;
  for (let finished = 0; finished < questions.length; finished = await load.finished()) {
    await delay(100);
    if (performance.now() - shown > 2000) {
      shown = performance.now();
      console.log(`${seconds(start)} s: ${JSON.stringify(await load.statuses())}, ${kills} kills`);
    }
  }
  isOver = true;
  const elapsed = Number(seconds(start));
  await killing;
  await delay(1500);
  const after = await load.databaseWork();
  const steps = await load.steps();
  const { byWorker, repeated } = await load.effects();
  const problems = await load.problems(questions);
  console.log(`${questions.length} turns in ${elapsed} s, ${kills} kills`);
  console.log(
    `turns per second: ${(questions.length / elapsed).toFixed(1)}, per worker: ${(questions.length / elapsed / fleet.workers.length).toFixed(1)}`,
  );
  console.log(
    `steps: ${steps} (${(steps / questions.length).toFixed(1)} a turn), database time per step: ${((after.activeTime - before.activeTime) / steps).toFixed(2)} ms, commits per step: ${((after.commits - before.commits) / steps).toFixed(1)}`,
  );
  console.log(
    `tool calls by worker: ${JSON.stringify(byWorker)}, repeated: ${repeated}; model requests repeated: ${model.repeated}`,
  );
  console.log(
    problems.length === 0
      ? 'each turn has one answer, each conversation is in order'
      : problems.slice(0, 20).join('\n'),
  );
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await fleet?.stop();
  await load.close();
  await model.close();
  await database.drop();
}

function seconds(start: number): string {
  return ((performance.now() - start) / 1000).toFixed(1);
}
