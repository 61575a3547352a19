// Checks for contributors and .ci/run: sources, tests and package; `--sources`, `--tests` or `--package` runs one part,
// `--entries` the part of the package that depends on the version of Node.js, with the `dist` that is there, `--bundlers` builds an application by
// each bundler.
// The first step that fails ends the run.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, scratch, tool } from './commands.mjs';
import { testCoreAlone } from './core-alone.mjs';
import { durableSteps } from './durable-steps.mjs';
import { bundlingSteps, entrySteps, packageSteps } from './package-steps.mjs';
import { portSteps } from './port-steps.mjs';

/**
 * Types that the compiler makes of generic ones. It decides how long the check takes: 1.3 to 2.3 s, by the machine and its load, which are
 * printed and no bound.
 */
const MAX_INSTANTIATIONS = 135_000;

/** The work of the compiler for an application with 30 tools and 10 advisors, including the types of this package. */
function countTypes() {
  const config = {
    extends: join(root, 'tsconfig.json'),
    include: [],
    files: [join(root, 'test/types/application.test-types.ts')],
  };
  const file = join(scratch, 'tsconfig.json');
  writeFileSync(
    file,
    JSON.stringify({
      ...config,
      compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
    }),
  );
  const printed = run(join(root, 'node_modules/.bin/tsc'), ['-p', file, '--extendedDiagnostics']);
  const count = Number(/Instantiations:\s+(\d+)/.exec(printed)?.[1] ?? NaN);
  const seconds = /Total time:\s+([\d.]+)s/.exec(printed)?.[1];
  if (!(count <= MAX_INSTANTIATIONS))
    throw new Error(
      `30 tools and 10 advisors need ${count} instantiations of types, more than ${MAX_INSTANTIATIONS}`,
    );
  return `30 tools and 10 advisors: ${count} instantiations in ${seconds} s`;
}

/** The tests of faults and cancellations once more, with every client observed and all spans checked. */
function testObserved() {
  const printed = run('npm', ['run', 'test:observed', '--', '--forbid-only', '--reporter', 'dot']);
  return /observed: (.+)/.exec(printed)?.[1];
}

/**
 * A step throws if it fails, and may return a few words on what it has done.
 * @type {Record<string, { name: string, run: () => string | undefined | Promise<string | undefined> }[]>}
 */
const parts = {
  '--sources': [
    { name: 'format', run: () => tool('prettier', '--check', '.') },
    { name: 'import rules', run: () => void run('node', ['.ci/import-rules.mjs']) },
    { name: 'words', run: () => void run('node', ['.ci/words.mjs']) },
    { name: 'lint', run: () => tool('oxlint', '--type-aware', '--deny-warnings') },
    { name: 'types', run: () => tool('tsc', '-p', 'tsconfig.json') },
    {
      name: 'types of the inspector page',
      run: () => tool('tsc', '-p', 'src/bridges/inspector/page'),
    },
    { name: 'types of applications', run: () => tool('tsc', '-p', 'examples/apps') },
    { name: 'work of types', run: countTypes },
    { name: 'core alone', run: testCoreAlone },
  ],
  '--tests': [{ name: 'tests', run: () => void run('npm', ['test'], { show: true }) }],
  '--package': [
    ...packageSteps,
    ...durableSteps,
    ...portSteps,
    { name: 'tests, observed', run: testObserved },
    { name: 'site of the docs', run: () => void run('npm', ['run', 'docs']) },
  ],
};

const [, , only] = process.argv;
const named = { ...parts, '--entries': entrySteps, '--bundlers': bundlingSteps };
const steps = only === undefined ? Object.values(parts).flat() : named[only];
if (!steps) throw new Error(`there is ${Object.keys(named).join(', ')}, but no ${only}`);

const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

async function runSteps() {
  const start = performance.now();
  for (const step of steps) {
    const begun = performance.now();
    try {
      const note = await step.run();
      console.log(`ok      ${step.name} (${seconds(begun)}${note ? `, ${note}` : ''})`);
    } catch (error) {
      console.error(error.message);
      console.log(`FAILED  ${step.name} (${seconds(begun)})`);
      return 1;
    }
  }
  console.log(`ok      all ${steps.length} steps (${seconds(start)})`);
  return 0;
}

try {
  process.exitCode = await runSteps();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
