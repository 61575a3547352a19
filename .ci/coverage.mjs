// Coverage of the core by the fast tests: fails below 95 % of lines or 90 % of branches (docs/reliability.md).
// Measured on the output of tsc: through tsx, lines of types count as covered. Takes some minutes, in one process.
import { cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root, run, scratch } from './commands.mjs';

const copy = join(scratch, 'repository');
/** Tests of the sources as such, which load TypeScript, and of the package. */
const OTHERS = [
  'test/**/*.slow.test.js',
  'test/ci/**',
  'test/errors.test.js',
  'test/public-api.test.js',
];
const bin = (name) => join(root, 'node_modules', '.bin', name);

try {
  const skipped = new Set(['node_modules', 'dist', '.git']);
  cpSync(root, copy, { recursive: true, filter: (path) => !skipped.has(basename(path)) });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const options = ['--noEmit', 'false', '--declaration', 'false', '--declarationMap', 'false'];
  // compiled beside the sources, since tests read files by their relative paths
  run(bin('tsc'), ['-p', copy, ...options, '--outDir', join(scratch, 'output')], { cwd: copy });
  cpSync(join(scratch, 'output'), copy, { recursive: true });
  const config = join(copy, '.mocharc.coverage.json');
  writeFileSync(
    config,
    JSON.stringify({
      require: ['test/support/hooks.js'],
      spec: ['test/**/*.test.js'],
      ignore: OTHERS,
      timeout: 60_000,
      reporter: 'dot',
    }),
  );
  const included = ['src/**', 'advisors/**'].flatMap((glob) => ['--include', glob]);
  // the kits of contracts and the report are tools for tests
  const excluded = ['--exclude', 'src/testing/**'];
  const bounds = ['--check-coverage', '--lines', '95', '--branches', '90', '--functions', '95'];
  const reports = ['--reporter', 'text-summary', '--temp-directory', join(scratch, 'v8')];
  const mocha = [bin('mocha'), '--config', config];
  run(bin('c8'), [...reports, ...included, ...excluded, ...bounds, ...mocha], {
    cwd: copy,
    show: true,
    // tests that need data beside the repository skip, with a printed reason
    env: { ...process.env, CI: 'false' },
  });
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
