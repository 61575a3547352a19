import { PartialJsonReader } from '../internal/partial-json.js';

const THINKING = /^[\s\S]*<\/(?:think|thinking|reasoning)>/i;
const OPEN_THINKING = /^\s*<(?:think|thinking|reasoning)>/i;
const THINKING_BLOCK = /```(?:think|thinking|reasoning)\b[\s\S]*?(?:```|$)/gi;
const FENCE = /`{3,}|~{3,}/;
/** An opening fence with its language, or with all that follows on its line. */
const OPENING = /(?:(?<!`)`+(?!`)|(?<!~)~{3,}(?!~))(?:[^\n`~{[]*\n|[\w+-]*)\s*(?=[{[])/g;
/** The beginning of an answer that is JSON, or an opening fence. */
const BEGINNING = new RegExp(`^\\s*(?=[{[])|${OPENING.source}`, 'g');
const LANGUAGE = /^[\w+-]+(?=[\s"])/;

/** Candidates for the JSON: the whole text, the text without thinking, and code fences in it. */
export function jsonCandidates(text: string): Iterable<string> {
  const answer = text.replace(THINKING, '');
  const rest = answer.replace(THINKING_BLOCK, '');
  const fenced = rest.split(FENCE).filter((_part, at) => at % 2 === 1);
  const plain = fenced.flatMap((part) => [part, part.replace(LANGUAGE, '')]);
  const found = [text, answer, rest, ...valuesInFences(rest), ...plain].map((part) => part.trim());
  return new Set(found.filter((part, at) => at === 0 || part !== ''));
}

/** Arrays and objects after opening fences. Parsing finds their end: strings in them may contain fences. */
function valuesInFences(text: string): readonly string[] {
  const values: string[] = [];
  for (const { start, reader, end } of readValues(text, OPENING))
    if (reader.status === 'complete') values.push(text.slice(start, end));
  return values;
}

/** The reader of the JSON in an unfinished answer, at the places where a whole one has it. */
export function readUnfinished(text: string): PartialJsonReader | undefined {
  const answer = text.replace(THINKING, '');
  if (OPEN_THINKING.test(answer)) return undefined;
  for (const { reader } of readValues(answer.replace(THINKING_BLOCK, ''), BEGINNING))
    if (reader.status !== 'invalid') return reader;
  return undefined;
}

interface ReadValue {
  readonly start: number;
  readonly reader: PartialJsonReader;
  readonly end: number;
}

function* readValues(text: string, opening: RegExp): Iterable<ReadValue> {
  let end = 0;
  for (;;) {
    opening.lastIndex = end;
    if (!opening.test(text)) return;
    const start = opening.lastIndex;
    const reader = new PartialJsonReader();
    reader.read(text.slice(start));
    end = text.length - reader.rest.length;
    yield { start, reader, end };
  }
}
