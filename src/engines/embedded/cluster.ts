import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { loadPostgres, runProgram } from './postgres-programs.js';
import {
  clusterOf,
  findPort,
  HOST,
  isListening,
  readAddress,
  writeAddress,
  type ServerAddress,
} from './server-address.js';

/** Options of `initdb`. */
const SETTINGS = [
  '--username=postgres',
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  `--set=listen_addresses=${HOST}`,
  '--set=unix_socket_directories=',
  '--set=max_connections=300',
];
/** Attempts to start while the last processes of a killed server end. */
const ATTEMPTS = 10;
/** Pause in milliseconds between two attempts, and between two looks at a lock. */
const PAUSE = 300;

/** Creates the database of a directory unless there is one; others see it when it is complete. */
export async function createCluster(directory: string): Promise<void> {
  if (existsSync(clusterOf(directory))) return;
  const draft = join(directory, `cluster.${process.pid}`);
  const password = randomBytes(24).toString('hex');
  const passwordFile = `${draft}.password`;
  rmSync(draft, { recursive: true, force: true });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  try {
    const { initdb } = await loadPostgres();
    const files = [`--pgdata=${draft}`, `--pwfile=${passwordFile}`];
    if (!(await runProgram(initdb, ...files, ...SETTINGS))) throw new Error('initdb failed');
    writeAddress(draft, { port: await findPort(), password });
    renameSync(draft, clusterOf(directory));
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // another process may have been faster
    if (!existsSync(clusterOf(directory))) throw error;
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** Starts the server of a directory; returns its lock, or undefined if another process has started it. */
export async function startCluster(directory: string): Promise<string | undefined> {
  const cluster = clusterOf(directory);
  const { port: earlier, password } = readAddress(directory) as ServerAddress;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    await removeStaleLock(cluster);
    const port = await findPort(earlier);
    if (await control('start', cluster, `--options=-p ${port}`)) {
      writeAddress(cluster, { port, password });
      return readLock(cluster);
    }
    if (await control('status', cluster)) return undefined;
    await delay(PAUSE);
  }
  throw new Error('PostgreSQL does not start');
}

/** Stops the server that has a lock: the directory may have a later one by now. */
export async function stopStarted(directory: string, lock: string): Promise<void> {
  if (readLock(clusterOf(directory)) === lock) await stopCluster(directory);
}

/** Stops the server of a directory after a checkpoint. */
export async function stopCluster(directory: string): Promise<void> {
  await control('stop', clusterOf(directory), '--mode=fast');
}

async function control(
  command: 'start' | 'status' | 'stop',
  cluster: string,
  ...options: readonly string[]
): Promise<boolean> {
  const { pg_ctl } = await loadPostgres();
  const place = ['--silent', '--timeout=120', `--pgdata=${cluster}`];
  return runProgram(pg_ctl, command, ...place, ...options);
}

/** Removes the lock of a killed server, whose process id another process may have by now. */
async function removeStaleLock(cluster: string): Promise<void> {
  // a server that starts or stops has a lock without a port for a moment
  for (let look = 0; look < 2; look++) {
    const lock = readLock(cluster);
    if (lock === '') return;
    const port = Number(lock.split('\n')[3]);
    if (port && (await isListening(port))) return;
    await delay(PAUSE);
  }
  rmSync(lockOf(cluster), { force: true });
}

const lockOf = (cluster: string): string => join(cluster, 'postmaster.pid');

/** Process id, directory, time and port of a server; empty without a server. */
function readLock(cluster: string): string {
  try {
    // the last line changes while the server starts
    return readFileSync(lockOf(cluster), 'utf8').split('\n').slice(0, 4).join('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
