import { InvalidArgumentError } from '../../src/core/errors/errors.js';

/** A part of a regular expression, without capturing groups. */
export interface PatternPart {
  readonly all: string;
  /**
   * Matches where the part, or the beginning of it, reaches the end of the text: more text could
   * change the result. Undefined if no text after it matters.
   */
  readonly open: string | undefined;
  /** Maximum number of UTF-16 units that it matches or looks at. */
  readonly width: number;
}

const AT_END = '(?![^])';
const NOTHING: PatternPart = { all: '', open: undefined, width: 0 };

const GROUP = /\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?(?!\?)/y;
const CLASS = /\[(?:\\[^]|[^\]\\])*\]/y;
const ESCAPE = /\\(?:[pPu]\{[^}]*\}|x[\da-fA-F]{2}|u[\da-fA-F]{4}|c[a-zA-Z]|[^])/y;
const BACK_REFERENCE = /\\[1-9k]/y;
const ASSERTION = /\\[bB]|[$^]/y;
const QUANTIFIER = /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y;
const SIGNS: Readonly<Record<string, readonly [min: number, max: number]>> = {
  '*': [0, Infinity],
  '+': [1, Infinity],
  '?': [0, 1],
};

/**
 * Reads a regular expression, and makes another one of it that finds where it is undecided, so that
 * a text can be searched before it is complete.
 * @throws {@link InvalidArgumentError} if its result could depend on text that is not there any more,
 * or it could take exponential time
 */
export class OpenPattern {
  private at = 0;
  private readonly source: string;
  private readonly characterWidth: number;

  constructor(
    private readonly where: string,
    private readonly pattern: RegExp,
    private readonly maxLookBehind: number,
  ) {
    this.source = pattern.source;
    this.characterWidth = pattern.unicode ? 2 : 1;
  }

  parse(): PatternPart {
    if (this.pattern.flags.includes('v')) this.reject('has the flag v', 'Use the flag u');
    return this.alternatives();
  }

  private alternatives(): PatternPart {
    const parts = [this.sequence()];
    while (this.take(/\|/y)) parts.push(this.sequence());
    if (parts.length === 1) return parts[0] as PatternPart;
    const open = parts.flatMap((part) => part.open ?? []);
    return {
      all: `(?:${parts.map(({ all }) => all).join('|')})`,
      open: open.length > 0 ? `(?:${open.join('|')})` : undefined,
      width: Math.max(...parts.map(({ width }) => width)),
    };
  }

  private sequence(): PatternPart {
    const parts: PatternPart[] = [];
    while (this.at < this.source.length && !/[|)]/.test(this.source[this.at] as string))
      parts.push(this.quantified());
    return parts.reduceRight(
      (rest, { all, open, width }) => ({
        all: all + rest.all,
        open: alternatives(open, rest.open && all + rest.open),
        width: width + rest.width,
      }),
      NOTHING,
    );
  }

  private quantified(): PatternPart {
    const part = this.assertion() ?? this.group() ?? this.character();
    const found = this.take(QUANTIFIER);
    if (!found) return part;
    const [text, low, comma, high] = found;
    const sign = text.replace(/(.)\?$/, '$1');
    const [min, max] = SIGNS[sign] ?? [Number(low), Number(high || (comma ? Infinity : low))];
    if (max === Infinity && part.width === Infinity)
      this.reject(
        'repeats a repetition without bound, which may take exponential time',
        'Bound the inner one, as in {1,64}',
      );
    const before = max === Infinity ? `(?:${part.all})*` : `(?:${part.all}){0,${max - 1}}`;
    return {
      all: `(?:${part.all})${min === 0 && max === 0 ? '{0}' : text}`,
      open: part.open && max > 0 ? (max > 1 ? before : '') + part.open : undefined,
      width: max === 0 ? 0 : max * part.width,
    };
  }

  private assertion(): PatternPart | undefined {
    const found = this.take(ASSERTION)?.[0];
    if (found === undefined) return undefined;
    return { all: found, open: found === '^' ? undefined : AT_END, width: 1 };
  }

  private group(): PatternPart | undefined {
    const start = this.take(GROUP)?.[0];
    if (start === undefined) {
      if (this.source[this.at] === '(') this.reject('has flags inside', 'Give flags to the whole');
      return undefined;
    }
    const part = this.alternatives();
    this.at++; // the parenthesis that closes it
    if (start === '(?=' || start === '(?!') return { ...part, all: `${start}${part.all})` };
    if (start !== '(?<=' && start !== '(?<!') return { ...part, all: `(?:${part.all})` };
    if (part.width > this.maxLookBehind)
      this.reject(
        `looks behind for more than ${this.maxLookBehind} characters`,
        'Use a shorter condition',
      );
    return { all: `${start}${part.all})`, open: undefined, width: 0 };
  }

  private character(): PatternPart {
    if (this.take(BACK_REFERENCE))
      this.reject('has a back reference, which a stream cannot decide', 'Write out what is meant');
    const known = this.take(ESCAPE) ?? this.take(CLASS);
    const all = known?.[0] ?? this.take(this.pattern.unicode ? /[^]/uy : /[^]/y)?.[0] ?? '';
    return { all, open: AT_END, width: this.characterWidth };
  }

  private take(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.at;
    const found = expression.exec(this.source);
    this.at += found?.[0].length ?? 0;
    return found;
  }

  private reject(problem: string, advice: string): never {
    throw new InvalidArgumentError(
      `${this.where}: the pattern /${this.source}/ ${problem}. ${advice}, or check the text with a function.`,
    );
  }
}

function alternatives(one: string | undefined, other: string | undefined): string | undefined {
  return one && other ? `(?:${one}|${other})` : (one ?? other);
}
