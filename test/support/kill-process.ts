import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { WorkerCommand, WorkerSettings } from './kill-worker.js';

type Line = { readonly kind: string; readonly value: unknown };

/** A process that runs turns, and can end itself at a place. */
export class KillProcess {
  readonly lines: Line[] = [];
  /** The signal or the code that it ended with. */
  readonly exit: Promise<string>;
  private readonly child: ChildProcess;
  private readonly looks = new Set<() => void>();
  private ended: string | undefined;

  /** @param onLine receives each line */
  constructor(file: string, settings: WorkerSettings, onLine: (line: Line) => void) {
    this.child = spawn(process.execPath, ['--no-deprecation', file, JSON.stringify(settings)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    // a process that has ended does not read
    this.child.stdin?.on('error', () => undefined);
    if (this.child.stdout)
      createInterface(this.child.stdout).on('line', (text) => {
        const space = text.indexOf(' ');
        const line = {
          kind: text.slice(0, space),
          value: JSON.parse(text.slice(space)) as unknown,
        };
        this.lines.push(line);
        onLine(line);
        this.look();
      });
    this.exit = once(this.child, 'close').then(([code, signal]) => {
      this.ended = String(signal ?? code);
      this.look();
      return this.ended;
    });
  }

  write(command: WorkerCommand): void {
    this.child.stdin?.write(`${JSON.stringify(command)}\n`);
  }

  /** The first line of a kind since a number of lines; undefined once the process has ended. */
  async next(kinds: readonly string[], since = 0): Promise<Line | undefined> {
    for (;;) {
      const found = this.lines.slice(since).find(({ kind }) => kinds.includes(kind));
      if (found || this.ended !== undefined) return found;
      await new Promise<void>((resolve) => this.looks.add(resolve));
    }
  }

  /** Values of the lines of a kind. */
  valuesOf(kind: string, since = 0): readonly unknown[] {
    return this.lines.slice(since).flatMap((line) => (line.kind === kind ? [line.value] : []));
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exit;
  }

  private look(): void {
    for (const resolve of this.looks) resolve();
    this.looks.clear();
  }
}
