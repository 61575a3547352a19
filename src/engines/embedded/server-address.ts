import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

export const HOST = '127.0.0.1';

/** Address of the server of an embedded database. */
export interface ServerAddress {
  /** Stays the same while no other program takes it. */
  readonly port: number;
  readonly password: string;
}

const FILE = 'address.json';

/** Folder of the files of PostgreSQL. */
export function clusterOf(directory: string): string {
  return join(directory, 'cluster');
}

/** Address of the last start; undefined before the database was created. */
export function readAddress(directory: string): ServerAddress | undefined {
  try {
    return JSON.parse(readFileSync(join(clusterOf(directory), FILE), 'utf8')) as ServerAddress;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Replaces the address at once; other users of the machine cannot read it. */
export function writeAddress(cluster: string, address: ServerAddress): void {
  const temporary = join(cluster, `${FILE}.${process.pid}`);
  rmSync(temporary, { force: true });
  writeFileSync(temporary, JSON.stringify(address), { mode: 0o600, flag: 'wx' });
  renameSync(temporary, join(cluster, FILE));
}

/** The wanted port if it is free, else another one. */
export async function findPort(wanted?: number): Promise<number> {
  if (wanted !== undefined && !(await isListening(wanted))) return wanted;
  const server = createServer();
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, HOST, () => resolve((server.address() as { readonly port: number }).port));
  });
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** True if a program accepts connections at a port of this machine. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST);
    const end = (isOpen: boolean): void => {
      socket.destroy();
      resolve(isOpen);
    };
    // only a refusal means that the port is free: a machine without free ports refuses nothing
    socket
      .once('connect', () => end(true))
      .once('error', ({ code }: NodeJS.ErrnoException) => end(code !== 'ECONNREFUSED'));
  });
}
