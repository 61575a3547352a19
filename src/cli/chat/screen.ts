import { styleText } from 'node:util';
import type { OutputStream } from '../terminal.js';

/** The output of a chat. */
export interface ScreenOptions {
  /** Answers. */
  readonly output: OutputStream;
  /** Everything else: the same stream on a terminal, standard error if answers go to a file or a program. */
  readonly notes: OutputStream & { readonly columns?: number | undefined };
  /** True if answers are shown as they arrive, with marks for what became void. */
  readonly isLive: boolean;
  readonly hasColors: boolean;
  /** True if a line can be erased again. */
  readonly canErase: boolean;
}

type Style = 'dim' | 'red' | 'yellow' | 'bold' | 'cyan';

const WIDTH = 80;

/** Writes answers and notes, each note on lines of its own. */
export class Screen {
  readonly isLive: boolean;
  private isInLine = false;
  private isWaiting = false;
  private isHeld = false;
  private held: (() => void)[] = [];

  constructor(private readonly options: ScreenOptions) {
    this.isLive = options.isLive;
  }

  get width(): number {
    const { columns = 0 } = this.options.notes; // 0 where a terminal has no size, as of `docker exec -t`
    return columns > 0 ? columns : WIDTH;
  }

  style(style: Style, text: string): string {
    // the stream is chosen by the caller: NO_COLOR and the kind of the output are known then
    return this.options.hasColors ? styleText(style, text) : text;
  }

  /** Writes a piece of an answer. */
  answer(text: string, style?: Style): void {
    if (text === '') return;
    this.write(() => {
      // text of a model is no command for the terminal
      const shown = this.isLive ? printable(text) : text;
      this.options.output.write(style ? this.style(style, shown) : shown);
      this.isInLine = !text.endsWith('\n');
    });
  }

  /** Shows that an answer is under way, until the next output. */
  showWaiting(): void {
    if (!this.options.canErase || this.isInLine || this.isWaiting || this.isHeld) return;
    this.options.output.write(this.style('dim', '…'));
    this.isWaiting = true;
  }

  /** Ends the line of an answer. */
  endLine(): void {
    this.write(() => this.breakLine());
  }

  /** Writes a note on lines of its own. */
  note(text: string, style: Style = 'dim'): void {
    this.write(() => {
      if (this.isLive) this.breakLine();
      this.options.notes.write(`${this.style(style, printable(text))}\n`);
    });
  }

  /** Writes a text that may have styles, on lines of its own. */
  print(text: string): void {
    this.write(() => {
      if (this.isLive) this.breakLine();
      this.options.notes.write(`${text}\n`);
    });
  }

  /** Writes a part of a question. */
  printNow(text: string): void {
    this.options.notes.write(`${text}\n`);
  }

  /** Holds the output back while a question is the last line, and writes it at the end. */
  async holdDuring<T>(work: () => Promise<T>): Promise<T> {
    this.endLine();
    this.isHeld = true;
    try {
      return await work();
    } finally {
      this.isHeld = false;
      for (const write of this.held.splice(0)) write();
    }
  }

  private breakLine(): void {
    if (this.isInLine) this.options.output.write('\n');
    this.isInLine = false;
  }

  private write(write: () => void): void {
    if (this.isHeld) return void this.held.push(write);
    if (this.isWaiting) this.options.output.write('\r\u001b[K');
    this.isWaiting = false;
    write();
  }
}

/** Replaces control characters, which could move the cursor, change colours or write to the clipboard. */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(/[^\P{Cc}\n\t]/gu, '�');
}

/** A text on one line, cut to a width. */
export function inOneLine(text: string, width: number): string {
  const line = text.replaceAll(/\s+/gu, ' ').trim();
  return line.length > width ? `${line.slice(0, Math.max(width - 1, 1))}…` : line;
}
