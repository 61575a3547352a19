import type { InspectedTurn, RequestChange } from '../../bridges/inspector/index.js';
import { requestChanges, type RawRequest } from '../../bridges/inspector/request-difference.js';
import { isPlainObject } from '../../core/internal/options.js';
import type { Message } from '../../index.js';
import { visible } from '../terminal.js';

/** A part of a turn that differs, with its differences as lines. */
export interface TurnDifference {
  /** Such as `request 2`, `answer`, `outcome`. */
  readonly part: string;
  readonly lines: readonly string[];
}

/** The differences of an exported turn and its replay. */
export function turnDifferences(
  before: InspectedTurn,
  after: InspectedTurn,
): readonly TurnDifference[] {
  const nowRequests = withNumberedCalls(after.requests);
  const answered = withNumberedCalls(before.requests).filter(
    ({ entry }) => before.timeline.find(({ id }) => id === entry)?.outcome === 'ok',
  );
  const requests = answered.flatMap((request, at) => {
    const now = nowRequests[at];
    if (!now) return [];
    const changes = requestChanges(request as RawRequest, now as RawRequest);
    const lines = changes.filter(({ type }) => type !== 'model-changed').map(lineOf);
    return lines.length > 0 ? [{ part: `request ${at + 1}`, lines }] : [];
  });
  const values: readonly (readonly [string, string | number, string | number])[] = [
    ['number of requests', answered.length, after.requests.length],
    ['outcome', outcomeOf(before), outcomeOf(after)],
    ['answer', before.answerText, after.answerText],
  ];
  const others = values
    .filter(([, was, is]) => was !== is)
    .map(([part, was, is]) => ({ part, lines: [`- ${short(was)}`, `+ ${short(is)}`] }));
  return [...requests, ...others];
}

/** Requests whose calls of tools are numbered, with fields in one order: a chain gives a call an id of its turn. */
function withNumberedCalls(requests: InspectedTurn['requests']): InspectedTurn['requests'] {
  const calls = requests.flatMap(({ messages }) =>
    messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : [])),
  );
  const ids = [...new Set(calls.map(({ id }) => id))];
  const text = ids.reduce(
    (json, id, at) => json.replaceAll(JSON.stringify(id), `"call ${at + 1}"`),
    JSON.stringify(requests),
  );
  return JSON.parse(text, (_, value: unknown) => inOrder(value)) as InspectedTurn['requests'];
}

/** An object with its fields by name: their order is of no meaning, but shows in their text. */
function inOrder(value: unknown): unknown {
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function outcomeOf({ outcome, error }: InspectedTurn): string {
  return error ? `${outcome}: ${error.name}: ${error.message}` : outcome;
}

function lineOf(change: RequestChange): string {
  switch (change.type) {
    case 'message-added':
    case 'message-removed': {
      const sign = change.type === 'message-added' ? '+' : '-';
      return `${sign} message ${change.at + 1}, ${change.message.role}: ${shortMessage(change.message)}`;
    }
    case 'message-changed':
      return `~ message ${change.at + 1}, ${change.after.role}: ${shortMessage(change.before)} -> ${shortMessage(change.after)}`;
    case 'tool-added':
      return `+ tool ${short(change.tool.name)}`;
    case 'tool-removed':
      return `- tool ${short(change.tool.name)}`;
    case 'tool-changed':
      return `~ tool ${short(change.after.name)}`;
    case 'option-changed':
      return `~ option ${short(change.name)}: ${short(change.before)} -> ${short(change.after)}`;
    case 'model-changed':
      return `~ model: ${short(change.before)} -> ${short(change.after)}`;
  }
}

/** The content of a message, or its calls of tools. */
function shortMessage(message: Message): string {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  const written = calls.map(({ name, arguments: args }) => `${name} ${args}`);
  return short(written.length > 0 ? written.join(' ') : message.content);
}

/** Characters of a value that are printed. */
const MAX = 200;

function short(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'not set');
  const line = visible(text).replaceAll(/\s+/g, ' ');
  return line.length > MAX ? `${line.slice(0, MAX - 1)}…` : line;
}
