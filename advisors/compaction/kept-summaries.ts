import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import { CONVERSATION_ID } from '../../src/core/chat/context.js';
import type { Message } from '../../src/core/chat/message.js';
import { isSummary, summaryOf } from './summary.js';

/** Maximum numbers of conversations, and of summaries of one; the oldest are dropped. */
const MAX_CONVERSATIONS = 200;
const MAX_SUMMARIES = 8;

/**
 * The latest summaries of conversations, for their next turns: a memory stores no summary. A turn that
 * is recorded has none: another process would continue it without them.
 */
export class KeptSummaries {
  /** Least recently used first. */
  private readonly byConversation = new Map<string, readonly Message[]>();

  of({ context, run }: ChatClientRequest): readonly Message[] {
    const id = context.get(CONVERSATION_ID);
    return id === undefined || run.recorder.isRecording ? [] : (this.byConversation.get(id) ?? []);
  }

  /** Adds the summaries of a shortened request. */
  addFrom(request: ChatClientRequest): void {
    const id = request.context.get(CONVERSATION_ID);
    if (id === undefined || request.run.recorder.isRecording) return;
    const kept = this.byConversation.get(id) ?? [];
    const known = new Set(kept.map(keyOf));
    const added = request.prompt.messages.filter(
      (each) => isSummary(each) && !known.has(keyOf(each)),
    );
    this.byConversation.delete(id);
    this.byConversation.set(id, [...kept, ...added].slice(-MAX_SUMMARIES));
    const [oldest] = this.byConversation.keys();
    if (this.byConversation.size > MAX_CONVERSATIONS) this.byConversation.delete(oldest as string);
  }
}

function keyOf(message: Message): string {
  return JSON.stringify(summaryOf(message));
}
