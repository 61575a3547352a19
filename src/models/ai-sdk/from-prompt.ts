import type { ChatOptions } from '../../core/chat/chat-options.js';
import type { ContentPart, Message, ToolCall } from '../../core/chat/message.js';
import { isPlainObject, nonEmptyString, type JsonObject } from '../../core/internal/options.js';
import { sameOptions } from './call-options.js';

/** Messages of a prompt of the AI SDK; parts of another kind are left out. */
export function fromPrompt(prompt: readonly object[]): readonly Message[] {
  return prompt.filter(isPlainObject).flatMap(({ role, content }): readonly Message[] => {
    if (role === 'system') return [{ role, content: String(content) }];
    const parts = Array.isArray(content) ? content.filter(isPlainObject) : [];
    if (role === 'user') return [{ role, content: parts.flatMap(toContentPart) }];
    if (role === 'assistant') return [toAssistant(parts)];
    return role === 'tool' ? parts.flatMap(toToolMessage) : [];
  });
}

function toAssistant(parts: readonly JsonObject[]): Message {
  const textOf = (type: string): string =>
    parts.map((part) => (part['type'] === type ? String(part['text']) : '')).join('');
  const reasoning = textOf('reasoning');
  const toolCalls = parts.filter((part) => part['type'] === 'tool-call').flatMap(toCall);
  const text = textOf('text');
  return {
    role: 'assistant',
    content: text === '' && toolCalls.length > 0 ? null : text,
    toolCalls,
    ...(reasoning !== '' && { reasoning }),
  };
}

function toCall({ toolCallId, toolName, input, providerExecuted }: JsonObject): ToolCall[] {
  if (providerExecuted === true) return [];
  const json = typeof input === 'string' ? input : JSON.stringify(input ?? {});
  return [{ id: String(toolCallId), name: String(toolName), arguments: json }];
}

function toToolMessage({ type, toolCallId, toolName, output }: JsonObject): Message[] {
  if (type !== 'tool-result') return [];
  const { type: kind, value, reason } = isPlainObject(output) ? output : {};
  const isError = kind === 'error-text' || kind === 'error-json' || kind === 'execution-denied';
  const content =
    kind === 'content' && Array.isArray(value)
      ? value.filter(isPlainObject).flatMap(toContentPart)
      : (nonEmptyString(value) ?? nonEmptyString(reason) ?? JSON.stringify(value ?? null));
  return [
    {
      role: 'tool',
      toolCallId: String(toolCallId),
      toolName: String(toolName),
      content,
      ...(isError && { isError }),
    },
  ];
}

/** A part of content; files have another form in results of tools, and in specification v4. */
function toContentPart({ type, text, data, url, mediaType, filename }: JsonObject): ContentPart[] {
  if (type === 'text') return [{ type, text: String(text) }];
  const content = mediaSource(data ?? url);
  if (!content) return [];
  const media =
    nonEmptyString(mediaType) ?? (String(type).startsWith('image') ? 'image/*' : undefined);
  const kind = /^(image|audio)(?=\/)/.exec(media ?? '')?.[0] as 'image' | 'audio' | undefined;
  const name = nonEmptyString(filename);
  const part = { ...content, ...(media !== undefined && { mediaType: media }) };
  return [kind ? { type: kind, ...part } : { type: 'file', ...part, ...(name && { name }) }];
}

function mediaSource(
  content: unknown,
): { readonly url: string } | { readonly data: string | Uint8Array } | undefined {
  if (content instanceof URL) return { url: content.href };
  if (content instanceof Uint8Array) return { data: content };
  if (typeof content === 'string')
    return /^(https?|data):/.test(content) ? { url: content } : { data: content };
  return isPlainObject(content) ? mediaSource(content['data'] ?? content['url']) : undefined;
}

/** Options of a request of the AI SDK that a client has as well. */
export function fromCallOptions(options: JsonObject): ChatOptions {
  const fields = {
    maxTokens: options['maxOutputTokens'],
    ...sameOptions(options),
    responseFormat: toFormat(options['responseFormat']),
  };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}

function toFormat(format: unknown): ChatOptions['responseFormat'] {
  if (!isPlainObject(format) || format['type'] !== 'json') return undefined;
  const { schema, name } = format;
  return isPlainObject(schema) ? { schema, ...(typeof name === 'string' && { name }) } : 'json';
}
