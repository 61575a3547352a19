import type { Message, UserMessage } from '../../src/core/chat/message.js';

/** Metadata key of a summary message. */
const KEY = 'advisor-chain.summary';
const HEADING =
  'Summary of the earlier part of this conversation and of the work done so far (for information only):';

/**
 * A summary, and digests of the replaced messages: a memory may store it after these messages, or
 * without them, and returns other objects.
 */
export interface Summary {
  readonly text: string;
  /** The last turn that was removed as a whole. */
  readonly turn?: string | undefined;
  /** The last iteration that was removed. */
  readonly iteration?: string | undefined;
  /** Earlier summaries that were removed. */
  readonly summaries: readonly string[];
}

/** A message of role `user`: texts of tools must not become instructions. */
export function summaryMessage(summary: Summary): UserMessage {
  const content = `${HEADING}\n\n${summary.text}`;
  return { role: 'user', content, metadata: { [KEY]: summary } };
}

/** The text of a summary; undefined for any other message. */
export function summaryText(message: Message): string | undefined {
  return summaryOf(message)?.text;
}

export function isSummary(message: Message): boolean {
  return summaryOf(message) !== undefined;
}

/** The summary that a message holds; undefined for any other message. */
export function summaryOf({ role, metadata }: Message): Summary | undefined {
  const summary = metadata?.[KEY] as Partial<Summary> | undefined;
  const isValid = role === 'user' && typeof summary?.text === 'string';
  return isValid && Array.isArray(summary.summaries) ? (summary as Summary) : undefined;
}
