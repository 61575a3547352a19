import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { reasonOf } from '../../core/errors/describe.js';
import { connectPostgres, connectRedis } from '../databases.js';
import type { Terminal } from '../terminal.js';

/** The state of a database: undefined if it answers, else the reason. Nothing is written to it. */
export async function problemOfDatabase(
  address: string,
  terminal: Terminal,
): Promise<string | undefined> {
  try {
    if (/^postgres(ql)?:/.test(address)) {
      const pool = await connectPostgres(address);
      try {
        await pool.query('SELECT 1');
      } finally {
        await pool.end();
      }
    } else if (/^rediss?:/.test(address)) {
      const client = await connectRedis(address);
      try {
        await client.ping();
      } finally {
        await client.close();
      }
    } else if (!existsSync(resolve(terminal.cwd, address))) {
      return 'there is no such file';
    }
    return undefined;
  } catch (error) {
    const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
    return reasonOf(first);
  }
}

/** The address without its password. */
export function withoutPassword(address: string): string {
  return address.replace(/(:\/\/[^:/@]*):[^@]*@/, '$1:***@');
}
