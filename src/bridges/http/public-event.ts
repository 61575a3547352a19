import type { ChatEvent, CustomEvents } from '../../core/chat/chat-event.js';
import type { ChatResponse } from '../../core/chat/chat-response.js';
import type { Citation } from '../../core/chat/citation.js';
import type { ToolCall } from '../../core/chat/message.js';
import { isPlainObject, rule, type Rule } from '../../core/internal/options.js';
import { safeJson } from '../../core/internal/safe-json.js';

/**
 * Names of custom events whose data a browser gets, as formats take them. By default none: events of
 * advisors may hold what is not for users.
 */
export type ShownEvents = readonly (keyof CustomEvents)[];
export const SHOWN_EVENTS: Rule = rule('an array of names', Array.isArray);

/** Names of custom events. */
type EventNames = Pick<readonly string[], 'includes'>;
/** All custom events, for a log: its formats leave out what a browser must not have. */
export const ALL_EVENTS: EventNames = { includes: () => true };

/**
 * An event with what a browser may see of it, as the formats `sse` and `ndjson` write it:
 *
 * - of a call its id, name and arguments; of a result what the model reads, not the value and error
 *   of the tool;
 * - of the response its text, finish reason, usage, model, sources and pause; no report of the run,
 *   no values of advisors, no fields of the provider;
 * - of the events of an agent in `tool-progress` the same;
 * - undefined for a custom event that is not named, and for a `step`, which repeats the events before it.
 */
export function publicEvent(event: ChatEvent, customEvents: EventNames): object | undefined {
  const fields = fieldsOf(event, customEvents);
  if (!fields) return undefined;
  const isReplayed = event.type !== 'response' && event.isReplayed;
  return { type: event.type, ...fields, ...(isReplayed && { isReplayed }) };
}

function fieldsOf(event: ChatEvent, customEvents: EventNames): object | undefined {
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
    case 'tool-progress': {
      const progress = publicProgress(event.data, customEvents);
      return progress && { ...ofTool(event), ...progress };
    }
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
      return ofCustom(event, customEvents);
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

/**
 * The part of the progress of a tool that a browser may see; undefined for none. An `agentTool` reports the
 * events of its turn, which have their own values to leave out.
 */
export function publicProgress(
  data: unknown,
  customEvents: EventNames,
): { readonly data: unknown } | undefined {
  const shown = isNested(data) ? publicEvent(data, customEvents) : safeJson(data);
  return shown === undefined && data !== undefined ? undefined : { data: shown };
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
  ['custom', []],
]);

function isNested(data: unknown): data is ChatEvent {
  if (!isPlainObject(data)) return false;
  const fields = NESTED.get(data['type']);
  return fields?.every((field) => isPlainObject(data[field])) ?? false;
}

function ofCustom(
  { name, data }: { readonly name: string; readonly data: unknown },
  customEvents: EventNames,
): object | undefined {
  return customEvents.includes(name) ? { name, data: safeJson(data) } : undefined;
}

function publicResponse(response: ChatResponse): object {
  const { text, finishReason, model, usage, citations, paused } = response;
  return { text, finishReason, model, usage, citations: citations?.map(publicCitation), paused };
}

/** Without the object of the provider. */
function publicCitation({ raw: _raw, ...citation }: Citation): object {
  return citation;
}
