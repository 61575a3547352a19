import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { ChatResponse } from '../../core/chat/chat-response.js';
import type { Citation } from '../../core/chat/citation.js';
import type { ToolCall } from '../../core/chat/message.js';
import { safeJson } from '../../core/internal/safe-json.js';

/**
 * An event with what a browser may see of it, as the formats `sse` and `ndjson` write it:
 *
 * - of a call its id, name and arguments; of a result what the model reads, not the value and error
 *   of the tool;
 * - of the response its text, finish reason, usage, model, sources and pause; no report of the run,
 *   no values of advisors, no fields of the provider;
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
      return { ...ofTool(event), data: safeJson(event.data) };
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

function ofCustom({ name, data }: { readonly name: string; readonly data: unknown }): object {
  return { name, data: safeJson(data) };
}

function publicResponse(response: ChatResponse): object {
  const { text, finishReason, model, usage, citations, paused } = response;
  return { text, finishReason, model, usage, citations: citations.map(publicCitation), paused };
}

/** Without the object of the provider. */
function publicCitation({ raw: _raw, ...citation }: Citation): object {
  return citation;
}
