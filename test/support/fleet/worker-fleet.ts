import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { bundleWorker } from '../bundle-worker.js';
import type { FleetConfig } from './fleet-turns.js';

/** Characters of the errors of a process that are kept. */
const MAX_ERRORS = 4000;

/** A worker of a fleet: its id stays the same when its process is started again. */
export class FleetWorker {
  /** Lines that its processes have printed. */
  readonly lines: string[] = [];
  private readonly waiting = new Set<() => void>();
  private child: ChildProcess | undefined;

  constructor(
    readonly id: string,
    private readonly file: string,
    private readonly config: FleetConfig,
  ) {}

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Starts its process; resolves when it runs turns. */
  async start(): Promise<void> {
    const args = [this.file, JSON.stringify(this.config), this.id];
    const child = spawn(process.execPath, args, { stdio: 'pipe' });
    this.child = child;
    let errors = '';
    child.stderr.on('data', (data) => (errors = `${errors}${data}`.slice(-MAX_ERRORS)));
    const lines = createInterface(child.stdout);
    await new Promise<void>((resolve, reject) => {
      lines.on('line', (line) => {
        this.lines.push(line);
        for (const look of this.waiting) look();
        this.waiting.clear();
        if (line === 'ready') resolve();
      });
      child.once('exit', () =>
        reject(new Error(`${this.id} ended before it was ready: ${errors}`)),
      );
    });
  }

  /** Resolves once a line was printed. */
  async printed(line: string): Promise<void> {
    while (!this.lines.includes(line))
      await new Promise<void>((resolve) => this.waiting.add(resolve));
  }

  /** Ends its process by a signal; resolves with its exit code. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return null;
    const exit = once(child, 'exit') as Promise<[number | null]>;
    child.kill(signal);
    return (await exit)[0];
  }
}

/** Processes that run the turns of one queue. */
export class WorkerFleet {
  private constructor(readonly workers: readonly FleetWorker[]) {}

  /** A number of workers that have not started. */
  static async create(count: number, config: FleetConfig): Promise<WorkerFleet> {
    const file = await bundleWorker('fleet/fleet-worker');
    const ids = Array.from({ length: count }, (_, at) => `worker-${at}`);
    return new WorkerFleet(ids.map((id) => new FleetWorker(id, file, config)));
  }

  /** Starts a number of workers. */
  static async start(count: number, config: FleetConfig): Promise<WorkerFleet> {
    const fleet = await WorkerFleet.create(count, config);
    await Promise.all(fleet.workers.map((worker) => worker.start()));
    return fleet;
  }

  async stop(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.end('SIGKILL')));
  }
}
