// Measures how long foreign input blocks the event loop. An argument selects the cases whose names contain it. See bench/README.md.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AdvisorChainError } from '../src/index.js';
import { CASES, type Run } from './event-loop/cases.js';

/** Milliseconds that the loop may be blocked by one input: other requests of the process wait, and no client gives up for that. */
const MAX = 200;
/** The bound that docs/reliability.md names, in milliseconds, of all delays while a server works on hostile inputs only. */
const P99 = 50;
/** Milliseconds for which a case is repeated, so that p99 is measured over many delays. */
const DURATION = 1_000;
/** Milliseconds after each run in which nothing happens. */
const PAUSE = 10;

interface Delays {
  readonly p99: number;
  readonly max: number;
  readonly outcome: string;
}

async function outcomeOf(run: Run): Promise<string> {
  try {
    return (await run()).slice(0, 40).replaceAll(/[\s|]+/g, ' ');
  } catch (error) {
    if (!(error instanceof AdvisorChainError)) throw error;
    return `error ${error.code}`;
  }
}

/** Lets the timer that measures the delays see the last one: a timer alone may fire before it, in the task that has blocked the loop. */
async function pause(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await sleep(PAUSE);
}

/** Quantiles of the delays of all cases, each with its share of the delays. */
const all: { readonly delay: number; readonly share: number }[] = [];
const QUANTILES = 500;

/** The delay in nanoseconds that 99 % of all do not exceed. */
function p99OfAll(): number {
  let rest = all.reduce((sum, { share }) => sum + share, 0) * 0.99;
  const sorted = all.toSorted((a, b) => a.delay - b.delay);
  return sorted.find(({ share }) => (rest -= share) <= 0)?.delay ?? NaN;
}

async function measure(run: Run): Promise<Delays> {
  globalThis.gc?.();
  await pause();
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  await pause(); // the first delay counts from a tick of the timer
  let outcome = '';
  for (const end = performance.now() + DURATION; performance.now() < end;) {
    outcome = await outcomeOf(run);
    await pause();
  }
  delays.disable();
  for (let at = 0; at < QUANTILES; at++)
    all.push({
      delay: delays.percentile(((at + 0.5) / QUANTILES) * 100),
      share: delays.count / QUANTILES,
    });
  return { p99: delays.percentile(99) / 1e6, max: delays.max / 1e6, outcome };
}

const [, , wanted = ''] = process.argv;
const server = fork(fileURLToPath(new URL('event-loop/server.ts', import.meta.url)));
const [baseURL] = (await once(server, 'message')) as [string];
const problems: string[] = [];
console.log('| input | p99, ms | longest, ms | outcome |');
console.log('| ----- | ------: | ----------: | ------- |');
for (const [name, prepare] of Object.entries(CASES)) {
  if (!name.includes(wanted)) continue;
  const { p99, max, outcome } = await measure(prepare(baseURL));
  console.log(`| ${name} | ${p99.toFixed(1)} | ${max.toFixed(1)} | ${outcome} |`);
  if (max > MAX) problems.push(name);
}
server.disconnect();
const p99 = p99OfAll() / 1e6;
console.log(`| all | ${p99.toFixed(1)} | | |`);
if (problems.length > 0)
  console.log(`\nLonger than ${MAX} ms:\n${problems.map((name) => `- ${name}`).join('\n')}`);
process.exitCode = problems.length > 0 || p99 > P99 ? 1 : 0;
