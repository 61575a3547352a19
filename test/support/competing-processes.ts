import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A process of a test, which prints `ready`, waits for a line, and then prints others. */
export interface Competitor {
  readonly child: ChildProcess;
  /** Lets it begin. */
  readonly start: () => void;
  /** Resolves with its exit code. */
  readonly exit: Promise<number | null>;
}

/** Starts a process, and resolves when it is ready. */
export function startCompetitor(
  args: readonly string[],
  onLine: (line: string) => void,
): Promise<Competitor> {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
  const start = (): void => void child.stdin.write('start\n');
  return new Promise((resolve, reject) => {
    void exit.then((code) => reject(new Error(`ended with ${code} before it was ready`)));
    createInterface(child.stdout).on('line', (line) => {
      if (line === 'ready') resolve({ child, start, exit });
      else onLine(line);
    });
  });
}
