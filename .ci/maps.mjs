// Maps in the docs that are made from the code: the tree of CONTRIBUTING.md, wings, slots of the chain, entries of the package.
// Usage: node --import tsx .ci/maps.mjs [--write]. Without --write it prints the pages that differ and exits with 1.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { AdvisorOrder } from '../src/core/advisor/advisor.ts';
import { ROOMS, WINGS } from './house.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');

/** The folders below `src/` that have files, and no folder of the table that is gone. */
function checkRooms() {
  const wings = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((each) =>
    each.isDirectory(),
  );
  const rooms = wings.flatMap(({ name }) =>
    readdirSync(join(root, 'src', name), { withFileTypes: true })
      .filter((each) => each.isDirectory())
      .map((each) => `${name}/${each.name}`),
  );
  const unknown = rooms.filter((room) => !ROOMS[room]);
  const gone = Object.keys(ROOMS).filter((room) => !rooms.includes(room));
  if (unknown.length > 0) throw new Error(`.ci/house.mjs has no row for ${unknown.join(', ')}`);
  if (gone.length > 0)
    throw new Error(`.ci/house.mjs has rows for ${gone.join(', ')}, which are gone`);
}

const line = (name, sentence) => `${name.padEnd(23)} ${sentence}`;
const features = () =>
  readdirSync(join(root, 'advisors'))
    .map((name) => name.replace(/(-advisor)?\.ts$/, ''))
    .filter((name) => name !== 'index');

/** Names in lines of at most 120 characters. */
function wrapped(names, indent) {
  const lines = [''];
  for (const name of names) {
    if (lines.at(-1).length + name.length > 110) lines.push('');
    lines.push(`${lines.pop()}${name}  `);
  }
  return lines.map((each) => `${indent}${each.trimEnd()}`);
}

function tree() {
  checkRooms();
  const wings = Object.entries(WINGS).filter(([name]) => name !== 'advisors');
  const lines = [
    line('advisors/', WINGS.advisors.is),
    ...wrapped(features(), '  '),
    'src/',
    line('  index.ts', 'main entry: names that an application types'),
    ...wings.flatMap(([wing, { is }]) => [
      line(`  ${wing}/`, is),
      ...Object.entries(ROOMS)
        .filter(([room]) => room.startsWith(`${wing}/`))
        .map(([room, each]) => line(`    ${room.split('/')[1]}/`, each.is)),
    ]),
    line('test/', 'mirrors src/ and advisors/; helpers in test/support/'),
    line(
      'examples/',
      'programs that run offline, with pages in apps/; durable-engines/ and ports/ are projects of their own',
    ),
    line('bench/', 'measurements, each by a command of package.json'),
  ];
  return ['```', ...lines, '```'].join('\n');
}

/** The wings, each above those whose doors it imports. */
function wings() {
  const levelOf = (wing) => 1 + Math.max(0, ...WINGS[wing].doors.map(levelOf));
  const lines = Object.entries(WINGS)
    .toSorted(([a], [b]) => levelOf(b) - levelOf(a))
    .map(([wing, { is, doors }]) => {
      const imports = doors.length > 0 ? `imports ${doors.join(', ')}` : 'imports no other wing';
      return `${`${wing}/`.padEnd(11)}${imports.padEnd(32)}${is}`;
    });
  return ['```', ...lines, '```'].join('\n');
}

const number = (value) => value.toLocaleString('en-US');

function slots() {
  const source = read('src/core/advisor/advisor.ts');
  const rows = Object.entries(AdvisorOrder).map(([name, order]) => {
    const note = new RegExp(`/\\*\\* (.+?)\\.? \\*/\\n  ${name}:`).exec(source)?.[1] ?? '';
    const scope = order < AdvisorOrder.TOOL_CALLING ? 'turn' : 'iteration';
    return `| \`${name}\` | ${number(order)} | ${name === 'TOOL_CALLING' ? '' : scope} | ${note} |`;
  });
  return ['| slot | order | runs once per | note |', '| --- | ---: | --- | --- |', ...rows].join(
    '\n',
  );
}

function entries() {
  const { exports: all } = JSON.parse(read('package.json'));
  const rows = Object.entries(all)
    .filter(([, target]) => target.types)
    .map(([entry, { types }]) => {
      const source = types.replace(/^\.\/dist\/types\//, '').replace(/\.d\.ts$/, '.ts');
      if (!existsSync(join(root, source))) throw new Error(`${entry} has no source ${source}`);
      return `| \`advisor-chain${entry.slice(1)}\` | [\`${source}\`](../${source}) |`;
    });
  return ['| entry | source |', '| --- | --- |', ...rows].join('\n');
}

/** Pages with the maps that they have, each between `<!-- map: name -->` and `<!-- end of map -->`. */
const PAGES = {
  'CONTRIBUTING.md': { tree },
  'docs/architecture.md': { wings, entries },
  'docs/how-the-chain-works.md': { slots },
};

async function drawn(page, maps) {
  const filled = Object.entries(maps).reduce((text, [name, map]) => {
    const block = new RegExp(`(<!-- map: ${name} -->\n)[^]*?(\n<!-- end of map -->)`);
    if (!block.test(text)) throw new Error(`${page} has no map: ${name}`);
    return text.replace(block, (_, start, end) => `${start}\n${map()}\n${end}`);
  }, read(page));
  return format(filled, { ...(await resolveConfig(join(root, page))), filepath: page });
}

const wantsToWrite = process.argv.includes('--write');
for (const [page, maps] of Object.entries(PAGES)) {
  const text = await drawn(page, maps);
  if (text === read(page)) continue;
  if (wantsToWrite) writeFileSync(join(root, page), text);
  else {
    console.error(`${page}: a map differs from the code; npm run maps draws it`);
    process.exitCode = 1;
  }
}
