import { inspect } from 'node:util';
import fc from 'fast-check';
import type { RootHookObject } from 'mocha';

// Property tests make the same cases in every run; FC_SEED=random, or a number, makes others.
const { FC_SEED: seed = '1' } = process.env;
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });

// Many tests build chains that warn, on purpose: a client prints its warnings outside of production only.
process.env['NODE_ENV'] ??= 'production';

// Many turns fail on purpose, too: `printError` is the default of their responses.
const { error: printLine } = console;
console.error = (...line: unknown[]) => {
  if (!String(line[0]).startsWith('advisor-chain: a request failed')) printLine(...line);
};

// Mocha lets an unhandled rejection pass with exit code 0, and a process warning never fails a run.
// Both are collected here and fail the test during which they appeared.
const incidents: Error[] = [];

process.on('unhandledRejection', (reason) => {
  incidents.push(new Error('unhandled rejection', { cause: reason }));
});

process.on('warning', (warning) => {
  if (warning.name === 'MaxListenersExceededWarning') incidents.push(warning);
});

// An incident after the last test has no test to fail, but must not leave the run green.
process.on('exit', () => {
  if (incidents.length === 0) return;
  for (const incident of incidents) console.error('after the last test:', incident);
  // Setting the exit code is not enough: mocha's own exit listener runs later and sets it back to its count of failures.
  process.exit(1);
});

/** Takes the incidents since the last call as one error. */
function incidentsDuring(title: string): Error | undefined {
  const found = incidents.splice(0);
  if (found.length === 0) return undefined;
  process.exitCode = 1;
  return new AggregateError(found, `${title}: ${found.map(describe).join('; ')}`);
}

export const mochaHooks: RootHookObject = {
  async afterEach(this: Mocha.Context) {
    // Node reports a rejection only after the microtasks of the turn in which it happened.
    await new Promise((resolve) => setImmediate(resolve));
    const error = incidentsDuring(this.currentTest?.fullTitle() ?? 'unknown test');
    if (error) (this.test as Mocha.Hook).error(error);
  },
  /** With `parallel`, mocha runs this hook after each file, and ignores the exit code of its workers. */
  async afterAll() {
    await new Promise((resolve) => setTimeout(resolve, 10));
    const error = incidentsDuring('after the last test of a file');
    if (error) throw error;
  },
};

function describe(incident: Error): string {
  return incident.cause === undefined
    ? String(incident)
    : `${incident.message}: ${inspect(incident.cause)}`;
}
