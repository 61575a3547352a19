import type { CitationEvent, ToolCallDelta } from './chat-event.js';
import { toCitation, type Citation, type ForeignPlace } from './citation.js';
import type { JsonObject } from '../internal/options.js';
import type { AssistantMessage, Message, Metadata, ToolCall } from './message.js';
import { isCallId, OpenCalls, type ToolCallPiece } from './open-calls.js';

/**
 * Assembles the pieces of one streamed answer. Texts grow by `+=`; no piece is kept. For the rules
 * by which pieces of tool calls belong together, see {@link OpenCalls}.
 */
export class StreamFold {
  text = '';
  reasoning = '';
  refusal = '';
  readonly citations: Citation[] = [];
  /** Most answers have none. */
  private calls: OpenCalls | undefined;

  /** Adds a piece and returns it as an event with the position of its call. */
  addToolCall(piece: ToolCallPiece): ToolCallDelta {
    return (this.calls ??= new OpenCalls()).add(piece);
  }

  /** Adds a citation and returns it as an event; see {@link toCitation}. */
  addCitation(
    raw: JsonObject | undefined,
    place?: ForeignPlace,
    fields?: JsonObject,
  ): CitationEvent {
    const citation = toCitation(raw, place, fields);
    this.citations.push(citation);
    return { type: 'citation', citation };
  }

  /** The citations as a field of the generation. */
  get cited(): { readonly citations?: readonly Citation[] } {
    return this.citations.length > 0 ? { citations: this.citations } : {};
  }

  /** The message so far; its text is null if there are calls or a refusal instead. */
  message(metadata?: Metadata): AssistantMessage {
    return {
      role: 'assistant',
      text:
        this.text === '' && (this.calls !== undefined || this.refusal !== '') ? null : this.text,
      toolCalls: this.calls?.toToolCalls() ?? [],
      ...(this.reasoning !== '' && { reasoning: this.reasoning }),
      ...(this.refusal !== '' && { refusal: this.refusal }),
      ...(metadata && { metadata }),
    };
  }
}

/**
 * Gives every tool call an id that is unique in the conversation: a missing id is generated, a
 * repeated one gets a suffix. Deterministic, so that the same turn has the same ids again.
 */
export function withUniqueCallIds(
  message: AssistantMessage,
  conversation: readonly Message[],
): AssistantMessage {
  if (message.toolCalls.length === 0) return message;
  const own = new Set(message.toolCalls.map(({ id }) => id));
  const callsOf = (earlier: Message): readonly ToolCall[] =>
    earlier.role === 'assistant' ? earlier.toolCalls : [];
  const isUnique =
    own.size === message.toolCalls.length && message.toolCalls.every(({ id }) => isCallId(id));
  // without a set of all ids: a loop asks in each iteration
  if (isUnique && !conversation.some((earlier) => callsOf(earlier).some(({ id }) => own.has(id))))
    return message;
  const used = new Set(conversation.flatMap(callsOf).map(({ id }) => id));
  const suffixes = new Map<string, number>();
  const toolCalls = message.toolCalls.map((call) => ({
    ...call,
    id: uniqueId(call.id, used, suffixes),
  }));
  return { ...message, toolCalls };
}

/** @param suffixes the first number that is not used, for each id */
function uniqueId(id: string, used: Set<string>, suffixes: Map<string, number>): string {
  const stem = isCallId(id) ? id : 'call';
  let unique = isCallId(id) ? id : `call_${used.size + 1}`;
  let suffix = suffixes.get(stem) ?? 2;
  while (used.has(unique)) unique = `${stem}_${suffix++}`;
  suffixes.set(stem, suffix);
  used.add(unique);
  return unique;
}
