import type { PatternReader } from './pattern-reader.js';

/** One character by its code point, or several by the escape of `RegExp` for them, such as `\d`. */
type Member = number | string;

const HYPHEN = 0x2d;
const BACKSPACE = 8;
const CONTROLS: ReadonlyMap<string, number> = new Map(Object.entries({ t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 }));
const SET = /[dDwWsS]|[pP]\{(?:L|Lu|Ll|N|Nd|P|S)\}/y;
const HEXADECIMAL = /x([\da-f]{2})|u([\da-f]{4})|u\{([\da-f]{1,8})\}/iy;

/** Reads a class, an escape or a character; returns the source of a `RegExp` for one character, written anew from what was understood. */
export function parseCharacters(reader: PatternReader): string {
  if (reader.accept('.')) return '.';
  return reader.sees('[') ? parseClass(reader) : sourceOf(parseMember(reader));
}

function parseClass(reader: PatternReader): string {
  const start = reader.position++;
  let source = reader.accept('^') ? '[^' : '[';
  if (reader.sees(']')) reader.refuse('has an empty class', String.raw`Write what it accepts, or \[ and \] for brackets`, start);
  while (!reader.accept(']')) {
    if (reader.done) reader.refuse('has a class that is not closed', String.raw`Add the ], or write \[ for a bracket`, start);
    source += parseItem(reader);
  }
  return `${source}]`;
}

/** One member or one range; a hyphen beside a set such as `\w` is a hyphen. */
function parseItem(reader: PatternReader): string {
  const start = reader.position;
  const first = parseClassMember(reader);
  if (reader.match(/-(?=[^\]])/y) === undefined) return sourceOf(first);
  const last = parseClassMember(reader);
  if (typeof first === 'string' || typeof last === 'string') return [first, HYPHEN, last].map(sourceOf).join('');
  if (first > last) reader.refuse('has a reversed range', String.raw`Write the lower character first, or \- for a hyphen`, start);
  return `${sourceOf(first)}-${sourceOf(last)}`;
}

function parseClassMember(reader: PatternReader): Member {
  return reader.accept(String.raw`\b`) ? BACKSPACE : parseMember(reader);
}

function parseMember(reader: PatternReader): Member {
  const start = reader.position;
  if (!reader.accept('\\')) return reader.codePoint();
  if (reader.done) reader.refuse('has a backslash with nothing after it', String.raw`Write \\ for a backslash`, start);
  const set = reader.match(SET);
  if (set !== undefined) return `\\${set[0]}`;
  if (reader.sees('x') || reader.sees('u')) return parseHexadecimal(reader, start);
  const code = reader.codePoint();
  const letter = String.fromCodePoint(code);
  const control = CONTROLS.get(letter);
  if (control === undefined && /[a-z\d]/i.test(letter)) refuseLetter(reader, letter, start);
  return control ?? code;
}

function parseHexadecimal(reader: PatternReader, start: number): number {
  const digits = reader.match(HEXADECIMAL)?.slice(1).join('') ?? '';
  const code = Number.parseInt(digits, 16);
  if (code <= 0x10ffff) return code;
  return reader.refuse('has a malformed character code', String.raw`Write \x41, \u0041 or \u{1F600}, or the character itself`, start);
}

function refuseLetter(reader: PatternReader, letter: string, start: number): never {
  if (/[1-9k]/.test(letter)) reader.refuse('has a back reference, which is not supported', 'Write out what is meant', start);
  const properties = String.raw`Use \p{L}, \p{Lu}, \p{Ll}, \p{N}, \p{Nd}, \p{P} or \p{S}, or a class such as [a-z]`;
  if (/p/i.test(letter)) reader.refuse('has an unknown Unicode property', properties, start);
  reader.refuse(`has an escape that means nothing here, \\${letter}`, `Write ${letter} without the backslash`, start);
}

function sourceOf(member: Member): string {
  return typeof member === 'string' ? member : String.raw`\u{${member.toString(16)}}`;
}
