// Rooms of the sources, the arrows between them, and their cycles.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { sourcesOf } from './transpile.mjs';

const WINGS = new Set(['core', 'stores', 'models', 'engines', 'bridges', 'testing']);
/** Wings whose folders are rooms. */
const WITH_ROOMS = new Set(['core', 'stores', 'models', 'bridges']);
const IMPORT =
  /^(?:import|export)\s+(type\s+)?([^'";]*?from\s+)?'(\.[^']+)'|declare module '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm;

const nameOf = (file) => file.replace(/\.ts$/, '');

/** A wing, or, in a house without wings, a folder. */
function wingOf(file, hasWings) {
  const [top, name, ...rest] = file.split('/');
  if (rest.length === 0 && name === 'index.ts') return 'index';
  if (top === 'advisors') return 'advisors';
  return !hasWings && name === 'models' && rest.length > 1 ? `models/${rest[0]}` : nameOf(name);
}

/** A folder of a wing, or an advisor. */
function roomOf(file) {
  const [top, name, ...rest] = file.split('/');
  if (rest.length === 0 && name === 'index.ts') return 'index';
  if (top === 'advisors') return `advisors/${nameOf(name)}`;
  if (name === 'core' && rest.length > 0) return `core/${nameOf(rest[0])}`;
  return WITH_ROOMS.has(name) && rest.length > 1 ? `${name}/${rest[0]}` : nameOf(name);
}

function targetOf(root, file, specifier) {
  const path = resolve(root, dirname(file), specifier).replace(/\.js$/, '');
  const target = [`${path}.ts`, join(path, 'index.ts')].find(existsSync);
  return target && relative(root, target);
}

/** True if nothing of the import is left at run time. */
function isType([, type, names = '', , module]) {
  if (type || module) return true;
  const list = names.replace(/from\s+$/, '').replaceAll(/[{}]/g, '');
  const parts = list.split(',').map((part) => part.trim());
  return names !== '' && parts.filter(Boolean).every((part) => part.startsWith('type '));
}

/** All imports between own files. */
function importsOf(root, files) {
  return files.flatMap((from) =>
    [...readFileSync(join(root, from), 'utf8').matchAll(IMPORT)].flatMap((match) => {
      const to = targetOf(root, from, match[3] ?? match[4] ?? match[5]);
      return to ? [{ from, to, isValue: !isType(match) }] : [];
    }),
  );
}

/** The targets of each node, without itself. */
function graphOf(imports, nodeOf) {
  const graph = new Map();
  for (const { from, to } of imports) {
    const [source, target] = [nodeOf(from), nodeOf(to)];
    for (const node of [source, target]) if (!graph.has(node)) graph.set(node, new Set());
    if (source !== target) graph.get(source).add(target);
  }
  return graph;
}

/** The groups of nodes that reach one another (Tarjan). */
function cyclesOf(graph) {
  const [indexes, lows, stack, cycles] = [new Map(), new Map(), [], []];
  const visit = (node) => {
    indexes.set(node, indexes.size);
    lows.set(node, indexes.get(node));
    stack.push(node);
    for (const target of graph.get(node)) {
      if (!indexes.has(target)) visit(target);
      if (stack.includes(target)) lows.set(node, Math.min(lows.get(node), lows.get(target)));
    }
    if (lows.get(node) !== indexes.get(node)) return;
    const cycle = stack.splice(stack.indexOf(node));
    if (cycle.length > 1) cycles.push(cycle);
  };
  for (const node of graph.keys()) if (!indexes.has(node)) visit(node);
  return cycles;
}

function countsOf(imports, nodeOf) {
  const values = imports.filter(({ isValue }) => isValue);
  const [all, byValue] = [graphOf(imports, nodeOf), graphOf(values, nodeOf)];
  const arrows = (graph) => [...graph.values()].reduce((sum, targets) => sum + targets.size, 0);
  return {
    arrows: arrows(all),
    valueArrows: arrows(byValue),
    cycles: cyclesOf(all),
    valueCycles: cyclesOf(byValue),
  };
}

/** Rooms, arrows and cycles by wing, by folder and by file; files and lines of each wing. */
export function measureHouse(root) {
  const files = sourcesOf(root).map((file) => relative(root, file));
  const imports = importsOf(root, files);
  const hasWings = existsSync(join(root, 'src/core'));
  const wing = (file) => wingOf(file, hasWings);
  const levels = { wings: wing, folders: roomOf, files: (file) => file };
  return {
    levels: Object.entries(levels).map(([level, nodeOf]) => ({
      level,
      rooms: new Set(files.map(nodeOf)).size,
      ...countsOf(imports, nodeOf),
    })),
    sizes: sizesOf(root, files, wing),
    unknown: hasWings ? [...new Set(files.map(wing))].filter((name) => !isExpected(name)) : [],
  };
}

const isExpected = (name) => WINGS.has(name) || name === 'advisors' || name === 'index';

function sizesOf(root, files, wing) {
  const sizes = new Map();
  for (const file of files) {
    const size = sizes.get(wing(file)) ?? { files: 0, lines: 0 };
    const lines = readFileSync(join(root, file), 'utf8').split('\n').length - 1;
    sizes.set(wing(file), { files: size.files + 1, lines: size.lines + lines });
  }
  return sizes;
}
