import {
  callsOf,
  type AssistantMessage,
  type Message,
  type ToolCall,
  type ToolMessage,
  type UserMessage,
} from '../../core/chat/message.js';
import type { PendingTurn } from '../../core/chat/paused-turn.js';
import { isSummary } from '../../core/chat/summary-message.js';
import type { Abortable } from '../../core/internal/cancellation.js';
import {
  BOOLEAN,
  CHECKED_APART,
  checkOptions,
  integer,
  isPlainObject,
  rule,
  type OptionRules,
} from '../../core/internal/options.js';
import {
  checkConversationId,
  type ChatMemoryRepository,
  type StoredMessage,
} from './chat-memory-repository.js';
import { resultsByCall } from './history.js';
import { LogReader } from './log-reader.js';
import { summaryOf } from './summary-message.js';
import { toReadError } from './write-outcome.js';

/** Options of `history` of a chat memory. */
export interface HistoryOptions extends Abortable {
  /** Maximum number of messages; an integer from 1 to 1,000. @default 50 */
  readonly limit?: number | undefined;
  /** Cursor: {@link HistoryPage.before} of the page after this one. @default none: the newest page */
  readonly before?: number | undefined;
  /** Shows summaries of earlier messages, which no user wrote. @default true */
  readonly summaries?: boolean | undefined;
  /**
   * The result of `client.pending(conversationId)`, for every page: the newest page ends with these turns,
   * and no page has what a memory has stored of them. @default none
   */
  readonly pending?: readonly PendingTurn[] | undefined;
}

/** A tool call with its result. */
export interface HistoryCall {
  readonly call: Pick<ToolCall, 'id' | 'name' | 'arguments'>;
  /** Undefined for a call that runs, waits, or was interrupted. */
  readonly result?: Pick<ToolMessage, 'content' | 'isError'>;
}

/** A message as a person sees it: without system texts and data of providers. */
export interface HistoryMessage {
  readonly role: 'user' | 'assistant' | 'summary';
  readonly content: UserMessage['content'] | null;
  readonly reasoning?: string;
  readonly refusal?: string;
  /** In the order in which the model asked for them; empty if there are none. */
  readonly calls: readonly HistoryCall[];
  /** True for the partial answer of a turn that failed or was cancelled. */
  readonly isIncomplete: boolean;
  readonly turnId: string | undefined;
  /** Number of the message in its conversation, never given twice; undefined in a paused turn. */
  readonly version: number | undefined;
  /** At the last message of a paused turn: its id, and its open requests. */
  readonly paused?: Pick<PendingTurn, 'id' | 'requests'>;
}

/** Messages of a conversation that follow each other, the oldest first. */
export interface HistoryPage {
  readonly messages: readonly HistoryMessage[];
  /** Cursor of the page before this one; undefined if there is none. */
  readonly before: number | undefined;
}

const MAX_LIMIT = 1_000;
const RULES: OptionRules<HistoryOptions> = {
  limit: rule(
    `an integer from 1 to ${MAX_LIMIT}`,
    (value) => integer(1).accepts(value) && (value as number) <= MAX_LIMIT,
  ),
  before: integer(1),
  summaries: BOOLEAN,
  pending: rule(
    'the result of client.pending(…)',
    (value) =>
      Array.isArray(value) &&
      value.every((turn) => isPlainObject(turn) && Array.isArray(turn['messages'])),
  ),
  signal: CHECKED_APART,
};
/** Messages in which the call of a result is looked for: a damaged log may have none. */
const MAX_LOADED = 2 * MAX_LIMIT;

/** A stored message that is shown. */
interface Shown {
  readonly message: HistoryMessage;
  readonly version: number;
  /** Version of its last result, or else its own. */
  readonly end: number;
}

/**
 * Reads a page of a conversation. It may have more than `limit` messages where turns ran at the same
 * time: no page begins between a call and its result.
 * @throws {@link InvalidArgumentError} if the id or an option is invalid, {@link MemoryReadError}
 */
