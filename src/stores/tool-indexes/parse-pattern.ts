import { InvalidArgumentError } from '../../core/errors/errors.js';

/** Kind of the character at one side of a position. */
export type CharacterKind = 'edge' | 'word' | 'other';
type Assertion = (before: CharacterKind, after: CharacterKind) => boolean;

/** A state of the search; all have the same fields, which keeps their access fast. */
export interface State {
  readonly type: 'end' | 'character' | 'fork' | 'assertion';
  /** The states that follow. */
  readonly next: State | undefined;
  other: State | undefined;
  /** Index of the set of a character. */
  readonly set: number;
  readonly holds: Assertion | undefined;
  /** Position at which a search was last here; positions of all searches differ. */
  reachedAt: number;
}

/** The states of a pattern, and its sets: expressions for one character. */
export interface Automaton {
  readonly start: State;
  readonly sets: readonly RegExp[];
}

/** Adds the states of a part that continues at `next`, at least one; returns the first of them. */
type Part = (next: State) => State;

const { raw } = String;

const MAX_LENGTH = 200;
const MAX_STATES = 500;
/** Number of characters of the pattern that an error message quotes. */
const EXCERPT = 20;

const GROUP = /^\((?:\?(?:i?:|P?<[a-z_]\w*>))?(?!\?)/i;
const ASSERTION = /^(?:[$^]|\\[AzZbB])/;
const ASSERTIONS: ReadonlyMap<string, Assertion> = new Map<string, Assertion>([
  ['^', (before) => before === 'edge'],
  [raw`\A`, (before) => before === 'edge'],
  [raw`\b`, (before, after) => (before === 'word') !== (after === 'word')],
  [raw`\B`, (before, after) => (before === 'word') === (after === 'word')],
]);
const atTextEnd: Assertion = (_before, after) => after === 'edge';
const QUANTIFIER = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})/;
const SIGNS: Readonly<Record<string, readonly [min: number, max: number]>> = {
  '*': [0, Infinity],
  '+': [1, Infinity],
  '?': [0, 1],
};
/** The dot and the escapes that mean the same in `RegExp`. */
const AS_IN_REGEXP =
  /^(?:\.|\\(?:[bdDwWsStnvfr0]|[pP]\{(?:L|Lu|Ll|N|Nd|P|S)\}|x[\da-fA-F]{2}|u[\da-fA-F]{4}|u\{(?:10|[\da-fA-F])?[\da-fA-F]{1,4}\}))/;
const CHARACTER = /^\\([^a-zA-Z\d])|^(?!\{\d+(?:,\d*)?\})([^\\*+?()[\]])/u;
const CHARACTER_IN_CLASS = /^\\([^a-zA-Z\d])|^([^\\\]])/u;
const SET = /^\\[dDwWsSpP]/;

