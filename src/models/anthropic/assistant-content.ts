import {
  type AssistantMessage,
  callsOf,
  textOf,
  type ToolCall,
  wireIdOf,
} from '../../core/chat/message.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { listOf } from '../../core/json-schema/json-pointer.js';
import { argumentsObject, keptFields, toMetadata } from '../http/fields.js';
import { KEY } from './cache-marks.js';
import { textBlocks, toToolUseId } from './content.js';

/**
 * A message with the blocks of its answer, which the provider wants back in their order: thinking
 * with its signature, citations, tools that it ran itself. Text with calls after it needs none.
 *
 * @param blocks blocks of the answer; of a call, what `toolCalls` does not have
 */
export function withBlocks(
  message: AssistantMessage,
  blocks: readonly JsonObject[],
): AssistantMessage {
  const ids = callsOf(message)
    .map(({ id }) => id)
    .values();
  const content = blocks.map((block) =>
    block['type'] === 'tool_use' ? { type: 'tool_use', id: ids.next().value } : block,
  );
  return { ...message, ...toMetadata(KEY, hasOnlyPlainBlocks(content) ? {} : { content }) };
}

/** True for a text and calls after it; nothing is lost without the blocks. */
function hasOnlyPlainBlocks(blocks: readonly JsonObject[]): boolean {
  return blocks.every(
    ({ type, citations }, at) =>
      type === 'tool_use' || (type === 'text' && at === 0 && listOf(citations).length === 0),
  );
}

/**
 * The blocks of an assistant message. Text, reasoning and calls of the message win: blocks that no
 * longer agree with them are left out.
 */
export function toAssistantBlocks(message: AssistantMessage): readonly JsonObject[] {
  const raw = listOf(keptFields(message, KEY)['content']).filter(isPlainObject);
  const text = textOf(message) || message.refusal || '';
  const keepsText = joinBlocks(raw, 'text') === text;
  const keepsThinking = joinBlocks(raw, 'thinking') === (message.reasoning ?? '');
  const calls = new Map(callsOf(message).map((call) => [wireIdOf(call), call]));
  const sent = new Set<ToolCall>();
  const blocks: JsonObject[] = [];
  let pending = keepsText ? '' : text;
  const addText = (): void => {
    blocks.push(...textBlocks(pending));
    pending = '';
  };
  for (const block of raw) {
    const { type, id } = block;
    if (type === 'text') {
      if (!keepsText) addText();
      else if (textBlocks(String(block['text'])).length > 0) blocks.push(block);
    } else if (type === 'tool_use') {
      const call = calls.get(id as string);
      if (!call) continue;
      addText();
      sent.add(call);
      blocks.push(toToolUse(call));
    } else if (keepsThinking || !THINKING.has(type)) blocks.push(block);
  }
  addText();
  return [
    ...blocks,
    ...callsOf(message)
      .filter((call) => !sent.has(call))
      .map(toToolUse),
  ];
}

const THINKING: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);

/** The texts of all blocks of a type as one. */
function joinBlocks(blocks: readonly JsonObject[], type: 'text' | 'thinking'): string {
  return blocks.map((block) => (block['type'] === type ? String(block[type]) : '')).join('');
}

function toToolUse(call: ToolCall): JsonObject {
  const { id, name, arguments: text } = call;
  const fields = keptFields(call, KEY);
  return { ...fields, type: 'tool_use', id: toToolUseId(id), name, input: argumentsObject(text) };
}
