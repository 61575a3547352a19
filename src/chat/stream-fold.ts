import type { ToolCallDelta } from './chat-event.js';
import type { AssistantMessage, Metadata, ToolCall } from './message.js';
import { isCallId } from './tool-call-ids.js';

/** A piece of a tool call as a provider sends it: anything may be missing, in any order. */
export interface ToolCallPiece {
  readonly index?: number | null | undefined;
  readonly id?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly arguments?: string | null | undefined;
  readonly metadata?: Metadata | undefined;
}

interface OpenCall {
  id: string;
  name: string;
  arguments: string;
  metadata: Record<string, unknown> | undefined;
}

/**
 * Puts the pieces of one streamed answer together. Texts grow by `+=`; no piece is kept.
 *
 * Pieces of a tool call belong together by index, then by id, then by order of arrival. An index that is used again with
 * another id is a new call, since some servers give every call the index 0.
 */
export class StreamFold {
  text = '';
  reasoning = '';
  refusal = '';
  private readonly calls: OpenCall[] = [];
  private readonly byIndex = new Map<number, OpenCall>();

  /** Adds a piece and returns it as an event that names the call's place. */
  addToolCall(piece: ToolCallPiece): ToolCallDelta {
    const call = this.find(piece) ?? this.open(piece);
    const first: { id?: string; name?: string } = {};
    if (call.id === '' && isCallId(piece.id)) first.id = call.id = piece.id;
    if (call.name === '' && piece.name) first.name = call.name = piece.name;
    const text = piece.arguments ?? '';
    call.arguments += text;
    if (piece.metadata) call.metadata = { ...call.metadata, ...piece.metadata };
    return { type: 'tool-call-delta', index: this.calls.indexOf(call), ...first, arguments: text };
  }

  /** The message so far; a text that never came is null. */
  message(metadata?: Metadata): AssistantMessage {
    return {
      role: 'assistant',
      text: this.text === '' && (this.calls.length > 0 || this.refusal !== '') ? null : this.text,
      toolCalls: this.calls.map(toToolCall),
      ...(this.reasoning !== '' && { reasoning: this.reasoning }),
      ...(this.refusal !== '' && { refusal: this.refusal }),
      ...(metadata && { metadata }),
    };
  }

  private find(piece: ToolCallPiece): OpenCall | undefined {
    if (typeof piece.index === 'number') {
      const call = this.byIndex.get(piece.index);
      return call && !startsAnother(call, piece) ? call : undefined;
    }
    if (isCallId(piece.id)) {
      const call = this.calls.findLast((open) => open.id === piece.id);
      return call ?? this.calls.findLast((open) => open.id === '' && !startsAnother(open, piece));
    }
    const last = this.calls.at(-1);
    return last && piece.name && last.name !== '' ? undefined : last;
  }

  private open(piece: ToolCallPiece): OpenCall {
    const call: OpenCall = { id: '', name: '', arguments: '', metadata: undefined };
    this.calls.push(call);
    if (typeof piece.index === 'number') this.byIndex.set(piece.index, call);
    return call;
  }
}

/** Whether a piece for a used place begins another call: another id, together with a name or after complete arguments. */
function startsAnother(call: OpenCall, piece: ToolCallPiece): boolean {
  if (!isCallId(piece.id) || call.id === '' || call.id === piece.id) return false;
  return Boolean(piece.name) || isComplete(call.arguments);
}

function isComplete(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // not complete yet
  }
}

function toToolCall(call: OpenCall): ToolCall {
  return { id: call.id, name: call.name, arguments: call.arguments, ...(call.metadata && { metadata: call.metadata }) };
}
