import { callsOf, textOf, wireIdOf, type Message, type ToolCall } from '../../core/chat/message.js';
import { canonicalJson, type JsonValue } from '../../core/internal/json.js';
import type { RequestChange } from './inspected-turn.js';

/** Product of two lengths above which only messages at the same distance from the start are compared. */
const MAX_CELLS = 4_000_000;

/** The changes that lead from one list of messages to another; as few as there are. */
export function messageChanges(
  before: readonly Message[],
  after: readonly Message[],
): readonly RequestChange[] {
  let start = 0;
  const shorter = Math.min(before.length, after.length);
  while (start < shorter && isSameMessage(before[start], after[start])) start++;
  let end = 0;
  while (end < shorter - start && isSameMessage(before.at(-1 - end), after.at(-1 - end))) end++;
  const gap = {
    before: before.slice(start, before.length - end),
    after: after.slice(start, after.length - end),
  };
  return changesOf(gap.before, gap.after, start);
}

/** The changes of two lists whose first and last messages differ. */
function changesOf(
  before: readonly Message[],
  after: readonly Message[],
  start: number,
): readonly RequestChange[] {
  const changes: RequestChange[] = [];
  let [i, j] = [0, 0];
  const close = (endI: number, endJ: number): void => {
    changes.push(...gapChanges(before.slice(i, endI), after.slice(j, endJ), start + i, start + j));
  };
  for (const [atI, atJ] of commonMessages(before, after)) {
    close(atI, atJ);
    [i, j] = [atI + 1, atJ + 1];
  }
  close(before.length, after.length);
  return changes;
}

/** The places of the longest list of messages that both have in order. */
function commonMessages(
  before: readonly Message[],
  after: readonly Message[],
): readonly (readonly [number, number])[] {
  if (before.length === 0 || after.length === 0) return [];
  const [a, b] = classesOf(before, after);
  const width = b.length + 1;
  if ((a.length + 1) * width > MAX_CELLS) return samePlaces(a, b);
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        a[i] === b[j]
          ? (lengths[(i + 1) * width + j + 1] as number) + 1
          : Math.max(lengths[(i + 1) * width + j] as number, lengths[i * width + j + 1] as number);
  const common: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) common.push([i++, j++]);
    else if ((lengths[(i + 1) * width + j] as number) >= (lengths[i * width + j + 1] as number))
      i++;
    else j++;
  }
  return common;
}

function samePlaces(
  a: readonly number[],
  b: readonly number[],
): readonly (readonly [number, number])[] {
  return a.flatMap((each, at) => (each === b[at] ? [[at, at] as const] : []));
}

/** A number for each message, the same for equal ones: by identity, or else by content. */
function classesOf(
  ...lists: readonly (readonly Message[])[]
): readonly [readonly number[], readonly number[]] {
  const byObject = new Map<Message, number>();
  const byContent = new Map<string, number>();
  const classOf = (message: Message): number => {
    const known = byObject.get(message);
    if (known !== undefined) return known;
    const content = inAnyOrder(writtenOf(message));
    const found = byContent.get(content) ?? byContent.size;
    byContent.set(content, found);
    byObject.set(message, found);
    return found;
  };
  const [a = [], b = []] = lists.map((list) => list.map(classOf));
  return [a, b];
}

/** The changes between two messages that both lists have: a message may replace another one. */
function gapChanges(
  before: readonly Message[],
  after: readonly Message[],
  startBefore: number,
  startAfter: number,
): readonly RequestChange[] {
  const replaced = replacements(before, after);
  const removed = before.flatMap((message, at): readonly RequestChange[] =>
    [...replaced.values()].includes(at)
      ? []
      : [{ type: 'message-removed', at: startBefore + at, message }],
  );
  const others = after.map((message, at): RequestChange => {
    const old = replaced.get(at);
    const known = old === undefined ? undefined : before[old];
    return known
      ? { type: 'message-changed', at: startAfter + at, before: known, after: message }
      : { type: 'message-added', at: startAfter + at, message };
  });
  return [...removed, ...others];
}

/** Places of messages, with the place of the message that each replaces: in order, of the same role. */
function replacements(
  before: readonly Message[],
  after: readonly Message[],
): ReadonlyMap<number, number> {
  const isOneByOne =
    before.length === after.length && before.every((each, at) => mayReplace(after[at], each));
  if (isOneByOne) return new Map(before.map((_, at) => [at, at]));
  const found = new Map<number, number>();
  let next = 0;
  for (let at = 0; at < after.length; at++) {
    const old = before.findIndex(
      (each, place) => place >= next && isVersion(each, after[at] as Message),
    );
    if (old < 0) continue;
    found.set(at, old);
    next = old + 1;
  }
  return found;
}

/** True for messages of one role; with calls or results, of the same calls. */
function mayReplace(one: Message | undefined, other: Message): boolean {
  return one?.role === other.role && callIds(one) === callIds(other);
}

function callIds(message: Message): string {
  return message.role === 'tool'
    ? (message.wireId ?? message.toolCallId)
    : callsOf(message).map(wireIdOf).join('\n');
}

/** True if one message is another with more or fewer words, or the result of the same call. */
function isVersion(one: Message, other: Message): boolean {
  if (!mayReplace(one, other)) return false;
  if (one.role === 'tool') return true;
  const [a, b] = [textOf(one.content), textOf(other.content)];
  return a !== '' && b !== '' && (a.includes(b) || b.includes(a));
}

/** True for one message, or two with the same content. */
export function isSameMessage(one: Message | undefined, other: Message | undefined): boolean {
  if (one === other || !one || !other || one.role !== other.role) return one === other;
  const [a, b] = [one.content, other.content];
  if (typeof a === 'string' && typeof b === 'string' && a !== b) return false;
  const [x, y] = [writtenOf(one), writtenOf(other)];
  return x === y || (x.length === y.length && inAnyOrder(x) === inAnyOrder(y));
}

/** A message as JSON. A call has the id that its model knows, which the model gets in place of the id in the chain. */
function writtenOf(message: Message): string {
  if (message.role === 'tool') {
    const { wireId, toolCallId, ...rest } = message;
    return JSON.stringify({ ...rest, toolCallId: wireId ?? toolCallId });
  }
  const calls = callsOf(message);
  if (calls.length === 0) return JSON.stringify(message);
  const toolCalls = calls.map((call): ToolCall => {
    const { wireId: _wireId, ...rest } = call;
    return { ...rest, id: wireIdOf(call) };
  });
  return JSON.stringify({ ...message, toolCalls });
}

/** The same text for JSON whose fields have another order, as stores and copies have them. */
function inAnyOrder(json: string): string {
  return canonicalJson(JSON.parse(json) as JsonValue);
}
