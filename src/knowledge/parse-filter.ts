import type { Scalar } from '../core/chat/document.js';
import { describe } from '../core/errors/describe.js';
import { InvalidArgumentError } from '../core/errors/errors.js';
import { checkFilter, type Filter } from '../stores/vectors/filter.js';

interface Token {
  readonly kind: 'sign' | 'word' | 'string' | 'number' | 'end';
  /** As written; of a string without quotes and escapes. */
  readonly text: string;
  /** Index of its first character. */
  readonly at: number;
}

const MAX_DEPTH = 32;
const TOKEN =
  /(?<space>\s+)|(?<sign>==|!=|>=|<=|&&|\|\||[><()[\],])|(?<word>[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*)|(?<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[lL]?(?![\p{L}\p{N}_.]))|(?<string>'(?:[^'\\]|\\[^])*'|"(?:[^"\\]|\\[^])*")/uy;
const ESCAPE = /\\(u[\da-fA-F]{4}|[^])/g;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
const COMPARISONS: ReadonlyMap<string, string> = new Map([
  ['!=', 'ne'],
  ['>', 'gt'],
  ['>=', 'gte'],
  ['<', 'lt'],
  ['<=', 'lte'],
  ['contains', 'contains'],
]);

/**
 * Reads a filter in the text form of Spring AI: `country == 'BG' && year >= 2020 && lang in ['en', 'de']`.
 *
 * `==`, `!=`, `>`, `>=`, `<`, `<=`, `IN`, `NIN` or `NOT IN`, and `CONTAINS` of this library compare a key
 * with strings, numbers, `true` and `false`. `NOT` binds tighter than `&&` or `AND`, and this tighter than
 * `||` or `OR`; parentheses group. Words have any case. A key of other characters than letters, digits,
 * `_` and `.` is quoted, and so are strings: by `'` or `"`, with `\` before a quote.
 * @throws {@link InvalidArgumentError} with the position of what cannot be read, from 1
 */
export function parseFilter(text: string): Filter {
  if (typeof text !== 'string')
    throw new InvalidArgumentError(`parseFilter: text must be a string, not ${describe(text)}`);
  const filter = new FilterParser(tokensOf(text)).parse();
  checkFilter('parseFilter', filter);
  return filter;
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (!match) throw unreadable(text, at);
    const { sign, word, string, number } = match.groups ?? {};
    if (sign !== undefined) tokens.push({ kind: 'sign', text: sign, at });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word, at });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number, at });
    else if (string !== undefined) tokens.push({ kind: 'string', text: unquoted(string), at });
    at += match[0].length;
  }
  tokens.push({ kind: 'end', text: '', at });
  return tokens;
}

function unreadable(text: string, at: number): InvalidArgumentError {
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  return character === "'" || character === '"'
    ? problem(at, `a string without a closing ${character}`)
    : problem(at, `${describe(character)} is unexpected`);
}

function unquoted(string: string): string {
  return string
    .slice(1, -1)
    .replaceAll(ESCAPE, (_, escape: string) =>
      escape.length > 1
        ? String.fromCharCode(Number.parseInt(escape.slice(1), 16))
        : (ESCAPED[escape] ?? escape),
    );
}

function problem(at: number, text: string): InvalidArgumentError {
  return new InvalidArgumentError(`parseFilter: ${text}, at character ${at + 1}`);
}

class FilterParser {
  private next = 0;
  private depth = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  parse(): Filter {
    const filter = this.alternatives();
    if (this.token.kind !== 'end') throw this.expected('&&, || or the end');
    return filter;
  }

  private alternatives(): Filter {
    const filters = [this.conjunction()];
    while (this.takes('||', 'or')) filters.push(this.conjunction());
    return filters.length === 1 ? (filters[0] as Filter) : { or: filters };
  }

  private conjunction(): Filter {
    const filters = [this.term()];
    while (this.takes('&&', 'and')) filters.push(this.term());
    return filters.length === 1 ? (filters[0] as Filter) : { and: filters };
  }

  private term(): Filter {
    const { at } = this.token;
    if (this.takes('not')) return this.nested(at, () => ({ not: this.term() }));
    if (!this.takes('(')) return this.comparison();
    return this.nested(at, () => {
      const filter = this.alternatives();
      this.take(')');
      return filter;
    });
  }

  private nested(at: number, read: () => Filter): Filter {
    if (++this.depth > MAX_DEPTH) throw problem(at, `more than ${MAX_DEPTH} levels`);
    const filter = read();
    this.depth--;
    return filter;
  }

  private comparison(): Filter {
    const key = this.key();
    if (this.takes('in')) return fieldOf(key, { in: this.list() });
    if (this.takes('nin')) return fieldOf(key, { nin: this.list() });
    if (this.takes('not')) {
      this.take('in');
      return fieldOf(key, { nin: this.list() });
    }
    if (this.takes('==')) return fieldOf(key, this.value());
    const operator = this.isQuoted ? undefined : COMPARISONS.get(this.token.text.toLowerCase());
    if (!operator) throw this.expected('==, !=, >, >=, <, <=, IN, NIN, NOT IN or CONTAINS');
    this.next++;
    const { at } = this.token;
    const value = this.value();
    if (operator !== 'ne' && operator !== 'contains' && typeof value === 'boolean')
      throw problem(at, `${value} has no order`);
    return fieldOf(key, { [operator]: value });
  }

  private key(): string {
    const { kind, text, at } = this.token;
    if (kind !== 'word' && kind !== 'string') throw this.expected('a key, NOT or (');
    if (text === 'and' || text === 'or' || text === 'not')
      throw problem(at, `${describe(text)} is the name of a combination, not of a key`);
    this.next++;
    return text;
  }

  private list(): readonly Scalar[] {
    const values: Scalar[] = [];
    this.take('[');
    if (this.takes(']')) return values;
    do values.push(this.value());
    while (this.takes(','));
    this.take(']');
    return values;
  }

  private value(): Scalar {
    const { kind, text, at } = this.token;
    if (this.takes('true')) return true;
    if (this.takes('false')) return false;
    if (kind !== 'string' && kind !== 'number')
      throw this.expected('a string, a number, true or false');
    this.next++;
    if (kind === 'string') return text;
    const value = Number(text.replace(/l$/i, ''));
    if (!Number.isFinite(value)) throw problem(at, `${text} is too large`);
    return value;
  }

  private get token(): Token {
    return this.tokens[this.next] as Token;
  }

  private get isQuoted(): boolean {
    return this.token.kind === 'string';
  }

  /** Takes one of these signs or words, if it comes next. */
  private takes(...texts: readonly string[]): boolean {
    const isNext = !this.isQuoted && texts.includes(this.token.text.toLowerCase());
    if (isNext) this.next++;
    return isNext;
  }

  private take(text: string): void {
    if (!this.takes(text)) throw this.expected(text.toUpperCase());
  }

  private expected(wanted: string): InvalidArgumentError {
    const { kind, text, at } = this.token;
    const found = kind === 'end' ? 'the end' : describe(text);
    return problem(at, `expected ${wanted}, found ${found}`);
  }
}

/** A field of any name, also of `__proto__`. */
function fieldOf(key: string, value: Scalar | object): Filter {
  return Object.fromEntries([[key, value]]) as Filter;
}
