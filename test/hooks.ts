import { inspect } from 'node:util';
import type { RootHookObject } from 'mocha';

// Mocha lets an unhandled rejection pass with exit code 0, and a process warning never fails a run.
// Both are collected here and charged to the test during which they appeared.
const incidents: Error[] = [];

process.on('unhandledRejection', (reason) => {
  incidents.push(new Error('unhandled rejection', { cause: reason }));
});

process.on('warning', (warning) => {
  if (warning.name === 'MaxListenersExceededWarning') incidents.push(warning);
});

// What appears after the last test has no test to fail any more, but must not leave the run green.
process.on('exit', () => {
  if (incidents.length === 0) return;
  for (const incident of incidents) console.error('after the last test:', incident);
  // Setting the exit code is not enough: mocha's own exit listener runs later and sets it back to its count of failures.
  process.exit(1);
});

export const mochaHooks: RootHookObject = {
  async afterEach(this: Mocha.Context) {
    // Node reports a rejection only after the microtasks of the turn in which it happened.
    await new Promise((resolve) => setImmediate(resolve));
    const found = incidents.splice(0);
    if (found.length === 0) return;
    process.exitCode = 1;
    const title = this.currentTest?.fullTitle() ?? 'unknown test';
    (this.test as Mocha.Hook).error(new AggregateError(found, `${title}: ${found.map(describe).join('; ')}`));
  },
};

function describe(incident: Error): string {
  return incident.cause === undefined ? String(incident) : `${incident.message}: ${inspect(incident.cause)}`;
}
