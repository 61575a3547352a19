import type { SqliteDatabase } from '../../src/stores/databases/sqlite.js';

/** Opens a file with a client that loads extensions. */
type Open = (file: string) => SqliteDatabase;

/** Clients of SQLite; a missing one rejects, with the reason. */
export const SQLITE_CLIENTS: Readonly<Record<string, () => Promise<Open>>> = {
  libsql: async () => {
    const { default: Database } = await import('libsql');
    return (file) => new Database(file);
  },
  'better-sqlite3': async () => {
    // not a dependency: it is compiled for one version of Node.js
    const { default: Database } = (await import('better-sqlite3' as string)) as {
      readonly default: new (file: string) => SqliteDatabase;
    };
    // its binary is loaded with the first database
    new Database(':memory:').close();
    return (file) => new Database(file);
  },
  'node:sqlite': async () => {
    const { DatabaseSync } = (await import('node:sqlite' as string)) as {
      readonly DatabaseSync: new (file: string, options: object) => SqliteDatabase;
    };
    return (file) => new DatabaseSync(file, { allowExtension: true });
  },
};
