// Checks of the wires in the built package: what an entry loads, what it adds to a bundle, and turns on every runtime.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  copyFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import { manifest, root, run, scratch } from './commands.mjs';

/** The entries of wires, with the folder of their sources. */
const ENTRIES = {
  openai: 'src/models/openai/',
  anthropic: 'src/models/anthropic/',
  google: 'src/models/google/',
  cohere: 'src/models/cohere/',
  ollama: 'src/models/ollama/',
  'ai-sdk': 'src/models/ai-sdk/',
  mcp: 'src/bridges/mcp/',
};
/** The entries of bridges to browsers, with the folder of their sources. They may load the responses of `http`, and nothing else of each other. */
const BRIDGES = {
  http: 'src/bridges/http/',
  serve: 'src/bridges/serve/',
  ui: 'src/bridges/ui/',
  'ag-ui': 'src/bridges/ag-ui/',
  'turn-log': 'src/bridges/turn-log/',
};
/** Stores that an entry has in memory. */
const STORES = { 'turn-log': 'src/stores/turn-logs/' };
const KB = 1_024;
const MAX_BRIDGE_BYTES = 8 * KB;
const MAX_BYTES = 12 * KB;
/** Entries that are over the bound, with what they may have: they shall not grow. The transport alone takes 9.5 kB, of which 0.6 name the request in its errors. */
const LARGER = {
  openai: 21 * KB, // two wires, embeddings and the moderation rule
  anthropic: 14.5 * KB,
  google: 16 * KB,
  cohere: 13.5 * KB, // chat, embeddings and reranking
  ollama: 12.5 * KB,
  serve: 12 * KB, // with the responses of http
  ui: 8.75 * KB, // with the responses of http, and sealed histories
  'turn-log': 8.75 * KB, // with events and errors of http, and the log in memory
  'ai-sdk': 14.75 * KB, // both directions, marks for prompt caches, and histories, of which a bundler leaves out what is unused
};

const dist = join(root, 'dist');

/** Sources of the files in `dist` that Node.js has loaded when it has imported an entry. */
function sourcesLoadedBy(entry) {
  const specifier = join(manifest.name, entry);
  const folder = join(scratch, 'loaded', specifier);
  run(process.execPath, ['--input-type=module', '--eval', `await import('${specifier}')`], {
    env: { ...process.env, NODE_V8_COVERAGE: folder },
  });
  const reports = readdirSync(folder).map((file) =>
    JSON.parse(readFileSync(join(folder, file), 'utf8')),
  );
  const files = reports
    .flatMap(({ result }) => result.map(({ url }) => url))
    .filter((url) => url.startsWith('file:'))
    .map((url) => fileURLToPath(url))
    .filter((path) => path.startsWith(dist) && !/bundled[^/]*$/.test(path));
  return files
    .filter((path) => existsSync(`${path}.map`)) // others only export from chunks
    .flatMap((path) => JSON.parse(readFileSync(`${path}.map`, 'utf8')).sources)
    .filter((source) => source !== null) // of a bundled package
    .map((source) => source.replace(/^(\.\.\/)+/, ''));
}

/** A wire and a bridge load nothing but the core, themselves and what their kind shares; the main entry loads none of them. */
function checkLoads() {
  const all = { ...ENTRIES, ...BRIDGES };
  const main = sourcesLoadedBy('');
  if (!main.includes('src/index.ts')) throw new Error(`not the main entry: ${main.join()}`);
  const transport = 'src/models/http/';
  const apart = [...Object.values(all), transport];
  const others = main.filter((source) => apart.some((folder) => source.startsWith(folder)));
  if (others.length > 0) throw new Error(`the main entry loads ${others.join(', ')}`);
  for (const [entry, own] of Object.entries(all)) {
    const sources = sourcesLoadedBy(entry);
    const isLoaded = (folder) => sources.some((source) => source.startsWith(folder));
    if (!isLoaded(own)) throw new Error(`${entry} was not loaded: ${sources.join()}`);
    const shared = entry in BRIDGES ? BRIDGES.http : transport;
    const allowed = ['src/core/', own, shared, STORES[entry]];
    const others = sources.filter(
      (source) => !allowed.some((folder) => folder && source.startsWith(folder)),
    );
    if (others.length > 0) throw new Error(`${entry} loads ${others.join(', ')}, too`);
  }
  return `${Object.keys(all).length} and the main entry`;
}

