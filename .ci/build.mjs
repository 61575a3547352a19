// Builds dist/: few JavaScript chunks by rolldown, declarations by tsc. Source maps and declaration maps point to src, which
// the package ships, so "go to definition" opens the TypeScript source.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { build } from 'rolldown';
import { minifySync } from 'rolldown/utils';

const root = fileURLToPath(new URL('..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const dist = join(root, 'dist');
const types = join(dist, 'types');
const external = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
/** Small packages that become part of the chunks: an import spends most of its time on finding files. */
const BUNDLED = ['@cfworker/json-schema', '@noble/hashes', 'zod-to-json-schema'];

const NAMES = { function: true, class: true };

/** The entries by name, as in `memory/sqlite`; package.json names the declaration of each, which lies where its source does. */
function entries() {
  const typed = Object.values(manifest.exports).filter((each) => each.types);
  const sources = typed.map(({ types, default: built }) => [
    built.replace(/^\.\/dist\/(.*)\.js$/, '$1'),
    types.replace(/^\.\/dist\/types\/(.*)\.d\.ts$/, '$1.ts'),
  ]);
  return { ...Object.fromEntries(sources), cli: 'src/evaluation/cli.ts' };
}

/** Removes declarations that no entry leads to: they describe internals. */
function pruneTypes() {
  const reached = new Set();
  const visit = (file) => {
    if (reached.has(file) || !existsSync(file)) return;
    reached.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [, path] of text.matchAll(/(?:from|import\()\s*["'](\.[^"']+)\.js["']/g))
      visit(resolve(dirname(file), `${path}.d.ts`));
  };
  for (const each of Object.values(manifest.exports))
    if (each.types) visit(resolve(root, each.types));
  const all = readdirSync(types, { recursive: true }).map((path) => join(types, path));
  for (const file of all.filter((path) => path.endsWith('.d.ts') && !reached.has(path))) {
    rmSync(file);
    rmSync(`${file}.map`);
  }
  for (const file of reached) shrinkDeclaration(file);
  return reached.size;
}

/** Declarations with tabs, as in the JavaScript; editors jump only from lines of code. */
function shrinkDeclaration(file) {
  const text = readFileSync(file, 'utf8').replaceAll(/^(?: {4})+/gm, ({ length }) =>
    '\t'.repeat(length / 4),
  );
  const isComment = text.split('\n').map((line) => /^\s*\/?\*/.test(line));
  const map = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
  writeFileSync(file, text);
  writeFileSync(
    `${file}.map`,
    byLine(map, (line) => !isComment[line]),
  );
}

/**
 * A map from line to line: enough for breakpoints, stack traces and editors, at a fraction of the
 * size. The sources of bundled packages are not shipped.
 */
function byLine({ version, sources, mappings }, isMapped = () => true) {
  const isOwn = sources.map((source) => !source.includes('node_modules/'));
  const lines = decode(mappings).map((segments, line) => {
    const first = segments.find(([, source]) => isOwn[source]);
    return first && isMapped(line) ? [[0, first[1], first[2], 0]] : [];
  });
  const shipped = sources.map((source, at) => (isOwn[at] ? source : null));
  return JSON.stringify({ version, sources: shipped, names: [], mappings: encode(lines) });
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

rmSync(dist, { recursive: true, force: true });
const { output } = await build({
  cwd: root,
  input: entries(),
  platform: 'neutral',
  external: (id) =>
    id.startsWith('node:') || external.some((name) => id === name || id.startsWith(`${name}/`)),
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
        { name: 'bundled-zod3', test: /zod-to-json-schema/, priority: 2 },
        { name: 'bundled', test: /node_modules/, priority: 1 },
        { name: 'core', minShareCount: 2 },
      ],
    },
  },
});
for (const { fileName, source } of output.filter((each) => each.fileName.endsWith('.js.map')))
  writeFileSync(join(dist, fileName), byLine(JSON.parse(source)));
for (const { fileName, code } of output.filter((each) => each.name?.startsWith('bundled'))) {
  // their sources are not shipped
  writeFileSync(join(dist, fileName), minifySync(fileName, code, { module: true }).code);
  rmSync(join(dist, `${fileName}.map`));
}
const tsc = join(root, 'node_modules/.bin/tsc');
const options = ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', types];
execFileSync(tsc, options, { cwd: root, stdio: 'inherit' });
writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), BUNDLED.map(licenceOf).join('\n'));
const chunks = output.filter((each) => each.type === 'chunk');
console.log(`${chunks.length} chunks and ${pruneTypes()} declarations in ${relative(root, dist)}`);
