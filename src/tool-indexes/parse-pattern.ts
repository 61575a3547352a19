import { PatternReader, type Problems } from './pattern-reader.js';

/** A position relative to the ends of the text or to the edges of a word. */
export type Assertion = 'text-start' | 'text-end' | 'word-edge' | 'no-word-edge';

/** Syntax tree of a pattern; `accepts` is the source of a `RegExp` for one character. */
export type Syntax =
  | { readonly type: 'character'; readonly accepts: string }
  | { readonly type: 'assertion'; readonly assertion: Assertion }
  | { readonly type: 'sequence'; readonly parts: readonly Syntax[] }
  | { readonly type: 'alternatives'; readonly choices: readonly Syntax[] }
  | { readonly type: 'repeat'; readonly body: Syntax; readonly min: number; readonly max: number };

const { raw } = String;

const MAX_LENGTH = 200;
const MAX_DEPTH = 50;
const MAX_COUNT = 200;

const GROUP = /\((?:\?(?:i?:|P?<[a-z_]\w*>))?/iy;
const QUANTIFIER = /[*+?]|\{(\d+)(,(\d*))?\}/y;
const ASSERTION = /[$^]|\\[AzZbB]/y;
const ASSERTIONS: ReadonlyMap<string, Assertion> = new Map([
  ['^', 'text-start'],
  [raw`\A`, 'text-start'],
  [raw`\b`, 'word-edge'],
  [raw`\B`, 'no-word-edge'],
]);
/** Escapes for several characters, which `RegExp` has too. */
const CHARACTER_SET = /\\(?:[dDwWsS]|[pP]\{(?:L|Lu|Ll|N|Nd|P|S)\})/y;
const CHARACTER_CODE = /x([\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]{1,8})\}/y;
const CONTROLS: ReadonlyMap<string, number> = new Map(
  Object.entries({ t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 }),
);
const BACKSPACE = 8;
const HYPHEN = 0x2d;

const PROBLEMS = {
  largeCount: `repeats more than ${MAX_COUNT} times. Use a smaller count, or * or +`,
  reversedCounts: 'has reversed counts. Write the smaller count first',
  possessive: 'has a possessive quantifier, which is not supported. Leave out the second +',
  emptyClass: raw`has an empty class. Write what it accepts, or \[ and \] for brackets`,
  openClass: raw`has a class that is not closed. Add the ], or write \[ for a bracket`,
  reversedRange: raw`has a reversed range. Write the lower character first, or \- for a hyphen`,
} as const;

