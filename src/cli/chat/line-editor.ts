import { createInterface, type Interface } from 'node:readline';
import { StringDecoder } from 'node:string_decoder';
import type { Writable } from 'node:stream';
import { KeyStream, type KeySource } from './key-stream.js';

/** The result of reading a line: `end` is Ctrl-D or the end of the input, `interrupt` Ctrl-C without a text. */
export type Line =
  | { readonly type: 'line'; readonly text: string }
  | { readonly type: 'end' }
  | { readonly type: 'interrupt' };

/** Settings of a {@link LineEditor}. */
export interface LineEditorOptions {
  readonly input: KeySource;
  readonly output: Writable;
  /** Called for Ctrl-C while no line is read. */
  readonly onInterrupt: () => void;
}

interface Reading {
  readonly prompt: string;
  readonly resolve: (line: Line) => void;
  /** True if a backslash at the end, and a paste, continue the text on the next line. */
  readonly isMultiLine: boolean;
  readonly lines: string[];
}

const INTERRUPT = '\u0003';
const PASTE_START = '\u001b[200~';
const PASTE_END = '\u001b[201~';
const PASTE_MODE = '\u001b[?2004h';
const NO_PASTE_MODE = '\u001b[?2004l';
/** Prompt of a line that continues the one before. */
const CONTINUED = '… ';
const HISTORY = 1_000;

/**
 * Reads lines from a terminal, with history and editing. Between the lines, keys are kept for the next one, but for
 * Ctrl-C. The terminal is in raw mode until the end, so that Ctrl-C ends no program that was started.
 */
export class LineEditor {
  private readonly keys: KeyStream;
  private readonly lines: Interface;
  private readonly decoder = new StringDecoder('utf8');
  private readonly isTerminal: boolean;
  private reading: Reading | undefined;
  /** Keys that were typed while no line was read. */
  private typed = '';
  private isPasting = false;
  private hasEnded = false;

  constructor(private readonly options: LineEditorOptions) {
    const { input, output } = options;
    this.keys = new KeyStream(input);
    this.isTerminal = input.isTTY === true;
    const settings = { historySize: HISTORY, removeHistoryDuplicates: true, terminal: true };
    this.lines = createInterface({ input: this.keys, output, ...settings });
    this.lines.on('line', (line) => this.onLine(line));
    this.lines.on('SIGINT', () => this.onInterrupt());
    this.lines.on('close', () => this.end());
    input.on('data', this.onData);
    input.on('end', this.onEnd);
    input.on('error', this.onEnd);
    if (this.isTerminal) output.write(PASTE_MODE);
  }

  /** True while a line is read: the prompt is the last line of the terminal. */
  get isReading(): boolean {
    return this.reading !== undefined;
  }

  /** Reads a line, or several that belong together. */
  read(prompt: string, options: { readonly isMultiLine: boolean }): Promise<Line> {
    return new Promise((resolve) => {
      if (this.hasEnded) return resolve({ type: 'end' });
      this.reading = { resolve, prompt, lines: [], ...options };
      this.lines.setPrompt(prompt);
      this.lines.prompt();
      const { typed } = this;
      this.typed = '';
      this.feed(typed);
    });
  }

  /** Ends the line that is read, such as a question of a turn that was cancelled. */
  cancel(): void {
    if (!this.reading) return;
    this.clear();
    this.options.output.write('\n');
    this.settle({ type: 'interrupt' });
  }

  /** Restores the terminal. */
  close(): void {
    const { input, output } = this.options;
    input.off('data', this.onData);
    input.off('end', this.onEnd);
    input.off('error', this.onEnd);
    if (this.isTerminal) output.write(NO_PASTE_MODE);
    this.lines.close();
    input.pause();
  }

  private readonly onData = (data: Buffer | string): void => {
    this.feed(typeof data === 'string' ? data : this.decoder.write(data));
  };

  private readonly onEnd = (): void => this.lines.close();

  private feed(keys: string): void {
    let rest = keys;
    while (rest !== '') {
      if (!this.reading) return this.keep(rest);
      const length = this.isPasting ? this.paste(rest) : this.type(rest);
      rest = rest.slice(length);
    }
  }

  /** Keeps keys for the next line. Those before a Ctrl-C are void, as a terminal has it. */
  private keep(keys: string): void {
    const at = keys.lastIndexOf(INTERRUPT);
    this.typed = at < 0 ? this.typed + keys : keys.slice(at + 1);
    if (at >= 0) this.options.onInterrupt();
  }

  /** Passes keys to readline, up to the end of a line or the start of a paste; returns their number. */
  private type(keys: string): number {
    const pasteAt = keys.indexOf(PASTE_START);
    const lineEnd = /[\r\n]/.exec(keys)?.index ?? Infinity;
    if (pasteAt === 0) {
      this.isPasting = true;
      return PASTE_START.length;
    }
    const length = Math.min(pasteAt < 0 ? keys.length : pasteAt, lineEnd + 1);
    this.keys.feed(keys.slice(0, length));
    return length;
  }

  private paste(keys: string): number {
    const end = keys.indexOf(PASTE_END);
    const text = end < 0 ? keys : keys.slice(0, end);
    this.lines.write(text.replaceAll(/\r\n?/g, '\n').replaceAll(/[^\P{Cc}\n\t]/gu, ''));
    if (end < 0) return keys.length;
    this.isPasting = false;
    return end + PASTE_END.length;
  }

  private onLine(line: string): void {
    if (!this.reading) return;
    const { lines, isMultiLine } = this.reading;
    const isContinued = isMultiLine && (this.isPasting || /(?<!\\)(?:\\\\)*\\$/.test(line));
    if (!isContinued) return this.settle({ type: 'line', text: [...lines, line].join('\n') });
    lines.push(this.isPasting ? line : line.slice(0, -1));
    this.lines.setPrompt(CONTINUED);
    this.lines.prompt();
  }

  /** Ctrl-C empties the line; without a text it is a decision of the caller. */
  private onInterrupt(): void {
    if (!this.reading) return;
    if (this.lines.line === '' && this.reading.lines.length === 0) {
      this.options.output.write('\n');
      return this.settle({ type: 'interrupt' });
    }
    this.reading = { ...this.reading, lines: [] };
    this.clear();
    this.lines.setPrompt(this.reading.prompt);
    this.lines.prompt();
  }

  private clear(): void {
    this.lines.write(null, { ctrl: true, name: 'e' });
    this.lines.write(null, { ctrl: true, name: 'u' });
  }

  private end(): void {
    this.hasEnded = true;
    if (this.reading) this.options.output.write('\n');
    this.settle({ type: 'end' });
  }

  private settle(line: Line): void {
    const { reading } = this;
    this.reading = undefined;
    this.isPasting = false;
    reading?.resolve(line);
  }
}
