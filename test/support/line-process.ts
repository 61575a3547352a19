import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A process of a test that prints and reads lines. */
export interface LineProcess {
  /** All lines so far. */
  readonly lines: readonly string[];
  /** Resolves once a line was printed. */
  readonly waitFor: (line: string | RegExp) => Promise<string>;
  readonly write: (value: unknown) => void;
  /** Kills it in the middle of whatever it does. */
  readonly kill: () => Promise<void>;
}

/** Starts a TypeScript file in a process of its own. */
export function startLineProcess(file: URL, ...args: readonly string[]): LineProcess {
  const child = spawn(
    process.execPath,
    ['--no-deprecation', '--import', 'tsx', file.pathname, ...args],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const changed = (): void => waiting.forEach((look) => look());
  let hasEnded = false;
  createInterface(child.stdout).on('line', (line) => (lines.push(line), changed()));
  const exit = once(child, 'close').then(() => ((hasEnded = true), changed()));
  const waitFor = async (wanted: string | RegExp): Promise<string> => {
    for (;;) {
      const found = lines.find((line) =>
        typeof wanted === 'string' ? line === wanted : wanted.test(line),
      );
      if (found !== undefined) return found;
      if (hasEnded) throw new Error(`ended before it printed ${String(wanted)}: ${lines.join()}`);
      await new Promise<void>((resolve) => {
        const look = (): void => (waiting.delete(look), resolve());
        waiting.add(look);
      });
    }
  };
  return {
    lines,
    waitFor,
    write: (value) => void child.stdin.write(`${JSON.stringify(value)}\n`),
    kill: async () => {
      child.kill('SIGKILL');
      await exit;
    },
  };
}
