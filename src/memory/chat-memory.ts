import type { Message } from '../chat/message.js';
import type { ChatMemoryCapabilities } from './chat-memory-repository.js';

/** What a model is to be reminded of. */
export interface Remembered {
  /** System messages first, then whole turns, oldest first. */
  readonly messages: readonly Message[];
  /** Version of the conversation that they are from. */
  readonly version: number;
}

/** A turn that is under way, and has stored something already. */
export interface RunningTurn {
  readonly turnId: string;
  /** The version of the conversation when the turn began. */
  readonly since: number;
}

/** Settings of {@link ChatMemory.add}. */
export interface AddOptions {
  /** The turn that the messages are of. Turns that are written at the same time are kept apart by it. */
  readonly turnId?: string | undefined;
  /** Fails with a {@link MemoryConflictError} unless the conversation has this version. */
  readonly expectedVersion?: number | undefined;
}

/** Remembers conversations, and decides how much of one the model is reminded of. */
export interface ChatMemory {
  /** What the store behind it can do. */
  readonly capabilities: ChatMemoryCapabilities;
  /** Adds messages in one atomic write, and gives the new version of the conversation. */
  add(conversationId: string, messages: Message | readonly Message[], options?: AddOptions): Promise<number>;
  /** The messages of {@link load}. */
  get(conversationId: string): Promise<readonly Message[]>;
  /** @param running a turn that is under way: its messages come last, and all of them */
  load(conversationId: string, running?: RunningTurn): Promise<Remembered>;
  /** Forgets a conversation. */
  clear(conversationId: string): Promise<void>;
}
