// Runs turns through the full chain with a model in the process; fails if heap, listeners, timers or handles grow between 20 % and the end.
// Usage: npm run soak -- [--turns N]
import { parseArgs } from 'node:util';
import { growth, soak } from '../test/support/soak.js';

const { turns } = parseArgs({ options: { turns: { type: 'string', default: '20000' } } }).values;
const count = Number(turns);
if (!Number.isInteger(count) || count < 100)
  throw new Error(`--turns must be an integer >= 100, not ${turns}`);
const start = performance.now();
const samples = await soak(count);
for (const { turns: at, heap, listeners, resources } of samples)
  console.log(
    `${at} turns: heap ${(heap / 2 ** 20).toFixed(2)} MB, ${listeners} listeners, ${resources.join(' ') || 'no handles'}`,
  );
const problems = growth(samples);
console.log(
  `${((performance.now() - start) / 1000).toFixed(0)} s; ${problems.join('; ') || 'nothing grew'}`,
);
process.exitCode = problems.length > 0 ? 1 : 0;
