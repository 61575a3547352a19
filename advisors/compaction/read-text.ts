import { truncate } from '../../src/core/internal/text.js';
import { nextCharacter, wholeLines } from './cut-text.js';

/** Maximum number of places that a search returns. */
const MAX_PLACES = 50;
/** Characters of the line of a place that are shown before and after it. */
const BEFORE = 80;
const AFTER = 200;

/** Characters of a text from an offset, with a heading: the range, and the next offset. */
export function readText(text: string, offset: number, maxLength: number): string {
  const start = nextCharacter(text, Math.min(offset, text.length));
  const piece = wholeLines(text, start, maxLength);
  const end = start + piece.length;
  const rest = end < text.length ? `continue with offset ${end}` : 'this is the end';
  return `Characters ${start} to ${end} of ${text.length}; ${rest}.\n${piece}`;
}

/**
 * The places of a text that contain another one, in any case, with their lines. Patterns are not
 * supported: a model's could block the process.
 */
export function searchText(text: string, query: string, offset: number, maxLength: number): string {
  const { whole, part } = inOneCase(text, query);
  const lines = new LineCount(text);
  const places: string[] = [];
  let left = maxLength;
  let at = whole.indexOf(part, offset);
  while (at >= 0 && places.length < MAX_PLACES) {
    const place = placeAt(text, at, part.length);
    const row = `line ${lines.at(at)}, offset ${at}: ${place.text}`;
    left -= row.length + 1;
    if (left < 0 && places.length > 0) break;
    places.push(row);
    at = whole.indexOf(part, place.end);
  }
  const shown = JSON.stringify(query);
  if (places.length === 0)
    return `${shown} does not occur from offset ${Math.min(offset, text.length)} to the end, ${text.length}.`;
  const rest = at >= 0 ? `there are more: search again with offset ${at}` : 'there are no more';
  return [`Places with ${shown}: ${places.length}; ${rest}.`, ...places].join('\n');
}

/** Lower case, unless that moves offsets: a few letters become two. */
function inOneCase(text: string, query: string): { readonly whole: string; readonly part: string } {
  const whole = text.toLowerCase();
  const part = query.toLowerCase();
  return whole.length === text.length && part.length === query.length
    ? { whole, part }
    : { whole: text, part: query };
}

/** The line of a place, or the part of it around the place. */
function placeAt(text: string, at: number, length: number): { text: string; end: number } {
  const before = text.slice(Math.max(0, at - BEFORE), at);
  const line = before.lastIndexOf('\n') + 1;
  const start = nextCharacter(text, at - before.length + line);
  const after = truncate(text.slice(at + length, at + length + AFTER + 1), AFTER);
  const newline = after.indexOf('\n');
  const end = at + length + (newline < 0 ? after.length : newline);
  const isCutBefore = start > 0 && text[start - 1] !== '\n';
  const isCutAfter = end < text.length && text[end] !== '\n';
  const shown = `${isCutBefore ? '…' : ''}${text.slice(start, end)}${isCutAfter ? '…' : ''}`;
  return { text: shown, end };
}

/** Numbers of lines, from 1, at offsets that grow. */
class LineCount {
  private line = 1;
  /** The newline after the last one that was counted; -1 if there is none. */
  private newline: number;

  constructor(private readonly text: string) {
    this.newline = text.indexOf('\n');
  }

  at(offset: number): number {
    while (this.newline >= 0 && this.newline < offset) {
      this.line++;
      this.newline = this.text.indexOf('\n', this.newline + 1);
    }
    return this.line;
  }
}
