// Checks for contributors and .ci/run: sources, tests and package; `--sources`, `--tests` or `--package` runs one part.
// The first step that fails ends the run.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const scratch = mkdtempSync(join(tmpdir(), 'advisor-chain-check-'));

/** Runs a program without a terminal; throws what it printed if it fails. */
function run(command, args, { cwd = root, show = false, timeout, env = process.env } = {}) {
  const stdio = ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'];
  const done = spawnSync(command, args, {
    cwd,
    stdio,
    timeout,
    env,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  const printed = `${done.stdout ?? ''}${done.stderr ?? ''}`;
  if (done.error)
    throw new Error(`${command} ${args.join(' ')}: ${done.error.message}\n${printed}`);
  if (done.status !== 0)
    throw new Error(
      `${command} ${args.join(' ')} ended with ${done.status ?? done.signal}\n${printed}`,
    );
  return done.stdout ?? '';
}

const tool = (name, ...args) => void run(join(root, 'node_modules', '.bin', name), args);

let tarball;

function pack() {
  const [packed] = Object.values(
    JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch])),
  );
  const unwanted = packed.files
    .map((file) => file.path)
    .filter((path) => /(^|\/)(test|bench|examples)\//.test(path));
  if (unwanted.length > 0)
    throw new Error(`the package must not ship these files:\n${unwanted.join('\n')}`);
  tarball = join(scratch, packed.filename);
  return `${packed.files.length} files, ${Math.round(packed.size / 1024)} kB packed`;
}

/** Installs the tarball in an empty project outside of the repository, where no other package can be found by accident. */
function installTarball(name, packages) {
  const cwd = join(scratch, name);
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const versions = packages.map((each) => `${each}@${manifest.devDependencies[each]}`);
  run(
    'npm',
    [
      'install',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--prefer-offline',
      tarball,
      ...versions,
    ],
    { cwd },
  );
  return cwd;
}

const importEntry = (cwd, specifier) =>
  run(process.execPath, ['--input-type=module', '--eval', `await import('${specifier}')`], { cwd });
const resolveEntry = (cwd, specifier) =>
  run(process.execPath, ['--input-type=module', '--eval', `import.meta.resolve('${specifier}')`], {
    cwd,
  });

function smokeWithEverything() {
  const cwd = installTarball('with-everything', ['zod', 'openai', '@opentelemetry/api']);
  const entries = Object.keys(manifest.exports).map((entry) => manifest.name + entry.slice(1));
  for (const entry of entries) (entry.endsWith('.json') ? resolveEntry : importEntry)(cwd, entry);
  return `${entries.length} entries`;
}

function smokeWithoutOptional() {
  const cwd = installTarball('without-optional', ['zod']);
  const present = ['openai', '@opentelemetry/api'].filter((name) =>
    existsSync(join(cwd, 'node_modules', name)),
  );
  if (present.length > 0)
    throw new Error(
      `optional packages were installed without being asked for: ${present.join(', ')}`,
    );
  const { './package.json': _, ...entries } = manifest.exports;
  for (const entry of Object.keys(entries)) importEntry(cwd, manifest.name + entry.slice(1));
  expectTypes(cwd);
  expectNoDatabase(cwd);
  expectCommand(cwd);
}

/** The types of an application compile without the packages that it does not use, whatever it thinks of those of its libraries. */
function expectTypes(cwd) {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
  const options = {
    ...compilerOptions,
    skipLibCheck: false,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  const application = ['', '/testing', '/openai']
    .map((entry, at) => `export * as entry${at} from '${manifest.name}${entry}';`)
    .join('\n');
  writeFileSync(join(cwd, 'application.ts'), application);
  writeFileSync(
    join(cwd, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: ['application.ts'] }),
  );
  tool('tsc', '-p', join(cwd, 'tsconfig.json'));
}

