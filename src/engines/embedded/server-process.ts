import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as Pg from 'pg';
import { resolveDependency } from './postgres-programs.js';
import { clusterOf, HOST, readAddress, type ServerAddress } from './server-address.js';

/** Exit code of a supervisor whose server another one has started. */
export const HELD = 75;
/** Output of the supervisor and the server, for errors. */
export const LOG = 'server.log';
/** Name under which the supervisor is connected. */
export const SUPERVISOR = 'advisor-chain supervisor';
/** Milliseconds between two looks at a server that starts. */
const INTERVAL = 50;
/** Milliseconds in which a server answers; recovering a large database takes some of them. */
const LIMIT = 120_000;
const CONNECTION_TIMEOUT = 5000;
/** Lines of the log in an error. */
const LINES = 5;

/** A connection; `unref` lets the process end that has it. */
export type Control = Pg.Client & { ref(): void; unref(): void };

/** A server that accepts connections. */
export interface LivingServer {
  readonly address: ServerAddress;
  /** Open as long as it lives. */
  readonly control: Control;
}

/** Finds the server of a directory; starts one if there is none. */
export async function findServer(
  directory: string,
  start: () => ChildProcess,
  limit = LIMIT,
): Promise<LivingServer> {
  const end = Date.now() + limit;
  let child: ChildProcess | undefined;
  for (;;) {
    const server = await connectServer(directory);
    if (server && (await isSupervised(server.control, child))) return server;
    const { exitCode = null, signalCode = null } = child ?? {};
    // 0: the server was stopped by a process that did not know of this one
    const mayStart = child === undefined || exitCode === HELD || exitCode === 0;
    const hasFailed = signalCode !== null || (exitCode !== null && !mayStart);
    if (hasFailed) throw new Error(`ended with ${exitCode ?? signalCode}: ${lastLines(directory)}`);
    if (Date.now() > end) throw new Error(`no process has answered in ${limit / 1000} s`);
    if (mayStart) child = start();
    await new Promise((resolve) => setTimeout(resolve, INTERVAL));
  }
}

/**
 * True when the supervisor that this process has started watches the server: one that is slower than
 * its server would start a stopped one again. False if the server has ended meanwhile.
 */
async function isSupervised(control: Pg.Client, supervisor?: ChildProcess): Promise<boolean> {
  const query = 'SELECT 1 FROM pg_stat_activity WHERE application_name = $1';
  try {
    while (supervisor?.exitCode === null && supervisor.signalCode === null) {
      const { rows } = await control.query(query, [SUPERVISOR]);
      if (rows.length > 0) break;
      await new Promise((resolve) => setTimeout(resolve, INTERVAL));
    }
    return true;
  } catch {
    return false;
  }
}

/** The end of the log: the folder of a server that cannot start is often gone before it is read. */
function lastLines(directory: string): string {
  return readFileSync(join(directory, LOG), 'utf8').trimEnd().split('\n').slice(-LINES).join('\n');
}

/** Connects to the server of a directory; undefined if it does not answer. */
export async function connectServer(
  directory: string,
  application_name = 'advisor-chain',
): Promise<LivingServer | undefined> {
  const address = readAddress(directory);
  if (!address) return undefined;
  const pg = createRequire(import.meta.url)(resolveDependency('pg')) as typeof Pg;
  const place = { host: HOST, ...address, user: 'postgres', database: 'postgres', ssl: false };
  const limits = { connectionTimeoutMillis: CONNECTION_TIMEOUT };
  const control = new pg.Client({ ...place, ...limits, application_name }) as Control;
  control.on('error', () => undefined); // 'end' follows
  try {
    await control.connect();
    if (await isServerOf(directory, control)) return { address, control };
    await control.end();
  } catch {
    // not yet, or another program
  }
  return undefined;
}

/** False for another server that has taken the port, and may accept any password. */
async function isServerOf(directory: string, control: Pg.Client): Promise<boolean> {
  const { rows } = await control.query<{ readonly path: string }>(
    `SELECT current_setting('data_directory') AS path`,
  );
  return rows.some(({ path }) => realpathSync(path) === realpathSync(clusterOf(directory)));
}

/** Number of other connections than this one and the supervisor's. */
export async function countClients(client: Pg.Client): Promise<number> {
  const { rows } = await client.query<{ readonly count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name <> $1`,
    [SUPERVISOR],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Starts a supervisor, which outlives this process.
 * @param program path of the program, after arguments for Node.js
 */
export function startServer(
  directory: string,
  program: readonly string[],
  idleTimeout: number,
): ChildProcess {
  const log = openSync(join(directory, LOG), 'a', 0o600);
  const child = spawn(process.execPath, [...program, directory, String(idleTimeout)], {
    detached: true,
    stdio: ['ignore', log, log],
    windowsHide: true,
  });
  closeSync(log);
  child.unref();
  return child;
}
