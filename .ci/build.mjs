// Builds dist/: few JavaScript chunks by rolldown, declarations by tsc. Source maps and declaration maps point to src, which
// the package ships, so "go to definition" opens the TypeScript source.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { minifySync } from 'rolldown/utils';
import { pruneDeclarations } from './declarations.mjs';
import { lineMap } from './line-map.mjs';
import { withPureInitializers } from './pure-initializers.mjs';
import { buildProgram } from './program.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const dist = join(root, 'dist');
const types = join(dist, 'types');
const external = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
/** Small packages that become part of the chunks: an import spends most of its time on finding files. */
const BUNDLED = [
  '@noble/hashes',
  'zod-to-json-schema',
  'preact',
  '@preact/signals',
  '@preact/signals-core',
  'citty',
];

/** Files that are run, not imported. */
const PROGRAMS = {
  'durable/embedded-server': 'src/engines/embedded/embedded-server.ts',
  'knowledge/reader-worker': 'src/knowledge/worker/reader-worker.ts',
};

const NAMES = { function: true, class: true };

/** The entries by name, as in `memory/sqlite`; package.json names the declaration of each, which lies where its source does. */
function entries() {
  const typed = Object.values(manifest.exports).filter((each) => each.types);
  const sources = typed.map(({ types, default: built }) => [
    built.replace(/^\.\/dist\/(.*)\.js$/, '$1'),
    types.replace(/^\.\/dist\/types\/(.*)\.d\.ts$/, '$1.ts'),
  ]);
  return { ...Object.fromEntries(sources), ...PROGRAMS };
}

function isExternal(id) {
  return (
    id.startsWith('node:') || external.some((name) => id === name || id.startsWith(`${name}/`))
  );
}

function licenceOf(name) {
  const folder = join(root, 'node_modules', name);
  const { version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json')));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file
    ? readFileSync(join(folder, file), 'utf8')
    : `${author?.name ?? author ?? ''}\n`;
  return `${name} ${version}, ${license}\n\n${text}`;
}

// The page of the inspector is a text of the package.
execFileSync(process.execPath, ['.ci/build-page.mjs'], { cwd: root, stdio: 'inherit' });
rmSync(dist, { recursive: true, force: true });
const { output } = await build({
  cwd: root,
  input: entries(),
  platform: 'neutral',
  external: isExternal,
  // Maps name the sources.
  experimental: { attachDebugInfo: 'none' },
  output: {
    dir: dist,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    sourcemap: true,
    sourcemapExcludeSources: true,
    // A statement a line and the names of functions and classes, for stack traces and inspection.
    minify: {
      compress: { target: 'es2022', sequences: false, joinVars: false, keepNames: NAMES },
      mangle: { toplevel: false, keepNames: NAMES },
      codegen: { removeWhitespace: false },
    },
    // Editors show the comments of the declarations.
    comments: { jsdoc: false, legal: true, annotation: true },
    // One file for everything that two entries share, and files for what is not ours.
    codeSplitting: {
      groups: [
        { name: 'bundled-zod3', test: /zod-to-json-schema/, priority: 3 },
        // Loaded when a browser asks for it.
        { name: 'bundled-inspector-page', test: /inspector\/page-files\.js/, priority: 3 },
        // A group takes what its modules import along, so its base comes before the evaluator of JSON Schema, which clients of
        // applications load at the first check, and the core before what only models over HTTP load.
        {
          name: 'base',
          test: /\/core\/(internal|errors)\/|json-schema\/(json-pointer|normalize\/type-names|standard-schema)\./,
          minShareCount: 2,
          priority: 3,
        },
        { name: 'json-schema-evaluator', test: /json-schema\/validator\./, priority: 2 },
        // Closed: what imports the core alone loads nothing of other wings.
        { name: 'core', test: /\/src\/core\//, minShareCount: 2, priority: 1 },
        {
          name: 'shared',
          test: /^(?!.*\/(models\/http|bridges|engines\/(dbos|embedded)|stores\/(databases|turn-logs))\/)/,
          minShareCount: 2,
        },
        // Bundlers resolve the import of an optional package in each chunk that they read, so it is in none of the main entry.
        { name: 'databases', test: /\/stores\/databases\//, minShareCount: 2 },
        // Logs of turns have an entry for each database, and load no other store.
        { name: 'turn-logs', test: /\/stores\/turn-logs\//, minShareCount: 2 },
        // Engines run on Node.js alone.
        { name: 'engines', test: /\/engines\/(dbos|embedded)\//, minShareCount: 2 },
        // The bridges share responses, which the core does not load.
        { name: 'bridges', test: /\/bridges\//, minShareCount: 2 },
        { name: 'http', minShareCount: 2 },
      ],
    },
  },
});
for (const { fileName, source } of output.filter((each) => each.fileName.endsWith('.js.map')))
  writeFileSync(join(dist, fileName), lineMap(JSON.parse(source)));
const chunks = output.filter((each) => each.type === 'chunk');
for (const { fileName, name, code } of chunks) {
  const isBundled = name.startsWith('bundled');
  const small = isBundled ? minifySync(fileName, code, { module: true }).code : code;
  writeFileSync(join(dist, fileName), withPureInitializers(fileName, small));
  // their sources are not shipped
  if (isBundled) rmSync(join(dist, `${fileName}.map`));
}
await buildProgram(root, entries(), isExternal);
const tsc = join(root, 'node_modules/.bin/tsc');
const options = ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', types];
execFileSync(tsc, options, { cwd: root, stdio: 'inherit' });
writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), BUNDLED.map(licenceOf).join('\n'));
const typed = Object.values(manifest.exports).flatMap((each) => each.types ?? []);
const declarations = pruneDeclarations(
  types,
  typed.map((path) => resolve(root, path)),
  Object.keys(manifest.peerDependenciesMeta),
);
console.log(`${chunks.length} chunks and ${declarations} declarations in ${relative(root, dist)}`);
