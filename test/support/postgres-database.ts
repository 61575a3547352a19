import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { POSTGRES } from './servers.js';

/** A database of its own for a test. */
export interface PostgresDatabase {
  readonly url: string;
  readonly drop: () => Promise<void>;
}

/** Creates an empty database on the server that tests use. */
export async function createPostgresDatabase(): Promise<PostgresDatabase> {
  const name = `advisor_chain_${randomBytes(6).toString('hex')}`;
  await onServer(`CREATE DATABASE ${name}`);
  const { host, port, user } = POSTGRES.connection;
  return {
    url: `postgresql://${user}@${host}:${port}/${name}`,
    drop: async () => {
      // pools have ended before their sessions have: a session that is ended by force is an error that no listener gets
      await onServer(`DROP DATABASE IF EXISTS ${name}`).catch(() =>
        onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
      );
    },
  };
}

async function onServer(sql: string): Promise<void> {
  const client = new Client(POSTGRES.connection);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
