import { InMemoryKeyValueStore, type KeyValueStore } from '../../src/index.js';
import { POSTGRES, REDIS, type TestServer } from './servers.js';

/** A store, opened by one connection or pool of this process. */
export interface OpenKeyValueStore {
  readonly store: KeyValueStore;
  readonly close: () => Promise<unknown>;
}

export const STORE_KINDS = ['memory', 'sqlite', 'postgres', 'redis'] as const;
export type StoreKind = (typeof STORE_KINDS)[number];

/** The server that a kind needs. */
export const SERVER_OF: Readonly<Partial<Record<StoreKind, TestServer>>> = {
  postgres: POSTGRES,
  redis: REDIS,
};

const memory = new InMemoryKeyValueStore();

/**
 * Opens a store and loads only its client, also for processes that tests start.
 * @param location the file, or the name of the table, or the prefix of keys
 */
export async function openKeyValueStore(
  kind: StoreKind,
  location: string,
): Promise<OpenKeyValueStore> {
  if (kind === 'memory') return { store: memory, close: () => Promise.resolve() };
  if (kind === 'sqlite') {
    const { SqliteKeyValueStore } =
      await import('../../src/stores/key-value/sqlite-key-value-store.js');
    const store = await SqliteKeyValueStore.open(location);
    return { store, close: () => store.close() };
  }
  if (kind === 'postgres') {
    const { PostgresKeyValueStore } =
      await import('../../src/stores/key-value/postgres-key-value-store.js');
    const { default: pg } = await import('pg');
    const client = new pg.Pool({ ...POSTGRES.connection, max: 4 });
    const store = new PostgresKeyValueStore({ client, table: location });
    await store.migrate();
    return { store, close: () => client.end() };
  }
  const { RedisKeyValueStore } =
    await import('../../src/stores/key-value/redis-key-value-store.js');
  const { Redis } = await import('ioredis');
  const client = new Redis(REDIS.connection);
  return {
    store: new RedisKeyValueStore({ client, keyPrefix: location }),
    close: () => client.quit(),
  };
}

/** Removes what a test has kept on a server. */
export async function dropStates(kind: StoreKind, location: string): Promise<void> {
  if (kind === 'postgres') {
    const { default: pg } = await import('pg');
    const client = new pg.Client(POSTGRES.connection);
    await client.connect();
    await client.query(`DROP TABLE IF EXISTS ${location}`);
    await client.end();
  }
  if (kind === 'redis') {
    const { Redis } = await import('ioredis');
    const client = new Redis(REDIS.connection);
    const keys = await client.keys(`${location}:*`);
    if (keys.length > 0) await client.del(keys);
    await client.quit();
  }
}
