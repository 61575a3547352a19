import type { JsonValue } from '../../../../core/internal/json.js';
import type { Message } from '../../../../core/chat/message.js';
import type { RequestChange } from '../../inspected-turn.js';

// Changes of requests in plain words: "added 4 messages, changed message 2, set temperature to 0".

/** Numbers of messages that are listed; more are counted. */
const MAX_LISTED = 3;
const MAX_VALUE = 40;

/** The changes of one advisor in a sentence without its subject. */
export function changesInWords(changes: readonly RequestChange[]): string {
  if (changes.length === 0) return 'changed nothing';
  const words = [
    addedMessages(changes),
    removedMessages(changes),
    changedMessages(changes),
    ...toolChanges(changes),
    ...changes.flatMap((change) => settingInWords(change) ?? []),
  ];
  return words.filter((each) => each !== undefined).join(', ');
}

/** One change, with what it is about. */
export function changeInWords(change: RequestChange): string {
  switch (change.type) {
    case 'message-added':
      return `added ${roleInWords(change.message)} as message ${change.at + 1}`;
    case 'message-removed':
      return `removed ${roleInWords(change.message)}, message ${change.at + 1}`;
    case 'message-changed':
      return `changed message ${change.at + 1} (${roleInWords(change.after, false)})`;
    default:
      return changesInWords([change]);
  }
}

/** `a system message`, `the result of a tool`; without its article for labels. */
export function roleInWords(message: Message, hasArticle = true): string {
  const calls = message.role === 'assistant' ? (message.toolCalls?.length ?? 0) : 0;
  switch (message.role) {
    case 'system':
      return hasArticle ? 'a system message' : 'system';
    case 'user':
      return hasArticle ? 'a user message' : 'user';
    case 'assistant':
      if (!hasArticle) return 'assistant';
      return calls > 0 ? `an answer with ${plural(calls, 'tool call')}` : 'an answer';
    case 'tool':
      return `${hasArticle ? 'the ' : ''}result of ${message.toolName}`;
  }
}

export const plural = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

type ChangeOf<T extends RequestChange['type']> = Extract<RequestChange, { readonly type: T }>;

function ofType<T extends RequestChange['type']>(
  changes: readonly RequestChange[],
  type: T,
): readonly ChangeOf<T>[] {
  return changes.filter((change): change is ChangeOf<T> => change.type === type);
}

function addedMessages(changes: readonly RequestChange[]): string | undefined {
  const added = ofType(changes, 'message-added');
  const [first] = added;
  if (!first) return undefined;
  return added.length === 1
    ? `added ${roleInWords(first.message)}`
    : `added ${plural(added.length, 'message')}`;
}

function removedMessages(changes: readonly RequestChange[]): string | undefined {
  const removed = ofType(changes, 'message-removed');
  const [first] = removed;
  if (!first) return undefined;
  return removed.length === 1
    ? `removed ${roleInWords(first.message)}`
    : `removed ${plural(removed.length, 'message')}`;
}

function changedMessages(changes: readonly RequestChange[]): string | undefined {
  const places = ofType(changes, 'message-changed').map(({ at }) => at + 1);
  if (places.length === 0) return undefined;
  if (places.length > MAX_LISTED) return `changed ${plural(places.length, 'message')}`;
  return `changed message${places.length === 1 ? '' : 's'} ${listed(places.map(String))}`;
}

function toolChanges(changes: readonly RequestChange[]): readonly string[] {
  const verbs = { 'tool-added': 'added', 'tool-removed': 'removed', 'tool-changed': 'changed' };
  return Object.entries(verbs).flatMap(([type, verb]) => {
    const names = changes.flatMap((change) =>
      change.type === type ? [toolNameOf(change) ?? ''] : [],
    );
    if (names.length === 0) return [];
    if (names.length > MAX_LISTED) return [`${verb} ${plural(names.length, 'tool')}`];
    return [`${verb} the tool${names.length === 1 ? '' : 's'} ${listed(names)}`];
  });
}

/** The tool that a change is about. */
export function toolNameOf(change: RequestChange): string | undefined {
  if (change.type === 'tool-changed') return change.after.name;
  return 'tool' in change ? change.tool.name : undefined;
}

function settingInWords(change: RequestChange): string | undefined {
  if (change.type === 'model-changed') {
    const { before, after = 'the model of the client' } = change;
    return before === undefined ? `chose ${after}` : `switched from ${before} to ${after}`;
  }
  if (change.type !== 'option-changed') return undefined;
  const { name, before, after } = change;
  if (after === undefined) return `removed the option ${name}`;
  const value = valueInWords(after);
  if (value === undefined) return `${before === undefined ? 'set' : 'changed'} ${name}`;
  const old = before === undefined ? undefined : valueInWords(before);
  return old === undefined ? `set ${name} to ${value}` : `changed ${name} from ${old} to ${value}`;
}

/** A value that is short enough for a sentence. */
function valueInWords(value: JsonValue): string | undefined {
  const text = JSON.stringify(value);
  return text.length > MAX_VALUE ? undefined : text;
}

/** `a`, `a and b`, `a, b and c`. */
function listed(names: readonly string[]): string {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
