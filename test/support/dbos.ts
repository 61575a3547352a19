import { DBOS, type DBOSConfig } from '@dbos-inc/dbos-sdk';
import type { Context } from 'mocha';
import { Client } from 'pg';
import { createPostgresDatabase, type PostgresDatabase } from './postgres-database.js';
import { hasServer, POSTGRES } from './servers.js';
import { SILENT } from './silent-logger.js';

/** DBOS in this process, with a database of its own. */
export class TestDbos {
  private constructor(
    readonly database: PostgresDatabase,
    private readonly client: Client,
  ) {}

  /** Launches it with the turns that `create` makes; skips the tests without PostgreSQL. */
  static async launch(
    context: Context,
    create: () => void,
    config: Partial<DBOSConfig> = {},
  ): Promise<TestDbos> {
    await hasServer(context, POSTGRES);
    const database = await createPostgresDatabase();
    create();
    DBOS.setConfig({ name: 'test', systemDatabaseUrl: database.url, logger: SILENT, ...config });
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
