import type { ToolMessage } from '../chat/message.js';
import { LimitExceededError } from '../errors/errors.js';
import type { JsonValue } from '../internal/json.js';
import { jsonText, MIN_LENGTH } from '../internal/safe-json.js';
import { cutMiddle, truncateText } from '../internal/text.js';

/**
 * The result of a tool as text: a string unchanged, undefined as "Done", everything else as JSON.
 * Never throws: what JSON cannot express (cycles, big integers, functions, getters that throw) is
 * replaced by a short text, and so is what exceeds the limit, in time that does not depend on it.
 */
export function resultText(value: unknown, maxLength = MIN_LENGTH): string {
  return typeof value === 'string' ? value : (jsonText(value, maxLength).text ?? 'Done');
}

/**
 * A result as the model reads it; null for undefined.
 * @throws {@link LimitExceededError} if it is longer than both limits
 */
export function jsonOf(value: unknown, maxLength = MIN_LENGTH): JsonValue {
  const { text, isCut } = jsonText(value, maxLength);
  if (!isCut) return JSON.parse(text ?? 'null') as JsonValue;
  const max = Math.max(maxLength, MIN_LENGTH);
  throw new LimitExceededError(`the result has more than ${max} characters`, {
    limit: 'result-length',
    value: max,
    spent: max + 1,
    option: 'maxResultLength',
  });
}

/** Content with a maximum number of characters of text, cut like one text; media are kept. */
export function truncateContent(
  content: ToolMessage['content'],
  maxLength: number,
): ToolMessage['content'] {
  if (typeof content === 'string') return truncateText(content, maxLength);
  const lengths = content.map((part) => (part.type === 'text' ? part.text.length : 0));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (total <= maxLength) return content;
  let start = 0;
  return content.map((part, at) => {
    const before = start;
    start += lengths[at] as number;
    if (part.type !== 'text') return part;
    const text = cutMiddle(part.text, before, total, maxLength);
    return text === part.text ? part : { ...part, text };
  });
}
