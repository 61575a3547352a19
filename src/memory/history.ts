import { textOf, type Message, type ToolCall, type ToolMessage } from '../chat/message.js';
import { checkOptions, integer } from '../internal/options.js';

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
    if (message.toolCalls.length === 0)
      return message.text?.trim() || message.refusal ? [message] : [];
    const resultOf = (call: ToolCall): Message => results.get(call) ?? interruptedResult(call);
    return [message, ...message.toolCalls.map(resultOf)];
  });
  const isValid =
    repaired.length === messages.length &&
    repaired.every((message, at) => message === messages[at]);
  return isValid ? messages : repaired;
}

/** Each result belongs to the nearest call before it that has its id and no result yet. */
function resultsByCall(messages: readonly Message[]): ReadonlyMap<ToolCall, ToolMessage> {
  const results = new Map<ToolCall, ToolMessage>();
  let open: ToolCall[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') open = [...message.toolCalls, ...open];
    if (message.role !== 'tool') continue;
    const at = open.findIndex(({ id }) => id === message.toolCallId);
    if (at < 0) continue;
    results.set(open[at] as ToolCall, message);
    open.splice(at, 1);
  }
  return results;
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
    return messages.map((message) => (isOld(message) ? withoutContent(message) : message));
  };
}

export function hasMedia(content: ToolMessage['content']): boolean {
  return typeof content !== 'string' && content.some(({ type }) => type !== 'text');
}

function withoutContent(message: ToolMessage): ToolMessage {
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
  const own = new Set(prompt.map((message) => message.role === 'system' && message.text));
  const system = remembered.filter(
    (message) => message.role === 'system' && !own.has(message.text),
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

/** A line that equal messages share: content without the metadata, which a store or an application may have changed. */
export function comparisonKey(message: Message): string {
  const calls = message.role === 'assistant' ? message.toolCalls : [];
  const fields = [
    message.role,
    'content' in message ? message.content : (message.text ?? ''),
    calls.map(({ id, name, arguments: text }) => [id, name, text]),
    message.role === 'tool' ? message.toolCallId : '',
  ];
  return `${JSON.stringify(fields)}\n`;
}
