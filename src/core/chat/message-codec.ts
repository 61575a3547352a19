import { usableMedia } from './media-content.js';
import { callsOf, checkMessage, type MediaPart, type Message } from './message.js';
import { InvalidArgumentError } from '../errors/errors.js';
import { describe } from '../errors/describe.js';
import { parseJson } from '../internal/json.js';
import { isPlainObject, type JsonObject } from '../internal/options.js';

/** Deeper values could be written but not read again: {@link parseJson} rejects them. */
const MAX_DEPTH = 190;

/**
 * Encodes a message as JSON for a store, with bytes as `{ "base64": … }`.
 * @throws {@link InvalidArgumentError} with the path of a value that decoding would not restore
 */
export function encodeMessage(message: Message): string {
  checkMessage(message, 'chat memory');
  return JSON.stringify(encodeValue(message, 'message', 0));
}

/**
 * Decodes a message that {@link encodeMessage} encoded. The result is plain data: no text can make
 * it create an instance of a class.
 * @throws {@link InvalidArgumentError} or {@link JsonError} if the text is not an encoded message
 */
export function decodeMessage(text: string): Message {
  const message = restoreFields(parseJson(text)) as Message;
  checkMessage(message, 'chat memory: a stored message');
  return message;
}

function encodeValue(value: unknown, path: string, depth: number): unknown {
  if (depth > MAX_DEPTH) throw unstorable(path, `is nested deeper than ${MAX_DEPTH} levels`);
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)) return value;
  if (Array.isArray(value))
    return Array.from(value as readonly unknown[], (item, at) =>
      encodeValue(item, `${path}[${at}]`, depth + 1),
    );
  if (value instanceof Uint8Array && DATA_OF_PART.test(path)) return { base64: toBase64(value) };
  if (!isPlainData(value)) throw unstorable(path, `is ${describe(value)}, which JSON cannot hold`);
  if (PART.test(path) && value['type'] === 'raw' && value['value'] === undefined)
    throw unstorable(path, 'is a raw part without a value');
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(
    entries.map(([key, inner]) => [key, encodeValue(inner, pathOf(path, key), depth + 1)]),
  );
}

/** Path of bytes in a message; anywhere else they could not be recognized when decoded. */
const DATA_OF_PART = /^message\.content\[\d+\]\.data$/;
const PART = /^message\.content\[\d+\]$/;

/** @throws {@link InvalidArgumentError} for a key that decoding rejects */
function pathOf(path: string, key: string): string {
  if (key === '__proto__' || (key === 'prototype' && path.endsWith('.constructor')))
    throw unstorable(path, `has the key ${JSON.stringify(key)}`);
  return `${path}.${key}`;
}

function isPlainData(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function unstorable(path: string, problem: string): InvalidArgumentError {
  return new InvalidArgumentError(
    `chat memory: ${path} ${problem}; store plain JSON (bytes only as \`data\` of a part)`,
  );
}

/** A message of a store, of which earlier versions wrote `text`. */
export function withContent<T extends object>(message: T): T {
  if ('content' in message || !('text' in message)) return message;
  const { text: content, ...rest } = message;
  return { ...rest, content } as unknown as T;
}

/** Restores what JSON cannot hold: bytes, and fields whose value is undefined. */
function restoreFields(value: unknown): unknown {
  if (!isPlainObject(value)) return value;
  const message = withContent(value);
  const { role, content, toolCalls } = message;
  return {
    ...message,
    ...(role === 'tool' ? { toolCallId: value['toolCallId'] } : {}),
    ...(Array.isArray(content) ? { content: content.map(restorePart) } : {}),
    ...(Array.isArray(toolCalls) ? { toolCalls: toolCalls.map(restoreCall) } : {}),
  };
}

const restoreCall = (call: unknown): unknown =>
  isPlainObject(call) ? { ...call, id: call['id'] } : call;

function restorePart(part: unknown): unknown {
  if (!isPlainObject(part) || !['image', 'audio', 'file'].includes(String(part['type'])))
    return part;
  const { data } = part;
  if (isPlainObject(data) && typeof data['base64'] === 'string')
    return readable({ ...part, data: fromBase64(data['base64']) });
  return readable(data === undefined ? { ...part, url: part['url'] } : part);
}

/** A conversation with media that no provider takes stays readable, without them. */
function readable(part: JsonObject): unknown {
  const { mediaType = '', url = '' } = part;
  const hasTexts = typeof mediaType === 'string' && typeof url === 'string';
  return hasTexts ? usableMedia(part as unknown as MediaPart<string>) : part;
}

function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000)
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** A line that equal messages share: content without the metadata, which a store or an application may have changed. */
export function comparisonKey(message: Message): string {
  const fields = [
    message.role,
    message.content ?? '',
    callsOf(message).map(({ id, name, arguments: text }) => [id, name, text]),
    message.role === 'tool' ? message.toolCallId : '',
  ];
  return `${JSON.stringify(fields)}\n`;
}
