import type { Message } from '../chat/message.js';
import { isSummary } from '../chat/summary-message.js';
import type { Prompt } from '../chat/prompt.js';
import type { ChatClientRequest } from './chat-client-request.js';

/** A rewrite of a transcript: a function without side effects. */
export type TranscriptChange = (messages: readonly Message[]) => readonly Message[];

type Rewritten = Pick<ChatClientRequest, 'prompt' | 'transcript' | 'added'>;

/** Applies a rewrite to the transcript of a request, and to its view of it. */
export function rewriteTranscript(request: Rewritten, change: TranscriptChange): Rewritten {
  const { prompt, transcript = prompt } = request;
  const changed = applyTo(transcript, change);
  const isSame = transcript.messages === prompt.messages;
  const view = isSame ? changed.replaceOptions(prompt.options) : applyTo(prompt, change);
  const added = addedMessages(request.added, transcript.messages, changed.messages);
  return { prompt: view, transcript: request.transcript && changed, added };
}

/** The same prompt if the function returns the same list. */
function applyTo(prompt: Prompt, change: TranscriptChange): Prompt {
  const changed = change(prompt.messages);
  return changed === prompt.messages ? prompt : prompt.withMessages(changed);
}

/**
 * The added user messages after a rewrite; a replacement counts as the replaced one. A summary is no
 * message of the user.
 */
function addedMessages(
  known: readonly Message[],
  before: readonly Message[],
  after: readonly Message[],
): readonly Message[] {
  if (before === after) return known;
  const [old, kept] = [new Set(before), new Set(after)];
  const replacesOther = (at: number): boolean => {
    const replaced = before.length === after.length ? before[at] : undefined;
    return replaced?.role === 'user' && !kept.has(replaced) && !known.includes(replaced);
  };
  const hidden = known.filter((message) => !old.has(message)); // a view has replaced them
  const present = after.filter((message, at) =>
    old.has(message)
      ? known.includes(message)
      : message.role === 'user' && !isSummary(message) && !replacesOther(at),
  );
  return [...hidden, ...present];
}
