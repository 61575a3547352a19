import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { ChatResponse } from '../../core/chat/chat-response.js';
import type { Citation } from '../../core/chat/citation.js';
import type { ToolCall } from '../../core/chat/message.js';
import { isPlainObject } from '../../core/internal/options.js';
import { safeJson } from '../../core/internal/safe-json.js';

/**
 * An event with what a browser may see of it, as the formats `sse` and `ndjson` write it:
 *
 * - of a call its id, name and arguments; of a result what the model reads, not the value and error
 *   of the tool;
 * - of the response its text, finish reason, usage, model, sources and pause; no report of the run,
 *   no values of advisors, no fields of the provider;
 * - of the events of an agent in `tool-progress` the same;
 * - undefined for a `step`, which repeats the events before it.
 */
export function publicEvent(event: ChatEvent): object | undefined {
  const fields = fieldsOf(event);
  if (!fields) return undefined;
  const isReplayed = event.type !== 'response' && event.isReplayed;
  return { type: event.type, ...fields, ...(isReplayed && { isReplayed }) };
}

function fieldsOf(event: ChatEvent): object | undefined {
  switch (event.type) {
    case 'iteration-start':
      return { index: event.index, model: event.model };
    case 'text-delta':
    case 'reasoning-delta':
      return { text: event.text };
    case 'tool-call-delta':
      return { index: event.index, id: event.id, name: event.name, arguments: event.arguments };
    case 'citation':
      return { citation: publicCitation(event.citation) };
    case 'iteration':
      return { index: event.index };
    case 'tool-call':
    case 'tool-start':
      return ofTool(event);
    case 'tool-progress':
      return ofProgress(event);
    case 'tool-result': {
      const { content, isError } = event.result;
      return { ...ofTool(event), result: { content, isError } };
    }
    case 'step':
      return undefined;
    case 'retract':
      return { iteration: event.iteration };
    case 'response':
      return { response: publicResponse(event.response) };
    default:
      return ofCustom(event);
  }
}

function ofTool({
  toolName,
  call,
}: {
  readonly toolName: string;
  readonly call: ToolCall;
}): object {
  return { toolName, call: { id: call.id, name: call.name, arguments: call.arguments } };
}

/** An `agentTool` reports the events of its turn, which have their own values to leave out. */
function ofProgress(event: Extract<ChatEvent, { readonly type: 'tool-progress' }>) {
  const { data } = event;
  if (!isNested(data)) return { ...ofTool(event), data: safeJson(data) };
  const nested = publicEvent(data);
  return nested && { ...ofTool(event), data: nested };
}

/** Fields of the events that have something to leave out. */
const NESTED: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['citation', ['citation']],
  ['iteration', ['response']],
  ['tool-call', ['call']],
  ['tool-start', ['call']],
  ['tool-progress', ['call']],
  ['tool-result', ['call', 'result']],
  ['step', ['step']],
  ['response', ['response']],
]);

function isNested(data: unknown): data is ChatEvent {
  if (!isPlainObject(data)) return false;
  const fields = NESTED.get(data['type']);
  return fields?.every((field) => isPlainObject(data[field])) ?? false;
}

function ofCustom({ name, data }: { readonly name: string; readonly data: unknown }): object {
  return { name, data: safeJson(data) };
}

function publicResponse(response: ChatResponse): object {
  const { text, finishReason, model, usage, citations, paused } = response;
  return { text, finishReason, model, usage, citations: citations?.map(publicCitation), paused };
}

/** Without the object of the provider. */
function publicCitation({ raw: _raw, ...citation }: Citation): object {
  return citation;
}
