import { mapOrSame } from '../internal/map-or-same.js';
import { memoize } from '../internal/memoize.js';
import { sha256Hex } from '../internal/text.js';
import type { ChatOptions } from './chat-options.js';
import { foldCalls, HASHED_LENGTH, LEGAL_NAME, type KnownCalls } from './known-calls.js';
import { callsOf, type Message, type ToolCall } from './message.js';
import { MessageView, type Prompt } from './prompt.js';

/**
 * The prompt as a model gets it: calls and results have the ids that the model knows, where these
 * are unique, and names of unknown tools have a form that every API accepts.
 */
export function toSentPrompt(prompt: Prompt): Prompt {
  const calls = prompt.fold(foldCalls);
  const names = [...calls.names];
  const rename = names.length === 0 ? unchanged : renaming(prompt.options);
  if (calls.wireIds.size === 0 && names.every((name) => rename(name) === name)) return prompt;
  return prompt.through(viewOf(rename)(calls));
}

type Rename = (name: string) => string;

const unchanged: Rename = (name) => name;

const renaming = memoize(({ tools = [] }: ChatOptions): Rename => {
  const offered = new Set(tools.map(({ definition }) => definition.name));
  return (name) => (offered.has(name) ? name : toLegalName(name));
});

const viewOf = memoize((rename: Rename) =>
  memoize(
    ({ wireIds }: KnownCalls) => new MessageView((message) => toSent(message, wireIds, rename)),
  ),
);

function toSent(message: Message, wireIds: KnownCalls['wireIds'], rename: Rename): Message {
  if (message.role === 'tool') {
    const { toolCallId, toolName, wireId, ...rest } = message;
    const id = wireIds.get(toolCallId) ?? toolCallId;
    const name = rename(toolName);
    if (id === toolCallId && name === toolName) return message;
    const known = wireId === undefined || wireId === id ? {} : { wireId };
    return Object.freeze({ ...rest, ...known, toolCallId: id, toolName: name });
  }
  const calls = callsOf(message);
  const toolCalls = mapOrSame(calls, (call) => sentCall(call, wireIds, rename));
  if (toolCalls === calls || message.role !== 'assistant') return message;
  return Object.freeze({ ...message, toolCalls: Object.freeze(toolCalls) });
}

function sentCall(call: ToolCall, wireIds: KnownCalls['wireIds'], rename: Rename): ToolCall {
  const { wireId: _wireId, ...own } = call;
  const id = wireIds.get(call.id);
  const name = rename(call.name);
  if (id !== undefined) return Object.freeze({ ...own, id, name });
  // keeps `wireId`: it is in what the model has kept of its answer
  return name === call.name ? call : Object.freeze({ ...call, name });
}

/**
 * A name that every API accepts, in place of one that a model has made up. It has a hash of that
 * name, so that no tool has it.
 */
function toLegalName(name: string): string {
  if (LEGAL_NAME.test(name)) return name;
  const legal = name.slice(0, 54).replaceAll(/[^a-zA-Z0-9_-]+/g, '_');
  return `${/^[a-zA-Z_]/.test(legal) ? '' : '_'}${legal}_${sha256Hex(name.slice(0, HASHED_LENGTH)).slice(0, 8)}`;
}
