import type { Message } from '../chat/message.js';
import type { ChatMemoryCapabilities, WriteOptions } from './chat-memory-repository.js';

/** The part of a conversation that is sent to a model, at one version of the conversation. */
export interface MemorySnapshot {
  /** System messages first, then whole turns, oldest first. */
  readonly messages: readonly Message[];
  /** Version of the conversation when it was read. */
  readonly version: number;
}

/** A turn in progress of which some messages are stored already. */
export interface RunningTurn {
  readonly turnId: string;
  /** Version of the conversation when the turn began. */
  readonly startVersion: number;
}

/** Options of {@link ChatMemory.add}; the turn id keeps turns apart that are stored concurrently. */
export type AddOptions = WriteOptions;

/** Stores conversations and selects the part of one that is sent to the model. */
export interface ChatMemory {
  /** Capabilities of the store. */
  readonly capabilities: ChatMemoryCapabilities;
  /** Adds messages in one atomic write and returns the new version of the conversation. */
  add(
    conversationId: string,
    messages: Message | readonly Message[],
    options?: AddOptions,
  ): Promise<number>;
  /** Returns the messages of {@link load}. */
  get(conversationId: string): Promise<readonly Message[]>;
  /** @param running a turn in progress: all its messages are included, as the last ones */
  load(conversationId: string, running?: RunningTurn): Promise<MemorySnapshot>;
  /** Deletes a conversation. */
  clear(conversationId: string): Promise<void>;
}
