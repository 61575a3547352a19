// One variant of one scenario, in a process of its own: runs samples on request and reports their CPU.
import { ITERATIONS } from './answers.js';
import { setUp, type Variant } from './variants.js';
import { SCENARIOS, workOf, type Scenario } from './work.js';

const [, , variant, name, port] = process.argv;
const scenario = SCENARIOS.find((one) => one.name === name) as Scenario;
const { advisors, flush, within } = setUp(variant as Variant);
const work = workOf(scenario, Number(port), advisors);

/** Spans of a turn: of the turn itself, of the tool loop, and of model and tool calls within it. */
const spansOfTurn = scenario.kind === 'loop' ? 2 + ITERATIONS + 1 + ITERATIONS : 3;

let turns = 0;

async function takeSample(): Promise<void> {
  await within(work);
  turns += scenario.turns;
}

/** Exports the telemetry recorded since the last export, and checks that no span is missing. */
async function exportTelemetry(): Promise<void> {
  const spans = await flush();
  const expected = variant === 'sdk' ? turns * spansOfTurn : 0;
  if (spans !== expected) throw new Error(`${name}, ${variant}: ${spans} spans, not ${expected}`);
  turns = 0;
}

/** Microseconds of CPU of this process, all its threads. What is left to be collected is collected when V8 likes. */
async function cpuOf(task: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await task();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

process.on(
  'message',
  (question) =>
    void cpuOf(question === 'flush' ? exportTelemetry : takeSample).then((answer) =>
      process.send?.(answer),
    ),
);
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