/** Bytes of a bundle, minified and by gzip, without the packages that are optional. */
function bundleBytes(entries) {
  const contents = entries.map((entry) => `export * from './dist/${entry}.js';`).join('\n');
  return bytesOf(contents);
}

function bytesOf(contents, options = {}) {
  const { outputFiles } = buildSync({
    stdin: { contents, resolveDir: root },
    absWorkingDir: root,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    external: Object.keys(manifest.peerDependencies),
    write: false,
    logLevel: 'error',
    ...options,
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
}

/**
 * Bytes of a client without tools and advisors, which loads the evaluator of JSON Schema later: they shall not grow. They are over
 * the bound of 50 kB, since a client checks texts and media at the door, gives calls their ids and writes events and errors as data. Stop conditions,
 * steps as they end and added citations took 0.8 kB; names and checked inputs of tools, costs, ids of paused turns and printed warnings as much again,
 * and so did messages for beginners, decisions by a function and marks of replayed events. Tools that the client of a turn runs took 0.2.
 */
const MAX_CLIENT_BYTES = 57 * KB;

function checkClient() {
  const later = './validator.js';
  const bytes = bytesOf("export { ChatClient } from './dist/index.js';", {
    external: [...Object.keys(manifest.peerDependencies), later],
  });
  const shown = `${(bytes / KB).toFixed(1)} kB`;
  if (bytes > MAX_CLIENT_BYTES) throw new Error(`a bundle of ChatClient alone has ${shown}`);
  return shown;
}

/** Bytes that an entry may add to a bundle of the whole core. */
const limitOf = (entry) => LARGER[entry] ?? (entry in BRIDGES ? MAX_BRIDGE_BYTES : MAX_BYTES);

/** Imports of an application from the entries over the bound of bridges: a route for `useChat`, and streams with a database. */
const TAKEN = {
  ui: 'fromUIMessages, toUIMessageStreamResponse',
  'turn-log': 'TurnStreams',
};

/** Measures what applications add to a bundle of the whole core by a part of an entry. */
function checkTaken() {
  const core = bundleBytes(['index']);
  const sizes = Object.entries(TAKEN).map(([entry, names]) => {
    const own = `export { ${names} } from './dist/${entry}.js';`;
    return [names, bytesOf(`export * from './dist/index.js'; ${own}`) - core];
  });
  const shown = sizes.map(([names, bytes]) => `${names} ${(bytes / KB).toFixed(1)} kB`).join('; ');
  if (sizes.some(([, bytes]) => !(bytes <= MAX_BRIDGE_BYTES))) throw new Error(`too large: ${shown}`); // prettier-ignore
  return shown;
}

/** Measures what each wire and bridge adds to a bundle of the whole core. */
function checkSizes() {
  const core = bundleBytes(['index']);
  const entries = Object.keys({ ...ENTRIES, ...BRIDGES });
  const sizes = entries.map((entry) => [entry, bundleBytes(['index', entry]) - core]);
  const over = sizes.filter(([entry, bytes]) => !(bytes <= limitOf(entry)));
  const shown = sizes.map(([entry, bytes]) => `${entry} ${(bytes / KB).toFixed(1)} kB`);
  if (over.length > 0)
    throw new Error(`${over.map(([entry]) => entry).join(', ')} too large: ${shown.join(', ')}`);
  return shown.join(', ');
}

/** The entries for Node.js; the others have none of its modules in them. */
const NODE_ONLY =
  /^\.\/(durable|memory|key-value|vectors)\/|^\.\/(knowledge\/worker|skills|testing|package\.json)$/;

function checkPortable() {
  const entries = Object.keys(manifest.exports).filter((entry) => !NODE_ONLY.test(entry));
  // a bundle without a platform fails at an import of `node:`
  bundleBytes(
    entries.map((entry) => manifest.exports[entry].default.slice('./dist/'.length, -'.js'.length)),
  );
  return `${entries.length} entries`;
}

const wires = join(root, '.ci', 'wires');
const PROGRAM = ['application.mjs', 'main.mjs', 'worker.mjs', 'workerd.capnp'];

/** Runs a program in the project of an application, beside a server that speaks every wire. */
function runTurns(project, program, ...args) {
  for (const file of PROGRAM) copyFileSync(join(wires, file), join(project, file));
  run(process.execPath, [join(wires, 'with-server.mjs'), program, ...args], {
    cwd: project,
    timeout: 60_000,
  });
}

/** The runtimes beside Node.js: packages of npm that bring a program for each platform. */
const RUNTIMES = { bun: '1.4.5', deno: '2.9.6', workerd: '1.20261117.1' };
const runtimes = join(scratch, 'runtimes');

/** Their programs come with the packages of the platform; their install scripts, which may download, do not run. */
function installRuntimes() {
  mkdirSync(runtimes);
  writeFileSync(join(runtimes, 'package.json'), JSON.stringify({ private: true }));
  const packages = Object.entries(RUNTIMES).map(([name, version]) => `${name}@${version}`);
  const quiet = ['--no-audit', '--no-fund', '--no-package-lock'];
  run('npm', ['install', '--ignore-scripts', '--prefer-offline', ...quiet, ...packages], {
    cwd: runtimes,
  });
  return packages.join(', ');
}

/** Path of the program in the package that npm chose for this platform. */
function programOf(scope, ...path) {
  const folder = join(runtimes, 'node_modules', scope);
  return join(folder, readdirSync(folder)[0], ...path);
}

function runOnWorkerd(project) {
  buildSync({
    stdin: { contents: "export { default } from './worker.mjs';", resolveDir: project },
    absWorkingDir: project,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['workerd', 'worker', 'browser'],
    // a worker starts no programs
    external: ['node:*', '@modelcontextprotocol/client/stdio'],
    outfile: join(project, 'worker.js'),
    logLevel: 'error',
  });
  runTurns(project, programOf('@cloudflare', 'bin', 'workerd'), 'test', 'workerd.capnp');
}

const DENO = [
  'run',
  '--no-remote',
  '--no-config',
  '--node-modules-dir=manual',
  '--allow-net=127.0.0.1',
  '--allow-env',
];

/**
 * Turns on this version of Node.js.
 * @param project where the package is installed with the packages of MCP
 */
export const turnsOnNode = (project) => ({
  name: 'turns over every wire',
  run: () => runTurns(project, process.execPath, 'main.mjs'),
});

/** Steps for the built package. */
export const wireSteps = (project) => [
  { name: 'what entries load', run: checkLoads },
  { name: 'bundle of ChatClient alone', run: checkClient },
  { name: 'what wires add to a bundle', run: checkSizes },
  { name: 'what applications take of bridges', run: checkTaken },
  { name: 'entries that need no Node.js', run: checkPortable },
  { name: 'other runtimes', run: installRuntimes },
  {
    name: 'turns on Bun',
    run: () => runTurns(project, programOf('@oven', 'bin', 'bun'), 'main.mjs'),
  },
  {
    name: 'turns on Deno',
    run: () => runTurns(project, programOf('@deno', 'deno'), ...DENO, 'main.mjs'),
  },
  { name: 'turns on workerd', run: () => runOnWorkerd(project) },
];
