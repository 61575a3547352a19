import {
  textOf,
  type AssistantMessage,
  type ContentPart,
  type Message,
  type ToolCall,
  type ToolMessage,
} from '../../chat/message.js';
import type { JsonObject } from '../../internal/options.js';
import { argumentsObject, keptFields } from '../http/fields.js';
import { isText, isThought, KEY, partsOf } from './kept-parts.js';
import { isNoText, toParts } from './parts.js';

/**
 * Signature of a call that another model has made: Gemini 3 rejects calls of the current turn that
 * have none. https://ai.google.dev/gemini-api/docs/thought-signatures
 */
const NO_SIGNATURE = 'skip_thought_signature_validator';

/** The messages of a request. System messages are joined: the API takes them in one place. */
export function toContents(messages: readonly Message[], isGemini3: boolean): JsonObject {
  const systems = messages.filter((message) => message.role === 'system');
  const question = messages.findLastIndex((message) => message.role === 'user');
  const contents: JsonObject[] = [];
  // the API rejects a message without parts, such as an empty answer
  const add = (role: string, parts: readonly unknown[]): void => {
    if (parts.length > 0) contents.push({ role, parts });
  };
  let calls: readonly ToolCall[] = [];
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at] as Message;
    if (message.role === 'user') add('user', toParts(message.content));
    else if (message.role === 'assistant') {
      calls = message.toolCalls;
      const parts = toModelParts(message);
      if (isGemini3 && at > question) addSignature(parts);
      add('model', parts);
    } else if (message.role === 'tool') {
      const results = resultsFrom(messages, at);
      contents.push(...toResults(results, calls, isGemini3));
      at += results.length - 1;
    }
  }
  return {
    ...(systems.length > 0 && {
      systemInstruction: { parts: systems.map(({ text }) => ({ text })) },
    }),
    contents,
  };
}

/**
 * The parts of an answer as they were, with what an advisor has changed since: the calls are those
 * of the message, and parts whose text is no longer that of the message are left out.
 */
function toModelParts(message: AssistantMessage): JsonObject[] {
  const { toolCalls, text, refusal, reasoning = '' } = message;
  const written = text ?? refusal ?? '';
  const kept = partsOf(message);
  const isSameText = joined(kept, isText) === written;
  const isSameThought = joined(kept, isThought) === reasoning;
  const current = kept.filter((part) =>
    isText(part) ? isSameText : isSameThought || !isThought(part),
  );
  const parts: JsonObject[] = isSameText || written === '' ? [] : [{ text: written }];
  const calls = new Map<unknown, ToolCall>(toolCalls.map((call) => [call.id, call]));
  for (const part of [...current, ...toolCalls.map(({ id }) => ({ toolCallId: id }))]) {
    const { toolCallId } = part;
    const call = calls.get(toolCallId);
    if (call) parts.push(toCallPart(call));
    else if (!('toolCallId' in part)) parts.push(part);
    calls.delete(toolCallId);
  }
  return parts;
}

function joined(parts: readonly JsonObject[], isKind: (part: JsonObject) => boolean): string {
  return parts
    .filter(isKind)
    .map(({ text }) => text)
    .join('');
}

function toCallPart(call: ToolCall): JsonObject {
  const { name, arguments: text } = call;
  const { id, ...fields } = keptFields(call, KEY);
  return { functionCall: { id, name, args: argumentsObject(text) }, ...fields };
}

function addSignature(parts: JsonObject[]): void {
  const first = parts.findIndex((part) => 'functionCall' in part);
  const part = parts[first];
  if (part && !('thoughtSignature' in part))
    parts[first] = { ...part, thoughtSignature: NO_SIGNATURE };
}

/** The results from a position on, up to the next message of another role. */
function resultsFrom(messages: readonly Message[], start: number): readonly ToolMessage[] {
  const results: ToolMessage[] = [];
  for (let at = start; at < messages.length; at++) {
    const message = messages[at] as Message;
    if (message.role !== 'tool') break;
    results.push(message);
  }
  return results;
}

/**
 * The results of a batch as one message, in the order of the calls: without ids, the order decides
 * which call a result belongs to. Only Gemini 3 takes media in results; others get them in the
 * message after it.
 */
function toResults(
  results: readonly ToolMessage[],
  calls: readonly ToolCall[],
  isGemini3: boolean,
): JsonObject[] {
  const order = new Map(calls.map((call, at) => [call.id, { call, at }]));
  const place = ({ toolCallId }: ToolMessage): number => order.get(toolCallId)?.at ?? calls.length;
  const sorted = results.toSorted((a, b) => place(a) - place(b));
  const parts = sorted.map((result) => {
    const call = order.get(result.toolCallId)?.call;
    return { functionResponse: toResult(result, call, isGemini3) };
  });
  const media = isGemini3 ? [] : sorted.flatMap(mediaOf);
  return [
    { role: 'user', parts },
    ...(media.length > 0 ? [{ role: 'user', parts: toParts(media) }] : []),
  ];
}

function toResult(
  { content, isError, toolName }: ToolMessage,
  call: ToolCall | undefined,
  withMedia: boolean,
): JsonObject {
  const text = textOf(content);
  const media = typeof content === 'string' ? [] : content.filter(isNoText);
  return {
    id: keptFields(call ?? {}, KEY)['id'],
    name: call?.name ?? toolName,
    response: isError ? { error: text } : { output: text },
    ...(withMedia && media.length > 0 && { parts: toParts(media) }),
  };
}

/** The media of a result, preceded by a text that names the tool. */
function mediaOf({ content, toolName }: ToolMessage): readonly ContentPart[] {
  const media = typeof content === 'string' ? [] : content.filter(isNoText);
  return media.length > 0 ? [{ type: 'text', text: `From the tool ${toolName}:` }, ...media] : [];
}
