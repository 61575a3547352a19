import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** True if there is `script` of util-linux, which is a part of each Debian. */
export const hasPseudoTerminals = (): boolean =>
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

/** The end of a program in a terminal. */
export interface TerminalEnd {
  readonly code: number;
  /** Settings of the terminal before and after, as `stty -g` prints them. */
  readonly before: string;
  readonly after: string;
  /** Processes of the terminal that outlived the program. */
  readonly left: string;
  readonly output: string;
}

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/**
 * Runs the program, and looks at the terminal before and after it. A process that ends may need a moment, since
 * its parent reaps it.
 */
const RUNNER = `
trap : INT
stty cols 100 rows 30
stty -g > before
(cd "$WORK" && eval "$PROGRAM")
echo $? > code
stty -g > after
round=0
while :; do
  left=
  for each in /proc/[0-9]*; do
    { read -r stat < "$each/stat"; } 2> /dev/null || continue
    set -- \${stat##*) }
    [ "$4" = $$ ] && [ "$each" != "/proc/$$" ] && [ "$1" != Z ] && left="$left $stat"
  done
  [ -z "$left" ] && break
  [ $round -gt 100 ] && break
  round=$((round + 1))
  sleep 0.05
done
echo "$left" > left
`;

const INCOMPLETE = new RegExp(String.raw`${'\u001b'}(?:\[[\d;?]*)?$`);

const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** A program in a pseudo terminal of its own, in which a test reads and types. */
export class PseudoTerminal {
  /** Everything that was written to the terminal. */
  raw = '';
  readonly ended: Promise<TerminalEnd>;
  private readonly child: ChildProcess;
  private readonly waiting = new Set<() => void>();
  private readonly folder = mkdtempSync(join(tmpdir(), 'terminal-'));
  private hasEnded = false;
  /** Place up to which the output was read. */
  private seen = 0;

  constructor(command: readonly string[], { env = {}, cwd = process.cwd() }: Options = {}) {
    writeFileSync(join(this.folder, 'run.sh'), RUNNER);
    this.child = spawn('script', ['-qfec', 'exec sh run.sh', '/dev/null'], {
      cwd: this.folder,
      env: {
        PATH: process.env['PATH'],
        HOME: this.folder,
        TERM: 'xterm',
        SHELL: '/bin/sh',
        ...env,
        WORK: cwd,
        PROGRAM: command.map(quote).join(' '),
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.raw += text;
      this.changed();
    });
    this.child.stdin?.on('error', () => undefined); // it may end before it has read everything
    this.ended = new Promise((resolve, reject) => {
      this.child.once('error', reject);
      this.child.once('close', () => {
        this.hasEnded = true;
        this.changed();
        try {
          resolve(this.result());
        } catch (error) {
          reject(error as Error);
        }
      });
    });
    this.ended.catch(() => undefined); // it is awaited by the test, if it gets there
  }

  /** The texts that were written, without commands to the terminal. */
  get output(): string {
    // a command that has not arrived as a whole
    return stripVTControlCharacters(this.raw.replace(INCOMPLETE, '')).replaceAll('\r', '');
  }

  /** Resolves once a text is shown behind those that were waited for before. */
  async waitFor(wanted: string | RegExp): Promise<string> {
    for (;;) {
      const text = this.output.slice(this.seen);
      const match = typeof wanted === 'string' ? undefined : wanted.exec(text);
      const at = typeof wanted === 'string' ? text.indexOf(wanted) : (match?.index ?? -1);
      const found = typeof wanted === 'string' ? wanted : (match?.[0] ?? '');
      if (at >= 0) {
        this.seen += at + found.length;
        return found;
      }
      if (this.hasEnded)
        throw new Error(`ended before it showed ${String(wanted)}:\n${this.output}`);
      await new Promise<void>((resolve) => this.waiting.add(resolve));
    }
  }

  type(keys: string): void {
    this.child.stdin?.write(keys);
  }

  /** Types a line and the Enter key. */
  enter(line: string): void {
    this.type(`${line}\r`);
  }

  /** Ends it in the middle of whatever it does. */
  async kill(): Promise<void> {
    if (!this.hasEnded) this.child.kill('SIGKILL');
    await this.ended.catch(() => undefined);
  }

  private result(): TerminalEnd {
    const read = (name: string): string => readFileSync(join(this.folder, name), 'utf8').trim();
    try {
      const [before, after, left] = [read('before'), read('after'), read('left')];
      return { code: Number(read('code')), before, after, left, output: this.output };
    } finally {
      rmSync(this.folder, { recursive: true, force: true });
    }
  }

  private changed(): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const resolve of waiting) resolve();
  }
}
