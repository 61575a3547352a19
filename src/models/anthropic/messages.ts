import type { Message, SystemMessage, ToolMessage } from '../../chat/message.js';
import type { JsonObject } from '../../internal/options.js';
import { toAssistantBlocks } from './assistant-content.js';
import { cached, withOwnMark, type PromptCache } from './cache-marks.js';
import { textBlocks, toBlocks, toToolUseId } from './content.js';

/** A message of the API. */
interface WireMessage {
  readonly role: 'user' | 'assistant' | 'system';
  content: readonly JsonObject[];
}

/** The fields `system` and `messages` of a request; system messages at the start are the former. */
export function toConversation(messages: readonly Message[], cache: PromptCache = {}): JsonObject {
  const first = messages.findIndex(({ role }) => role !== 'system');
  const start = first < 0 ? messages.length : first;
  const system = cached(messages.slice(0, start).flatMap(systemBlocks), cache.system);
  const wire = toWireMessages(messages.slice(start));
  const last = wire.at(-1);
  if (last) last.content = cached(last.content, cache.messages);
  return { ...(system.length > 0 && { system: asText(system) }), messages: wire };
}

/** Messages without any content are left out: the API refuses them. */
function toWireMessages(messages: readonly Message[]): readonly WireMessage[] {
  const wire: WireMessage[] = [];
  /** System texts, which the API takes only between the turn of the user and the answer. */
  let pending: JsonObject[] = [];
  const add = (role: WireMessage['role'], blocks: readonly JsonObject[]): void => {
    const last = wire.at(-1);
    if (blocks.length === 0) return;
    if (last?.role === role) last.content = [...last.content, ...blocks];
    else wire.push({ role, content: blocks });
  };
  const addPending = (): void => {
    add('system', pending);
    pending = [];
  };
  for (const [at, message] of messages.entries()) {
    if (message.role === 'system') pending.push(...systemBlocks(message));
    else if (message.role === 'assistant') {
      addPending();
      add('assistant', withOwnMark(toAssistantBlocks(message), message));
    } else if (message.role === 'user')
      add('user', withOwnMark(toBlocks(message.content), message));
    else if (messages[at - 1]?.role !== 'tool') add('user', toResults(batchAt(messages, at)));
  }
  addPending();
  return wire;
}

function batchAt(messages: readonly Message[], start: number): readonly ToolMessage[] {
  const end = messages.findIndex(({ role }, at) => at > start && role !== 'tool');
  return messages.slice(start, end < 0 ? undefined : end) as readonly ToolMessage[];
}

/** The results of a batch, all of which come before anything else. */
function toResults(batch: readonly ToolMessage[]): readonly JsonObject[] {
  return [...batch.flatMap(toResult), ...batch.flatMap(mediaOfError)];
}

function toResult(message: ToolMessage): readonly JsonObject[] {
  const { toolCallId, content, isError } = message;
  const blocks = typeof content === 'string' ? content : toBlocks(content);
  const result = {
    type: 'tool_result',
    tool_use_id: toToolUseId(toolCallId),
    content: isError && typeof blocks !== 'string' ? blocks.filter(isText) : blocks,
    ...(isError && { is_error: true }),
  };
  return withOwnMark([result], message);
}

/** The API takes nothing but text in a result that is an error: media follow the results. */
function mediaOfError({ content, isError, toolName }: ToolMessage): readonly JsonObject[] {
  if (!isError || typeof content === 'string') return [];
  const media = toBlocks(content).filter((block) => !isText(block));
  return media.length > 0 ? [...textBlocks(`From the tool ${toolName}:`), ...media] : [];
}

const isText = ({ type }: JsonObject): boolean => type === 'text';

const systemBlocks = (message: SystemMessage | Message): readonly JsonObject[] =>
  message.role === 'system' ? withOwnMark(textBlocks(message.text), message) : [];

/** One text without a mark needs no list. */
function asText(blocks: readonly JsonObject[]): unknown {
  const [first] = blocks;
  return blocks.length === 1 && first && !('cache_control' in first) ? first['text'] : blocks;
}
