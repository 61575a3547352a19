// Import rules of the house, for each wing and each of its rooms. Types count, and so do dynamic imports: a type is knowledge.
// Usage: node .ci/import-rules.mjs [folder to check, default: the repository]
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix, resolve } from 'node:path';
import { COPIED_BY_CLI, ROOMS, WINGS } from './house.mjs';

/** Rooms that may use Node.js; everything else runs anywhere. */
const NODE = [
  'stores/chat-memory',
  'stores/databases',
  'stores/key-value',
  'engines/dbos',
  'engines/embedded',
  'knowledge/skills',
  'knowledge/worker',
  'testing',
  'cli',
];
/** Packages that run anywhere: a file that imports one is not behind a door. */
const ANYWHERE = /^(rxjs|@noble\/hashes|@standard-schema\/spec)(\/|$)/;

const root = resolve(process.argv[2] ?? '.');
const IMPORT =
  /(?:^|[\s;])(?:import|export)\s(?<type>type\s)?[^'";()]*?\bfrom\s*'(?<from>[^']+)'|\bimport\s*'(?<bare>[^']+)'|\bimport\(\s*'(?<dynamic>[^']+)'|declare module\s*'(?<module>\.[^']+)'/g;

/** Entries in a folder of files that they export. */
const ENTRIES = new Set(['advisors/index.ts', 'src/knowledge/index.ts']);

/** Wing and room of a path: `models` and `models/openai` of src/models/openai/x.ts, `advisors` and `advisors/guard` of advisors/guard/x.ts. */
function placeOf(path) {
  const parts = path.replace(/^src\//, '').split('/');
  if (parts.length === 1 || ENTRIES.has(path)) return { wing: 'entry', room: 'entry' };
  const [wing, folder] = parts;
  if (wing === 'advisors') return { wing, room: `advisors/${folder.replace(/\.ts$/, '')}` };
  return { wing, room: parts.length === 2 ? `${wing}/.` : `${wing}/${folder}` };
}

const paths = ['src', 'advisors']
  .filter((folder) => existsSync(posix.join(root, folder)))
  .flatMap((folder) =>
    readdirSync(posix.join(root, folder), { recursive: true }).map(
      (path) => `${folder}/${String(path).replaceAll('\\', '/')}`,
    ),
  )
  .filter((path) => path.endsWith('.ts'));
const sources = new Map(
  paths.map((path) => [
    path,
    [...readFileSync(posix.join(root, path), 'utf8').matchAll(IMPORT)].map(({ groups }) => ({
      specifier: groups.from ?? groups.bare ?? groups.dynamic ?? groups.module,
      isType: Boolean(groups.type ?? groups.module),
    })),
  ]),
);
const targetOf = (path, specifier) =>
  posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts');

/** True for a file that needs a package or Node.js, by itself or by a file of its wing: nothing outside of its wing imports it, but for entries. */
function isBehindDoor(path, seen = new Set()) {
  if (seen.has(path)) return false;
  seen.add(path);
  return (sources.get(path) ?? []).some(({ specifier, isType }) => {
    if (isType) return false;
    if (!specifier.startsWith('.')) return !ANYWHERE.test(specifier);
    const target = targetOf(path, specifier);
    return placeOf(target).wing === placeOf(path).wing && isBehindDoor(target, seen);
  });
}

/** The rule that an import of a package breaks. */
function packageProblem(path, room, specifier) {
  if (/^rxjs(\/|$)/.test(specifier))
    return path === 'src/core/internal/rxjs.ts'
      ? undefined
      : 'only src/core/internal/rxjs.ts imports rxjs';
  if (specifier.startsWith('node:'))
    return NODE.some((each) => room === each || room.startsWith(`${each}/`))
      ? undefined
      : `only ${NODE.join(', ')} may import node:`;
  if (/^advisor-chain(\/|$)/.test(specifier)) return 'imports its own package by name';
  return undefined;
}

/** Sources of the entries of package.json. */
const PUBLIC = new Set(
  Object.values(
    JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).exports,
  )
    .filter(({ types }) => types)
    .map(({ types }) => types.replace(/^\.\/dist\/types\/(.*)\.d\.ts$/, '$1.ts')),
);

/** The program uses the built entries, so that it shares their classes with the user's module. */
function programProblem(target, isType) {
  if (isType || PUBLIC.has(target) || COPIED_BY_CLI.test(target)) return undefined;
  return `${target} is not an entry of package.json: cli imports entries, types, and COPIED_BY_CLI of .ci/house.mjs`;
}

/** The rule that an import of one of our files breaks. */
function neighbourProblem(from, to, target, isType) {
  if (from.room === to.room || from.wing === 'entry') return undefined;
  // a program above the entries
  if (from.wing === 'cli') return to.wing === 'cli' ? undefined : programProblem(target, isType);
  if (to.wing === 'entry') return 'no room imports an entry';
  if (from.wing === to.wing) {
    if (from.wing === 'advisors') return 'advisors do not import one another';
    const near = ROOMS[from.room]?.imports ?? [];
    if (from.wing === 'testing' || near.includes(to.room.slice(to.wing.length + 1)))
      return undefined;
    return `${from.room} may import ${near.join(', ') || 'no other room'} of ${from.wing}; not ${to.room}`;
  }
  if (!WINGS[from.wing].doors.includes(to.wing))
    return `${from.wing} may import ${WINGS[from.wing].doors.join(', ') || 'no other wing'}; not ${to.wing}`;
  if (to.wing !== 'core' && isBehindDoor(target))
    return `${target} needs a package or Node.js: only entries import it`;
  return undefined;
}

const hasRow = ({ wing, room }) =>
  room in ROOMS || (wing in WINGS && (wing === 'advisors' || room.endsWith('/.')));

function problemOf(path, { specifier, isType }) {
  const from = placeOf(path);
  if (from.wing !== 'entry' && !hasRow(from)) return 'has no row in .ci/house.mjs';
  if (!specifier.startsWith('.')) return packageProblem(path, from.room, specifier);
  const target = targetOf(path, specifier);
  return neighbourProblem(from, placeOf(target), target, isType);
}

const found = [...sources].flatMap(([path, imports]) =>
  imports.flatMap((each) => {
    const problem = problemOf(path, each);
    return problem ? [`${path}: '${each.specifier}': ${problem}`] : [];
  }),
);
for (const line of found) console.error(line);
process.exitCode = found.length > 0 ? 1 : 0;
