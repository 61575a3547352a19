import type { ToolCallDelta } from './chat-event.js';
import type { Metadata, ToolCall } from './message.js';
import { OpenCall } from './open-call.js';

/** A piece of a tool call as sent by a provider: every field is optional, and the order is not fixed. */
export interface ToolCallPiece {
  readonly index?: number | null | undefined;
  readonly id?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly arguments?: string | null | undefined;
  readonly metadata?: Metadata | undefined;
}

/**
 * The tool calls of one answer, while their pieces arrive.
 *
 * Pieces of a call are matched by index, then by id, then by order of arrival. An index used again
 * for another call starts a new one, since some servers send index 0 for every call. A piece with
 * all of a call that is there already (index, id and arguments) repeats it: two calls would run a
 * tool twice.
 */
export class OpenCalls {
  private readonly calls: OpenCall[] = [];
  private readonly ids = new DistinctIds();
  private readonly callsByIndex = new Map<number, OpenCall>();
  /** The last call of each id, and of each id with its index. */
  private readonly callsById = new Map<string, OpenCall>();
  /** Calls without an id, and among them some that have got one since. */
  private readonly callsWithoutId: OpenCall[] = [];
  /** Calls that another one with their id follows, by index, id, name and arguments. */
  private readonly callsByValue = new Map<string, OpenCall>();

  /** Adds a piece and returns it as an event with the position of its call. */
  add(piece: ToolCallPiece): ToolCallDelta {
    const call = this.findCall(piece) ?? this.startCall(piece);
    const first: { id?: string; name?: string } = {};
    if (call.id === '' && isCallId(piece.id)) {
      call.id = piece.id;
      first.id = call.distinctId ??= this.ids.next(piece.id, call.position);
      this.keepId(call);
    }
    if (call.name === '' && piece.name) first.name = call.name = piece.name;
    const text = repeats(call, piece) ? '' : (piece.arguments ?? '');
    call.addArguments(text);
    if (piece.metadata) call.metadata = { ...call.metadata, ...piece.metadata };
    return { type: 'tool-call-delta', index: call.position, ...first, arguments: text };
  }

  toToolCalls(): ToolCall[] {
    return this.calls.map((call) => {
      call.distinctId ??= this.ids.next('', call.position);
      return call.toToolCall();
    });
  }

  private findCall(piece: ToolCallPiece): OpenCall | undefined {
    const { index, id } = piece;
    const known = isCallId(id) ? this.callsById.get(idKey(id, index)) : undefined;
    const call = known ?? this.findCallWithoutId(piece);
    if (!call || !startsAnotherCall(call, piece)) return call;
    return isCallId(id) && id === call.id ? this.findEqualCall(call, piece) : undefined;
  }

  /** The call that the piece repeats, among those with its id; `last` is the last of them. */
  private findEqualCall(
    last: OpenCall,
    { name, arguments: json }: ToolCallPiece,
  ): OpenCall | undefined {
    this.callsByValue.set(last.valueKey ?? '', last);
    const key = last.keyOf(name, json ?? '');
    return key === undefined ? undefined : this.callsByValue.get(key);
  }

  private findCallWithoutId({ index, id }: ToolCallPiece): OpenCall | undefined {
    if (typeof index === 'number') return this.callsByIndex.get(index);
    if (!isCallId(id)) return this.calls.at(-1);
    const calls = this.callsWithoutId;
    while (calls.length > 0 && calls.at(-1)?.id !== '') calls.pop();
    return calls.at(-1);
  }

  private startCall({ index, id }: ToolCallPiece): OpenCall {
    const call = new OpenCall(this.calls.length, index ?? undefined);
    this.calls.push(call);
    if (call.index !== undefined) this.callsByIndex.set(call.index, call);
    if (!isCallId(id)) this.callsWithoutId.push(call);
    return call;
  }

  private keepId(call: OpenCall): void {
    for (const key of [idKey(call.id), idKey(call.id, call.index)]) {
      const last = this.callsById.get(key);
      if (!last || last.position < call.position) this.callsById.set(key, call);
    }
  }
}

/** A text for an id, alone or with the index of its call. */
function idKey(id: string, index?: number | null): string {
  return index === undefined || index === null ? `:${id}` : `${index}:${id}`;
}

/** True if a piece that matches a call starts a new one, and does not only repeat its fields. */
function startsAnotherCall(call: OpenCall, piece: ToolCallPiece): boolean {
  const hasId = isCallId(piece.id);
  if (hasId && call.id !== '' && call.id !== piece.id)
    return Boolean(piece.name) || call.isComplete;
  if (!piece.name || call.name === '') return false;
  if (piece.name !== call.name && !(hasId && call.id === piece.id)) return true;
  // servers that repeat the name on each piece also send it with an empty last one
  const hasMore = Boolean(piece.arguments?.trim()) || (!hasId && typeof piece.index !== 'number');
  return hasMore && call.isComplete;
}

/** True if a piece has index, id, name and all arguments of a call that is complete. */
function repeats(call: OpenCall, piece: ToolCallPiece): boolean {
  const { index, id, name, arguments: text } = piece;
  // without an id, two equal calls are two calls
  if (
    !text ||
    call.arguments === '' ||
    !isCallId(id) ||
    id !== call.id ||
    (index ?? call.index) !== call.index
  )
    return false;
  // a fragment is shorter; comparing each one with the whole would take quadratic time
  if (text.length * 4 < call.arguments.length || (name && name !== call.name)) return false;
  if (text === call.arguments) return call.isComplete;
  const key = call.keyOf(call.name, text);
  return key !== undefined && key === call.valueKey;
}

/**
 * Different ids for the calls of an answer, by which its model can refer to them. Their identity in
 * the conversation comes from the chain.
 */
export class DistinctIds {
  private readonly used = new Set<string>();
  private readonly numbers = new Map<string, number>();

  /**
   * @param given the id of the provider; a call that repeats it gets a number behind it
   * @param position of the call, by which it is named if the provider gives no id
   */
  next(given: string, position: number): string {
    const name = isCallId(given) ? given : `call_${position + 1}`;
    let id = name;
    let number = this.numbers.get(name) ?? 2;
    while (this.used.has(id)) id = `${name}_${number++}`;
    this.numbers.set(name, number);
    this.used.add(id);
    return id;
  }
}

/** The calls of an answer that is there, with different ids. */
export function withDistinctIds(calls: readonly ToolCall[]): ToolCall[] {
  const ids = new DistinctIds();
  return calls.map((call, at) => {
    const id = ids.next(call.id, at);
    return id === call.id ? call : { ...call, id };
  });
}

/** Placeholders sent by providers that do not support ids. */
const PLACEHOLDERS: ReadonlySet<string> = new Set(['', 'null', 'undefined', 'None']);

/** True if the id of a provider identifies a call. */
export function isCallId(id: string | null | undefined): id is string {
  return typeof id === 'string' && !PLACEHOLDERS.has(id);
}
