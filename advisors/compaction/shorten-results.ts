import type { TranscriptChange } from '../../src/core/advisor/transcript.js';
import { textOf, hasMedia, type Message, type ToolMessage } from '../../src/core/chat/message.js';
import { comparisonKey } from '../../src/core/chat/message-codec.js';
import { truncateContent } from '../../src/core/tool/result-text.js';
import type { TokenMeter } from '../../src/core/advisor/token-meter.js';

/** Minimum number of tokens that are worth another result. */
const MIN_SAVED = 20;
/** Number of characters of a result that is cut, at least. */
const MIN_LENGTH = 100;

/** Results by the result that takes the place of each. */
export type Replacements = ReadonlyMap<ToolMessage, ToolMessage>;

/** Replaces results, also copies of them that a memory has made. */
export function replaceResults(replaced: Replacements): TranscriptChange {
  let byKey: ReadonlyMap<string, ToolMessage> | undefined;
  return (messages) => {
    let found = 0;
    const changed = messages.map((message) => {
      const other = message.role === 'tool' ? replaced.get(message) : undefined;
      if (other) found++;
      return other ?? message;
    });
    if (found === replaced.size) return changed;
    byKey ??= new Map([...replaced].map(([old, other]) => [comparisonKey(old), other]));
    const copyOf = (message: Message): Message | undefined =>
      message.role === 'tool' ? byKey?.get(comparisonKey(message)) : undefined;
    const all = changed.map((message) => copyOf(message) ?? message);
    return all.every((message, at) => message === messages[at]) ? messages : all;
  };
}

/** The text after the note of a cleared result: how to get it again, if there is a way. */
export type HintOf = (result: ToolMessage) => string | undefined;

/**
 * Clears results, the oldest first, until enough tokens are saved.
 * @param results candidates, oldest first
 * @param excess number of tokens to save
 */
export function clearResults(
  results: readonly ToolMessage[],
  excess: number,
  meter: TokenMeter,
  hintOf: HintOf,
): Replacements {
  const cleared = new Map<ToolMessage, ToolMessage>();
  let saved = 0;
  for (const result of results) {
    if (saved >= excess) break;
    const other = toClearedResult(result, hintOf(result));
    const gain = meter.of(result) - meter.of(other);
    if (gain < MIN_SAVED) continue;
    cleared.set(result, other);
    saved += gain;
  }
  return cleared;
}

function toClearedResult(result: ToolMessage, hint: string | undefined): ToolMessage {
  const { content, toolName } = result;
  const media = hasMedia(content) ? ' with its media' : '';
  const { length } = textOf(content);
  const text = `[This result of ${toolName}, ${length} characters${media}, was removed to save space.]`;
  return Object.freeze({ ...result, content: hint === undefined ? text : `${text} ${hint}` });
}

/**
 * Cuts the largest results to one size, so that all of them together have a number of tokens; their
 * beginnings and ends stay.
 */
export function cutResults(
  results: readonly ToolMessage[],
  tokens: number,
  meter: TokenMeter,
): Replacements {
  const share = commonSize(
    results.map((result) => meter.of(result)),
    tokens,
  );
  const cut = new Map<ToolMessage, ToolMessage>();
  for (const result of results) {
    const size = meter.of(result);
    const { length } = textOf(result.content);
    const maxLength = Math.max(MIN_LENGTH, Math.floor((length * share) / size) - MIN_LENGTH);
    if (size <= share || maxLength >= length) continue;
    const other = Object.freeze({ ...result, content: truncateContent(result.content, maxLength) });
    cut.set(result, other);
  }
  return cut;
}

/** The size to which the larger ones must be reduced so that the sum is at most `total`. */
function commonSize(sizes: readonly number[], total: number): number {
  let rest = total;
  const ascending = sizes.toSorted((a, b) => a - b);
  for (const [at, size] of ascending.entries()) {
    const share = Math.max(0, rest) / (ascending.length - at);
    if (size > share) return share;
    rest -= size;
  }
  return Infinity;
}
