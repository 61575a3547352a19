// The packed package in the bundlers of applications: webpack with terser, rollup, Vite, esbuild and Next.js, with and without the packages
// that are optional. An import that a bundler cannot resolve may be a warning, never the end of a build.
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build as esbuild } from 'esbuild';
import { manifest, root, run, scratch } from './commands.mjs';

const folder = join(scratch, 'bundlers');
/** Entries for Node.js, by databases, processes and files: MCP servers as processes, too. */
const NODE =
  /^\.\/(durable|key-value|knowledge\/worker|mcp|memory\/|skills|testing|turn-log\/|vectors)/;
/** An entry that is an adapter of one package, and imports it at once. */
const ADAPTER = './durable/dbos';
const OPTIONAL = [
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/server',
  '@opentelemetry/api',
  'libsql',
  'openai',
  'sqlite-vec',
];

const entriesOf = (target) =>
  Object.keys(manifest.exports).filter(
    (entry) =>
      !entry.endsWith('.json') && entry !== ADAPTER && (target === 'node' || !NODE.test(entry)),
  );

/** An application with one entry, all of it in use; of the main entry the client alone, too. */
function applications(target) {
  const whole = entriesOf(target).map((entry) => {
    const name = entry === '.' ? 'main' : entry.slice(2).replaceAll('/', '-');
    const code = `import * as all from '${manifest.name}${entry.slice(1)}'; console.log(all);`;
    return [name, code];
  });
  const client = `import { ChatClient } from '${manifest.name}'; console.log(ChatClient);`;
  const files = [['client', client], ...whole].map(([name, code]) => {
    const file = join(folder, `${target}-${name}.mjs`);
    writeFileSync(file, code);
    return [name, file];
  });
  return Object.fromEntries(files);
}

/** Imports a package of the project of the bundlers, which has no types here. */
const load = (name) => {
  const path = createRequire(join(folder, 'package.json')).resolve(name);
  return import(pathToFileURL(path).href);
};

async function bundleByWebpack(target, packages) {
  const { default: webpack } = await load('webpack');
  const settings = {
    mode: 'production',
    target: target === 'node' ? 'node20' : target,
    context: folder,
    entry: applications(target),
    output: { path: join(folder, 'out', `webpack-${target}`) },
    externalsPresets: { node: target === 'node' },
    // what Node.js loads itself: processes of MCP, and an addon
    externals:
      target === 'node' ? [/^@modelcontextprotocol\//, 'libsql', 'openai', 'sqlite-vec'] : [],
    externalsType: 'import',
    // terser takes longest: what applications share is minified once
    optimization: { splitChunks: { chunks: 'all' }, minimize: packages === 'with' },
    performance: false,
  };
  await new Promise((resolve, reject) => {
    webpack(settings, (error, stats) => {
      const { errors = [] } = stats?.toJson({ all: false, errors: true }) ?? {};
      if (!error && errors.length === 0) return resolve();
      reject(new Error(error?.message ?? errors.map((each) => each.message).join('\n')));
    });
  });
}

async function bundleByRollup() {
  const { rollup } = await load('rollup');
  const { default: resolve } = await load('@rollup/plugin-node-resolve');
  const { default: commonjs } = await load('@rollup/plugin-commonjs');
  const input = applications('web');
  const plugins = [resolve({ browser: true }), commonjs()];
  const bundle = await rollup({ input, plugins, onwarn: () => undefined });
  await bundle.write({ dir: join(folder, 'out/rollup') });
  await bundle.close();
}

async function bundleByVite() {
  const { build } = await load('vite');
  await build({
    root: folder,
    logLevel: 'error',
    build: { outDir: 'out/vite', rollupOptions: { input: applications('web') } },
  });
}

async function bundleByEsbuild() {
  for (const [platform, target] of Object.entries({ browser: 'web', node: 'node' }))
    await esbuild({
      absWorkingDir: folder,
      entryPoints: Object.values(applications(target)),
      outdir: `out/esbuild-${target}`,
      bundle: true,
      minify: true,
      splitting: true,
      format: 'esm',
      platform,
      logLevel: 'silent',
      // programs and addons of packages for Node.js
      external: platform === 'node' ? ['libsql', 'sqlite-vec', '@modelcontextprotocol/client'] : [],
    });
}

/** A page whose server calls a model, and whose browser builds a client. */
function bundleByNext() {
  const app = join(folder, 'app');
  mkdirSync(join(app, 'api'), { recursive: true });
  const client = `import { ChatClient } from '${manifest.name}';`;
  const files = {
    'layout.jsx': 'export default ({ children }) => <html><body>{children}</body></html>;',
    'page.jsx': `'use client'; ${client} export default () => <p>{ChatClient.name}</p>;`,
    'api/route.js': `${client} import { OpenAIChatModel } from '${manifest.name}/openai';
export const dynamic = 'force-dynamic';
export const GET = async () => Response.json([ChatClient.name, OpenAIChatModel.name]);`,
  };
  for (const [name, code] of Object.entries(files)) writeFileSync(join(app, name), code);
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' };
  run(join(folder, 'node_modules/.bin/next'), ['build'], { cwd: folder, env });
}

const BUNDLERS = {
  'webpack, web': (packages) => bundleByWebpack('web', packages),
  'webpack, node': (packages) => bundleByWebpack('node', packages),
  rollup: bundleByRollup,
  Vite: bundleByVite,
  esbuild: bundleByEsbuild,
  'Next.js': bundleByNext,
};

async function bundleAll(packages) {
  for (const [name, bundle] of Object.entries(BUNDLERS))
    try {
      await bundle(packages);
    } catch (error) {
      throw new Error(`${name}, ${packages} optional packages: ${error.message}`, { cause: error });
    }
}

const versionOf = (name) => `${name}@${manifest.devDependencies[name]}`;

/** The bundlers with the package and all that is optional. */
function install(tarball) {
  mkdirSync(folder);
  copyFileSync(join(root, '.ci/bundlers/package.json'), join(folder, 'package.json'));
  const flags = ['--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts'];
  const packages = [tarball, ...['zod', ...OPTIONAL].map(versionOf)];
  run('npm', ['install', ...flags, '--legacy-peer-deps', ...packages], { cwd: folder });
}

function removeOptional() {
  for (const name of OPTIONAL)
    rmSync(join(folder, 'node_modules', name), { recursive: true, force: true });
}

/** The steps for a packed package. */
export const bundlerSteps = (tarball) => [
  {
    name: 'bundlers of applications',
    run: async () => {
      install(tarball());
      const { NODE_ENV } = process.env;
      try {
        await bundleAll('with');
        removeOptional();
        await bundleAll('without');
      } finally {
        // Vite sets it, and later steps are not builds of applications
        if (NODE_ENV === undefined) delete process.env.NODE_ENV;
        else process.env.NODE_ENV = NODE_ENV;
      }
      return `${Object.keys(BUNDLERS).join('; ')}; ${Object.keys(applications('node')).length} applications`;
    },
  },
];
