// Builds dist/: few JavaScript chunks by rolldown, declarations by tsc. Source maps and declaration maps point to src, which
// the package ships, so "go to definition" opens the TypeScript source.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { build } from 'rolldown';
import { minifySync, parseSync } from 'rolldown/utils';

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
  const files = new Map();
  const load = (path) => {
    if (!files.has(path)) files.set(path, existsSync(path) ? statementsOf(path) : []);
    return files.get(path);
  };
  const needAll = (path) => {
    for (const each of load(path)) {
      if (!each.node.type.startsWith('Export')) continue;
      keep(each);
      if (each.node.type === 'ExportAllDeclaration') needAll(each.target);
      for (const specifier of each.specifiers) {
        each.used.add(specifier);
        need(each.target ?? path, specifier.local.name);
      }
    }
  };
  const need = (path, name) => {
    for (const each of load(path)) {
      const { node, specifiers, target } = each;
      if (each.names.includes(name)) keep(each);
      const found = specifiers.find(({ local, exported }) => (exported ?? local).name === name);
      if (found && !each.used.has(found)) {
        each.used.add(found);
        keep(each);
        if (target) need(target, (found.imported ?? found.local).name);
        else if (!node.source) need(path, found.local.name);
      }
      if (node.type === 'ExportAllDeclaration' && target !== undefined) need(target, name);
    }
  };
  const keep = (each) => {
    if (each.isKept) return;
    each.isKept = true;
    for (const other of load(each.file)) if (other.node.type === 'TSModuleDeclaration') keep(other);
    if (each.node.type.endsWith('AllDeclaration') || each.specifiers.length > 0) return;
    for (const [, path, name] of each.code.matchAll(/import\("(\.[^"]+)\.js"\)\.(\w+)/g))
      need(resolve(dirname(each.file), `${path}.d.ts`), name);
    for (const [name] of each.code.matchAll(/[\w$]+/g)) need(each.file, name);
  };
  for (const each of Object.values(manifest.exports))
    if (each.types) needAll(resolve(root, each.types));
  const all = readdirSync(types, { recursive: true }).map((path) => join(types, path));
  const declared = all.filter((path) => path.endsWith('.d.ts'));
  const isReached = (path) => files.get(path)?.some(({ isKept }) => isKept);
  for (const file of declared)
    if (isReached(file)) shrinkDeclaration(file, files.get(file));
    else for (const each of [file, `${file}.map`]) rmSync(each);
  return declared.filter(isReached).length;
}

/** The statements of a declaration file, each with the comments before it. */
function statementsOf(file) {
  const text = readFileSync(file, 'utf8');
  const { program } = parseSync(file, text);
  const lineAt = (offset) => text.slice(0, offset).split('\n').length - 1;
  let nextLine = 0;
  return program.body.map((node) => {
    const code = text.slice(node.start, node.end).replaceAll(/\/\*.*?\*\//gs, '');
    const { id, declarations } = node.declaration ?? node;
    const names = declarations?.map((each) => each.id.name) ?? (id ? [id.name] : []);
    const source = node.source?.value;
    const target = source?.startsWith('.')
      ? resolve(dirname(file), source.replace(/\.js$/, '.d.ts'))
      : undefined;
    const [first, last] = [nextLine, lineAt(node.end)];
    nextLine = last + 1;
    const { specifiers = [] } = node;
    return { file, node, code, names, target, specifiers, used: new Set(), first, last };
  });
}

/** Writes a declaration file with tabs, as in the JavaScript; editors jump only from lines of code. */
function shrinkDeclaration(file, statements) {
  const text = readFileSync(file, 'utf8');
  const lines = text.split('\n');
  const map = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
  const mappings = decode(map.mappings);
  const kept = [];
  for (const { node, isKept, specifiers, used, first, last } of statements) {
    if (!isKept) continue;
    const code = lines.slice(first, last + 1).map((line, at) => [line, mappings[first + at] ?? []]);
    const names = specifiers
      .filter((each) => used.has(each))
      .map((each) => text.slice(each.start, each.end));
    if (used.size < specifiers.length)
      kept.push([
        `${text.slice(node.start, specifiers[0].start)}${names.join(', ')}${text.slice(specifiers.at(-1).end, node.end)}`,
        mappings[last] ?? [],
      ]);
    else kept.push(...code);
  }
  const written = kept.map(([line]) =>
    line.replace(/^(?: {4})+/, ({ length }) => '\t'.repeat(length / 4)),
  );
  if (!written.some((line) => /^(?:ex|im)port /.test(line))) written.push('export {};');
  writeFileSync(file, [...written, lines.at(-1)].join('\n'));
  map.mappings = encode(kept.map(([line, mapping]) => (/^\s*\/?\*/.test(line) ? [] : mapping)));
  writeFileSync(`${file}.map`, byLine(map));
}

/**
 * A map from line to line: enough for breakpoints, stack traces and editors, at a fraction of the
 * size. The sources of bundled packages are not shipped.
 */
function byLine({ version, sources, mappings }) {
  const isOwn = sources.map((source) => !source.includes('node_modules/'));
  const lines = decode(mappings).map((segments) => {
    const first = segments.find(([, source]) => isOwn[source]);
    return first ? [[0, first[1], first[2], 0]] : [];
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