/** The problem of the rest of a pattern, with what to write instead, by how the rest starts. */
const PROBLEMS: readonly (readonly [start: RegExp, problem: string])[] = [
  [/^\(\?<?[=!]/, 'looks ahead or behind, which is not supported. Search for the text, or use |'],
  [/^(?:\(\?P=|\\[1-9k])/, 'has a back reference, which is not supported. Write out what is meant'],
  [/^\(\?>/, 'has an atomic group, which is not supported. Write (?: instead'],
  [/^\(\?/, 'has an unknown kind of group. Use ( ) or (?: ), and (?i) only at the very start'],
  [/^\)/, raw`has a parenthesis that was not opened. Write \) for the character itself`],
  [/^\]/, raw`has a bracket that was not opened. Write \] for the character itself`],
  [/^\[\^?\]/, raw`has an empty class. Write what it accepts, or \[ and \] for brackets`],
  [/^\[/, raw`has a class that is not closed. Add the ], or write \[ for a bracket`],
  [QUANTIFIER, raw`has a quantifier with nothing to repeat. Remove it, or write \ before it`],
  [/^\\$/, raw`has a backslash with nothing after it. Write \\ for a backslash`],
  [/^\\[xu]/, raw`has a malformed character code. Write \x41, \u0041 or \u{1F600}`],
  [/^\\p/i, raw`has an unknown Unicode property. Use \p{L}, \p{N}, \p{P}, \p{S} or a class`],
  [/^\\/, 'has an escape that means nothing here. Write the letter without the backslash'],
];

/** Reads a pattern from left to right. */
export class PatternParser {
  /** The part that is not read yet. */
  private rest: string;
  private stateCount = 0;
  /** By their source. */
  private readonly sets = new Map<string, RegExp>();

  constructor(private readonly source: string) {
    this.rest = source;
  }

  /** @throws {@link InvalidArgumentError} if the pattern is malformed or would need backtracking */
  parse(): Automaton {
    const { length } = this.source;
    if (length > MAX_LENGTH)
      this.reject(`is ${length} characters long. Write at most ${MAX_LENGTH}`);
    this.match(/^\(\?i\)/);
    const part = this.parseAlternatives();
    if (this.rest !== '') this.rejectRest();
    const start = part(this.addState('end'));
    return { start, sets: [...this.sets.values()] };
  }

  private parseAlternatives(): Part {
    const choices = [this.parseSequence()];
    while (this.match(/^\|/)) choices.push(this.parseSequence());
    return (next) => {
      const starts = choices.map((choice) => choice(next));
      return starts.reduce((other, start) => this.addState('fork', start, other));
    };
  }

  private parseSequence(): Part {
    const parts: Part[] = [];
    while (/^[^|)]/.test(this.rest)) parts.push(this.parsePart());
    if (parts.length === 0) return (next) => this.addState('fork', next);
    return (next) => parts.reduceRight((after, part) => part(after), next);
  }

  private parsePart(): Part {
    const assertion = this.match(ASSERTION)?.[0];
    if (assertion !== undefined) {
      const holds = ASSERTIONS.get(assertion) ?? atTextEnd;
      return (next) => this.addState('assertion', next, next, 0, holds);
    }
    const body = this.parseGroup() ?? this.parseSet();
    const start = this.rest;
    const found = this.match(QUANTIFIER);
    if (!found) return body;
    this.match(/^\?/); // a lazy quantifier matches the same texts
    const [text, low, comma, high] = found;
    const [min, max] = SIGNS[text] ?? [Number(low), Number(high || (comma ? Infinity : low))];
    if (min > max) this.reject('has reversed counts. Write the smaller count first', start);
    return (next) => this.repeat(body, min, max, next);
  }

  private parseGroup(): Part | undefined {
    const start = this.rest;
    if (!this.match(GROUP)) return undefined;
    const body = this.parseAlternatives();
    if (this.match(/^\)/)) return body;
    return this.reject(
      raw`has a group that is not closed. Add the ), or write \( for the text`,
      start,
    );
  }

  /** Reads one character, or a set of characters, as an expression. */
  private parseSet(): Part {
    const start = this.rest;
    const source = this.parseClass() ?? this.parseCharacter(CHARACTER);
    try {
      if (!this.sets.has(source)) this.sets.set(source, new RegExp(source, 'iu'));
    } catch {
      const advice = raw`Write the lower character first, or \- for a hyphen`;
      this.reject(`has a reversed range. ${advice}`, start);
    }
    const set = [...this.sets.keys()].indexOf(source);
    return (next) => this.addState('character', next, next, set);
  }

  private parseClass(): string | undefined {
    const start = this.rest;
    let source = this.match(/^\[(?!\^?\])\^?/)?.[0];
    if (source === undefined) return undefined;
    while (!this.match(/^\]/)) {
      if (this.rest === '') this.rejectRest(start);
      source += this.parseClassItem();
    }
    return `${source}]`;
  }

  /** Reads a character, a set or a range; a hyphen beside a set such as `\w` is a hyphen. */
  private parseClassItem(): string {
    const first = this.parseCharacter(CHARACTER_IN_CLASS);
    if (!this.match(/^-(?=[^\]])/)) return first;
    const last = this.parseCharacter(CHARACTER_IN_CLASS);
    return `${first}${SET.test(first) || SET.test(last) ? raw`\-` : '-'}${last}`;
  }

  private parseCharacter(expression: RegExp): string {
    const same = this.match(AS_IN_REGEXP);
    if (same) return same[0];
    const [, escaped, character = escaped] = this.match(expression) ?? this.rejectRest();
    // not raw: minifiers read \u{ in a tagged template as an escape
    return `\\u{${character?.codePointAt(0)?.toString(16)}}`;
  }

  private repeat(body: Part, min: number, max: number, next: State): State {
    if (max === 0) return this.addState('fork', next);
    let start = next;
    if (max === Infinity) {
      start = this.addState('fork', next);
      start.other = body(start);
    } else
      for (let count = min; count < max; count++) start = this.addState('fork', body(start), next);
    for (let count = 0; count < min; count++) start = body(start);
    return start;
  }

  private addState(
    type: State['type'],
    next?: State,
    other = next,
    set = 0,
    holds?: Assertion,
  ): State {
    if (this.stateCount++ === MAX_STATES)
      throw new InvalidArgumentError(
        `The pattern cannot be used: its counts make it larger than ${MAX_STATES} steps. ` +
          'Use smaller counts such as {3}, or * or +, above all inside of a group with a count.',
      );
    return { type, next, other, set, holds, reachedAt: 0 };
  }

  private match(expression: RegExp): RegExpExecArray | null {
    const found = expression.exec(this.rest);
    this.rest = this.rest.slice(found?.[0].length ?? 0);
    return found;
  }

  private rejectRest(rest = this.rest): never {
    const found = PROBLEMS.find(([start]) => start.test(rest));
    return this.reject(found?.[1] ?? 'is malformed', rest);
  }

  /** @throws {@link InvalidArgumentError} with the position, the problem and what to write instead */
  private reject(problem: string, rest = this.rest): never {
    const position = this.source.length - rest.length;
    const excerpt = rest === '' ? 'the end' : JSON.stringify(rest.slice(0, EXCERPT));
    throw new InvalidArgumentError(
      `The pattern cannot be used: at position ${position} (${excerpt}) it ${problem}.`,
    );
  }
}
