import {
  callsOf,
  hasMedia,
  textOf,
  type AssistantMessage,
  type Message,
  type ToolCall,
  type ToolMessage,
} from '../../core/chat/message.js';
import { isCallId, withDistinctIds } from '../../core/chat/open-calls.js';
import { comparisonKey } from '../../core/chat/message-codec.js';
import { checkOptions, integer } from '../../core/internal/options.js';

/** Changes the messages that a memory sends to a model; the stored messages are unchanged. */
export type MessageTrimmer = (messages: readonly Message[]) => readonly Message[];

/** Options of {@link trimToolResults}. */
export interface TrimOptions {
  /** Number of the latest results that are kept; an integer >= 0. @default 3 */
  readonly keepLast?: number | undefined;
  /** Minimum length of a result that is removed, in characters; an integer >= 0. @default 200 */
  readonly minCharacters?: number | undefined;
}

const INTERRUPTED =
  'Interrupted: this call has no result. It may or may not have been carried out.';

/**
 * Repairs a history so that every provider accepts it: after each message with tool calls there is
 * exactly one result per call, in call order. A call without a result gets an error result; results
 * without a call and empty assistant messages are dropped. A valid history is returned as is.
 */
export function repairHistory(messages: readonly Message[]): readonly Message[] {
  const results = resultsByCall(messages);
  const repaired = messages.flatMap((message): readonly Message[] => {
    if (message.role === 'tool') return [];
    if (message.role !== 'assistant') return [message];
    const calls = callsOf(message);
    if (calls.length === 0) return textOf(message).trim() || message.refusal ? [message] : [];
    const resultOf = (call: ToolCall): ToolMessage => results.get(call) ?? interruptedResult(call);
    return withDistinctCalls(message, calls.map(resultOf));
  });
  const isValid =
    repaired.length === messages.length &&
    repaired.every((message, at) => message === messages[at]);
  return isValid ? messages : repaired;
}

/** Each result belongs to the nearest call before it that has its id and no result yet. */
export function resultsByCall(messages: readonly Message[]): ReadonlyMap<ToolCall, ToolMessage> {
  const results = new Map<ToolCall, ToolMessage>();
  let open: ToolCall[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') open = [...callsOf(message), ...open];
    if (message.role !== 'tool') continue;
    const at = open.findIndex(({ id }) => id === message.toolCallId);
    if (at < 0) continue;
    results.set(open[at] as ToolCall, message);
    open.splice(at, 1);
  }
  return results;
}

/** A message with its results; calls of one id, which earlier versions stored, get different ones. */
function withDistinctCalls(
  message: AssistantMessage,
  results: readonly ToolMessage[],
): readonly Message[] {
  const calls = callsOf(message);
  const ids = calls.flatMap(({ id }) => (isCallId(id) ? [id] : []));
  if (new Set(ids).size === ids.length) return [message, ...results];
  const distinct = withDistinctIds(calls);
  return [
    { ...message, toolCalls: distinct },
    ...results.map((result, at) => ({ ...result, toolCallId: (distinct[at] as ToolCall).id })),
  ];
}

function interruptedResult({ id, name }: ToolCall): ToolMessage {
  return { role: 'tool', toolCallId: id, toolName: name, content: INTERRUPTED, isError: true };
}

/**
 * Removes the contents of old, long tool results from a history; every call keeps a result. For
 * `trim` of a {@link MessageWindowChatMemory}, or for an advisor inside the tool loop.
 * @throws {@link InvalidArgumentError} if an option is out of range
 */
export function trimToolResults(options: TrimOptions = {}): MessageTrimmer {
  checkOptions('trimToolResults', options, { keepLast: integer(0), minCharacters: integer(0) });
  const { keepLast = 3, minCharacters = 200 } = options;
  return (messages) => {
    const results = messages.filter((message) => message.role === 'tool');
    const recent = new Set<Message>(keepLast > 0 ? results.slice(-keepLast) : []);
    const isOld = (message: Message): message is ToolMessage =>
      message.role === 'tool' &&
      !recent.has(message) &&
      (textOf(message.content).length >= minCharacters || hasMedia(message.content));
    if (!messages.some(isOld)) return messages;
    return messages.map((message) => (isOld(message) ? toClearedMessage(message) : message));
  };
}

function toClearedMessage(message: ToolMessage): ToolMessage {
  const { length } = textOf(message.content);
  const content = `[An old result of ${length} characters was removed. Call the tool again if it is needed.]`;
  return { ...message, content };
}

/** Inserts remembered messages after the system message of a prompt, without those it repeats. */
export function withHistory(
  remembered: readonly Message[],
  prompt: readonly Message[],
): readonly Message[] {
  const at = prompt.findIndex(({ role }) => role === 'system');
  if (remembered.length === 0 && at <= 0) return prompt;
  const head = at < 0 ? [] : prompt.slice(at, at + 1);
  const tail = at < 0 ? prompt : prompt.toSpliced(at, 1);
  const own = new Set(prompt.map((message) => message.role === 'system' && message.content));
  const system = remembered.filter(
    (message) => message.role === 'system' && !own.has(message.content),
  );
  const history = remembered.filter(({ role }) => role !== 'system');
  return [...head, ...system, ...withoutOverlap(history, tail), ...tail];
}

/** Drops the end of the history that the prompt repeats up to its last answer. */
function withoutOverlap(
  history: readonly Message[],
  prompt: readonly Message[],
): readonly Message[] {
  const at = prompt.findLastIndex(({ role }) => role === 'assistant');
  if (at < 0) return history;
  const known = prompt.slice(0, at + 1).filter(({ role }) => role !== 'system');
  const given = known.map(comparisonKey).join('');
  const keys = history.map(comparisonKey);
  let rest = keys.join('');
  if (`\n${given}`.includes(`\n${rest}`)) return [];
  for (const [start, key] of keys.entries()) {
    if (given.startsWith(rest)) return history.slice(0, start);
    rest = rest.slice(key.length);
  }
  return history;
}
