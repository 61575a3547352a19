// The shape of the sources in figures: rooms and arrows, the way of turns through files and functions, frames, exports, bundle.
// Usage: node bench/house.mjs [folder of a checkout]; the bundle of the package needs `npm run build` there.
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { measureBundles } from './house/bundle.mjs';
import { countExports } from './house/exports.mjs';
import { measureHouse } from './house/graph.mjs';
import { SCENARIOS } from './house/scenarios.mjs';
import { withTranspiled } from './house/transpile.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const root = resolve(process.argv[2] ?? here('..'));
const WALK = here('house/walk.mjs');

/** Prints a table with aligned columns. */
function print(title, head, rows) {
  const cells = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, at) => Math.max(...cells.map((row) => row[at].length)));
  const line = (row) =>
    `| ${row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join(' | ')} |`;
  const rule = `| ${widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  console.log(`\n${title}\n\n${[line(cells[0]), rule, ...cells.slice(1).map(line)].join('\n')}`);
}

function printHouse({ levels, sizes, unknown }) {
  print(
    'Rooms and arrows (imports of types count; in brackets by value)',
    ['level', 'rooms', 'arrows', 'cycles'],
    levels.map(({ level, rooms, arrows, valueArrows, cycles, valueCycles }) => [
      level,
      rooms,
      `${arrows} (${valueArrows})`,
      `${cycles.length} (${valueCycles.length})`,
    ]),
  );
  for (const { level, cycles } of levels)
    for (const cycle of cycles) console.log(`cycle of ${level}: ${cycle.join(', ')}`);
  if (unknown.length > 0) console.log(`neither a wing nor an advisor: ${unknown.join(', ')}`);
  const rows = [...sizes].map(([name, { files, lines }]) => [name, files, lines]);
  const sum = (at) => rows.reduce((total, row) => total + row[at], 0);
  const byLines = rows.toSorted((one, other) => other[2] - one[2]);
  print('Files and lines', ['', 'files', 'lines'], [...byLines, ['sum', sum(1), sum(2)]]);
}

function walk(folder, name) {
  return JSON.parse(execFileSync(process.execPath, [WALK, folder, name], { encoding: 'utf8' }));
}

function printWalks(folder) {
  const walks = Object.keys(SCENARIOS).map((name) => [name, walk(folder, name)]);
  const show = ({ files, functions }) => `${files} / ${functions}`;
  print(
    'Files / functions entered by a turn',
    ['', 'with its client, all functions', 'alone, named functions'],
    walks.map(([name, { whole, named }]) => [name, show(whole), show(named)]),
  );
  print(
    'Frames between the application and the model',
    ['', 'own', 'RxJS'],
    walks.slice(0, 2).map(([name, { frames }]) => [name, frames.own, frames.rxjs]),
  );
}

async function printExports(folder) {
  const values = Object.keys(await import(pathToFileURL(join(folder, 'src/index.js')).href));
  const counts = countExports(root, values);
  print(
    'Exports of the main entry',
    ['', 'values', 'types'],
    [
      ['all', counts.values, counts.types],
      ['without the names of advisors/index.ts', counts.ownValues, counts.ownTypes],
    ],
  );
}

const kB = (bytes) => (bytes / 1_000).toFixed(1);

async function printBundles() {
  const sizes = await measureBundles(root);
  print(
    'A bundle of ChatClient alone, kB',
    ['', 'minified', 'gzip', 'gzip, loaded later'],
    sizes.map(({ entry, bundler, minified, gzip, later }) => [
      `${entry}, ${bundler}`,
      kB(minified),
      kB(gzip),
      kB(later),
    ]),
  );
}

printHouse(measureHouse(root));
await withTranspiled(root, async (folder) => {
  printWalks(folder);
  await printExports(folder);
});
await printBundles();