const BACK_REFERENCE = 'has a back reference, which is not supported. Write out what is meant';
const GROUP_PROBLEMS: Problems = [
  [
    /\(\?<?[=!]/y,
    'looks ahead or behind, which is not supported. Search for the text itself; use | for alternatives',
  ],
  [/\(\?P=/y, BACK_REFERENCE],
  [/\(\?>/y, 'has an atomic group, which is not supported. Write (?: instead'],
  [
    /\(\?/y,
    'has an unknown kind of group. Use ( ), (?: ), (?<name> ), or (?i) at the very start; case is always ignored',
  ],
];
const ESCAPE_PROBLEMS: Problems = [
  [/\\$/y, raw`has a backslash with nothing after it. Write \\ for a backslash`],
  [/\\[1-9k]/y, BACK_REFERENCE],
  [
    /\\[xu]/y,
    raw`has a malformed character code. Write \x41, \u0041 or \u{1F600}, or the character itself`,
  ],
  [
    /\\p/iy,
    raw`has an unknown Unicode property. Use \p{L}, \p{Lu}, \p{Ll}, \p{N}, \p{Nd}, \p{P} or \p{S}, or a class such as [a-z]`,
  ],
];

/** @throws {@link InvalidArgumentError} if a pattern is malformed or its search would need backtracking */
export function parsePattern(source: string): Syntax {
  return new PatternParser(source).parse();
}

class PatternParser extends PatternReader {
  parse(): Syntax {
    const { length } = this.source;
    if (length > MAX_LENGTH)
      this.reject(
        `is ${length} characters long. Write at most ${MAX_LENGTH}; search for less, or search several times`,
      );
    this.accept('(?i)');
    const syntax = this.parseAlternatives(0);
    if (!this.atEnd) this.rejectUnescaped('has a parenthesis that was not opened', ')');
    return syntax;
  }

  private parseAlternatives(depth: number): Syntax {
    const choices = [this.parseSequence(depth)];
    while (this.accept('|')) choices.push(this.parseSequence(depth));
    return { type: 'alternatives', choices };
  }

  private parseSequence(depth: number): Syntax {
    const parts: Syntax[] = [];
    while (!this.atEnd && !this.startsWith('|') && !this.startsWith(')'))
      parts.push(this.parsePart(depth));
    return { type: 'sequence', parts };
  }

  private parsePart(depth: number): Syntax {
    this.rejectQuantifier('has a quantifier with nothing to repeat');
    const found = this.match(ASSERTION);
    if (!found) return this.parseQuantifier(this.parseAtom(depth));
    this.rejectQuantifier('repeats a place, not characters');
    return { type: 'assertion', assertion: ASSERTIONS.get(found[0]) ?? 'text-end' };
  }

  private parseAtom(depth: number): Syntax {
    if (this.startsWith('(')) return this.parseGroup(depth + 1);
    if (this.startsWith(']')) this.rejectUnescaped('has a bracket that was not opened', ']');
    if (this.accept('.')) return { type: 'character', accepts: '.' };
    const accepts = this.startsWith('[') ? this.parseClass() : sourceOf(this.parseCharacter());
    return { type: 'character', accepts };
  }

  private parseGroup(depth: number): Syntax {
    const start = this.position;
    if (depth > MAX_DEPTH)
      this.reject(`nests more than ${MAX_DEPTH} groups. Leave out the groups that are not needed`);
    this.match(GROUP);
    if (this.startsWith('?')) this.rejectAs(GROUP_PROBLEMS, start);
    const body = this.parseAlternatives(depth);
    if (!this.accept(')'))
      this.rejectUnescaped('has a group that is not closed. Add the )', '(', start);
    return body;
  }

  private parseQuantifier(body: Syntax): Syntax {
    const start = this.position;
    const found = this.match(QUANTIFIER);
    if (!found) return body;
    const { min, max } = countsOf(found);
    if ((max === Infinity ? min : max) > MAX_COUNT) this.reject(PROBLEMS.largeCount, start);
    if (min > max) this.reject(PROBLEMS.reversedCounts, start);
    this.accept('?'); // a lazy quantifier matches the same texts
    if (this.startsWith('+')) this.reject(PROBLEMS.possessive, start);
    this.rejectQuantifier('has a quantifier after a quantifier');
    return { type: 'repeat', body, min, max };
  }

  /** Reads a class as the source of a `RegExp`. */
  private parseClass(): string {
    const start = this.position++;
    let source = this.accept('^') ? '[^' : '[';
    if (this.startsWith(']')) this.reject(PROBLEMS.emptyClass, start);
    while (!this.accept(']')) {
      if (this.atEnd) this.reject(PROBLEMS.openClass, start);
      source += this.parseClassItem();
    }
    return `${source}]`;
  }

  /** Reads a character, a set or a range; a hyphen beside a set such as `\w` is a hyphen. */
  private parseClassItem(): string {
    const start = this.position;
    const first = this.parseClassMember();
    if (!this.match(/-(?=[^\]])/y)) return sourceOf(first);
    const last = this.parseClassMember();
    if (typeof first === 'string' || typeof last === 'string')
      return [first, HYPHEN, last].map(sourceOf).join('');
    if (first > last) this.reject(PROBLEMS.reversedRange, start);
    return `${sourceOf(first)}-${sourceOf(last)}`;
  }

  private parseClassMember(): number | string {
    return this.accept(raw`\b`) ? BACKSPACE : this.parseCharacter();
  }

  /** Reads a character as its code point, or an escape for several characters as its source. */
  private parseCharacter(): number | string {
    const start = this.position;
    const set = this.match(CHARACTER_SET);
    if (set) return set[0];
    if (!this.accept('\\')) return this.readCodePoint();
    const digits = this.match(CHARACTER_CODE)?.slice(1).join('');
    if (digits !== undefined) {
      const code = Number.parseInt(digits, 16);
      return code <= 0x10ffff ? code : this.rejectAs(ESCAPE_PROBLEMS, start);
    }
    const letter = this.source.charAt(this.position);
    const control = CONTROLS.get(letter);
    if (control === undefined && /^[a-z\d]?$/i.test(letter)) this.rejectEscape(letter, start);
    const code = this.readCodePoint();
    return control ?? code;
  }

  private rejectQuantifier(problem: string): void {
    const start = this.position;
    const found = this.match(QUANTIFIER);
    if (found)
      this.reject(`${problem}. Remove it, or write \\${found[0]} for the text itself`, start);
  }

  private rejectUnescaped(problem: string, character: string, position = this.position): never {
    return this.reject(`${problem}. Write \\${character} for the character itself`, position);
  }

  private rejectEscape(letter: string, start: number): never {
    const meaningless = `has an escape that means nothing here, \\${letter}`;
    return this.rejectAs(
      [...ESCAPE_PROBLEMS, [/\\/y, `${meaningless}. Write ${letter} without the backslash`]],
      start,
    );
  }
}

function countsOf([text, min, comma, max]: RegExpExecArray): { min: number; max: number } {
  if (min === undefined) return { min: text === '+' ? 1 : 0, max: text === '?' ? 1 : Infinity };
  if (comma === undefined) return { min: Number(min), max: Number(min) };
  return { min: Number(min), max: max ? Number(max) : Infinity };
}

function sourceOf(member: number | string): string {
  return typeof member === 'string' ? member : raw`\u{${member.toString(16)}}`;
}
