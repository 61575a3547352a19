import {
  textOf,
  type ContentPart,
  type Message,
  type UserMessage,
} from '../../core/chat/message.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { isPlainObject, nonEmptyString, type JsonObject } from '../../core/internal/options.js';
import { describe } from '../../core/errors/describe.js';
import { base64Of, usableMedia } from '../../core/chat/media-content.js';
import { resultText } from '../../core/tool/result-text.js';

/** Content of a message: one text, or parts if there are media. */
export type Content = string | readonly ContentPart[];

/** Content from the blocks of a server; a block of an unknown type becomes its JSON text. */
export function toContent(blocks: unknown): Content {
  const parts = (Array.isArray(blocks) ? blocks : [blocks]).map(toPart);
  const isText = parts.every(({ type }) => type === 'text');
  return isText ? parts.map((part) => textOf([part])).join('\n') : parts;
}

function toPart(block: unknown): ContentPart {
  const fields: JsonObject = isPlainObject(block) ? block : {};
  const { type, text, data, mimeType } = fields;
  if (type === 'text' && typeof text === 'string') return { type, text };
  if (type === 'image' || type === 'audio') {
    if (typeof data === 'string' && typeof mimeType === 'string')
      return usableMedia({ type, data: data.replaceAll(/\s/g, ''), mediaType: mimeType });
  }
  if (type === 'resource' && isPlainObject(fields['resource']))
    return resourcePart(fields['resource']);
  if (type === 'resource_link') return { type: 'text', text: linkText(fields) };
  return { type: 'text', text: resultText(block) };
}

/** A link, which only the application can follow: the model reads its address and description. */
function linkText({ uri, name, title, description }: JsonObject): string {
  const label = nonEmptyString(title) ?? nonEmptyString(name) ?? 'resource';
  const about = nonEmptyString(description);
  return `[${label}](${String(uri)})${about ? `: ${about}` : ''}`;
}

function resourcePart({ uri, text, blob, mimeType }: JsonObject): ContentPart {
  if (typeof text === 'string') return { type: 'text', text };
  if (typeof blob !== 'string') return { type: 'text', text: String(uri) };
  const mediaType = nonEmptyString(mimeType) ?? 'application/octet-stream';
  const [kind] = mediaType.split('/');
  const data = blob.replaceAll(/\s/g, '');
  if (kind === 'image' || kind === 'audio') return usableMedia({ type: kind, data, mediaType });
  const name = String(uri).split('/').at(-1);
  return usableMedia({ type: 'file', data, mediaType, ...(name && { name }) });
}

/** The contents of a resource as a message of the user. */
export function resourceMessage({ contents }: JsonObject): UserMessage {
  const resources = Array.isArray(contents) ? contents : [];
  return {
    role: 'user',
    content: toContent(resources.map((resource: unknown) => ({ type: 'resource', resource }))),
  };
}

/**
 * The messages of a prompt.
 * @throws {@link InvalidArgumentError} if a message has another role than `user` or `assistant`
 */
export function promptMessages({ messages }: JsonObject): readonly Message[] {
  return (Array.isArray(messages) ? messages : []).map((message: unknown): Message => {
    const { role, content } = isPlainObject(message) ? message : ({} as JsonObject);
    const parts = toContent(content);
    if (role === 'user') return { role, content: parts };
    if (role === 'assistant') return { role, content: textOf(parts) };
    throw new InvalidArgumentError(
      `a prompt of an MCP server has messages of the user and the assistant, not of ${describe(role)}`,
    );
  });
}

/** A block of content as the protocol writes it. */
export type McpContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource_link'; readonly uri: string; readonly name: string }
  | {
      readonly type: 'resource';
      readonly resource: { readonly uri: string; readonly blob: string; readonly mimeType: string };
    };

/** The blocks of a result. */
export function toMcpContent(content: Content): McpContent[] {
  const parts: readonly ContentPart[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return parts.map((part) => {
    if (part.type === 'text') return part;
    if (part.type === 'raw') return { type: 'text', text: resultText(part.value) };
    const name = (part.type === 'file' && part.name) || part.type;
    const mimeType = part.mediaType ?? 'application/octet-stream';
    if (part.data === undefined) return { type: 'resource_link', uri: part.url ?? '', name };
    const data = base64Of(part, 'serveMcp');
    if (part.type === 'file')
      return { type: 'resource', resource: { uri: `file:///${name}`, blob: data, mimeType } };
    return { type: part.type, data, mimeType };
  });
}
