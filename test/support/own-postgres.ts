import { execFile, execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './own-redis.js';

const execute = promisify(execFile);
const DEBIAN = '/usr/lib/postgresql';
/** Account of the server where tests run as root, as which it does not start. */
const ACCOUNT = 'postgres';

/** A PostgreSQL server of a test, which it may stop. */
export interface OwnPostgres {
  readonly url: string;
  /** Ends the server and starts it again: `immediate` without a checkpoint, as after a crash. */
  readonly restart: (mode: 'fast' | 'immediate') => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Folder of initdb and pg_ctl, if PostgreSQL is installed. */
export function postgresPrograms(): string | undefined {
  const debian = existsSync(DEBIAN)
    ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin'))
    : [];
  const path = (process.env['PATH'] ?? '').split(delimiter);
  return [...debian, ...path].find((folder) => existsSync(join(folder, 'initdb')));
}

/** Starts a server on loopback, in a temporary folder. */
export async function startOwnPostgres(programs: string): Promise<OwnPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'advisor-chain-postgres-'));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(folder, idOf('-u'), idOf('-g'));
  const run = async (program: string, ...args: readonly string[]): Promise<void> => {
    const command = [join(programs, program), ...args];
    const words = isRoot ? ['su', ACCOUNT, '-s', '/bin/sh', '-c', quoted(command)] : command;
    await execute(words[0] as string, words.slice(1), { cwd: folder });
  };
  const data = join(folder, 'data');
  const port = await freePort();
  const control = (...args: readonly string[]): Promise<void> =>
    run('pg_ctl', '-D', data, '-l', join(folder, 'log'), '-w', ...args);
  await run('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync');
  // The machine itself is never restarted, so what the server wrote survives without fsync, and no busy disk holds a restart up.
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder} -c fsync=off`;
  await control('-o', options, 'start');
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    restart: (mode) => control('-m', mode, 'restart'),
    stop: async () => {
      await control('-m', 'immediate', 'stop');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function idOf(option: '-u' | '-g'): number {
  return Number(execFileSync('id', [option, ACCOUNT], { encoding: 'utf8' }));
}

function quoted(command: readonly string[]): string {
  return command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
}
