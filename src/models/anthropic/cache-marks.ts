import type { PromptCache } from '../../core/chat/chat-options.js';
import type { Message } from '../../core/chat/message.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { keptFields } from '../http/fields.js';

/** Key of the provider's data in the metadata of messages and calls. */
export const KEY = 'anthropic';

/** Blocks with the mark of their message, if `metadata.anthropic.cache_control` has one. */
export function withOwnMark(
  blocks: readonly JsonObject[],
  message: Message,
): readonly JsonObject[] {
  const { cache_control: mark } = keptFields(message, KEY);
  return isPlainObject(mark) ? markLast(blocks, mark) : blocks;
}

/** Blocks, or tools, whose last one is kept in the cache for a time; undefined for none. */
export function cached(
  blocks: readonly JsonObject[],
  ttl: PromptCache['tools'],
): readonly JsonObject[] {
  return ttl === undefined ? blocks : markLast(blocks, { type: 'ephemeral', ttl });
}

/** The API refuses marks of thinking, and of tools that its tool search hides. */
const canBeMarked = ({ type, defer_loading: isHidden }: JsonObject): boolean =>
  type !== 'thinking' && type !== 'redacted_thinking' && isHidden !== true;

/** A mark that a block has already stays. */
function markLast(blocks: readonly JsonObject[], mark: JsonObject): readonly JsonObject[] {
  const at = blocks.findLastIndex(canBeMarked);
  return at < 0 ? blocks : blocks.with(at, { cache_control: mark, ...blocks[at] });
}
