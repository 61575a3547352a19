import type { ChatModel } from '../../src/core/chat/chat-model.js';
import { textOf, type Message } from '../../src/core/chat/message.js';
import { truncate, truncateText } from '../../src/core/internal/text.js';
import { summarize, summarizeInParts, toJsonLine } from '../../src/core/observation/summarize.js';
import { isSummary, summaryText } from './summary.js';

/** Characters per token, for requests of summaries: few, so that they fit. */
const CHARACTERS = 3;
/** Words per token of a summary. */
const WORDS = 0.6;
/** Share of a request for the messages; the rest is for the summary so far and the instructions. */
const MESSAGES = 0.7;
/** Maximum length of a question in an outline, in characters. */
const MAX_QUESTION = 200;

/** Settings of a summary of removed messages. */
export interface SummaryTask {
  readonly model: ChatModel;
  /** Maximum number of tokens of a request to the model. */
  readonly maxTokens: number;
  /** Number of tokens that the summary should have at most. */
  readonly size: number;
  readonly signal: AbortSignal;
}

/** Summarizes messages, in several parts if one request would be too long. */
export async function writeSummary(
  messages: readonly Message[],
  { model, maxTokens, size, signal }: SummaryTask,
): Promise<string> {
  const maxLength = Math.max(1_000, Math.floor(maxTokens * CHARACTERS));
  const maxWords = Math.ceil(size * WORDS);
  const earlier = messages.flatMap((each) => summaryText(each) ?? []).join('\n') || undefined;
  const rest = messages.filter((message) => !isSummary(message));
  return summarizeInParts(
    rest.map(toJsonLine),
    { earlier, maxLength: Math.floor(maxLength * MESSAGES) },
    (lines, before) => summarize(model, lines, { earlier: before, signal, maxWords }),
  );
}

/** Names what was removed, without a model: the beginnings of questions, and calls by tool. */
export function writeOutline(messages: readonly Message[], maxLength: number): string {
  const earlier = messages.flatMap((each) => summaryText(each) ?? []).join('\n');
  const questions = messages.flatMap((message) =>
    message.role === 'user' && !isSummary(message)
      ? [`The user wrote: ${JSON.stringify(truncate(textOf(message.content), MAX_QUESTION))}`]
      : [],
  );
  const lines = [...questions, ...callCounts(messages)].join('\n');
  const old = truncateText(earlier, Math.floor(maxLength / 2));
  return [old, truncateText(lines, maxLength - old.length)].filter(Boolean).join('\n');
}

function callCounts(messages: readonly Message[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const message of messages)
    if (message.role === 'tool')
      counts.set(message.toolName, (counts.get(message.toolName) ?? 0) + 1);
  if (counts.size === 0) return [];
  const list = [...counts].map(([name, count]) => `${name} (${count})`).join(', ');
  return [`Tool calls that were made, whose results are no longer shown: ${list}.`];
}
