// Builds and starts the processes that are measured.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
// where Node finds the packages of the project
const folder = join(root, 'node_modules/.cache/advisor-chain', `bench-${process.pid}`);

/**
 * Builds what is measured, once, so that all processes run the same code. What tsx makes of it would not do: it calls a function of its
 * own for each closure that is made.
 */
export async function buildProcesses(): Promise<() => void> {
  const entryPoints = ['worker', 'server', 'allocation'].map((name) =>
    join(root, 'bench/observability', `${name}.ts`),
  );
  await build({
    entryPoints,
    outdir: folder,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outExtension: { '.js': '.mjs' },
    sourcemap: true,
  });
  return () => rmSync(folder, { recursive: true, force: true });
}

/** A process of ours: answers each question with one message. */
export class Process {
  private constructor(private readonly child: ChildProcess) {}

  /** Starts one and waits for its first message. */
  static async start(
    name: string,
    args: readonly string[] = [],
    flags: readonly string[] = [],
  ): Promise<{ readonly process: Process; readonly first: unknown }> {
    const child = fork(join(folder, `${name}.mjs`), args, { execArgv: ['--expose-gc', ...flags] });
    const started = new Process(child);
    return { process: started, first: await started.answer() };
  }

  ask(question: string | readonly number[]): Promise<unknown> {
    this.child.send(question);
    return this.answer();
  }

  stop(): void {
    this.child.removeAllListeners('exit');
    this.child.kill();
  }

  private async answer(): Promise<unknown> {
    const ended = new AbortController();
    const exit = once(this.child, 'exit', { signal: ended.signal }).then(() => {
      throw new Error(`a process ended: ${this.child.spawnargs.slice(2).join(' ')}`);
    });
    exit.catch(() => undefined);
    const message = once(this.child, 'message') as Promise<readonly unknown[]>;
    const [answer] = (await Promise.race([message, exit])) as readonly unknown[];
    ended.abort();
    return answer;
  }
}
