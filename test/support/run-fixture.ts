import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

/** JSON that a fixture prints at its end. */
export type FixtureReport = Readonly<Record<string, unknown>>;

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs a fixture in a process of its own, which must end by itself, and returns its report. */
export function runFixture(name: string, ...args: readonly string[]): FixtureReport {
  const file = `test/fixtures/${name}.ts`;
  const run = spawnSync(process.execPath, ['--import', 'tsx', file, ...args], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect(run.status, run.stdout + run.stderr).to.equal(0);
  return JSON.parse(run.stdout.trim().split('\n').at(-1) ?? '') as FixtureReport;
}

/** Runs mocha with a fixture in a process of its own, because the run is expected to fail. */
export function runMocha(
  fixture: string,
  { hooks = [], flags = [] }: { hooks?: readonly string[]; flags?: readonly string[] } = {},
): { readonly exitCode: number | null; readonly output: string } {
  const mocha = ['node_modules/mocha/bin/mocha.js', '--no-config', '--node-option', 'import=tsx'];
  const required = ['test/support/hooks.ts', ...hooks].flatMap((file) => ['--require', file]);
  const args = [...mocha, ...flags, ...required, `test/fixtures/${fixture}.ts`];
  const run = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  return { exitCode: run.status, output: run.stdout + run.stderr };
}
