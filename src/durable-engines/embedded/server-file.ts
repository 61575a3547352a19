import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Address of the process that holds an embedded database. */
export interface ServerAddress {
  readonly pid: number;
  readonly port: number;
  /** Password of the database; it stays the same when the process is started again. */
  readonly token: string;
}

const FILE = 'server.json';

/** The address in the directory; undefined if there is none. A process that has died leaves its own. */
export function readAddress(directory: string): ServerAddress | undefined {
  try {
    const address: unknown = JSON.parse(readFileSync(join(directory, FILE), 'utf8'));
    return isAddress(address) ? address : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError)
      return undefined;
    throw error;
  }
}

/** Replaces the address at once; no other user of the machine can read it. */
export function writeAddress(directory: string, address: ServerAddress): void {
  const temporary = join(directory, `${FILE}.${address.pid}`);
  rmSync(temporary, { force: true });
  writeFileSync(temporary, JSON.stringify(address), { mode: 0o600, flag: 'wx' });
  renameSync(temporary, join(directory, FILE));
}

function isAddress(value: unknown): value is ServerAddress {
  const { pid, port, token } = (value ?? {}) as Partial<ServerAddress>;
  return Number.isInteger(pid) && Number.isInteger(port) && typeof token === 'string';
}
