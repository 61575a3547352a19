import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { connectControl } from './control.js';
import { readAddress, type ServerAddress } from './server-file.js';

/** Exit code of a server whose directory another one holds. */
export const HELD = 75;
/** Output of the server, for errors. */
export const LOG = 'server.log';
/** Milliseconds between two looks at a server that starts. */
const INTERVAL = 50;
/** Milliseconds in which a server answers; recovering a large database takes some of them. */
const LIMIT = 120_000;

/** A server that lives. */
export interface LivingServer {
  readonly address: ServerAddress;
  /** Open as long as it lives. */
  readonly control: Socket;
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
    const address = readAddress(directory);
    const control = address && (await connectControl(address));
    if (control) return { address, control };
    const { exitCode = null, signalCode = null } = child ?? {};
    const hasFailed = signalCode !== null || (exitCode !== null && exitCode !== HELD);
    if (hasFailed) throw new Error(`ended with ${exitCode ?? signalCode}`);
    if (Date.now() > end) throw new Error(`no process has answered in ${limit / 1000} s`);
    if (!child || exitCode === HELD) child = start();
    await new Promise((resolve) => setTimeout(resolve, INTERVAL));
  }
}

/** Starts a server that outlives this process. */
export function startServer(
  directory: string,
  { file, loader }: { readonly file: string; readonly loader: readonly string[] },
  idleTimeout: number,
): ChildProcess {
  const log = openSync(join(directory, LOG), 'a', 0o600);
  const child = spawn(process.execPath, [...loader, file, directory, String(idleTimeout)], {
    detached: true,
    stdio: ['ignore', log, log],
    windowsHide: true,
  });
  closeSync(log);
  child.unref();
  return child;
}
