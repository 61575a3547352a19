// The core by itself: a copy of src/core and of the tests that need nothing else is compiled and run in a folder of its own.
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { root, run, scratch } from './commands.mjs';

/** Fewer files of tests would show that tests of the core need other wings again. */
const MIN_TESTS = 45;
/** Sources and data besides the core. */
const COPIED = [
  'src/core',
  'src/testing/check-script.ts',
  'src/testing/scripted-chat-model.ts',
  'test/fixtures/fuzz',
];

const NEEDED =
  /\bfrom\s*'(?<from>\.[^']+)'|\bimport\(?\s*'(?<bare>\.[^']+)'|\bnew URL\(\s*'(?<url>\.[^']+)'/g;
const needs = new Map();

/** The files of ours that a file needs: imports, types included, and what it reads. */
function neededBy(path) {
  const text = readFileSync(join(root, path), 'utf8');
  return [...text.matchAll(NEEDED)].map(({ groups }) =>
    posix
      .join(posix.dirname(path), groups.from ?? groups.bare ?? groups.url)
      .replace(/\.js$/, '.ts'),
  );
}

const isCopied = (path) => COPIED.some((each) => path === each || path.startsWith(`${each}/`));

/** The files of tests that a test needs, itself included; undefined if it needs more than the core. */
function filesOf(path, found = new Set()) {
  if (isCopied(path.replace(/\/$/, '')) || found.has(path)) return found;
  if (!path.startsWith('test/') || !existsSync(join(root, path))) return undefined;
  found.add(path);
  if (!needs.has(path)) needs.set(path, neededBy(path));
  return needs.get(path).every((each) => filesOf(each, found)) ? found : undefined;
}

function copyCore(files) {
  const folder = join(scratch, 'core-alone');
  for (const path of files) cpSync(join(root, path), join(folder, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
  const config = { compilerOptions, include: ['src', 'test'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  return folder;
}

/** Compiles the core and runs its own tests without the other wings. */
export function testCoreAlone() {
  const tests = readdirSync(join(root, 'test/core'), { recursive: true })
    .map((path) => posix.join('test/core', String(path).replaceAll('\\', '/')))
    .filter((path) => path.endsWith('.test.ts') && !path.endsWith('.slow.test.ts'));
  const own = tests.filter((path) => filesOf(path));
  if (own.length < MIN_TESTS)
    throw new Error(
      `${own.length} of ${tests.length} files of tests need the core alone, fewer than ${MIN_TESTS}`,
    );
  const hooks = 'test/support/hooks.ts';
  const folder = copyCore([...COPIED, hooks, ...own.flatMap((path) => [...filesOf(path)])]);
  const program = (name) => join(root, 'node_modules/.bin', name);
  run(program('tsc'), ['-p', 'tsconfig.json'], { cwd: folder });
  const mocha = ['--no-config', '--import=tsx', '--require', hooks, '--timeout', '60000'];
  const printed = run(program('mocha'), [...mocha, '--forbid-only', ...own], { cwd: folder });
  const passed = /(\d+) passing/.exec(printed)?.[1];
  return `${passed} tests of ${own.length} files of ${tests.length}`;
}
