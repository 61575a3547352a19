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
  readonly index: number | undefined;
  id: string;
  name: string;
  arguments: string;
  metadata: Record<string, unknown> | undefined;
}

/**
 * Puts the pieces of one streamed answer together. Texts grow by `+=`; no piece is kept.
 *
 * Pieces of a tool call belong together by index, then by id, then by order of arrival. An index that is used again for another
 * call opens a new one, since some servers give every call the index 0.
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

  /** The message so far; the text is null where calls or a refusal came in its place. */
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
    const { index, id } = piece;
    const known = isCallId(id) ? this.calls.findLast((open) => open.id === id && (index ?? open.index) === open.index) : undefined;
    const call = known ?? this.successor(piece);
    return call && !startsAnother(call, piece) ? call : undefined;
  }

  /** The call that a piece goes on with if its id says nothing. */
  private successor({ index, id }: ToolCallPiece): OpenCall | undefined {
    if (typeof index === 'number') return this.byIndex.get(index);
    return isCallId(id) ? this.calls.findLast((open) => open.id === '') : this.calls.at(-1);
  }

  private open(piece: ToolCallPiece): OpenCall {
    const index = piece.index ?? undefined;
    const call: OpenCall = { index, id: '', name: '', arguments: '', metadata: undefined };
    this.calls.push(call);
    if (index !== undefined) this.byIndex.set(index, call);
    return call;
  }
}

/** Whether a piece that would go on with a call begins another one; what a server repeats on each piece must not. */
function startsAnother(call: OpenCall, piece: ToolCallPiece): boolean {
  const hasId = isCallId(piece.id);
  if (hasId && call.id !== '' && call.id !== piece.id) return Boolean(piece.name) || isComplete(call.arguments);
  if (!piece.name || call.name === '') return false;
  if (piece.name !== call.name && !(hasId && call.id === piece.id)) return true;
  // a server that repeats the name on each piece sends it with a last, empty one too; then the index or the id tells the calls apart
  const saysMore = Boolean(piece.arguments?.trim()) || (!hasId && typeof piece.index !== 'number');
  return saysMore && isComplete(call.arguments);
}

/** Whether a text is a whole JSON object. */
function isComplete(text: string): boolean {
  if (!text.trimEnd().endsWith('}')) return false;
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
