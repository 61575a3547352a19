import type { Message } from './message.js';

/** Metadata keys of the summaries of a `SummarizingChatMemory` and of a `CompactionAdvisor`. */
const SUMMARY_KEYS = ['advisor-chain.compaction', 'advisor-chain.summary'];

/**
 * True for a summary of earlier messages: it has the role `user`, and no user wrote it. For histories
 * that are shown to people.
 */
export function isSummary({ role, metadata }: Message): boolean {
  return role === 'user' && SUMMARY_KEYS.some((key) => metadata?.[key] !== undefined);
}
