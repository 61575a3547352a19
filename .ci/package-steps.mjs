// Checks of the packed package: its contents, and its entries where it is installed.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifest, root, run, scratch, tool } from './commands.mjs';
import { turnsOnNode, wireSteps } from './wire-steps.mjs';

let tarball;

export function pack() {
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
  writeFileSync(
    join(cwd, 'package.json'),
    JSON.stringify({ name, version: '1.0.0', private: true, type: 'module' }),
  );
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
  const cwd = installTarball('with-everything', [
    'zod',
    'openai',
    '@opentelemetry/api',
    '@modelcontextprotocol/client',
    '@modelcontextprotocol/server',
    '@dbos-inc/dbos-sdk',
  ]);
  const entries = Object.keys(manifest.exports).map((entry) => manifest.name + entry.slice(1));
  for (const entry of entries) (entry.endsWith('.json') ? resolveEntry : importEntry)(cwd, entry);
  return `${entries.length} entries`;
}

function smokeWithoutOptional() {
  const cwd = installTarball('without-optional', ['zod']);
  const present = [
    'openai',
    '@opentelemetry/api',
    '@modelcontextprotocol/client',
    '@dbos-inc/dbos-sdk',
  ].filter((name) => existsSync(join(cwd, 'node_modules', name)));
  if (present.length > 0)
    throw new Error(
      `optional packages were installed without being asked for: ${present.join(', ')}`,
    );
  const { './package.json': _, ...entries } = manifest.exports;
  for (const entry of Object.keys(entries)) {
    const specifier = manifest.name + entry.slice(1);
    if (entry in NEEDS) expectMissing(cwd, specifier, NEEDS[entry]);
    else importEntry(cwd, specifier);
  }
  expectTypes(cwd);
  expectNoDatabase(cwd);
  expectCommand(cwd);
}

/** Entries that are an adapter of one package, and load it at once. */
const NEEDS = { './durable/dbos': '@dbos-inc/dbos-sdk' };

/** The error of the import names the package that is missing. */
function expectMissing(cwd, specifier, name) {
  const code = `await import('${specifier}').then(() => process.exit(1), (error) => console.log(error.message));`;
  const message = run(process.execPath, ['--input-type=module', '--eval', code], { cwd });
  if (!message.includes(name))
    throw new Error(`${specifier} does not name what it needs: ${message}`);
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

/**
 * The bill of materials of the package as applications install it, in CycloneDX. That of the repository would leave out
 * packages that development needs, too.
 */
export function billOfMaterials() {
  const cwd = installTarball('alone', []);
  return run('npm', ['sbom', '--sbom-format', 'cyclonedx'], { cwd });
}

function checkBillOfMaterials() {
  const names = JSON.parse(billOfMaterials()).components.map(({ name }) => name);
  const missing = [manifest.name, ...Object.keys(manifest.dependencies), 'tslib'].filter(
    (name) => !names.includes(name),
  );
  if (missing.length > 0)
    throw new Error(`the bill of materials has ${names.join(', ')}, but not ${missing.join(', ')}`);
  return names.join(', ');
}

/** The project that `smokeWithEverything` installs. */
const project = join(scratch, 'with-everything');

/** Steps that need no other part of the repository; they run on each version of Node.js. */
export const entrySteps = [
  { name: 'build', run: () => void run('npm', ['run', 'build']) },
  { name: 'pack', run: pack },
  { name: 'entries with every optional package', run: smokeWithEverything },
  { name: 'entries without optional packages', run: smokeWithoutOptional },
  turnsOnNode(project),
];

export const packageSteps = [
  ...entrySteps,
  ...wireSteps(project),
  { name: 'publint', run: () => tool('publint', tarball, '--strict') },
  { name: 'attw', run: () => tool('attw', tarball, '--profile', 'esm-only') },
  { name: 'bill of materials', run: checkBillOfMaterials },
];
