import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Message } from '../../../../core/chat/message.js';
import { plural } from '../requests/change-words.js';
import { MessageView } from '../requests/message-view.js';
import { memoryParts, turnsOf, type MemoryPart } from './conversation.js';

/** The conversation of a memory: all that is stored, and what of it the model gets. */
export function MemoryView({
  transcript,
  view,
}: {
  readonly transcript: readonly Message[];
  readonly view: readonly Message[];
}): JSX.Element {
  const parts = useMemo(() => memoryParts(transcript, view), [transcript, view]);
  return (
    <>
      <p class="facts">
        <span>{plural(turnsOf(transcript).length, 'turn')}</span>
        <span>{plural(transcript.length, 'stored message')}</span>
        <span>the model gets {plural(view.length, 'message')}</span>
      </p>
      {parts.map((part, at) => (
        <Part key={at} part={part} isReplacement={parts[at - 1]?.type === 'kept-back'} />
      ))}
    </>
  );
}

function Part({
  part: { type, messages },
  isReplacement,
}: {
  readonly part: MemoryPart;
  readonly isReplacement: boolean;
}): JSX.Element {
  const count = plural(messages.length, 'message');
  if (type === 'kept-back')
    return (
      <details class="memory-part kept-back">
        <summary>{count}, stored, which the model does not get</summary>
        <MessageList messages={messages} />
      </details>
    );
  const title =
    type === 'sent'
      ? `${count}, stored, which the model gets`
      : `${count} for the model alone${isReplacement ? ', in place of the messages above' : ''}`;
  return (
    <div class={`memory-part ${type}`}>
      <p>{title}</p>
      <MessageList messages={messages} />
    </div>
  );
}

/** Messages by turn. */
export function MessageList({ messages }: { readonly messages: readonly Message[] }): JSX.Element {
  return (
    <>
      {turnsOf(messages).map((turn, at) => (
        <ol key={at} class="messages">
          {turn.map((message, place) => (
            <MessageView key={place} message={message} />
          ))}
        </ol>
      ))}
    </>
  );
}