export async function readHistoryPage(
  repository: ChatMemoryRepository,
  conversationId: string,
  options: HistoryOptions = {},
): Promise<HistoryPage> {
  checkConversationId(conversationId, 'ChatMemory.history');
  checkOptions('ChatMemory.history', options, RULES);
  const { limit = 50, before, summaries = true, pending = [] } = options;
  const reader = new LogReader(repository, conversationId, limit + 1, options, before);
  for (;;) {
    await reader.loadPreviousPage().catch((error: unknown) => {
      throw toReadError(error, conversationId);
    });
    const stored = withoutTurns(reader.messages, pending);
    const waiting = pending.flatMap(({ messages }) => messages);
    const results = resultsByCall([...stored.map(({ message }) => message), ...waiting]);
    const shown = shownMessages(stored, results, summaries);
    const start = startOfPage(shown, limit);
    if (reader.isComplete || (start > 0 && !hasCutCall(reader, results, shown[start]))) {
      const page = shown.slice(start).map(({ message }) => message);
      const last = before === undefined ? pending.flatMap((turn) => pausedTurn(turn, results)) : [];
      return {
        messages: [...page, ...last],
        before: start > 0 ? shown[start]?.version : undefined,
      };
    }
  }
}

/** Leaves out the messages of turns, also those under the id of a turn that continues an earlier one. */
function withoutTurns(
  stored: readonly StoredMessage[],
  turns: readonly PendingTurn[],
): readonly StoredMessage[] {
  if (turns.length === 0) return stored;
  const turnIds = new Set<string | undefined>(turns.map(({ turnId }) => turnId));
  const calls = turns.flatMap(({ messages }) => messages.flatMap(callsOf));
  const callIds = new Set(calls.map(({ id }) => id));
  return stored.filter(
    ({ turnId, message }) =>
      !turnIds.has(turnId) && !callsOf(message).some(({ id }) => callIds.has(id)),
  );
}

type Results = ReadonlyMap<ToolCall, ToolMessage>;

function shownMessages(
  stored: readonly StoredMessage[],
  results: Results,
  summaries: boolean,
): readonly Shown[] {
  const versions = new Map(stored.map(({ message, version }) => [message, version]));
  return stored.flatMap(({ message, version, turnId }) => {
    if (!isShown(message) || (!summaries && isSummary(message))) return [];
    const ends = callsOf(message).flatMap((call) => {
      const result = results.get(call);
      return result ? (versions.get(result) ?? []) : [];
    });
    const shown = { ...shownMessage(message, results), turnId, version };
    return [{ message: shown, version, end: Math.max(version, ...ends) }];
  });
}

function pausedTurn(turn: PendingTurn, results: Results): readonly HistoryMessage[] {
  const { id, turnId, requests, messages } = turn;
  const shown = messages.filter(isShown);
  return shown.map((message, at) => ({
    ...shownMessage(message, results),
    turnId,
    version: undefined,
    ...(at === shown.length - 1 && { paused: { id, requests } }),
  }));
}

type ShownRole = UserMessage | AssistantMessage;

const isShown = (message: Message): message is ShownRole =>
  message.role === 'user' || message.role === 'assistant';

function shownMessage(
  message: ShownRole,
  results: Results,
): Omit<HistoryMessage, 'turnId' | 'version'> {
  const { content, metadata } = message;
  const calls = callsOf(message).map((call) => shownCall(call, results.get(call)));
  const shown = { content, calls, isIncomplete: metadata?.['incomplete'] === true };
  if (isSummary(message))
    return { role: 'summary', ...shown, content: summaryOf(message)?.summary ?? content };
  if (message.role === 'user') return { role: 'user', ...shown };
  const { reasoning, refusal } = message;
  return {
    role: 'assistant',
    ...shown,
    ...(reasoning !== undefined && { reasoning }),
    ...(refusal !== undefined && { refusal }),
  };
}

function shownCall(
  { id, name, arguments: text }: ToolCall,
  result: ToolMessage | undefined,
): HistoryCall {
  const call = { id, name, arguments: text };
  if (!result) return { call };
  const { content, isError } = result;
  return { call, result: isError ? { content, isError } : { content } };
}

/** The index of the first message of a page that ends with the last one. */
function startOfPage(shown: readonly Shown[], limit: number): number {
  let start = Math.max(shown.length - limit, 0);
  for (let at = start - 1; at >= 0; at--)
    if ((shown[at] as Shown).end > (shown[start] as Shown).version) start = at;
  return start;
}

/** True if a result on the page has its call in an earlier part of the log, which is not loaded. */
function hasCutCall(reader: LogReader, results: Results, first: Shown | undefined): boolean {
  if (reader.messages.length >= MAX_LOADED) return false;
  const found = new Set<Message>(results.values());
  const from = first?.version ?? 0;
  return reader.messages.some(
    ({ message, version }) => message.role === 'tool' && version > from && !found.has(message),
  );
}
