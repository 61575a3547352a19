import { RunRecord } from '../../src/core/chat/run-record.js';
import { Cancellation } from '../../src/core/internal/cancellation.js';
import type { ChatMemory, Message } from '../../src/index.js';

/** Adds messages to a memory as a run does, and waits for the summary that this starts. */
export async function addTurn(
  chatMemory: ChatMemory,
  conversationId: string,
  messages: Message | readonly Message[],
): Promise<void> {
  const run = new RunRecord();
  const { signal } = new Cancellation(undefined, run);
  await chatMemory.add(conversationId, messages, { signal });
  await run.settled;
}