/** The command runs where it was installed, and counts tokens by itself where no tokenizer is. */
function expectCommand(cwd) {
  const weather = {
    name: 'get_weather',
    description: 'The weather of a city.',
    inputSchema: { type: 'object' },
  };
  writeFileSync(
    join(cwd, 'tools.json'),
    JSON.stringify([weather, { ...weather, name: 'get_invoice', description: 'An invoice.' }]),
  );
  writeFileSync(
    join(cwd, 'queries.jsonl'),
    JSON.stringify({ query: 'how is the weather', relevant: ['get_weather'] }),
  );
  const command = join(cwd, 'node_modules', '.bin', 'advisor-chain');
  const report = run(
    command,
    ['tool-search-report', '--tools', 'tools.json', '--queries', 'queries.jsonl'],
    { cwd },
  );
  if (!/recall@1 100.0 %/.test(report) || !/tokens estimated/.test(report))
    throw new Error(`tool-search-report printed: ${report}`);
}

/** The store loads without a database; opening one names the package that is missing. */
function expectNoDatabase(cwd) {
  const code = `const { SqliteChatMemoryRepository } = await import('${manifest.name}/memory/sqlite');
    await SqliteChatMemoryRepository.open(':memory:').then(() => process.exit(1), (error) => console.log(error.message));`;
  const message = run(process.execPath, ['--input-type=module', '--eval', code], { cwd });
  if (!/needs the package libsql/.test(message))
    throw new Error(`SqliteChatMemoryRepository.open does not name what it needs: ${message}`);
}

const MAX_TYPE_SECONDS = 2;

/** Type-check time of an application with 30 tools and 10 advisors, including the types of this package. */
function timeTypes() {
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
  // the best of three: what is measured is the work of the compiler, not that of others on the machine
  const times = [1, 2, 3].map(() =>
    /Total time:\s+([\d.]+)s/.exec(
      run(join(root, 'node_modules/.bin/tsc'), ['-p', file, '--extendedDiagnostics']),
    ),
  );
  const best = Math.min(...times.map((time) => Number(time?.[1] ?? NaN)));
  if (!(best < MAX_TYPE_SECONDS))
    throw new Error(
      `30 tools and 10 advisors took ${best} s to be checked, more than ${MAX_TYPE_SECONDS} s`,
    );
  return `30 tools and 10 advisors checked in ${best.toFixed(2)} s`;
}

/** The tests of faults and cancellations once more, with every client observed and all spans checked. */
function testObserved() {
  const printed = run('npm', ['run', 'test:observed', '--', '--forbid-only', '--reporter', 'dot']);
  return /observed: (.+)/.exec(printed)?.[1];
}

/**
 * A step throws if it fails, and may return a few words on what it has done.
 * @type {Record<string, { name: string, run: () => string | undefined }[]>}
 */
const parts = {
  '--sources': [
    { name: 'format', run: () => tool('prettier', '--check', '.') },
    { name: 'import rules', run: () => void run('node', ['.ci/import-rules.mjs']) },
    { name: 'words', run: () => void run('node', ['.ci/words.mjs']) },
    { name: 'lint', run: () => tool('oxlint', '--type-aware', '--deny-warnings') },
    { name: 'types', run: () => tool('tsc', '-p', 'tsconfig.json') },
    { name: 'time of types', run: timeTypes },
  ],
  '--tests': [{ name: 'tests', run: () => void run('npm', ['test'], { show: true }) }],
  '--package': [
    { name: 'build', run: () => void run('npm', ['run', 'build']) },
    { name: 'pack', run: pack },
    { name: 'publint', run: () => tool('publint', tarball, '--strict') },
    { name: 'attw', run: () => tool('attw', tarball, '--profile', 'esm-only') },
    { name: 'entries with every optional package', run: smokeWithEverything },
    { name: 'entries without optional packages', run: smokeWithoutOptional },
    { name: 'tests, observed', run: testObserved },
    { name: 'API reference', run: () => void run('npm', ['run', 'docs']) },
  ],
};

const [, , only] = process.argv;
const steps = only === undefined ? Object.values(parts).flat() : parts[only];
if (!steps) throw new Error(`there is ${Object.keys(parts).join(', ')}, but no ${only}`);

const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

function runSteps() {
  const start = performance.now();
  for (const step of steps) {
    const begun = performance.now();
    try {
      const note = step.run();
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
  process.exitCode = runSteps();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
