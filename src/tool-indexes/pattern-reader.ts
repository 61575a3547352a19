import { InvalidArgumentError } from '../errors.js';

/** Problem of the rest of a pattern, with what to write instead, by how the rest starts. */
export type Problems = readonly (readonly [start: RegExp, problem: string])[];

/** Number of characters of the pattern that an error message quotes. */
const EXCERPT = 20;

/** Reads a pattern from left to right; positions count UTF-16 code units from 0. */
export class PatternReader {
  protected position = 0;

  constructor(protected readonly source: string) {}

  protected get atEnd(): boolean {
    return this.position >= this.source.length;
  }

  protected startsWith(text: string): boolean {
    return this.source.startsWith(text, this.position);
  }

  /** Reads a text if the rest of the pattern starts with it. */
  protected accept(text: string): boolean {
    const isNext = this.startsWith(text);
    if (isNext) this.position += text.length;
    return isNext;
  }

  /** Reads what a sticky expression matches; the parser uses only expressions of linear time. */
  protected match(expression: RegExp, position = this.position): RegExpExecArray | null {
    expression.lastIndex = position;
    const found = expression.exec(this.source);
    if (found) this.position = position + found[0].length;
    return found;
  }

  protected readCodePoint(): number {
    const code = this.source.codePointAt(this.position) as number;
    this.position += code > 0xffff ? 2 : 1;
    return code;
  }

  protected rejectAs(problems: Problems, start: number): never {
    const found = problems.find(([expression]) => this.match(expression, start));
    return this.reject(found?.[1] ?? '', start);
  }

  /** @throws {@link InvalidArgumentError} with the position, the problem and what to write instead */
  protected reject(problem: string, position = this.position): never {
    const rest = this.source.slice(position, position + EXCERPT);
    const place =
      rest === ''
        ? `at its end (position ${position})`
        : `at position ${position} (${JSON.stringify(rest)})`;
    throw new InvalidArgumentError(`The pattern cannot be used: ${place} ${problem}.`);
  }
}
