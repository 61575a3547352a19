import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorker } from './bundle-worker.js';
import { KillLane } from './kill-lane.js';
import { KillModelServer } from './kill-model-server.js';
import type { WorkerSettings } from './kill-worker.js';
import { createPostgresDatabase } from './postgres-database.js';

/** A kind of turn that is killed. */
export type LaneOptions = Pick<WorkerSettings, 'mode' | 'isMemoryInside' | 'onUnknown'>;

/** The files and servers of tests that kill processes. */
export class KillSetting {
  private readonly cleanups: (() => Promise<unknown>)[] = [];
  private lanes = 0;

  private constructor(
    private readonly folder: string,
    private readonly worker: string,
    private readonly server: KillModelServer,
  ) {}

  static async create(): Promise<KillSetting> {
    const folder = await mkdtemp(join(tmpdir(), 'advisor-chain-kill-'));
    return new KillSetting(
      folder,
      await bundleWorker('kill-worker'),
      await KillModelServer.start(),
    );
  }

  async openLane(options: LaneOptions): Promise<KillLane> {
    const { url, drop } = await createPostgresDatabase();
    this.cleanups.push(drop);
    const lane = `lane${this.lanes++}`;
    const { baseURL } = this.server;
    const settings = { ...options, url, baseURL, effectsFile: join(this.folder, lane), lane };
    const opened = await KillLane.open(this.worker, settings, this.server);
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
    await this.server.close();
    await rm(this.folder, { recursive: true });
    await rm(this.worker);
  }
}
