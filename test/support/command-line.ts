import { PassThrough } from 'node:stream';
import type { Command } from '../../src/cli/command.js';
import { program } from '../../src/cli/commands.js';
import { runProgram } from '../../src/cli/run-program.js';
import { Terminal } from '../../src/cli/terminal.js';

export interface CommandLineOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Text of the input, all at once. */
  readonly input?: string;
  /** True for terminals in place of pipes. */
  readonly isTTY?: boolean;
  readonly signal?: AbortSignal;
  readonly root?: Command;
  /** Called with all output so far, at each write. */
  readonly onOutput?: (text: string) => void;
}

export interface CommandLineResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line within this process. */
export async function runCommandLine(
  argv: readonly string[],
  options: CommandLineOptions = {},
): Promise<CommandLineResult> {
  const { env = {}, cwd = process.cwd(), input = '', isTTY = false, onOutput } = options;
  const written = { out: '', err: '' };
  const stream = (name: 'out' | 'err') => ({
    isTTY,
    write: (text: string) => {
      written[name] += text;
      onOutput?.(written.out + written.err);
    },
  });
  const stdin = Object.assign(new PassThrough(), { isTTY });
  if (isTTY) stdin.write(input);
  else stdin.end(input);
  const terminal = new Terminal({
    input: stdin,
    output: stream('out'),
    errors: stream('err'),
    env,
    cwd,
    signal: options.signal ?? new AbortController().signal,
  });
  const code = await runProgram(options.root ?? program, argv, terminal);
  return { code, ...written };
}
