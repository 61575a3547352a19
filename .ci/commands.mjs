// Helpers of the checks: the repository, a scratch folder, and programs that run without a terminal.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** Removed at the end of the checks. */
export const scratch = mkdtempSync(join(tmpdir(), 'advisor-chain-check-'));

/** Runs a program without a terminal; throws what it printed if it fails. */
export function run(command, args, { cwd = root, show = false, timeout, env = process.env } = {}) {
  const stdio = ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'];
  const done = spawnSync(command, args, {
    cwd,
    stdio,
    timeout,
    env,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  const printed = `${done.stdout ?? ''}${done.stderr ?? ''}`;
  if (done.error)
    throw new Error(`${command} ${args.join(' ')}: ${done.error.message}\n${printed}`);
  if (done.status !== 0)
    throw new Error(
      `${command} ${args.join(' ')} ended with ${done.status ?? done.signal}\n${printed}`,
    );
  return done.stdout ?? '';
}

export const tool = (name, ...args) => void run(join(root, 'node_modules', '.bin', name), args);
