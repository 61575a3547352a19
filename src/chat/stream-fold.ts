import type { ToolCallDelta } from './chat-event.js';
import { canonicalJson, parseJson } from '../internal/json.js';
import type { AssistantMessage, Message, Metadata, ToolCall } from './message.js';

/** A piece of a tool call as sent by a provider: every field is optional, and the order is not fixed. */
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
  metadata: Metadata | undefined;
}

/**
 * Assembles the pieces of one streamed answer. Texts grow by `+=`; no piece is kept.
 *
 * Pieces of a tool call are matched by index, then by id, then by order of arrival. An index used
 * again for another call starts a new one, since some servers send index 0 for every call. A piece
 * with all of a call that is there already (index, id and arguments) repeats it: two calls would run
 * a tool twice.
 */
export class StreamFold {
  text = '';
  reasoning = '';
  refusal = '';
  private readonly calls: OpenCall[] = [];
  private readonly callsByIndex = new Map<number, OpenCall>();
  /** Calls that another one with their id follows, by index, id, name and arguments. */
  private readonly callsByValue = new Map<string, OpenCall>();

  /** Adds a piece and returns it as an event with the position of its call. */
  addToolCall(piece: ToolCallPiece): ToolCallDelta {
    const call = this.findCall(piece) ?? this.startCall(piece);
    const first: { id?: string; name?: string } = {};
    if (call.id === '' && isCallId(piece.id)) first.id = call.id = piece.id;
    if (call.name === '' && piece.name) first.name = call.name = piece.name;
    const text = repeats(call, piece) ? '' : (piece.arguments ?? '');
    call.arguments += text;
    if (piece.metadata) call.metadata = { ...call.metadata, ...piece.metadata };
    return { type: 'tool-call-delta', index: this.calls.indexOf(call), ...first, arguments: text };
  }

  /** The message so far; its text is null if there are calls or a refusal instead. */
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

  private findCall(piece: ToolCallPiece): OpenCall | undefined {
    const { index, id } = piece;
    const known = isCallId(id)
      ? this.calls.findLast((open) => open.id === id && (index ?? open.index) === open.index)
      : undefined;
    const call = known ?? this.findCallWithoutId(piece);
    if (!call || !startsAnotherCall(call, piece)) return call;
    const isKnown = isCallId(piece.id) && piece.id === call.id;
    return isKnown ? this.findEqualCall(call, piece) : undefined;
  }

  /** The call that the piece repeats, among those with its id; `last` is the last of them. */
  private findEqualCall(last: OpenCall, piece: ToolCallPiece): OpenCall | undefined {
    this.callsByValue.set(valueKey(last, last) ?? '', last);
    const key = valueKey(piece, last);
    return key === undefined ? undefined : this.callsByValue.get(key);
  }

  private findCallWithoutId({ index, id }: ToolCallPiece): OpenCall | undefined {
    if (typeof index === 'number') return this.callsByIndex.get(index);
    return isCallId(id) ? this.calls.findLast((open) => open.id === '') : this.calls.at(-1);
  }

  private startCall(piece: ToolCallPiece): OpenCall {
    const index = piece.index ?? undefined;
    const call: OpenCall = { index, id: '', name: '', arguments: '', metadata: undefined };
    this.calls.push(call);
    if (index !== undefined) this.callsByIndex.set(index, call);
    return call;
  }
}

/** True if a piece that matches a call starts a new one, and does not only repeat its fields. */
function startsAnotherCall(call: OpenCall, piece: ToolCallPiece): boolean {
  const hasId = isCallId(piece.id);
  if (hasId && call.id !== '' && call.id !== piece.id)
    return Boolean(piece.name) || isCompleteObject(call.arguments);
  if (!piece.name || call.name === '') return false;
  if (piece.name !== call.name && !(hasId && call.id === piece.id)) return true;
  // servers that repeat the name on each piece also send it with an empty last one
  const hasMore = Boolean(piece.arguments?.trim()) || (!hasId && typeof piece.index !== 'number');
  return hasMore && isCompleteObject(call.arguments);
}

/** True if a piece has index, id, name and all arguments of a call that is complete. */
function repeats(call: OpenCall, piece: ToolCallPiece): boolean {
  const { index, id, name, arguments: text } = piece;
  // without an id, two equal calls are two calls
  if (!text || !isCallId(id) || id !== call.id || (index ?? call.index) !== call.index)
    return false;
  // a fragment is shorter; comparing each one with the whole would take quadratic time
  if (text.length * 4 < call.arguments.length || (name && name !== call.name)) return false;
  if (text === call.arguments) return isCompleteObject(text);
  const key = valueKey({ name: call.name, arguments: text }, call);
  return key !== undefined && key === valueKey(call, call);
}

/** A text that is equal for equal calls; undefined if the arguments are not a whole object. */
function valueKey(
  { name, arguments: text }: ToolCallPiece,
  { index, id }: OpenCall,
): string | undefined {
  if (!text?.trimEnd().endsWith('}')) return undefined;
  try {
    return JSON.stringify([index, id, name, canonicalJson(parseJson(text) ?? null)]);
  } catch {
    return undefined; // a fragment
  }
}

function isCompleteObject(json: string): boolean {
  if (!json.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}

function toToolCall({ id, name, arguments: json, metadata }: OpenCall): ToolCall {
  return { id, name, arguments: json, ...(metadata && { metadata }) };
}

/** Placeholders sent by providers that do not support ids. */
const PLACEHOLDERS: ReadonlySet<string> = new Set(['', 'null', 'undefined', 'None']);

/** True if the id of a provider identifies a call. */
export function isCallId(id: string | null | undefined): id is string {
  return typeof id === 'string' && !PLACEHOLDERS.has(id);
}

/**
 * Gives every tool call an id that is unique in the conversation: a missing id is generated, a
 * repeated one gets a suffix. Deterministic, so that the same turn has the same ids again.
 */
export function withUniqueCallIds(
  message: AssistantMessage,
  conversation: readonly Message[],
): AssistantMessage {
  const ids = message.toolCalls.map(({ id }) => id);
  const callsOf = (earlier: Message): readonly ToolCall[] =>
    earlier.role === 'assistant' ? earlier.toolCalls : [];
  const isTaken = (id: string): boolean =>
    conversation.some((earlier) => callsOf(earlier).some((call) => call.id === id));
  // without a set of all ids: a loop asks in each iteration
  if (ids.every((id, at) => isCallId(id) && ids.indexOf(id) === at && !isTaken(id))) return message;
  const used = new Set(conversation.flatMap(callsOf).map(({ id }) => id));
  const toolCalls = message.toolCalls.map((call) => ({ ...call, id: uniqueId(call.id, used) }));
  return { ...message, toolCalls };
}

function uniqueId(id: string, used: Set<string>): string {
  const stem = isCallId(id) ? id : 'call';
  let unique = isCallId(id) ? id : `call_${used.size + 1}`;
  for (let n = 2; used.has(unique); n++) unique = `${stem}_${n}`;
  used.add(unique);
  return unique;
}
