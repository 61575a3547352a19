import {
  wireIdOf,
  type AssistantMessage,
  callsOf,
  type ContentPart,
  type MediaPart,
  type Message,
  textOf,
  type ToolCall,
  type ToolMessage,
} from '../../core/chat/message.js';
import type { JsonObject } from '../../core/internal/options.js';
import { argumentsObject, keptFields } from '../http/fields.js';
import { isText, isThought, KEY, partsOf } from './kept-parts.js';
import { base64Of, withContent } from '../../core/chat/media-content.js';

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
      calls = callsOf(message);
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
      systemInstruction: { parts: systems.map(({ content: text }) => ({ text })) },
    }),
    contents,
  };
}

/**
 * The parts of an answer with later changes of advisors: the calls come from the message, and parts
 * whose text differs from the message are left out.
 */
function toModelParts(message: AssistantMessage): JsonObject[] {
  const { toolCalls = [], content: text, refusal, reasoning = '' } = message;
  const written = text ?? refusal ?? '';
  const kept = partsOf(message);
  const isSameText = joinTexts(kept, isText) === written;
  const isSameThought = joinTexts(kept, isThought) === reasoning;
  const current = kept.filter((part) =>
    isText(part) ? isSameText : isSameThought || !isThought(part),
  );
  const parts: JsonObject[] = isSameText || written === '' ? [] : [{ text: written }];
  const calls = new Set(toolCalls);
  for (const part of [...current, ...toolCalls.map((_, at) => ({ toolCall: at }))]) {
    const call = callOf(part, toolCalls);
    if (call && calls.delete(call)) parts.push(toCallPart(call));
    else if (!('toolCall' in part || 'toolCallId' in part)) parts.push(part);
  }
  return parts;
}

/** The call of a kept part. */
function callOf(part: JsonObject, calls: readonly ToolCall[]): ToolCall | undefined {
  const { toolCall, toolCallId } = part;
  if (typeof toolCall === 'number') return calls[toolCall];
  return calls.find((call) => wireIdOf(call) === toolCallId);
}

function joinTexts(parts: readonly JsonObject[], isKind: (part: JsonObject) => boolean): string {
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
  const places = placesOf(results, calls);
  const sorted = results.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
  const parts = sorted.map((result) => {
    const call = calls[places.get(result) ?? calls.length];
    return { functionResponse: toResult(result, call, isGemini3) };
  });
  const media = isGemini3 ? [] : sorted.flatMap(mediaOf);
  return [
    { role: 'user', parts },
    ...(media.length > 0 ? [{ role: 'user', parts: toParts(media) }] : []),
  ];
}

/** The place of the call of each result; without a chain, a model gives no ids. */
function placesOf(
  results: readonly ToolMessage[],
  calls: readonly ToolCall[],
): ReadonlyMap<ToolMessage, number> {
  const open = new Map<string, number[]>();
  for (let at = calls.length - 1; at >= 0; at--) {
    const { id } = calls[at] as ToolCall;
    const places = open.get(id);
    if (places) places.push(at);
    else open.set(id, [at]);
  }
  const places = new Map<ToolMessage, number>();
  for (const result of results)
    places.set(result, open.get(result.toolCallId)?.pop() ?? calls.length);
  return places;
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

/** Name of the class that begins the messages of errors. */
const NAME = 'GoogleChatModel';

/** Content as parts of the API; `raw` parts stay. */
export function toParts(content: string | readonly ContentPart[]): unknown[] {
  if (typeof content === 'string') return [{ text: content }];
  return content.map((part) => {
    if (part.type === 'raw') return part.value;
    return part.type === 'text' ? { text: part.text } : toMediaPart(part);
  });
}

/** True for a part that the text of a tool result cannot express. */
export const isNoText = (part: ContentPart): boolean => part.type !== 'text';

/** Media by content or by address: of the Files API, of Cloud Storage, or of the web. */
function toMediaPart(part: MediaPart<string>): JsonObject {
  const media = withContent(part);
  const { data, mediaType: mimeType, url: fileUri } = media;
  if (data === undefined) return { fileData: { mimeType, fileUri } };
  // the API takes both alphabets of base64: the text goes unchanged
  return {
    inlineData: { mimeType, data: typeof data === 'string' ? data : base64Of(media, NAME) },
  };
}
