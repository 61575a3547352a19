import { stripVTControlCharacters, styleText } from 'node:util';

/** A stream of a terminal, a pipe or a test. */
export interface OutputStream {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

/** Streams and settings of a command. */
export interface TerminalOptions {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined };
  readonly output: OutputStream;
  readonly errors: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder that relative paths start from. */
  readonly cwd: string;
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Names of styles of Node.js, such as `dim` and `cyan`. */
export type Style = Parameters<typeof styleText>[0];

/** Input and output of a command: results on `output`, everything else on `errors`. */
export class Terminal {
  readonly input: TerminalOptions['input'];
  readonly output: OutputStream;
  readonly errors: OutputStream;
  readonly env: TerminalOptions['env'];
  readonly cwd: string;
  readonly signal: AbortSignal;
  private isProgressShown = false;

  constructor(options: TerminalOptions) {
    this.input = options.input;
    this.output = options.output;
    this.errors = options.errors;
    this.env = options.env;
    this.cwd = options.cwd;
    this.signal = options.signal;
  }

  /** Resolves at Ctrl-C. */
  interrupted(): Promise<void> {
    return new Promise((resolve) => {
      if (this.signal.aborted) resolve();
      this.signal.addEventListener('abort', () => resolve());
    });
  }

  /** True if questions can be asked. */
  get isInteractive(): boolean {
    return Boolean(this.input.isTTY && this.output.isTTY);
  }

  /** Writes a line of the result. */
  print(text: string): void {
    this.clearProgress();
    this.output.write(`${hasColour(this.output, this.env) ? text : plain(text)}\n`);
  }

  /** Writes a line of information, or of an error. */
  note(text: string): void {
    this.clearProgress();
    this.errors.write(`${hasColour(this.errors, this.env) ? text : plain(text)}\n`);
  }

  /** Shows a line until the next output, on terminals alone. */
  progress(text: string): void {
    if (!this.errors.isTTY || this.env['TERM'] === 'dumb') return;
    this.clearProgress();
    this.errors.write(`… ${plain(text).slice(0, 70)}`);
    this.isProgressShown = true;
  }

  clearProgress(): void {
    if (this.isProgressShown) this.errors.write('\r\u001B[K');
    this.isProgressShown = false;
  }

  /** Styles a text of `print()`; without colour it is unchanged. */
  style(style: Style, text: string): string {
    return hasColour(this.output, this.env) ? styled(style, text) : text;
  }
}

const plain = stripVTControlCharacters;

/** A foreign text without what a terminal would execute: control characters other than line ends and tabs. */
export function visible(text: string): string {
  return plain(text).replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, (each) =>
    each === '\n' || each === '\t' ? each : '\uFFFD',
  );
}

/** Colour is for terminals, and not where `NO_COLOR` is set: https://no-color.org. */
export function hasColour(stream: OutputStream, env: TerminalOptions['env']): boolean {
  return Boolean(stream.isTTY) && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** `styleText` of newer versions of Node.js looks at stdout, which is not always where the text is written. */
function styled(style: Style, text: string): string {
  const options = { validateStream: false } as const;
  return (styleText as (style: Style, text: string, options: object) => string)(
    style,
    text,
    options,
  );
}
