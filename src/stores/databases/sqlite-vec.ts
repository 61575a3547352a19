import type * as SqliteVec from 'sqlite-vec';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import type { SqliteDatabase, SqliteStatement } from './sqlite.js';

/**
 * Loads the extension `sqlite-vec` into a connection that does not have it.
 * @throws {@link InvalidArgumentError} if the package is not installed, or the connection loads no extensions
 */
export async function loadSqliteVec(where: string, database: SqliteDatabase): Promise<void> {
  if (hasSqliteVec(database)) return;
  const { load } = await importSqliteVec(where);
  try {
    load(database as SqliteDatabase & Parameters<typeof load>[0]);
  } catch (cause) {
    throw new InvalidArgumentError(
      `${where}: the connection could not load the extension sqlite-vec; open node:sqlite with { allowExtension: true }`,
      { cause },
    );
  }
}

function hasSqliteVec(database: SqliteDatabase): boolean {
  const [row] = (
    database.prepare(
      `SELECT count(*) AS count FROM pragma_function_list WHERE name = 'vec_distance_cosine'`,
    ) as SqliteStatement
  ).all();
  return Number((row as { readonly count?: unknown } | undefined)?.count) > 0;
}

async function importSqliteVec(where: string): Promise<typeof SqliteVec> {
  try {
    // bundlers treat an import in a try block as optional
    return await import('sqlite-vec');
  } catch (cause) {
    throw new InvalidArgumentError(
      `${where} needs the package sqlite-vec: npm install sqlite-vec@^0.1.9`,
      { cause },
    );
  }
}
