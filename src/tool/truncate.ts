import type { ToolMessage } from '../chat/message.js';
import { truncate } from '../internal/text.js';

/**
 * The beginning and the end of a text, two thirds and one third of what is kept, with a note about
 * the cut between them: errors and exit codes stand at the end. Surrogate pairs stay whole.
 */
export function truncateText(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : cutMiddle(text, 0, text.length, maxLength);
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

/** Cuts a part, which begins at `start`, of a text of `total` characters. */
function cutMiddle(part: string, start: number, total: number, maxLength: number): string {
  const kept = Math.ceil((maxLength * 2) / 3);
  const from = Math.min(Math.max(kept - start, 0), part.length);
  const to = Math.min(Math.max(total - (maxLength - kept) - start, from), part.length);
  if (from === to) return part;
  const beginning = truncate(part, from);
  const code = part.charCodeAt(to);
  const end = part.slice(code >= 0xdc00 && code <= 0xdfff ? to + 1 : to);
  const note = `[${part.length - beginning.length - end.length} of ${total} characters cut]`;
  return [beginning, note, end].filter((piece) => piece !== '').join('\n');
}
