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

/** Statements that import every entry, and the names of what they import. */
function allEntries(target) {
  const specifiers = entriesOf(target).map((entry) => manifest.name + entry.slice(1));
  const imports = specifiers.map((each, at) => `import * as entry${at} from '${each}';`).join('\n');
  return { imports, names: specifiers.map((_, at) => `entry${at}`).join(', ') };
}

/**
 * Two applications: one with every entry, all of it in use, and one with the client alone. An application for each entry would make bundlers
 * share the same modules out to dozens of outputs, which takes minutes and shows nothing else.
 */
function applications(target) {
  const { imports, names } = allEntries(target);
  const codes = {
    client: `import { ChatClient } from '${manifest.name}'; console.log(ChatClient.name);`,
    all: `${imports} console.log(${names});`,
  };
  const files = Object.entries(codes).map(([name, code]) => {
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
    optimization: {
      splitChunks: { chunks: 'all' },
      minimize: packages === 'with' && target === 'web',
    },
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

/** A page whose browser builds a client, and routes on the server: one calls a model, one has every entry that needs no Node.js. */
function bundleByNext() {
  const app = join(folder, 'app');
  for (const route of ['model', 'all']) mkdirSync(join(app, 'api', route), { recursive: true });
  const client = `import { ChatClient } from '${manifest.name}';`;
  const dynamic = "export const dynamic = 'force-dynamic';";
  const { imports, names } = allEntries('web');
  const files = {
    'layout.jsx': 'export default ({ children }) => <html><body>{children}</body></html>;',
    'page.jsx': `'use client'; ${client} export default () => <p>{ChatClient.name}</p>;`,
    'api/model/route.js': `${client} import { OpenAIChatModel } from '${manifest.name}/openai';
${dynamic} export const GET = async () => Response.json([ChatClient.name, OpenAIChatModel.name]);`,
    'api/all/route.js': `${imports}
${dynamic} export const GET = async () => Response.json([${names}].map((entry) => Object.keys(entry)));`,
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

/** Builds by each bundler; gives the seconds that each took. */
async function bundleAll(packages) {
  const seconds = {};
  for (const [name, bundle] of Object.entries(BUNDLERS))
    try {
      const start = performance.now();
      await bundle(packages);
      seconds[name] = Math.round((performance.now() - start) / 1000);
    } catch (error) {
      throw new Error(`${name}, ${packages} optional packages: ${error.message}`, { cause: error });
    }
  return seconds;
}

const versionOf = (name) => `${name}@${manifest.devDependencies[name]}`;

/** The bundlers with the package and all that is optional. */
function install(tarball) {
  mkdirSync(folder);
  copyFileSync(join(root, '.ci/bundlers/package.json'), join(folder, 'package.json'));
  const flags = [
    '--no-package-lock',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--prefer-offline',
  ];
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
        const first = await bundleAll('with');
        removeOptional();
        const second = await bundleAll('without');
        const shown = Object.keys(BUNDLERS).map(
          (name) => `${name} ${first[name] + second[name]} s`,
        );
        return `${entriesOf('node').length} entries; ${shown.join(', ')}`;
      } finally {
        // Vite sets it, and later steps are not builds of applications
        if (NODE_ENV === undefined) delete process.env.NODE_ENV;
        else process.env.NODE_ENV = NODE_ENV;
      }
    },
  },
];
