import { InvalidArgumentError } from '../../errors.js';

const EXCERPT = 20;

/** A pattern and how far it has been read; positions count UTF-16 code units from 0. */
export class PatternReader {
  position = 0;

  constructor(readonly source: string) {}

  get done(): boolean {
    return this.position >= this.source.length;
  }

  /** Whether the rest begins with this text. */
  sees(text: string): boolean {
    return this.source.startsWith(text, this.position);
  }

  /** Goes past this text if the rest begins with it. */
  accept(text: string): boolean {
    const seen = this.sees(text);
    if (seen) this.position += text.length;
    return seen;
  }

  /** Goes past what one of our own sticky expressions matches here; they are linear, and never built from the pattern. */
  match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.position;
    const found = expression.exec(this.source) ?? undefined;
    this.position += found?.[0].length ?? 0;
    return found;
  }

  /** Goes past one code point; at the end, which callers exclude, it is 0. */
  codePoint(): number {
    const code = this.source.codePointAt(this.position) ?? 0;
    this.position += code > 0xffff ? 2 : 1;
    return code;
  }

  /** @throws {@link InvalidArgumentError} always: what is wrong, where, and what to write instead */
  refuse(problem: string, instead: string, position = this.position): never {
    const rest = this.source.slice(position, position + EXCERPT);
    const place = rest === '' ? `at its end (position ${position})` : `at position ${position} (${JSON.stringify(rest)})`;
    throw new InvalidArgumentError(`The pattern cannot be used: ${place} ${problem}. ${instead}.`);
  }
}
