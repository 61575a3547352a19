import { parseCharacters } from './parse-characters.js';
import { PatternReader } from './pattern-reader.js';

/** A place that must be, or must not be, at the start or end of the text or of a word. */
export type Assertion = 'text-start' | 'text-end' | 'word-edge' | 'no-word-edge';

/** A pattern as a tree; `accepts` is the source of a `RegExp` for one character, `max` may be `Infinity`. */
export type Syntax =
  | { readonly type: 'character'; readonly accepts: string }
  | { readonly type: 'assertion'; readonly assertion: Assertion }
  | { readonly type: 'sequence'; readonly parts: readonly Syntax[] }
  | { readonly type: 'alternatives'; readonly choices: readonly Syntax[] }
  | { readonly type: 'repeat'; readonly body: Syntax; readonly min: number; readonly max: number };

const LONGEST = 200;
const DEEPEST = 50;
const MOST_REPEATS = 200;

const GROUP = /\((?:\?(?:i?:|P?<[a-z_]\w*>))?/iy;
const QUANTIFIER = /[*+?]|\{(\d+)(,(\d*))?\}/y;
const ASSERTION = /[$^]|\\[AzZbB]/y;
const ASSERTIONS: ReadonlyMap<string, Assertion> = new Map([
  ['^', 'text-start'],
  [String.raw`\A`, 'text-start'],
  [String.raw`\b`, 'word-edge'],
  [String.raw`\B`, 'no-word-edge'],
]);
const ESCAPE_IT = (character: string): string => `Write \\${character} for the character itself`;

/** @throws {@link InvalidArgumentError} if the pattern is malformed, or uses what cannot be searched for in linear time */
export function parsePattern(source: string): Syntax {
  const reader = new PatternReader(source);
  if (source.length > LONGEST) {
    reader.refuse(`is ${source.length} characters long`, `Write at most ${LONGEST}; search for less, or search several times`, 0);
  }
  reader.accept('(?i)');
  const syntax = parseAlternatives(reader, 0);
  if (!reader.done) reader.refuse('has a parenthesis that was not opened', ESCAPE_IT(')'));
  return syntax;
}

function parseAlternatives(reader: PatternReader, depth: number): Syntax {
  const choices = [parseSequence(reader, depth)];
  while (reader.accept('|')) choices.push(parseSequence(reader, depth));
  return { type: 'alternatives', choices };
}

function parseSequence(reader: PatternReader, depth: number): Syntax {
  const parts: Syntax[] = [];
  while (!reader.done && !reader.sees('|') && !reader.sees(')')) parts.push(parsePiece(reader, depth));
  return { type: 'sequence', parts };
}

function parsePiece(reader: PatternReader, depth: number): Syntax {
  refuseQuantifier(reader, 'has a quantifier with nothing to repeat');
  const place = reader.match(ASSERTION);
  if (place === undefined) return parseQuantifier(reader, parseAtom(reader, depth));
  refuseQuantifier(reader, 'repeats a place, not characters');
  return { type: 'assertion', assertion: ASSERTIONS.get(place[0]) ?? 'text-end' };
}

function parseAtom(reader: PatternReader, depth: number): Syntax {
  if (reader.sees('(')) return parseGroup(reader, depth + 1);
  if (reader.sees(']')) reader.refuse('has a bracket that was not opened', ESCAPE_IT(']'));
  return { type: 'character', accepts: parseCharacters(reader) };
}

function parseGroup(reader: PatternReader, depth: number): Syntax {
  const start = reader.position;
  if (depth > DEEPEST) reader.refuse(`nests more than ${DEEPEST} groups`, 'Leave out the groups that are not needed');
  reader.match(GROUP);
  if (reader.sees('?')) refuseGroup(reader, start);
  const body = parseAlternatives(reader, depth);
  if (!reader.accept(')')) reader.refuse('has a group that is not closed', `Add the ). ${ESCAPE_IT('(')}`, start);
  return body;
}

function refuseGroup(reader: PatternReader, start: number): never {
  reader.position = start;
  if (reader.match(/\(\?<?[=!]/y) !== undefined) {
    reader.refuse('looks ahead or behind, which is not supported', 'Search for the text itself; use | for alternatives', start);
  }
  if (reader.sees('(?P=')) reader.refuse('has a back reference, which is not supported', 'Write out what is meant', start);
  if (reader.sees('(?>')) reader.refuse('has an atomic group, which is not supported', 'Write (?: instead', start);
  reader.refuse('has an unknown kind of group', 'Use ( ), (?: ), (?<name> ), or (?i) at the very start; case is always ignored', start);
}

function parseQuantifier(reader: PatternReader, body: Syntax): Syntax {
  const start = reader.position;
  const found = reader.match(QUANTIFIER);
  if (found === undefined) return body;
  const { min, max } = countsOf(found);
  const most = max === Infinity ? min : max;
  if (most > MOST_REPEATS) reader.refuse(`repeats more than ${MOST_REPEATS} times`, 'Use a smaller count, or * or +', start);
  if (min > max) reader.refuse('has reversed counts', 'Write the smaller count first', start);
  reader.accept('?'); // lazy: whether there is a match does not depend on it
  if (reader.sees('+')) reader.refuse('has a possessive quantifier, which is not supported', 'Leave out the second +', start);
  refuseQuantifier(reader, 'has a quantifier after a quantifier');
  return { type: 'repeat', body, min, max };
}

function countsOf([text, least, comma, most]: RegExpExecArray): { readonly min: number; readonly max: number } {
  if (least === undefined) return { min: text === '+' ? 1 : 0, max: text === '?' ? 1 : Infinity };
  if (comma === undefined) return { min: Number(least), max: Number(least) };
  return { min: Number(least), max: most ? Number(most) : Infinity };
}

function refuseQuantifier(reader: PatternReader, problem: string): void {
  const start = reader.position;
  const found = reader.match(QUANTIFIER);
  if (found !== undefined) reader.refuse(problem, `Remove it, or write \\${found[0]} for the text itself`, start);
}
