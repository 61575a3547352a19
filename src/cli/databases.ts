import { InvalidArgumentError } from '../core/errors/argument-errors.js';

/** Milliseconds to wait for a server. */
const TIMEOUT = 10_000;

/** A pool of PostgreSQL; it connects at its first query. */
export async function connectPostgres(address: string) {
  const { default: pg } = await needed('pg', () => import('pg'));
  const pool = new pg.Pool({ connectionString: address, connectionTimeoutMillis: TIMEOUT });
  // an idle connection that breaks is reported by the next query
  pool.on('error', () => undefined);
  return pool;
}

/** A connected client of Redis. */
export async function connectRedis(address: string) {
  const { createClient } = await needed('redis', () => import('redis'));
  const socket = { connectTimeout: TIMEOUT, reconnectStrategy: false } as const;
  const client = createClient({ url: address, socket });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function needed<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if ((cause as { readonly code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new InvalidArgumentError(`the database needs the package ${name}: npm install ${name}`, {
      cause,
    });
  }
}
