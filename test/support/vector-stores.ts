import type { CheckedVectorStore } from '../../src/stores/vectors/checked-vector-store.js';

/** A store in a file or on a server, opened by one process. */
export interface OpenVectorStore {
  readonly store: CheckedVectorStore;
  readonly close: () => Promise<unknown>;
}

/**
 * Opens a store and loads only its client, also for processes that tests start.
 * @param location a URL of PostgreSQL, or a file of SQLite
 */
export async function openVectorStore(location: string): Promise<OpenVectorStore> {
  if (location.startsWith('postgresql:')) {
    const { PostgresVectorStore } =
      await import('../../src/stores/vectors/postgres-vector-store.js');
    const { default: pg } = await import('pg');
    const client = new pg.Pool({ connectionString: location, max: 4 });
    const store = new PostgresVectorStore({ client });
    await store.migrate();
    return { store, close: () => client.end() };
  }
  const { SqliteVectorStore } = await import('../../src/stores/vectors/sqlite-vector-store.js');
  const store = await SqliteVectorStore.open(location);
  return { store, close: () => store.close() };
}
