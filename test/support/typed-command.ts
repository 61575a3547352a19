import { PassThrough, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import type * as commands from '../../src/cli/commands.js';
import type * as runner from '../../src/cli/run-program.js';
import type * as terminals from '../../src/cli/terminal.js';

/** Loads a module of the command line as it loads the modules of users: others are a second copy, by tsx. */
async function load<T>(name: string): Promise<T> {
  return (await import(new URL(`../../src/cli/${name}.ts`, import.meta.url).href)) as T;
}

/** Options of a {@link TypedCommand}. */
export interface TypedCommandOptions {
  /** @default true: a person at a terminal */
  readonly isTerminal?: boolean;
  /** @default the same as the input */
  readonly isOutputTerminal?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

class Shown extends Writable {
  raw = '';

  constructor(
    readonly isTTY: boolean,
    private readonly onText: () => void,
  ) {
    super({ decodeStrings: false });
  }

  get text(): string {
    return stripVTControlCharacters(this.raw).replaceAll('\r', '');
  }

  override _write(text: string, _encoding: unknown, done: () => void): void {
    this.raw += text;
    done();
    this.onText();
  }
}

/** A command of the command line in this process, with streams in place of a terminal. */
export class TypedCommand {
  readonly input: PassThrough & { isTTY?: boolean; isRaw?: boolean };
  readonly output: Shown;
  readonly errors: Shown;
  readonly code: Promise<number>;
  private readonly interruption = new AbortController();
  private waiting: (() => void)[] = [];
  private seen = 0;
  private hasEnded = false;

  constructor(argv: readonly string[], options: TypedCommandOptions = {}) {
    const { isTerminal = true, isOutputTerminal = isTerminal, env = {}, cwd = '.' } = options;
    const changed = (): void => this.changed();
    this.input = new PassThrough();
    if (isTerminal) this.input.isTTY = true;
    Object.assign(this.input, { setRawMode: (isRaw: boolean) => (this.input.isRaw = isRaw) });
    this.output = new Shown(isOutputTerminal, changed);
    this.errors = new Shown(isOutputTerminal, changed);
    this.code = this.run(argv, env, cwd);
    void this.code.finally(() => {
      this.hasEnded = true;
      this.changed();
    });
  }

  /** Resolves once a text is on the output, behind those that were waited for. */
  async waitFor(text: string): Promise<void> {
    for (;;) {
      const at = this.output.text.indexOf(text, this.seen);
      if (at >= 0) {
        this.seen = at + text.length;
        return;
      }
      if (this.hasEnded)
        throw new Error(`ended before it showed ${text}:\n${this.output.text}${this.errors.text}`);
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  type(keys: string): void {
    this.input.write(keys);
  }

  enter(line: string): void {
    this.type(`${line}\r`);
  }

  /** The signal of Ctrl-C in a terminal that is not in raw mode. */
  interrupt(): void {
    this.interruption.abort();
  }

  private async run(
    argv: readonly string[],
    env: Readonly<Record<string, string>>,
    cwd: string,
  ): Promise<number> {
    const { program } = await load<typeof commands>('commands');
    const { runProgram } = await load<typeof runner>('run-program');
    const { Terminal } = await load<typeof terminals>('terminal');
    const { input, output, errors } = this;
    const { signal } = this.interruption;
    const terminal = new Terminal({ input, output, errors, env, cwd, signal });
    return await runProgram(program, argv, terminal);
  }

  private changed(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}
