import { CHECKED_APART, required, withMethods } from '../../core/internal/options.js';

/** The required part of a PostgreSQL client: a `Pool` or `Client` of `pg`, or `PGlite`. */
export interface PostgresClient {
  query(sql: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** Options of every store in PostgreSQL. */
export interface PostgresOptions {
  /** A pool or a connected client; the caller closes it. */
  readonly client: PostgresClient;
  /** Existing schema for the tables. @default the first of the search path */
  readonly schema?: string | undefined;
}

/** Fields of an error of the server (SQLSTATE and severity) or of the system. */
interface PostgresError {
  readonly code?: string;
  readonly severity?: string;
  readonly syscall?: string;
}

const UNIQUE_VIOLATION = '23505';
/** Shutdown of the server or of its connection: the statement may have ended before. */
const CONNECTION_ENDED = /^(08|57P)|^40003$/;
const BEFORE_SENDING = /^(connect|getaddrinfo)/;
/** Rules of {@link PostgresOptions}; the schema is checked where it is quoted. */
export const POSTGRES_RULES = {
  client: required(withMethods('a client with a method query, such as a Pool of pg', 'query')),
  schema: CHECKED_APART,
};

/** True for the error of a statement that another one has forestalled. */
export function isUniqueViolation(error: unknown): boolean {
  return (error as PostgresError | null)?.code === UNIQUE_VIOLATION;
}

/** True if nothing was written: the server rolls back what it refuses, unless it breaks the connection with it. */
export function isRefusedByPostgres(error: unknown): boolean {
  const { code = '', severity, syscall = '' } = (error ?? {}) as PostgresError;
  if (severity !== undefined) return !CONNECTION_ENDED.test(code);
  return BEFORE_SENDING.test(syscall);
}
