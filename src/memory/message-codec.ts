import { parseJson } from '../chat/json.js';
import { checkMessage, describe, type Message } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';

/** Deeper values could be written, but not read again: {@link parseJson} refuses them. */
const MAX_DEPTH = 190;

/**
 * A message as text for a store: JSON, with bytes as `{ "base64": … }`.
 * @throws {@link InvalidArgumentError} if the message has something that would not come back as it is, naming the place
 */
export function encodeMessage(message: Message): string {
  checkMessage(message, 'chat memory');
  return JSON.stringify(encode(message, 'message', 0));
}

/**
 * The message of a text that {@link encodeMessage} made. Plain data: no text makes it build an object of a class.
 * @throws {@link InvalidArgumentError} or {@link JsonError} if the text is not one of a message
 */
export function decodeMessage(text: string): Message {
  const message = decode(parseJson(text)) as Message;
  checkMessage(message, 'chat memory: a stored message');
  return message;
}

function encode(value: unknown, path: string, depth: number): unknown {
  if (depth > MAX_DEPTH) throw unfit(path, `is nested deeper than ${MAX_DEPTH} levels`);
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)) return value;
  if (Array.isArray(value)) return value.map((item, at) => encode(item ?? (item === null ? null : undefined), `${path}[${at}]`, depth + 1));
  if (value instanceof Uint8Array && DATA_OF_PART.test(path)) return { base64: toBase64(value) };
  if (!isPlain(value)) throw unfit(path, `is ${describe(value)}, which JSON cannot hold`);
  if (PART.test(path) && value['type'] === 'raw' && value['value'] === undefined) throw unfit(path, 'is a raw part without a value');
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([key, inner]) => [checkedKey(key, path), encode(inner, `${path}.${key}`, depth + 1)]),
  );
}

/** The one place where bytes are part of a message; anywhere else nobody would know that they were bytes. */
const DATA_OF_PART = /^message\.content\[\d+\]\.data$/;
const PART = /^message\.content\[\d+\]$/;

function checkedKey(key: string, path: string): string {
  if (key === '__proto__' || (key === 'prototype' && path.endsWith('.constructor')))
    throw unfit(path, `has the key ${JSON.stringify(key)}`);
  return key;
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

function unfit(path: string, problem: string): InvalidArgumentError {
  return new InvalidArgumentError(`chat memory: ${path} ${problem}; store plain JSON (bytes only as \`data\` of a part)`);
}

/** Restores what JSON has no form for: bytes, and fields that are there without a value. */
function decode(value: unknown): unknown {
  const message = value as Partial<Record<string, unknown>> | null;
  if (typeof message !== 'object' || message === null) return value;
  const content = Array.isArray(message['content']) ? { content: message['content'].map(decodePart) } : {};
  if (message['role'] === 'tool') return { ...message, toolCallId: message['toolCallId'], ...content };
  if (message['role'] !== 'assistant' || !Array.isArray(message['toolCalls'])) return { ...message, ...content };
  const toolCalls = message['toolCalls'].map((call: unknown) => (isPlain(call) ? { ...call, id: call['id'] } : call));
  return { ...message, toolCalls };
}

function decodePart(part: unknown): unknown {
  if (!isPlain(part) || !MEDIA.has(part['type'])) return part;
  const { data } = part;
  if (isPlain(data) && typeof data['base64'] === 'string') return { ...part, data: fromBase64(data['base64']) };
  return data === undefined ? { ...part, url: part['url'] } : part;
}

const MEDIA: ReadonlySet<unknown> = new Set(['image', 'audio', 'file']);

function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
