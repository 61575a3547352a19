import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddedDatabase } from '../../src/engines/embedded/embedded.js';
import { bundleWorker } from './bundle-worker.js';
import { KillLane } from './kill-lane.js';
import { KillModelServer } from './kill-model-server.js';
import type { WorkerSettings } from './kill-worker.js';
import { createPostgresDatabase } from './postgres-database.js';

/** A kind of turn that is killed. */
export type LaneOptions = Pick<
  WorkerSettings,
  'mode' | 'isMemoryInside' | 'onUnknown' | 'steering'
> & {
  /** @default 'PostgreSQL' */
  readonly store?: Store;
};

export const STORES = ['PostgreSQL', 'the embedded database'] as const;
export type Store = (typeof STORES)[number];

interface Database {
  readonly url: string;
  readonly database: WorkerSettings['database'];
  readonly close: () => Promise<void>;
}

/** The files and servers of tests that kill processes. */
export class KillSetting {
  private readonly cleanups: (() => Promise<unknown>)[] = [];
  private readonly databases = new Map<Store, Promise<Database>>();
  private lanes = 0;

  private constructor(
    private readonly folder: string,
    private readonly worker: string,
    private readonly server: KillModelServer,
  ) {}

  /** Opens databases at once: the embedded one takes seconds. */
  static async create(...stores: readonly Store[]): Promise<KillSetting> {
    const folder = await mkdtemp(join(tmpdir(), 'advisor-chain-kill-'));
    const worker = await bundleWorker('kill-worker');
    const setting = new KillSetting(folder, worker, await KillModelServer.start());
    // the lanes report a failure
    for (const store of stores) setting.databaseOf(store).catch(() => undefined);
    return setting;
  }

  async openLane({ store = 'PostgreSQL', ...options }: LaneOptions): Promise<KillLane> {
    const lane = `lane${this.lanes++}`;
    const path = join(this.folder, lane);
    const { url, database } = await this.databaseOf(store);
    const files = { effectsFile: `${path}.effects`, memoryFile: `${path}.memory` };
    const settings = { ...options, ...files, database, baseURL: this.server.baseURL, lane };
    const opened = await KillLane.open(this.worker, settings, url, this.server);
    this.cleanups.push(() => opened.close());
    // the first turn of a process has places that later ones have not
    await opened.runWhole();
    return opened;
  }

  /** Ends all processes of the lanes. */
  async closeLanes(): Promise<void> {
    for (const cleanup of this.cleanups.splice(0).reverse()) await cleanup();
  }

  async close(): Promise<void> {
    for (const opened of this.databases.values()) await (await opened).close();
    await this.server.close();
    await rm(this.folder, { recursive: true });
    await rm(this.worker);
  }

  /** One database for all lanes: their turns have other ids. */
  private databaseOf(store: Store): Promise<Database> {
    const opened = this.databases.get(store) ?? OPEN[store](join(this.folder, 'database'));
    this.databases.set(store, opened);
    return opened;
  }
}

const OPEN: Readonly<Record<Store, (directory: string) => Promise<Database>>> = {
  PostgreSQL: async () => {
    const { url, drop } = await createPostgresDatabase();
    return { url, database: { url }, close: drop };
  },
  'the embedded database': async (directory) => {
    const opened = await embeddedDatabase({ directory, idleTimeout: 1000 });
    return { url: opened.url, database: { directory }, close: () => opened.close() };
  },
};
