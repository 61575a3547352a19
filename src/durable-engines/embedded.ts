import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DurableTurnError } from '../errors/durable-errors.js';
import { InvalidArgumentError } from '../errors.js';
import {
  checkOption,
  checkOptions,
  FUNCTION,
  PLAIN_OBJECT,
  TEXT,
  WAIT,
} from '../internal/options.js';
import { BYE, HOST } from './embedded/control.js';
import { findServer, LOG, startServer, type LivingServer } from './embedded/server-process.js';

/** Options of {@link embeddedDatabase}. */
export interface EmbeddedDatabaseOptions {
  /** Folder of the database; made if it is missing. On a local disk, not a network drive. */
  readonly directory: string;
  /** Milliseconds that the process of the database lives on without an application. @default 10,000 */
  readonly idleTimeout?: number | undefined;
  /** Called when the process of the database has ended unexpectedly, and runs again. */
  readonly onRestart?: (() => void) | undefined;
}

/** A database in a process of its own, for applications on one machine. */
export interface EmbeddedDatabase {
  /** Connection string for `pg` and DBOS; stays the same while this machine uses the directory. */
  readonly url: string;
  /** Settings for `DBOS.setConfig`: the address, and a small pool. */
  readonly dbosConfig: EmbeddedDbosConfig;
  /** Lets the process of the database end, if no other application uses it. Close DBOS before. */
  close(): Promise<void>;
}

/** Settings of DBOS for a database with one session. */
export interface EmbeddedDbosConfig {
  readonly systemDatabaseUrl: string;
  readonly systemDatabasePoolSize: number;
  readonly systemDatabaseIdleTransactionTimeoutMs: number;
}

const WHERE = 'embeddedDatabase';
const IDLE_TIMEOUT = 10_000;
/** Pause in milliseconds before the next attempt to start the process again. */
const PAUSE = 1000;

/**
 * Opens a database in a folder, for durable turns without a server: PGlite in a process of its own,
 * which all applications of this machine with this folder share, and which is started again if it
 * ends. What was committed survives the end of any process, but not a power failure.
 *
 * @throws {@link InvalidArgumentError} if an option breaks its rule, or `@electric-sql/pglite` is not installed
 * @throws {@link DurableTurnError} if the process cannot start
 */
export async function embeddedDatabase(
  options: EmbeddedDatabaseOptions,
): Promise<EmbeddedDatabase> {
  checkOption(WHERE, 'options', options, PLAIN_OBJECT);
  checkOption(WHERE, 'directory', options.directory, TEXT);
  checkOptions(WHERE, options, { idleTimeout: WAIT, onRestart: FUNCTION });
  checkPackage();
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const database = new ProcessDatabase(resolve(options.directory), options);
  await database.open();
  return database;
}

class ProcessDatabase implements EmbeddedDatabase {
  private server: LivingServer | undefined;
  private isClosed = false;

  constructor(
    private readonly directory: string,
    private readonly options: EmbeddedDatabaseOptions,
  ) {}

  get url(): string {
    const { port, token } = (this.server as LivingServer).address;
    return `postgresql://postgres:${token}@${HOST}:${port}/postgres`;
  }

  get dbosConfig(): EmbeddedDbosConfig {
    return {
      systemDatabaseUrl: this.url,
      systemDatabasePoolSize: 5,
      systemDatabaseIdleTransactionTimeoutMs: 0,
    };
  }

  async open(): Promise<void> {
    const { idleTimeout = IDLE_TIMEOUT } = this.options;
    try {
      this.server = await findServer(this.directory, () =>
        startServer(this.directory, serverFile(), idleTimeout),
      );
    } catch (error) {
      const log = resolve(this.directory, LOG);
      const message = `The process of the embedded database in ${this.directory} could not start; see ${log}.`;
      throw new DurableTurnError(message, { cause: error });
    }
    this.server.control.once('close', () => void this.restart());
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const { control } = this.server as LivingServer;
    if (control.closed) return;
    control.ref();
    const closed = new Promise((done) => control.once('close', done));
    control.write(BYE);
    await closed;
  }

  private async restart(): Promise<void> {
    while (!this.isClosed)
      try {
        await this.open();
        if (this.isClosed) return await this.close();
        return this.options.onRestart?.();
      } catch {
        // clients of the database report that it does not answer; it may be possible to start it later
        await new Promise((done) => setTimeout(done, PAUSE).unref());
      }
  }
}

function checkPackage(): void {
  try {
    createRequire(import.meta.url).resolve('@electric-sql/pglite');
  } catch (cause) {
    const text = `${WHERE} needs the package @electric-sql/pglite: npm install @electric-sql/pglite@^0.5`;
    throw new InvalidArgumentError(text, { cause });
  }
}

/** The program of the process; as a source it needs the loader of this one. */
function serverFile(): { readonly file: string; readonly loader: readonly string[] } {
  if (!import.meta.url.endsWith('.ts'))
    return { file: fileURLToPath(new URL('./embedded-server.js', import.meta.url)), loader: [] };
  const file = fileURLToPath(new URL('./embedded-server.ts', import.meta.url));
  return { file, loader: ['--import', 'tsx'] };
}
