import {
  type AssistantMessage,
  callsOf,
  type Metadata,
  textOf,
  type ToolCall,
  wireIdOf,
} from '../../../core/chat/message.js';
import { shortName } from '../../../core/chat/tool-definition.js';
import { isPlainObject, type JsonObject } from '../../../core/internal/options.js';
import { listOf } from '../../../core/json-schema/json-pointer.js';
import { keptFields, toMetadata } from '../../http/fields.js';
import { readMessage } from './output-item.js';

/** Key of the items in the metadata of a message. */
const KEY = 'responses';

/** Fields of a function call that a plain one has, too, or does not need. */
const PLAIN_CALL: ReadonlySet<string> = new Set(['type', 'call_id', 'id', 'status']);

/**
 * Metadata with the items of an answer in their order, for the next request; nothing if text and
 * calls alone make the same request. A function call is kept without what the message has of it.
 *
 * @param isStored true if the server knows the items by their ids
 */
export function keepItems(
  items: readonly JsonObject[],
  calls: readonly ToolCall[],
  isStored: boolean,
): { readonly metadata?: Metadata } {
  const rest = calls.values();
  const kept = items.flatMap((item) => toKept(item, rest, isStored));
  return toMetadata(KEY, kept.every(isPlainItem) ? {} : { items: kept });
}

function isPlainItem(item: JsonObject, at: number): boolean {
  if (item['type'] === 'function_call')
    return Object.keys(item).every((field) => PLAIN_CALL.has(field));
  if (item['type'] !== 'message' || at > 0 || item['phase']) return false;
  const { annotations, refusal } = readMessage(item);
  return annotations.length === 0 && refusal === '';
}

function toKept(
  item: JsonObject,
  calls: Iterator<ToolCall>,
  isStored: boolean,
): readonly JsonObject[] {
  const { id, ...others } = item;
  const known = isStored && id !== undefined ? { id } : {};
  switch (item['type']) {
    case 'function_call': {
      const { name: _name, arguments: _arguments, ...fields } = others;
      const { id: callId } = (calls.next().value ?? {}) as Partial<ToolCall>;
      return [withoutNulls({ ...fields, ...known, call_id: callId })];
    }
    case 'message':
      return [{ ...others, ...known, content: withoutLogprobs(item['content']) }];
    case 'reasoning':
      return toKeptReasoning(item, isStored);
    default:
      return [item];
  }
}

function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function withoutLogprobs(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.map((part: unknown) => {
    if (!isPlainObject(part)) return part;
    const { logprobs: _logprobs, ...others } = part;
    return others;
  });
}

/**
 * Reasoning that the server can read again: stored, encrypted, or as text. Encrypted reasoning that
 * is not stored has no id: Azure refuses one.
 */
function toKeptReasoning(item: JsonObject, isStored: boolean): readonly JsonObject[] {
  const { id, status: _status, encrypted_content: encrypted, content, ...others } = item;
  const texts = listOf(content);
  if (!isStored && !encrypted && texts.length === 0) return [];
  return [
    {
      ...others,
      ...((isStored || texts.length > 0) && id !== undefined && { id }),
      summary: listOf(item['summary']),
      ...(texts.length > 0 && { content: texts }),
      ...(encrypted ? { encrypted_content: encrypted } : {}),
    },
  ];
}

/** Call ids have 64 characters at most; other providers' may be longer. */
export function toCallId(id: string): string {
  return shortName(id || 'call');
}

/**
 * The items of an assistant message: those that the provider made, in their order, as far as they
 * agree with the message; text and calls that an advisor has changed or added replace them.
 */
export function toAssistantItems(message: AssistantMessage): readonly JsonObject[] {
  const kept = listOf(keptFields(message, KEY)['items']).filter(isPlainObject);
  const isSame = agrees(kept, message);
  const calls = new Set(message.toolCalls);
  const byId = new Map(callsOf(message).map((call) => [wireIdOf(call), call]));
  const items: JsonObject[] = [];
  let text = isSame ? undefined : toTextItem(message);
  for (const item of kept) {
    const isReplaced = item['type'] === 'message' && !isSame;
    const call = byId.get(String(item['call_id']));
    const isCall = item['type'] === 'function_call';
    const own = isCall ? call && calls.delete(call) && { ...item, ...toCallItem(call) } : item;
    const sent = isReplaced ? text : own;
    if (isReplaced) text = undefined;
    if (isReplaced || !sent) dropReasoning(items);
    if (sent) items.push(sent);
  }
  dropReasoning(items);
  if (text) items.unshift(text);
  for (const call of calls) items.push(toCallItem(call));
  return items;
}

function agrees(kept: readonly JsonObject[], answer: AssistantMessage): boolean {
  const messages = kept.filter(({ type }) => type === 'message').map(readMessage);
  return (
    messages.map((message) => message.text).join('') === textOf(answer) &&
    messages.map((message) => message.refusal).join('') === (answer.refusal ?? '')
  );
}

/** Servers refuse reasoning without the item that came after it. */
function dropReasoning(items: JsonObject[]): void {
  while (items.at(-1)?.['type'] === 'reasoning') items.pop();
}

function toTextItem({ content: text, refusal }: AssistantMessage): JsonObject | undefined {
  const content = text || refusal;
  return content ? { type: 'message', role: 'assistant', content } : undefined;
}

function toCallItem({ id, name, arguments: text }: ToolCall): JsonObject {
  return { type: 'function_call', call_id: toCallId(id), name, arguments: text || '{}' };
}
