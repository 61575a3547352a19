import {
  callsOf,
  type Content,
  type ContentPart,
  type Message,
  type ToolCall,
} from '../../core/chat/message.js';
import type { JsonObject } from '../../core/internal/options.js';
import {
  asFunctionName,
  asList,
  asName,
  asObject,
  asText,
  needed,
  optional,
  refuse,
  type Reader,
} from './fields.js';

const MAX_PARTS = 1_000;
const MAX_CALLS = 1_000;
const MAX_ID = 512;

/** Names of the called tools by the ids of calls that have no result yet. */
type OpenNames = Map<string, string>;

/** Messages of a request: the results of calls follow these at once, as models want them. */
export function fromMessages(body: JsonObject, max: number): readonly Message[] {
  const open: OpenNames = new Map();
  const read: Reader<Message> = (value, path) => {
    const message = fromMessage(asObject(value, path), `${path}.`, open);
    if (message.role !== 'tool') checkAnswered(open, path);
    for (const { id, name } of callsOf(message)) {
      if (open.has(id)) return refuse(`${path}.tool_calls`, 'two of them have the same id');
      open.set(id, name);
    }
    return message;
  };
  const messages = needed(body, 'messages', '', asList(max, read));
  checkAnswered(open, 'messages');
  return messages.length > 0 ? messages : refuse('messages', 'there is none');
}

function checkAnswered(open: OpenNames, path: string): void {
  if (open.size > 0) refuse(path, 'a tool call before it has no message with its result');
}

function fromMessage(message: JsonObject, path: string, open: OpenNames): Message {
  const role = needed(message, 'role', path, asText);
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: needed(message, 'content', path, asTexts) };
    case 'user':
      return { role, content: needed(message, 'content', path, asContent) };
    case 'assistant':
      return fromAssistant(message, path);
    case 'tool':
      return fromResult(message, path, open);
    default:
      return refuse(`${path}role`, 'it is one of system, developer, user, assistant, tool');
  }
}

function fromAssistant(message: JsonObject, path: string): Message {
  const content = optional(message, 'content', path, asTexts) ?? null;
  const refusal = optional(message, 'refusal', path, asText);
  const toolCalls = optional(message, 'tool_calls', path, asList(MAX_CALLS, asCall)) ?? [];
  if (content === null && refusal === undefined && toolCalls.length === 0)
    return refuse(`${path}content`, 'it is missing');
  return {
    role: 'assistant',
    content,
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(refusal !== undefined && { refusal }),
  };
}

const asCall: Reader<ToolCall> = (value, path) => {
  const call = asObject(value, path);
  const type = optional(call, 'type', `${path}.`, asText) ?? 'function';
  if (type !== 'function') return refuse(`${path}.type`, 'it must be function');
  const called = needed(call, 'function', `${path}.`, asObject);
  return {
    id: needed(call, 'id', `${path}.`, asName(MAX_ID)),
    name: needed(called, 'name', `${path}.function.`, asFunctionName),
    arguments: needed(called, 'arguments', `${path}.function.`, asText),
  };
};

function fromResult(message: JsonObject, path: string, open: OpenNames): Message {
  const toolCallId = needed(message, 'tool_call_id', path, asName(MAX_ID));
  const toolName = open.get(toolCallId);
  if (toolName === undefined)
    return refuse(`${path}tool_call_id`, 'no call before it has this id and no result yet');
  open.delete(toolCallId);
  return { role: 'tool', toolCallId, toolName, content: needed(message, 'content', path, asTexts) };
}

/** A text, or parts that are texts. */
const asTexts: Reader<string> = (value, path) => {
  if (typeof value === 'string') return value;
  const parts = asList(MAX_PARTS, asPart)(value, path);
  return parts.map((part) => (part.type === 'text' ? part.text : refuse(path, 'it must have text alone'))).join(''); // prettier-ignore
};

const asContent: Reader<Content> = (value, path) =>
  typeof value === 'string' ? value : asList(MAX_PARTS, asPart)(value, path);

const asPart: Reader<ContentPart> = (value, path) => {
  const part = asObject(value, path);
  const type = needed(part, 'type', `${path}.`, asText);
  switch (type) {
    case 'text':
      return { type, text: needed(part, 'text', `${path}.`, asText) };
    case 'refusal':
      return { type: 'text', text: needed(part, 'refusal', `${path}.`, asText) };
    case 'image_url':
      return { type: 'image', url: needed(part, type, `${path}.`, asImage) };
    case 'input_audio': {
      const audio = needed(part, type, `${path}.`, asObject);
      const format = needed(audio, 'format', `${path}.${type}.`, asName(16));
      const data = needed(audio, 'data', `${path}.${type}.`, asText);
      return { type: 'audio', data, mediaType: `audio/${format}` };
    }
    case 'file':
      return fromFile(needed(part, type, `${path}.`, asObject), `${path}.file.`);
    default:
      return refuse(`${path}.type`, 'it is one of text, image_url, input_audio, file');
  }
};

function fromFile(file: JsonObject, path: string): ContentPart {
  const name = optional(file, 'filename', path, asName(MAX_ID));
  const url = needed(file, 'file_data', path, asText);
  if (!url.startsWith('data:')) return refuse(`${path}file_data`, 'it must be a data: URL');
  return { type: 'file', url, ...(name !== undefined && { name }) };
}

/** Some clients send the address alone. */
const asImage: Reader<string> = (value, path) =>
  typeof value === 'string'
    ? asAddress(value, path)
    : needed(asObject(value, path), 'url', `${path}.`, asAddress);

/** Content, or an address that a provider fetches. */
const asAddress: Reader<string> = (value, path) => {
  const url = asText(value, path);
  return /^(?:https?:\/\/|data:)/.test(url)
    ? url
    : refuse(path, 'it must be a https: or data: URL');
};
