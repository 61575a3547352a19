/**
 * Cost of the knowledge wing, as CPU time and memory, with ratios within one run: imports, retrieval in a turn, the
 * keyword index, searches of vectors in memory. `npm run build && npm run bench:knowledge`; see bench/README.md.
 */
import { execFileSync } from 'node:child_process';
import { median } from './knowledge/measures.js';
import { measureKeywordIndex, measureRetrieval } from './knowledge/retrieval-cost.js';
import { measureVectorSearch } from './knowledge/vector-search.js';

const ROUNDS = 9;
const root = new URL('..', import.meta.url);

/** Milliseconds of CPU of a new process that imports entries of the built package. */
function importTime(...entries: readonly string[]): number {
  const imports = entries.map((entry) => `await import('${entry}');`).join(' ');
  const code = `const start = process.cpuUsage(); ${imports}
    const { user, system } = process.cpuUsage(start); console.log((user + system) / 1_000);`;
  const flags = ['--input-type=module', '--eval', code];
  return Number(execFileSync(process.execPath, flags, { cwd: root, encoding: 'utf8' }));
}

/** Imports of the main entry, of the wing, and of both, in turn. */
function measureImports(): void {
  const cases = [
    ['advisor-chain'],
    ['advisor-chain/knowledge'],
    ['advisor-chain', 'advisor-chain/knowledge'],
  ];
  const rounds = Array.from({ length: ROUNDS }, () => cases.map((each) => importTime(...each)));
  const [main, wing, both] = cases.map((_, at) => median(rounds.map((each) => each[at] ?? 0)));
  const more = median(rounds.map(([a = 0, , c = 0]) => c / a));
  console.log(
    `import of advisor-chain ${main?.toFixed(0)} ms, of advisor-chain/knowledge ${wing?.toFixed(0)} ms,`,
    `of both ${both?.toFixed(0)} ms, ratio to the first ${more.toFixed(2)}`,
  );
}

measureImports();
await measureRetrieval(1_000);
await measureKeywordIndex(100_000);
for (const count of [1_000, 10_000, 100_000]) await measureVectorSearch(count);
