import type { DBOSConfig } from '@dbos-inc/dbos-sdk';

const ignore = (): void => undefined;

/** Keeps the errors of turns, which DBOS logs, out of the output of tests. */
export const SILENT: NonNullable<DBOSConfig['logger']> = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
};
