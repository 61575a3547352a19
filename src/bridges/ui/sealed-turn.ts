import type { ChatEvent, ResponseEvent } from '../../core/chat/chat-event.js';
import { decodeMessage, encodeMessage } from '../../core/chat/message-codec.js';
import type { Message, UserMessage } from '../../core/chat/message.js';
import { ownedEvent } from '../../core/chat/owned-events.js';
import { ShownTurn } from '../../core/chat/shown-turn.js';

declare module '../../core/chat/chat-event.js' {
  interface CustomEvents {
    /** The seal of a turn, before its response; see `SealedHistory`. */
    'history-seal': string;
  }
}

/** The content of a seal. */
export interface SealedTurn {
  /** The message of the user, the answers with their calls, the results; of a turn that waits, the message alone. */
  readonly messages: readonly Message[];
  /** True if the turn waits for people: it does not belong to the history yet. */
  readonly isOpen: boolean;
}

export function encodeTurn({ messages, isOpen }: SealedTurn): string {
  return JSON.stringify({ messages: messages.map(encodeMessage), isOpen });
}

/** @param text an authentic one */
export function decodeTurn(text: string): SealedTurn {
  const { messages, isOpen } = JSON.parse(text) as { messages: string[]; isOpen: boolean };
  return { messages: messages.map(decodeMessage), isOpen };
}

const sealEvent = ownedEvent('history-seal', 'SealedHistory');

/** The events of a turn with its seal, which comes before the response. */
export class SealedEvents implements AsyncIterator<ChatEvent> {
  private readonly shown: ShownTurn;
  private response: ResponseEvent | undefined;

  constructor(
    private readonly events: AsyncIterator<ChatEvent>,
    private readonly question: UserMessage,
    private readonly seal: (turn: SealedTurn) => Promise<string>,
  ) {
    this.shown = new ShownTurn([question]);
  }

  async next(): Promise<IteratorResult<ChatEvent>> {
    const { response } = this;
    this.response = undefined;
    if (response) return { value: response };
    const next = await this.events.next();
    if (next.done) return next;
    this.shown.record(next.value);
    if (next.value.type !== 'response') return next;
    this.response = next.value;
    return { value: sealEvent(await this.seal(this.turnOf(next.value))) };
  }

  async return(): Promise<IteratorResult<ChatEvent>> {
    await this.events.return?.();
    return { done: true, value: undefined };
  }

  private turnOf({ response }: ResponseEvent): SealedTurn {
    const isOpen = response.paused !== undefined;
    return { messages: isOpen ? [this.question] : this.shown.endedBy(response), isOpen };
  }
}
