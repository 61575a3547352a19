import {
  callsOf,
  checkMessage,
  textOf,
  type AssistantMessage,
  type Content,
  type Message,
  type ToolCall,
} from '../../core/chat/message.js';
import { describe } from '../../core/errors/describe.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { parseWritten } from '../../core/internal/json.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { base64, mediaTypeOf, RAW_PARTS, USER_PARTS, type Media } from './files.js';
import { keptOf, orderedParts, withOptions } from './kept-parts.js';
import { joinResults, toParts, toResultPart } from './message-parts.js';
import type { ModelMessage } from './model-message.js';

/**
 * Messages in the form of the AI SDK, for `messages` of `generateText` and others. Left out is what the AI SDK has no place for: other
 * metadata than {@link fromModelMessages} makes, `wireId`, and media of failed results. A refusal is a text.
 * @throws {@link InvalidArgumentError} for an invalid message, or a `raw` part that is none of the AI SDK
 */
export function toModelMessages(messages: readonly Message[]): ModelMessage[] {
  if (!Array.isArray(messages))
    throw new InvalidArgumentError(
      `toModelMessages: messages must be an array, not ${describe(messages)}`,
    );
  const all = messages as readonly Message[];
  // tests compare the forms with the schema of the AI SDK
  return joinResults(all.flatMap(toMessages)) as unknown as ModelMessage[];
}

function toMessages(message: Message, at: number): readonly JsonObject[] {
  const where = `toModelMessages: messages[${at}]`;
  checkMessage(message, where);
  const { role, metadata } = message;
  const options = metadata?.['providerOptions'];
  const kept = keptOf(metadata);
  switch (role) {
    case 'system':
      return [withOptions({ role, content: textOf(message) }, options)];
    case 'user': {
      const { content } = message;
      checkRaw(content, USER_PARTS, where);
      const parts = typeof content === 'string' ? content : toParts(content, kept, toFile);
      return [withOptions({ role, content: parts }, options)];
    }
    case 'assistant': {
      const { responses = [] } = kept;
      const answer = withOptions({ role, content: toAnswer(message) }, options);
      return responses.length > 0 ? [answer, { role: 'tool', content: responses }] : [answer];
    }
    case 'tool':
      checkRaw(message.content, RAW_PARTS, where);
      return [withOptions({ role, content: [toResultPart(message, toResultFile)] }, options)];
  }
}

function checkRaw(content: Content, known: readonly unknown[], where: string): void {
  if (typeof content === 'string') return;
  for (const part of content) {
    const value = part.type === 'raw' ? part.value : undefined;
    const type = isPlainObject(value) ? value['type'] : value;
    if (part.type === 'raw' && !known.includes(type))
      throw new InvalidArgumentError(
        `${where} has a raw part of the type ${describe(type)}, for which the AI SDK has no place; leave the part out`,
      );
  }
}

/** A text alone is a string. */
function toAnswer(message: AssistantMessage): string | readonly unknown[] {
  const { refusal, reasoning = '' } = message;
  const { parts } = keptOf(message.metadata);
  const content = message.content ?? refusal ?? null;
  const calls = callsOf(message).map(toCall);
  if (!parts && content !== null && calls.length === 0 && reasoning === '') return textOf(content);
  const ordered = orderedParts({ ...message, content }, parts ?? [], calls, toFile);
  const isKept = parts?.some(({ type }) => type === 'reasoning') || reasoning === '';
  return isKept ? ordered : [{ type: 'reasoning', text: reasoning }, ...ordered];
}

function toCall({ id, name, arguments: text, metadata }: ToolCall): JsonObject {
  const call = { type: 'tool-call', toolCallId: id, toolName: name, input: toInput(text) };
  return withOptions(call, keptOf(metadata).options);
}

/** The value of arguments; their text if it is no JSON, or has numbers or keys that would be lost. */
function toInput(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    const value = JSON.parse(text) as unknown;
    const isSame = JSON.stringify(value) === text;
    return typeof value === 'string' ? text : isSame ? value : parseWritten(text);
  } catch {
    return text;
  }
}

/** A file of a message; the AI SDK takes addresses as texts, too. */
function toFile(part: Media): JsonObject {
  const { data, url, name, mediaType = mediaTypeOf(part) } = part;
  const filename = name === undefined ? {} : { filename: name };
  return { type: 'file', data: data ?? url, mediaType, ...filename };
}

function toResultFile(part: Media): JsonObject {
  const kind = part.type === 'image' ? 'image' : 'file';
  const { data, url, mediaType, name } = part;
  const rest = {
    ...(mediaType !== undefined && { mediaType }),
    ...(name !== undefined && { filename: name }),
  };
  if (data === undefined) return { type: `${kind}-url`, url, ...rest };
  return { type: `${kind}-data`, data: base64(data), ...rest };
}
