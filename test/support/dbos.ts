import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DBOS } from '@dbos-inc/dbos-sdk';
import type { Context } from 'mocha';
import { Client } from 'pg';
import { embeddedDatabase } from '../../src/engines/embedded/embedded.js';
import { createPostgresDatabase, type PostgresDatabase } from './postgres-database.js';
import { hasServer, POSTGRES } from './servers.js';
import { SILENT } from './silent-logger.js';

async function openPostgres(context: Context): Promise<PostgresDatabase> {
  await hasServer(context, POSTGRES);
  return createPostgresDatabase();
}

/** An embedded database in a folder of its own. */
export async function openEmbedded(): Promise<PostgresDatabase> {
  const directory = mkdtempSync(join(tmpdir(), 'advisor-chain-turns-'));
  const database = await embeddedDatabase({ directory });
  return {
    url: database.url,
    drop: async () => {
      await database.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** DBOS in this process, with a database of its own. */
export class TestDbos {
  private constructor(
    readonly database: PostgresDatabase,
    private readonly client: Client,
  ) {}

  /** Launches it with the turns that `create` makes. @param open skips the tests without PostgreSQL, if it is not given */
  static async launch(
    context: Context,
    create: () => void,
    open: (context: Context) => Promise<PostgresDatabase> = openPostgres,
  ): Promise<TestDbos> {
    const database = await open(context);
    create();
    DBOS.setConfig({ name: 'test', systemDatabaseUrl: database.url, logger: SILENT });
    await DBOS.launch();
    const client = new Client(database.url);
    client.on('error', () => undefined); // the database may be dropped first
    await client.connect();
    return new TestDbos(database, client);
  }

  async query(sql: string, ...values: readonly unknown[]): Promise<readonly unknown[]> {
    return (await this.client.query(sql, [...values])).rows;
  }

  /** Ends the execution of a turn as the end of its process does: it records nothing more. */
  async interrupt(turnId: string): Promise<void> {
    await this.query(
      `UPDATE dbos.workflow_status SET owner_xid = 'dead', executor_id = 'dead'
        WHERE workflow_uuid = $1`,
      turnId,
    );
  }

  /** Continues an interrupted turn, as the start of its process does. */
  async recover(turnId: string): Promise<void> {
    await this.query(
      `UPDATE dbos.workflow_status SET owner_xid = NULL, status = 'ENQUEUED',
              queue_name = coalesce(queue_name, '_dbos_internal_queue')
        WHERE workflow_uuid = $1`,
      turnId,
    );
  }

  async stop(): Promise<void> {
    await DBOS.shutdown({ deregister: true });
    await this.client.end();
    await this.database.drop();
  }
}
