import type { PromptCache } from '../../core/chat/chat-options.js';
import { type Message, textOf, type ToolMessage } from '../../core/chat/message.js';
import { memoize } from '../../core/internal/memoize.js';
import type { JsonObject } from '../../core/internal/options.js';
import { toAssistantBlocks } from './assistant-content.js';
import { cached, withOwnMark } from './cache-marks.js';
import { textBlocks, toBlocks, toToolUseId } from './content.js';

/** A message of the API. */
interface WireMessage {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: readonly JsonObject[];
}

/** The fields `system` and `messages` of a request; system messages at the start are the former. */
export function toConversation(messages: readonly Message[], cache: PromptCache = {}): JsonObject {
  const first = messages.findIndex(({ role }) => role !== 'system');
  const start = first < 0 ? messages.length : first;
  const system = cached(messages.slice(0, start).flatMap(toMarkedBlocks), cache.system);
  const wire = groups(messages.slice(start)).map(resultsFirst);
  const last = wire.pop();
  if (last) wire.push({ ...last, content: cached(last.content, cache.messages) });
  return { ...(system.length > 0 && { system: asText(system) }), messages: wire };
}

/** Messages of one role in a row as one; those without any content are left out: the API refuses them. */
function groups(messages: readonly Message[]): readonly WireMessage[] {
  const wire: { readonly role: WireMessage['role']; readonly content: JsonObject[] }[] = [];
  /** System texts, which the API takes only between the turn of the user and the answer. */
  const pending: JsonObject[] = [];
  const add = (role: WireMessage['role'], blocks: readonly JsonObject[]): void => {
    if (blocks.length === 0) return;
    if (wire.at(-1)?.role !== role) wire.push({ role, content: [] });
    for (const block of blocks) wire.at(-1)?.content.push(block);
  };
  for (const message of messages) {
    const blocks = toMarkedBlocks(message);
    if (message.role === 'system') pending.push(...blocks);
    else {
      if (message.role === 'assistant') add('system', pending.splice(0));
      add(message.role === 'assistant' ? 'assistant' : 'user', blocks);
    }
  }
  add('system', pending);
  return wire;
}

/** The API takes results only before everything else of a message. */
function resultsFirst({ role, content }: WireMessage): WireMessage {
  const isResult = ({ type }: JsonObject): boolean => type === 'tool_result';
  if (role !== 'user' || !content.some(isResult)) return { role, content };
  const others = content.filter((block) => !isResult(block));
  return { role, content: [...content.filter(isResult), ...others] };
}

// computed once for each message: a loop sends its history, with media, again in each iteration
const toMarkedBlocks = memoize((message: Message) =>
  withOwnMark(toMessageBlocks(message), message),
);

function toMessageBlocks(message: Message): readonly JsonObject[] {
  switch (message.role) {
    case 'system':
      return textBlocks(textOf(message));
    case 'user':
      return toBlocks(message.content);
    case 'assistant':
      return toAssistantBlocks(message);
    case 'tool':
      return toResult(message);
  }
}

/** A result; the API takes nothing but text in one that is an error, so that media stand beside it. */
function toResult({ toolCallId, toolName, content, isError }: ToolMessage): readonly JsonObject[] {
  const blocks = typeof content === 'string' ? [] : toBlocks(content);
  const media = isError ? blocks.filter((block) => !isText(block)) : [];
  const result = {
    type: 'tool_result',
    tool_use_id: toToolUseId(toolCallId),
    content:
      typeof content === 'string' ? content : blocks.filter((block) => !isError || isText(block)),
    ...(isError && { is_error: true }),
  };
  return media.length > 0
    ? [...textBlocks(`From the tool ${toolName}:`), ...media, result]
    : [result];
}

const isText = ({ type }: JsonObject): boolean => type === 'text';

/** One text without a mark needs no list. */
function asText(blocks: readonly JsonObject[]): unknown {
  const [first] = blocks;
  return blocks.length === 1 && first && !('cache_control' in first) ? first['text'] : blocks;
}
